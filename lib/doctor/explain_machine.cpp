// Failures of what is around a build: files and folders, locks and limits, programs that crash,
// containers without GPUs, Python environments that are not the build's to change.
#include "base/strings.hpp"
#include "doctor/explain.hpp"
#include "doctor/packages.hpp"
#include "fit/machine.hpp"
#include "machine/machine.hpp"
#include "survey/root_view.hpp"

#include <algorithm>
#include <array>

namespace cukit::doctor {

namespace {

using buildlog::Failure;
using buildlog::State;

bool says(const Failure& failure, std::string_view words) {
  return failure.text.find(words) != std::string::npos;
}

Finding& held_lock(const Failure& failure, Findings& findings) {
  return say(
      findings, RuleId::lock_held,
      fmt::format("another process has {} locked{}", failure.name,
                  failure.demand.empty() ? "" : ": " + failure.demand),
      {by_hand("wait until it has ended (unattended upgrades run for minutes after a start), then "
               "try again",
               "both would change the same files"),
       by_command(ShellCommand({"fuser", "-v", failure.name}), "who holds it")});
}

Finding& damaged_file(const Failure& failure, Findings& findings) {
  return say(
      findings, RuleId::file_damaged,
      fmt::format("{} cannot be used here: it is damaged, a text in place of a library (a pointer "
                  "of Git LFS, a linker script), or of another architecture",
                  failure.name),
      {by_command(ShellCommand({"file", "-L", failure.name}), "says what it is"),
       by_hand("install or build it again for this machine",
               "the linker and the loader then take it")},
      failure.name);
}

/// build.ninja, Makefile: what a configure step writes.
bool is_written_by_configure(std::string_view name) {
  return name == "build.ninja" || name == "Makefile" || name == "makefile" ||
         name == "GNUmakefile" || name == "CMakeCache.txt";
}

} // namespace

Finding* missing_file(const Context& context, const Failure& failure, Findings& findings) {
  if (failure.name.empty()) {
    return nullptr;
  }
  if (failure.state == State::duplicate) {
    return &held_lock(failure, findings);
  }
  if (failure.state == State::incompatible) {
    return &damaged_file(failure, findings);
  }
  if (failure.state != State::missing) {
    return nullptr;
  }
  std::vector<Fix> fix;
  std::string why;
  if (is_written_by_configure(survey::name_of(failure.name))) {
    why = ": nothing was configured in this folder, or the configure step failed before";
    fix.push_back(by_hand("configure first (cmake -S . -B build, meson setup build, ./configure), "
                          "and start the build in the folder that was configured",
                          "the configure step writes it"));
  } else if (const auto at = failure.name.find("cuda"); at != std::string::npos) {
    why = ": a toolkit was there when the build was configured, or is named by hand";
    if (const auto trees = trees_with_nvcc(context); !trees.empty()) {
      fix.push_back(by_hand(fmt::format("configure again in a new build folder; a toolkit is {}",
                                        trees.front().kit->root),
                            "paths of the old one stay in CMakeCache.txt and build.ninja"));
    }
  }
  fix.push_back(by_hand(fmt::format("look at where {} comes from: the folder in which the command "
                                    "was started, a submodule or download that was left out",
                                    survey::name_of(failure.name)),
                        "it is then there"));
  return &say(findings, RuleId::file_missing, fmt::format("{} is not there{}", failure.name, why),
              std::move(fix), failure.name);
}

Finding* crashed_compiler(const Failure& failure, Findings& findings) {
  const auto who = value_or(failure.name, "a program of the build");
  return &say(
      findings, RuleId::compiler_crashed,
      fmt::format("{} crashed (signal {}): it was not the system that ended it", who,
                  value_or(failure.demand, "unknown")),
      {by_hand("compile that file again alone: where it crashes every time, take another patch "
               "release of this compiler or less optimisation for the file; where it does not, "
               "look at the machine's memory",
               "a crash on one source is a bug of the compiler"),
       by_command(ShellCommand({"ulimit", "-s", "unlimited"}),
                  "where deep templates overflow the stack")},
      who);
}

Finding* limit_reached(const Failure& failure, Findings& findings) {
  struct Limit {
    std::string_view words;
    const char* cause;
    const char* advice;
  };
  static constexpr std::array<Limit, 5> limits = {
      {{"TIME LIMIT", "the scheduler ended the job at its time limit",
        "ask for more time (sbatch --time), or build on fewer targets"},
       {"CPU time limit", "the CPU time that a process may take was used up",
        "raise it: ulimit -t unlimited"},
       {"Too many open files", "a process may not open more files",
        "raise the limit: ulimit -n 65536; or fewer jobs at once"},
       {"Argument list too long", "a command line is longer than the kernel takes",
        "build in a folder with a short path, or let CMake use response files "
        "(CMAKE_CUDA_USE_RESPONSE_FILE_FOR_OBJECTS)"},
       {"File size limit", "a file may not become larger", "raise it: ulimit -f unlimited"}}};
  for (const auto& limit : limits) {
    if (says(failure, limit.words)) {
      return &say(findings, RuleId::limit_reached, limit.cause,
                  {by_hand(limit.advice, "the limit is one of this session, not of the code")});
    }
  }
  return nullptr;
}

Finding* broken_program(const Failure& failure, Findings& findings) {
  if (says(failure, "bad interpreter")) {
    const bool is_dos = failure.name.ends_with("^M") || failure.name.ends_with("\\r") ||
                        says(failure, "^M") || says(failure, "\\r");
    const auto script = value_or(failure.file, "the script");
    return &say(
        findings, RuleId::program_missing,
        is_dos ? fmt::format("the first line of {} ends with a carriage return: it was saved or "
                             "checked out with DOS line ends",
                             script)
               : fmt::format("{} is to be run by {}, which is not there", script, failure.name),
        {is_dos ? by_command(ShellCommand({"sed", "-i", "s/\\r$//", script}), "Unix line ends")
                : by_hand(fmt::format("install {}, or name another interpreter", failure.name),
                          "the script can then start")},
        script);
  }
  if (says(failure, "Exec format error") && !failure.name.empty()) {
    return &damaged_file(failure, findings);
  }
  return nullptr;
}

std::vector<Fix> other_compilers(const Context& context, const std::string& name) {
  std::vector<Fix> fix;
  const auto& compilers = context.snapshot.compilers;
  if (!compilers.empty()) {
    const auto& other = compilers.front();
    const auto& commands = context.log.facts.commands;
    const bool is_named = std::any_of(commands.begin(), commands.end(), [&](const auto& command) {
      return command.host_compiler == name;
    });
    if (is_named) { // of two -ccbin nvcc takes the last
      const auto flags = variable(context.snapshot, "NVCC_APPEND_FLAGS");
      fix.push_back(by_command(
          set_variable("NVCC_APPEND_FLAGS",
                       fmt::format("{}{}-ccbin {}", flags, flags.empty() ? "" : " ", other.path)),
          "nvcc adds it to every command line, where the last -ccbin counts"));
    }
    fix.push_back(by_command(set_variable("NVCC_CCBIN", other.path),
                             "the compiler that is here; a -ccbin on the command line goes before "
                             "it and has to go"));
    fix.push_back(by_hand(fmt::format("give {} in place of {}: -ccbin, CMAKE_CUDA_HOST_COMPILER, "
                                      "CUDAHOSTCXX, CC or CXX, wherever it is named",
                                      other.path, name),
                          "the compiler that is here"));
  }
  const auto dash = name.rfind('-');
  const int wanted = dash == std::string::npos ? 0 : major_of(name.substr(dash + 1));
  const auto* release = release_of(context, nvcc_in_use(context).version);
  const auto range = release == nullptr ? fit::CompilerRange() : fit::compilers_of(*release);
  const bool is_gcc = name.find("clang") == std::string::npos;
  if (is_gcc && wanted > 0 && !fit::host_compiler(range, "gcc", wanted).is_refused()) {
    fix.push_back(install_gxx(context, wanted));
  } else if (compilers.empty()) {
    fix.push_back(install_gxx(context));
  }
  return fix;
}

Finding* refused_by_container(const Context& context, const Failure& failure, Findings& findings) {
  if (failure.state == State::incompatible) { // cuda>=12.8
    const auto digits = std::min(failure.demand.find_first_of("0123456789"), failure.demand.size());
    const auto least = Version::parse(failure.demand.substr(digits));
    const auto* release = least ? knowledge::find_release(context.releases, *least) : nullptr;
    return &say(
        findings, RuleId::driver_too_old,
        fmt::format("the image asks for {}, and the host's driver is older", failure.demand),
        {by_hand(release == nullptr
                     ? std::string("take an image of an older CUDA, or a newer driver on the host")
                     : fmt::format("a driver of branch {} or newer on the host, or an image of the "
                                   "CUDA that its driver has",
                                   release->driver_branch),
                 "NVIDIA_REQUIRE_CUDA of the image is then met")});
  }
  return &say(
      findings, RuleId::container_without_gpus,
      "the container runtime cannot hand out GPUs: NVIDIA's container toolkit is not installed, "
      "or not set up in it",
      {by_hand("install the package nvidia-container-toolkit on the host, then: nvidia-ctk runtime "
               "configure --runtime=docker && systemctl restart docker",
               "--gpus and CDI devices work then"),
       by_hand("or start the container without --gpus", "where it only builds")});
}

Finding* driver_words(const Context& context, const Failure& failure, Findings& findings) {
  const bool is_absent = failure.state == State::missing || says(failure, "Driver Not Loaded") ||
                         says(failure, "Driver not loaded");
  if (is_absent) {
    return &say(
        findings, RuleId::cuda_call_failed,
        "no driver of NVIDIA answers: there is none, its module is not loaded, or this is a "
        "container that was started without GPUs",
        {by_hand("start the container with --gpus all (or the nvidia runtime, or a CDI device); on "
                 "the machine itself install the driver and load it: modprobe nvidia",
                 "nvidia-smi then shows the GPUs")});
  }
  if (failure.tool == "driver" && failure.state == State::incompatible) { // found version 11040
    const auto coded = failure.have.find_first_not_of("0123456789") == std::string::npos &&
                               failure.have.size() == 5
                           ? std::stoi(failure.have)
                           : 0;
    return &say(
        findings, RuleId::driver_too_old,
        fmt::format("the driver{} is older than what runs was built for",
                    coded == 0
                        ? ""
                        : fmt::format(" is of CUDA {}.{} and", coded / 1000, coded % 1000 / 10)),
        {by_hand("install a newer driver, or a build for the driver's own CUDA major (torch from "
                 "PyTorch's index of that CUDA)",
                 "`cukit gpus` says which driver is here")});
  }
  auto& finding = findings.add(RuleId::driver_mismatch);
  if (!finding.cause.empty()) { // said already
    return &finding;
  }
  finding.cause =
      failure.tool == "NVML"
          ? "the driver's libraries and its kernel module are of different versions, or "
            "the driver does not answer"
          : fmt::format("what runs needs another driver than the one that is here{}",
                        failure.demand.empty() ? "" : ": " + failure.demand);
  if (context.driver) {
    finding.evidence.push_back({"driver", machine::driver_text(*context.driver)});
  }
  finding.fix = {by_hand("restart the machine after a driver's upgrade, or unload and load the "
                         "nvidia modules",
                         "module and libraries are then of one version")};
  return &finding;
}

Finding* managed_python(const Context& context, Findings& findings) {
  const auto home = variable(context.snapshot, "HOME");
  const auto venv = home.empty() ? std::string("venv") : home + "/venv";
  return &say(findings, RuleId::python_managed,
              "the system's Python is its package manager's own: pip may not install into it",
              {by_command(ShellCommand({"python3", "-m", "venv", venv})
                              .then(ShellCommand({".", venv + "/bin/activate"})),
                          "an environment of one's own; install there")});
}

} // namespace cukit::doctor

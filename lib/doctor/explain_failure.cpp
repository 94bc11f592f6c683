// A failure of the log by what it is about: the grammar gives thing, state and name; the snapshot
// says what is here. What a rule of the environment found already is the cause.
#include "base/strings.hpp"
#include "doctor/explain.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

using buildlog::Failure;
using buildlog::State;
using buildlog::Thing;

Finding& say(Findings& findings, RuleId id, std::string cause) {
  auto& finding = findings.add(id);
  if (finding.cause.empty()) {
    finding.cause = std::move(cause);
  }
  return finding;
}

std::string said_by(const Failure& failure) {
  return failure.tool.empty() ? "the build" : failure.tool;
}

Finding* missing_package(const Context& context, const Failure& failure, Findings& findings) {
  if (failure.name.starts_with("__cuda") || failure.demand.starts_with("__cuda")) {
    auto& finding =
        say(findings, RuleId::conda_sees_no_driver,
            "conda takes the driver's CUDA for what the machine can run, and sees none");
    finding.fix = {by_command(
        set_variable("CONDA_OVERRIDE_CUDA",
                     context.snapshot.driver_cuda.empty() ? "12.8" : context.snapshot.driver_cuda),
        "the CUDA of the driver where the environment will be used")};
    return &finding;
  }
  if (failure.name.empty()) {
    return nullptr;
  }
  auto& finding = say(findings, RuleId::package_not_found,
                      fmt::format("{} does not find {}{}", said_by(failure), failure.name,
                                  failure.demand.empty() ? "" : " " + failure.demand));
  if (failure.tool == "CMake") {
    finding.fix = {by_hand(fmt::format("install {0} with its CMake files, or configure with "
                                       "-D{0}_ROOT=FOLDER where they are",
                                       failure.name),
                           "find_package looks there first")};
  } else {
    finding.fix = {by_hand("ask for a version that the index has, or name the index that has it "
                           "(--index-url, a channel, a repository)",
                           "the name and the version as they stand are not there")};
  }
  return &finding;
}

Finding* wrong_version(const Failure& failure, Findings& findings) {
  if (failure.demand.empty()) {
    return nullptr;
  }
  auto& finding =
      say(findings, RuleId::version_not_met,
          fmt::format(
              "{} wants {} {}{}", said_by(failure), failure.name, failure.demand,
              failure.have.empty() ? "" : fmt::format(", and {} is what it found", failure.have)));
  finding.fix = {
      by_hand(fmt::format("install {} {}, or point the build at it", failure.name, failure.demand),
              "the one that is found first counts")};
  return &finding;
}

Finding* missing_module(const Context& context, const Failure& failure, Findings& findings) {
  const auto name = failure.name.substr(0, failure.name.find('.'));
  const auto here = std::find_if(context.snapshot.pythons.begin(), context.snapshot.pythons.end(),
                                 [&](const auto& python) {
                                   return (name == "torch" && !python.torch.empty()) ||
                                          host::find_distribution(python, name) != nullptr;
                                 });
  const bool is_here = here != context.snapshot.pythons.end();
  if (context.log.facts.is_isolated_build || (is_here && !context.log.facts.packages.empty())) {
    auto& finding = say(
        findings, RuleId::build_isolated,
        fmt::format("the build ran in an environment of its own, which has no {}{}", name,
                    is_here ? fmt::format("; the {} of {} is not seen there", name, here->prefix)
                            : ""));
    if (is_here) {
      const auto* dist = host::find_distribution(*here, name);
      finding.evidence.push_back({here->prefix, fmt::format("holds {} {}", name,
                                                            name == "torch"   ? here->torch
                                                            : dist == nullptr ? ""
                                                                              : dist->version)});
    }
    const auto& packages = context.log.facts.packages;
    const auto prefix = is_here ? here->prefix : std::string();
    if (!is_here) {
      finding.fix.push_back(by_command(pip_install(context, prefix, {name}),
                                       "first: the build needs it, and does not bring it"));
    }
    finding.fix.push_back(by_command(
        pip_install(context, prefix, {packages.empty() ? std::string("PACKAGE") : packages.front()},
                    {"--no-build-isolation"}),
        fmt::format("the build sees the {} that is installed", name)));
    return &finding;
  }
  if (failure.state == State::unknown) {
    return nullptr; // a name in a module: that is the code's
  }
  auto& finding =
      say(findings, RuleId::module_missing, fmt::format("Python has no module {}", failure.name));
  const auto* venv = context.snapshot.pythons.empty() ? nullptr : &context.snapshot.pythons.front();
  finding.fix = {
      by_command(pip_install(context, venv == nullptr ? "" : venv->prefix, {name}),
                 "into the environment that is used; the package may have another name")};
  return &finding;
}

Finding* signed_by_another(const Failure& failure, Findings& findings) {
  const bool is_nvidia = failure.name == "A4B469963BF863CC" ||
                         failure.text.find("nvidia") != std::string::npos ||
                         failure.name.find("nvidia") != std::string::npos;
  if (!is_nvidia) {
    auto& finding = say(findings, RuleId::repository_key,
                        "a package repository is signed with a key that is not here, or expired");
    finding.fix = {by_hand("fetch the repository's present key into /etc/apt/keyrings, and name it "
                           "with signed-by in its sources file",
                           "apt trusts the repository again")};
    return &finding;
  }
  auto& finding = say(findings, RuleId::repository_key,
                      "NVIDIA has signed its repositories with another key since April 2022 "
                      "(A4B469963BF863CC, 3bf863cc.pub); here is the one before, or none");
  finding.fix = {
      by_hand("install the package cuda-keyring of NVIDIA's repository for this system, and remove "
              "the old key (apt-key del 7fa2af80) and sources file",
              "it brings the present key"),
      by_hand("take a base image that was made after April 2022", "it holds the present key")};
  return &finding;
}

/// CUDA::NAME stands for libNAME of the toolkit that CMake found.
Finding* cuda_target(const Context& context, const Failure& failure, Findings& findings) {
  const auto library = "lib" + failure.name.substr(failure.name.rfind(':') + 1);
  auto& finding = findings.add(RuleId::cmake_target_missing);
  finding.cause = fmt::format("{} stands for {}, which the toolkit of this build does not have",
                              failure.name, library);
  for (const auto& kit : context.snapshot.toolkits) {
    const auto has = std::any_of(kit.libraries.begin(), kit.libraries.end(), [&](const auto& item) {
      return item.first.starts_with(library + ".so") || item.first.starts_with(library + ".a");
    });
    finding.evidence.push_back({kit.root, fmt::format("CUDA {} {} {}", value_or(kit.cudart, "?"),
                                                      has ? "has" : "does not have", library)});
  }
  const bool is_nvtx = library == "libnvToolsExt";
  finding.fix = {
      by_hand(is_nvtx ? std::string("take CUDA 12.8, the last with libnvToolsExt, with its package "
                                    "cuda-nvtx-12-8, for this build")
                      : fmt::format("install the package that brings {} for this CUDA", library),
              "find_package(CUDAToolkit) defines the target"),
      by_hand(is_nvtx ? std::string("or let the project define it: add_library(CUDA::nvToolsExt "
                                    "INTERFACE IMPORTED), which NVTX 3's headers are enough for; a "
                                    "newer torch asks for NVTX 3 itself")
                      : fmt::format("or take {} out of what the project links", failure.name),
              "without the library")};
  return &finding;
}

Finding* cmake_target(const Context& context, const Failure& failure, Findings& findings) {
  if (failure.name.starts_with("CUDA::") && failure.state == State::missing) {
    return cuda_target(context, failure, findings);
  }

  auto& finding =
      say(findings, RuleId::cmake_target_missing,
          failure.state == State::duplicate
              ? fmt::format("two packages define the CMake target {}", failure.name)
              : fmt::format(
                    "a project links the CMake target {}, and no package that was found defines it",
                    failure.name));
  finding.fix = {by_hand(
      fmt::format("call find_package for the package that defines {} before it is linked, with a "
                  "release that still has it",
                  failure.name),
      "the target is then there")};
  return &finding;
}

Finding* refused(const Context& context, const Failure& failure, Findings& findings) {
  const auto what = failure.name.empty() ? std::string("a file") : failure.name;
  switch (failure.thing) {
  case Thing::disk: {
    auto& finding =
        say(findings, RuleId::disk_full, fmt::format("no space is left where {} is written", what));
    const auto temporary = variable(context.snapshot, "TMPDIR");
    finding.evidence.push_back({"TMPDIR", value_or(temporary, "not set: /tmp")});
    finding.fix = {
        by_command(set_variable("TMPDIR", "/var/tmp"),
                   "compilers and pip write large files there; any file system with room"),
        by_command(ShellCommand({"df", "-h", "/tmp", "."}), "which one is full")};
    return &finding;
  }
  case Thing::permission: {
    auto& finding = say(findings, RuleId::permission_refused,
                        fmt::format("{} may not be read, written or started by this user", what));
    finding.fix = {
        by_command(ShellCommand({"ls", "-ld", what}), "whose it is, and who may use it")};
    return &finding;
  }
  case Thing::network: {
    auto& finding = say(
        findings, RuleId::network_refused,
        fmt::format("{} could not be reached", failure.name.empty() ? "a server" : failure.name));
    finding.fix = {by_hand("set https_proxy where a proxy is needed, or an index inside this "
                           "network (PIP_INDEX_URL, UV_DEFAULT_INDEX)",
                           "what was wanted is fetched from there")};
    return &finding;
  }
  case Thing::certificate: {
    auto& finding = say(findings, RuleId::certificate_refused,
                        "a server's certificate is signed by an authority that is not trusted "
                        "here, as behind a proxy that reads TLS");
    finding.fix = {by_command(set_variable("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt"),
                              "a bundle that holds the proxy's authority; pip: PIP_CERT, conda and "
                              "requests: REQUESTS_CA_BUNDLE")};
    return &finding;
  }
  default: {
    auto& finding = say(findings, RuleId::digest_differs,
                        fmt::format("what was downloaded{} is not what was promised",
                                    failure.name.empty() ? "" : " for " + failure.name));
    finding.fix = {by_command(ShellCommand({"pip", "cache", "purge"}),
                              "a broken download goes; apt: rm -r /var/lib/apt/lists/*"),
                   by_hand("where the lock or the requirements file is old: make its digests anew",
                           "the file was uploaded again, or a mirror has another one")};
    return &finding;
  }
  }
}

Finding* by_thing(const Context& context, const Failure& failure, Findings& findings) {
  switch (failure.thing) {
  case Thing::header:
    return missing_header(context, failure, findings);
  case Thing::tool:
    return missing_tool(context, failure, findings);
  case Thing::library:
    return missing_library(context, failure, findings);
  case Thing::target:
    return refused_target(context, failure, findings);
  case Thing::option:
    return unknown_option(context, failure, findings);
  case Thing::memory:
    return failure.tool == "CUDA" ? nullptr : out_of_memory(context, failure, findings);
  case Thing::cuda:
  case Thing::driver:
    return failed_call(context, failure, findings);
  case Thing::module:
    return missing_module(context, failure, findings);
  case Thing::version:
    return wrong_version(failure, findings);
  case Thing::package:
    return missing_package(context, failure, findings);
  case Thing::cmake_target:
    return cmake_target(context, failure, findings);
  case Thing::key:
    return signed_by_another(failure, findings);
  case Thing::disk:
  case Thing::permission:
  case Thing::network:
  case Thing::certificate:
  case Thing::digest:
    return refused(context, failure, findings);
  default:
    return nullptr;
  }
}

bool mentions(const Finding& finding, std::string_view word) {
  const auto in = [&](const std::string& text) { return text.find(word) != std::string::npos; };
  return in(finding.cause) ||
         std::any_of(finding.evidence.begin(), finding.evidence.end(),
                     [&](const auto& item) { return in(item.path) || in(item.fact); });
}

/// What a rule found in the environment about the very thing that the log names.
Finding* found_already(const Failure& failure, Findings& findings) {
  const bool has_name = failure.thing == Thing::library || failure.thing == Thing::symbol ||
                        failure.thing == Thing::target || failure.thing == Thing::cmake_target ||
                        failure.thing == Thing::version;
  const bool is_driver = blames_the_driver(failure);
  for (const auto& listed : findings.list()) {
    auto* finding = findings.find(listed.id);
    const bool is_about_driver =
        listed.id.find("driver") != std::string::npos ||
        listed.id.find("compat") != std::string::npos ||
        listed.id.find("libcuda") != std::string::npos ||
        (failure.name == "209" && listed.id.find("no-code") != std::string::npos);
    if (listed.severity != Severity::error && !(is_driver && is_about_driver)) {
      continue;
    }
    const auto file = failure.file.substr(failure.file.rfind('/') + 1);
    const bool is_named =
        has_name &&
        ((failure.name.size() > 3 && mentions(listed, failure.name)) ||
         (failure.demand.starts_with("lib") && mentions(listed, failure.demand)) ||
         (failure.thing == Thing::symbol && file.starts_with("lib") && mentions(listed, file)));
    if (is_named || (is_driver && is_about_driver)) {
      return finding;
    }
  }
  return nullptr;
}

} // namespace

Finding* explain_failure(const Context& context, const Failure& failure, Findings& findings) {
  auto* finding = found_already(failure, findings);
  finding = finding != nullptr ? finding : by_thing(context, failure, findings);
  if (finding == nullptr) {
    return nullptr;
  }
  finding->severity = Severity::error;
  finding->is_latent = false;
  if (finding->log_line == 0 || failure.line < finding->log_line) {
    finding->log_line = failure.line;
  }
  constexpr std::size_t most = 12; // lines of a log under one finding
  if (finding->evidence.size() < most) {
    finding->evidence.push_back(
        {fmt::format("log:{}", failure.line),
         fmt::format("{}{}{}", failure.tool.empty() ? "" : failure.tool + ": ", failure.text,
                     failure.count > 1 ? fmt::format(" ({} times)", failure.count) : "")});
  }
  return finding;
}

} // namespace cukit::doctor

// Packages that a log misses or refuses: of pip, uv, conda, apt, CMake and Meson; modules of
// Python; versions; keys of repositories.
#include "base/strings.hpp"
#include "buildlog/versions.hpp"
#include "doctor/explain.hpp"
#include "doctor/packages.hpp"

#include <algorithm>
#include <cctype>

namespace cukit::doctor {

namespace {

using buildlog::Failure;
using buildlog::State;

/// What is there does not go with this Python, this platform or the other wishes.
Finding* unfit_package(const Failure& failure, Findings& findings) {
  const bool is_wheel = failure.name.ends_with(".whl") ||
                        failure.text.find("no wheels with a matching") != std::string::npos;
  if (is_wheel) {
    auto& finding =
        say(findings, RuleId::version_not_met,
            fmt::format("{} is for another Python or another platform{}", failure.name,
                        failure.demand.empty() ? "" : ": none has a matching " + failure.demand));
    finding.fix = {by_hand("take an environment of a Python that it has wheels for (cp312 in a "
                           "wheel's name is Python 3.12), or the wheel for this one",
                           "name, ABI and platform of the wheel then match")};
    return &finding;
  }
  if (auto* known = findings.find(text_of(RuleId::pins_conflict))) { // the wheels that are here
    return known;
  }
  auto& finding = say(findings, RuleId::pins_conflict,
                      fmt::format("{} cannot be installed with the rest of what is asked for{}",
                                  value_or(failure.name, "what is asked for"),
                                  failure.demand.empty() ? "" : ": it wants " + failure.demand));
  finding.fix = {
      by_hand("loosen one of the two requirements that the message names, or give one of "
              "them an environment of its own",
              "both can then be met")};
  return &finding;
}

/// GLIBCXX_3.4.32 of libstdc++, GLIBC_2.38 of the C library: of the system that it was built on.
Finding* older_system_library(const Failure& failure, Findings& findings) {
  const bool is_of_c = failure.demand.starts_with("GLIBC_");
  auto& finding = say(findings, RuleId::version_not_met,
                      fmt::format("{} was built on a newer system: it wants {}, which {} here does "
                                  "not have",
                                  value_or(failure.file, "a library"), failure.demand,
                                  value_or(failure.name, is_of_c ? "the C library" : "libstdc++")));
  if (finding.fix.empty()) {
    finding.fix = {by_hand("build it here, or take a wheel for an older manylinux",
                           "it then wants what this system has")};
    if (!is_of_c) {
      finding.fix.push_back(by_hand(
          "or a newer libstdc++.so.6 before the system's: conda install 'libstdcxx-ng>=13', or the "
          "distribution's newer GCC runtime; LD_LIBRARY_PATH must not put an older one first",
          "it has the symbol version"));
    }
  }
  return &finding;
}

/// The folder that pip or uv was building: an index may have another package of its name. Empty: it
/// came from an index.
std::string source_folder(const Context& context, std::size_t line) {
  std::string folder;
  for (const auto& one : context.log.facts.versions) {
    if (one.what == buildlog::k_source_folder && (one.line <= line || folder.empty())) {
      folder = one.path;
    }
  }
  return folder;
}

} // namespace

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
  if (failure.state == State::incompatible) {
    const auto& all = context.log.facts.failures;
    const bool is_told_better = std::any_of(all.begin(), all.end(), [](const auto& other) {
      return other.thing == buildlog::Thing::package && !other.name.empty();
    });
    return failure.name.empty() && is_told_better ? nullptr : unfit_package(failure, findings);
  }
  if (failure.name.empty()) {
    return nullptr;
  }
  auto& finding = say(findings, RuleId::package_not_found,
                      fmt::format("{} does not find {}{}", said_by(failure), failure.name,
                                  failure.demand.empty() ? "" : " " + failure.demand));
  if (failure.tool == "Meson" || failure.tool == "pkg-config") {
    finding.fix = {by_hand(fmt::format("install {0} with its development files; where it is "
                                       "elsewhere: PKG_CONFIG_PATH to the folder of {0}.pc, for "
                                       "CUDA CUDA_PATH",
                                       failure.name),
                           "it is looked for there")};
  } else if (failure.tool == "CMake") {
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

namespace {

/// nvcc in a version that the code does not go with: what is used here, and a toolkit that fits.
std::vector<Fix> other_nvcc(const Context& context, const Failure& failure, Finding& finding) {
  const auto nvcc = nvcc_in_use(context);
  if (!nvcc.path.empty()) {
    finding.evidence.push_back({nvcc.path, "nvcc " + value_or(nvcc.version, "of unknown version")});
  }
  std::vector<Fix> fix;
  const auto range = failure.demand.starts_with("==")
                         ? VersionRange::parse_wish(failure.demand.substr(2))
                         : VersionRange::parse(failure.demand);
  for (const auto& kit : context.snapshot.toolkits) { // one that is here and is not used
    const auto tool = kit.tools.find("nvcc");
    if (!range || tool == kit.tools.end() || tool->second.path == nvcc.path) {
      continue;
    }
    const auto version = Version::parse(tool->second.version);
    if (version && range->contains(*version)) {
      fix.push_back(by_command(use_tree(kit.root), "nvcc " + tool->second.version + " is here"));
      break;
    }
  }
  fix.push_back(cukit_fix(context, {}));
  return fix;
}

/// What brings a product into the range that is asked for.
std::vector<Fix> fixes_of_version(const Context& context, const Failure& failure,
                                  const std::string& name, Finding& finding) {
  const auto number = failure.demand.substr(
      std::min(failure.demand.find_first_of("0123456789"), failure.demand.size()));
  const bool is_least = failure.demand.starts_with(">") || failure.demand.starts_with("==");
  if (name == "CUDA" || name == "nvcc" || name == "ptxas") {
    return other_nvcc(context, failure, finding);
  }
  if (name == "C++" && !number.empty()) {
    return {by_hand(fmt::format("compile with -std=c++{0}; CMake: CMAKE_CXX_STANDARD={0} and "
                                "CMAKE_CUDA_STANDARD={0}",
                                number),
                    "for the host compiler and for nvcc alike"),
            by_hand("where the option is there already: a newer nvcc or host compiler",
                    "both must know the standard")};
  }
  if (name == "g++" && !number.empty()) {
    return {install_gxx(
        context,
        major_of(number) +
            (failure.demand.starts_with(">=") || !failure.demand.starts_with(">") ? 0 : 1))};
  }
  if (name == "driver") {
    return {by_hand("install a driver of a branch that serves", "the host's, not the container's")};
  }
  const auto brings_one = [&](const auto& recipe) {
    return knowledge::brings(recipe.discovery, name);
  };
  const bool is_of_pip = name == "cmake" || name == "ninja" || name == "setuptools" ||
                         name == "numpy" ||
                         std::any_of(context.recipes.begin(), context.recipes.end(), brings_one);
  if (is_of_pip && is_least && !context.snapshot.pythons.empty()) {
    const auto range = failure.demand.starts_with("=") ? failure.demand : ">=" + number;
    return {
        by_command(pip_install(context, context.snapshot.pythons.front().prefix, {name + range}),
                   "the version that is asked for")};
  }
  return {by_hand(fmt::format("install {} {}, or point the build at it", name, failure.demand),
                  "the one that is found first counts")};
}

} // namespace

Finding* wrong_version(const Context& context, const Failure& failure, Findings& findings) {
  if (failure.demand.empty()) {
    return nullptr;
  }
  if (failure.tool == "ld.so" && failure.demand.starts_with("GLIBC")) {
    return older_system_library(failure, findings);
  }
  const auto name = value_or(failure.name, said_by(failure));
  const auto who = failure.tool == "Python" ? std::string("the code") : said_by(failure);
  const bool is_word = std::isalpha(static_cast<unsigned char>(failure.demand.front())) != 0;
  auto& finding = say(
      findings, RuleId::version_not_met,
      fmt::format(
          "{} wants {} {}{}", who, is_word ? failure.demand : name, is_word ? name : failure.demand,
          failure.have.empty() ? "" : fmt::format(", and {} is what it found", failure.have)));
  if (finding.fix.empty()) {
    finding.fix = fixes_of_version(context, failure, name, finding);
  }
  return &finding;
}

Finding* missing_module(const Context& context, const Failure& failure, Findings& findings) {
  const auto name = failure.name.substr(0, failure.name.find('.'));
  const auto here = std::find_if(context.snapshot.pythons.begin(), context.snapshot.pythons.end(),
                                 [&](const auto& python) {
                                   return (name == "torch" && !python.torch.empty()) ||
                                          survey::find_distribution(python, name) != nullptr;
                                 });
  const bool is_here = here != context.snapshot.pythons.end();
  if (context.log.facts.is_isolated_build || (is_here && !context.log.facts.packages.empty())) {
    auto& finding = say(
        findings, RuleId::build_isolated,
        fmt::format("the build ran in an environment of its own, which has no {}{}", name,
                    is_here ? fmt::format("; the {} of {} is not seen there", name, here->prefix)
                            : ""));
    if (is_here) {
      const auto* dist = survey::find_distribution(*here, name);
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
    const auto effect = fmt::format("the build sees the {} that is installed", name);
    const auto folder = source_folder(context, failure.line);
    const auto install =
        pip_install(context, prefix,
                    folder.empty() && !packages.empty() ? std::vector<std::string>{packages.front()}
                                                        : std::vector<std::string>{},
                    folder.empty() ? std::vector<std::string>{"--no-build-isolation"}
                                   : std::vector<std::string>{"--no-build-isolation", folder});
    finding.fix.push_back(folder.empty() && packages.empty()
                              ? by_hand("install the package with --no-build-isolation", effect)
                              : by_command(install.command, effect));
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

} // namespace cukit::doctor

// What the dynamic loader takes: libraries of another toolkit before an environment's own, and the
// driver's library beside its kernel module.
#include "doctor/context.hpp"
#include "survey/root_view.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

/// 12.4.127 of libnvJitLink.so.12.4.127; empty of libnvJitLink.so.12
std::string version_in_name(const std::string& path) {
  const auto at = path.find(".so.", path.rfind('/'));
  const auto number = at == std::string::npos ? std::string() : path.substr(at + 4);
  return number.find('.') == std::string::npos ? std::string() : number;
}

bool is_configuration(const std::string& led_by) {
  return led_by.starts_with("/etc/");
}

/// The ways to let the loader find `folder` before what it takes now.
void put_before(const std::string& led_by, const std::string& taken_folder,
                const std::string& folder, Finding& finding) {
  if (led_by == "LD_LIBRARY_PATH") {
    finding.fix.push_back(
        by_command(unset_variables({"LD_LIBRARY_PATH"}), "each wheel then finds what it brought"));
  }
  if (!folder.empty()) {
    finding.fix.push_back(by_command(put_first("LD_LIBRARY_PATH", folder),
                                     "the loader looks there before everything else"));
  }
  if (is_configuration(led_by)) {
    finding.fix.push_back(
        by_hand(fmt::format("take {} out of {} and run ldconfig", taken_folder, led_by),
                "for every program of this machine"));
  }
}

/// The distribution whose files lie at a path of site-packages/nvidia.
const survey::Distribution* owner_in(const survey::PythonEnvironment& python,
                                     const std::string& path) {
  const survey::Clobber* clobber = nullptr;
  for (const auto& candidate : python.clobbers) {
    clobber = candidate.path == path ? &candidate : clobber;
  }
  return clobber == nullptr ? nullptr : survey::find_distribution(python, clobber->owners.front());
}

void lacking_symbols(const Context& context, Findings& findings) {
  for (const auto& python : context.snapshot.pythons) {
    for (const auto& problem : python.load_problems) {
      if (problem.missing.empty() || owner_in(python, problem.taken) != nullptr) {
        continue; // what two wheels wrote is told by the files
      }
      const bool is_foreign = !problem.own.empty() && problem.own_has_them;
      auto& finding = findings.add(RuleId::library_lacks_symbols, problem.taken);
      const auto version = version_in_name(problem.taken);
      const auto taken =
          version.empty() ? problem.taken : fmt::format("{} ({})", problem.taken, version);
      finding.cause = fmt::format("{} of {} is taken from {}, where {} leads, and lacks {}",
                                  problem.library, value_or(problem.distribution, problem.object),
                                  taken, problem.led_by, problem.missing.front());
      finding.evidence.push_back({problem.object, "wants " + problem.missing.front()});
      finding.evidence.push_back({problem.taken, "does not have it; found by " + problem.led_by});
      if (is_foreign) {
        finding.evidence.push_back({problem.own, "has it"});
        put_before(problem.led_by, survey::parent_of(problem.taken), survey::parent_of(problem.own),
                   finding);
      } else if (!problem.distribution.empty()) {
        finding.fix.push_back(by_command(
            pip_install(context, python.prefix, {problem.distribution}, {"--force-reinstall"}),
            "the object and its library are of one set again"));
      }
      for (const auto& found : context.found) {
        if (found.python == &python &&
            (problem.distribution == "torch" || problem.distribution.empty())) {
          finding.consumers.push_back(found.consumer);
        }
      }
    }
  }
}

/// A driver's library, not one of a stub or of WSL, whose file carries no version.
bool has_driver_version(const survey::DriverLibrary& library) {
  constexpr int k_oldest_branch = 300;
  return major_of(library.version) >= k_oldest_branch;
}

bool is_compat(const survey::DriverLibrary& library) {
  return library.path.find("/compat/") != std::string::npos ||
         library.real.find("/compat/") != std::string::npos;
}

bool is_stub(const survey::DriverLibrary& library) {
  return library.path.find("/stubs/") != std::string::npos;
}

bool is_below(const std::string& a, const std::string& b) {
  const auto first = Version::parse(a);
  const auto second = Version::parse(b);
  return first && second && *first < *second;
}

void driver_taken(const Context& context, Findings& findings) {
  const auto& all = context.snapshot.driver_libraries;
  if (all.empty()) {
    return;
  }
  const auto& first = all.front();
  if (is_stub(first)) {
    auto& finding = findings.add(RuleId::driver_stub_loaded);
    finding.cause = fmt::format("programs get {}, a stub for linking, where {} leads", first.path,
                                first.led_by);
    finding.evidence.push_back({first.path, "found by " + first.led_by});
    const auto real = std::find_if(all.begin(), all.end(), has_driver_version);
    put_before(first.led_by, survey::parent_of(first.path),
               real == all.end() ? std::string() : survey::parent_of(real->path), finding);
    return;
  }
  const auto newer = std::find_if(all.begin(), all.end(), [&](const auto& other) {
    return has_driver_version(other) && !is_compat(other) && is_below(first.version, other.version);
  });
  const auto& kernel = context.snapshot.kernel_module;
  const bool is_older_than_kernel = is_compat(first) && is_below(first.version, kernel);
  if (!has_driver_version(first) || (newer == all.end() && !is_older_than_kernel)) {
    return;
  }
  auto& finding = findings.add(RuleId::driver_library_older);
  const auto& own = newer == all.end() ? kernel : newer->version;
  finding.cause =
      fmt::format("the libcuda that programs get is {} ({}), older than the driver ({}); "
                  "{} leads there",
                  first.path, first.version, own, first.led_by);
  finding.evidence.push_back({first.path, first.version + ", found by " + first.led_by});
  finding.evidence.push_back(newer == all.end() ? Evidence{"/sys/module/nvidia/version", kernel}
                                                : Evidence{newer->path, newer->version});
  if (is_compat(first) && is_configuration(first.led_by)) {
    finding.fix.push_back(
        by_command(ShellCommand({"rm", first.led_by}).then(ShellCommand({"ldconfig"})),
                   "programs get the driver's own library again"));
  }
  put_before(first.led_by, survey::parent_of(first.path),
             newer == all.end() ? std::string() : survey::parent_of(newer->path), finding);
  for (const auto& found : context.found) {
    finding.consumers.push_back(found.consumer);
  }
}

void half_updated(const Context& context, Findings& findings) {
  const auto& snapshot = context.snapshot;
  const auto library = std::find_if(
      snapshot.driver_libraries.begin(), snapshot.driver_libraries.end(),
      [](const auto& one) { return has_driver_version(one) && !is_compat(one) && !is_stub(one); });
  if (snapshot.kernel_module.empty() || library == snapshot.driver_libraries.end() ||
      library->version == snapshot.kernel_module) {
    return;
  }
  auto& finding = findings.add(RuleId::driver_half_updated);
  finding.cause =
      fmt::format("the kernel module that is loaded is {}, the driver's libraries are {}",
                  snapshot.kernel_module, library->version);
  finding.evidence = {{"/sys/module/nvidia/version", snapshot.kernel_module},
                      {library->path, library->version}};
  finding.fix = {
      by_command(ShellCommand({"reboot"}), "the kernel loads the module of the libraries"),
      by_hand("stop what uses the GPUs, then unload and load the nvidia modules",
              "the same without a reboot")};
  for (const auto& found : context.found) {
    finding.consumers.push_back(found.consumer);
  }
}

} // namespace

const std::vector<Rule>& loader_rules() {
  static const std::vector<Rule> rules = {half_updated, driver_taken, lacking_symbols};
  return rules;
}

} // namespace cukit::doctor

// A failure of the log by what it is about: the grammar gives thing, state and name; the snapshot
// says what is here. What a rule of the environment found already is the cause.
#include "base/strings.hpp"
#include "doctor/explain.hpp"
#include "doctor/packages.hpp"
#include "fit/machine.hpp"
#include "survey/root_view.hpp"

#include <algorithm>
#include <array>

namespace cukit::doctor {

namespace {

using buildlog::Failure;
using buildlog::State;
using buildlog::Thing;

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
  const auto* span = context.names == nullptr
                         ? nullptr
                         : context.names->find(knowledge::NameKind::library, library + ".so");
  if (span != nullptr && span->last) {
    finding.cause += fmt::format(": it went with CUDA {}", span->gone_in->text());
  }
  finding.fix = {
      by_hand(span != nullptr && span->last
                  ? fmt::format("take CUDA {}, the last with {} (NVIDIA's package cuda-{}-{}-{}), "
                                "for this build",
                                span->last->text(), library, component_of(library),
                                span->last->major(), span->last->minor())
                  : fmt::format("install the package that brings {} for this CUDA", library),
              "find_package(CUDAToolkit) defines the target"),
      by_hand(fmt::format("or take {} out of what the project links: a newer release of it may do "
                          "without",
                          failure.name),
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

/// Where the file that did not fit could go instead, and what shows which file system is full.
std::vector<Fix> room_for(const std::string& path, const std::string& temporary) {
  struct Cache {
    std::string_view part;
    const char* variable;
  };
  constexpr std::array<Cache, 4> k_disk_caches = {{{"/.cache/pip", "PIP_CACHE_DIR"},
                                                   {"/.cache/uv", "UV_CACHE_DIR"},
                                                   {"/.ccache", "CCACHE_DIR"},
                                                   {"/pkgs/", "CONDA_PKGS_DIRS"}}};
  std::vector<Fix> fix;
  for (const auto& [part, name] : k_disk_caches) {
    if (path.find(part) != std::string::npos) {
      fix.push_back(by_command(set_variable(name, "/var/tmp/cache"),
                               "any folder on a file system with room"));
    }
  }
  const bool is_path = path.starts_with('/');
  if (!is_path || path.starts_with(temporary + "/")) {
    fix.push_back(by_command(set_variable("TMPDIR", "/var/tmp"),
                             "compilers and pip write large files there; any file system with "
                             "room"));
  }
  const auto folder = is_path ? path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)) : ".";
  fix.push_back(by_command(ShellCommand({"df", "-h", folder}), "which file system is full"));
  return fix;
}

Finding* refused(const Context& context, const Failure& failure, Findings& findings) {
  const auto what = failure.name.empty() ? std::string("a file") : failure.name;
  switch (failure.thing) {
  case Thing::disk: {
    if (failure.text.find("File size limit") != std::string::npos) {
      return limit_reached(failure, findings);
    }
    auto& finding =
        say(findings, RuleId::disk_full, fmt::format("no space is left where {} is written", what));
    const auto temporary = value_or(variable(context.snapshot, "TMPDIR"), "/tmp");
    finding.evidence.push_back({"TMPDIR", temporary});
    finding.fix = room_for(what, temporary);
    return &finding;
  }
  case Thing::permission: {
    if (failure.text.find("externally-managed") != std::string::npos) {
      return managed_python(context, findings);
    }
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

/// Ended by a signal of its own, not by the system's.
bool is_crash(const Failure& failure) {
  const auto& signal = failure.demand;
  return failure.state == State::killed && !signal.empty() && signal != "9" &&
         signal.find("Killed") == std::string::npos && signal != "15" && signal != "Terminated";
}

/// The major of the g++ whose own header a path is: 13 of /usr/include/c++/13/tuple and of
/// /usr/lib/gcc/x86_64-linux-gnu/13/include/amxintrin.h; 0: none.
int major_of_header(std::string_view path) {
  for (const std::string_view folder : {"/include/c++/", "/lib/gcc/"}) {
    const auto at = path.find(folder);
    if (at == std::string_view::npos) {
      continue;
    }
    auto rest = path.substr(at + folder.size());
    if (folder == "/lib/gcc/") { // the triple
      rest = rest.substr(std::min(rest.find('/') + 1, rest.size()));
    }
    return major_of(std::string(rest.substr(0, rest.find('/'))));
  }
  return 0;
}

/// An error inside the headers of the host: nvcc's front end does not know that release of them.
Finding* code_of_host_headers(const Context& context, const Failure& failure, Findings& findings) {
  const auto nvcc = nvcc_in_use(context);
  const auto* command = command_of(context, failure);
  const bool is_by_nvcc =
      failure.tool == "EDG" || (command != nullptr && survey::name_of(command->program) == "nvcc");
  const auto who = nvcc.version.empty() ? std::string("nvcc") : "nvcc " + nvcc.version;
  if (is_by_nvcc && failure.file.starts_with("/usr/include/") &&
      failure.file.find("/bits/") != std::string::npos &&
      failure.file.find("/c++/") == std::string::npos) {
    auto& finding =
        say(findings, RuleId::glibc_too_new,
            fmt::format("{} cannot read the C library's own header {}", who, failure.file));
    if (finding.fix.empty()) {
      finding.fix = {cukit_fix(context, {}),
                     by_hand("a newer nvcc, or the build in a container of an older distribution",
                             "nvcc and the C library's headers then know each other")};
    }
    return &finding;
  }
  const int major = major_of_header(failure.file);
  const auto* release = release_of(context, nvcc.version);
  const auto range = release == nullptr ? fit::CompilerRange() : fit::compilers_of(*release);
  const bool is_above = fit::host_compiler(range, "gcc", major).is_refused();
  if (major == 0 || !(is_above || is_by_nvcc)) {
    return nullptr;
  }
  const int limit = range.gcc_max;
  auto& finding = say(findings, RuleId::host_compiler_too_new,
                      is_above ? fmt::format("nvcc {} reads the headers of g++ {}, and accepts up "
                                             "to {}",
                                             nvcc.version, major, limit)
                               : fmt::format("{} stumbles over a header of g++ {}", who, major));
  if (finding.fix.empty()) {
    finding.evidence.push_back({failure.file, fmt::format("of g++ {}", major)});
    finding.fix = {install_gxx(context, is_above ? limit : major - 1), cukit_fix(context, {})};
  }
  return &finding;
}

Finding* by_thing(const Context& context, const Failure& failure, Findings& findings) {
  switch (failure.thing) {
  case Thing::header:
    return missing_header(context, failure, findings);
  case Thing::tool:
    return failure.state == State::incompatible ? broken_program(failure, findings)
                                                : missing_tool(context, failure, findings);
  case Thing::file:
    return missing_file(context, failure, findings);
  case Thing::other:
    return failure.state == State::exhausted ? limit_reached(failure, findings) : nullptr;
  case Thing::symbol:
    if (auto* finding = code_of_host_headers(context, failure, findings)) {
      return finding;
    }
    return failure.state == State::unknown ? missing_name(context, failure, findings)
                                           : missing_symbol(context, failure, findings);
  case Thing::code:
    return code_of_host_headers(context, failure, findings);
  case Thing::library:
    return failure.state == State::incompatible ? missing_file(context, failure, findings)
                                                : missing_library(context, failure, findings);
  case Thing::target:
    if (auto* finding = refused_by_gpu(context, failure, findings)) {
      return finding;
    }
    return refused_target(context, failure, findings);
  case Thing::option:
    return unknown_option(context, failure, findings);
  case Thing::memory:
    return failure.tool == "CUDA" ? refused_by_gpu(context, failure, findings)
           : is_crash(failure)    ? crashed_compiler(failure, findings)
                                  : out_of_memory(context, failure, findings);
  case Thing::driver:
    if (failure.tool == "container") {
      return refused_by_container(context, failure, findings);
    }
    return driver_words(context, failure, findings);
  case Thing::cuda:
    return failed_call(context, failure, findings);
  case Thing::module:
    return missing_module(context, failure, findings);
  case Thing::version:
    return wrong_version(context, failure, findings);
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

Finding& say(Findings& findings, RuleId id, std::string cause, std::vector<Fix> fix,
             const std::string& subject) {
  auto& finding = findings.add(id, subject);
  if (finding.cause.empty()) {
    finding.cause = std::move(cause);
    finding.fix = std::move(fix);
  }
  return finding;
}

std::string said_by(const Failure& failure) {
  return failure.tool.empty() ? "the build" : failure.tool;
}

Finding* explain_failure(const Context& context, const Failure& failure, Findings& findings) {
  const bool is_of_a_source = failure.thing == Thing::symbol && failure.state == State::unknown;
  auto* finding = is_of_a_source ? missing_name(context, failure, findings) : nullptr;
  finding = finding != nullptr ? finding : found_already(failure, findings);
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

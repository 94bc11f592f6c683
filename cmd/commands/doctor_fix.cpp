#include "commands/doctor_fix.hpp"

#include "base/child.hpp"
#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "commands/doctor_text.hpp"
#include "commands/foreground.hpp"

#include <algorithm>
#include <set>
#include <unistd.h>

namespace cukit::cmd {

namespace {

constexpr const char* k_self = "/proc/self/exe";
constexpr const char* k_manifest_file = "cukit.yaml";
constexpr std::string_view k_written_by = "# Written by `cukit doctor --fix --yes`";

enum class Kind { for_a_person, removes_cache, sets_variables, brings_toolkit };

struct Step {
  const doctor::Fix* fix = nullptr;
  Kind kind = Kind::for_a_person;
};

Kind kind_of(const doctor::Fix& fix) {
  return !fix.removes.empty()                ? Kind::removes_cache
         : fix.command.only_sets_variables() ? Kind::sets_variables
                                             : Kind::for_a_person;
}

/// The first fix of each finding that breaks something; the manifest of cukit once.
std::vector<Step> plan(const doctor::Diagnosis& diagnosis) {
  std::vector<Step> steps;
  std::set<std::string> seen;
  const doctor::Fix* manifest = nullptr;
  for (const auto& finding : diagnosis.findings) {
    if (finding.severity != doctor::Severity::error) {
      continue;
    }
    if (!finding.fix.empty() && finding.fix.front().manifest.empty() &&
        seen.insert(finding.fix.front().text()).second) {
      steps.push_back({&finding.fix.front(), kind_of(finding.fix.front())});
    }
    for (const auto& fix : finding.fix) {
      manifest = manifest == nullptr && !fix.manifest.empty() ? &fix : manifest;
    }
  }
  if (manifest != nullptr) {
    steps.push_back({manifest, Kind::brings_toolkit});
  }
  return steps;
}

/// Only below the caches of that home: a snapshot can name any path.
bool is_cache_of(const fs::path& folder, const fs::path& home) {
  std::error_code error;
  const auto real = fs::canonical(folder, error);
  const auto real_home = error ? fs::path() : fs::canonical(home, error);
  if (error || real_home == "/") {
    return false;
  }
  const auto inside = real.lexically_relative(real_home).string() + "/";
  return (inside.starts_with(".cache/flashinfer/") && inside.size() > 18) ||
         inside.starts_with(".cache/torch_extensions/") || inside.starts_with(".cache/tvm-ffi/") ||
         inside.starts_with(".triton/cache/") || inside.starts_with(".deep_gemm/cache/");
}

void say(const std::string& text) {
  ui::say(text + "\n");
}

Result<void> remove_cache(const std::string& folder, const fs::path& home) {
  if (!is_cache_of(folder, home)) {
    say("left alone, not in your caches: " + printable(folder));
    return {};
  }
  CUKIT_TRY(remove_tree(folder));
  say("removed " + printable(folder));
  return {};
}

/// The manifest in this folder; false when another one is there.
Result<bool> write_manifest(const std::string& text) {
  if (::access(k_manifest_file, F_OK) == 0) {
    CUKIT_TRY_ASSIGN(const auto there, read_file(k_manifest_file, 1U << 20U));
    if (there != text) {
      say(fmt::format("left alone, it exists: {}", k_manifest_file));
    }
    return there == text;
  }
  CUKIT_TRY(write_user_file(k_manifest_file, text));
  say(fmt::format("wrote {}", k_manifest_file));
  return true;
}

/// This program once more, with the same global options.
std::vector<std::string> own_command(const Invocation& invocation,
                                     const std::vector<std::string>& arguments) {
  std::vector<std::string> command{k_self};
  const auto& options = invocation.options;
  for (const auto& [is_set, option] : {std::pair{options.system, "--system"},
                                       {options.no_lock, "--no-lock"},
                                       {options.quiet, "--quiet"}}) {
    if (is_set) {
      command.emplace_back(option);
    }
  }
  if (!options.recipes.empty()) {
    command.insert(command.end(), {"--recipes", options.recipes});
  }
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Result<int> bring_up(const Invocation& invocation, const std::vector<std::string>& up_options) {
  std::vector<std::string> arguments{"up", k_manifest_file};
  arguments.insert(arguments.end(), up_options.begin(), up_options.end());
  CUKIT_TRY_ASSIGN(const auto child, start_in_foreground(own_command(invocation, arguments)));
  return wait_for(child, "cukit up", invocation.stop);
}

Result<std::string> variables_of_toolkit(const Invocation& invocation) {
  CUKIT_TRY_ASSIGN(const auto done,
                   run_command({.arguments = own_command(invocation, {"env", k_manifest_file}),
                                .environment = invocation.environment},
                               invocation.stop));
  if (done.exit_code != 0) {
    return fail(ErrorCode::host, "`cukit env` gave no variables: {}", trim(done.errors));
  }
  return done.output;
}

Result<void> write_variables(const std::string& lines) {
  if (::access(k_variables_file, F_OK) == 0) {
    CUKIT_TRY_ASSIGN(const auto there, read_file(k_variables_file, 1U << 20U));
    if (!there.starts_with(k_written_by)) {
      say(fmt::format("left alone, it exists: {}", k_variables_file));
      return {};
    }
  }
  CUKIT_TRY(write_user_file(k_variables_file, fmt::format("{}; for a shell: . ./{}\n{}",
                                                          k_written_by, k_variables_file, lines)));
  say(fmt::format("wrote {}; next: . ./{}", k_variables_file, k_variables_file));
  return {};
}

Result<int> carry_out(Invocation& invocation, const std::vector<Step>& steps,
                      const std::vector<std::string>& up_options) {
  std::string lines;
  for (const auto& step : steps) {
    if (step.kind == Kind::removes_cache) {
      CUKIT_TRY(remove_cache(step.fix->removes,
                             invocation.environment.get("HOME").value_or("/nonexistent")));
    } else if (step.kind == Kind::sets_variables) {
      lines += step.fix->command.text() + "\n";
    } else if (step.kind == Kind::brings_toolkit) {
      CUKIT_TRY_ASSIGN(const bool is_ours, write_manifest(step.fix->manifest));
      if (!is_ours) {
        continue;
      }
      CUKIT_TRY_ASSIGN(const int code, bring_up(invocation, up_options));
      if (code != 0) {
        return code;
      }
      CUKIT_TRY_ASSIGN(const auto toolkit, variables_of_toolkit(invocation));
      lines += toolkit; // after the others: what it sets counts
    }
  }
  if (!lines.empty()) {
    CUKIT_TRY(write_variables(lines));
  }
  return 0;
}

} // namespace

std::string plan_text(const ui::Terminal& terminal, const doctor::Diagnosis& diagnosis) {
  const auto steps = plan(diagnosis);
  if (steps.empty()) {
    return "nothing to mend\n";
  }
  std::string out = "plan\n";
  int number = 0;
  bool has_variables = false;
  const auto add = [&](const doctor::Fix& fix, bool is_ours) {
    const auto head = fmt::format("{}. ", ++number);
    out += head + fix_lines(terminal, fix, head.size()) +
           prose(terminal,
                 (is_ours ? "(--yes does this) " : "(for you to do) ") + printable(fix.effect), 3);
  };
  for (const auto& step : steps) {
    const bool is_ours = step.kind != Kind::for_a_person;
    has_variables =
        has_variables || step.kind == Kind::sets_variables || step.kind == Kind::brings_toolkit;
    add(*step.fix, is_ours);
  }
  if (has_variables) {
    add({.command = ShellCommand({".", fmt::format("./{}", k_variables_file)}),
         .effect = "the variables of the steps above, which --yes writes there, in each shell that "
                   "builds"},
        false);
  }
  return out;
}

int apply_plan(Invocation& invocation, const doctor::Diagnosis& diagnosis,
               const std::vector<std::string>& up_options) {
  const auto code = carry_out(invocation, plan(diagnosis), up_options);
  return code ? *code : report(invocation, code.error());
}

} // namespace cukit::cmd

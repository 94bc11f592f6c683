#include "commands/doctor_fix.hpp"

#include "base/child.hpp"
#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "commands/doctor_text.hpp"
#include "commands/foreground.hpp"
#include "model/toolkit_name.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unistd.h>

namespace cukit::cmd {

namespace {

constexpr const char* k_self = "/proc/self/exe";
constexpr const char* k_lock_file = "cukit.lock.yaml";
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

void say(const std::string& text) {
  ui::say(text + "\n");
}

/// A link to nowhere is none: what is written goes through it.
bool is_there(const char* file) {
  return ::access(file, F_OK) == 0;
}

/// The text of one of the two files that are written here; nothing when it is not there. A pipe
/// or a folder of that name is somebody else's, like any text that is not ours.
Result<std::optional<std::string>> read_here(const char* file) {
  if (!is_there(file)) {
    return std::optional<std::string>();
  }
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return std::optional<std::string>("");
  }
  CUKIT_TRY_ASSIGN(auto text, read_file(file, 1U << 20U));
  return std::optional<std::string>(std::move(text));
}

bool may_write_manifest(const std::string& text) {
  const auto there = read_here(k_usual_manifest);
  return there && (!*there || **there == text);
}

bool may_write_variables() {
  const auto there = read_here(k_variables_file);
  return there && (!*there || (*there)->starts_with(k_written_by));
}

Result<void> remove_cache(const std::string& folder) {
  CUKIT_TRY(remove_tree(folder));
  say("removed " + printable(folder));
  return {};
}

/// The manifest in this folder; false when another one is there.
Result<bool> write_manifest(const std::string& text) {
  if (!may_write_manifest(text)) {
    say(fmt::format("left alone, it exists: {}", k_usual_manifest));
    return false;
  }
  if (!is_there(k_usual_manifest)) {
    CUKIT_TRY(write_user_file(k_usual_manifest, text));
    say(fmt::format("wrote {}", k_usual_manifest));
  }
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
  std::vector<std::string> arguments{"up", k_usual_manifest};
  arguments.insert(arguments.end(), up_options.begin(), up_options.end());
  CUKIT_TRY_ASSIGN(const auto child, start_in_foreground(own_command(invocation, arguments)));
  return wait_for(child, "cukit up", invocation.stop);
}

Result<std::string> variables_of_toolkit(const Invocation& invocation) {
  CUKIT_TRY_ASSIGN(const auto done,
                   run_command({.arguments = own_command(invocation, {"env", k_usual_manifest}),
                                .environment = invocation.environment},
                               invocation.stop));
  if (done.exit_code != 0) {
    return fail(ErrorCode::host, "`cukit env` gave no variables: {}", trim(done.errors));
  }
  return done.output;
}

/// False when another file of that name is there.
Result<bool> write_variables(const std::string& lines) {
  if (!may_write_variables()) {
    say(fmt::format("left alone, it exists: {}", k_variables_file));
    return false;
  }
  CUKIT_TRY(write_user_file(k_variables_file, fmt::format("{}; for a shell: . ./{}\n{}",
                                                          k_written_by, k_variables_file, lines)));
  say(fmt::format("wrote {}; next: . ./{}", k_variables_file, k_variables_file));
  return true;
}

/// What a shell that has read the variables gives its children.
Result<Environment> environment_of_variables(const Invocation& invocation) {
  CUKIT_TRY_ASSIGN(
      const auto done,
      run_command({.arguments = {"/bin/sh", "-c",
                                 fmt::format(". ./{}; exec /usr/bin/env -0", k_variables_file)},
                   .environment = invocation.environment},
                  invocation.stop));
  if (done.exit_code != 0) {
    return fail(ErrorCode::host, "a shell cannot read {}: {}", k_variables_file,
                printable(trim(done.errors)));
  }
  Environment result;
  for (const auto line : split(done.output, '\0')) {
    const auto equals = line.find('=');
    if (equals != std::string_view::npos && equals > 0) {
      result.set(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
    }
  }
  return result;
}

/// Manifest, `up` and the toolkit's variables; the exit code of `up`.
Result<int> bring_toolkit(const Invocation& invocation, const std::string& manifest,
                          const std::vector<std::string>& up_options, std::string& lines) {
  const bool is_new = !is_there(k_usual_manifest);
  CUKIT_TRY_ASSIGN(const bool is_ours, write_manifest(manifest));
  if (!is_ours) {
    return 0;
  }
  const bool had_lock = path_exists(k_lock_file);
  CUKIT_TRY_ASSIGN(const int code, bring_up(invocation, up_options));
  if (code != 0 && is_new && !had_lock && !path_exists(k_lock_file)) {
    std::error_code error; // no toolkit can come of it, so it does not stay in anybody's way
    fs::remove(k_usual_manifest, error);
    say(fmt::format("removed {} again", k_usual_manifest));
  }
  if (code == 0) {
    CUKIT_TRY_ASSIGN(lines, variables_of_toolkit(invocation));
  }
  return code;
}

Result<Applied> carry_out(const Invocation& invocation, const std::vector<Step>& steps,
                          const std::vector<std::string>& up_options) {
  Applied applied{.exit_code = 0, .environment = invocation.environment};
  std::string lines;
  std::string toolkit;
  for (const auto& step : steps) {
    if (step.kind == Kind::removes_cache) {
      for (const auto& folder : step.fix->removes) {
        CUKIT_TRY(remove_cache(folder));
      }
    } else if (step.kind == Kind::sets_variables) {
      lines += step.fix->command.text() + "\n";
    } else if (step.kind == Kind::brings_toolkit) {
      CUKIT_TRY_ASSIGN(applied.exit_code,
                       bring_toolkit(invocation, step.fix->manifest, up_options, toolkit));
      if (applied.exit_code != 0) {
        return applied;
      }
    }
  }
  lines += toolkit; // after the others: what it sets counts
  if (lines.empty()) {
    return applied;
  }
  CUKIT_TRY_ASSIGN(const bool is_written, write_variables(lines));
  if (is_written) {
    CUKIT_TRY_ASSIGN(applied.environment, environment_of_variables(invocation));
    applied.has_toolkit = !toolkit.empty();
  }
  return applied;
}

/// Whether --yes does a step here, now.
bool is_ours(const Step& step) {
  switch (step.kind) {
  case Kind::for_a_person:
    return false;
  case Kind::removes_cache:
    return true;
  case Kind::sets_variables:
    return may_write_variables();
  case Kind::brings_toolkit:
    return may_write_manifest(step.fix->manifest) && may_write_variables();
  }
  return false;
}

} // namespace

std::string plan_text(const ui::Terminal& terminal, const doctor::Diagnosis& diagnosis,
                      bool is_of_this_machine) {
  const auto steps = plan(diagnosis);
  if (steps.empty()) {
    const bool has_fixes = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                                       [](const auto& finding) { return !finding.fix.empty(); });
    return has_fixes ? "no error: --fix mends errors alone; what stands above is for the warnings\n"
                     : "no error, so there is nothing that --fix mends\n";
  }
  std::string out = "plan\n";
  int number = 0;
  bool has_variables = false;
  const auto add = [&](const doctor::Fix& fix, bool is_done_by_yes) {
    const auto head = fmt::format("{}. ", ++number);
    out +=
        head + fix_lines(terminal, fix, head.size()) +
        prose(terminal,
              (is_done_by_yes ? "(--yes does this) " : "(for you to do) ") + printable(fix.effect),
              3);
  };
  for (const auto& step : steps) {
    const bool is_done_by_yes = is_of_this_machine && is_ours(step);
    has_variables = has_variables || (is_done_by_yes && (step.kind == Kind::sets_variables ||
                                                         step.kind == Kind::brings_toolkit));
    add(*step.fix, is_done_by_yes);
  }
  if (has_variables) {
    add({.command = ShellCommand({".", fmt::format("./{}", k_variables_file)}),
         .effect = "the variables of the steps above, which --yes writes there, in each shell that "
                   "builds"},
        false);
  }
  return out;
}

Result<Applied> apply_plan(const Invocation& invocation, const doctor::Diagnosis& diagnosis,
                           const std::vector<std::string>& up_options) {
  return carry_out(invocation, plan(diagnosis), up_options);
}

bool is_mended_by_plan(const doctor::Finding& finding) {
  return !finding.fix.empty() &&
         (kind_of(finding.fix.front()) != Kind::for_a_person ||
          std::any_of(finding.fix.begin(), finding.fix.end(),
                      [](const auto& fix) { return !fix.manifest.empty(); }));
}

} // namespace cukit::cmd

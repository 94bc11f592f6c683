#include "base/strings.hpp"
#include "commands/summary.hpp"
#include "home/reference.hpp"
#include "pipeline/repair.hpp"

#include <algorithm>

namespace cukit::cmd {

namespace {

using pipeline::Checked;

struct Options {
  SettingsOptions settings;
  std::vector<std::string> toolkits;
  bool all = false;
  bool repair = false;
};

Result<std::vector<Checked>> check(const Invocation& invocation, const store::Home& home,
                                   const Options& options) {
  if (options.all || options.toolkits.empty()) {
    return pipeline::check_home(home, invocation.stop);
  }
  std::vector<Checked> result;
  store::DigestMemory memory;
  for (const auto& text : options.toolkits) {
    CUKIT_TRY_ASSIGN(const auto reference, home::find_reference(home, text));
    CUKIT_TRY_ASSIGN(const auto path, home::tree_of(home, reference));
    CUKIT_TRY_ASSIGN(auto one, pipeline::check_tree(home, path, text, memory, invocation.stop));
    result.push_back(std::move(one));
  }
  return result;
}

bool is_clean(const std::vector<Checked>& checked) {
  return std::all_of(checked.begin(), checked.end(),
                     [](const Checked& one) { return one.is_clean(); });
}

/// Files are shared between trees, so damage in one is a reason to look at all.
Result<void> repair(Invocation& invocation, const Options& options, std::vector<Checked>& checked) {
  CUKIT_TRY_ASSIGN(const auto settings, options.settings.settings());
  CUKIT_TRY_ASSIGN(auto opened, open_session(invocation, settings));
  auto& session = *opened.session;
  if (!options.all && !options.toolkits.empty()) {
    CUKIT_TRY_ASSIGN(auto everything, pipeline::check_home(session.home, invocation.stop));
    for (auto& one : everything) {
      const bool known = std::any_of(checked.begin(), checked.end(),
                                     [&](const Checked& other) { return other.path == one.path; });
      if (!known && !one.is_clean()) {
        checked.push_back(std::move(one));
      }
    }
  }
  return pipeline::repair(session, checked);
}

const char* name_of(Checked::Repair how) {
  switch (how) {
  case Checked::Repair::none:
    return "none";
  case Checked::Repair::repaired:
    return "repaired";
  case Checked::Repair::removed:
    return "removed";
  case Checked::Repair::failed:
    return "failed";
  }
  return "";
}

text::Json checked_json(const Checked& one) {
  auto problems = text::Json::list();
  auto differences = text::Json::list();
  if (one.unreadable) {
    problems.add(one.unreadable->message);
  }
  for (const auto& difference : one.differences) {
    problems.add(text_of(difference));
    differences.add(text::Json::object()
                        .set("kind", store::name_of(difference.kind))
                        .set("path", difference.path)
                        .set("detail", difference.detail));
  }
  return text::Json::object()
      .set("what", one.what)
      .set("path", one.path.string())
      .set("problems", problems)
      .set("differences", differences)
      .set("repair", name_of(one.repair))
      .set("error", one.why_not ? error_json(*one.why_not) : text::Json());
}

std::string checked_text(const Checked& one) {
  const auto what = printable(one.what);
  std::string out;
  if (one.unreadable) {
    out += fmt::format("{}: {} ({})\n", what, printable(one.unreadable->message),
                       printable(one.unreadable->where));
  }
  for (const auto& difference : one.differences) {
    out += fmt::format("{}: {}\n", what, printable(text_of(difference)));
  }
  switch (one.repair) {
  case Checked::Repair::none:
    break;
  case Checked::Repair::repaired:
    out += fmt::format("{}: repaired\n", what);
    break;
  case Checked::Repair::removed:
    out += one.kind == Checked::Kind::generation
               ? fmt::format("{}: removed; `cukit up` makes it anew\n", what)
               : fmt::format("{}: removed, because no name needs it\n", what);
    break;
  case Checked::Repair::failed:
    out += fmt::format("{}: not repaired\n", what);
    break;
  }
  return out;
}

/// 0 when all is well now; else the "no" of the check, or why the first repair failed.
int exit_code(const std::vector<Checked>& checked) {
  int code = 0;
  for (const auto& one : checked) {
    if (one.is_clean() || one.repair == Checked::Repair::repaired ||
        one.repair == Checked::Repair::removed) {
      continue;
    }
    const auto why = one.why_not ? one.why_not->code : ErrorCode::expected_no;
    code = code == 0 ? static_cast<int>(why) : code;
  }
  return code;
}

text::Json results_json(const std::vector<Checked>& checked) {
  auto results = text::Json::list();
  for (const auto& one : checked) {
    results.add(checked_json(one));
  }
  return text::Json::object()
      .set("schema", "cukit.verify/1")
      .set("clean", is_clean(checked))
      .set("results", results);
}

void print(Invocation& invocation, const std::vector<Checked>& checked, bool repaired) {
  if (invocation.options.json) {
    print_json(results_json(checked));
    return;
  }
  std::string out;
  for (const auto& one : checked) {
    out += checked_text(one);
  }
  if (is_clean(checked)) {
    out += fmt::format("{} checked, all as they were built\n", checked.size());
  } else if (!repaired) {
    out += "`cukit verify --repair` makes it as it was built\n";
  }
  ui::print(out);
  for (const auto& one : checked) {
    if (one.why_not) {
      report(invocation, *one.why_not);
    }
  }
}

Result<std::vector<Checked>> verify(Invocation& invocation, const Options& options) {
  CUKIT_TRY_ASSIGN(const auto home, invocation.home());
  CUKIT_TRY_ASSIGN(auto checked, check(invocation, home, options));
  if (options.repair && !is_clean(checked)) {
    CUKIT_TRY(repair(invocation, options, checked));
    invocation.outcome = results_json(checked);
  }
  return checked;
}

int run_verify(Invocation& invocation, const Options& options) {
  const auto checked = verify(invocation, options);
  if (!checked) {
    return report(invocation, checked.error());
  }
  print(invocation, *checked, options.repair);
  return exit_code(*checked);
}

} // namespace

void register_verify(Commands& commands) {
  auto options = std::make_shared<Options>();
  auto* app =
      commands.add("verify", "Hash every file of a toolkit again, or of all toolkits and the store",
                   [options](Invocation& invocation) { return run_verify(invocation, *options); });
  app->add_option("TOOLKIT", options->toolkits,
                  "Names, manifests, paths or ids of trees; none: everything");
  app->add_flag("--all", options->all, "Everything, as without a TOOLKIT");
  app->add_flag("--repair", options->repair,
                "Make what differs as it was built: fetch and assemble it again");
  options->settings.add_source_options(*app);
}

} // namespace cukit::cmd

#include "commands/summary.hpp"

#include "base/strings.hpp"
#include "model/shell_command.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

namespace cukit::cmd {

using ui::Style;
using validate::State;

text::Json errors_json(const std::vector<Error>& errors) {
  auto list = text::Json::list();
  for (const auto& error : errors) {
    list.add(error_json(error));
  }
  return list;
}

int report_damaged(Invocation& invocation, const std::vector<Error>& errors) {
  std::fflush(stdout);
  if (!invocation.options.json) {
    for (const auto& error : errors) {
      report(invocation, error);
    }
  }
  return errors.empty() ? 0 : static_cast<int>(errors.front().code);
}

text::Json tree_json(const assemble::Tree& tree, const std::string& name) {
  return text::Json::object()
      .set("path", tree.path.string())
      .set("digest", tree.content.text())
      .set("id", tree.id.hex())
      .set("name", name);
}

namespace {

template <typename Results> int count(const Results& results, State state) {
  return static_cast<int>(std::count_if(results.begin(), results.end(),
                                        [&](const auto& r) { return r.state == state; }));
}

struct Cell {
  std::string text;
  Style style = Style::plain;
};

/// One kernel on one target: the worst of its compilation and its runs.
Cell cell_of(const validate::Report& report, const std::string& kernel, const std::string& target) {
  for (const auto& build : report.builds) {
    if (build.kernel == kernel && build.target == target && build.state != State::passed) {
      return build.state == State::failed ? Cell{"FAILED", Style::bad} : Cell{"-", Style::dim};
    }
  }
  bool ran = false;
  bool failed = false;
  for (const auto& run : report.runs) {
    if (run.kernel == kernel && run.target == target) {
      ran = ran || run.state == State::passed;
      failed = failed || run.state == State::failed;
    }
  }
  if (failed) {
    return {"RUN FAILED", Style::bad};
  }
  return ran ? Cell{"ran", Style::good} : Cell{"compiled", Style::plain};
}

std::string failures(const ui::Terminal& terminal, const validate::Report& report) {
  std::string out;
  const auto add = [&](const std::string& what, const std::string& reason) {
    out += "  " + terminal.paint(Style::bad, what) + "\n";
    for (const auto line : split(reason, '\n')) {
      if (!trim(line).empty()) {
        out += "      " + printable(line) + "\n";
      }
    }
  };
  for (const auto& build : report.builds) {
    if (build.state == State::failed) {
      add(fmt::format("{} for {} did not compile as it must:", build.kernel, build.target),
          build.reason);
    }
  }
  for (const auto& run : report.runs) {
    if (run.state == State::failed) {
      add(fmt::format("{} for {} failed on {}:", run.kernel, run.target, run.gpu), run.reason);
    }
  }
  return out;
}

/// "not run" with its reasons, each once.
std::string not_run(const ui::Terminal& terminal, const validate::Report& report) {
  std::map<std::string, int> reasons;
  for (const auto& run : report.runs) {
    if (run.state == State::not_run) {
      ++reasons[run.reason];
    }
  }
  std::string out;
  for (const auto& [reason, times] : reasons) {
    out += fmt::format("  {} {} programs: {}\n", terminal.paint(Style::warn, "not run"), times,
                       printable(reason));
  }
  return out;
}

} // namespace

text::Json validation_json(const validate::Report& report) {
  return text::Json::object()
      .set("compiled", count(report.builds, State::passed))
      .set("ran", count(report.runs, State::passed))
      .set("failed", report.count(State::failed))
      .set("not_run", count(report.runs, State::not_run));
}

std::string report_text(const ui::Terminal& terminal, const validate::Report& report) {
  std::vector<std::string> kernels;
  std::vector<std::string> targets;
  for (const auto& build : report.builds) {
    if (std::find(kernels.begin(), kernels.end(), build.kernel) == kernels.end()) {
      kernels.push_back(build.kernel);
    }
    if (!build.target.empty() &&
        std::find(targets.begin(), targets.end(), build.target) == targets.end()) {
      targets.push_back(build.target);
    }
  }
  std::sort(targets.begin(), targets.end());
  ui::Table table;
  std::vector<std::string> head{"kernel"};
  std::vector<Style> head_styles{Style::bold};
  for (const auto& target : targets) {
    head.push_back(target);
    head_styles.push_back(Style::bold);
  }
  table.row(head, head_styles);
  for (const auto& kernel : kernels) {
    std::vector<std::string> cells{kernel};
    std::vector<Style> styles{Style::plain};
    for (const auto& target : targets) {
      const bool exists =
          std::any_of(report.builds.begin(), report.builds.end(),
                      [&](const auto& b) { return b.kernel == kernel && b.target == target; });
      const auto cell = exists ? cell_of(report, kernel, target) : Cell{"", Style::plain};
      cells.push_back(cell.text);
      styles.push_back(cell.style);
    }
    table.row(cells, styles);
  }
  std::string out = table.print(terminal);
  const int failed = report.count(State::failed);
  out += fmt::format(
      "  {} compiled, {} ran, {}, {} not run", count(report.builds, State::passed),
      count(report.runs, State::passed),
      terminal.paint(failed > 0 ? Style::bad : Style::plain, fmt::format("{} failed", failed)),
      count(report.runs, State::not_run));
  out += report.host_compiler.empty() ? "\n"
                                      : fmt::format("  (host compiler {})\n", report.host_compiler);
  for (const auto& gpu : report.gpus) {
    out +=
        fmt::format("  GPU {}{}\n", gpu, report.driver.empty() ? "" : ", driver " + report.driver);
  }
  return out + not_run(terminal, report) + failures(terminal, report);
}

std::string up_text(const Invocation& invocation, const pipeline::UpResult& result) {
  const auto terminal = invocation.output();
  const auto& manifest = result.locked.manifest;
  const auto label = terminal.paint(Style::bold, manifest.name.value);
  if (result.nothing_to_do) {
    return fmt::format("{}: nothing to do, CUDA {} stands at {}\n", label,
                       result.locked.lock.release.text(), result.tree->path.string());
  }
  std::string out;
  const bool failed = result.report && result.report->has_failure();
  out += fmt::format("{}: CUDA {} {}\n", label, result.locked.lock.release.text(),
                     failed ? terminal.paint(Style::bad, "is built, but its validation failed")
                            : terminal.paint(Style::good, result.report ? "is ready" : "is built"));
  out += fmt::format("  tree    {}\n  digest  {}\n", result.tree->path.string(),
                     result.tree->content.text());
  if (result.report) {
    out += report_text(terminal, *result.report);
  } else {
    out += fmt::format("  {}\n",
                       terminal.paint(Style::warn, "not validated: nothing was compiled with it"));
  }
  if (!failed) {
    const auto which = result.name.empty() ? result.tree->path.string() : result.name;
    out += fmt::format(
        "  use it  {}\n",
        ShellCommand::evaluates(ShellCommand({invocation.own_name(), "env", which})).text());
  }
  return out;
}

} // namespace cukit::cmd

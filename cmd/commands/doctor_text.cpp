#include "commands/doctor_text.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cukit::cmd {

namespace {

/// Words in lines of the terminal's width, each line after `indent`.
std::string wrapped(std::string_view text, std::size_t width, const std::string& indent) {
  std::string out;
  std::string line = indent;
  for (const auto word : split_words(text)) {
    if (line.size() + word.size() + 1 > width && line.size() > indent.size()) {
      out += line + "\n";
      line = indent;
    }
    if (line.size() > indent.size()) {
      line += ' ';
    }
    line += word;
  }
  return out + line + "\n";
}

std::size_t columns(const ui::Terminal& terminal) {
  return static_cast<std::size_t>(std::clamp(terminal.width(), 40, 120));
}

ui::Style style_of(doctor::Severity severity) {
  return severity == doctor::Severity::error     ? ui::Style::bad
         : severity == doctor::Severity::warning ? ui::Style::warn
                                                 : ui::Style::dim;
}

/// Fixes that were printed already are not printed again: one command often mends several findings.
class Fixes {
public:
  std::string text(const ui::Terminal& terminal, const doctor::Finding& finding,
                   std::size_t width) {
    std::string out;
    for (const auto& fix : finding.fix) {
      // the manifest of another finding differs in its consumers alone
      if (!shown_.insert(fix.manifest.empty() ? fix.text() : "a manifest").second) {
        continue;
      }
      out += "  " + terminal.paint(ui::Style::accent, out.empty() ? "fix" : "or ") + " " +
             fix_lines(terminal, fix, 6);
      out += wrapped(printable(fix.effect), width, "      ");
    }
    return out.empty() && !finding.fix.empty()
               ? "  " + terminal.paint(ui::Style::accent, "fix") + " as above\n"
               : out;
  }

private:
  std::set<std::string> shown_;
};

std::string finding_text(const ui::Terminal& terminal, const doctor::Finding& finding,
                         Fixes& fixes) {
  const auto width = columns(terminal);
  std::string out = terminal.paint(style_of(finding.severity), doctor::text_of(finding.severity)) +
                    " " + terminal.paint(ui::Style::bold, finding.title) +
                    terminal.paint(ui::Style::dim, "  [" + finding.id + "]") + "\n";
  out += wrapped(printable(finding.cause), width, "  ");
  for (const auto& item : finding.evidence) {
    const auto path = printable(item.path);
    const auto fact = printable(item.fact);
    const bool fits = path.size() + fact.size() + 6 <= width;
    out += "    " + terminal.paint(ui::Style::dim, path) +
           (fits ? "  " + fact + "\n" : "\n" + wrapped(fact, width, "        "));
  }
  if (!finding.consumers.empty()) {
    out += wrapped("affects " + join(finding.consumers, ", "), width, "  ");
  }
  for (const auto& text : finding.consequences) {
    out += wrapped("so: " + printable(text), width, "  ");
  }
  out += fixes.text(terminal, finding, width);
  return out + "\n";
}

std::string cell(const std::string& path, const std::string& version) {
  return path.empty() && version.empty() ? "-" : version.empty() ? "?" : version;
}

/// Versions side by side, so that one that differs stands out.
std::string consumer_table(const ui::Terminal& terminal,
                           const std::vector<doctor::Found>& consumers) {
  ui::Table table;
  table.row({"consumer", "nvcc", "headers", "ptxas", "verdict", "from"},
            std::vector<ui::Style>(6, ui::Style::bold));
  std::map<std::string, int> votes;
  for (const auto& found : consumers) {
    votes[found.nvcc_version] += found.nvcc_version.empty() ? 0 : 1;
  }
  const auto usual = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& found : consumers) {
    const auto verdict = found.verdict == doctor::Verdict::works   ? ui::Style::good
                         : found.verdict == doctor::Verdict::fails ? ui::Style::bad
                                                                   : ui::Style::dim;
    const bool is_other =
        !found.nvcc_version.empty() && usual != votes.end() && found.nvcc_version != usual->first;
    auto from = !found.root.empty() ? found.root : !found.nvcc.empty() ? found.nvcc : found.ptxas;
    const auto limit = columns(terminal) > 62 ? columns(terminal) - 62 : 10;
    if (from.empty() && found.verdict == doctor::Verdict::unknown) {
      from = found.why; // nothing was taken: say why instead of where from
    } else if (from.size() > limit) {
      from = "..." + from.substr(from.size() - limit + 3);
    }
    table.row({found.consumer, cell(found.nvcc, found.nvcc_version),
               cell(found.headers, found.headers_version), cell(found.ptxas, found.ptxas_version),
               std::string(doctor::text_of(found.verdict)), printable(from)},
              {ui::Style::accent, is_other ? ui::Style::warn : ui::Style::plain, ui::Style::plain,
               ui::Style::plain, verdict, ui::Style::dim});
  }
  return table.print(terminal, "  ");
}

std::string looks_text(const std::vector<doctor::Found>& consumers) {
  std::string out;
  for (const auto& found : consumers) {
    out += "  " + found.consumer + (found.why.empty() ? "" : ": " + found.why) + "\n";
    for (const auto& look : found.looked) {
      out += "    " + look.where + (look.value.empty() ? "" : " = " + printable(look.value)) +
             "  " + look.outcome + "\n";
    }
    for (const auto& [name, value] : found.arch_lists) {
      out += "    " + name + " = " + printable(value) + "\n";
    }
  }
  return out;
}

} // namespace

std::string fix_lines(const ui::Terminal& terminal, const doctor::Fix& fix, std::size_t indent) {
  const auto width = columns(terminal);
  const std::string margin(indent, ' ');
  if (!terminal.breaks_lines()) {
    return printable(fix.text()) + "\n";
  }
  if (fix.command.empty()) {
    return wrapped(printable(fix.advice), width, margin).substr(indent);
  }
  std::string out;
  std::size_t used = indent;
  for (const auto& word : fix.command.words()) {
    if (used > indent + 2 && used + 1 + word.size() + 2 > width) {
      out += " \\\n  " + margin;
      used = indent + 2;
    } else if (!out.empty()) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
  }
  return out + "\n";
}

std::string prose(const ui::Terminal& terminal, const std::string& text, std::size_t indent) {
  return terminal.breaks_lines() ? wrapped(text, columns(terminal), std::string(indent, ' '))
                                 : std::string(indent, ' ') + text + "\n";
}

std::string diagnosis_text(const ui::Terminal& terminal, const doctor::Diagnosis& diagnosis,
                           bool is_verbose, const std::vector<std::string>& own_toolkits) {
  std::string out;
  Fixes fixes;
  for (const auto& finding : diagnosis.findings) {
    if (finding.severity != doctor::Severity::note || is_verbose || finding.log_line != 0) {
      out += finding_text(terminal, finding, fixes);
    }
  }
  if (!diagnosis.consumers.empty()) {
    out += consumer_table(terminal, diagnosis.consumers);
  } else if (out.empty()) {
    out = own_toolkits.empty()
              ? "no toolkit and nothing that needs one is here\n"
              : fmt::format(
                    "nothing here takes a toolkit; cukit has built {}: {}\n",
                    join(own_toolkits, ", "),
                    ShellCommand::evaluates(ShellCommand({"cukit", "env", own_toolkits.front()}))
                        .text());
  }
  if (is_verbose) {
    out += "\n" + looks_text(diagnosis.consumers);
  }
  return out;
}

std::string rules_text(const ui::Terminal& terminal, const std::vector<doctor::RuleText>& rules) {
  ui::Table table;
  for (const auto& rule : rules) {
    table.row({rule.id, std::string(doctor::text_of(rule.severity)), rule.title},
              {ui::Style::accent, style_of(rule.severity)});
  }
  return table.print(terminal, "");
}

std::string explain_text(const ui::Terminal& terminal, const std::vector<doctor::RuleText>& rules,
                         const std::string& id) {
  std::string out;
  for (const auto& rule : rules) {
    if (rule.id == id) {
      out += terminal.paint(ui::Style::bold, rule.title) + "  " +
             terminal.paint(style_of(rule.severity), doctor::text_of(rule.severity)) + "\n" +
             wrapped(rule.about, columns(terminal), "  ") + "  " +
             terminal.paint(ui::Style::dim, "source: " + rule.source) + "\n";
    }
  }
  return out;
}

} // namespace cukit::cmd

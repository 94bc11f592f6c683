// recipes/doctor/rules.yaml, and the names of severities and verdicts.
#include "base/strings.hpp"
#include "doctor/doctor.hpp"
#include "text/fields.hpp"

namespace cukit::doctor {

namespace {

RuleText read_rule(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields fields(node, mistakes, "a rule");
  RuleText rule{.id = fields.required_text("id"),
                .title = fields.required_text("title"),
                .about = fields.required_text("about"),
                .source = fields.required_text("source"),
                .explained_by = fields.strings("explained_by")};
  const auto severity = fields.required_text("severity");
  if (severity == "error") {
    rule.severity = Severity::error;
  } else if (severity == "warning") {
    rule.severity = Severity::warning;
  } else if (severity == "note") {
    rule.severity = Severity::note;
  } else {
    mistakes.add(node.at, "`severity` must be error, warning or note");
  }
  return rule;
}

} // namespace

Result<std::vector<RuleText>> rules(const knowledge::Knowledge& knowledge) {
  const std::string name = "doctor/rules.yaml";
  CUKIT_TRY_ASSIGN(const auto text, knowledge.read(name));
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, name));
  text::Mistakes mistakes(name);
  std::vector<RuleText> result;
  {
    text::Fields fields(root, mistakes, "the file");
    if (const auto* list = fields.require("rules")) {
      for (const auto& node : list->items) {
        result.push_back(read_rule(node, mistakes));
      }
    }
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return result;
}

std::string_view text_of(Severity severity) {
  switch (severity) {
  case Severity::error:
    return "error";
  case Severity::warning:
    return "warning";
  case Severity::note:
    return "note";
  }
  return "";
}

std::string_view text_of(Verdict verdict) {
  switch (verdict) {
  case Verdict::works:
    return "works";
  case Verdict::fails:
    return "fails";
  case Verdict::unknown:
    return "unknown";
  }
  return "";
}

} // namespace cukit::doctor

// recipes/doctor/rules.yaml, and the names of severities and verdicts.
#include "base/strings.hpp"
#include "doctor/doctor.hpp"
#include "doctor/rule_id.hpp"
#include "text/fields.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

constexpr const char* k_rules_file = "doctor/rules.yaml";
constexpr const char* k_messages_file = "doctor/messages.yaml";

/// A rule's name where somebody else uses it.
struct Use {
  std::string id;
  text::Position at;
};

RuleText read_rule(const text::Node& node, text::Mistakes& mistakes, std::vector<Use>& uses) {
  text::Fields fields(node, mistakes, "a rule");
  RuleText rule{.id = fields.required_text("id"),
                .title = fields.required_text("title"),
                .about = fields.required_text("about"),
                .source = fields.required_text("source")};
  for (const auto* by : fields.texts("explained_by")) {
    rule.explained_by.push_back(by->scalar);
    uses.push_back({by->scalar, by->at});
  }
  const auto concerns = fields.text_or_empty("concerns");
  rule.concerns_builds = concerns == "builds";
  if (!concerns.empty() && !rule.concerns_builds) {
    mistakes.add(node.at, "`concerns` can only be `builds`");
  }
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

/// The causes of messages; what else is in that file is read with a log (read_messages).
Result<std::vector<Use>> read_causes(const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto text, knowledge.read(k_messages_file));
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, knowledge.display(k_messages_file)));
  std::vector<Use> uses;
  const auto* messages = root.find("messages");
  for (const auto& message : messages == nullptr ? std::vector<text::Node>() : messages->items) {
    const auto* causes = message.find("causes");
    if (causes != nullptr && causes->is_scalar()) { // one text stands for a list of one
      uses.push_back({causes->scalar, causes->at});
    } else if (causes != nullptr) {
      for (const auto& cause : causes->items) {
        uses.push_back({cause.scalar, cause.at});
      }
    }
  }
  return uses;
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// Names that are used and not defined.
void check_uses(const std::vector<Use>& uses, const std::vector<std::string>& ids,
                text::Mistakes& mistakes) {
  for (const auto& use : uses) {
    if (!contains(ids, use.id)) {
      mistakes.add(use.at, fmt::format("there is no rule `{}`", printable(use.id)),
                   text::suggestion(use.id, ids));
    }
  }
}

/// Names that are defined twice, that nothing leads to, or that are missing.
void check_rules(const text::Node& list, const std::vector<std::string>& ids,
                 const std::vector<Use>& causes, text::Mistakes& mistakes) {
  auto led_to = reported_rules();
  std::transform(causes.begin(), causes.end(), std::back_inserter(led_to),
                 [](const Use& use) { return use.id; });
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto end = ids.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(ids.begin(), end, ids[i]) != end) {
      mistakes.add(list.items[i].at,
                   fmt::format("the rule `{}` is there twice", printable(ids[i])));
    } else if (!ids[i].empty() && !contains(led_to, ids[i])) {
      mistakes.add(list.items[i].at,
                   fmt::format("nothing leads to the rule `{}`", printable(ids[i])),
                   text::suggestion(ids[i], led_to));
    }
  }
  for (const auto& id : reported_rules()) {
    if (!contains(ids, id)) {
      mistakes.add(list.at, fmt::format("the rule `{}`, which the doctor reports, is missing", id));
    }
  }
}

} // namespace

std::string text_of(RuleId id) {
  return reported_rules()[static_cast<std::size_t>(id)];
}

const std::vector<std::string>& reported_rules() {
#define CUKIT_DOCTOR_NAME(name) #name,
  static const auto all = [] {
    std::vector<std::string> names{CUKIT_DOCTOR_RULES(CUKIT_DOCTOR_NAME)};
    for (auto& name : names) {
      std::replace(name.begin(), name.end(), '_', '-');
    }
    return names;
  }();
#undef CUKIT_DOCTOR_NAME
  return all;
}

Result<std::vector<RuleText>> rules(const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto text, knowledge.read(k_rules_file));
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, knowledge.display(k_rules_file)));
  CUKIT_TRY_ASSIGN(const auto causes, read_causes(knowledge));
  text::Mistakes mistakes(knowledge.display(k_rules_file));
  std::vector<RuleText> result;
  std::vector<std::string> ids;
  {
    text::Fields fields(root, mistakes, "the file");
    if (const auto* list = fields.require("rules")) {
      std::vector<Use> uses;
      for (const auto& node : list->items) {
        result.push_back(read_rule(node, mistakes, uses));
        ids.push_back(result.back().id);
      }
      check_uses(uses, ids, mistakes);
      check_rules(*list, ids, causes, mistakes);
    }
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  text::Mistakes of_messages(knowledge.display(k_messages_file));
  check_uses(causes, ids, of_messages);
  if (!of_messages.empty()) {
    return tl::unexpected<Error>(std::move(of_messages).error());
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

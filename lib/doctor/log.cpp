#include "doctor/log.hpp"

#include "doctor/doctor.hpp"
#include "text/fields.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

std::vector<std::string> pieces_of(const std::string& pattern) {
  std::vector<std::string> pieces;
  std::size_t from = 0;
  for (auto at = pattern.find("{}"); at != std::string::npos; at = pattern.find("{}", from)) {
    pieces.push_back(pattern.substr(from, at - from));
    from = at + 2;
  }
  pieces.push_back(pattern.substr(from));
  return pieces;
}

const std::string& anchor(const Message& message) {
  return *std::max_element(message.pattern.begin(), message.pattern.end(),
                           [](const auto& a, const auto& b) { return a.size() < b.size(); });
}

} // namespace

Result<std::vector<Message>> read_messages(const knowledge::Knowledge& knowledge) {
  const std::string name = "doctor/messages.yaml";
  CUKIT_TRY_ASSIGN(const auto text, knowledge.read(name));
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, knowledge.display(name)));
  text::Mistakes mistakes(knowledge.display(name));
  std::vector<Message> result;
  {
    text::Fields fields(root, mistakes, "the file");
    const auto* list = fields.require("messages");
    for (const auto& node : list == nullptr ? std::vector<text::Node>() : list->items) {
      text::Fields inner(node, mistakes, "a message");
      result.push_back({.tool = inner.required_text("tool"),
                        .pattern = pieces_of(inner.required_text("pattern")),
                        .means = inner.required_text("means"),
                        .causes = inner.strings("causes")});
      if (result.back().causes.empty() || anchor(result.back()).size() < 4) {
        mistakes.add(node.at, "a message needs a cause and a piece of at least four letters");
      }
    }
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return result;
}

LogFacts log_facts(const buildlog::Facts& facts, const std::vector<Message>& messages) {
  LogFacts log{.facts = facts};
  for (const auto& phrase : facts.phrases) {
    if (phrase.phrase < messages.size()) {
      log.hits.push_back({.message = &messages[phrase.phrase],
                          .line = phrase.line,
                          .text = phrase.text,
                          .captures = phrase.captures,
                          .count = phrase.count});
    }
  }
  return log;
}

Result<std::vector<buildlog::Phrase>> log_phrases(const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto messages, read_messages(knowledge));
  std::vector<buildlog::Phrase> phrases;
  phrases.reserve(messages.size());
  for (const auto& message : messages) {
    phrases.push_back({message.pattern});
  }
  return phrases;
}

Result<buildlog::Facts> read_log(std::string_view text, const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(auto phrases, log_phrases(knowledge));
  return buildlog::read(text, std::move(phrases));
}

} // namespace cukit::doctor

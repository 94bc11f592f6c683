// What the lines of a log add to its facts.
#include "base/strings.hpp"
#include "buildlog/collector.hpp"
#include "buildlog/demands.hpp"
#include "buildlog/lines.hpp"
#include "buildlog/special.hpp"

#include <algorithm>

namespace cukit::buildlog {

namespace {

using std::string_view;
constexpr std::size_t k_endings = 12;
constexpr std::size_t k_commands = 300;
constexpr std::size_t k_phrases = 400;
constexpr std::size_t k_recent_bytes = 32U << 10U;

} // namespace

void Collector::take_failures(string_view raw) {
  const auto text = plain_quotes(raw.substr(0, 2 * k_tail_bytes));
  const auto head = head_of(text);
  if (has(Role::ending)) {
    if (auto ending = ending_of(head, text)) {
      take_ending(head, text);
      return;
    }
  }
  for (const auto word : found_) {
    if (roles_[word].role != Role::form) {
      continue;
    }
    if (auto failure = forms_.match(roles_[word].index, head, text)) {
      keep_failure(*std::move(failure), head, raw);
      return;
    }
  }
  if (has(Role::cuda)) {
    if (auto failure = cuda_failure(text)) {
      keep_failure(*std::move(failure), head, raw);
      return;
    }
  }
  if (has(Role::errno_text)) {
    if (auto failure = errno_failure(head, text)) {
      keep_failure(*std::move(failure), head, raw);
      return;
    }
  }
  if (auto failure = demanded_version(head, head.text)) {
    keep_failure(*std::move(failure), head, raw);
    return;
  }
  const bool is_make = head.tool == "make" && head.text.starts_with("*** ") &&
                       head.text.find("Waiting for unfinished") == k_none;
  if (head.severity == Severity::error || is_make) {
    take_generic(head, raw);
  }
}

void Collector::keep_failure(Failure failure, const Head& head, string_view raw) {
  if (block_.is_open && failure.tool == "CMake") {
    return; // the block as a whole says it
  }
  if (failure.file.empty() && head.tool == "Python") {
    failure.file = frame_file_;
  }
  const auto wants = raw.substr(0, raw.find(": undefined symbol"));
  if (failure.thing == Thing::symbol && wants.size() < raw.size() && !is_linker(failure.tool)) {
    const auto gap = wants.find_last_of(" '");
    const auto file = wants.substr(gap == k_none ? 0 : gap + 1);
    failure.tool = "ld.so";
    failure.file = is_library(file) ? std::string(file) : failure.file;
  }
  const bool is_probe = head.file.find("conftest") != std::string::npos;
  const bool is_warning = head.severity == Severity::warning;
  const bool is_vague = (failure.thing == Thing::package || failure.thing == Thing::other) &&
                        failure.name.empty() && failure.tool != "Python";
  add(std::move(failure), raw,
      {.level = is_probe                 ? -1
                : head.exception.empty() ? 0
                                         : 1,
       .is_weak = is_warning || (head.severity == Severity::none && failure.tool == "pkg-config"),
       .is_vague = is_vague});
}

/// A failure whose form nobody wrote down.
void Collector::take_generic(const Head& head, string_view text) {
  Failure failure{.tool = head.tool, .thing = Thing::other, .file = head.file};
  if (head.has_place || is_host_compiler(head.tool)) {
    failure.thing = Thing::code;
    const auto place = head.file.empty() ? k_none : text.find(head.file + "(");
    if (place != k_none && text.find("): error C") == k_none) { // x.cu(3): as MSVC, but for codes
      failure.tool = "EDG";
    }
    failure.name = std::string(head.text.substr(0, 200));
  } else if (!head.exception.empty()) {
    failure.name = head.exception;
    const bool is_of_gpu = head.exception.ends_with("OutOfMemoryError");
    if (is_of_gpu || head.exception == "MemoryError") {
      failure.thing = Thing::memory;
      failure.state = State::exhausted;
      failure.tool = is_of_gpu ? "CUDA" : failure.tool;
    }
  }
  keep_failure(std::move(failure), head, text);
}

void Collector::take_phrases(string_view text) {
  for (const auto word : found_) {
    if (roles_[word].role != Role::phrase) {
      continue;
    }
    const auto index = roles_[word].index;
    const auto& pieces = phrases_[index].pieces;
    std::vector<std::string> captures;
    std::string key = std::to_string(index);
    auto at = pieces.front().empty() ? 0 : find_in(text, pieces.front());
    bool fits = at != k_none;
    at += fits ? pieces.front().size() : 0;
    for (std::size_t i = 1; fits && i < pieces.size(); ++i) {
      const auto next = pieces[i].empty() ? text.size() : find_in(text, pieces[i], at);
      fits = next != k_none;
      if (fits) {
        captures.emplace_back(text.substr(at, std::min<std::size_t>(next - at, 200)));
        key += "\n" + captures.back();
        at = next + pieces[i].size();
      }
    }
    if (!fits) {
      continue;
    }
    if (const auto known = known_phrases_.find(key); known != known_phrases_.end()) {
      ++facts_.phrases[known->second].count;
    } else if (facts_.phrases.size() < k_phrases) {
      known_phrases_.emplace(std::move(key), facts_.phrases.size());
      facts_.phrases.push_back({.phrase = index,
                                .line = number_,
                                .text = printable(text.substr(0, k_text_bytes)),
                                .captures = std::move(captures)});
    }
    return; // a line is one phrase
  }
}

void Collector::take_ending(const Head& head, string_view text) {
  auto ending = ending_of(head, text).value();
  if (!ending.package.empty() && facts_.packages.size() < 40 &&
      std::find(facts_.packages.begin(), facts_.packages.end(), ending.package) ==
          facts_.packages.end()) {
    facts_.packages.push_back(ending.package);
  }
  is_after_failed_ = ending.failure.tool == "ninja" && ending.level == 1;
  if (ending.failure.thing == Thing::memory) { // an ending that is a cause, too
    add(ending.failure, text, {.level = ending.level});
  }
  ending.failure.line = number_;
  ending.failure.text = printable(text.substr(0, k_text_bytes));
  if (facts_.endings.size() >= k_endings) { // the first ones, and the last
    facts_.endings.pop_back();
    ending_levels_.pop_back();
  }
  facts_.endings.push_back(std::move(ending.failure));
  ending_levels_.push_back(ending.level);
}

void Collector::take_success(string_view text) {
  const auto success = success_of(text);
  if (!success) {
    return;
  }
  if (success->only_at_end) {
    last_word_level_ = success->level;
    return;
  }
  const auto was_failing = [&](const std::string& name) {
    return std::find(facts_.packages.begin(), facts_.packages.end(), name) != facts_.packages.end();
  };
  if (!success->packages.empty() && !facts_.packages.empty() &&
      std::none_of(success->packages.begin(), success->packages.end(), was_failing)) {
    return; // others were installed than the one that failed
  }
  supersede(success->level);
}

void Collector::supersede(int level) {
  for (std::size_t i = 0; i < facts_.failures.size(); ++i) {
    facts_.failures[i].is_superseded = facts_.failures[i].is_superseded || kept_[i].level <= level;
  }
  for (std::size_t i = 0; i < facts_.endings.size(); ++i) {
    facts_.endings[i].is_superseded = facts_.endings[i].is_superseded || ending_levels_[i] <= level;
  }
}

/// The line behind ninja's FAILED: is the command, unless somebody left it out.
bool Collector::take_failed_command(string_view text) {
  auto command = command_of(text);
  if (!command) {
    const auto plain = plain_quotes(text.substr(0, k_text_bytes));
    const auto head = head_of(plain);
    if (head.severity != Severity::none || !head.tool.empty()) {
      return false;
    }
    command = Command{.program = std::string(text.substr(0, text.find(' ')))};
  }
  command->line = number_;
  failed_command_ = keep_command(*std::move(command), text);
  return true;
}

void Collector::take_command(string_view text) {
  auto& slot = recent_[recent_next_++ % recent_.size()];
  slot.line = number_;
  slot.text.assign(text.substr(0, k_recent_bytes));
  if (auto command = command_of(text)) {
    command->line = number_;
    keep_command(*std::move(command), text);
  }
}

std::size_t Collector::keep_command(Command command, string_view text) {
  auto key = signature_of(command);
  if (const auto known = known_commands_.find(key); known != known_commands_.end()) {
    return known->second;
  }
  if (facts_.commands.size() >= k_commands) {
    return 0;
  }
  command.text = printable(text.substr(0, 2 * k_text_bytes));
  facts_.commands.push_back(std::move(command));
  known_commands_.emplace(std::move(key), facts_.commands.size());
  return facts_.commands.size();
}

} // namespace cukit::buildlog

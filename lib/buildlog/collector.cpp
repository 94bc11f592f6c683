#include "buildlog/collector.hpp"

#include "base/strings.hpp"
#include "buildlog/demands.hpp"
#include "buildlog/lines.hpp"
#include "buildlog/special.hpp"
#include "buildlog/versions.hpp"

#include <algorithm>
#include <cctype>

namespace cukit::buildlog {

namespace {

using std::string_view;
constexpr std::size_t k_failures = 400;
constexpr std::size_t k_versions = 100;
constexpr std::size_t k_block_bytes = 4096;

/// `   12 | source` and `      |  ^~~`: an excerpt, no message.
bool is_excerpt(string_view line) {
  auto at = line.find_first_not_of(' ');
  if (at == k_none) {
    return false;
  }
  const auto digits = line.find_first_not_of("0123456789", at);
  const bool is_number = digits != k_none && digits > at && digits - at < 8;
  at = is_number ? line.find_first_not_of(' ', digits) : at;
  return at != k_none && line[at] == '|' && (is_number || at > 2);
}

/// File "x.py", line 3, in f
bool is_frame(string_view line) {
  return line.starts_with("File \"") && line.find("\", line ") != k_none;
}

void append_words(std::string& to, string_view more) {
  bool is_gap = !to.empty();
  for (const char c : more) {
    if (c == ' ' || c == '\t') {
      is_gap = true;
      continue;
    }
    if (is_gap && !to.empty()) {
      to.push_back(' ');
    }
    is_gap = false;
    to.push_back(c);
  }
}

} // namespace

Collector::Collector(std::vector<Phrase> phrases) : phrases_(std::move(phrases)) {
  register_words();
}

void Collector::register_words() {
  const auto add_all = [&](Role role, const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      words_.push_back(words[i]);
      roles_.push_back({role, i});
    }
  };
  add_all(Role::form, forms_.anchors());
  std::vector<std::string> anchors;
  for (const auto& phrase : phrases_) {
    anchors.push_back(
        *std::max_element(phrase.pieces.begin(), phrase.pieces.end(),
                          [](const auto& a, const auto& b) { return a.size() < b.size(); }));
  }
  add_all(Role::phrase, anchors);
  add_all(Role::trouble,
          {"error", "Error", "ERROR", "fatal", "FATAL", "Fatal", "Exception", "E: ", "*** "});
  add_all(Role::errno_text, errno_words());
  add_all(Role::cuda, cuda_words());
  add_all(Role::ending, ending_words());
  add_all(Role::success, success_words());
  add_all(Role::command, {" -c ", " -o ", " -I", " -L", " -l", "-gencode", "-isystem",
                          "-arch=", "--generate-code", "-ccbin", " -E "});
  add_all(Role::version, version_words());
  add_all(Role::target, target_words());
  // The step and the hook that ask a build for its requirements run in an isolated build alone.
  add_all(Role::isolated, {"pip-build-env-", "/builds-v0/", "Getting requirements to build wheel",
                           "get_requires_for_build_"});
  add_all(Role::cccl, cccl_words());
  keywords_.emplace(words_);
}

namespace {

/// What a line says of the next one: an exception without a word, or where a Rust program panicked.
std::string begin_of_message(string_view text) {
  constexpr std::size_t k_longest = 200;
  text = trim(text);
  if (!text.ends_with(':') || text.size() > k_longest) {
    return {};
  }
  if (text.find("' panicked at ") != k_none || text.find(") panicked at ") != k_none) {
    return "error: panicked: ";
  }
  const auto head = head_of(text);
  return head.exception.empty() || !head.text.empty() ? std::string() : head.exception + ": ";
}

} // namespace

bool Collector::has(Role role) const {
  return is_there_[static_cast<std::size_t>(role)];
}

void Collector::line(string_view raw, std::size_t number) {
  number_ = number;
  const auto plain = without_escapes(raw, buffer_);
  const auto text = without_prefix(plain);
  if (take_block_line(plain, text)) {
    return;
  }
  if (text.empty()) {
    return;
  }
  const auto indent = static_cast<std::size_t>(text.data() - plain.data());
  const bool is_source = is_excerpt(plain) || (frame_indent_ != SIZE_MAX && indent > frame_indent_);
  frame_indent_ = is_frame(text) ? indent : SIZE_MAX;
  if (frame_indent_ != SIZE_MAX) {
    frame_file_ = text.substr(6, std::min<std::size_t>(text.find('"', 6) - 6, k_text_bytes));
  }
  last_word_level_ = -1;
  if (std::exchange(is_after_failed_, false) && take_failed_command(text)) {
    return;
  }
  if (!held_.empty()) {
    take_held(text, is_source);
    return;
  }
  held_ = begin_of_message(text);
  if (held_.empty()) {
    look(text, is_source);
  }
}

/// The line behind one that was held is its message, unless it speaks for itself.
void Collector::take_held(string_view text, bool is_source) {
  auto message = std::exchange(held_, {});
  const auto plain = plain_quotes(text.substr(0, k_text_bytes));
  const auto head = head_of(plain);
  const bool is_ending = ending_of(head, plain).has_value();
  if (is_ending) {
    look(message, false);
  }
  look(is_ending || head.severity == Severity::error ? text : message.append(text), is_source);
}

/// True when the line is a warning's and of no further interest.
bool Collector::take_block_line(string_view raw, string_view bare_line) {
  const auto indent = static_cast<std::size_t>(bare_line.data() - raw.data());
  const bool opens = bare_line.starts_with("CMake Error") ||
                     bare_line.starts_with("CMake Warning") ||
                     bare_line.starts_with("CMake Deprecation Warning");
  if (block_.is_open) {
    const bool ends = bare_line.empty() ? block_.is_flush
                      : block_.is_flush ? bare_line.starts_with("-- ") || opens
                                        : indent <= block_.indent;
    if (ends) {
      close_block();
    } else {
      if (block_.text.size() < k_block_bytes) {
        append_words(block_.text, bare_line);
      }
      return !block_.is_error;
    }
  }
  return opens && open_block(bare_line, indent);
}

bool Collector::open_block(string_view bare_line, std::size_t indent) {
  block_ = {.is_open = true,
            .is_error = bare_line.starts_with("CMake Error"),
            .is_flush = bare_line.starts_with("CMake Error: "),
            .line = number_,
            .indent = indent,
            .head = std::string(bare_line.substr(0, k_text_bytes)),
            .text = {}};
  if (block_.is_flush) {
    append_words(block_.text, bare_line.substr(13, k_block_bytes));
  }
  return true;
}

void Collector::close_block() {
  const auto block = std::exchange(block_, {});
  if (!block.is_error) {
    return;
  }
  const auto now = std::exchange(number_, block.line);
  const auto text = plain_quotes(block.text);
  const Head head{.severity = Severity::error, .tool = "CMake", .text = text};
  const auto shown = block.is_flush ? block.head : block.head + " " + block.text;
  std::optional<Failure> best;
  found_.clear();
  keywords_->find(text, found_);
  std::sort(found_.begin(), found_.end());
  for (const auto word : found_) {
    if (!best && roles_[word].role == Role::form) {
      best = forms_.match(roles_[word].index, head, text);
    }
  }
  if (!best) {
    best = demanded_version(head, text);
  }
  if (!best) {
    best = Failure{.tool = "CMake", .thing = Thing::other};
  }
  best->tool = "CMake";
  add(*std::move(best), shown, {.level = 1, .is_weak = false});
  number_ = now;
}

/// Of a source line in a traceback or a diagnostic only the known messages count.
void Collector::look(string_view text, bool is_source) {
  found_.clear();
  keywords_->find(text, found_);
  if (found_.empty()) {
    return;
  }
  std::sort(found_.begin(), found_.end()); // the order of the tables
  is_there_.fill(false);
  for (const auto word : found_) {
    is_there_[static_cast<std::size_t>(roles_[word].role)] = true;
  }
  if (has(Role::phrase)) {
    take_phrases(text);
  }
  if (is_source) {
    return;
  }
  if (has(Role::isolated)) {
    facts_.is_isolated_build = true;
  }
  if (has(Role::cccl) && facts_.cccl_namespace.empty()) {
    facts_.cccl_namespace = cccl_namespace_of(text);
  }
  if (has(Role::version) && facts_.versions.size() < k_versions) {
    if (auto version = version_of(text)) {
      version->line = number_;
      facts_.versions.push_back(*std::move(version));
    }
  }
  if (has(Role::target) && facts_.target_lists.size() < k_versions) {
    for (auto& list : target_lists_of(text)) {
      list.line = number_;
      facts_.target_lists.push_back(std::move(list));
    }
  }
  if (has(Role::success)) {
    take_success(text);
  }
  if (has(Role::command)) {
    take_command(text);
  }
  if (has(Role::form) || has(Role::trouble) || has(Role::errno_text) || has(Role::cuda) ||
      has(Role::ending)) {
    take_failures(text);
  }
}

/// The latest command that names the file, else the one that ninja showed, else the latest one.
std::size_t Collector::failing_command(const Failure& failure) {
  const auto base = string_view(failure.file).substr(failure.file.rfind('/') + 1);
  const Recent* latest = nullptr;
  for (std::size_t i = 0; i < std::min(recent_next_, recent_.size()); ++i) {
    const auto& one = recent_[(recent_next_ - 1 - i) % recent_.size()];
    if (latest == nullptr) {
      latest = &one;
    }
    if (base.size() > 2 && find_in(one.text, base) != k_none) {
      latest = &one;
      break;
    }
  }
  if (failed_command_ != 0 && (latest == nullptr || base.size() <= 2)) {
    return failed_command_;
  }
  if (latest == nullptr) {
    return 0;
  }
  auto command = command_of(latest->text);
  if (!command) {
    return failed_command_;
  }
  command->line = latest->line;
  return keep_command(*std::move(command), latest->text);
}

/// CUDA_ROOT, CUDAToolkit_ROOT, NVCC ...
void Collector::take_variables(string_view text) {
  constexpr std::size_t most = 12;
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  text = text.substr(0, 2 * k_block_bytes);
  for (std::size_t at = 0; at < text.size();) {
    auto end = at;
    while (end < text.size() && is_letter(text[end])) {
      ++end;
    }
    const auto word = text.substr(at, end - at);
    const bool is_cuda =
        word.starts_with("CUDA") || word.find("_CUDA") != k_none || word.find("NVCC") != k_none;
    const bool is_place = word.ends_with("_HOME") || word.ends_with("_ROOT") ||
                          word.ends_with("_PATH") || word.ends_with("_DIR") || word == "CUDACXX" ||
                          word == "NVCC" || word == "CUDADIR";
    if (is_cuda && is_place && facts_.variables.size() < most &&
        std::find(facts_.variables.begin(), facts_.variables.end(), word) ==
            facts_.variables.end()) {
      facts_.variables.emplace_back(word);
    }
    at = end + 1;
  }
}

void Collector::add(Failure failure, string_view text, Kept kept) {
  take_variables(text);
  std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}", static_cast<int>(failure.thing),
                  static_cast<int>(failure.state), failure.name, failure.demand, failure.tool);
  if (failure.thing == Thing::other) {
    key += text.substr(0, k_text_bytes);
  }
  const auto known = known_failures_.find(key);
  if (known != known_failures_.end() && !facts_.failures[known->second].is_superseded) {
    ++facts_.failures[known->second].count;
    return;
  }
  if (facts_.failures.size() >= k_failures) {
    return;
  }
  failure.line = number_;
  failure.text = printable(trim(text).substr(0, k_text_bytes));
  failure.is_superseded = kept.level < 0;
  failure.command = failing_command(failure);
  known_failures_[std::move(key)] = facts_.failures.size();
  facts_.failures.push_back(std::move(failure));
  kept_.push_back(kept);
}

/// The first that counts; of a vague one, what the next lines say of it; of a package that was not
/// found, the network that was not there.
std::size_t Collector::first_failure() const {
  constexpr std::size_t near = 15; // lines
  const auto find = [&](auto fits) {
    for (std::size_t i = 0; i < facts_.failures.size(); ++i) {
      if (!facts_.failures[i].is_superseded && fits(i)) {
        return i;
      }
    }
    return SIZE_MAX;
  };
  const auto is_network = [&](std::size_t i) {
    const auto thing = facts_.failures[i].thing;
    return thing == Thing::network || thing == Thing::certificate;
  };
  auto first = find([&](std::size_t i) { return !kept_[i].is_weak; });
  if (first == SIZE_MAX) {
    return find([](std::size_t) { return true; });
  }
  const auto line = facts_.failures[first].line;
  if (kept_[first].is_vague) {
    const auto better = find([&](std::size_t i) {
      return i > first && !kept_[i].is_weak && !kept_[i].is_vague &&
             facts_.failures[i].line <= line + near;
    });
    first = better == SIZE_MAX ? first : better;
  }
  if (facts_.failures[first].thing == Thing::package) {
    const auto network = find([&](std::size_t i) { return is_network(i) && i < first; });
    first = network == SIZE_MAX ? first : network;
  }
  return first;
}

Facts Collector::finish() {
  close_block();
  look(std::exchange(held_, {}), false);
  if (last_word_level_ >= 0) {
    supersede(last_word_level_);
  }
  for (std::size_t i = 0; i < facts_.failures.size(); ++i) {
    facts_.is_failed = facts_.is_failed || (!facts_.failures[i].is_superseded && !kept_[i].is_weak);
  }
  facts_.first = first_failure();
  facts_.is_failed =
      facts_.is_failed || std::any_of(facts_.endings.begin(), facts_.endings.end(),
                                      [](const auto& ending) { return !ending.is_superseded; });
  return std::move(facts_);
}

} // namespace cukit::buildlog

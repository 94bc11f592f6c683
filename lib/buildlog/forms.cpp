#include "buildlog/form_table.hpp"
#include "buildlog/lines.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace cukit::buildlog {

namespace {

using std::string_view;
constexpr std::size_t k_name_bytes = 300;

/// 9.1.0 of `9, 1, 0`, as Python writes a tuple.
std::string version_of_tuple(std::string text) {
  if (text.find_first_not_of("0123456789, ") == std::string::npos) {
    std::erase(text, ' ');
    std::replace(text.begin(), text.end(), ',', '.');
  }
  return text;
}

void set(Failure& failure, char slot, string_view value) {
  std::string text(value.substr(0, k_name_bytes));
  if (slot == 'd' || slot == 'h') {
    text = version_of_tuple(std::move(text));
  }
  switch (slot) {
  case 'n':
    failure.name = text;
    break;
  case 'd':
    failure.demand = text;
    break;
  case 'h':
    failure.have = text;
    break;
  case 'f':
    failure.file = text;
    break;
  default:
    break;
  }
}

/// The longest run without a quotation mark, whose spelling differs between locales.
std::string anchor_of(string_view word) {
  string_view best;
  std::size_t from = 0;
  while (from <= word.size()) {
    const auto end = std::min(word.find('\'', from), word.size());
    if (end - from > best.size()) {
      best = word.substr(from, end - from);
    }
    from = end + 1;
  }
  return std::string(best);
}

} // namespace

std::size_t find_in(string_view text, string_view what, std::size_t from) {
  if (from > text.size()) {
    return k_none;
  }
  const void* found = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
  return found == nullptr ? k_none
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

string_view bare(string_view name) {
  constexpr string_view around = " \t'\"`,;:";
  while (true) {
    const auto begin = name.find_first_not_of(around);
    if (begin == k_none) {
      return {};
    }
    name = name.substr(begin, name.find_last_not_of(" \t'\"`,;:.") + 1 - begin);
    const auto closes = [&](char open, char close) {
      return name.ends_with(close) && name.substr(0, name.size() - 1).rfind(open) == k_none;
    };
    if (closes('(', ')') || closes('[', ']') || closes('{', '}')) {
      name.remove_suffix(1);
    } else if (name.size() > 1 && ((name.front() == '[' && name.back() == ']') ||
                                   (name.front() == '(' && name.back() == ')') ||
                                   (name.front() == '{' && name.back() == '}'))) {
      name = name.substr(1, name.size() - 2);
    } else if (!name.empty() && (name.front() == '[' || name.front() == '{') &&
               name.find(name.front() == '[' ? ']' : '}') == k_none) {
      name.remove_prefix(1);
    } else {
      return name;
    }
  }
}

bool is_header(string_view name) {
  constexpr std::array<string_view, 9> ends = {".h",   ".hpp", ".hh",  ".hxx", ".cuh",
                                               ".inl", ".inc", ".h++", ".ipp"};
  return std::any_of(ends.begin(), ends.end(), [&](auto end) { return name.ends_with(end); });
}

bool is_library(string_view name) {
  const auto last = name.substr(name.rfind('/') + 1);
  return name.starts_with("-l") || last.ends_with(".so") || last.find(".so.") != k_none ||
         last.ends_with(".a") || last.ends_with(".dll") || last.ends_with(".dylib") ||
         last.ends_with(".lib");
}

Thing shape_of(string_view name) {
  if (is_library(name)) {
    return Thing::library;
  }
  if (is_header(name)) {
    return Thing::header;
  }
  if (name.starts_with("sm_") || name.starts_with("compute_") || name.starts_with("lto_")) {
    return Thing::target;
  }
  return Thing::file;
}

Forms::Forms() {
  for (const auto& table : {compiler_forms(), linker_forms(), builder_forms(), package_forms()}) {
    for (const auto& form : table) {
      Ready ready{.form = form, .pieces = {}};
      const string_view pattern = form.pattern;
      Piece piece;
      std::string anchor;
      const auto close = [&] {
        const auto candidate = anchor_of(piece.word);
        anchor = candidate.size() > anchor.size() ? candidate : anchor;
        ready.pieces.push_back(std::exchange(piece, {}));
      };
      for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}') {
          close();
          piece.slot = pattern[i + 1];
          i += 2;
        } else {
          piece.word.push_back(pattern[i]);
        }
      }
      close();
      ready_.push_back(std::move(ready));
      anchors_.push_back(std::move(anchor));
    }
  }
}

std::optional<Failure> Forms::match(std::size_t number, const Head& head, string_view line) const {
  const auto& [form, pieces] = ready_[number];
  const bool is_text = form.where == Where::text;
  if (is_text && head.severity != Severity::error &&
      (head.severity != Severity::none || head.tool.empty())) {
    return std::nullopt;
  }
  // a retry is a warning, and the reason of what comes later
  const bool is_reason = form.thing == Thing::network || form.thing == Thing::certificate ||
                         (form.thing == Thing::library && is_linker(head.tool));
  if (head.severity == Severity::note || (head.severity == Severity::warning && !is_reason)) {
    return std::nullopt;
  }
  const auto text = is_text ? head.text : line;
  const auto& first = pieces.front().word;
  std::size_t at = is_text ? (text.starts_with(first) ? 0 : k_none) : find_in(text, first);
  if (at == k_none) {
    return std::nullopt;
  }
  if (first.empty() && !is_text) { // a slot in front: the word before
    const auto end = find_in(text, pieces[1].word);
    if (end == k_none) {
      return std::nullopt;
    }
    const auto begin = text.substr(0, end).find_last_of(" '(");
    at = begin == k_none ? 0 : begin + 1;
  }
  at += first.size();
  Failure failure;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const auto& [word, slot] = pieces[i];
    const auto next = word.empty() ? text.size() : find_in(text, word, at);
    if (next == k_none || (next == at && slot != '_')) {
      return std::nullopt;
    }
    set(failure, slot, bare(text.substr(at, next - at)));
    at = next + word.size();
  }
  const bool is_own = is_linker(head.tool) && head.tool != "collect2"; // said by itself
  failure.tool = *form.tool != '\0' && !is_own ? std::string(form.tool) : head.tool;
  failure.thing = form.thing;
  failure.state = form.state;
  if (form.thing == Thing::library && !is_library(failure.name) && is_linker(failure.tool)) {
    failure.name = "-l" + failure.name;
  }
  if (form.thing == Thing::file) {
    failure.thing = shape_of(failure.name);
  }
  if (failure.file.empty()) {
    failure.file = head.file;
  }
  return failure;
}

} // namespace cukit::buildlog

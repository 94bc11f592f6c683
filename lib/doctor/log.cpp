#include "doctor/log.hpp"

#include "base/strings.hpp"
#include "text/fields.hpp"

#include <algorithm>
#include <cstring>

namespace cukit::doctor {

namespace {

constexpr std::size_t k_line_bytes = 4096;
constexpr std::size_t k_hits_per_message = 40;
constexpr std::size_t k_calls = 40;

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

std::size_t find_in(std::string_view text, std::string_view what, std::size_t from) {
  if (from >= text.size()) {
    return std::string_view::npos;
  }
  // memmem is linear whatever the text; string_view::find is not
  const void* found = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

/// The line around `at`, no more than k_line_bytes to either side.
std::string_view line_around(std::string_view log, std::size_t at, std::size_t& begin) {
  const auto lowest = at > k_line_bytes ? at - k_line_bytes : 0;
  begin = at;
  while (begin > lowest && log[begin - 1] != '\n') {
    --begin;
  }
  const auto window = log.substr(begin, k_line_bytes + (at - begin));
  return trim(window.substr(0, window.find('\n')));
}

/// The captures when all pieces stand in the line in their order.
bool matches(std::string_view line, const std::vector<std::string>& pieces,
             std::vector<std::string>& captures) {
  std::size_t at = pieces.front().empty() ? 0 : find_in(line, pieces.front(), 0);
  if (at == std::string_view::npos) {
    return false;
  }
  at += pieces.front().size();
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const auto next = pieces[i].empty() ? line.size() : find_in(line, pieces[i], at);
    if (next == std::string_view::npos) {
      return false;
    }
    captures.emplace_back(line.substr(at, std::min<std::size_t>(next - at, 200)));
    at = next + pieces[i].size();
  }
  return true;
}

struct RawHit {
  std::size_t offset = 0;
  std::size_t rank = 0; ///< of the message
  Hit hit;
};

const std::string& anchor(const Message& message) {
  return *std::max_element(message.pattern.begin(), message.pattern.end(),
                           [](const auto& a, const auto& b) { return a.size() < b.size(); });
}

void collect(std::string_view log, const Message& message, std::size_t rank,
             std::vector<RawHit>& raw) {
  const auto& wanted = anchor(message);
  std::size_t kept = 0;
  for (auto at = find_in(log, wanted, 0);
       at != std::string_view::npos && kept < k_hits_per_message;) {
    std::size_t begin = 0;
    const auto line = line_around(log, at, begin);
    std::vector<std::string> captures;
    if (matches(line, message.pattern, captures)) {
      raw.push_back({begin,
                     rank,
                     {.message = &message,
                      .line = 0,
                      .text = printable(line.substr(0, 300)),
                      .captures = std::move(captures)}});
      ++kept;
    }
    at = find_in(log, wanted, at + wanted.size());
  }
}

/// Counts the lines up to each offset in one pass; offsets ascend.
class LineCounter {
public:
  explicit LineCounter(std::string_view log) : log_(log) {}
  std::size_t at(std::size_t offset) {
    line_ += static_cast<std::size_t>(std::count(log_.begin() + static_cast<std::ptrdiff_t>(from_),
                                                 log_.begin() + static_cast<std::ptrdiff_t>(offset),
                                                 '\n'));
    from_ = offset;
    return line_ + 1;
  }

private:
  std::string_view log_;
  std::size_t from_ = 0;
  std::size_t line_ = 0;
};

std::optional<NvccCall> call_of(std::string_view line) {
  NvccCall call;
  std::string_view previous;
  for (auto word : split_words(line)) {
    if (call.program.empty()) {
      const auto name = word.substr(word.rfind('/') + 1);
      if (name == "nvcc" && word.find('=') == std::string_view::npos) {
        call.program = word;
      }
    } else if (previous == "-I" || previous == "-isystem") {
      call.includes.emplace_back(word);
    } else if (word.starts_with("-I") && word.size() > 2) {
      call.includes.emplace_back(word.substr(2));
    }
    previous = word;
  }
  if (call.program.empty() || call.includes.empty()) {
    return std::nullopt;
  }
  return call;
}

void collect_calls(std::string_view log, LogFacts& facts) {
  std::vector<std::pair<std::size_t, NvccCall>> calls;
  for (auto at = find_in(log, "nvcc ", 0);
       at != std::string_view::npos && calls.size() < k_calls;) {
    std::size_t begin = 0;
    const auto line = line_around(log, at, begin);
    if (auto call = call_of(line)) {
      calls.emplace_back(begin, *std::move(call));
    }
    at = find_in(log, "nvcc ", at + std::max<std::size_t>(line.size(), 5));
  }
  LineCounter lines(log);
  for (auto& [offset, call] : calls) {
    call.line = lines.at(offset);
    facts.calls.push_back(std::move(call));
  }
}

/// cub::_V_300302_SM_890 -> 3.3.2: MMMmmpp, two digits each for minor and patch.
std::string cccl_namespace(std::string_view log) {
  constexpr std::string_view marker = "::_V_";
  const auto at = find_in(log, marker, 0);
  if (at == std::string_view::npos) {
    return {};
  }
  const auto rest = log.substr(at + marker.size(), 12);
  const auto digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  if (digits.size() < 5 || digits.size() > 8) {
    return {};
  }
  long number = 0;
  for (const char c : digits) {
    number = number * 10 + (c - '0');
  }
  return fmt::format("{}.{}.{}", number / 100'000, number / 100 % 1000, number % 100);
}

} // namespace

Result<std::vector<Message>> read_messages(const knowledge::Knowledge& knowledge) {
  const std::string name = "doctor/messages.yaml";
  CUKIT_TRY_ASSIGN(const auto text, knowledge.read(name));
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, name));
  text::Mistakes mistakes(name);
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

LogFacts read_log(std::string_view log, const std::vector<Message>& messages) {
  std::vector<RawHit> raw;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    collect(log, messages[i], i, raw);
  }
  std::stable_sort(raw.begin(), raw.end(), [](const auto& a, const auto& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.rank < b.rank;
  });
  LogFacts facts;
  LineCounter lines(log);
  std::size_t previous = std::string_view::npos;
  for (auto& one : raw) {
    if (one.offset == previous) {
      continue; // a line is one message, the first that fits
    }
    previous = one.offset;
    one.hit.line = lines.at(one.offset);
    const auto same = std::find_if(facts.hits.begin(), facts.hits.end(), [&](const auto& hit) {
      return hit.message == one.hit.message && hit.captures == one.hit.captures;
    });
    if (same != facts.hits.end()) {
      ++same->count;
    } else {
      facts.hits.push_back(std::move(one.hit));
    }
  }
  collect_calls(log, facts);
  facts.cccl_namespace = cccl_namespace(log);
  facts.is_pip_build = find_in(log, "pip-build-env-", 0) != std::string_view::npos ||
                       find_in(log, "/builds-v0/", 0) != std::string_view::npos;
  return facts;
}

} // namespace cukit::doctor

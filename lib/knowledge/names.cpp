// names.txt: lines `KIND EVIDENCE RELEASE...` that name the releases which were read, each followed
// by indented lines `FIRST LAST NAME...`, `-` where the oldest or the newest of them has it. Not
// YAML: there are thousands of names.
#include "knowledge/names.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <array>

namespace cukit::knowledge {

namespace {

constexpr std::array<std::pair<NameKind, std::string_view>, 6> k_kinds = {
    {{NameKind::cccl, "cccl"},
     {NameKind::symbol, "symbol"},
     {NameKind::header, "header"},
     {NameKind::library, "library"},
     {NameKind::nvcc, "nvcc"},
     {NameKind::ptxas, "ptxas"}}};

Version minor_alone(const Version& version) {
  return Version::parse(version.major_minor()).value_or(version);
}

class NamesReader {
public:
  NamesReader(const std::string& name, std::map<NameKind, Names::Map>& maps)
      : name_(name), maps_(maps) {}

  Result<void> line(std::string_view text) {
    ++number_;
    const auto words = split_words(text);
    if (words.empty() || words.front().starts_with('#')) {
      return {};
    }
    return text.front() == ' ' ? names(words) : head(words);
  }

private:
  [[nodiscard]] tl::unexpected<Error> refuse(std::string message) const {
    return tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                       .message = std::move(message),
                                       .where = fmt::format("{}:{}", name_, number_)});
  }

  Result<void> head(const std::vector<std::string_view>& words) {
    const auto kind = std::find_if(k_kinds.begin(), k_kinds.end(),
                                   [&](const auto& one) { return one.second == words.front(); });
    releases_.clear();
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto release = Version::parse(words[i]);
      if (!release || (!releases_.empty() && !(releases_.back() < *release))) {
        return refuse("the releases of a head are versions in ascending order");
      }
      releases_.push_back(*release);
    }
    if (kind == k_kinds.end() || releases_.empty()) {
      return refuse("this is no line `KIND EVIDENCE RELEASE...`");
    }
    kind_ = kind->first;
    evidence_ = std::string(words[1]);
    return {};
  }

  Result<std::optional<Version>> bound(std::string_view word) const {
    if (word == "-") {
      return std::optional<Version>();
    }
    const auto version = Version::parse(word);
    if (!version || std::find(releases_.begin(), releases_.end(), *version) == releases_.end()) {
      return refuse(fmt::format("`{}` is none of the releases that were read", printable(word)));
    }
    return std::optional(*version);
  }

  Result<void> names(const std::vector<std::string_view>& words) {
    if (words.size() < 3 || releases_.empty()) {
      return refuse("this is no line `FIRST LAST NAME...` below a head");
    }
    NameSpan span{.since = {}, .last = {}, .gone_in = {}, .instead = {}, .evidence = evidence_};
    CUKIT_TRY_ASSIGN(span.since, bound(words[0]));
    CUKIT_TRY_ASSIGN(span.last, bound(words[1]));
    if (span.last) {
      const auto next = std::upper_bound(releases_.begin(), releases_.end(), *span.last);
      if (next == releases_.end()) {
        return refuse("no release behind the last was read");
      }
      span.gone_in = *next;
    }
    const bool are_options = kind_ == NameKind::nvcc || kind_ == NameKind::ptxas;
    for (std::size_t i = 2; i < words.size(); ++i) {
      auto name = words[i];
      const auto equals = are_options ? std::string_view::npos : name.find('=');
      span.instead = equals == std::string_view::npos ? "" : std::string(name.substr(equals + 1));
      name = name.substr(0, equals);
      if (!maps_[kind_].emplace(name, span).second) {
        return refuse(fmt::format("`{}` stands here twice", printable(name)));
      }
    }
    return {};
  }

  const std::string& name_;
  std::map<NameKind, Names::Map>& maps_;
  int number_ = 0;
  NameKind kind_ = NameKind::cccl;
  std::string evidence_;
  std::vector<Version> releases_;
};

} // namespace

bool NameSpan::is_before(const Version& cuda) const {
  return since && minor_alone(cuda) < *since;
}

bool NameSpan::is_behind(const Version& cuda) const {
  return gone_in && !(minor_alone(cuda) < *gone_in);
}

const NameSpan* Names::find(NameKind kind, std::string_view name) const {
  const auto& map = all(kind);
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

const Names::Map& Names::all(NameKind kind) const {
  static const Map k_none;
  const auto found = maps_.find(kind);
  return found == maps_.end() ? k_none : found->second;
}

std::string_view text_of(NameKind kind) {
  return std::find_if(k_kinds.begin(), k_kinds.end(),
                      [&](const auto& one) { return one.first == kind; })
      ->second;
}

Result<Names> parse_names(std::string_view text, const std::string& name) {
  Names names;
  NamesReader reader(name, names.maps_);
  for (const auto line : split(text, '\n')) {
    CUKIT_TRY(reader.line(line));
  }
  return names;
}

Result<Names> read_names(const Knowledge& knowledge) {
  const std::string path = "knowledge/names.txt";
  CUKIT_TRY_ASSIGN(const auto text, knowledge.read(path));
  return parse_names(text, path);
}

} // namespace cukit::knowledge

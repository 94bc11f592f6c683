// versions.txt: lines `SOURCE RELEASE EVIDENCE [DATE]`, each followed by indented lines `VERSION
// NAME...`. Not YAML: there are thousands of names, and every lock of CUDA 12 looks at them.
#include "base/strings.hpp"
#include "knowledge/parse.hpp"

#include <algorithm>

namespace cukit::knowledge {

namespace {

class Reader {
public:
  explicit Reader(const std::string& name) : name_(name) {}

  Result<void> line(std::string_view text) {
    ++number_;
    const auto words = split_words(text);
    if (words.empty() || words.front().starts_with('#')) {
      return {};
    }
    return text.front() == ' ' ? components(words) : head(words);
  }

  Result<std::vector<ReleaseTable>> take() && {
    std::sort(tables_.begin(), tables_.end(), [](const ReleaseTable& a, const ReleaseTable& b) {
      return a.release != b.release ? a.release < b.release : a.source < b.source;
    });
    const auto twice = std::adjacent_find(tables_.begin(), tables_.end(),
                                          [](const ReleaseTable& a, const ReleaseTable& b) {
                                            return a.release == b.release && a.source == b.source;
                                          });
    if (twice != tables_.end()) {
      return refuse(fmt::format("{} {} stands here twice", twice->source, twice->release.text()));
    }
    return std::move(tables_);
  }

private:
  tl::unexpected<Error> refuse(std::string message) const {
    return tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                       .message = std::move(message),
                                       .where = fmt::format("{}:{}", name_, number_)});
  }

  Result<void> head(const std::vector<std::string_view>& words) {
    static constexpr std::string_view sources[] = {"redist", "wheels"};
    static constexpr std::string_view marks[] = {"documented", "tested", "derived", "uncertain"};
    const auto is_one = [](const auto& list, std::string_view word) {
      return std::find(std::begin(list), std::end(list), word) != std::end(list);
    };
    const auto release = words.size() < 2 ? tl::unexpected(Error{}) : Version::parse(words[1]);
    if (words.size() < 3 || words.size() > 4 || !is_one(sources, words[0]) || !release ||
        !is_one(marks, words[2])) {
      return refuse("this is no line `SOURCE RELEASE EVIDENCE [DATE]`");
    }
    tables_.push_back({.source = std::string(words[0]),
                       .release = *release,
                       .date = words.size() == 4 ? std::string(words[3]) : std::string(),
                       .evidence = std::string(words[2]),
                       .components = {}});
    return {};
  }

  Result<void> components(const std::vector<std::string_view>& words) {
    const auto version = Version::parse(words.front());
    if (tables_.empty() || !version || words.size() < 2) {
      return refuse("this is no line `VERSION NAME...` below a release");
    }
    for (auto word = words.begin() + 1; word != words.end(); ++word) {
      if (!tables_.back().components.emplace(*word, *version).second) {
        return refuse(fmt::format("`{}` has two versions in one release", printable(*word)));
      }
    }
    return {};
  }

  const std::string& name_;
  int number_ = 0;
  std::vector<ReleaseTable> tables_;
};

} // namespace

Result<std::vector<ReleaseTable>> parse_tables(std::string_view text, const std::string& name) {
  Reader reader(name);
  for (const auto line : split(text, '\n')) {
    CUKIT_TRY(reader.line(line));
  }
  return std::move(reader).take();
}

} // namespace cukit::knowledge

#include "buildlog/demands.hpp"

#include "base/strings.hpp"
#include "buildlog/lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace cukit::buildlog {

namespace {

using std::string_view;

enum class Kind { word, version, relation, plus, end };

struct Token {
  Kind kind = Kind::word;
  std::string text = {}; ///< of a word in small letters; of a version its digits and dots
};

constexpr std::size_t k_tokens = 120; ///< a message that is longer than this is no demand

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// `12.3` of `12.3.`, `v12.3+`, `12.x`; the rest stays in `text`.
std::string take_version(string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                                       is_digit(text[end + 1])))) {
    ++end;
  }
  std::string version(text.substr(0, end));
  text.remove_prefix(end);
  if (text.starts_with(".x")) {
    text.remove_prefix(2);
  }
  return version;
}

/// A word's letters; a version that hangs on them (C++17, gcc-12, v12.3) is left in `text`.
std::string take_word(string_view& text) {
  const auto stops = [](char c) {
    return c == '<' || c == '>' || c == '=' || c == '!' || c == '~' || c == '(' || c == ')' ||
           c == ',' || c == ';' || c == '\'' || c == '"' || c == ':' || c == '[' || c == ']';
  };
  std::size_t end = 0;
  while (end < text.size() && text[end] != ' ' && !stops(text[end])) {
    const bool is_number_next = end > 0 && is_digit(text[end]) &&
                                (text[end - 1] == '+' || text[end - 1] == '-' || end == 1);
    if (is_number_next && (text[end - 1] != 'v' || end == 1)) {
      break;
    }
    ++end;
  }
  auto word = lower(text.substr(0, end));
  text.remove_prefix(end);
  while (word.ends_with('.') || word.ends_with('-')) {
    word.pop_back();
  }
  return word == "v" ? std::string() : word;
}

std::vector<Token> tokens_of(string_view text) {
  std::vector<Token> tokens;
  while (!text.empty() && tokens.size() < k_tokens) {
    const char c = text.front();
    if (is_digit(c)) {
      tokens.push_back({Kind::version, take_version(text)});
      if (text.starts_with('+')) {
        text.remove_prefix(1);
        const bool is_local = !text.empty() && is_letter(text.front()); // 2.9.0+cu128
        if (is_local) {
          take_word(text);
        } else {
          tokens.push_back({Kind::plus});
        }
      } else if (!text.empty() && is_letter(text.front())) { // 3rd, 12GB
        tokens.back() = {Kind::word, tokens.back().text + take_word(text)};
      }
    } else if (c == '<' || c == '>' || c == '=' || c == '~' || c == '!') {
      const auto end = std::min(text.find_first_not_of("<>=~!"), text.size());
      tokens.push_back({Kind::relation, std::string(text.substr(0, end))});
      text.remove_prefix(end);
    } else if (is_letter(c)) {
      if (auto word = take_word(text); !word.empty()) {
        tokens.push_back({Kind::word, std::move(word)});
      }
    } else {
      // what is put in brackets or behind a comma tells of what is there, not of the wish
      if (c == '(' || c == ')' || c == ';') {
        tokens.push_back({Kind::end});
      }
      text.remove_prefix(1);
    }
  }
  return tokens;
}

struct Product {
  string_view word; ///< as messages have it
  const char* name; ///< as it is called here
};

/// What versions are demanded of. A name that stands nowhere here counts before a relation alone.
constexpr std::array<Product, 28> k_products = {
    {{"cuda", "CUDA"},     {"cudatoolkit", "CUDA"}, {"nvcc", "nvcc"},
     {"ptxas", "ptxas"},   {"nvrtc", "NVRTC"},      {"nvjitlink", "nvJitLink"},
     {"cudart", "cudart"}, {"cudnn", "cuDNN"},      {"nccl", "NCCL"},
     {"cublas", "cuBLAS"}, {"cccl", "CCCL"},        {"cutlass", "CUTLASS"},
     {"driver", "driver"}, {"drivers", "driver"},   {"gcc", "g++"},
     {"g++", "g++"},       {"gnu", "g++"},          {"clang", "clang"},
     {"c++", "C++"},       {"glibc", "glibc"},      {"cmake", "cmake"},
     {"ninja", "ninja"},   {"python", "Python"},    {"torch", "torch"},
     {"pytorch", "torch"}, {"triton", "triton"},    {"setuptools", "setuptools"},
     {"numpy", "numpy"}}};

bool is_one_of(string_view word, std::initializer_list<string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

class Sentence {
public:
  explicit Sentence(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::optional<Failure> demand() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (at(i).kind != Kind::version) {
        continue;
      }
      const auto range = range_at(i);
      const auto name = range.empty() ? std::string() : name_of(i);
      if (!name.empty()) {
        return Failure{.thing = Thing::version,
                       .state = State::incompatible,
                       .name = name,
                       .demand = range,
                       .have = found_beside(i)};
      }
    }
    return complaint();
  }

private:
  [[nodiscard]] const Token& at(std::size_t i) const {
    static const Token none{Kind::end};
    return i < tokens_.size() ? tokens_[i] : none;
  }
  [[nodiscard]] bool says(std::size_t i, std::initializer_list<string_view> words) const {
    return at(i).kind == Kind::word && is_one_of(at(i).text, words);
  }
  [[nodiscard]] bool says_anywhere(std::initializer_list<string_view> words) const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (says(i, words)) {
        return true;
      }
    }
    return false;
  }
  /// Something does not go with the version that is named, instead of needing it.
  [[nodiscard]] bool is_refusal() const {
    return says_anywhere({"unsupported", "incompatible", "deprecated"}) ||
           (says_anywhere({"not", "no", "isn't", "doesn't", "cannot"}) &&
            says_anywhere({"supported", "support", "compatible", "longer", "work", "works"}));
  }

  /// ">=12.3" of the version at i, by the words around it; empty: it is no demand.
  [[nodiscard]] std::string range_at(std::size_t i) const {
    const auto version = at(i).text;
    if (i > 0 && at(i - 1).kind == Kind::relation) {
      auto relation = at(i - 1).text;
      relation = relation == "=" || relation == "===" ? "==" : relation;
      if (is_refusal() && relation.starts_with('<')) { // CUDA < 12.0 is not supported
        return (relation == "<" ? ">=" : ">") + version;
      }
      return is_refusal() && relation != "!=" ? std::string() : relation + version;
    }
    if (at(i + 1).kind == Kind::plus) {
      return ">=" + version;
    }
    const bool has_or = says(i + 1, {"or", "and"});
    const auto behind = i + (has_or ? 2 : 1) + (says(i + (has_or ? 2 : 1), {"any"}) ? 1 : 0);
    if (has_or && says(behind, {"newer", "later", "higher", "above", "greater", "up", "more",
                                "upwards", "beyond", "over"})) {
      return ">=" + version;
    }
    if (has_or && says(behind, {"older", "earlier", "lower", "below", "less"})) {
      return is_refusal() ? ">" + version : "<=" + version;
    }
    if (const auto bound = bound_before(i); !bound.empty()) {
      return bound + version;
    }
    const bool is_wanted = wants_before(i) || says(i + 1, {"required", "needed"}) ||
                           (says(i + 1, {"is"}) && says(i + 2, {"required", "needed"}));
    return is_wanted && !is_refusal() && is_product_beside(i) ? "==" + version : std::string();
  }

  /// `at least`, `newer than` and their like before the version at i.
  [[nodiscard]] std::string bound_before(std::size_t i) const {
    constexpr std::size_t most = 7;
    for (std::size_t back = 1; back <= most && back <= i; ++back) {
      const auto j = i - back;
      if (at(j).kind == Kind::version || at(j).kind == Kind::end) {
        return {};
      }
      if (says(j, {"minimum", "min"}) || (says(j, {"least"}) && j > 0 && says(j - 1, {"at"}))) {
        return ">=";
      }
      if (says(j, {"maximum", "max"}) || (says(j, {"most"}) && j > 0 && says(j - 1, {"at"}))) {
        return "<=";
      }
      if (says(j, {"than"}) && j > 0) {
        const bool has_equal = says(i - 1, {"to"});
        const bool is_more = says(j - 1, {"newer", "greater", "higher", "later", "more", "larger"});
        const bool is_less = says(j - 1, {"older", "less", "lower", "earlier", "smaller"});
        if (is_more) { // `gcc later than 13 is not supported` wants an older one
          return is_refusal() ? "<=" : has_equal ? ">=" : ">";
        }
        if (is_less) { // `nvcc is older than 12.3` is said of what is there
          return ">=";
        }
      }
    }
    return {};
  }

  [[nodiscard]] bool wants_before(std::size_t i) const {
    constexpr std::size_t most = 5;
    for (std::size_t back = 1; back <= most && back <= i; ++back) {
      const auto j = i - back;
      if (at(j).kind != Kind::word) {
        return false;
      }
      if (says(j, {"requires", "require", "required", "needs", "need", "expects", "expected",
                   "supports", "must"})) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::string product_at(std::size_t i) const {
    if (at(i).kind != Kind::word) {
      return {};
    }
    const auto known = std::find_if(k_products.begin(), k_products.end(),
                                    [&](const auto& one) { return one.word == at(i).text; });
    return known == k_products.end() ? std::string() : known->name;
  }
  [[nodiscard]] bool is_product_beside(std::size_t i) const {
    return (i > 0 && !product_at(i - 1).empty()) ||
           (i > 1 && says(i - 1, {"version", "toolkit", "compiler"}) && !product_at(i - 2).empty());
  }

  /// The product that the version at i is of: the nearest before it, else one behind.
  [[nodiscard]] std::string name_of(std::size_t i) const {
    constexpr std::size_t most = 12; // `driver 525.60 is lower than the minimum version 535.54`
    for (std::size_t back = 1; back <= most && back <= i; ++back) {
      if (auto name = product_at(i - back); !name.empty()) {
        const bool is_compiler = says(i - back + 1, {"compiler"});
        return name == "CUDA" && is_compiler ? "nvcc" : name;
      }
    }
    for (std::size_t ahead = 1; ahead <= 3; ++ahead) { // version 12.3 of CUDA
      if (auto name = product_at(i + ahead); !name.empty() && says(i + ahead - 1, {"of"})) {
        return name;
      }
    }
    const bool has_relation = i > 1 && at(i - 1).kind == Kind::relation;
    const bool is_version = at(i).text.find('.') != std::string::npos;
    return has_relation && is_version && at(i - 2).kind == Kind::word && at(i - 2).text.size() > 2
               ? at(i - 2).text
               : std::string();
  }

  /// The version that another word than the demand tells: `found 12.1`, `(current: 12.1)`.
  [[nodiscard]] std::string found_beside(std::size_t demand) const {
    for (std::size_t j = 0; j < tokens_.size(); ++j) {
      if (j == demand || at(j).kind != Kind::version) {
        continue;
      }
      if (says(j + 1, {"is", "was"})) { // `nvcc 11.5 is older than ...`
        return at(j).text;
      }
      for (std::size_t back = 1; back <= 5 && back <= j; ++back) {
        if (at(j - back).kind == Kind::version || at(j - back).kind == Kind::relation) {
          break;
        }
        if (says(j - back, {"found", "detected", "got", "have", "has", "using", "uses", "installed",
                            "current", "currently", "is", "was", "but", "running", "actual", "your",
                            "you"})) {
          return at(j).text;
        }
      }
    }
    return {};
  }

  /// `Unsupported CUDA version: 11.8`, `nvcc 11.5 is too old`, `ptxas too old`
  [[nodiscard]] std::optional<Failure> complaint() const {
    const bool is_old = says_anywhere({"old", "outdated", "older"});
    const bool is_new = says_anywhere({"new", "newer"}) && says_anywhere({"too"});
    if (!is_old && !is_new && !is_refusal()) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const bool is_told = at(i).kind == Kind::version &&
                           (is_product_beside(i) ||
                            (i > 1 && says(i - 1, {"is", "version"}) && is_product_beside(i - 1)));
      if (is_told) {
        return Failure{.thing = Thing::version,
                       .state = State::incompatible,
                       .name = name_of(i),
                       .demand = is_old   ? "newer"
                                 : is_new ? "older"
                                          : "another",
                       .have = at(i).text};
      }
    }
    for (std::size_t i = 0; is_old && i < tokens_.size(); ++i) {
      const auto behind = i + (says(i + 1, {"is"}) ? 2 : 1);
      if (auto name = product_at(i);
          !name.empty() && says(behind, {"too"}) && says(behind + 1, {"old"})) {
        return Failure{.thing = Thing::version,
                       .state = State::incompatible,
                       .name = std::move(name),
                       .demand = "newer"};
      }
    }
    return std::nullopt;
  }

  std::vector<Token> tokens_;
};

} // namespace

std::optional<Failure> demanded_version(const Head& head, string_view text) {
  constexpr std::size_t k_most_bytes = 1000;
  const bool can_be = text.find_first_of("0123456789") != k_none || text.find("too old") != k_none;
  if (head.severity != Severity::error || !can_be || text.size() > k_most_bytes) {
    return std::nullopt;
  }
  auto failure = Sentence(tokens_of(text)).demand();
  if (failure) {
    failure->tool = head.tool;
    failure->file = head.file;
  }
  return failure;
}

} // namespace cukit::buildlog

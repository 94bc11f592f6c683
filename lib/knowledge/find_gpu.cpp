// From what a person or a driver calls a GPU to its target.
#include "base/strings.hpp"
#include "knowledge/knowledge.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cukit::knowledge {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Words of a name that say nothing about the architecture: maker, form factor, amount and kind of
/// memory.
bool is_noise(std::string_view word) {
  static constexpr std::string_view words[] = {"nvidia", "tesla", "geforce", "gpu", "laptop",
                                               "pcie",   "sxm",   "nvl",     "mig"};
  if (std::find(std::begin(words), std::end(words), word) != std::end(words)) {
    return true;
  }
  const bool memory_size = word.size() > 2 && is_digit(word.front()) && word.ends_with("gb");
  const bool memory_kind = word.starts_with("hbm") || (word.starts_with("sxm") && word.size() == 4);
  return memory_size || memory_kind;
}

/// Lower-case words; hyphens and underscores part words too.
std::vector<std::string> words_of(std::string_view name) {
  std::string text = lower(name);
  std::replace(text.begin(), text.end(), '-', ' ');
  std::replace(text.begin(), text.end(), '_', ' ');
  std::vector<std::string> words;
  for (const auto word : split_words(text)) {
    if (!is_noise(word)) {
      words.emplace_back(word);
    }
  }
  return words;
}

enum class Match { none, inside, beginning, whole };

/// Some words of the name that stand together, as people say 5090 and "PRO 6000"; letters alone
/// ("RTX") would be many.
bool is_inside(const std::vector<std::string>& words, const std::string& query) {
  if (query.find_first_of("0123456789") == std::string::npos) {
    return false;
  }
  for (std::size_t first = 1; first < words.size(); ++first) {
    std::string together;
    for (std::size_t i = first; i < words.size() && together.size() < query.size(); ++i) {
      together += words[i];
    }
    if (together == query) {
      return true;
    }
  }
  return false;
}

/// Whether the product's words, or some of them, written together are `query`.
Match compare(const std::vector<std::string>& words, const std::string& query) {
  std::string together;
  for (std::size_t i = 0; i < words.size(); ++i) {
    together += words[i];
    if (together == query) {
      return i + 1 == words.size() ? Match::whole : Match::beginning;
    }
  }
  return is_inside(words, query) ? Match::inside : Match::none;
}

Error unknown(std::string_view text, std::string hint) {
  return {.code = ErrorCode::usage,
          .message = fmt::format("there is no GPU `{}`", printable(text.substr(0, 100))),
          .hint = std::move(hint)};
}

Result<GpuTarget> find_product(const Knowledge& knowledge, std::string_view text) {
  CUKIT_TRY_ASSIGN(const auto* products, knowledge.products());
  const auto query = join(words_of(text), "");
  std::map<Match, std::vector<const Product*>> matches;
  for (const auto& product : *products) {
    auto words = words_of(product.name);
    auto match = compare(words, query);
    // "RTX 6000" is the beginning of several names, one of which people write without its first
    // word.
    if (match < Match::beginning && !words.empty() && words.front() == "quadro") {
      words.erase(words.begin());
      match = std::min(compare(words, query), Match::beginning);
    }
    if (match != Match::none) {
      matches[match].push_back(&product);
    }
  }
  const auto found =
      matches.empty() ? std::vector<const Product*>() : std::move(matches.rbegin()->second);
  std::set<GpuTarget> targets;
  for (const auto* product : found) {
    targets.insert(product->target);
  }
  if (targets.size() == 1) {
    return *targets.begin();
  }
  std::vector<std::string> names;
  for (const auto& product : *products) {
    names.push_back(join(words_of(product.name), ""));
  }
  if (targets.empty()) {
    const auto near = did_you_mean(query, names);
    const auto at = std::find(names.begin(), names.end(), near);
    return tl::unexpected<Error>(unknown(
        text, near.empty()
                  ? "`cukit gpus` lists what is known; a target such as sm_120 is taken too"
                  : fmt::format("did you mean `{}`?",
                                (*products)[static_cast<std::size_t>(at - names.begin())].name)));
  }
  std::vector<std::string> candidates;
  for (const auto* product : found) {
    candidates.push_back(fmt::format("{} ({})", product->name, product->target.sm()));
  }
  auto error = unknown(text, "write one of these names, or the target");
  error.message =
      fmt::format("`{}` can be several GPUs: {}", printable(text), join(candidates, ", "));
  return tl::unexpected<Error>(std::move(error));
}

/// `SM120F`, `compute_90` and `12.0` in the one spelling that GpuTarget takes.
std::string target_spelling(std::string_view text) {
  auto spelling = lower(trim(text));
  for (const std::string_view prefix : {"sm", "compute"}) {
    if (spelling.starts_with(prefix) && spelling.size() > prefix.size() &&
        is_digit(spelling[prefix.size()])) {
      spelling.insert(prefix.size(), "_");
    }
  }
  return spelling;
}

Result<GpuTarget> check_form(const Architecture& architecture, const GpuTarget& target) {
  const bool has_form = target.suffix == 0 || (target.suffix == 'a' && architecture.a_since) ||
                        (target.suffix == 'f' && architecture.f_since);
  if (has_form) {
    return target;
  }
  auto error = unknown(target.sm(), {});
  error.message =
      fmt::format("{} has no {} form `{}`", architecture.target.sm(),
                  target.suffix == 'a' ? "architecture-specific" : "family", target.sm());
  error.hint = "write " + architecture.target.sm() +
               (architecture.a_since ? " or " + architecture.target.sm() + "a" : std::string());
  return tl::unexpected<Error>(std::move(error));
}

constexpr std::size_t k_most_near = 3;

/// The targets that `spelling` (sm_12, sm_1200, sm_12f) may have been meant for: a digit that is
/// missing or too much at the end is likelier than any other slip, then one at the beginning.
std::vector<std::string> near_targets(const std::vector<Architecture>& architectures,
                                      std::string_view spelling) {
  const auto begin = std::min(spelling.find_first_of("0123456789"), spelling.size());
  const auto end = std::min(spelling.find_first_not_of("0123456789.", begin), spelling.size());
  std::string digits(spelling.substr(begin, end - begin));
  std::erase(digits, '.');
  const auto letters = spelling.substr(end);
  const auto name_of = [&](const Architecture& architecture) {
    auto target = architecture.target;
    const bool has_form =
        (letters == "a" && architecture.a_since) || (letters == "f" && architecture.f_since);
    target.suffix = has_form ? letters.front() : '\0';
    return target.sm();
  };
  const auto those = [&](const auto& is_near) {
    std::vector<std::string> names;
    for (const auto& architecture : architectures) {
      const auto number = fmt::format("{}{}", architecture.target.major, architecture.target.minor);
      if (is_near(number) && names.size() < k_most_near) {
        names.push_back(name_of(architecture));
      }
    }
    return names;
  };
  if (digits.empty()) {
    return {};
  }
  auto names = those([&](const std::string& number) {
    return number.starts_with(digits) || digits.starts_with(number);
  });
  if (names.empty() && digits.size() > 1) {
    names = those([&](const std::string& number) { return number.ends_with(digits); });
  }
  if (names.empty()) {
    std::vector<std::string> all;
    for (const auto& architecture : architectures) {
      all.push_back(name_of(architecture));
    }
    const auto near = did_you_mean("sm_" + digits + std::string(letters), all);
    names = near.empty() ? names : std::vector<std::string>{near};
  }
  return names;
}

Result<GpuTarget> no_target(const Knowledge& knowledge, std::string_view text,
                            std::string_view spelling) {
  CUKIT_TRY_ASSIGN(const auto* architectures, knowledge.architectures());
  const auto near = near_targets(*architectures, spelling);
  return tl::unexpected<Error>(unknown(
      text, near.empty()
                ? "write sm_90, sm_120a, sm_120f, a compute capability such as \"12.0\" or a "
                  "product's name; `cukit gpus` lists what is known"
                : fmt::format("did you mean `{}`? `cukit gpus` lists all", join(near, "` or `"))));
}

} // namespace

Result<GpuTarget> find_gpu(const Knowledge& knowledge, std::string_view text) {
  const auto spelling = target_spelling(text);
  const auto target = GpuTarget::parse(spelling);
  if (!target) {
    if (spelling.starts_with("sm_") || spelling.starts_with("compute_") || words_of(text).empty()) {
      return no_target(knowledge, text, spelling);
    }
    return find_product(knowledge, text);
  }
  CUKIT_TRY_ASSIGN(const auto* architectures, knowledge.architectures());
  if (const auto* architecture = find_architecture(*architectures, *target)) {
    return check_form(*architecture, *target);
  }
  return no_target(knowledge, text, spelling);
}

} // namespace cukit::knowledge

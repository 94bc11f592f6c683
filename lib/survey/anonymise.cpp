#include "survey/anonymise.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <array>

namespace cukit::survey {

namespace {

constexpr std::string_view k_between = " \t:;,=\"'`()";
constexpr std::string_view k_left_out = "(left out)";
constexpr std::string_view k_lower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view k_digits = "0123456789";

template <typename List> bool is_one_of(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool consists_of(std::string_view text, std::string_view letters, std::string_view more,
                 std::size_t limit) {
  return text.size() <= limit && std::all_of(text.begin(), text.end(), [&](char c) {
           return letters.find(c) != std::string_view::npos ||
                  more.find(c) != std::string_view::npos;
         });
}

bool is_path(std::string_view word) {
  return word.starts_with('/') || word.starts_with("./") || word.starts_with("../") ||
         word.starts_with("~") || word == "." || word == "..";
}

/// 90, 9.0a, 12.0f+PTX, 13.0.88, sm_90a, compute_120
bool is_number_or_target(std::string_view word) {
  for (const std::string_view prefix : {"sm_", "compute_", "lto_"}) {
    if (word.starts_with(prefix)) {
      word.remove_prefix(prefix.size());
      break;
    }
  }
  for (const std::string_view tail : {"+PTX", "-real", "-virtual"}) {
    if (word.ends_with(tail)) {
      word.remove_suffix(tail.size());
    }
  }
  if (word.ends_with('a') || word.ends_with('f')) {
    word.remove_suffix(1);
  }
  return !word.empty() && consists_of(word, k_digits, ".", 12);
}

bool is_switch(std::string_view word) {
  static constexpr std::array known = {"on",   "off",     "true",  "false",          "yes",
                                       "no",   "native",  "all",   "all-major",      "static",
                                       "none", "release", "debug", "relwithdebinfo", "shared"};
  return is_one_of(known, lower(word));
}

/// g++-12, x86_64-linux-gnu-gcc, ccache
bool is_compiler(std::string_view word) {
  static constexpr std::array names = {"gcc",     "g++",  "cc",     "c++",    "clang",
                                       "clang++", "nvcc", "ccache", "sccache"};
  const auto dash = word.rfind('-');
  if (dash != std::string_view::npos && consists_of(word.substr(dash + 1), k_digits, ".", 6)) {
    word = word.substr(0, dash);
  }
  for (const std::string_view triple : {"x86_64-linux-gnu-", "x86_64-conda-linux-gnu-",
                                        "aarch64-linux-gnu-", "aarch64-conda-linux-gnu-"}) {
    if (word.starts_with(triple)) {
      word.remove_prefix(triple.size());
    }
  }
  return is_one_of(names, word);
}

bool is_standard(std::string_view word) {
  return (word.starts_with("c++") || word.starts_with("gnu++")) &&
         consists_of(word.substr(word.find("++") + 2), k_digits, "abxyz", 2);
}

bool is_flag(std::string_view word) {
  static constexpr std::array exact = {"-isystem",
                                       "-ccbin",
                                       "--compiler-bindir",
                                       "-gencode",
                                       "--generate-code",
                                       "-arch",
                                       "-code",
                                       "--gpu-architecture",
                                       "-Xcompiler",
                                       "-Xlinker",
                                       "-Xptxas",
                                       "-pthread",
                                       "-std",
                                       "--std",
                                       "-t",
                                       "--threads",
                                       "-lineinfo",
                                       "-allow-unsupported-compiler",
                                       "--expt-relaxed-constexpr",
                                       "--use_fast_math",
                                       "-Wl",
                                       "-rdc",
                                       "-cudart",
                                       "--expt-extended-lambda",
                                       "arch",
                                       "code",
                                       "-rpath"};
  if (is_one_of(exact, word) || word.empty()) {
    return true;
  }
  const auto tail = word.substr(std::min<std::size_t>(2, word.size()));
  const auto is_led_by = [&](std::string_view head, std::string_view more, std::size_t limit) {
    return word.starts_with(head) && consists_of(tail, k_lower, more, limit);
  };
  return ((word.starts_with("-I") || word.starts_with("-L") || word.starts_with("-B")) &&
          (tail.empty() || is_path(tail))) ||
         is_led_by("-W", "-", 40) || is_led_by("-f", "-", 40) ||
         is_led_by("-m", "-0123456789", 16) || is_led_by("-O", "0123", 4) ||
         is_led_by("-g", "0123", 4) || is_led_by("-l", "_", 24) ||
         (word.starts_with("--xla_") && consists_of(word.substr(6), k_lower, "_", 60));
}

/// Definitions that say which toolkit and targets a build was told; the value is a word of its own.
bool is_known_definition(std::string_view word) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
  return (word.starts_with("-DCMAKE_") || word.starts_with("-DCUDA")) &&
         consists_of(word, letters, "-", 60);
}

bool is_known(std::string_view word) {
  return is_path(word) || is_number_or_target(word) || is_switch(word) || is_compiler(word) ||
         is_standard(word) || is_flag(word) || is_known_definition(word);
}

/// What may follow a folder of homes in a place that is none: /opt/home/bin of a toolkit.
bool is_system_folder(std::string_view name) {
  static constexpr std::array known = {"bin",    "lib",     "lib64",        "include",
                                       "nvvm",   "share",   "etc",          "targets",
                                       "extras", "libexec", "version.json", "version.txt"};
  return name.empty() || is_one_of(known, name);
}

std::size_t end_of_name(std::string_view text, std::size_t begin) {
  return std::min(text.find_first_of("/:; \"',", begin), text.size());
}

} // namespace

Anonymiser::Anonymiser(const Snapshot& snapshot) {
  const auto found = snapshot.environment.find("HOME");
  if (found == snapshot.environment.end() || found->second.size() < 2 ||
      !found->second.starts_with('/')) {
    return;
  }
  home_ = found->second;
  while (home_.size() > 1 && home_.ends_with('/')) {
    home_.pop_back();
  }
  const auto slash = home_.rfind('/');
  const auto name = home_.substr(slash + 1);
  if (slash != 0 && !is_system_folder(name)) { // /root is nobody's name
    name_ = name;
  }
}

/// The name behind a folder of homes, wherever that lies: /home/X, /export/home/X, /Users/X; and
/// ~X.
void Anonymiser::replace_homes(std::string& text) const {
  for (const std::string_view folder : {"/home/", "/homes/", "/Users/", "/users/"}) {
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder, at + 1)) {
      const auto begin = at + folder.size();
      const auto end = end_of_name(text, begin);
      if (!is_system_folder(std::string_view(text).substr(begin, end - begin))) {
        text.replace(begin, end - begin, "user");
      }
    }
  }
  for (auto at = text.find('~'); at != std::string::npos; at = text.find('~', at + 1)) {
    const bool begins_word = at == 0 || k_between.find(text[at - 1]) != std::string_view::npos ||
                             (at >= 2 && text[at - 2] == '-');
    const auto end = end_of_name(text, at + 1);
    if (begins_word && end > at + 1) {
      text.replace(at + 1, end - at - 1, "user");
    }
  }
}

/// /scratch/X/... of the one whose home is /home/X
void Anonymiser::replace_own_name(std::string& text) const {
  const auto part = "/" + name_;
  for (auto at = name_.empty() ? std::string::npos : text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    if (const auto end = at + part.size(); end == end_of_name(text, end)) {
      text.replace(at + 1, name_.size(), "user");
    }
  }
}

std::string Anonymiser::operator()(std::string text) const {
  if (text.find("://") != std::string::npos) {
    return "(an address)";
  }
  for (auto at = home_.empty() ? std::string::npos : text.find(home_); at != std::string::npos;
       at = text.find(home_, at + 1)) {
    if (const auto end = at + home_.size(); end == end_of_name(text, end)) {
      text.replace(at, home_.size(), "/home/user");
    }
  }
  replace_own_name(text);
  replace_homes(text);
  return text;
}

std::set<std::string> paths_of(const Snapshot& snapshot) {
  std::set<std::string> paths;
  for (const auto& kit : snapshot.toolkits) {
    paths.insert({kit.root, kit.real, kit.include, kit.root + "/bin"});
    paths.insert(kit.aliases.begin(), kit.aliases.end());
    for (const auto& [name, tool] : kit.tools) {
      paths.insert({tool.path, tool.real});
    }
  }
  for (const auto& python : snapshot.pythons) {
    paths.insert({python.prefix, python.prefix + "/bin"});
  }
  for (const auto& compiler : snapshot.compilers) {
    paths.insert({compiler.path, compiler.real, compiler.path.substr(0, compiler.path.rfind('/'))});
  }
  return paths;
}

std::string known_parts(std::string_view value, const std::set<std::string>& paths) {
  if (value.find("://") != std::string_view::npos) {
    return "(an address)";
  }
  std::vector<std::string> items;
  for (auto item : split(value, ':')) {
    if (paths.contains(std::string(item))) {
      items.emplace_back(item);
      continue;
    }
    auto& result = items.emplace_back();
    while (!item.empty()) {
      const auto length = std::min(item.find_first_of(k_between), item.size());
      const auto word = item.substr(0, length);
      if (!word.empty()) {
        result += is_known(word) ? word : k_left_out;
      }
      if (length < item.size()) {
        result += item[length];
      }
      item.remove_prefix(std::min(length + 1, item.size()));
    }
  }
  return join(items, ":");
}

} // namespace cukit::survey

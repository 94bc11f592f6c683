#include "exports/distributable.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <array>

namespace cukit::exports {

namespace {

constexpr std::uint64_t k_licence_bytes = 4U << 20U;

/// A line that holds names of files alone, parted by commas or spaces; empty: another line.
std::vector<std::string> file_names(std::string_view line) {
  std::string parted(line);
  std::replace(parted.begin(), parted.end(), ',', ' ');
  std::vector<std::string> names;
  for (const auto word : split_words(parted)) {
    const bool is_name = word.find('.') != std::string_view::npos && word.back() != '.' &&
                         std::all_of(word.begin(), word.end(), [](unsigned char c) {
                           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
                         });
    if (!is_name) {
      return {};
    }
    names.emplace_back(word);
  }
  return names;
}

/// The part of the text between the headings of Attachment A and B.
std::string_view attachment_a(std::string_view text) {
  for (std::size_t at = 0; (at = text.find("Attachment A\n", at)) != std::string_view::npos; ++at) {
    // a heading has a number in front and nothing else: "2.6. Attachment A"
    const auto begin = text.rfind('\n', at) + 1;
    const auto number = text.substr(begin, at - begin);
    if (number.find_first_not_of("0123456789. ") == std::string_view::npos) {
      const auto next = text.find("Attachment B\n", at);
      const auto end = next == std::string_view::npos ? next : text.rfind('\n', next);
      return text.substr(at, end == std::string_view::npos ? end : end - at);
    }
  }
  return {};
}

} // namespace

std::set<std::string> listed_files(std::string_view licence) {
  static constexpr std::array systems = {"Windows", "Mac OSX", "Android", "Component"};
  std::set<std::string> all;
  std::set<std::string> of_component;
  bool is_ours = false;
  bool has_conditions = false;
  const auto take = [&] {
    if (!has_conditions) {
      all.merge(of_component);
    }
    of_component.clear();
    has_conditions = false;
  };
  for (const auto raw : split(attachment_a(licence), '\n')) {
    const auto line = trim(raw);
    if (line == "Component") {
      take();
    }
    if (line == "Linux" || line == "All") {
      is_ours = true;
    } else if (std::any_of(systems.begin(), systems.end(),
                           [&](const char* one) { return line == one; })) {
      is_ours = false;
    } else if (is_ours && !line.empty()) {
      auto names = file_names(line);
      has_conditions = has_conditions || names.empty();
      of_component.insert(names.begin(), names.end());
    }
  }
  take();
  return all;
}

Result<std::set<std::string>> distributable_files(const assemble::Tree& tree) {
  std::set<std::string> all;
  CUKIT_TRY_ASSIGN(const auto files, assemble::list_files(tree));
  for (const auto& file : files) {
    if (file.path.text().starts_with("LICENSES/") && file.link.empty()) {
      CUKIT_TRY_ASSIGN(const auto text, read_file(file.from, k_licence_bytes));
      all.merge(listed_files(text));
    }
  }
  return all;
}

bool is_distributable(std::string_view path, const std::set<std::string>& listed) {
  return !path.starts_with("lib/stubs/") && is_listed(path, listed);
}

bool is_listed(std::string_view path, const std::set<std::string>& listed) {
  const auto name = path.substr(path.rfind('/') + 1); // npos + 1 is 0
  const auto version = name.find(".so.");
  return listed.count(std::string(
             version == std::string_view::npos ? name : name.substr(0, version + 3))) != 0;
}

} // namespace cukit::exports

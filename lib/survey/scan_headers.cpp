// Headers that somebody misses, looked for wherever folders of headers are named.
#include "base/strings.hpp"
#include "survey/root_view.hpp"
#include "survey/scan.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace cukit::survey {

namespace {

constexpr std::size_t k_folders = 400; ///< looked into, however many variables there are
constexpr std::size_t k_places = 8;    ///< kept for each header

class Folders {
public:
  void add(std::string folder, const std::string& named_by = {}) {
    while (folder.size() > 1 && folder.ends_with('/')) {
      folder.pop_back();
    }
    if (folder.starts_with('/') && list_.size() < k_folders &&
        std::none_of(list_.begin(), list_.end(),
                     [&](const auto& known) { return known.first == folder; })) {
      list_.push_back({std::move(folder), named_by});
    }
  }
  /// Folder, and the variable that named it.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& list() const {
    return list_;
  }

private:
  std::vector<std::pair<std::string, std::string>> list_;
};

/// /a and /b of `-I/a -isystem /b`, /c of `/c:/d`: folders that a variable's value names.
void add_value(Folders& folders, std::string_view value, const std::string& name) {
  for (auto word : split_words(value.substr(0, 4096))) {
    for (const std::string_view flag : {"-I", "-isystem", "-L"}) {
      if (word.starts_with(flag)) {
        word.remove_prefix(flag.size());
      }
    }
    for (const auto part : split(word, ':')) {
      if (part.starts_with('/') && part.size() > 1) {
        folders.add(std::string(part), name);
        folders.add(join_path(part, "include"), name);
      }
    }
  }
}

} // namespace

std::vector<FoundHeader> find_headers(const RootView& view, const Environment& environment,
                                      const std::vector<std::string>& names,
                                      const Snapshot& snapshot) {
  std::vector<FoundHeader> found;
  if (names.empty()) {
    return found;
  }
  Folders folders;
  for (const auto& [name, value] : environment.values()) {
    if (name != "PATH" && name != "HOME" && name != "PWD" && name != "OLDPWD") {
      add_value(folders, value, name);
    }
  }
  for (const auto& kit : snapshot.toolkits) {
    folders.add(kit.include);
    folders.add(kit.cccl_include);
  }
  for (const auto& python : snapshot.pythons) {
    for (const auto& site : python.site_packages) {
      for (const auto& part : view.list(join_path(site, "nvidia"))) {
        folders.add(join_path(join_path(join_path(site, "nvidia"), part), "include"));
      }
    }
    if (python.is_conda) {
      folders.add(join_path(python.prefix, "include"));
    }
  }
  for (const char* folder : {"/usr/local/include", "/usr/include", "/usr/include/x86_64-linux-gnu",
                             "/usr/include/aarch64-linux-gnu"}) {
    folders.add(folder);
  }
  for (const auto& name : names) {
    const bool is_plain = !name.empty() && name.front() != '/' && name.size() < 256 &&
                          name.find("..") == std::string::npos;
    FoundHeader header{.name = name};
    for (const auto& [folder, named_by] : folders.list()) {
      const auto path = join_path(folder, name);
      if (is_plain && header.paths.size() < k_places && view.is_file(path)) {
        header.named_by = header.paths.empty() ? named_by : header.named_by;
        header.paths.push_back(path);
      }
    }
    if (!header.paths.empty()) {
      found.push_back(std::move(header));
    }
  }
  return found;
}

int memory_of(const RootView& view) {
  constexpr std::string_view key = "MemTotal:";
  const auto text = view.head("/proc/meminfo", 4096);
  const auto at = text.find(key);
  if (at == std::string::npos) {
    return 0;
  }
  const auto rest = trim(std::string_view(text).substr(at + key.size(), 40));
  std::uint64_t kilobytes = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), kilobytes);
  return static_cast<int>(std::min<std::uint64_t>(kilobytes / 1000, 2'000'000'000));
}

} // namespace cukit::survey

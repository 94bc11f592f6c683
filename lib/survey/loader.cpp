#include "survey/loader.hpp"

#include "base/strings.hpp"
#include "survey/scan.hpp"

#include <algorithm>
#include <fnmatch.h>

namespace cukit::survey {

namespace {

constexpr std::size_t k_configuration_bytes = 64U << 10U;
constexpr int k_deepest_include = 4;
constexpr std::size_t k_most_folders = 512;

/// ld.so's own names in RPATH and RUNPATH.
std::string expanded(std::string text, const std::string& origin) {
  for (const auto& [name, value] :
       {std::pair<std::string_view, std::string_view>{"${ORIGIN}", origin},
        {"$ORIGIN", origin},
        {"${LIB}", "lib64"},
        {"$LIB", "lib64"}}) {
    for (auto at = text.find(name); at != std::string::npos;
         at = text.find(name, at + value.size())) {
      text.replace(at, name.size(), value);
    }
  }
  return text;
}

} // namespace

Loader::Loader(const RootView& view, const Environment& environment) : view_(view) {
  library_path_ = path_folders(environment, "LD_LIBRARY_PATH");
  read_configuration("/etc/ld.so.conf", 0);
  if (!view.is_file("/etc/ld.so.conf")) {
    for (const auto& name :
         view.list("/etc/ld.so.conf.d")) { // Debian's and Red Hat's includes them
      if (name.ends_with(".conf")) {
        read_configuration("/etc/ld.so.conf.d/" + name, 1);
      }
    }
  }
  for (const char* folder :
       {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
    folders_.emplace_back(folder, "the loader's own folders");
  }
}

void Loader::read_configuration(const std::string& file, int depth) {
  const auto text = view_.head(file, k_configuration_bytes);
  for (const auto raw : split(text, '\n')) {
    const auto line = trim(raw.substr(0, raw.find('#')));
    constexpr std::string_view k_include = "include";
    if (line.starts_with(k_include) && line.size() > k_include.size() &&
        (line[k_include.size()] == ' ' || line[k_include.size()] == '\t')) {
      auto pattern = std::string(trim(line.substr(k_include.size())));
      if (!pattern.starts_with('/')) {
        pattern = join_path(parent_of(file), pattern);
      }
      const auto folder = parent_of(pattern);
      for (const auto& name : view_.list(folder)) {
        const auto path = join_path(folder, name);
        if (depth < k_deepest_include && ::fnmatch(pattern.c_str(), path.c_str(), 0) == 0) {
          read_configuration(path, depth + 1);
        }
      }
    } else if (line.starts_with('/') && folders_.size() < k_most_folders) {
      folders_.emplace_back(line.substr(0, line.find_first_of(" \t=")), file);
    }
  }
}

std::optional<TakenLibrary> Loader::in_list(const std::string& list, const Loading& by,
                                            const std::string& soname, const char* what) const {
  for (const auto part : split(list, ':')) {
    const auto folder = expanded(std::string(part), parent_of(by.path));
    const auto path = join_path(folder, soname);
    if (const auto entry = folder.starts_with('/') ? view_.find(path) : std::nullopt;
        entry && entry->is_regular) {
      return TakenLibrary{path, entry->real, fmt::format("{} of {}", what, by.path)};
    }
  }
  return std::nullopt;
}

TakenLibrary Loader::find(const std::string& soname,
                          const std::vector<const Loading*>& chain) const {
  const auto& own = *chain.back();
  if (own.link.runpath.empty()) {
    for (auto by = chain.rbegin(); by != chain.rend(); ++by) {
      if ((*by)->link.runpath.empty()) {
        if (auto taken = in_list((*by)->link.rpath, **by, soname, "RPATH")) {
          return *std::move(taken);
        }
      }
    }
  }
  const auto in_folder = [&](const std::string& folder,
                             const std::string& led_by) -> std::optional<TakenLibrary> {
    const auto path = join_path(folder, soname);
    const auto entry = view_.find(path);
    return entry && entry->is_regular ? std::optional(TakenLibrary{path, entry->real, led_by})
                                      : std::nullopt;
  };
  for (const auto& folder : library_path_) {
    if (auto taken = in_folder(folder, "LD_LIBRARY_PATH")) {
      return *std::move(taken);
    }
  }
  if (auto taken = in_list(own.link.runpath, own, soname, "RUNPATH")) {
    return *std::move(taken);
  }
  for (const auto& [folder, led_by] : folders_) {
    if (auto taken = in_folder(folder, led_by)) {
      return *std::move(taken);
    }
  }
  return {};
}

} // namespace cukit::survey

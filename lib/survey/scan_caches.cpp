// Caches of compiled kernels, with the toolkit that each was filled by: as its build file says, or
// as the kernels themselves do.
#include "base/strings.hpp"
#include "survey/elf_facts.hpp"
#include "survey/scan.hpp"

#include <algorithm>
#include <array>

namespace cukit::survey {

namespace {

constexpr std::size_t k_cache_limit = 400;
constexpr std::size_t k_kernel_cache_limit = 40; ///< of folders named by digests, all alike
constexpr std::size_t k_ninja_head = 32U << 10U;
constexpr std::size_t k_ptx_head = 4096;

/// `nvcc = /x/bin/nvcc` and `cuda_home = /x` of a build.ninja.
void read_ninja(const RootView& view, const std::string& path, CacheEntry& entry) {
  const auto text = view.head(path, k_ninja_head);
  for (const auto line : split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || line.starts_with(' ')) {
      continue;
    }
    const auto name = trim(line.substr(0, equals));
    const auto value = trim(line.substr(equals + 1));
    if (name == "cuda_home") {
      entry.cuda_home = value;
    } else if (name == "nvcc") {
      entry.nvcc = value;
    }
  }
}

/// Files that a build of an extension writes, with the sources of torch's and others'
/// load_inline; a person's own sources are called otherwise.
bool is_product(std::string_view name) {
  static constexpr std::array exact = {"build.ninja", ".ninja_log", ".ninja_deps", ".ninja_lock",
                                       "lock",        "main.cpp",   "cuda.cu"};
  static constexpr std::array endings = {".o", ".so", ".d", ".lock"};
  return std::find(exact.begin(), exact.end(), name) != exact.end() ||
         std::any_of(endings.begin(), endings.end(),
                     [&](const char* ending) { return name.ends_with(ending); });
}

/// Whether a cache is where its consumer keeps it by itself, or where a variable says, which may be
/// anybody's folder.
enum class Place { usual, of_a_variable };

class Caches {
public:
  explicit Caches(const RootView& view) : view_(view) {}

  /// One folder with a build.ninja or a library in it.
  void add(const std::string& consumer, const std::string& folder, Place place) {
    if (list_.size() >= k_cache_limit) {
      return;
    }
    CacheEntry entry{.consumer = consumer, .path = folder};
    bool has_any = false;
    for (const auto& name : view_.list(folder)) {
      if (name == "build.ninja") {
        read_ninja(view_, join_path(folder, name), entry);
        has_any = true;
      } else if (name.ends_with(".so")) {
        for (auto& needed : read_elf_facts(view_, join_path(folder, name)).needed) {
          if (is_cuda_library(needed) && !needed.starts_with("libcuda.so")) {
            entry.needed.push_back(std::move(needed));
          }
        }
        has_any = true;
      }
    }
    if (has_any) {
      const bool is_known = place == Place::usual || !(entry.cuda_home + entry.nvcc).empty();
      entry.is_generated = is_known && holds_products_alone(folder);
      list_.push_back(std::move(entry));
    }
  }
  /// One folder with kernels alone. It may have the PTX that ptxas was given; what nvcc compiled
  /// names its tools in .note.nv.tkinfo.
  void add_kernels(const std::string& consumer, const std::string& folder) {
    CacheEntry entry{.consumer = consumer, .path = folder};
    bool has_any = false;
    for (const auto& name : view_.list(folder)) {
      const auto path = join_path(folder, name);
      if (name.ends_with(".ptx")) {
        has_any = true;
        const auto text = view_.head(path, k_ptx_head);
        for (const auto line : split(text, '\n')) {
          if (line.starts_with(".version ")) {
            entry.built_by = "PTX " + printable(trim(line.substr(9)).substr(0, 8));
          }
        }
      } else if (name.ends_with(".cubin")) {
        has_any = true;
        const auto release =
            entry.built_by.empty()
                ? release_in("release " +
                             text_after(view_, path, "Cuda compilation tools, release "))
                : std::string();
        entry.built_by = release.empty() ? entry.built_by : "CUDA " + release;
      }
    }
    if (has_any) {
      list_.push_back(std::move(entry));
    }
  }
  /// Every folder below `folder` that the pattern leads to.
  void add_entries(const CachePlace& place, const std::string& folder, std::string_view pattern,
                   Place whose) {
    const auto slash = std::min(pattern.find('/'), pattern.size());
    const auto part = pattern.substr(0, slash);
    const auto rest = pattern.substr(std::min(slash + 1, pattern.size()));
    const auto names =
        part == "*" ? view_.list(folder) : std::vector<std::string>{std::string(part)};
    std::size_t count = 0;
    for (const auto& name : names) {
      const auto path = join_path(folder, name);
      if (!rest.empty()) {
        add_entries(place, path, rest, whose);
      } else if (!place.holds_kernels) {
        add(place.consumer, path, whose);
      } else if (count++ < k_kernel_cache_limit) {
        add_kernels(place.consumer, path);
      }
    }
  }
  [[nodiscard]] std::vector<CacheEntry> take() { return std::move(list_); }

private:
  [[nodiscard]] bool holds_products_alone(const std::string& folder) const {
    const auto names = view_.list(folder);
    return !view_.is_link(folder) && std::all_of(names.begin(), names.end(), [&](const auto& name) {
      const auto path = join_path(folder, name);
      return is_product(name) && view_.is_file(path) && !view_.is_link(path);
    });
  }

  const RootView& view_;
  std::vector<CacheEntry> list_;
};

} // namespace

std::vector<CacheEntry> scan_caches(const RootView& view, const SnapshotRequest& request) {
  Caches caches(view);
  for (const auto& place : request.clues.caches) {
    const auto folder = cache_folder(place, request.environment);
    // below a variable's folder too a folder of its own name is the consumer's
    const bool is_usual = !place.below.empty() || !request.environment.get(place.variable);
    for (const auto& pattern : place.entries) {
      caches.add_entries(place, folder, pattern, is_usual ? Place::usual : Place::of_a_variable);
    }
  }
  return caches.take();
}

std::string cache_folder(const CachePlace& place, const Environment& environment) {
  const auto home = environment.get("HOME").value_or("/");
  const auto named = place.variable.empty() ? std::nullopt : environment.get(place.variable);
  const auto folder = named ? *named : place.usual.empty() ? home : join_path(home, place.usual);
  return place.below.empty() ? folder : join_path(folder, place.below);
}

} // namespace cukit::survey

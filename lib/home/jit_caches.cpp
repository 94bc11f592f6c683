#include "home/jit_caches.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace cukit::home {

namespace {

constexpr const char* k_places = ".places"; ///< absolute paths, one a line
constexpr std::uint64_t k_places_bytes = 1U << 20U;
constexpr std::int64_t k_unknown_age = 30LL * 24 * 60 * 60;

bool stands_there(const fs::path& place, std::string_view id) {
  const auto tree = assemble::open_tree(place);
  return tree && tree->id.hex() == id;
}

/// Where trees of that id are known to stand, those alone that do.
std::vector<std::string> standing_places(const fs::path& cache, std::string_view id,
                                         bool& is_known) {
  const auto text = read_file(cache / k_places, k_places_bytes);
  is_known = text.has_value();
  std::vector<std::string> result;
  if (!text) {
    return result;
  }
  for (const auto line : split(*text, '\n')) {
    if (line.starts_with('/') && stands_there(line, id)) {
      result.emplace_back(line);
    }
  }
  return result;
}

std::int64_t last_written(const fs::path& folder) {
  struct stat info {};
  std::int64_t last = ::lstat(folder.c_str(), &info) == 0 ? info.st_mtime : 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (::lstat(it->path().c_str(), &info) == 0) {
      last = std::max<std::int64_t>(last, info.st_mtime);
    }
  }
  return last;
}

} // namespace

void remember_place(const store::Home& home, const assemble::Tree& tree) {
  std::error_code error;
  const auto path = fs::canonical(tree.path, error);
  const auto parent = path.parent_path();
  const bool is_stored =
      fs::equivalent(parent, home.trees(), error) ||
      (!home.system.empty() && fs::equivalent(parent, home.system / "trees", error));
  if (path.empty() || is_stored || path.string().find('\n') != std::string::npos ||
      !folder_exists(home.cache)) {
    return;
  }
  const auto id = tree.id.hex();
  const auto cache = home.jit(id);
  bool is_known = false;
  auto places = standing_places(cache, id, is_known);
  if (std::find(places.begin(), places.end(), path.string()) != places.end()) {
    return;
  }
  places.push_back(path.string());
  if (make_directories(cache)) {
    static_cast<void>(write_file_atomic(cache / k_places, join(places, "\n") + "\n"));
  }
}

Result<std::vector<fs::path>> unused_caches(const store::Home& home,
                                            const std::set<std::string>& rooted,
                                            const std::vector<std::string>& leaving,
                                            std::int64_t now) {
  std::vector<fs::path> result;
  const auto folder = home.cache / "jit";
  if (!folder_exists(folder)) {
    return result;
  }
  CUKIT_TRY_ASSIGN(const auto ids, list_directory(folder));
  for (const auto& id : ids) {
    bool is_known = false;
    if (rooted.contains(id) ||
        (!home.system.empty() && folder_exists(home.system / "trees" / id)) ||
        !standing_places(folder / id, id, is_known).empty()) {
      continue;
    }
    // `leaving` is sorted, as a folder is listed.
    is_known = is_known || std::binary_search(leaving.begin(), leaving.end(), id);
    if (is_known || now - last_written(folder / id) > k_unknown_age) {
      result.push_back(folder / id);
    }
  }
  return result;
}

} // namespace cukit::home

#include "assemble/extras.hpp"

#include "assemble/assemble.hpp"

#include <algorithm>
#include <set>

namespace cukit::assemble {

namespace {

constexpr const char* k_record = ".cukit";

/// Below `folder`, which is `prefix` in the tree; what is in a folder that is extra is not named
/// apart.
Result<void> add_extras(const fs::path& folder, const std::string& prefix,
                        const std::set<std::string>& known, std::vector<std::string>& result) {
  CUKIT_TRY_ASSIGN(const auto names, list_directory(folder));
  for (const auto& name : names) {
    const auto path = prefix + name;
    std::error_code none;
    const bool is_folder = fs::is_directory(fs::symlink_status(folder / name, none));
    if (!known.contains(path)) {
      result.push_back(is_folder ? path + "/" : path);
    } else if (is_folder) {
      CUKIT_TRY(add_extras(folder / name, path + "/", known, result));
    }
  }
  return {};
}

/// Every path of the tree, folders too.
Result<std::set<std::string>> known_paths(const fs::path& path) {
  CUKIT_TRY_ASSIGN(const auto tree, open_tree(path));
  CUKIT_TRY_ASSIGN(const auto files, list_files(tree));
  std::set<std::string> known;
  for (const auto& file : files) {
    for (auto one = file.path; !one.empty() && known.insert(one.text()).second;) {
      one = one.parent();
    }
  }
  return known;
}

} // namespace

Result<std::vector<std::string>> extras(const fs::path& path) {
  CUKIT_TRY_ASSIGN(const auto names, list_directory(path));
  std::set<std::string> known;
  if (names != std::vector<std::string>{k_record}) { // else not all of the record may be left
    CUKIT_TRY_ASSIGN(known, known_paths(path));
  }
  known.insert(k_record);
  for (const char* name : {"content", "files", "input"}) {
    known.insert(fmt::format("{}/{}", k_record, name));
  }
  std::vector<std::string> result;
  CUKIT_TRY(add_extras(path, "", known, result));
  return result;
}

} // namespace cukit::assemble

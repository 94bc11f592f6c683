#include "knowledge/recipes.hpp"

#include "knowledge/embedded.hpp"

#include <algorithm>
#include <span>

namespace cukit::knowledge {

namespace {

// The longest recipe has 4 kB; a kernel's expected numbers may be longer.
constexpr std::uint64_t k_recipe_bytes = 4U << 20U;
constexpr int k_folder_depth = 8;

Result<void> collect(const fs::path& root, const std::string& folder, int depth,
                     std::vector<std::string>& out) {
  if (depth > k_folder_depth) {
    return fail(ErrorCode::usage, "more than {} folders inside each other in {}", k_folder_depth,
                root.string());
  }
  CUKIT_TRY_ASSIGN(const auto names, list_directory(root / folder));
  for (const auto& name : names) {
    const auto path = folder.empty() ? name : folder + "/" + name;
    if (folder_exists(root / path)) {
      CUKIT_TRY(collect(root, path, depth + 1, out));
    } else {
      out.push_back(path);
    }
  }
  return {};
}

} // namespace

std::string Recipes::display(const std::string& path) const {
  return folder_ ? (*folder_ / path).string() : "recipes/" + path;
}

Result<std::string> Recipes::read(const std::string& path) const {
  if (folder_) {
    return read_file(*folder_ / path, k_recipe_bytes);
  }
  for (const auto* file = k_embedded_files; file->path != nullptr; ++file) {
    if (path == file->path) {
      return std::string(file->begin, file->end);
    }
  }
  return fail(ErrorCode::usage, "there is no recipe {}", path);
}

Result<std::vector<std::string>> Recipes::list(const std::string& folder) const {
  std::vector<std::string> paths;
  if (folder_) {
    CUKIT_TRY(collect(*folder_, folder, 0, paths));
  } else {
    const auto prefix = folder + "/";
    for (const auto* file = k_embedded_files; file->path != nullptr; ++file) {
      if (std::string_view(file->path).starts_with(prefix)) {
        paths.emplace_back(file->path);
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

} // namespace cukit::knowledge

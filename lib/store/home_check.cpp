#include "store/home_check.hpp"

#include "base/kept_file.hpp"
#include "base/number.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <functional>

namespace cukit::store {

namespace {

Result<void> check_version(const fs::path& file) {
  CUKIT_TRY_ASSIGN(const std::string text, read_kept(file, 64));
  const std::string_view digits = trim(text);
  const int version = whole_number<int>(digits).value_or(0);
  if (version < 1) {
    auto error = Error{.code = ErrorCode::host,
                       .message = fmt::format("`{}` is no version of a layout", printable(digits)),
                       .where = file.string()};
    error.hint = "point CUKIT_HOME at another folder";
    return tl::unexpected<Error>(std::move(error));
  }
  if (version > k_layout_version) {
    auto error = Error{.code = ErrorCode::host,
                       .message = fmt::format("the folder has layout {}, this cukit knows up to {}",
                                              version, k_layout_version),
                       .where = file.string()};
    error.hint = "use the newer cukit that made it, or point CUKIT_HOME at another folder";
    return tl::unexpected<Error>(std::move(error));
  }
  return {};
}

constexpr std::size_t k_digest_digits = 64;

bool begins_with_digest(std::string_view name) {
  name.remove_prefix(name.starts_with('.') ? 1 : 0);
  return name.size() >= k_digest_digits &&
         name.substr(0, k_digest_digits).find_first_not_of("0123456789abcdef") ==
             std::string_view::npos;
}

/// False for what is no folder and for one that cannot be listed.
bool holds_only(const fs::path& folder, const std::function<bool(const std::string&)>& fits) {
  if (!is_kept_folder(folder)) {
    return false;
  }
  const auto names = list_directory(folder);
  return names && std::all_of(names->begin(), names->end(), fits);
}

bool is_empty_folder(const fs::path& folder) {
  return holds_only(folder, [](const std::string&) { return false; });
}

/// downloads/ and jit/ of a cache that outlives its home, as in a builder of images.
bool is_cache(const fs::path& folder) {
  return holds_only(folder, [&](const std::string& part) {
    return (part == "downloads" || part == "jit") && holds_only(folder / part, begins_with_digest);
  });
}

std::vector<fs::path> own_folders(const Home& home) {
  return {home.store(),   home.trees(), home.names(), home.reports(),
          home.staging(), home.locks(), home.logs()};
}

/// A version alone may be anybody's file.
bool has_most_folders(const Home& home) {
  const auto folders = own_folders(home);
  const auto there = std::count_if(folders.begin(), folders.end(),
                                   [](const fs::path& folder) { return path_exists(folder); });
  return 2 * static_cast<std::size_t>(there) > folders.size();
}

/// What a prepare() that was killed at its beginning may have left, and what a new disk has.
bool may_be_there(const Home& home, const std::string& name) {
  const fs::path path = home.root / name;
  if (name == "lost+found" || name == "version" || name.starts_with(".version.")) {
    return true;
  }
  const auto folders = own_folders(home);
  if (std::find(folders.begin(), folders.end(), path) != folders.end()) {
    return is_empty_folder(path);
  }
  return path == home.cache && is_cache(path);
}

tl::unexpected<Error> not_ours(const Home& home, const std::string& name) {
  return tl::unexpected<Error>(Error{
      .code = ErrorCode::host,
      .message = fmt::format("{} is no home of cukit's, and nothing is made or removed in it: it "
                             "holds {}, which cukit did not put there",
                             home.root.string(), name),
      .where = (home.root / name).string(),
      .hint = "point CUKIT_HOME at a folder that does not exist yet, or at an empty one"});
}

} // namespace

Result<void> check_home(const Home& home) {
  const fs::path version = home.root / "version";
  if (path_exists(version)) {
    CUKIT_TRY(check_version(version));
    if (has_most_folders(home)) {
      return {};
    }
  }
  if (!folder_exists(home.root)) {
    return path_exists(home.root)
               ? Result<void>(tl::unexpected<Error>(other_kind(home.root, "a folder")))
               : Result<void>();
  }
  CUKIT_TRY_ASSIGN(const auto names, list_directory(home.root));
  for (const auto& name : names) {
    if (!may_be_there(home, name)) {
      return not_ours(home, name);
    }
  }
  return {};
}

Result<void> check_folders(const Home& home) {
  auto folders = own_folders(home);
  if (home.cache.parent_path() == home.root) {
    folders.push_back(home.cache);
  }
  folders.push_back(home.downloads());
  folders.push_back(home.cache / "jit");
  for (const auto& folder : folders) {
    CUKIT_TRY(check_kept_folder(folder));
  }
  return {};
}

} // namespace cukit::store

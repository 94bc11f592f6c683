#include "store/system_store.hpp"

#include "base/kept_file.hpp"
#include "model/shell_command.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace cukit::store {

namespace {

tl::unexpected<Error> refused(const fs::path& folder, const std::string& why,
                              const std::string& remedy) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::host,
            .message = fmt::format("the system store is not safe to use: {}", why),
            .where = folder.string(),
            .hint = fmt::format("{}, or set CUKIT_SYSTEM_HOME=none to do without it", remedy)});
}

/// `may_be_sticky`: of a folder above the store, in which others may make files of their own.
Result<void> check_owner_and_mode(const fs::path& path, const struct stat& info,
                                  bool may_be_sticky) {
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return refused(path, fmt::format("user {} owns it, not root", info.st_uid), "let root own it");
  }
  const bool sticky = may_be_sticky && (info.st_mode & S_ISVTX) != 0;
  if (!S_ISLNK(info.st_mode) && (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky) {
    return refused(path, "others than its owner can write it",
                   fmt::format("run `{}`", ShellCommand({"chmod", "go-w", path.string()}).text()));
  }
  return {};
}

Result<void> check_folder_of_store(const fs::path& folder, bool may_be_sticky) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) {
    return fail_errno(errno, "cannot look at the system store {}", folder.string());
  }
  return check_owner_and_mode(folder, info, may_be_sticky);
}

// A tree has eight.
constexpr int k_deepest = 64;

Result<void> check_all(const fs::path& path, int depth) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? Result<void>() : fail_errno(errno, "cannot look at {}", path.string());
  }
  CUKIT_TRY(check_owner_and_mode(path, info, false));
  if (!S_ISDIR(info.st_mode)) {
    return {};
  }
  if (depth >= k_deepest) {
    return refused(path, "its folders are nested too deeply", "remove it");
  }
  CUKIT_TRY_ASSIGN(const auto names, list_directory(path));
  for (const auto& name : names) {
    CUKIT_TRY(check_all(path / name, depth + 1));
  }
  return {};
}

} // namespace

fs::path system_root(const Environment& environment) {
  const auto named = environment.get("CUKIT_SYSTEM_HOME");
  if (!named) {
    return "/opt/cukit";
  }
  if (*named == "none") {
    return {};
  }
  std::error_code error;
  auto root = fs::absolute(*named, error).lexically_normal();
  root = error ? fs::path(*named) : root;
  return root.has_filename() ? root : root.parent_path();
}

Result<void> check_system_store(const fs::path& root) {
  std::error_code error;
  const fs::path real = fs::canonical(root, error);
  if (error) {
    return fail_errno(error.value(), "cannot find the system store {}", root.string());
  }
  for (const auto* name : {"store", "trees", "names", "locks"}) {
    CUKIT_TRY(check_kept_folder(real / name)); // where a link leads others may have a say
    if (path_exists(real / name)) {
      CUKIT_TRY(check_folder_of_store(real / name, false));
    }
  }
  CUKIT_TRY(check_folder_of_store(real, false));
  for (fs::path above = real.parent_path();; above = above.parent_path()) {
    CUKIT_TRY(check_folder_of_store(above, true));
    if (above == above.parent_path()) {
      return {};
    }
  }
}

Result<void> check_use(const Home& home, const fs::path& path) {
  const auto& system = home.is_system ? home.root : home.system;
  const auto below = system.empty() ? fs::path("..") : path.lexically_relative(system);
  return below.empty() || *below.begin() == ".." ? Result<void>() : check_all(path, 0);
}

Result<void> check_system_owner(const fs::path& root) {
  struct stat info {};
  if (::stat(root.c_str(), &info) != 0) {
    return errno == ENOENT ? Result<void>()
                           : fail_errno(errno, "cannot look at the system store {}", root.string());
  }
  if (info.st_uid == ::geteuid()) {
    return {};
  }
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::host,
            .message = fmt::format("user {} owns the system store, and its owner alone writes it",
                                   info.st_uid),
            .where = root.string(),
            .hint = "run the command as its owner, or without --system"});
}

} // namespace cukit::store

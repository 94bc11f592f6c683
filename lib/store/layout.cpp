#include "store/layout.hpp"

#include "base/kept_file.hpp"
#include "base/user_file.hpp"
#include "store/home_check.hpp"
#include "store/system_store.hpp"

#include <system_error>

namespace cukit::store {

namespace {

std::optional<fs::path> absolute_folder(const Environment& environment, std::string_view name) {
  const auto value = environment.get(name);
  if (!value || fs::path(*value).is_relative()) {
    return {};
  }
  return fs::path(*value);
}

Result<fs::path> xdg_folder(const Environment& environment, std::string_view variable,
                            std::string_view below_home) {
  if (auto folder = absolute_folder(environment, variable)) {
    return *folder;
  }
  if (auto home = absolute_folder(environment, "HOME")) {
    return *home / below_home;
  }
  auto error = Error{.code = ErrorCode::host, .message = "there is no home folder to keep data in"};
  error.hint = "set CUKIT_HOME to a folder you may write";
  return tl::unexpected<Error>(std::move(error));
}

} // namespace

fs::path Home::tree(std::string_view id) const {
  const fs::path own = trees() / id;
  if (system.empty() || folder_exists(own) || !folder_exists(system / "trees" / id)) {
    return own;
  }
  return system / "trees" / id;
}

std::optional<Home> Home::system_home() const {
  return system.empty()
             ? std::nullopt
             : std::optional<Home>(Home{.root = system, .cache = cache, .is_system = true});
}

namespace {

Result<Home> private_home(const Environment& environment) {
  if (const auto own = environment.get("CUKIT_HOME")) {
    CUKIT_TRY_ASSIGN(const auto root, absolute_path(*own));
    // Without a trailing slash, so that paths made from it and printed look the same everywhere.
    const fs::path folder = root.has_filename() ? root : root.parent_path();
    return Home{folder, folder / "cache"};
  }
  CUKIT_TRY_ASSIGN(const fs::path data, xdg_folder(environment, "XDG_DATA_HOME", ".local/share"));
  CUKIT_TRY_ASSIGN(const fs::path cache, xdg_folder(environment, "XDG_CACHE_HOME", ".cache"));
  return Home{data / "cukit", cache / "cukit"};
}

} // namespace

Result<Home> find_home(const Environment& environment) {
  CUKIT_TRY_ASSIGN(auto home, private_home(environment));
  const auto system = system_root(environment);
  if (!system.empty() && system != home.root && folder_exists(system)) {
    CUKIT_TRY(check_system_store(system));
    // A folder of that name without a version is somebody's else.
    home.system = path_exists(system / "version") ? system : fs::path();
  }
  return home;
}

Result<Home> find_system_home(const Environment& environment) {
  const auto system = system_root(environment);
  if (system.empty()) {
    return fail(ErrorCode::usage, "CUKIT_SYSTEM_HOME says that there is no system store");
  }
  if (folder_exists(system)) {
    CUKIT_TRY(check_system_store(system));
  }
  return Home{.root = system, .cache = system / "cache", .is_system = true};
}

Result<void> prepare(const Home& home) {
  if (home.is_system) {
    CUKIT_TRY(check_system_owner(home.root));
  }
  CUKIT_TRY(check_home(home)); // before anything is made in a folder we do not understand
  CUKIT_TRY(check_folders(home));
  CUKIT_TRY(make_directories(home.root));
  const fs::path version = home.root / "version";
  if (!path_exists(version)) {
    CUKIT_TRY(write_file_atomic(version, fmt::format("{}\n", k_layout_version)));
  }
  for (const auto& folder : {home.store(), home.trees(), home.names(), home.reports(),
                             home.staging(), home.locks(), home.logs(), home.cache}) {
    CUKIT_TRY(make_directories(folder));
  }
  return {};
}

FileLock::WithoutLocks without_locks(const Home& home) {
  return home.no_lock ? FileLock::WithoutLocks::go_on : FileLock::WithoutLocks::refuse;
}

Result<FileLock> lock(const Home& home, const std::string& name, FileLock::Mode mode,
                      const std::stop_token& stop, const std::function<void(int)>& on_wait) {
  CUKIT_TRY(check_kept_folder(home.locks()));
  if (folder_exists(home.root)) {
    CUKIT_TRY(make_directories(home.locks())); // somebody may have removed it since prepare()
  }
  return FileLock::acquire(home.locks() / name, mode, stop, on_wait, without_locks(home));
}

} // namespace cukit::store

#include "venv/place.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "python/venv.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace cukit::venv {

namespace {

bool is_python_folder(std::string_view name) {
  return name.starts_with("python3");
}

void add_site(const fs::path& folder, std::vector<fs::path>& sites) {
  std::error_code error;
  auto real = fs::canonical(folder, error);
  if (!error && folder_exists(real) && std::find(sites.begin(), sites.end(), real) == sites.end()) {
    sites.push_back(std::move(real));
  }
}

bool holds_modules(const fs::path& folder) {
  const auto names = list_directory(folder).value_or(std::vector<std::string>());
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.ends_with(".dist-info"); });
}

/// The environment whose site-packages, bin/python or bin the path is; else the path.
fs::path prefix_of(const fs::path& path) {
  const auto name = path.filename().string();
  if (name == "site-packages" || name == "dist-packages") {
    const auto prefix = path.parent_path().parent_path().parent_path();
    const bool is_below_lib = is_python_folder(path.parent_path().filename().string());
    return is_below_lib ? prefix : path;
  }
  if (path.parent_path().filename() == "bin" && name.starts_with("python")) {
    return path.parent_path().parent_path();
  }
  return path;
}

/// The value of a key of pyvenv.cfg, in lower case.
std::string configured(const std::string& text, std::string_view wanted) {
  for (const auto line : split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals != std::string_view::npos && lower(trim(line.substr(0, equals))) == wanted) {
      return lower(trim(line.substr(equals + 1)));
    }
  }
  return {};
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto relative = path.lexically_relative(folder).string();
  return !relative.empty() && relative != ".." && !relative.starts_with("../");
}

void add_notes(Place& place) {
  std::error_code error;
  const auto real = fs::canonical(place.prefix, error);
  for (const auto& site : place.sites) {
    if (!error && !is_below(site, real)) {
      place.notes.push_back(fmt::format("its modules lie outside of it, in {}: a change there "
                                        "reaches whoever else uses that folder",
                                        site.string()));
    }
  }
  if (place.sees_base) {
    place.notes.emplace_back("it sees the packages of the Python it was made of too "
                             "(include-system-site-packages); those are not looked at here");
  }
}

} // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
  case Kind::venv:
    return "venv";
  case Kind::conda:
    return "conda";
  case Kind::system:
    return "system";
  case Kind::target:
    return "target";
  }
  return "";
}

Result<Place> find_place(const fs::path& path) {
  CUKIT_TRY_ASSIGN(auto absolute, absolute_path(path));
  if (!absolute.has_filename()) { // venv/
    absolute = absolute.parent_path();
  }
  Place place{.prefix = prefix_of(absolute)};
  for (const auto& folder : python::module_folders(place.prefix)) {
    add_site(folder, place.sites);
  }
  if (path_exists(place.prefix / "pyvenv.cfg")) {
    const auto text = read_file(place.prefix / "pyvenv.cfg", limits::k_manifest_bytes);
    place.sees_base = text && configured(*text, "include-system-site-packages") == "true";
  } else if (folder_exists(place.prefix / "conda-meta")) {
    place.kind = Kind::conda;
  } else {
    place.kind = Kind::system;
  }
  if (place.sites.empty() &&
      (holds_modules(place.prefix) || folder_exists(place.prefix / "nvidia"))) {
    place.kind = Kind::target;
    add_site(place.prefix, place.sites);
  }
  if (place.sites.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = path_exists(absolute)
                             ? fmt::format("{} is no Python environment", absolute.string())
                             : fmt::format("{} does not exist", absolute.string()),
              .where = absolute.string(),
              .hint = "name the folder that holds lib/python3.*/site-packages, or a folder that "
                      "`pip install --target` filled"});
  }
  add_notes(place);
  return place;
}

Result<void> check_changeable(const Place& place, const fs::path& folder) {
  const auto refuse = [&](std::string why, std::string hint) {
    return tl::unexpected<Error>(Error{.code = ErrorCode::host,
                                       .message = fmt::format("{} {}", folder.string(), why),
                                       .where = folder.string(),
                                       .hint = std::move(hint)});
  };
  std::error_code error;
  const auto real = fs::canonical(folder, error);
  const auto prefix = fs::canonical(place.prefix, error);
  if (error) {
    return fail_errno(error.value(), "cannot look at {}", folder.string());
  }
  if (real != prefix && !is_below(real, prefix)) {
    return refuse(fmt::format("is a link to {}, outside of this environment: a change there would "
                              "reach whoever else uses that folder",
                              real.string()),
                  fmt::format("name the environment that owns {}", real.string()));
  }
  struct statvfs system {};
  if (::statvfs(real.c_str(), &system) == 0 && (system.f_flag & ST_RDONLY) != 0) {
    return refuse("lies on a file system that is mounted read-only",
                  "do it where that file system is made, or use `cukit run TOOLKIT COMMAND`");
  }
  struct stat info {};
  if (::stat(real.c_str(), &info) != 0) {
    return fail_errno(errno, "cannot look at {}", real.string());
  }
  if (::access(real.c_str(), W_OK) != 0) {
    const bool is_others = info.st_uid != ::geteuid();
    return refuse(is_others ? fmt::format("belongs to another user (id {}), and this one may not "
                                          "write there",
                                          info.st_uid)
                            : "cannot be written to",
                  is_others ? "run the command as the owner of the environment"
                            : "allow it with `chmod u+w`, or use `cukit run TOOLKIT COMMAND`");
  }
  return {};
}

} // namespace cukit::venv

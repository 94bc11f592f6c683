#include "venv/wire.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "model/tree_layout.hpp"
#include "venv/marked.hpp"
#include "venv/wire_text.hpp"

#include <algorithm>
#include <unistd.h>

namespace cukit::venv {

namespace {

constexpr Marks k_wire{"wire"};
constexpr const char* k_pth = "cukit-venv.pth";
constexpr const char* k_off_csh = "off.csh";

/// A file that wiring changes or makes, and what is to stand there; nothing: it is not to exist.
struct Target {
  fs::path path;
  std::optional<std::string> before = {};
  std::optional<std::string> after = {};
};

Result<std::optional<std::string>> read_optional(const fs::path& file) {
  if (!path_exists(file)) {
    return std::optional<std::string>();
  }
  CUKIT_TRY_ASSIGN(auto text, read_file(file, limits::k_manifest_bytes));
  return std::optional(std::move(text));
}

struct Script {
  const char* name;
  HookShell shell;
};
constexpr Script k_activate[] = {{"activate", HookShell::sh},
                                 {"activate.fish", HookShell::fish},
                                 {"activate.csh", HookShell::csh}};
constexpr Script k_conda[] = {{"cukit-venv.sh", HookShell::sh},
                              {"cukit-venv.fish", HookShell::fish},
                              {"cukit-venv.csh", HookShell::csh}};

fs::path site_of(const Place& place) {
  const auto found = std::find_if(place.sites.begin(), place.sites.end(), [](const fs::path& site) {
    return site.filename() == "site-packages";
  });
  return found == place.sites.end() ? place.sites.front() : *found;
}

/// Every file that can have a hook of ours, with what is to stand there for `environment`, or
/// without one for none.
class Targets {
public:
  Targets(const Place& place, const exports::ToolkitEnvironment* environment, bool always)
      : place_(place), environment_(environment), always_(always) {}

  Result<std::vector<Target>> collect() {
    if (place_.kind == Kind::conda) {
      CUKIT_TRY(add_conda());
    } else if (place_.kind != Kind::target) {
      CUKIT_TRY(add_activate());
    }
    if (place_.kind != Kind::target) {
      CUKIT_TRY(add_own(site_of(place_) / k_pth, environment_ != nullptr && always_
                                                     ? std::optional(always_line(*environment_))
                                                     : std::nullopt));
    }
    return std::move(targets_);
  }
  [[nodiscard]] bool has_script() const { return has_script_; }

private:
  Result<void> add_activate() {
    bool has_csh = false;
    for (const auto& script : k_activate) {
      const auto file = place_.prefix / "bin" / script.name;
      CUKIT_TRY_ASSIGN(auto before, read_optional(file));
      if (!before) {
        continue;
      }
      has_script_ = true;
      has_csh = has_csh || script.shell == HookShell::csh;
      CUKIT_TRY_ASSIGN(auto after, without_marked(*before, k_wire, file.string()));
      if (environment_ != nullptr) {
        const auto off =
            fmt::format("\"$VIRTUAL_ENV:q/{}/{}\"", place_.state().filename().string(), k_off_csh);
        after =
            with_marked_at_end(after, hook_lines(*environment_, script.shell, off, after), k_wire);
      }
      targets_.push_back({file, std::move(before), std::move(after)});
    }
    return add_own(place_.state() / k_off_csh,
                   environment_ != nullptr && has_csh
                       ? std::optional(unhook_lines(*environment_, HookShell::csh))
                       : std::nullopt);
  }

  Result<void> add_conda() {
    has_script_ = true;
    for (const auto& script : k_conda) {
      std::optional<std::string> on;
      std::optional<std::string> off;
      if (environment_ != nullptr) {
        on = hook_lines(*environment_, script.shell, "", "");
        off = unhook_lines(*environment_, script.shell);
      }
      CUKIT_TRY(add_own(place_.prefix / "etc/conda/activate.d" / script.name, std::move(on)));
      CUKIT_TRY(add_own(place_.prefix / "etc/conda/deactivate.d" / script.name, std::move(off)));
    }
    return {};
  }

  /// A file that is cukit's alone.
  Result<void> add_own(const fs::path& file, std::optional<std::string> after) {
    CUKIT_TRY_ASSIGN(auto before, read_optional(file));
    targets_.push_back({file, std::move(before), std::move(after)});
    return {};
  }

  const Place& place_;
  const exports::ToolkitEnvironment* environment_;
  bool always_;
  bool has_script_ = false;
  std::vector<Target> targets_;
};

/// The nearest folder above a file that exists.
fs::path standing_folder(fs::path path) {
  do {
    path = path.parent_path();
  } while (!folder_exists(path) && path.has_relative_path());
  return path;
}

Result<void> put(const fs::path& path, const std::optional<std::string>& bytes) {
  if (bytes) {
    CUKIT_TRY(make_directories(path.parent_path()));
    return write_user_file(path, *bytes);
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail_errno(errno, "cannot remove {}", path.string());
  }
  // a folder that held nothing else; where it holds something this does nothing
  const auto folder = path.parent_path().filename();
  if (folder == "activate.d" || folder == "deactivate.d" || folder == ".cukit-venv") {
    static_cast<void>(::rmdir(path.parent_path().c_str()));
  }
  return {};
}

/// All of them, or none: when one cannot be written those before it are as they were.
Result<std::vector<Written>> write(const Place& place, const std::vector<Target>& targets) {
  for (const auto& target : targets) {
    if (target.before != target.after) {
      CUKIT_TRY(check_changeable(place, standing_folder(target.path)));
    }
  }
  std::vector<Written> result;
  for (const auto& target : targets) {
    if (target.before == target.after) {
      if (target.after) {
        result.push_back({target.path, false});
      }
      continue;
    }
    if (auto done = put(target.path, target.after); !done) {
      for (const auto& other : targets) {
        if (&other == &target) {
          break;
        }
        static_cast<void>(other.before == other.after ? Result<void>()
                                                      : put(other.path, other.before));
      }
      return tl::unexpected<Error>(
          std::move(done.error()).under("the environment was left as it was"));
    }
    result.push_back({target.path, true});
  }
  return result;
}

} // namespace

Result<std::vector<Written>> wire(const Place& place,
                                  const exports::ToolkitEnvironment& environment, bool always) {
  Targets targets(place, &environment, always);
  CUKIT_TRY_ASSIGN(const auto list, targets.collect());
  if (!targets.has_script() && (!always || place.kind == Kind::target)) {
    return tl::unexpected<Error>(Error{
        .code = ErrorCode::usage,
        .message = fmt::format("{} has no activate script, so nothing can set variables there",
                               place.prefix.string()),
        .where = place.prefix.string(),
        .hint = place.kind == Kind::target
                    ? "start the program with `cukit run TOOLKIT COMMAND`"
                    : "with --always its python sets them itself; else start the program "
                      "with `cukit run TOOLKIT COMMAND`"});
  }
  return write(place, list);
}

Result<std::vector<Written>> unwire(const Place& place) {
  CUKIT_TRY_ASSIGN(const auto list, Targets(place, nullptr, false).collect());
  return write(place, list);
}

Result<std::optional<Wiring>> find_wiring(const Place& place) {
  CUKIT_TRY_ASSIGN(const auto list, Targets(place, nullptr, false).collect());
  Wiring wiring;
  for (const auto& target : list) {
    if (!target.before || target.before == target.after) {
      continue;
    }
    wiring.files.push_back(target.path);
    wiring.always = wiring.always || target.path.filename() == k_pth;
    CUKIT_TRY_ASSIGN(const auto lines, marked_lines(*target.before, k_wire, target.path.string()));
    if (const auto tree = tree_in(lines.value_or(*target.before)); tree && wiring.tree.empty()) {
      wiring.tree = *tree;
    }
  }
  if (wiring.files.empty()) {
    return std::optional<Wiring>();
  }
  wiring.is_there = path_exists(wiring.tree / layout::k_nvcc);
  return std::optional(std::move(wiring));
}

} // namespace cukit::venv

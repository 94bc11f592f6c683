#include "exports/shells.hpp"

#include "base/strings.hpp"
#include "exports/quoting.hpp"
#include "exports/variable_files.hpp"
#include "model/shell_quote.hpp"
#include "text/json.hpp"

#include <algorithm>

namespace cukit::exports {

namespace {

/// Works in dash, bash and zsh, also under `set -eu`. A list of words is split from a command's
/// output alone, since zsh splits nothing else.
constexpr const char* k_off_sh = R"sh(_cukit_env_off() {
  for _cukit_n in $(printf '%s\n' "${CUKIT_ENV_NAMES-}"); do
    case $_cukit_n in [0-9]* | *[!A-Za-z0-9_]*) continue ;; esac
    if eval "[ -n \"\${CUKIT_ENV_OLD_$_cukit_n+x}\" ]"; then
      eval "export $_cukit_n=\"\$CUKIT_ENV_OLD_$_cukit_n\""
      unset "CUKIT_ENV_OLD_$_cukit_n"
    else
      unset "$_cukit_n"
    fi
  done
  if [ -n "${CUKIT_ENV_TREE-}" ]; then
    for _cukit_n in PATH _OLD_VIRTUAL_PATH; do
      eval "_cukit_l=:\${$_cukit_n-}:"
      while :; do
        case $_cukit_l in
          *":$CUKIT_ENV_TREE/bin:"*)
            _cukit_h=${_cukit_l%%":$CUKIT_ENV_TREE/bin:"*}
            _cukit_l=$_cukit_h:${_cukit_l#*":$CUKIT_ENV_TREE/bin:"} ;;
          *) break ;;
        esac
      done
      _cukit_l=${_cukit_l#:}
      _cukit_l=${_cukit_l%:}
      if [ -n "$_cukit_l" ]; then eval "$_cukit_n=\$_cukit_l"; fi
    done
  fi
  unset CUKIT_ENV_TREE CUKIT_ENV_NAMES _cukit_n _cukit_l _cukit_h
}
_cukit_env_off
)sh";

/// A venv's `deactivate` resets PATH: what was set beside it goes with it.
constexpr const char* k_deactivate_sh =
    R"sh(if [ -n "${VIRTUAL_ENV-}" ] && [ -n "${BASH_VERSION-}${ZSH_VERSION-}" ]; then
  _cukit_d=$(typeset -f deactivate 2>/dev/null || :)
  case $_cukit_d in
    '' | *_cukit_env_off*) ;;
    *)
      _cukit_h=${_cukit_d%%\{*}
      _cukit_d=${_cukit_d#*\{}
      eval "$_cukit_h{ _cukit_env_off; $_cukit_d"
      unset _cukit_h ;;
  esac
  unset _cukit_d
fi
)sh";

constexpr const char* k_off_fish = R"fish(function _cukit_env_off
  for _cukit_n in (string split -n ' ' -- "$CUKIT_ENV_NAMES")
    string match -qr '^[A-Za-z_][A-Za-z0-9_]*$' -- $_cukit_n; or continue
    set -l _cukit_old CUKIT_ENV_OLD_$_cukit_n
    if set -q $_cukit_old
      set -gx $_cukit_n $$_cukit_old
      set -eg $_cukit_old
    else
      set -eg $_cukit_n
    end
  end
  if set -q CUKIT_ENV_TREE
    for _cukit_n in PATH _OLD_VIRTUAL_PATH
      set -q $_cukit_n; or continue
      set -l _cukit_kept
      for _cukit_folder in $$_cukit_n
        test "$_cukit_folder" = "$CUKIT_ENV_TREE/bin"; or set -a _cukit_kept $_cukit_folder
      end
      set -g $_cukit_n $_cukit_kept
    end
  end
  set -eg CUKIT_ENV_TREE
  set -eg CUKIT_ENV_NAMES
end
_cukit_env_off
)fish";

constexpr const char* k_deactivate_fish =
    R"fish(if set -q VIRTUAL_ENV; and functions -q deactivate; and not functions deactivate | string match -q '*_cukit_env_off*'
  functions -q _cukit_venv_deactivate; and functions -e _cukit_venv_deactivate
  functions -c deactivate _cukit_venv_deactivate
  function deactivate
    _cukit_env_off
    _cukit_venv_deactivate $argv
    functions -e _cukit_venv_deactivate
  end
end
)fish";

std::string quoted_fish(std::string_view value) {
  std::string result = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + "'";
}

std::string set_fish(const Variable& variable) {
  const auto value = quoted_fish(variable.value);
  if (variable.joins == Joins::nothing) {
    return fmt::format("set -gx {} {}\n", variable.name, value);
  }
  if (variable.name.ends_with("PATH")) { // a list of its own kind there
    return fmt::format("set -gx {0} {1} ${0}\n", variable.name, value);
  }
  const auto joined = variable.joins == Joins::before
                          ? fmt::format("{}\":${}\"", value, variable.name)
                          : fmt::format("\"${} \"{}", variable.name, value);
  return fmt::format("if test -n \"${0}\"; set -gx {0} {1}; else; set -gx {0} {2}; end\n",
                     variable.name, joined, value);
}

/// Everything but PATH, whose own part alone is taken back.
std::string saved_names(const ToolkitEnvironment& environment,
                        const std::vector<Removal>& removed) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (name != "PATH" && is_shell_name(name) &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const auto& removal : removed) {
    add(removal.name);
  }
  for (const auto& variable : environment.set) {
    add(variable.name);
  }
  return join(names, " ");
}

std::string lines_sh(const ToolkitEnvironment& environment, const std::vector<Removal>& removed,
                     bool for_all_users) {
  const auto names = saved_names(environment, removed);
  auto out = fmt::format("{0}export {1}={2} {3}={4}\n"
                         "for _cukit_n in {5}; do\n"
                         "  if eval \"[ -n \\\"\\${{$_cukit_n+x}}\\\" ]\"; then\n"
                         "    eval \"export {6}$_cukit_n=\\\"\\$$_cukit_n\\\"\"\n"
                         "  fi\n"
                         "done\nunset _cukit_n\n",
                         k_off_sh, k_tree_variable, single_quoted(environment.tree.string()),
                         k_names_variable, single_quoted(names), names, k_old_prefix);
  for (const auto& removal : removed) {
    if (!is_shell_name(removal.name)) {
      continue; // nor did a shell set it
    }
    out += removal.rest ? fmt::format("export {}={}\n", removal.name, single_quoted(*removal.rest))
                        : fmt::format("unset {}\n", removal.name);
  }
  for (const auto& variable : environment.set) {
    const auto cache = for_all_users ? below_user_cache(environment, variable) : std::nullopt;
    out += !is_shell_name(variable.name) ? std::string()
           : cache ? fmt::format("export {}=\"${{XDG_CACHE_HOME:-${{HOME-}}/.cache}}\"{}\n",
                                 variable.name, single_quoted("/" + *cache))
                   : set_sh(variable);
  }
  return out + k_deactivate_sh;
}

std::string lines_fish(const ToolkitEnvironment& environment, const std::vector<Removal>& removed) {
  const auto names = saved_names(environment, removed);
  auto out = fmt::format("{0}set -gx {1} {2}\nset -gx {3} {4}\n"
                         "for _cukit_n in {5}\n"
                         "  set -q $_cukit_n; and set -gx {6}$_cukit_n $$_cukit_n\n"
                         "end\nset -e _cukit_n\n",
                         k_off_fish, k_tree_variable, quoted_fish(environment.tree.string()),
                         k_names_variable, quoted_fish(names), names, k_old_prefix);
  for (const auto& removal : removed) {
    if (!is_shell_name(removal.name)) {
      continue;
    }
    out += removal.rest ? fmt::format("set -gx {} {}\n", removal.name, quoted_fish(*removal.rest))
                        : fmt::format("set -eg {}\n", removal.name);
  }
  for (const auto& variable : environment.set) {
    out += is_shell_name(variable.name) ? set_fish(variable) : std::string();
  }
  return out + k_deactivate_fish;
}

/// csh expands a variable before it looks at the condition in front, so nothing is left to it: what
/// it must set is worked out from its environment. Each line can be evaluated behind the one
/// before.
std::string lines_csh(const Environment& before, const Environment& after) {
  std::string out;
  for (const auto& [name, value] : after.values()) {
    const auto old = before.values().find(name);
    if (is_shell_name(name) && (old == before.values().end() || old->second != value)) {
      out += fmt::format("setenv {} {};\n", name, quoted_csh(value));
    }
  }
  for (const auto& [name, value] : before.values()) {
    if (is_shell_name(name) && !after.values().contains(name)) {
      out += fmt::format("unsetenv {};\n", name);
    }
  }
  return out;
}

/// What differs, without the record that taking back needs: a file outlives the shell it is about.
std::string difference(Shell shell, const Environment& before, const Environment& after) {
  auto set = text::Json::object();
  auto unset = text::Json::list();
  std::string lines;
  for (const auto& [name, value] : after.values()) {
    const auto old = before.values().find(name);
    if (name.starts_with("CUKIT_ENV_") || (old != before.values().end() && old->second == value)) {
      continue;
    }
    set.set(name, value);
    lines += fmt::format("{}={}\n", name, value);
  }
  for (const auto& [name, value] : before.values()) {
    if (!after.values().contains(name) && !name.starts_with("CUKIT_ENV_")) {
      unset.add(name);
    }
  }
  return shell == Shell::plain ? lines
                               : text::Json::object()
                                         .set("schema", "cukit.env/1")
                                         .set("set", set)
                                         .set("unset", unset)
                                         .dump() +
                                     "\n";
}

/// As applying to `current` gives it, with every variable of the toolkit, changed or not.
std::string applied(const ToolkitEnvironment& environment, Shell shell,
                    const Environment& current) {
  auto before = current;
  const auto after = apply(environment, current);
  for (const auto& variable : environment.set) {
    before.unset(variable.name);
  }
  return difference(shell, before, after);
}

} // namespace

std::string quoted(Shell shell, std::string_view value) {
  return shell == Shell::fish  ? quoted_fish(value)
         : shell == Shell::csh ? quoted_csh(value)
                               : single_quoted(value);
}

Result<Shell> parse_shell(std::string_view name) {
  if (name == "sh" || name == "bash" || name == "zsh") {
    return Shell::sh;
  }
  if (name == "fish") {
    return Shell::fish;
  }
  if (name == "csh" || name == "tcsh") {
    return Shell::csh;
  }
  if (name == "json") {
    return Shell::json;
  }
  if (name == "plain") {
    return Shell::plain;
  }
  auto error = Error{.code = ErrorCode::usage,
                     .message = fmt::format("`{}` is no shell that `cukit env` writes for", name)};
  error.hint = "use sh, bash, zsh, fish, csh, json or plain, or a file's form: " +
               join(names_of_variable_files(), ", ");
  return tl::unexpected<Error>(std::move(error));
}

bool is_evaluated(Shell shell) {
  return shell == Shell::sh || shell == Shell::fish || shell == Shell::csh;
}

std::string why_no_line(const ToolkitEnvironment& environment, Shell shell,
                        const Environment& current) {
  if (shell != Shell::csh && shell != Shell::plain) {
    return {};
  }
  const auto after = apply(environment, current);
  for (const auto& [name, value] : after.values()) {
    const auto old = current.values().find(name);
    const bool is_written = old == current.values().end() || old->second != value;
    const bool is_record = name.starts_with("CUKIT_ENV_");
    if (is_written && (shell == Shell::csh || !is_record) &&
        value.find_first_of("\r\n") != std::string::npos) {
      return fmt::format("{} holds a line end, which a line of that form cannot hold",
                         is_record ? name.substr(std::string_view(k_old_prefix).size()) : name);
    }
  }
  return {};
}

std::string print(const ToolkitEnvironment& environment, Shell shell, const Environment& current) {
  if (shell == Shell::json || shell == Shell::plain) {
    return applied(environment, shell, current);
  }
  if (shell == Shell::csh) {
    return lines_csh(current, apply(environment, current));
  }
  const auto removed = removals(environment, take_back(current));
  return shell == Shell::sh ? lines_sh(environment, removed, false)
                            : lines_fish(environment, removed);
}

std::string print_profile(const ToolkitEnvironment& environment) {
  return lines_sh(environment, {}, true);
}

std::string print_unset(Shell shell, const Environment& current) {
  switch (shell) {
  case Shell::sh:
    return k_off_sh;
  case Shell::fish:
    return k_off_fish;
  case Shell::csh:
    return lines_csh(current, take_back(current));
  default:
    return difference(shell, current, take_back(current));
  }
}

std::vector<std::string> names_beyond_shells(const ToolkitEnvironment& environment) {
  std::vector<std::string> names;
  for (const auto& variable : environment.set) {
    if (!is_shell_name(variable.name)) {
      names.push_back(variable.name);
    }
  }
  return names;
}

} // namespace cukit::exports

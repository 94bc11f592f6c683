#include "venv/wire_text.hpp"

#include "base/strings.hpp"
#include "exports/shells.hpp"
#include "model/tree_layout.hpp"

#include <algorithm>

namespace cukit::venv {

namespace {

constexpr std::string_view k_tree_line = "# toolkit: ";

std::string tree_line(const exports::ToolkitEnvironment& environment) {
  return fmt::format("{}{}\n", k_tree_line, environment.tree.string());
}

constexpr const char* k_gone = "cukit: the toolkit of this environment is gone; "
                               "`cukit venv wire` or `cukit venv unwire` mends that";

std::string quoted_csh(std::string_view value) {
  return exports::quoted(exports::Shell::csh, value);
}

/// Variables that any shell can set.
std::vector<exports::Variable> settable(const exports::ToolkitEnvironment& environment) {
  const auto beyond = exports::names_beyond_shells(environment);
  std::vector<exports::Variable> result;
  for (const auto& variable : environment.set) {
    if (std::find(beyond.begin(), beyond.end(), variable.name) == beyond.end()) {
      result.push_back(variable);
    }
  }
  return result;
}

/// What `deactivate` of an activate script does, as the body of a function, or nothing.
std::string body_of_deactivate(std::string_view script) {
  for (const std::string_view head : {"deactivate () {\n", "deactivate() {\n"}) {
    const auto at = script.starts_with(head) ? 0 : script.find(fmt::format("\n{}", head));
    const auto end = at == std::string_view::npos ? at : script.find("\n}\n", at);
    if (end != std::string_view::npos) {
      const auto begin = script.find(head, at) + head.size();
      return std::string(script.substr(begin, end + 1 - begin));
    }
  }
  return {};
}

/// A shell that cannot say what a function does (dash) gets a second copy of it, to be called after
/// the variables were taken back.
std::string sh_deactivate(std::string_view script) {
  const auto body = body_of_deactivate(script);
  return body.empty() ? body
                      : fmt::format("if [ -z \"${{BASH_VERSION-}}${{ZSH_VERSION-}}\" ]; then\n"
                                    "_cukit_venv_deactivate() {{\n{}}}\n"
                                    "deactivate() {{ _cukit_env_off; _cukit_venv_deactivate "
                                    "\"$@\"; }}\nfi\n",
                                    body);
}

std::string csh_set(const exports::Variable& variable) {
  const auto value = quoted_csh(variable.value);
  if (variable.joins == exports::Joins::nothing) {
    return fmt::format("  setenv {} {}\n", variable.name, value);
  }
  const auto joined = variable.joins == exports::Joins::before
                          ? fmt::format("{}\":$CUKIT_ENV_OLD_{}:q\"", value, variable.name)
                          : fmt::format("\"$CUKIT_ENV_OLD_{}:q \"{}", variable.name, value);
  return fmt::format("  if ($?CUKIT_ENV_OLD_{0}) then\n    setenv {0} {1}\n  else\n    setenv {0} "
                     "{2}\n  endif\n",
                     variable.name, joined, value);
}

std::string csh_lines(const exports::ToolkitEnvironment& environment, const std::string& off) {
  std::string out; // an activation after an activation is one
  if (!off.empty()) {
    out = fmt::format("if ($?{}) then\n  source {}\nendif\n", exports::k_tree_variable, off);
  }
  out += fmt::format("if (-x {}) then\n", quoted_csh((environment.tree / layout::k_nvcc).string()));
  std::string names;
  for (const auto& variable : settable(environment)) {
    if (variable.name == "PATH") {
      out += fmt::format("  setenv PATH {}\":$PATH:q\"\n", quoted_csh(variable.value));
      continue;
    }
    out += fmt::format("  if ($?{0}) then\n    setenv CUKIT_ENV_OLD_{0} \"${0}:q\"\n  endif\n",
                       variable.name);
    out += csh_set(variable);
    names += (names.empty() ? "" : " ") + variable.name;
  }
  out += fmt::format("  setenv {} {}\n  setenv {} {}\n", exports::k_tree_variable,
                     quoted_csh(environment.tree.string()), exports::k_names_variable,
                     quoted_csh(names));
  if (!off.empty()) {
    out += fmt::format("  alias _cukit_venv_deactivate \"`alias deactivate`\"\n"
                       "  alias deactivate 'source {}; _cukit_venv_deactivate \\!*'\n",
                       off);
  }
  // csh has no way to standard error of its own
  return out + fmt::format("else\n  /bin/sh -c 'echo \"$0\" >&2' {}\nendif\n", quoted_csh(k_gone));
}

std::string csh_off(const exports::ToolkitEnvironment& environment) {
  std::string out;
  for (const auto& variable : settable(environment)) {
    if (variable.name != "PATH") {
      out += fmt::format("unsetenv {0}\nif ($?CUKIT_ENV_OLD_{0}) then\n"
                         "  setenv {0} \"$CUKIT_ENV_OLD_{0}:q\"\n  unsetenv CUKIT_ENV_OLD_{0}\n"
                         "endif\n",
                         variable.name);
    }
  }
  return out + fmt::format("set _cukit_p = ()\nforeach _cukit_d ($path:q)\n"
                           "  if (\"$_cukit_d\" != {}) set _cukit_p = ($_cukit_p:q \"$_cukit_d\")\n"
                           "end\nset path = ($_cukit_p:q)\nunset _cukit_p _cukit_d\n"
                           "unsetenv {}\nunsetenv {}\n",
                           quoted_csh((environment.tree / "bin").string()),
                           exports::k_tree_variable, exports::k_names_variable);
}

/// A text as Python writes it in ASCII: a .pth is read in whatever encoding the locale has.
std::string python_text(std::string_view value) {
  std::string bytes;
  bool is_ascii = true;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      bytes += fmt::format("\\x{:02x}", byte);
      is_ascii = is_ascii && byte < 0x7f;
    } else {
      bytes += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
  }
  return is_ascii ? fmt::format("\"{}\"", bytes) : fmt::format("os.fsdecode(b\"{}\")", bytes);
}

std::string python_value(const exports::Variable& variable) {
  const auto value = python_text(variable.value);
  const auto name = python_text(variable.name);
  switch (variable.joins) {
  case exports::Joins::nothing:
    break;
  case exports::Joins::before:
    if (variable.name == "PATH") { // without one, programs are looked for in these folders
      return fmt::format("{}+\":\"+(e.get({}) or os.defpath)", value, name);
    }
    return fmt::format("{0}+(\":\"+e[{1}] if e.get({1}) else \"\")", value, name);
  case exports::Joins::after:
    return fmt::format("(e[{1}]+\" \" if e.get({1}) else \"\")+{0}", value, name);
  }
  return value;
}

} // namespace

std::string hook_lines(const exports::ToolkitEnvironment& environment, HookShell shell,
                       const std::string& off, std::string_view script) {
  const auto nvcc = (environment.tree / layout::k_nvcc).string();
  const auto head = tree_line(environment);
  using exports::Shell;
  switch (shell) {
  case HookShell::sh:
    return head + fmt::format("if [ -x {} ]; then\n{}{}else\n  echo {} >&2\nfi\n",
                              exports::quoted(Shell::sh, nvcc),
                              exports::print(environment, Shell::sh, {}), sh_deactivate(script),
                              exports::quoted(Shell::sh, k_gone));
  case HookShell::fish:
    return head + fmt::format("if test -x {}\n{}else\n  echo {} >&2\nend\n",
                              exports::quoted(Shell::fish, nvcc),
                              exports::print(environment, Shell::fish, {}),
                              exports::quoted(Shell::fish, k_gone));
  case HookShell::csh:
    return head + csh_lines(environment, off);
  }
  return {};
}

std::string unhook_lines(const exports::ToolkitEnvironment& environment, HookShell shell) {
  switch (shell) {
  case HookShell::sh:
    return exports::print_unset(exports::Shell::sh, {});
  case HookShell::fish:
    return exports::print_unset(exports::Shell::fish, {});
  case HookShell::csh:
    return csh_off(environment);
  }
  return {};
}

std::string always_line(const exports::ToolkitEnvironment& environment) {
  std::string items;
  for (const auto& variable : environment.set) {
    items += fmt::format("{}{}:{}", items.empty() ? "" : ",", python_text(variable.name),
                         python_value(variable));
  }
  return fmt::format("import os;e=os.environ;t={};e.get(\"CUDA_HOME\") or e.get(\"CUDA_PATH\") or "
                     "not os.path.exists(t+\"/bin/nvcc\") or e.update({{{}}})\n",
                     python_text(environment.tree.string()), items);
}

std::optional<std::string> tree_in(std::string_view lines) {
  for (const auto line : split(lines, '\n')) {
    if (line.starts_with(k_tree_line)) {
      return std::string(line.substr(k_tree_line.size()));
    }
  }
  constexpr std::string_view before = ";t=\"";
  const auto at = lines.find(before);
  const auto end = at == std::string_view::npos ? at : lines.find("\";e.get", at);
  return end == std::string_view::npos
             ? std::nullopt
             : std::optional(
                   std::string(lines.substr(at + before.size(), end - at - before.size())));
}

} // namespace cukit::venv

#include "exports/variable_files.hpp"

#include "base/strings.hpp"
#include "exports/quoting.hpp"
#include "exports/shells.hpp"

#include <algorithm>
#include <array>

namespace cukit::exports {

namespace {

struct FileForm {
  VariableFile file;
  std::string_view name;
  std::string_view taken_back;
  bool any_name; ///< else names that a shell can set
};

constexpr std::array k_forms = {
    FileForm{VariableFile::docker, "docker", "take its lines out of the Dockerfile", true},
    FileForm{VariableFile::dotenv, "dotenv", "remove the file", true},
    FileForm{VariableFile::github_env, "github-env", "the job's end takes it back", true},
    FileForm{VariableFile::github_path, "github-path", "the job's end takes it back", true},
    FileForm{VariableFile::direnv, "direnv", "leave the folder, or remove .envrc", false},
    FileForm{VariableFile::modules, "modules", "use `module unload`", true},
    FileForm{VariableFile::lmod, "lmod", "use `module unload`", true},
    FileForm{VariableFile::systemd, "systemd", "remove the drop-in and reload", false},
    FileForm{VariableFile::profile, "profile",
             "remove the file; in a shell that has read it, --unset without --shell does", false},
};

const FileForm& form_of(VariableFile file) {
  return *std::find_if(k_forms.begin(), k_forms.end(),
                       [&](const FileForm& one) { return one.file == file; });
}

constexpr std::string_view k_usual_path =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::string join_text(const Variable& variable) {
  return variable.joins == Joins::before ? ":" : " ";
}

/// In BuildKit's words `\` is an escape within double quotes alone, and only before \ " and $.
std::string docker_line(const Variable& variable) {
  auto value = quoted_twice(variable.value, "\\\"$");
  value.pop_back();
  if (variable.name == "PATH") {
    return fmt::format("ENV PATH={}:${{PATH:-{}}}\"\n", value, k_usual_path);
  }
  switch (variable.joins) {
  case Joins::before:
    return fmt::format("ENV {0}={1}${{{0}:+:${{{0}}}}}\"\n", variable.name, value);
  case Joins::after:
    return fmt::format("ENV {0}=\"${{{0}:+${{{0}}} }}{1}\"\n", variable.name, value.substr(1));
  case Joins::nothing:
    break;
  }
  return fmt::format("ENV {}={}\"\n", variable.name, value);
}

/// Readers differ in what \ and $ mean, and agree where neither could be meant.
Result<std::string> dotenv_value(const std::string& name, const std::string& value) {
  if (value.find_first_of("'\\") == std::string::npos) {
    return "'" + value + "'";
  }
  if (value.find_first_of("\"\\$`") == std::string::npos) {
    return "\"" + value + "\"";
  }
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::usage,
            .message = fmt::format("the value of {} has characters that readers of such files take "
                                   "differently: {}",
                                   name, printable(value)),
            .hint = "--shell plain has it as it is, and `cukit run` needs no file"});
}

/// Lines of NAME=VALUE for one run: what a program started by `cukit run` would have.
Result<std::string> for_one_run(const ToolkitEnvironment& environment, VariableFile file,
                                const Environment& current) {
  if (file == VariableFile::github_path) {
    return environment.tree.string() + "/bin\n";
  }
  const auto after = apply(environment, current);
  std::string out;
  for (const auto& [name, value] : after.values()) {
    const auto old = current.values().find(name);
    const bool is_set =
        std::any_of(environment.set.begin(), environment.set.end(),
                    [&, &wanted = name](const Variable& one) { return one.name == wanted; });
    const bool differs = old == current.values().end() || old->second != value;
    if (name.starts_with("CUKIT_ENV_") || (!is_set && !differs)) {
      continue;
    }
    if (file == VariableFile::github_env) {
      out += name == "PATH" ? std::string() : fmt::format("{}={}\n", name, value);
    } else {
      CUKIT_TRY_ASSIGN(const auto quoted, dotenv_value(name, value));
      out += fmt::format("{}={}\n", name, quoted);
    }
  }
  return out;
}

/// direnv's own PATH_add does not come back from a path with a backslash.
std::string direnv_lines(const ToolkitEnvironment& environment) {
  std::string out;
  for (const auto& variable : environment.set) {
    out += is_shell_name(variable.name) ? set_sh(variable) : std::string();
  }
  return out;
}

std::string modules_lines(const ToolkitEnvironment& environment, const std::string& title) {
  const auto quoted = [](std::string_view value) { return quoted_twice(value, "\\\"$[]{}"); };
  auto out = fmt::format(
      "#%Module1.0\n"
      "module-whatis {0}\n"
      "proc ModulesHelp {{}} {{ puts stderr {0} }}\n"
      "# pushenv gives back what was there before; Modules before 5.1 have no such command\n"
      "set cukit_set [expr {{[llength [info commands pushenv]] ? \"pushenv\" : \"setenv\"}}]\n"
      "set cukit_cache \"\"\n"
      "if {{[info exists ::env(XDG_CACHE_HOME)]}} {{\n"
      "  set cukit_cache $::env(XDG_CACHE_HOME)\n"
      "}} elseif {{[info exists ::env(HOME)]}} {{\n"
      "  set cukit_cache $::env(HOME)/.cache\n"
      "}}\n",
      quoted(title));
  std::string caches;
  for (const auto& variable : environment.set) {
    if (const auto cache = below_user_cache(environment, variable)) {
      caches += fmt::format("  $cukit_set {} \"$cukit_cache{}\n", variable.name,
                            quoted("/" + *cache).substr(1)); // one word of both parts
    } else if (variable.joins == Joins::before) {
      out += fmt::format("prepend-path {} {}\n", variable.name, quoted(variable.value));
    } else if (variable.joins == Joins::after) {
      out += fmt::format("append-path -d \" \" {} {}\n", variable.name, quoted(variable.value));
    } else {
      out += fmt::format("$cukit_set {} {}\n", variable.name, quoted(variable.value));
    }
  }
  return caches.empty() ? out : out + "if {$cukit_cache ne \"\"} {\n" + caches + "}\n";
}

std::string lmod_lines(const ToolkitEnvironment& environment, const std::string& title) {
  const auto quoted = [](std::string_view value) { return quoted_twice(value, "\\\""); };
  auto out = fmt::format("whatis({0})\nhelp({0})\n"
                         "local cache = os.getenv(\"XDG_CACHE_HOME\")\n"
                         "local home = os.getenv(\"HOME\")\n"
                         "if not cache and home then cache = home .. \"/.cache\" end\n",
                         quoted(title));
  for (const auto& variable : environment.set) {
    if (const auto cache = below_user_cache(environment, variable)) {
      out += fmt::format("if cache then pushenv(\"{}\", cache .. {}) end\n", variable.name,
                         quoted("/" + *cache));
    } else if (variable.joins == Joins::nothing) {
      out += fmt::format("pushenv(\"{}\", {})\n", variable.name, quoted(variable.value));
    } else {
      out += fmt::format("{}_path(\"{}\", {}, \"{}\")\n",
                         variable.joins == Joins::before ? "prepend" : "append", variable.name,
                         quoted(variable.value), join_text(variable));
    }
  }
  return out;
}

std::string systemd_lines(const ToolkitEnvironment& environment) {
  const auto assignment = [](const std::string& name, std::string value,
                             std::string_view specifier) {
    std::string doubled;
    for (const char c : value) {
      doubled += c == '%' ? std::string("%%") : std::string(1, c);
    }
    auto text = quoted_twice(name + "=" + std::string(specifier) + doubled, "\\\"");
    return "Environment=" + text + "\n";
  };
  std::string out = "[Service]\n";
  for (const auto& variable : environment.set) {
    if (!is_shell_name(variable.name)) {
      continue;
    }
    const auto cache = below_user_cache(environment, variable);
    out += cache ? assignment(variable.name, "/" + *cache, "%C")
           : variable.name == "PATH"
               ? assignment("PATH", variable.value + ":" + std::string(k_usual_path), "")
               : assignment(variable.name, variable.value, "");
  }
  return out;
}

/// What a line cannot hold, whichever the format: the value that it has there.
Result<void> refuse_line_ends(const ToolkitEnvironment& environment, VariableFile file,
                              const Environment& current) {
  if (const auto why =
          why_no_line(environment, Shell::plain, is_for_one_run(file) ? current : Environment());
      !why.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = why,
              .hint = "use --shell sh, fish or json, which quote it, or `cukit run`"});
  }
  for (const auto& variable : environment.set) {
    if (file == VariableFile::systemd && !is_utf8(variable.value)) {
      return tl::unexpected<Error>(Error{
          .code = ErrorCode::usage,
          .message = fmt::format("{} is not UTF-8, which systemd does not take", variable.name),
          .hint = "a toolkit can be moved: rename the folder"});
    }
  }
  return {};
}

} // namespace

std::vector<std::string> names_of_variable_files() {
  std::vector<std::string> names;
  for (const auto& form : k_forms) {
    names.emplace_back(form.name);
  }
  return names;
}

std::optional<VariableFile> parse_variable_file(std::string_view name) {
  for (const auto& form : k_forms) {
    if (form.name == name) {
      return form.file;
    }
  }
  return std::nullopt;
}

bool is_for_one_run(VariableFile file) {
  return file == VariableFile::dotenv || file == VariableFile::github_env ||
         file == VariableFile::github_path;
}

std::string_view how_to_take_back(VariableFile file) {
  return form_of(file).taken_back;
}

Result<std::string> write_variable_file(const ToolkitEnvironment& environment, VariableFile file,
                                        const Environment& current, const std::string& title) {
  CUKIT_TRY(refuse_line_ends(environment, file, current));
  const auto comment = "# " + title + "\n";
  switch (file) {
  case VariableFile::docker: {
    auto out = comment;
    for (const auto& variable : environment.set) {
      out += below_user_cache(environment, variable) ? std::string() : docker_line(variable);
    }
    return out;
  }
  case VariableFile::dotenv: {
    CUKIT_TRY_ASSIGN(const auto lines, for_one_run(environment, file, current));
    return comment + lines;
  }
  case VariableFile::github_env:
  case VariableFile::github_path:
    return for_one_run(environment, file, current);
  case VariableFile::direnv:
    return comment + direnv_lines(environment);
  case VariableFile::modules:
    return modules_lines(environment, title);
  case VariableFile::lmod:
    return "-- " + title + "\n" + lmod_lines(environment, title);
  case VariableFile::systemd:
    return comment + systemd_lines(environment);
  case VariableFile::profile:
    return comment + print_profile(environment);
  }
  return std::string();
}

std::map<std::string, std::string> image_variables(const ToolkitEnvironment& environment,
                                                   const std::map<std::string, std::string>& base) {
  auto result = base;
  result.try_emplace("PATH", k_usual_path);
  for (const auto& variable : environment.set) {
    if (below_user_cache(environment, variable)) {
      continue;
    }
    auto& value = result[variable.name];
    if (value.empty() || variable.joins == Joins::nothing) {
      value = variable.value;
    } else {
      value = variable.joins == Joins::before ? variable.value + join_text(variable) + value
                                              : value + join_text(variable) + variable.value;
    }
  }
  return result;
}

std::vector<std::string> names_beyond(const ToolkitEnvironment& environment, VariableFile file) {
  return form_of(file).any_name ? std::vector<std::string>() : names_beyond_shells(environment);
}

} // namespace cukit::exports

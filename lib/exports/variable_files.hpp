// A toolkit's variables as a file that another program reads, at another time: what its format
// cannot hold is refused by name. Files for one run (dotenv, github-*) have the caller's own part
// of lists in them, as plain lines have; the others join with what their reader has, hold nothing
// of whoever wrote them, and leave JIT caches to each user.
#pragma once

#include "exports/environment.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::exports {

enum class VariableFile {
  docker,      ///< ENV lines of a Dockerfile; JIT caches stay where the image has them
  dotenv,      ///< NAME='value', as python-dotenv, Node's dotenv, Compose and shells all read it
  github_env,  ///< lines for the file that GITHUB_ENV names; PATH is not among them
  github_path, ///< for the file that GITHUB_PATH names
  direnv,      ///< .envrc of the caller, with the own JIT caches
  modules,     ///< a modulefile of Environment Modules (Tcl)
  lmod,        ///< one of Lmod (Lua)
  systemd,     ///< a drop-in for a service; PATH is the whole of it, since nothing joins there
  profile,     ///< a file of /etc/profile.d
};

std::vector<std::string> names_of_variable_files();
std::optional<VariableFile> parse_variable_file(std::string_view name);
/// Whether the caller's environment has a part in it.
bool is_for_one_run(VariableFile file);
/// How the file's reader takes it back.
std::string_view how_to_take_back(VariableFile file);

/// `title` goes into a comment or a description where the format has one. An error of code usage
/// names a variable whose value the format cannot hold.
Result<std::string> write_variable_file(const ToolkitEnvironment& environment, VariableFile file,
                                        const Environment& current, const std::string& title);
/// The variables of an image whose own are `base`: lists are joined with those, and JIT caches stay
/// where the image has them.
std::map<std::string, std::string> image_variables(const ToolkitEnvironment& environment,
                                                   const std::map<std::string, std::string>& base);
/// Names that the format's reader does not take; they are left out.
std::vector<std::string> names_beyond(const ToolkitEnvironment& environment, VariableFile file);

} // namespace cukit::exports

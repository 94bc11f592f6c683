// The head of a diagnostic: where, who, how bad; what stands behind it is its text. Private.
#pragma once

#include <string>
#include <string_view>

namespace cukit::buildlog {

enum class Severity { none, note, warning, error };

struct Head {
  Severity severity = Severity::none;
  std::string tool = {}; ///< the program that said it, or what its form tells: nvcc, ptxas, Python
  std::string exception = {}; ///< ModuleNotFoundError, CondaError ...
  std::string file = {};      ///< x.cu of x.cu:3:10: or x.cu(3):
  bool has_place = false;     ///< a line number stood there
  bool is_fatal = false;
  std::string_view text = {}; ///< into the line that was given
};

/// `line` has plain quotes and no prefix.
Head head_of(std::string_view line);

/// A shell, or a program that starts others: whose `X: No such file` is about a program.
bool starts_programs(std::string_view tool);
bool is_linker(std::string_view tool);
bool is_host_compiler(std::string_view tool);
/// gcc of /usr/bin/x86_64-linux-gnu-gcc-12, ld of ld.bfd; the name itself of what is not known.
std::string tool_of(std::string_view program);

} // namespace cukit::buildlog

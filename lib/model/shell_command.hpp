// A command that cukit prints for a person, as words and never as text: names and paths come from
// wheels, variables and other people's folders, and none of them may become syntax of a shell. The
// only way to text is through here, and here every word is quoted that a shell would read as
// anything but itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cukit {

/// One word for a POSIX shell: as it is when nothing in it means anything to one, else in single
/// quotes; with characters that a terminal must not see (control, bidirectional, no UTF-8) as
/// $'...' with escapes, which bash, zsh, ksh and POSIX of 2024 read.
[[nodiscard]] std::string shell_word(std::string_view word);

/// NAME=VALUE of an `export`.
struct ShellVariable {
  std::string name;
  std::string value;
  bool is_prepended = false; ///< VALUE goes before what the variable holds, with a colon between
};

class ShellCommand {
public:
  ShellCommand() = default; ///< none
  /// A program and its arguments.
  explicit ShellCommand(const std::vector<std::string>& words);
  static ShellCommand exports(const std::vector<ShellVariable>& variables);
  static ShellCommand unsets(const std::vector<std::string>& names);
  /// eval "$(COMMAND)"
  static ShellCommand evaluates(const ShellCommand& command);

  /// This one > FILE
  [[nodiscard]] ShellCommand into(std::string_view file) const;
  /// This one && NEXT
  [[nodiscard]] ShellCommand then(const ShellCommand& next) const;
  /// This one "$@": a script's line that passes its arguments on.
  [[nodiscard]] ShellCommand with_arguments_of_the_script() const;

  [[nodiscard]] bool empty() const { return words_.empty(); }
  /// Changes variables of the shell that reads it, and nothing else.
  [[nodiscard]] bool only_sets_variables() const { return only_sets_variables_; }
  /// As a shell has to read them, `&&` and `>` too; a line may end between any two.
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  [[nodiscard]] std::string text() const;

private:
  std::vector<std::string> words_;
  bool only_sets_variables_ = false;
};

} // namespace cukit

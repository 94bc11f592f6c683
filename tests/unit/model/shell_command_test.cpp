// What a printed command means to a shell: its own words, whatever is in them.
#include "base/child.hpp"
#include "base/strings.hpp"
#include "model/shell_command.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// bash reads $'...', and no /bin/sh need do so
constexpr const char* k_bash = "/bin/bash";

std::string said_by(const std::string& line, const Environment& environment = {}) {
  const auto done = run_command({.arguments = {k_bash, "-c", line}, .environment = environment});
  EXPECT_TRUE(done.has_value());
  return done ? done->output : std::string();
}

class ShellWord : public testing::TestWithParam<std::string> {};

TEST_P(ShellWord, is_read_as_itself) {
  const ShellCommand command({"printf", "<%s>", GetParam()});
  EXPECT_EQ(said_by(command.text()), "<" + GetParam() + ">") << command.text();
  EXPECT_EQ(said_by(ShellCommand::exports({{"V", GetParam()}}).text() + "; printf %s \"$V\""),
            GetParam());
}

TEST_P(ShellWord, drives_no_terminal) {
  const auto text = ShellCommand({"printf", GetParam()}).text();
  EXPECT_EQ(printable(text), text);
}

INSTANTIATE_TEST_SUITE_P(all, ShellWord,
                         testing::Values("plain", "", "a b", "'; touch x; '", "$(touch x)", "`x`",
                                         "a\nb", "\n", "\x1b[2J",
                                         "\x9b"
                                         "31m",
                                         "a\\b", "\"$HOME\"", "~", "*", "=x", "%1", "#", "-rf",
                                         "{a,b}", "\xc3\xa9", "tab\t'quote", "!!"));

TEST(ShellCommand, a_program_is_no_assignment) {
  EXPECT_EQ(ShellCommand({"A=b", "c"}).text(), "'A=b' c");
}

TEST(ShellCommand, variables_keep_what_they_held_behind_what_goes_first) {
  Environment environment;
  environment.set("PATH", "/old place:/bin");
  const auto line =
      ShellCommand::exports({{"PATH", "/n w", true}, {"LD_LIBRARY_PATH", "/l", true}}).text() +
      "; echo \"$PATH $LD_LIBRARY_PATH\"";
  EXPECT_EQ(said_by(line, environment), "/n w:/old place:/bin /l\n");
  environment.set("LD_LIBRARY_PATH", "/o");
  EXPECT_EQ(said_by(line, environment), "/n w:/old place:/bin /l:/o\n");
}

TEST(ShellCommand, only_exports_and_unsets_are_taken_for_changes_of_variables) {
  const auto sets = ShellCommand::exports({{"A", "b; rm x"}});
  EXPECT_TRUE(sets.only_sets_variables());
  EXPECT_TRUE(sets.then(ShellCommand::unsets({"B"})).only_sets_variables());
  EXPECT_FALSE(sets.then(ShellCommand({"rm", "x"})).only_sets_variables());
  EXPECT_FALSE(sets.into("x").only_sets_variables());
  EXPECT_FALSE(ShellCommand({"export", "A=b"}).only_sets_variables());
}

TEST(ShellCommand, keeps_its_words_for_lines_that_end_between_them) {
  const auto command = ShellCommand({"printf", "a b"}).into("f g").then(ShellCommand({"true"}));
  EXPECT_THAT(command.words(), ElementsAre("printf", "'a b'", ">", "'f g'", "&&", "true"));
}

TEST(ShellCommand, a_variable_that_is_no_name_is_no_syntax_either) {
  EXPECT_THAT(said_by(ShellCommand::exports({{"A;echo bad;B", "c"}}).text()),
              Not(HasSubstr("bad")));
}

} // namespace
} // namespace cukit

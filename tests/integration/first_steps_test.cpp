// What a person does next with what was printed.
#include "lab.hpp"

namespace cukit::test {
namespace {

using ::testing::HasSubstr;

/// The command behind "use it" of what `up` printed.
std::string command_in(const std::string& output) {
  const std::string mark = "  use it  ";
  const auto begin = output.find(mark);
  if (begin == std::string::npos) {
    ADD_FAILURE() << output;
    return {};
  }
  const auto from = begin + mark.size();
  return output.substr(from, output.find('\n', from) - from);
}

Finished in_a_shell(const Lab& lab, const std::string& script, const std::string& path) {
  auto environment = lab.playground.environment;
  environment.set("PATH", path);
  const auto done = run_command({.arguments = {"/bin/sh", "-c", script},
                                 .environment = environment,
                                 .directory = lab.playground.path().string()});
  EXPECT_TRUE(done);
  return done.value_or(Finished());
}

TEST(FirstSteps, the_command_that_up_prints_works_where_no_path_leads_to_the_program) {
  const Lab lab;
  const auto up = lab.up();
  ASSERT_EQ(up.exit_code, 0) << up.errors;
  const auto used =
      in_a_shell(lab, command_in(up.output) + "; echo \"home $CUDA_HOME\"", "/usr/bin:/bin");
  EXPECT_THAT(used.output, HasSubstr("home " + lab.playground.home().string())) << used.errors;
}

TEST(FirstSteps, the_command_that_up_prints_is_short_where_a_path_leads_to_the_program) {
  Lab lab;
  fs::create_directory(lab.playground.path() / "bin");
  fs::create_symlink(CUKIT_BINARY, lab.playground.path() / "bin/cukit");
  lab.playground.environment.set("PATH",
                                 (lab.playground.path() / "bin").string() + ":/usr/bin:/bin");
  EXPECT_EQ(command_in(lab.up().output), "eval \"$(cukit env demo)\"");
}

} // namespace
} // namespace cukit::test

// `releases`, `gpus` and `matrix` as a person sees them.
#include "base/strings.hpp"
#include "support/cukit_program.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <regex>

namespace cukit::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class KnowledgeAnswers : public ::testing::Test {
protected:
  std::string text(std::vector<std::string> arguments) const {
    const auto done = playground.run(std::move(arguments));
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return done.output;
  }
  Playground playground;
};

class KnowledgeTables : public KnowledgeAnswers,
                        public ::testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(KnowledgeTables, fit_into_80_columns) {
  playground.environment.set("COLUMNS", "80");
  const auto table = text(GetParam());
  for (const auto line : split(table, '\n')) {
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST_P(KnowledgeTables, say_the_same_with_colours_and_without) {
  const auto plain = text(GetParam());
  EXPECT_THAT(plain, Not(HasSubstr("\x1b"))); // a pipe is no terminal
  auto arguments = GetParam();
  arguments.insert(arguments.begin(), {"--color", "always"});
  const auto painted = text(arguments);
  EXPECT_THAT(painted, HasSubstr("\x1b["));
  EXPECT_EQ(std::regex_replace(painted, std::regex("\x1b\\[[0-9;]*m"), ""), plain);
}

TEST_P(KnowledgeTables, are_one_object_as_json) {
  auto arguments = GetParam();
  arguments.emplace_back("--json");
  EXPECT_THAT(text(arguments), HasSubstr("\"schema\": \"cukit." + GetParam().front() + "/1\""));
}

INSTANTIATE_TEST_SUITE_P(All, KnowledgeTables,
                         ::testing::Values(std::vector<std::string>{"releases"},
                                           std::vector<std::string>{"releases", "13.0"},
                                           std::vector<std::string>{"releases", "12.4.1"},
                                           std::vector<std::string>{"gpus"},
                                           std::vector<std::string>{"gpus", "5090", "A100"},
                                           std::vector<std::string>{"matrix"},
                                           std::vector<std::string>{"matrix", "--driver", "580"},
                                           std::vector<std::string>{"matrix", "--cuda", "13"}));

TEST_F(KnowledgeAnswers, a_release_lists_its_patches_and_a_patch_its_components) {
  // CUDA 13.0 Update 2's release notes
  EXPECT_THAT(text({"releases", "13.0"}), HasSubstr("13.0.2   redist  2025-10-09  13.0.88"));
  EXPECT_THAT(text({"releases", "12.4.1"}), HasSubstr("nvcc"));
  const auto unknown = playground.run({"releases", "12.7"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("no release 12.7"));
}

TEST_F(KnowledgeAnswers, a_gpu_lists_all_its_products_below_each_other) {
  playground.environment.set("COLUMNS", "80");
  const auto table = text({"gpus", "sm_120"});
  EXPECT_THAT(table, HasSubstr("GeForce RTX 5050"));
  EXPECT_THAT(table, Not(HasSubstr("sm_90")));
  EXPECT_THAT(text({"gpus"}), HasSubstr("GeForce RTX 5090, +")); // the first that fits
}

} // namespace
} // namespace cukit::test

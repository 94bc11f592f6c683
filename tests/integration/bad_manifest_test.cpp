// Manifests that nobody should write, as they reach the program: exit 2 (or 3 where the wish is
// clear but cannot be met), the place, and a next step; and nothing is written anywhere.
#include "support/cukit_program.hpp"
#include "support/fake_index.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::test {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::string name;
  std::string text;
  int code;
  std::vector<std::string> said;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class BadManifest : public ::testing::TestWithParam<Case> {};

const std::string k_head = "cukit: 1\ngpus: [sm_90]\n";

INSTANTIATE_TEST_SUITE_P(
    All, BadManifest,
    ::testing::Values(
        Case{"empty", "", 2, {"empty"}}, Case{"only_comments", "# nothing\n\n", 2, {"empty"}},
        Case{"large", k_head + "# " + std::string(50'000'000, 'x') + "\n", 2, {"50 MB", "1.0 MB"}},
        Case{"not_utf8", "cukit: 1\ngpus: [sm_90]\nname: \"\xff\xfe\"\n", 2, {"UTF-8"}},
        Case{"tabs", "cukit: 1\ngpus:\n\t- sm_90\n", 2, {"tab", ":3:"}},
        Case{"duplicate_key", "cukit: 1\ngpus: [sm_90]\ngpus: [sm_120]\n", 2, {"gpus", ":3:", "2"}},
        Case{"anchor", "cukit: 1\ngpus: &a [sm_90]\n", 2, {"anchor", ":2:"}},
        Case{"second_document", k_head + "---\ncukit: 1\n", 2, {"document"}},
        Case{"unknown_key", k_head + "consumer: [triton]\n", 2, {"consumer", "consumers", ":3:"}},
        Case{"unknown_gpu", "cukit: 1\ngpus: [sm_130]\n", 2, {"sm_130", ":2:"}},
        Case{"unknown_product", "cukit: 1\ngpus: [\"GeForce RTX 5O90\"]\n", 2, {"5O90", "5090"}},
        Case{"no_gpus", "cukit: 1\n", 2, {"gpus"}},
        Case{"newer_format", "cukit: 2\ngpus: [sm_90]\n", 2, {"2"}},
        Case{"several_mistakes",
             "cukit: 1\ngpus: [sm_130]\nconsumers: [flashinver]\nplatforms: [linux-mips]\n",
             2,
             {":2:", ":3:", "flashinfer", ":4:"}},
        Case{"nvcc_12_8_for_sm_120",
             "cukit: 1\ngpus: [sm_120]\ntoolkit:\n  nvcc: \"12.8\"\n",
             3,
             {"12.8", ":4"}},
        Case{"nvcc_13_10_is_not_13_1", k_head + "toolkit:\n  nvcc: 13.10\n", 3, {"13.10", ":4"}},
        Case{"collides_twice",
             k_head + "pytorch: cu118\ntoolkit:\n  nvcc: 13.10\n",
             3,
             {"13.10", "nor can these", "cu118", "solves that"}}),
    [](const auto& one) { return one.param.name; });

TEST_P(BadManifest, is_refused_with_place_and_next_step) {
  FaultServer server;
  FakeIndex index(server, 1000);
  index.add_release("13.0.99", "13.0.188");
  index.add_release("13.1.99", "13.1.188");
  index.publish();
  Playground playground;
  playground.environment.set("CUKIT_INDEX_URL", index.url());
  const auto manifest = playground.write("bad.yaml", GetParam().text);
  const auto failed = playground.run({"up", "--no-validate", "bad.yaml"});
  EXPECT_EQ(failed.exit_code, GetParam().code) << failed.errors;
  for (const auto& said : GetParam().said) {
    EXPECT_THAT(failed.errors, HasSubstr(said));
  }
  EXPECT_FALSE(path_exists(playground.home()));
  EXPECT_FALSE(path_exists(playground.path() / "bad.lock.yaml"));
  // The same for machines.
  const auto json = playground.run({"lock", "--json", "bad.yaml"});
  EXPECT_EQ(json.exit_code, GetParam().code);
  EXPECT_THAT(json.output, HasSubstr(GetParam().code == 3 ? "cukit.conflict/1" : "cukit.error/1"));
}

TEST(BadManifestFile, a_folder_and_a_missing_file_are_said_to_be_what_they_are) {
  Playground playground;
  ASSERT_TRUE(make_directories(playground.path() / "folder.yaml"));
  const auto folder = playground.run({"up", "folder.yaml"});
  EXPECT_EQ(folder.exit_code, 2) << folder.errors;
  EXPECT_THAT(folder.errors, HasSubstr("folder"));
  const auto missing = playground.run({"up", "nowhere.yaml"});
  EXPECT_EQ(missing.exit_code, 2) << missing.errors;
  EXPECT_THAT(missing.errors, HasSubstr("nowhere.yaml"));
}

TEST(CommandLine, mistakes_are_exit_2_and_help_is_exit_0) {
  const Playground playground;
  EXPECT_EQ(playground.run({"no-such-command"}).exit_code, 2);
  EXPECT_EQ(playground.run({"up"}).exit_code, 2);
  EXPECT_EQ(playground.run({"validate", "--build-only"}).exit_code, 2);
  for (const auto* command : {"up", "lock", "fetch", "build", "validate", "env", "run", "list",
                              "verify", "releases", "gpus"}) {
    const auto help = playground.run({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.output, HasSubstr("Usage"));
  }
  EXPECT_EQ(playground.run({"releases", "--json"}).exit_code, 0);
  EXPECT_THAT(playground.run({"gpus", "sm_120", "--json"}).output, HasSubstr("cukit.gpus/1"));
  EXPECT_THAT(playground.run({"list", "--json"}).output, HasSubstr("cukit.list/1"));
}

} // namespace
} // namespace cukit::test

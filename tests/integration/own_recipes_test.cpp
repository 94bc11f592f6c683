// `--recipes`: what is data is added by data alone, and a slip in it is said with its place.
#include "base/files.hpp"
#include "lab.hpp"
#include "support/fake_root.hpp"

namespace cukit::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class OwnRecipes : public testing::Test {
protected:
  OwnRecipes() {
    std::error_code error;
    fs::copy(fs::path(CUKIT_SOURCE_DIR) / "recipes", at(""), fs::copy_options::recursive, error);
    EXPECT_FALSE(error);
  }
  [[nodiscard]] fs::path at(const std::string& file) const {
    return playground.path() / "recipes" / file;
  }
  /// The text goes behind the first place where `after` stands.
  void add(const std::string& file, const std::string& after, const std::string& text) const {
    auto all = read_file(at(file), 1U << 20U).value_or("");
    const auto place = all.find(after);
    ASSERT_NE(place, std::string::npos) << file;
    all.insert(place + after.size(), text);
    ASSERT_TRUE(write_file_atomic(at(file), all));
  }
  [[nodiscard]] Finished run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--recipes", at("").string()});
    return playground.run(arguments);
  }
  Playground playground;
  FakeRoot root;
};

TEST_F(OwnRecipes, a_family_of_gpus_is_a_line) {
  add("knowledge/gpus.yaml", "architectures:\n",
      "  - {sm: \"15.0\", name: Novel, first: \"13.5\", a: \"13.5\", evidence: uncertain}\n");
  add("knowledge/products.yaml", "documented:\n", "  \"15.0\": [Novel N100]\n");
  EXPECT_THAT(run({"gpus", "N100"}).output, AllOf(HasSubstr("sm_150"), HasSubstr("Novel")));
  EXPECT_THAT(run({"matrix", "sm_150"}).output, HasSubstr("sm_150"));
  // the doctor holds it against the nvcc that is there
  root.toolkit("/usr/local/cuda", "13.0.88");
  const auto seen = run({"doctor", "--root", root.path().string(), "--gpu", "N100", "--consumer",
                         "torch-extensions"});
  EXPECT_EQ(seen.exit_code, 1) << seen.errors;
  EXPECT_THAT(seen.output, HasSubstr("sm_150 is first compiled by CUDA"));
}

TEST_F(OwnRecipes, a_consumers_compiled_kernels_and_its_own_ptxas_are_data) {
  ASSERT_TRUE(write_file_atomic(at("consumers/mine.yaml"), R"(title: Mine
summary: mine
needs: [core]
why: nobody but this test
prebuilt: [mine-kernels]
discovery: {present: [mine], runtime: true, root: [env MINE_ROOT]}
)"));
  ASSERT_TRUE(write_file_atomic(at("consumers/other.yaml"), R"(summary: other
needs: [core]
why: nobody but this test
bundle: other/tools
discovery: {present: [other], compiles: ptxas, runtime: true, ptxas: [wheel other/tools/bin/ptxas]}
)"));
  const auto site = root.venv("/venv");
  root.dist(site, "mine", "1.0");
  root.dist(site, "other", "2.0");
  root.tool(site + "/other/tools/bin/ptxas", "12.6.85");
  const auto seen = run({"doctor", "--root", root.path().string(), "--gpu", "sm_120"});
  EXPECT_EQ(seen.exit_code, 1) << seen.errors;
  EXPECT_THAT(seen.output, AllOf(HasSubstr("mine-kernels"), HasSubstr("Mine's compiled kernels")));
  EXPECT_THAT(seen.output, HasSubstr("other 2.0 runs " + site + "/other/tools/bin/ptxas"));
}

TEST_F(OwnRecipes, a_cuda_release_is_a_line) {
  add("knowledge/releases.yaml", "releases:\n",
      "  - {cuda: \"14.0\", ptx: \"10.0\", driver: 700, floor: 700, cccl: \"4.0\", gcc: 18, "
      "clang: [9, 25], evidence: uncertain}\n");
  EXPECT_THAT(run({"releases"}).output, AllOf(HasSubstr("14.0"), HasSubstr("9..25")));
  EXPECT_THAT(run({"matrix", "--driver", "700", "--cuda", "14"}).output, HasSubstr("14.0"));
  // its floor counts for what is installed
  root.toolkit("/usr/local/cuda", "14.0.10");
  const auto seen = run({"doctor", "--root", root.path().string(), "--driver", "620", "--consumer",
                         "torch-extensions", "--json"});
  EXPECT_THAT(seen.output, AllOf(HasSubstr("driver-too-old"), HasSubstr("needs 700 or newer")));
}

TEST_F(OwnRecipes, a_rule_of_a_message_is_data) {
  add("doctor/rules.yaml", "rules:\n",
      "  - {id: kiln-cold, severity: error, title: the kiln is cold, about: kilns, source: a "
      "potter}\n");
  add("doctor/messages.yaml", "messages:\n",
      "  - {tool: kiln, pattern: \"kiln: {} is below\", means: \"it was not heated\", causes: "
      "[kiln-cold]}\n");
  const auto log = playground.write("build.log", "kiln: 12 degrees is below 900\nmake: *** [all] "
                                                 "Error 1\n");
  const auto seen = run({"doctor", "--root", root.path().string(), "--log", log.string()});
  EXPECT_EQ(seen.exit_code, 1) << seen.errors;
  EXPECT_THAT(seen.output, HasSubstr("kiln"));
}

TEST_F(OwnRecipes, a_cause_that_is_no_rule_is_an_error_and_no_crash) {
  // one text stands for a list of one
  add("doctor/messages.yaml", "messages:\n",
      "  - {tool: kiln, pattern: \"kiln: {} is below\", means: \"cold\", causes: kiln-cold}\n");
  const auto log = playground.write("build.log", "kiln: 12 degrees is below 900\nmake: *** [all] "
                                                 "Error 1\n");
  const auto seen = run({"doctor", "--root", root.path().string(), "--log", log.string()});
  EXPECT_EQ(seen.exit_code, 2) << seen.output;
  EXPECT_THAT(seen.errors, AllOf(HasSubstr(at("doctor/messages.yaml").string() + ":"),
                                 HasSubstr("there is no rule `kiln-cold`")));
}

TEST_F(OwnRecipes, a_consumer_that_needs_an_unknown_component_is_an_error_with_its_place) {
  ASSERT_TRUE(write_file_atomic(at("consumers/mine.yaml"),
                                "summary: mine\nneeds: [core, nvccc]\nwhy: this test\n"));
  const auto seen = run({"doctor", "--root", root.path().string()});
  EXPECT_EQ(seen.exit_code, 2);
  EXPECT_THAT(seen.errors, AllOf(HasSubstr("consumers/mine.yaml:2:15"),
                                 HasSubstr("there is no component or group `nvccc`"),
                                 HasSubstr("did you mean `nvcc`?")));
}

TEST_F(OwnRecipes, a_component_is_a_file) {
  Lab lab;
  ASSERT_TRUE(write_file_atomic(at("components/mine.yaml"),
                                "summary: mine\nproject: nvidia-cuda-culibos\nextra: culibos\n"
                                "follows: release\nprovides: [lib/libculibos.a]\n"));
  const auto manifest = lab.playground.write("mine.yaml", Lab::text("components: [nvcc, mine]\n"));
  const auto done = lab.playground.run({"--recipes", at("").string(), "lock", manifest.string()});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(read_file(lab.playground.path() / "mine.lock.yaml", 1U << 20U).value_or(""),
              HasSubstr("component: mine"));
}

} // namespace
} // namespace cukit::test

// What a home remembers of its last runs.
#include "store_fixture.hpp"
#include "text/json.hpp"

namespace cukit::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RunLog : public StoreRun {
protected:
  [[nodiscard]] std::vector<text::Json> lines() const {
    std::vector<text::Json> result;
    const auto text = read_file(playground.home() / "logs/runs.jsonl", 1U << 20U).value_or("");
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      EXPECT_NE(end, std::string::npos) << "a torn line";
      auto json = text::Json::parse(text.substr(at, end - at), "runs.jsonl");
      EXPECT_TRUE(json) << text.substr(at, end - at);
      if (end == std::string::npos || !json) {
        break;
      }
      result.push_back(*std::move(json));
      at = end + 1;
    }
    return result;
  }
};

TEST_F(RunLog, has_what_was_changed_and_nothing_of_a_run_that_changed_nothing) {
  up("demo", "13.0.187");
  up("demo", "13.0.188");
  const auto two = lines();
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].text_of("command"), "up");
  const auto* outcome = two[1].find("outcome");
  ASSERT_NE(outcome, nullptr);
  EXPECT_THAT(outcome->dump(), HasSubstr("\"status\": \"ready\""));
  up("demo", "13.0.188");
  run({"list"});
  run({"verify"});
  run({"gc", "--dry-run"});
  EXPECT_EQ(lines().size(), 2U);
  run({"rollback", "demo"});
  run({"gc", "--older-than", "0s"});
  ASSERT_GE(lines().size(), 3U);
  EXPECT_EQ(lines()[2].text_of("command"), "rollback");
}

TEST_F(RunLog, row42_has_why_a_run_failed_without_its_login) {
  up("demo");
  ASSERT_TRUE(remove_tree(playground.home() / "store"));
  ASSERT_TRUE(remove_tree(playground.home() / "trees"));
  playground.environment.set("CUKIT_INDEX_URL", "http://user:geheim@127.0.0.1:9/simple");
  run({"up", "--no-validate", "demo.yaml"}, 4);
  ASSERT_EQ(lines().size(), 2U);
  EXPECT_EQ(lines()[1].find("exit_code")->integer(), 4);
  EXPECT_THAT(lines()[1].dump(), HasSubstr("127.0.0.1"));
  EXPECT_THAT(lines()[1].dump(), Not(HasSubstr("geheim")));
}

TEST_F(RunLog, never_has_more_than_two_files_and_is_never_in_the_way) {
  up("demo");
  const auto logs = playground.home() / "logs";
  ASSERT_TRUE(write_file_atomic(logs / "runs.jsonl", std::string(300'000, 'x') + "\n"));
  run({"switch", "demo", "--to", "9"}, 1);
  EXPECT_EQ(lines().size(), 1U);
  EXPECT_THAT(playground.names_in("logs"), ::testing::ElementsAre("runs.jsonl", "runs.old.jsonl"));
  ASSERT_TRUE(remove_tree(logs / "runs.jsonl"));
  ASSERT_TRUE(make_directories(logs / "runs.jsonl")); // nothing can be written there
  run({"rollback", "demo"}, 1);
  run({"gc"});
  ASSERT_TRUE(remove_tree(logs));
  run({"list"});
  EXPECT_FALSE(path_exists(logs)); // looking makes nothing
}

} // namespace
} // namespace cukit::test

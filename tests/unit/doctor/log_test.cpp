#include "cases.hpp"
#include "doctor/log.hpp"

namespace cukit::doctor {
namespace {

buildlog::Facts facts_of(std::string_view text) {
  return read_log(text, knowledge::Knowledge::embedded()).value();
}

TEST(Log, counts_equal_messages_once_and_captures_what_stands_between) {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    text +=
        "ptxas /tmp/x.ptx, line 9; fatal   : Unsupported .version 9.2; current version is '9.0'\n";
  }
  const auto facts = facts_of("[1/3] nvcc ...\n" + text);
  ASSERT_EQ(facts.phrases.size(), 1U);
  EXPECT_EQ(facts.phrases[0].count, 30U);
  EXPECT_EQ(facts.phrases[0].line, 2U);
  EXPECT_THAT(facts.phrases[0].captures, testing::ElementsAre("9.2", "9.0"));
}

TEST(Log, survives_one_endless_line_and_bytes_that_are_no_text) {
  std::string text(3'000'000, 'x');
  text += " Unsupported .version 9.2; current version is '9.0'";
  text += std::string(1000, '\0') + "\xff\xfe\n";
  const auto facts = facts_of(text);
  ASSERT_EQ(facts.phrases.size(), 1U);
  EXPECT_EQ(facts.phrases[0].captures.at(0), "9.2");
}

TEST(Log, message_that_lies_leads_to_the_true_cause) {
  Scene scene;
  venv(scene, "flashinfer-python");
  scene.root.toolkit(k_local, "12.8.93");
  scene.root.toolkit("/usr/local/cuda-13.0", "13.0.88");
  scene.root.prepend_path(k_local + "/bin");
  gpu(scene, "sm_120");
  scene.log = "RuntimeError: FlashInfer requires GPUs with sm75 or higher\n";
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings[0].id, "older-toolkit-first");
  EXPECT_EQ(diagnosis.findings[0].log_line, 1U);
}

TEST(Log, missing_import_is_not_taken_for_a_changed_api) {
  Scene scene;
  scene.log = "AttributeError: module 'torch.utils' has no attribute 'cpp_extension'\n";
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].id, "incomplete-import");
  EXPECT_EQ(diagnosis.findings[0].fix.at(0).advice, "import torch.utils.cpp_extension");
}

TEST(Messages, every_cause_is_a_rule_of_the_catalogue) {
  const auto known = rules(knowledge::Knowledge::embedded()).value();
  std::vector<std::string> ids;
  for (const auto& rule : known) {
    ids.push_back(rule.id);
    for (const auto& by : rule.explained_by) {
      EXPECT_THAT(ids, testing::Contains(by))
          << rule.id << " is explained by a rule that stands after it";
    }
  }
  const auto messages = read_messages(knowledge::Knowledge::embedded()).value();
  for (const auto& message : messages) {
    for (const auto& cause : message.causes) {
      EXPECT_THAT(ids, testing::Contains(cause));
    }
  }
}

} // namespace
} // namespace cukit::doctor

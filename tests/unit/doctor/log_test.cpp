#include "cases.hpp"
#include "doctor/log.hpp"

namespace cukit::doctor {
namespace {

const std::vector<Message>& messages() {
  static const auto known = read_messages(knowledge::Knowledge::embedded()).value();
  return known;
}

TEST(Log, finds_line_and_captures_of_ptxas_complaint) {
  const std::string text = "[1/3] nvcc ...\nptxas /tmp/x.ptx, line 9; fatal   : Unsupported "
                           ".version 9.2; current version is '9.0'\n";
  const auto facts = read_log(text, messages());
  ASSERT_EQ(facts.hits.size(), 1U);
  EXPECT_EQ(facts.hits[0].line, 2U);
  EXPECT_THAT(facts.hits[0].captures, testing::ElementsAre("9.2", "9.0"));
  EXPECT_EQ(facts.hits[0].message->tool, "ptxas");
}

TEST(Log, counts_equal_messages_once) {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    text += "x.cu:1: fatal error: nv/target: No such file or directory\n";
  }
  const auto facts = read_log(text, messages());
  ASSERT_EQ(facts.hits.size(), 1U);
  EXPECT_EQ(facts.hits[0].count, 30U);
}

TEST(Log, reads_the_cccl_that_was_compiled_from_its_namespace) {
  const auto facts =
      read_log("error: class \"cub::_V_300302_SM_890::X\" has no member\n", messages());
  EXPECT_EQ(facts.cccl_namespace, "3.3.2");
}

TEST(Log, takes_nvcc_and_its_include_folders_from_a_command) {
  const auto facts = read_log("/a/bin/nvcc -I/b/include -isystem /c/include -o x.o\n", messages());
  ASSERT_EQ(facts.calls.size(), 1U);
  EXPECT_EQ(facts.calls[0].program, "/a/bin/nvcc");
  EXPECT_THAT(facts.calls[0].includes, testing::ElementsAre("/b/include", "/c/include"));
}

TEST(Log, survives_one_endless_line_and_bytes_that_are_no_text) {
  std::string text(3'000'000, 'x');
  text += "Unsupported .version 9.2; current version is '9.0'";
  text += std::string(1000, '\0') + "\xff\xfe\n";
  const auto facts = read_log(text, messages());
  ASSERT_EQ(facts.hits.size(), 1U);
  EXPECT_EQ(facts.hits[0].captures.at(0), "9.2");
}

TEST(Log, message_that_lies_leads_to_the_true_cause) {
  Scene scene;
  venv(scene, "flashinfer-python");
  scene.root.toolkit(k_local, "12.8.93");
  scene.root.toolkit("/usr/local/cuda-13.0", "13.0.88");
  scene.root.prepend_path(k_local + "/bin");
  gpu(scene, "sm_120");
  scene.question.log = "RuntimeError: FlashInfer requires GPUs with sm75 or higher\n";
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings[0].id, "older-toolkit-first");
  EXPECT_EQ(diagnosis.findings[0].log_line, 1U);
}

TEST(Log, missing_import_is_not_taken_for_a_changed_api) {
  Scene scene;
  scene.question.log = "AttributeError: module 'torch.utils' has no attribute 'cpp_extension'\n";
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
  for (const auto& message : messages()) {
    for (const auto& cause : message.causes) {
      EXPECT_THAT(ids, testing::Contains(cause));
    }
  }
}

} // namespace
} // namespace cukit::doctor

// Rules, the messages that lead to them and the code that reports them know each other; what does
// not fit is an error with its place, before anything is looked at.
#include "cases.hpp"

namespace cukit::doctor {
namespace {

using testing::HasSubstr;

class Recipes : public testing::Test {
protected:
  /// What is said of the catalogue after one replacement in a file.
  Error error_after(const std::string& file, const std::string& what, const std::string& with) {
    for (const char* name : {"doctor/rules.yaml", "doctor/messages.yaml"}) {
      auto text = knowledge::Knowledge::embedded().read(name).value();
      if (name == file) {
        const auto at = text.find(what);
        EXPECT_NE(at, std::string::npos);
        text.replace(at, what.size(), with);
      }
      root.put(std::string("/recipes/") + name, text);
    }
    const auto read = rules(knowledge::Knowledge::from(root.path() / "recipes"));
    EXPECT_FALSE(read.has_value());
    return read ? Error{} : read.error();
  }
  static std::string told(const Error& error) {
    std::string all = error.where + ": " + error.message + " " + error.hint;
    for (const auto& cause : error.causes) {
      all += "\n" + cause;
    }
    return all;
  }
  test::FakeRoot root;
};

TEST_F(Recipes, a_slip_in_a_rules_name_is_said_with_its_place) {
  const auto all =
      told(error_after("doctor/rules.yaml", "id: headers-differ", "id: heders-differ"));
  EXPECT_THAT(all, HasSubstr("doctor/rules.yaml:"));
  EXPECT_THAT(all, HasSubstr("nothing leads to the rule `heders-differ`"));
  EXPECT_THAT(all, HasSubstr("did you mean `headers-differ`?"));
  EXPECT_THAT(all, HasSubstr("the rule `headers-differ`, which the doctor reports, is missing"));
}

TEST_F(Recipes, an_explanation_by_a_rule_that_is_not_there_is_said) {
  EXPECT_THAT(
      told(error_after("doctor/rules.yaml", "explained_by: [scan-cut-short, variable-malformed]",
                       "explained_by: [variable-misformed]")),
      HasSubstr("there is no rule `variable-misformed`"));
}

TEST_F(Recipes, a_rule_that_is_there_twice_is_said) {
  EXPECT_THAT(told(error_after("doctor/rules.yaml", "id: headers-differ", "id: cicc-differs")),
              HasSubstr("the rule `cicc-differs` is there twice"));
}

TEST_F(Recipes, a_messages_cause_that_is_no_rule_is_said_with_its_place) {
  const auto error =
      error_after("doctor/messages.yaml", "causes: [cccl-mixed]", "causes: [cccl-mixt]");
  EXPECT_THAT(told(error), HasSubstr("/recipes/doctor/messages.yaml:"));
  EXPECT_THAT(told(error), HasSubstr("there is no rule `cccl-mixt`"));
  EXPECT_EQ(error.code, ErrorCode::usage);
}

TEST_F(Recipes, a_rule_that_a_message_alone_leads_to_is_a_line_of_data) {
  for (const char* name : {"doctor/rules.yaml", "doctor/messages.yaml"}) {
    root.put(std::string("/recipes/") + name, knowledge::Knowledge::embedded().read(name).value());
  }
  const auto folder = root.path() / "recipes/doctor";
  const auto append = [&](const char* name, const std::string& line) {
    const auto text = read_file(folder / name, 1U << 20U).value();
    ASSERT_TRUE(write_file_atomic(folder / name, text + line));
  };
  append("rules.yaml", "  - {id: mine, severity: error, title: t, about: a, source: s}\n");
  append("messages.yaml", "  - {tool: x, pattern: boom, means: m, causes: [mine]}\n");
  const auto read = rules(knowledge::Knowledge::from(root.path() / "recipes"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->back().id, "mine");
}

} // namespace
} // namespace cukit::doctor

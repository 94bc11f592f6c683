// -v, -vv and CUKIT_LOG: what was decided and why, beside the output that programs read.
#include "lab.hpp"

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Decisions, are_told_where_they_were_asked_for) {
  const Lab lab;
  const auto silent = lab.up({"--json"});
  ASSERT_EQ(silent.exit_code, 0) << silent.errors;
  EXPECT_THAT(silent.errors, Not(HasSubstr("cukit resolve:")));
  lab.begin_anew();
  const auto told = lab.up({"--json", "-v"});
  ASSERT_EQ(told.exit_code, 0) << told.errors;
  EXPECT_THAT(told.errors,
              AllOf(HasSubstr("cukit source: index: " + lab.index.url()),
                    HasSubstr("cukit resolve: takes CUDA 13.0"), HasSubstr("cukit lock: "),
                    HasSubstr("cukit store: lacks nvcc"), HasSubstr("cukit store: builds tree"),
                    HasSubstr("cukit names: generation 1 of demo is current"),
                    Not(HasSubstr("cukit http:"))));
  EXPECT_TRUE(told.output.starts_with("{")) << told.output;
}

TEST(Decisions, of_some_modules_come_with_their_details_and_no_password) {
  Lab lab;
  auto address = lab.index.url();
  address.insert(address.find("//") + 2, "user:secret@");
  lab.playground.environment.set("CUKIT_INDEX_URL", address);
  lab.playground.environment.set("CUKIT_LOG", "http,source");
  const auto told = lab.up();
  ASSERT_EQ(told.exit_code, 0) << told.errors;
  EXPECT_THAT(told.errors, AllOf(HasSubstr("cukit http: http://127.0.0.1"), HasSubstr(" -> 200"),
                                 HasSubstr("cukit source: index"), Not(HasSubstr("secret")),
                                 Not(HasSubstr("cukit resolve:"))));
}

} // namespace
} // namespace cukit::test

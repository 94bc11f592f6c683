// Locks that were edited by hand: refused, with the place and the way out, and never mended in
// silence.
#include "lab.hpp"

namespace cukit::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Edit {
  std::string name;
  std::string after; ///< the place: the first such text in the entry of nvvm, or else in the file
  std::size_t drop;  ///< bytes behind it that go
  std::string put;   ///< and what comes there
  int code;
  std::vector<std::string> said;
};

void PrintTo(const Edit& one, std::ostream* out) {
  *out << one.name;
}

class EditedLock : public ::testing::TestWithParam<Edit> {};

INSTANTIATE_TEST_SUITE_P(
    BadLock, EditedLock,
    ::testing::Values(
        Edit{"row07_another_digest",
             "sha256: sha256:",
             8,
             "00000000",
             5,
             {"nvidia_nvvm", "00000000"}},
        Edit{"row07_a_digest_that_is_too_short",
             "sha256: sha256:",
             1,
             "",
             2,
             {"64 lower-case", "cukit lock"}},
        Edit{"row07_another_size", "size: ", 1, "77", 5, {"nvidia_nvvm", "77"}},
        Edit{"row07_a_smaller_size", "size: ", 2, "1", 5, {"nvidia_nvvm", "are locked"}},
        Edit{"row07_a_size_that_is_no_number", "size: ", 1, "e", 2, {"above 0", "cukit lock"}},
        Edit{"row07_the_address_of_a_host",
             "file: ",
             0,
             "https://example.com/",
             2,
             {"without folders", "cukit lock"}},
        Edit{"row07_an_unknown_major_version", "cukit-lock: ", 1, "2", 2, {"newer cukit"}},
        Edit{"row07_an_unknown_key",
             "component: nvvm\n",
             0,
             "        url: https://example.com\n",
             2,
             {"url"}}),
    [](const auto& one) { return one.param.name; });

std::string edited(std::string text, const Edit& edit) {
  auto at = text.find(edit.after, text.find("component: nvvm"));
  at = at == std::string::npos ? text.find(edit.after) : at;
  EXPECT_NE(at, std::string::npos) << text;
  return text.replace(at + edit.after.size(), edit.drop, edit.put);
}

TEST_P(EditedLock, is_refused_and_left_as_it_is) {
  const Lab lab;
  ASSERT_EQ(lab.playground.run({"lock", lab.manifest.string()}).exit_code, 0);
  const auto text = edited(lab.lock_text(), GetParam());
  ASSERT_NE(text, lab.lock_text());
  lab.playground.write("demo.lock.yaml", text);
  for (const auto& option : {std::vector<std::string>{"--locked"}, std::vector<std::string>{}}) {
    const auto refused = lab.up(option);
    EXPECT_EQ(refused.exit_code, GetParam().code) << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr("next:"));
    for (const auto& said : GetParam().said) {
      EXPECT_THAT(refused.errors, HasSubstr(said));
    }
    EXPECT_EQ(lab.lock_text(), text);
    EXPECT_THAT(lab.playground.names_in("trees"), IsEmpty());
    EXPECT_THAT(lab.playground.names_in("names"), IsEmpty());
  }
}

} // namespace
} // namespace cukit::test

#include "validate/validate.hpp"

#include <gtest/gtest.h>

namespace cukit::validate {
namespace {

std::string data(const std::string& name) {
  auto bytes = read_file(fs::path(CUKIT_TEST_DATA) / "validate" / name, 1U << 20U);
  EXPECT_TRUE(bytes) << name;
  return bytes.value_or("");
}

/// The offset of the one place where `text` stands.
std::size_t only_place(const std::string& bytes, std::string_view text) {
  const auto at = bytes.find(text);
  EXPECT_NE(at, std::string::npos);
  EXPECT_EQ(bytes.find(text, at + 1), std::string::npos);
  return at;
}

class SassTarget : public testing::TestWithParam<std::string> {};

TEST_P(SassTarget, tells_plain_family_and_specific_targets_apart) {
  const auto target = sass_target(data(GetParam() + ".cubin"));
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(*target, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Cubins, SassTarget,
                         testing::Values("sm_90", "sm_90a", "sm_120", "sm_120a", "sm_120f"),
                         [](const auto& cubin) { return cubin.param; });

TEST(SassTargetOfALinkedCubin, is_the_linkers_not_that_of_its_inputs) {
  const auto target = sass_target(data("linked_sm_90a.cubin"));
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(*target, "sm_90a"); // linked from objects for sm_90
}

TEST(SassTargetRefuses, what_is_no_cubin) {
  EXPECT_FALSE(sass_target(""));
  EXPECT_FALSE(sass_target("\x7f"
                           "ELF"));
  EXPECT_FALSE(sass_target("// .version 9.0\n.target sm_90\n"));
  const auto own = read_file("/proc/self/exe", 1U << 30U);
  ASSERT_TRUE(own);
  const auto target = sass_target(*own);
  ASSERT_FALSE(target);
  EXPECT_NE(target.error().message.find("machine"), std::string::npos) << target.error().message;
}

TEST(SassTargetRefuses, a_cubin_without_the_note) {
  auto bytes = data("sm_90.cubin");
  for (auto at = bytes.find(".note.nv.tkinfo"); at != std::string::npos;
       at = bytes.find(".note.nv.tkinfo")) {
    bytes[at] = '_'; // the names of sections, and a symbol's
  }
  const auto target = sass_target(bytes);
  ASSERT_FALSE(target);
  EXPECT_NE(target.error().message.find("tkinfo"), std::string::npos) << target.error().message;
}

TEST(SassTargetRefuses, a_note_that_names_no_architecture) {
  auto bytes = data("sm_90.cubin");
  bytes.replace(only_place(bytes, "-arch sm_90"), 5, "-arxh");
  EXPECT_FALSE(sass_target(bytes));
}

TEST(SassTargetRefuses, a_virtual_architecture_and_other_words) {
  for (const char* word : {"xx_90", "sm_9x", "sm_"}) {
    auto bytes = data("sm_90.cubin");
    std::string padded(word);
    padded.resize(5, ' ');
    bytes.replace(only_place(bytes, "sm_90 -m"), 5, padded);
    EXPECT_FALSE(sass_target(bytes)) << word;
  }
}

TEST(SassTargetRefuses, every_shortened_cubin_or_still_tells_the_truth) {
  const auto bytes = data("sm_120f.cubin");
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    const auto target = sass_target(std::string_view(bytes).substr(0, size));
    if (target) {
      EXPECT_EQ(*target, "sm_120f") << size;
    }
  }
}

TEST(SassTargetRefuses, damaged_notes_without_reading_past_them) {
  const auto bytes = data("sm_90a.cubin");
  const auto note = bytes.find("NVIDIA Corp") - 12; // the first note is the one of the tools
  for (std::size_t i = 0; i < 48; ++i) {            // sizes, type, name, offsets
    for (const char value : {'\xff', '\x7f', '\0', '\x10'}) {
      auto damaged = bytes;
      damaged[note + i] = value;
      const auto target = sass_target(damaged);
      if (target) {
        EXPECT_EQ(*target, "sm_90a") << i;
      }
    }
  }
}

} // namespace
} // namespace cukit::validate

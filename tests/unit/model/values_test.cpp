#include "model/gpu_target.hpp"
#include "model/platform.hpp"
#include "model/relative_path.hpp"
#include "model/toolkit_name.hpp"

#include <gtest/gtest.h>

namespace cukit {
namespace {

TEST(ToolkitName, is_a_word_that_nothing_else_is_spelled_like) {
  for (const char* good : {"a", "sm120-cu130", "X.1_y", "9", "yaml", "a.yaml.b"}) {
    EXPECT_TRUE(is_toolkit_name(good)) << good;
  }
  for (const char* bad : {"", ".", "..", ".a", "-a", "--all", "a/b", "./a", "a b", "\xc3\xa9",
                          "a\n", "a.yaml", "a.yml", "a.lock.yaml"}) {
    EXPECT_FALSE(is_toolkit_name(bad)) << bad;
  }
  EXPECT_TRUE(is_toolkit_name(std::string(64, 'a')));
  EXPECT_FALSE(is_toolkit_name(std::string(65, 'a')));
}

GpuTarget target(std::string_view text) {
  auto result = GpuTarget::parse(text);
  EXPECT_TRUE(result) << text;
  return result ? *result : GpuTarget();
}

TEST(GpuTarget, reads_every_spelling_of_one_target) {
  for (const auto* text : {"sm_120f", "compute_120f", "120f", "12.0f"}) {
    EXPECT_EQ(target(text), (GpuTarget{12, 0, 'f'})) << text;
  }
  EXPECT_EQ(target("9.0"), (GpuTarget{9, 0, 0}));
  EXPECT_EQ(target("sm_103a"), (GpuTarget{10, 3, 'a'}));
}

TEST(GpuTarget, refuses_what_is_none) {
  for (const auto* text :
       {"", "sm_", "sm_9", "sm_9000", "sm_90b", "sm_-90", "12.", ".0", "12.00", "1.2.3", "sm_9x",
        "H200", "-1.0", "sm_0a", "0.0", "sm_90 ", "sm_compute_90", "compute_sm_90", "12,0"}) {
    EXPECT_FALSE(GpuTarget::parse(text)) << text;
  }
}

TEST(GpuTarget, spells_itself_for_each_reader) {
  const auto t = target("12.1a");
  EXPECT_EQ(t.sm(), "sm_121a");
  EXPECT_EQ(t.compute(), "compute_121a");
  EXPECT_EQ(t.dotted(), "12.1a");
  EXPECT_EQ(t.plain().sm(), "sm_121");
  EXPECT_EQ(t.number(), 121);
}

TEST(GpuTarget, runs_on_the_devices_that_the_programming_guide_names) {
  EXPECT_TRUE(target("sm_120").runs_on(target("12.1")));
  EXPECT_FALSE(target("sm_121").runs_on(target("12.0")));
  EXPECT_FALSE(target("sm_90").runs_on(target("10.0")));
  EXPECT_TRUE(target("sm_90a").runs_on(target("9.0")));
  EXPECT_FALSE(target("sm_120a").runs_on(target("12.1")));
  EXPECT_TRUE(target("sm_100f").runs_on(target("10.3")));
  EXPECT_FALSE(target("sm_103f").runs_on(target("10.0")));
  EXPECT_FALSE(target("sm_100f").runs_on(target("11.0")));
}

TEST(Platform, round_trips_its_names) {
  for (const auto kind : Platform::all()) {
    const auto parsed = Platform::parse(Platform(kind).text());
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, Platform(kind));
  }
  EXPECT_FALSE(Platform::parse("linux-amd64"));
  EXPECT_FALSE(Platform::parse(""));
}

TEST(Platform, knows_the_folder_under_targets_and_the_machine) {
  EXPECT_EQ(Platform(Platform::Kind::linux_sbsa).triple(), "sbsa-linux");
  EXPECT_EQ(Platform(Platform::Kind::linux_sbsa).machine(), "aarch64");
  EXPECT_EQ(Platform(Platform::Kind::linux_aarch64).triple(), "aarch64-linux");
  EXPECT_EQ(Platform(Platform::Kind::linux_x86_64).triple(), "x86_64-linux");
}

TEST(Platform, a_message_escapes_control_bytes) {
  const auto result = Platform::parse("linux\x1b[2J");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message.find('\x1b'), std::string::npos);
}

TEST(RelativePath, refuses_everything_that_could_leave_the_folder) {
  using namespace std::string_view_literals;
  for (const auto text :
       {""sv, "/etc/passwd"sv, ".."sv, "a/../b"sv, "a/.."sv, "./a"sv, "a//b"sv, "a/"sv, "."sv,
        "a\\b"sv, "a\0b"sv, "a\nb"sv, "a\x7f"sv, "\xff"sv, "a/\xc0\xae\xc0\xae/b"sv}) {
    const auto result = RelativePath::parse(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::integrity);
  }
  EXPECT_FALSE(RelativePath::parse(std::string(256, 'a')));
  EXPECT_TRUE(RelativePath::parse(std::string(255, 'a')));
  std::string deep = "a";
  for (int i = 0; i < 63; ++i) {
    deep += "/a";
  }
  EXPECT_TRUE(RelativePath::parse(deep));
  EXPECT_FALSE(RelativePath::parse(deep + "/a"));
}

TEST(RelativePath, takes_odd_but_harmless_names) {
  for (const auto* text :
       {"a", "a/b", "...", "..a", "a..", ".hidden", "a b", "include/cuda/std/ü.h", "-rf", "~"}) {
    EXPECT_TRUE(RelativePath::parse(text)) << text;
  }
}

TEST(RelativePath, knows_name_parent_and_what_it_is_inside_of) {
  const auto path = *RelativePath::parse("bin/crt/link.stub");
  EXPECT_EQ(path.name(), "link.stub");
  EXPECT_EQ(path.parent().text(), "bin/crt");
  EXPECT_EQ(path.parent().parent().parent().text(), "");
  EXPECT_TRUE(path.is_inside("bin"));
  EXPECT_TRUE(path.is_inside("bin/crt/"));
  EXPECT_TRUE(path.is_inside(""));
  EXPECT_FALSE(path.is_inside("bin/cr"));
  EXPECT_FALSE(path.is_inside("bin/crt/link.stub"));
}

TEST(ResolveLink, follows_inside_and_refuses_outside) {
  const auto link = *RelativePath::parse("lib/libcudart.so");
  EXPECT_EQ(resolve_link(link, "libcudart.so.13")->text(), "lib/libcudart.so.13");
  EXPECT_EQ(resolve_link(link, "../nvvm/./lib64")->text(), "nvvm/lib64");
  EXPECT_EQ(resolve_link(link, "..")->text(), "");
  EXPECT_FALSE(resolve_link(link, "../../etc/passwd"));
  EXPECT_FALSE(resolve_link(link, "/etc/passwd"));
  EXPECT_FALSE(resolve_link(link, ""));
  EXPECT_FALSE(resolve_link(link, "a\nb"));
}

} // namespace
} // namespace cukit

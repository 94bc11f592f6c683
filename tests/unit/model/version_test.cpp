#include "model/version.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cukit {
namespace {

Version version(std::string_view text) {
  auto result = Version::parse(text);
  EXPECT_TRUE(result) << text;
  return result ? *result : Version();
}

VersionRange range(std::string_view text) {
  auto result = VersionRange::parse(text);
  EXPECT_TRUE(result) << text;
  return result ? *result : VersionRange();
}

VersionRange wish(std::string_view text) {
  auto result = VersionRange::parse_wish(text);
  EXPECT_TRUE(result) << text;
  return result ? *result : VersionRange();
}

TEST(Version, keeps_13_10_apart_from_13_1) {
  EXPECT_NE(version("13.10"), version("13.1"));
  EXPECT_LT(version("13.2"), version("13.10"));
  EXPECT_EQ(version("13.10").text(), "13.10");
}

TEST(Version, a_trailing_zero_changes_the_text_but_not_the_value) {
  EXPECT_EQ(version("13.1.2"), version("13.1.2.0"));
  EXPECT_EQ(version("13.1.2.0").text(), "13.1.2.0");
}

TEST(Version, orders_driver_branches_as_numbers) {
  EXPECT_LT(version("575.57.08"), version("580.82.07"));
  EXPECT_EQ(version("570.086").text(), "570.86");
}

TEST(Version, takes_the_largest_number_and_refuses_the_next) {
  EXPECT_EQ(version("9223372036854775807").major(), 9223372036854775807);
  EXPECT_FALSE(Version::parse("9223372036854775808"));
  EXPECT_FALSE(Version::parse("1.9223372036854775808"));
  EXPECT_FALSE(Version::parse("1.0rc9223372036854775808"));
  EXPECT_FALSE(Version::parse("1.0.post9223372036854775808"));
  EXPECT_FALSE(Version::parse("1.0-9223372036854775808"));
}

TEST(Version, a_message_escapes_control_bytes) {
  const auto result = Version::parse("1.0\x1b[2J");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message.find('\x1b'), std::string::npos);
}

TEST(Version, names_its_minor) {
  EXPECT_EQ(version("13.2.78").major_minor(), "13.2");
  EXPECT_EQ(version("13").major_minor(), "13.0");
  EXPECT_TRUE(version("13.2.78").same_minor(version("13.2")));
  EXPECT_FALSE(version("13.2.78").same_minor(version("13.20")));
}

TEST(VersionRange, a_prefix_counts_missing_parts_as_zero) {
  EXPECT_TRUE(range("==13.0.88.*").contains(version("13.0.88")));
  EXPECT_TRUE(range("==13.0.*").contains(version("13")));
  EXPECT_FALSE(range("==13.1.*").contains(version("13.10.1")));
}

TEST(VersionRange, a_bare_wish_means_that_release_and_its_patches) {
  EXPECT_TRUE(wish("13.2").contains(version("13.2.78")));
  EXPECT_FALSE(wish("13.10").contains(version("13.1.80")));
  EXPECT_FALSE(wish("13.1").contains(version("13.10")));
  EXPECT_EQ(wish("13.2").text(), "==13.2.*");
  EXPECT_EQ(wish("13.2.*").text(), "==13.2.*");
  EXPECT_TRUE(wish("13.2.0").contains(version("13.2")));
}

TEST(VersionRange, a_wish_for_a_pre_release_is_exact) {
  EXPECT_TRUE(wish("13.4.46rc1").contains(version("13.4.46rc1")));
  EXPECT_FALSE(wish("13.4.46rc1").contains(version("13.4.46")));
  EXPECT_FALSE(wish("13.4").contains(version("13.4.46rc1")));
}

TEST(VersionRange, a_wish_must_say_something) {
  EXPECT_FALSE(VersionRange::parse_wish(""));
  EXPECT_FALSE(VersionRange::parse_wish("  "));
  EXPECT_FALSE(VersionRange::parse_wish("newest"));
  EXPECT_FALSE(VersionRange::parse_wish("13.2rc1.*"));
}

TEST(VersionRange, all_clauses_must_hold) {
  const auto both = range(">=13.2.78,<14");
  EXPECT_TRUE(both.contains(version("13.5.37")));
  EXPECT_FALSE(both.contains(version("13.2.51")));
  EXPECT_FALSE(both.contains(version("14.0")));
  EXPECT_FALSE(both.contains(version("14.0rc1"), true));
}

TEST(VersionRange, names_bounds_that_exclude_each_other) {
  const auto bounds = [](const char* text) { return VersionRange::parse(text)->contradiction(); };
  EXPECT_EQ(bounds(">=13.2,<13.1"), std::pair(std::string(">=13.2"), std::string("<13.1")));
  EXPECT_EQ(bounds("!=12.9,>13.0,<=13.0"), std::pair(std::string(">13.0"), std::string("<=13.0")));
  EXPECT_TRUE(bounds(">=13.0,<13.0"));
  EXPECT_FALSE(bounds(">=13.0,<=13.0"));
  EXPECT_FALSE(bounds(">=13.0,<13.1"));
  EXPECT_FALSE(bounds(""));
}

TEST(VersionRange, an_empty_text_is_every_final_version) {
  EXPECT_TRUE(range("").is_any());
  EXPECT_TRUE(range(" ").contains(version("1")));
  EXPECT_FALSE(range("").contains(version("1rc1")));
}

// A few thousand versions from the grammar with small numbers, so that near-equal ones meet often.
std::vector<std::string> generated_versions(std::size_t count) {
  std::mt19937 random(20260101);
  const auto pick = [&](std::initializer_list<const char*> choices) {
    return std::string(*(choices.begin() + static_cast<long>(random() % choices.size())));
  };
  std::vector<std::string> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(pick({"", "", "", "0!", "1!"}) + pick({"0", "1", "13", "013"}) +
                     pick({"", ".0", ".1", ".10", ".0.0", ".1.2", ".1.2.0"}) +
                     pick({"", "", "a1", "-beta.2", "rc1", "c01", "RC2"}) +
                     pick({"", "", ".post0", "-1", "r2"}) + pick({"", "", ".dev0", "dev3"}) +
                     pick({"", "", "", "+cu130", "+1", "+a.1", "+a-01"}));
  }
  return result;
}

TEST(VersionLaws, printing_and_parsing_gives_the_same_version) {
  for (const auto& text : generated_versions(4000)) {
    const auto v = version(text);
    EXPECT_EQ(version(v.text()), v) << text;
    EXPECT_EQ(version(v.text()).text(), v.text()) << text;
  }
}

TEST(VersionLaws, the_order_is_total_and_transitive) {
  std::vector<Version> versions;
  for (const auto& text : generated_versions(90)) {
    versions.push_back(version(text));
  }
  for (const auto& a : versions) {
    EXPECT_EQ(a, a);
    for (const auto& b : versions) {
      EXPECT_EQ((a < b) + (b < a) + (a == b), 1) << a.text() << " " << b.text();
      for (const auto& c : versions) {
        EXPECT_FALSE(a <= b && b <= c && !(a <= c))
            << a.text() << " " << b.text() << " " << c.text();
      }
    }
  }
}

TEST(VersionLaws, ranges_agree_with_the_order) {
  const auto texts = generated_versions(120);
  for (const auto& left : texts) {
    const auto bound = version(left).without_local();
    for (const auto& right : texts) {
      const auto v = version(right).without_local();
      EXPECT_EQ(range(">=" + bound.text()).contains(v, true), v >= bound);
      EXPECT_EQ(range("<=" + bound.text()).contains(v, true), v <= bound);
      EXPECT_EQ(range("==" + bound.text()).contains(v, true), v == bound);
      EXPECT_EQ(range("!=" + bound.text()).contains(v, true), v != bound);
      EXPECT_FALSE(range("<" + bound.text()).contains(v, true) && v >= bound);
      EXPECT_FALSE(range(">" + bound.text()).contains(v, true) && v <= bound);
    }
  }
}

} // namespace
} // namespace cukit

#include "catalog/catalog.hpp"
#include "model/project_name.hpp"
#include "support/corpus.hpp"

#include <gtest/gtest.h>

namespace cukit::catalog {
namespace {

WheelFile wheel(std::string_view file) {
  auto result = parse_wheel_name(file);
  EXPECT_TRUE(result) << file;
  return result ? *result : WheelFile{};
}

TEST(WheelName, says_machine_and_least_glibc) {
  struct Case {
    const char* tags;
    const char* machine;
    const char* glibc;
  };
  for (const auto& [tags, machine, glibc] : std::initializer_list<Case>{
           {"any", "any", ""},
           {"manylinux_2_27_x86_64", "x86_64", "2.27"},
           {"manylinux2014_x86_64.manylinux_2_17_x86_64", "x86_64", "2.17"},
           {"manylinux_2_28_aarch64.manylinux_2_17_aarch64", "aarch64", "2.17"},
           {"manylinux2010_x86_64", "x86_64", "2.12"},
           {"manylinux1_x86_64.manylinux_2_28_x86_64", "x86_64", "2.5"},
           {"manylinux_2_9_x86_64.manylinux_2_17_x86_64", "x86_64", "2.9"},
           {"linux_x86_64", "x86_64", ""}}) {
    const auto read = wheel(std::string("nvidia_nvvm-13.0.88-py3-none-") + tags + ".whl");
    EXPECT_EQ(read.machine, machine) << tags;
    EXPECT_EQ(read.glibc, glibc) << tags;
    EXPECT_EQ(read.project, "nvidia-nvvm");
    EXPECT_EQ(read.version.text(), "13.0.88");
  }
}

TEST(WheelName, leaves_out_other_systems_and_formats) {
  for (const auto* file :
       {"nvidia_nvvm-13.0.88-py3-none-win_amd64.whl",
        "nvidia_nvvm-13.0.88-py3-none-macosx_11_0_arm64.whl",
        "nvidia_nvvm-13.0.88-py3-none-manylinux_2_17_i686.whl",
        "nvidia_nvvm-13.0.88-py3-none-musllinux_1_2_x86_64.whl", "nvidia_nvvm-13.0.88.tar.gz",
        "nvidia_nvvm-13.0.88-py3-none-manylinux_x_y_x86_64.whl",
        "nvidia_nvvm-13.0.88-py3-none-manylinux_2_x86_64.whl",
        "nvidia_nvvm-13.0.88-py3-none-manylinux2099_x86_64.whl"}) {
    EXPECT_FALSE(parse_wheel_name(file)) << file;
  }
}

TEST(WheelName, takes_one_tag_of_ours_among_others) {
  EXPECT_EQ(wheel("a-1-py3-none-macosx_11_0_universal2.manylinux_2_17_x86_64.whl").machine,
            "x86_64");
}

TEST(WheelName, agrees_with_the_corpus) {
  const auto folder = test::corpus("pep440");
  const auto rows = test::read_table(folder / "wheel-filenames.tsv");
  ASSERT_GE(rows.size(), 60U);
  for (const auto& row : rows) {
    const auto read = parse_wheel_name(row[0]);
    const bool ours = row[5].find("win_") == std::string::npos;
    if (row[1] == "reject" || (row[1] == "accept" && !ours)) {
      EXPECT_FALSE(read) << row[0];
    } else if (row[1] == "accept") {
      ASSERT_TRUE(read) << row[0];
      EXPECT_EQ(read->project, row[2]);
      EXPECT_EQ(read->version.text(), row[3]);
    }
  }
}

TEST(ProjectName, is_normalised_and_checked_as_the_corpus_says) {
  const auto folder = test::corpus("pep440");
  for (const auto& row : test::read_table(folder / "project-names.tsv")) {
    EXPECT_EQ(normalised_project(row[0]), row[1]);
    EXPECT_TRUE(is_project_name(row[0])) << row[0];
  }
  for (const auto& row : test::read_table(folder / "project-names-invalid.tsv")) {
    EXPECT_FALSE(is_project_name(row[0])) << "[" << row[0] << "]";
  }
}

} // namespace
} // namespace cukit::catalog

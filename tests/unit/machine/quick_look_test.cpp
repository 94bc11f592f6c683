#include "machine/machine.hpp"

#include <gtest/gtest.h>

namespace cukit::machine {
namespace {

class QuickLookTest : public testing::Test {
protected:
  void SetUp() override {
    auto created = TempDirectory::create(fs::temp_directory_path(), "cukit-quick-look-");
    ASSERT_TRUE(created);
    root_.emplace(std::move(*created));
  }
  void put(const std::string& path, const std::string& text) const {
    const fs::path file = root_->path() / path;
    ASSERT_TRUE(make_directories(file.parent_path()));
    ASSERT_TRUE(create_file(file, text));
  }
  [[nodiscard]] const fs::path& root() const { return root_->path(); }

private:
  std::optional<TempDirectory> root_;
};

TEST_F(QuickLookTest, finds_nothing_on_a_machine_without_a_driver) {
  const auto look = quick_look(root());
  EXPECT_FALSE(look.driver);
  EXPECT_EQ(look.gpu_count, 0);
}

TEST_F(QuickLookTest, reads_the_version_of_the_proprietary_module) {
  put("proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Oct 21 10:15:30 UTC 2026\n"
      "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14) \n");
  EXPECT_EQ(quick_look(root()).driver.value_or(Version()).text(), "580.159.4");
}

TEST_F(QuickLookTest, reads_the_version_of_the_open_module) {
  put("proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build  (dvs@x)\n"
      "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04) \n");
  EXPECT_EQ(quick_look(root()).driver.value_or(Version()).text(), "580.82.7");
}

TEST_F(QuickLookTest, takes_sysfs_where_proc_says_nothing) {
  put("sys/module/nvidia/version", "575.51.03\n");
  EXPECT_EQ(quick_look(root()).driver.value_or(Version()).text(), "575.51.3");
}

TEST(DriverText, is_spelled_as_nvidia_spells_it) {
  EXPECT_EQ(driver_text(*Version::parse("580.159.04")), "580.159.04");
  EXPECT_EQ(driver_text(*Version::parse("575.57.08")), "575.57.08");
  EXPECT_EQ(driver_text(*Version::parse("570.26")), "570.26");
}

TEST_F(QuickLookTest, takes_no_version_from_a_file_of_another_form) {
  put("proc/driver/nvidia/version", "GCC version: 12.2.0\n\x01\xff NVRM version\n");
  EXPECT_FALSE(quick_look(root()).driver);
}

TEST_F(QuickLookTest, counts_gpus_by_their_information_files) {
  put("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\n");
  put("proc/driver/nvidia/gpus/0000:02:00.0/information", "Model: \t\t NVIDIA H200\n");
  put("proc/driver/nvidia/gpus/0000:03:00.0/registry", "");
  EXPECT_EQ(quick_look(root()).gpu_count, 2);
}

} // namespace
} // namespace cukit::machine

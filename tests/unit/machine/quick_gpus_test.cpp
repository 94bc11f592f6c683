#include "machine/quick_gpus.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace cukit::machine {
namespace {

class QuickGpusTest : public testing::Test {
protected:
  void SetUp() override {
    auto created = TempDirectory::create(fs::temp_directory_path(), "cukit-quick-gpus-");
    ASSERT_TRUE(created);
    root_.emplace(std::move(*created));
  }
  void put(const std::string& path, const std::string& text) const {
    const fs::path file = root() / path;
    ASSERT_TRUE(make_directories(file.parent_path()));
    ASSERT_TRUE(create_file(file, text));
  }
  [[nodiscard]] const fs::path& root() const { return root_->path(); }

private:
  std::optional<TempDirectory> root_;
};

TEST_F(QuickGpusTest, are_none_on_a_machine_without_a_driver) {
  const auto found = quick_gpus(root());
  EXPECT_TRUE(found.listed.empty());
  EXPECT_FALSE(found.may_be_more);
}

TEST_F(QuickGpusTest, have_the_model_and_uuid_that_the_kernel_module_says) {
  put("proc/driver/nvidia/gpus/0000:01:00.0/information",
      "Model: \t\t NVIDIA H200\nIRQ:   \t\t 180\n"
      "GPU UUID: \t GPU-5c1f0a2e-0001-0002-0003-0123456789ab\n"
      "Bus Location: \t 0000:01:00.0\nGPU Firmware: \t 580.159.04\n");
  put("proc/driver/nvidia/gpus/0000:02:00.0/information",
      "Model: \t\t NVIDIA H200\n"
      "GPU UUID: \t GPU-\?\?\?\?\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?-\?\?\?\?\?\?\?\?\?\?\?\?\n");
  put("proc/driver/nvidia/gpus/0000:03:00.0/registry", "");
  put("dev/nvidiactl", "");
  const auto found = quick_gpus(root());
  ASSERT_EQ(found.listed.size(), 2U);
  EXPECT_EQ(found.listed[0].model, "NVIDIA H200");
  EXPECT_EQ(found.listed[0].uuid, "GPU-5c1f0a2e-0001-0002-0003-0123456789ab");
  EXPECT_EQ(found.listed[1].model, "NVIDIA H200");
  EXPECT_EQ(found.listed[1].uuid, "") << "nobody has used it yet, so the module does not know";
  EXPECT_FALSE(found.may_be_more);
}

TEST_F(QuickGpusTest, may_stand_behind_a_device_node_where_proc_lists_none) {
  put("dev/dxg", "");
  const auto found = quick_gpus(root());
  EXPECT_TRUE(found.listed.empty());
  EXPECT_TRUE(found.may_be_more);
}

} // namespace
} // namespace cukit::machine

#include "fixture.hpp"
#include "resolve/hand_edits.hpp"

#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::HasSubstr;

constexpr const char* k_body =
    "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\"}\nplatforms: [linux-x86_64]\n";

std::string noticed(const lock::Lock& lock, const std::string& text) {
  const auto result = changed_by_hand(lock, text, recipes());
  EXPECT_TRUE(result.has_value());
  return result.value_or("error");
}

/// What a person would do with an editor, then read as cukit reads it.
std::string edited(const std::string& from, const std::string& to) {
  auto text = lock::write(resolution_of(k_body).lock);
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto lock = lock::read(text, "test.lock.yaml");
  EXPECT_TRUE(lock.has_value()) << (lock ? "" : lock.error().message);
  return lock ? noticed(*lock, text) : "error";
}

TEST(HandEdits, a_lock_as_it_was_written_is_not_suspected) {
  const auto lock = resolution_of(k_body).lock;
  EXPECT_EQ(noticed(lock, lock::write(lock)), "");
}

TEST(HandEdits, a_version_that_is_not_the_files) {
  EXPECT_THAT(edited("version: \"13.0.88\"", "version: \"13.0.48\""), HasSubstr("is said to be"));
}

TEST(HandEdits, a_file_of_another_platform) {
  EXPECT_THAT(
      edited("nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64",
             "nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64"),
      HasSubstr("stands under linux-x86_64"));
}

TEST(HandEdits, a_file_of_another_project) {
  EXPECT_THAT(edited("nvidia_cuda_nvcc-13.0.88", "nvidia_cuda_nvrtc-13.0.88"),
              HasSubstr("whose wheels are called nvidia-cuda-nvcc"));
}

TEST(HandEdits, a_comment_or_another_order_is_named_with_its_line) {
  EXPECT_THAT(edited("assembly:", "# mine\nassembly:"), HasSubstr("line 3 "));
  EXPECT_THAT(edited("release: \"13.0.3\"\n", "release: '13.0.3'\n"), HasSubstr("line 4 "));
}

} // namespace
} // namespace cukit::resolve

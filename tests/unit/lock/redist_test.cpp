// Artifacts that are archives of NVIDIA's redistributables.
#include "lock/lock.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::lock {
namespace {

using testing::HasSubstr;

/// Digests and sizes of cuda_nvcc as redistrib_12.4.1.json and redistrib_13.0.2.json state them.
const std::string k_text = R"(cukit-lock: 1
manifest: sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
assembly: 1
release: "13.0.2"
pins:
  cuda/redist/redistrib_13.0.2.json: sha256:fce66717a81c510ffeb89ecc3e79849ab34af3b80139f750876d9033e31d71c2
platforms:
  linux-x86_64:
    artifacts:
      - component: nvcc
        version: "13.0.88"
        why: group core
        source: redist
        file: cuda_nvcc-linux-x86_64-13.0.88-archive.tar.xz
        path: cuda/redist/cuda_nvcc/linux-x86_64/cuda_nvcc-linux-x86_64-13.0.88-archive.tar.xz
        size: 26657716
        sha256: sha256:48e35be3cfbf4b4fbc16828eaec8a7048ee789403049dc409f7b643d6259cf7a
        licence: LicenseRef-NVIDIA-Proprietary
        require: [bin/cudafe++, bin/nvcc]
)";

std::string with(const std::string& from, const std::string& to) {
  auto text = k_text;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string mistake_of(const std::string& text) {
  const auto lock = read(text, "l");
  if (lock) {
    return "none";
  }
  std::string all = lock.error().message;
  for (const auto& cause : lock.error().causes) {
    all += "|" + cause;
  }
  return all;
}

TEST(RedistLock, is_read_and_written_byte_for_byte) {
  const auto lock = read(k_text, "l");
  ASSERT_TRUE(lock) << mistake_of(k_text);
  EXPECT_EQ(write(*lock), k_text);
  const auto& artifact = lock->platforms.front().artifacts.front();
  EXPECT_EQ(artifact.source, "redist");
  EXPECT_EQ(artifact.path,
            "cuda/redist/cuda_nvcc/linux-x86_64/cuda_nvcc-linux-x86_64-13.0.88-archive.tar.xz");
  EXPECT_EQ(artifact.require, (std::vector<std::string>{"bin/cudafe++", "bin/nvcc"}));
  EXPECT_EQ(lock->pins.begin()->first, "cuda/redist/redistrib_13.0.2.json");
}

TEST(RedistLock, sorts_the_required_files) {
  const auto lock = read(with("[bin/cudafe++, bin/nvcc]", "[bin/nvcc, bin/cudafe++]"), "l");
  ASSERT_TRUE(lock);
  EXPECT_EQ(write(*lock), k_text);
}

TEST(RedistLock, refuses_sources_that_nobody_knows) {
  EXPECT_THAT(mistake_of(with("source: redist", "source: conda")), HasSubstr("`conda`"));
}

TEST(RedistLock, an_archive_needs_a_path_that_ends_in_its_file) {
  const std::string line =
      "        path: "
      "cuda/redist/cuda_nvcc/linux-x86_64/cuda_nvcc-linux-x86_64-13.0.88-archive.tar.xz\n";
  EXPECT_THAT(mistake_of(with(line, "")), HasSubstr("path"));
  EXPECT_THAT(mistake_of(with(line, "        path: cuda/redist/other.tar.xz\n")),
              HasSubstr("end in `file`"));
}

TEST(RedistLock, row08_a_path_can_neither_leave_the_base_nor_carry_a_query) {
  const std::string folder = "path: cuda/redist/cuda_nvcc/linux-x86_64/";
  for (const auto* bad :
       {"path: ../redist/", "path: /cuda/redist/", "path: cuda//redist/", "path: cuda/%2e%2e/",
        "path: \"cuda/?x=/\"", "path: \"cuda/#/\"", "path: \"https://other.example/\""}) {
    EXPECT_NE(mistake_of(with(folder, bad)), "none") << bad;
  }
}

TEST(RedistLock, a_wheel_has_no_path_and_an_archive_no_record) {
  EXPECT_THAT(mistake_of(with("source: redist", "source: wheels")), HasSubstr("redist alone"));
  EXPECT_THAT(mistake_of(with("        licence:", "        record: sha256:" + std::string(64, 'b') +
                                                      "\n        licence:")),
              HasSubstr("always comes whole"));
}

TEST(RedistLock, required_files_lie_inside_the_tree) {
  for (const auto* bad :
       {"[../nvcc]", "[/bin/nvcc]", "[bin/]", "[.cukit/input]", "[bin/nvcc, bin/nvcc]"}) {
    EXPECT_NE(mistake_of(with("[bin/cudafe++, bin/nvcc]", bad)), "none") << bad;
  }
}

TEST(RedistLock, required_files_are_part_of_a_trees_id) {
  const auto lock = read(k_text, "l").value();
  auto other = lock;
  other.platforms.front().artifacts.front().require.pop_back();
  EXPECT_NE(tree_id(lock, lock.platforms.front()), tree_id(other, other.platforms.front()));
  other = lock;
  other.platforms.front().artifacts.front().path = "cuda/redist/elsewhere.tar.xz";
  EXPECT_EQ(tree_id(lock, lock.platforms.front()), tree_id(other, other.platforms.front()));
}

} // namespace
} // namespace cukit::lock

// What is made for a while: it is gone with whoever made it, or with the next run.
#include "base/temporary.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cukit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Temporary : public ::testing::Test {
protected:
  [[nodiscard]] const fs::path& path() const { return folder_.path(); }
  [[nodiscard]] std::vector<std::string> names() const { return list_directory(path()).value(); }
  static constexpr const char* k_digits = "0123456789abcdef";

private:
  TempDirectory folder_ = TempDirectory::create(fs::temp_directory_path(), "temporary-").value();
};

TEST_F(Temporary, a_folder_stays_as_long_as_somebody_works_in_it) {
  {
    const auto held = HeldDirectory::create(path(), temporary::k_validation).value();
    sweep_temporary(path());
    EXPECT_THAT(names(), ElementsAre(held.path().filename().string()));
    const auto other = HeldDirectory::create(path(), temporary::k_validation).value();
    EXPECT_THAT(names(), SizeIs(2));
  }
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Temporary, what_a_killed_process_left_goes_at_the_next_look) {
  for (const auto prefix : {temporary::k_home, temporary::k_prefix, temporary::k_bundle,
                            temporary::k_manifests, temporary::k_validation, temporary::k_image}) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto made = HeldDirectory::create(path(), prefix);
      static_cast<void>(create_file(made->path() / "half", "bytes"));
      ::raise(SIGKILL);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    ASSERT_THAT(names(), SizeIs(1)) << prefix;
    sweep_temporary(path());
    EXPECT_THAT(names(), IsEmpty()) << prefix;
  }
}

TEST_F(Temporary, what_only_looks_alike_is_left_alone) {
  const auto digits = std::string(k_digits);
  const std::vector<std::string> alike{
      ".cukit-prefix-" + digits + "0", ".cukit-prefix-" + digits.substr(1),
      ".cukit-prefix-G123456789abcdef", "cukit-work-" + digits, ".cukit-switch." + digits};
  for (const auto& name : alike) {
    ASSERT_TRUE(make_directories(path() / name));
  }
  ASSERT_TRUE(create_file(path() / ("cukit-image-" + digits), "a file"));
  ASSERT_TRUE(make_directories(path() / "mine"));
  fs::create_symlink("mine", path() / ("cukit-validate-" + digits));
  const auto before = names();
  sweep_temporary(path());
  EXPECT_EQ(names(), before);
}

TEST_F(Temporary, a_file_that_was_never_finished_goes_with_the_next_writing) {
  const auto left = path() / (std::string(".lock.yaml.") + k_digits);
  ASSERT_TRUE(create_file(left, "half"));
  ASSERT_TRUE(create_file(path() / ".lock.yaml.backup", "mine"));
  ASSERT_TRUE(write_file_atomic(path() / "lock.yaml", "whole"));
  EXPECT_THAT(names(), ElementsAre(".lock.yaml.backup", "lock.yaml"));
}

TEST_F(Temporary, many_writers_of_one_file_all_succeed) {
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 4; ++i) {
      writers.emplace_back([&] {
        for (int n = 0; n < 50; ++n) {
          const auto written = write_file_atomic(path() / "shared", "the same");
          EXPECT_TRUE(written) << written.error().message;
        }
      });
    }
  }
  EXPECT_THAT(names(), ElementsAre("shared"));
}

TEST_F(Temporary, many_folders_made_and_swept_at_once_disturb_nobody) {
  std::vector<std::jthread> makers;
  for (int i = 0; i < 4; ++i) {
    makers.emplace_back([&] {
      for (int n = 0; n < 50; ++n) {
        const auto made = HeldDirectory::create(path(), temporary::k_bundle);
        ASSERT_TRUE(made) << made.error().message;
        EXPECT_TRUE(create_file(made->path() / "bytes", "here"));
        EXPECT_TRUE(path_exists(made->path() / "bytes"));
      }
    });
  }
  makers.clear();
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Temporary, a_folder_that_several_remove_at_once_is_gone_for_all) {
  for (int round = 0; round < 10; ++round) {
    const auto folder = path() / "tree";
    for (int i = 0; i < 40; ++i) {
      const auto inner = folder / std::to_string(i % 7) / std::to_string(i);
      ASSERT_TRUE(make_directories(inner));
      ASSERT_TRUE(create_file(inner / "file", "bytes"));
    }
    std::vector<std::jthread> removers;
    for (int i = 0; i < 4; ++i) {
      removers.emplace_back([&] {
        const auto removed = remove_tree(folder);
        EXPECT_TRUE(removed) << removed.error().message;
      });
    }
    removers.clear();
    EXPECT_FALSE(path_exists(folder));
  }
}

TEST_F(Temporary, only_a_file_is_replaced_by_a_file) {
  const auto pipe = path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_TRUE(make_directories(path() / "folder"));
  for (const auto* name : {"pipe", "folder"}) {
    const auto refused = write_file_atomic(path() / name, "bytes");
    ASSERT_FALSE(refused) << name;
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr(name));
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
  const auto device = path() / "null";
  if (::mknod(device.c_str(), S_IFCHR | 0666, ::makedev(1, 3)) != 0) {
    GTEST_SKIP() << "making a device needs root";
  }
  EXPECT_FALSE(write_file_atomic(device, "bytes"));
  EXPECT_TRUE(fs::is_character_file(device));
  EXPECT_THAT(names(), ElementsAre("folder", "null", "pipe"));
}

} // namespace
} // namespace cukit

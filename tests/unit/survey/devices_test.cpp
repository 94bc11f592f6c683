// What a live snapshot knows of the GPUs where the driver says nothing.
#include "survey/snapshot.hpp"

#include <gtest/gtest.h>

namespace cukit::survey {
namespace {

/// A script that answers as nvidia-smi 580 does.
const char* const k_smi = "#!/bin/sh\n"
                          "case \"$*\" in *compute_cap*csv,noheader*) ;; *) exit 2 ;; esac\n"
                          "echo 'NVIDIA L40S, GPU-77aa, 570.124.06, 8.9'\n"
                          "echo 'NVIDIA L40S, GPU-77ab, 570.124.06, 8.9'\n";

TEST(Devices, a_live_snapshot_says_which_way_it_knows_its_gpus) {
  if (path_exists("/proc/driver/nvidia/version") || path_exists("/dev/nvidiactl")) {
    GTEST_SKIP() << "this machine has a GPU of its own";
  }
  const auto folder = TempDirectory::create(fs::temp_directory_path(), "cukit-driver-");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(create_file(folder->path() / "nvidia-smi", k_smi, 0755));
  SnapshotRequest request;
  request.environment.set("PATH", folder->path().string() + ":/usr/bin:/bin");
  request.environment.set("HOME", folder->path().string());
  const auto live = take_snapshot(request);
  EXPECT_EQ(live.gpus_found_by, "nvidia-smi");
  EXPECT_EQ(live.driver, "570.124.06");
  ASSERT_EQ(live.gpus.size(), 2U);
  EXPECT_EQ(live.gpus[0].target, "sm_89");
  EXPECT_FALSE(live.gpus_why.empty());
  request.ask_devices = false;
  EXPECT_TRUE(take_snapshot(request).gpus.empty());
}

} // namespace
} // namespace cukit::survey

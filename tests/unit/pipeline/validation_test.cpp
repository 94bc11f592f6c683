// What a validation holds for: the machine it was made on, and the GPUs that ran it.
#include "pipeline/validation.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::pipeline {
namespace {

using validate::State;

machine::Gpu h200(int index) {
  return {.index = index,
          .name = "NVIDIA H200",
          .uuid = "GPU-" + std::to_string(index),
          .target = GpuTarget::parse("sm_90").value()};
}

machine::QuickGpus machine_with(const std::vector<std::string>& uuids) {
  machine::QuickGpus gpus;
  for (const auto& uuid : uuids) {
    gpus.listed.push_back({.model = "NVIDIA H200", .uuid = uuid});
  }
  return gpus;
}

/// A report of two programs, run on those GPUs; on none it says `not_run`.
validate::Report report_of(const std::vector<machine::Gpu>& gpus) {
  validate::Report report;
  for (const char* target : {"sm_90", "sm_120"}) {
    report.builds.push_back(
        {.kernel = "plain", .target = target, .state = State::passed, .reason = {}});
    bool ran = false;
    for (const auto& gpu : gpus) {
      if (GpuTarget::parse(target)->runs_on(gpu.target)) {
        report.runs.push_back({.kernel = "plain",
                               .target = target,
                               .gpu = gpu.name,
                               .gpu_uuid = gpu.uuid,
                               .state = State::passed,
                               .reason = {},
                               .numbers = {}});
        ran = true;
      }
    }
    if (!ran) {
      report.runs.push_back({.kernel = "plain",
                             .target = target,
                             .gpu = {},
                             .gpu_uuid = {},
                             .state = State::not_run,
                             .reason = "no GPU",
                             .numbers = {}});
    }
  }
  for (const auto& gpu : gpus) {
    report.gpus.push_back(gpu.name);
    report.gpu_uuids.push_back(gpu.uuid);
  }
  return report;
}

/// Answers with those GPUs, and counts the questions.
struct Driver {
  std::vector<machine::Gpu> visible;
  int questions = 0;
  AskDevices ask() {
    return [this] {
      ++questions;
      machine::Devices devices;
      devices.gpus = visible;
      return devices;
    };
  }
};

TEST(AValidation, that_ran_nothing_does_not_hold_where_a_gpu_could_run_it) {
  Driver driver{{h200(0)}};
  EXPECT_FALSE(holds(report_of({}), machine_with({"GPU-0"}), driver.ask()));
  EXPECT_EQ(driver.questions, 1);
}

TEST(AValidation, that_ran_nothing_holds_where_the_gpu_is_hidden_or_cannot_run_it) {
  Driver hidden{{}};
  EXPECT_TRUE(holds(report_of({}), machine_with({"GPU-0"}), hidden.ask()));
  auto blackwell_only = report_of({});
  blackwell_only.builds.erase(blackwell_only.builds.begin());
  Driver driver{{h200(0)}};
  EXPECT_TRUE(holds(blackwell_only, machine_with({"GPU-0"}), driver.ask()));
}

TEST(AValidation, on_every_gpu_that_is_here_holds_and_nobody_asks_the_driver) {
  Driver driver{{h200(0), h200(1)}};
  const auto full = report_of({h200(0), h200(1)});
  EXPECT_TRUE(holds(full, machine_with({"GPU-0", "GPU-1"}), driver.ask()));
  EXPECT_TRUE(holds(full, machine_with({"GPU-1"}), driver.ask()));
  EXPECT_TRUE(holds(report_of({}), machine_with({}), driver.ask())) << "no GPU, and none then";
  EXPECT_EQ(driver.questions, 0);
}

TEST(AValidation, on_one_of_two_gpus_holds_only_as_long_as_the_other_is_hidden) {
  const auto half = report_of({h200(0)});
  Driver only_that{{h200(0)}};
  EXPECT_TRUE(holds(half, machine_with({"GPU-0", "GPU-1"}), only_that.ask()));
  Driver other{{h200(1)}};
  EXPECT_FALSE(holds(half, machine_with({"GPU-0", "GPU-1"}), other.ask()));
  Driver both{{h200(0), h200(1)}};
  EXPECT_FALSE(holds(half, machine_with({"GPU-0", "GPU-1"}), both.ask()));
}

TEST(AValidation, does_not_hold_where_a_gpu_is_seen_by_its_device_node_alone) {
  Driver driver{{h200(0)}};
  auto machine = machine_with({});
  machine.may_be_more = true; // WSL
  EXPECT_FALSE(holds(report_of({}), machine, driver.ask()));
  EXPECT_TRUE(holds(report_of({h200(0)}), machine, driver.ask()));
}

TEST(AValidation, that_failed_never_holds) {
  auto failed = report_of({h200(0)});
  failed.runs.front().state = State::failed;
  Driver driver;
  EXPECT_FALSE(holds(failed, machine_with({"GPU-0"}), driver.ask()));
}

class ReportKey : public testing::Test {
protected:
  ReportKey() {
    around_.gpus = machine_with({"GPU-0", "GPU-1"});
    around_.driver = Version::parse("580.159.04").value();
    around_.host_compiler = "/usr/bin/g++ 1 2 3";
    around_.glibc = Version::parse("2.36").value();
  }
  [[nodiscard]] std::string key() const {
    const ValidationPlan plan{
        .gpus = {GpuTarget::parse("sm_90").value()}, .suites = {"core"}, .host_compiler = {}};
    const auto result = report_key(knowledge::Knowledge::embedded(), Sha256(), plan, around_);
    return result ? *result : result.error().message;
  }
  Surroundings around_;
};

TEST_F(ReportKey, is_another_wherever_the_machine_differs) {
  const auto here = around_;
  const auto before = key();
  const std::pair<const char*, std::function<void()>> changes[] = {
      {"another GPU of the same model", [&] { around_.gpus.listed[1].uuid = "GPU-7"; }},
      {"another model", [&] { around_.gpus.listed[1].model = "NVIDIA H100"; }},
      {"a GPU less", [&] { around_.gpus.listed.pop_back(); }},
      {"another driver", [&] { around_.driver = Version::parse("590.44.01").value(); }},
      {"no driver", [&] { around_.driver.reset(); }},
      {"a driver's library from LD_LIBRARY_PATH", [&] { around_.driver_library = "/compat/x"; }},
      {"another host compiler", [&] { around_.host_compiler = "/opt/gcc/bin/g++ 1 2 3"; }},
      {"another C library", [&] { around_.glibc = Version::parse("2.39").value(); }}};
  for (const auto& [what, change] : changes) {
    around_ = here;
    change();
    EXPECT_NE(key(), before) << what;
  }
  around_ = here;
  std::swap(around_.gpus.listed[0], around_.gpus.listed[1]);
  EXPECT_EQ(key(), before) << "the order in which GPUs are listed says nothing";
}

class SurroundingsTest : public testing::Test {
protected:
  void SetUp() override {
    auto created = TempDirectory::create(fs::temp_directory_path(), "cukit-surroundings-");
    ASSERT_TRUE(created);
    root_.emplace(std::move(*created));
    environment_.set("PATH", (root_->path() / "bin").string());
  }
  void put(const std::string& path, const std::string& text) const {
    const fs::path file = root_->path() / path;
    ASSERT_TRUE(make_directories(file.parent_path()));
    ASSERT_TRUE(write_file_atomic(file, text, 0755));
  }
  [[nodiscard]] Surroundings look(Driver& driver) const {
    return surroundings(environment_, {}, driver.ask(), root_->path());
  }
  Environment environment_;
  std::optional<TempDirectory> root_;
};

TEST_F(SurroundingsTest, ask_the_driver_only_for_a_uuid_that_the_kernel_module_does_not_know_yet) {
  const std::string folder = "proc/driver/nvidia/gpus/0000:01:00.0/information";
  put(folder, "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-0\n");
  Driver driver{{h200(0)}};
  const auto known = look(driver);
  EXPECT_EQ(driver.questions, 0);
  put(folder, "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-\?\?\?\?\?\?\?\?-\?\?\?\?\n");
  const auto asked = look(driver);
  EXPECT_EQ(driver.questions, 1);
  ASSERT_EQ(asked.gpus.listed.size(), 1U);
  EXPECT_EQ(asked.gpus.listed.front().uuid, known.gpus.listed.front().uuid);
}

TEST_F(SurroundingsTest, ask_the_driver_where_a_device_node_is_all_that_tells_of_a_gpu) {
  put("dev/nvidiactl", "");
  Driver driver{{h200(0)}};
  const auto found = look(driver);
  EXPECT_EQ(driver.questions, 1);
  ASSERT_EQ(found.gpus.listed.size(), 1U);
  EXPECT_EQ(found.gpus.listed.front().uuid, "GPU-0");
}

TEST_F(SurroundingsTest, tell_a_compiler_from_its_next_version_of_the_same_size_and_time) {
  Driver driver;
  EXPECT_EQ(look(driver).host_compiler, "none");
  const auto compiler = root_->path() / "bin/g++";
  put("bin/g++", "#!/bin/sh\necho 12.2.0\n");
  const auto time = fs::last_write_time(compiler);
  const auto before = look(driver).host_compiler;
  put("bin/g++", "#!/bin/sh\necho 12.3.0\n");
  fs::last_write_time(compiler, time);
  EXPECT_NE(look(driver).host_compiler, before);
}

TEST_F(SurroundingsTest, follow_the_compiler_that_nvcc_is_told_also_behind_a_wrapper) {
  Driver driver;
  put("bin/g++", "#!/bin/sh\n# one\n");
  const auto plain = look(driver).host_compiler;
  put("ccache/ccache", "#!/bin/sh\n");
  fs::create_symlink("ccache", root_->path() / "ccache/g++");
  for (const char* named : {"ccache/g++", "ccache"}) { // a folder too
    environment_.set("NVCC_CCBIN", (root_->path() / named).string());
    EXPECT_EQ(look(driver).host_compiler, plain) << named;
  }
  put("other/g++", "#!/bin/sh\n# another\n");
  environment_.set("NVCC_CCBIN", (root_->path() / "other").string());
  EXPECT_NE(look(driver).host_compiler, plain);
}

TEST_F(SurroundingsTest, see_the_drivers_library_that_LD_LIBRARY_PATH_brings) {
  Driver driver;
  EXPECT_EQ(look(driver).driver_library, "");
  put("compat/libcuda.so.590.44.01", "");
  fs::create_symlink("libcuda.so.590.44.01", root_->path() / "compat/libcuda.so.1");
  environment_.set("LD_LIBRARY_PATH", "/nowhere::" + (root_->path() / "compat").string());
  EXPECT_THAT(look(driver).driver_library, testing::EndsWith("compat/libcuda.so.590.44.01"));
  put("proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  590.44.01  Tue Oct 21 10:15:30 UTC 2026\n");
  EXPECT_EQ(look(driver).driver_library, "") << "it is the kernel module's own";
}

} // namespace
} // namespace cukit::pipeline

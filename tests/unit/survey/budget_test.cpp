// What a look at a machine may cost, what it opens, and that it stays inside its root.
#include "base/strings.hpp"
#include "support/fake_root.hpp"
#include "survey/elf_facts.hpp"
#include "survey/snapshot.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::survey {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

void make_pipe(const test::FakeRoot& root, const std::string& path) {
  const auto place = root.path() / path.substr(1);
  ASSERT_TRUE(make_directories(place.parent_path()));
  std::error_code error;
  fs::remove(place, error);
  ASSERT_EQ(::mkfifo(place.c_str(), 0755), 0);
}

bool write_text_at(const fs::path& path, off_t offset, std::string_view text) {
  const auto fd = open_file(path, O_WRONLY);
  return fd &&
         ::pwrite(fd->get(), text.data(), text.size(), offset) == static_cast<ssize_t>(text.size());
}

TEST(Snapshot, pipes_in_the_place_of_files_are_passed_over) {
  test::FakeRoot root;
  root.toolkit("/usr/local/cuda", "13.0.88");
  const auto site = root.venv("/venv", "2.11.0+cu130", "13.0");
  for (const std::string& path :
       {std::string("/usr/local/cuda/bin/ptxas"), std::string("/usr/local/cuda/include/cuda.h"),
        std::string("/usr/local/cuda/version.json"),
        std::string("/usr/local/cuda/lib64/libcudart.so.13"), std::string("/etc/os-release"),
        std::string("/lib/x86_64-linux-gnu/libc.so.6"), site + "/torch/version.py",
        site + "/nvidia_x-1.0.dist-info/METADATA", std::string("/proc/driver/nvidia/version"),
        std::string("/usr/bin/g++-13"), std::string("/home/user/.cache/tvm-ffi/x/build.ninja"),
        std::string("/home/user/.cache/tvm-ffi/x/x.so"),
        std::string("/home/user/.triton/cache/X/k.cubin")}) {
    make_pipe(root, path);
  }
  root.put("/opt/w/bin/nvcc", "#!/bin/sh\nexec /opt/w/pipe/nvcc\n", 0755);
  make_pipe(root, "/opt/w/pipe/nvcc");
  root.prepend_path("/opt/w/bin");
  const auto snapshot = take_snapshot({.root = root.path(),
                                       .environment = root.environment,
                                       .venvs = {"/venv"},
                                       .toolkits = {"/opt/w"}});
  EXPECT_THAT(snapshot.driver, IsEmpty());
  EXPECT_THAT(snapshot.os, IsEmpty());
}

TEST(Snapshot, of_a_root_does_not_read_the_driver_of_the_machine_behind_a_link) {
  const test::FakeRoot outside;
  outside.put("/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue\n");
  const test::FakeRoot root;
  root.link("/proc/driver/nvidia/version", outside.path().string() + "/version");
  root.link("/sys/module/nvidia/version", outside.path().string() + "/version");
  root.link("/proc/driver/nvidia/gpus", outside.path().string());
  const auto snapshot = take_snapshot({.root = root.path(), .environment = root.environment});
  EXPECT_EQ(snapshot.driver, "");
}

TEST(Snapshot, says_what_its_budget_did_not_reach_and_takes_no_half_toolkit) {
  test::FakeRoot root;
  for (int i = 0; i < 40; ++i) {
    const auto folder = fmt::format("/opt/cuda-{}", i);
    root.put(folder + "/bin/nvcc",
             std::string("\x7f"
                         "ELF"),
             0755);
    root.put(folder + "/bin/nvcc",
             "\x7f"
             "ELF" +
                 std::string(1'000'000, 'x'),
             0755);
  }
  const auto whole = take_snapshot({.root = root.path(), .environment = root.environment});
  EXPECT_THAT(whole.notes, IsEmpty());
  const auto cut = take_snapshot(
      {.root = root.path(), .environment = root.environment, .byte_budget = 10'000'000});
  EXPECT_THAT(cut.notes, Contains(HasSubstr("after 10 MB")));
  EXPECT_LT(cut.toolkits.size(), whole.toolkits.size());
  const auto late = take_snapshot({.root = root.path(),
                                   .environment = root.environment,
                                   .time_budget = std::chrono::milliseconds(0)});
  EXPECT_EQ(late.notes.size(), 1U);
  EXPECT_THAT(late.toolkits, IsEmpty());
}

TEST(Snapshot, holes_of_sparse_files_cost_nothing) {
  test::FakeRoot root;
  for (int i = 0; i < 40; ++i) {
    const auto name = fmt::format("/opt/cuda-{}/bin/nvcc", i);
    root.put(name,
             "\x7f"
             "ELF",
             0755);
    ASSERT_EQ(::truncate((root.path() / name.substr(1)).c_str(), off_t(4) << 30), 0);
  }
  // text behind a hole is found
  const auto last = root.path() / "opt/cuda-7/bin/nvcc";
  CUKIT_ENSURE(
      write_text_at(last, off_t(100) << 20, "Cuda compilation tools, release 13.0, V13.0.88"),
      "written");
  const auto snapshot = take_snapshot(
      {.root = root.path(), .environment = root.environment, .byte_budget = 100'000'000});
  EXPECT_THAT(snapshot.notes, IsEmpty());
  EXPECT_EQ(snapshot.toolkits.size(), 40U);
  EXPECT_EQ(toolkit_of(snapshot, "/opt/cuda-7")->tools.at("nvcc").version, "13.0.88");
}

TEST(Snapshot, a_toolkit_is_found_by_each_of_its_names) {
  test::FakeRoot root;
  root.toolkit("/opt/real", "13.0.88");
  root.link("/usr/local/cuda", "/opt/real");
  root.link("/usr/local/cuda-13", "/opt/real");
  root.link("/srv/cuda", "/opt/real");
  root.environment.set("CUDA_HOME", "/srv/cuda");
  const auto taken = take_snapshot({.root = root.path(), .environment = root.environment});
  const auto snapshot = snapshot_from_json(to_json(taken), "snapshot");
  ASSERT_TRUE(snapshot);
  ASSERT_EQ(snapshot->toolkits.size(), 1U);
  for (const char* name : {"/opt/real", "/usr/local/cuda", "/usr/local/cuda-13", "/srv/cuda"}) {
    EXPECT_EQ(toolkit_of(*snapshot, name), &snapshot->toolkits[0]) << name;
    EXPECT_TRUE(is_root_of(snapshot->toolkits[0], std::string(name) + "/")) << name;
  }
}

TEST(Snapshot, a_PATH_without_end_is_looked_at_in_part) {
  test::FakeRoot root;
  std::string path = "/opt/first/bin";
  for (int i = 0; i < 60'000; ++i) {
    path += fmt::format(":/opt/{}/bin", i);
  }
  root.tool("/opt/first/bin/nvcc", "13.0.88");
  root.environment.set("PATH", path + ":/opt/last/bin");
  root.tool("/opt/last/bin/nvcc", "13.0.88");
  const auto snapshot = take_snapshot({.root = root.path(), .environment = root.environment});
  EXPECT_THAT(snapshot.path_nvcc, testing::ElementsAre("/opt/first/bin/nvcc"));
  EXPECT_THAT(snapshot.notes, Contains(HasSubstr("PATH has 60002 folders")));
}

TEST(Snapshot, a_stop_ends_the_look) {
  test::FakeRoot root;
  root.toolkit("/usr/local/cuda", "13.0.88");
  std::stop_source source;
  source.request_stop();
  const auto snapshot =
      take_snapshot({.root = root.path(), .environment = root.environment}, source.get_token());
  EXPECT_THAT(snapshot.toolkits, IsEmpty());
}

TEST(Caches, can_go_as_a_whole_when_a_build_wrote_all_of_it) {
  test::FakeRoot root;
  Clues clues;
  clues.caches = {{.consumer = "torch-extensions",
                   .variable = "TORCH_EXTENSIONS_DIR",
                   .usual = ".cache/torch_extensions",
                   .entries = {"*", "*/*"}},
                  {.consumer = "tvm-ffi",
                   .variable = "TVM_FFI_CACHE_DIR",
                   .usual = ".cache/tvm-ffi",
                   .entries = {"*"}}};
  const auto entries = [&] {
    std::map<std::string, bool> result;
    for (const auto& entry :
         take_snapshot({.root = root.path(), .environment = root.environment, .clues = clues})
             .caches) {
      result.emplace(entry.path, entry.is_generated);
    }
    return result;
  };
  root.environment.set("TORCH_EXTENSIONS_DIR", "/home/user");
  root.environment.set("TVM_FFI_CACHE_DIR", "/work");
  const std::string ninja = "ninja_required_version = 1.3\nnvcc = /opt/gone/bin/nvcc\n";
  root.put("/home/user/mine/build.ninja", ninja); // a person's project
  root.put("/home/user/mine/kernel.cu", "x");
  root.put("/home/user/lib/libx.so", test::elf_library("libx.so", {"libcudart.so.12"}));
  root.put("/home/user/py311_cu130/ext/build.ninja", ninja);
  root.put("/home/user/py311_cu130/ext/ext.so", "");
  root.put("/home/user/py311_cu130/ext/main.o", "");
  root.put("/work/thesis/build.ninja", ninja);
  root.put("/work/thesis/src/x.cu", "x");
  root.put("/work/odd/build.ninja", ninja);
  root.link("/work/odd/x.so", "/home/user/lib/libx.so");
  const auto found = entries();
  EXPECT_FALSE(found.at("/home/user/mine"));
  EXPECT_FALSE(found.at("/home/user/lib"));
  EXPECT_FALSE(found.at("/work/thesis"));
  EXPECT_FALSE(found.at("/work/odd"));
  EXPECT_TRUE(found.at("/home/user/py311_cu130/ext"));
}

} // namespace
} // namespace cukit::survey

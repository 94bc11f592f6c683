#include "host/elf_facts.hpp"
#include "host/root_view.hpp"
#include "host/snapshot.hpp"
#include "support/fake_root.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::host {
namespace {

Snapshot look(const test::FakeRoot& root) {
  return take_snapshot({.root = root.path(),
                        .environment = root.environment,
                        .venvs = {},
                        .toolkits = {},
                        .ask_devices = false});
}

TEST(RootView, follows_absolute_links_inside_the_root) {
  const test::FakeRoot root;
  root.put("/usr/local/cuda-13.0/bin/nvcc", "inside");
  root.link("/etc/alternatives/cuda", "/usr/local/cuda-13.0");
  root.link("/usr/local/cuda", "/etc/alternatives/cuda");
  const RootView view(root.path());
  EXPECT_EQ(view.find("/usr/local/cuda/bin/nvcc")->real, "/usr/local/cuda-13.0/bin/nvcc");
  EXPECT_EQ(view.read("/usr/local/cuda/bin/nvcc", 100), "inside");
}

TEST(RootView, never_leaves_the_root_and_gives_up_on_circles) {
  const test::FakeRoot root;
  root.link("/a/up", "../../../../../../../../etc/os-release");
  root.link("/a/round", "/a/round");
  const RootView view(root.path());
  EXPECT_EQ(view.find("/a/up")->real, "/etc/os-release");
  EXPECT_THAT(view.read("/a/up", 1000).value_or(""), testing::HasSubstr("bookworm"));
  EXPECT_FALSE(view.find("/a/round"));
  EXPECT_FALSE(view.find("relative"));
}

TEST(Snapshot, reads_the_version_of_every_part_of_a_toolkit) {
  test::FakeRoot root;
  root.toolkit("/usr/local/cuda-13.0", "13.0.88");
  root.tool("/usr/local/cuda-13.0/nvvm/bin/cicc", "13.2.78");
  root.headers("/usr/local/cuda-13.0/include", "13.2");
  const auto snapshot = look(root);
  ASSERT_EQ(snapshot.toolkits.size(), 1U);
  const auto& kit = snapshot.toolkits[0];
  EXPECT_EQ(kit.tools.at("nvcc").version, "13.0.88");
  EXPECT_EQ(kit.tools.at("cicc").version, "13.2.78");
  EXPECT_EQ(kit.cudart, "13.2");
  EXPECT_EQ(kit.cuda_h, "13.2");
  EXPECT_EQ(kit.cccl, "3.0.1");
  EXPECT_EQ(kit.nv_target_cccl, "same");
  EXPECT_EQ(kit.launch_arguments, 2);
  EXPECT_EQ(kit.gcc_max, 15);
  EXPECT_EQ(kit.profile, "target");
  EXPECT_THAT(kit.library_folders, testing::Contains("lib64"));
}

TEST(Snapshot, knows_one_toolkit_by_all_of_its_names) {
  test::FakeRoot root;
  root.toolkit("/usr/local/cuda-13.0", "13.0.88");
  root.link("/usr/local/cuda", "cuda-13.0");
  root.prepend_path("/usr/local/cuda/bin");
  root.environment.set("CUDA_HOME", "/usr/local/cuda");
  const auto snapshot = look(root);
  ASSERT_EQ(snapshot.toolkits.size(), 1U);
  EXPECT_THAT(snapshot.toolkits[0].found_by,
              testing::ElementsAre("CUDA_HOME", "PATH", "/usr/local/cuda", "/usr/local/cuda-13.0"));
  EXPECT_EQ(toolkit_of(snapshot, "/usr/local/cuda-13.0/bin/nvcc"), &snapshot.toolkits[0]);
  EXPECT_EQ(toolkit_of(snapshot, "/usr/local/cuda-12.0/bin/nvcc"), nullptr);
}

TEST(Snapshot, names_driver_and_gpu_of_the_root) {
  test::FakeRoot root;
  root.gpu("NVIDIA H200", "580.159.04");
  const auto snapshot = look(root);
  EXPECT_EQ(snapshot.driver, "580.159.04");
  ASSERT_EQ(snapshot.gpus.size(), 1U);
  EXPECT_EQ(snapshot.gpus[0].name, "NVIDIA H200");
  if (path_exists("/proc/driver/nvidia/version")) {
    EXPECT_FALSE(
        take_snapshot(
            {.root = "/", .environment = {}, .venvs = {}, .toolkits = {}, .ask_devices = false})
            .driver.empty());
  }
}

TEST(Snapshot, knows_a_compiler_that_only_a_variable_names) {
  test::FakeRoot root;
  root.put("/opt/gcc/bin/g++", "#!/bin/sh\necho 'g++ (GCC) 14.2.0'\n", 0755);
  root.environment.set("CC", "/opt/gcc/bin/gcc");
  const auto snapshot = look(root);
  ASSERT_EQ(snapshot.compilers.size(), 2U);
  EXPECT_EQ(snapshot.compilers[1].path, "/opt/gcc/bin/g++");
  EXPECT_EQ(snapshot.compilers[1].version, "14.2.0");
}

TEST(Snapshot, executes_nothing_of_the_root) {
  test::FakeRoot root;
  root.toolkit("/usr/local/cuda", "13.0.88");
  for (const char* name :
       {"/usr/local/cuda/bin/nvcc", "/usr/bin/g++", "/usr/bin/nvidia-smi", "/usr/bin/python3"}) {
    root.put(name, "#!/bin/sh\ntouch " + (root.path() / "executed").string() + "\n", 0755);
  }
  root.prepend_path("/usr/local/cuda/bin");
  static_cast<void>(look(root));
  EXPECT_FALSE(path_exists(root.path() / "executed"));
}

TEST(Snapshot, leaves_names_of_users_and_secrets_out) {
  test::FakeRoot root;
  root.environment.set("HOME", "/home/alice");
  root.environment.set("CUDA_HOME", "/home/alice/cuda");
  root.environment.set("HF_TOKEN", "hf_secret");
  root.environment.set("NVIDIA_API_KEY", "nv_secret");
  root.environment.set("CUDA_MIRROR", "https://bob:secret@example.com/");
  root.environment.set("LD_LIBRARY_PATH", "/home/bob/lib");
  root.toolkit("/home/alice/cuda", "13.0.88");
  const auto text = to_json(look(root)).dump();
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("alice")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("bob")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("secret")));
  EXPECT_THAT(text, testing::HasSubstr("/home/user/cuda/bin/nvcc"));
}

TEST(Snapshot, comes_back_from_json_as_it_was) {
  test::FakeRoot root;
  root.toolkit("/usr/local/cuda", "13.2.78");
  const auto site = root.venv("/venv", "2.11.0+cu130", "13.0");
  root.wheels(site, {"13.0.88", "13.0.88", "13.0.88", "13.0.96", "13.0.85"});
  root.gpu("NVIDIA H200", "580.159.04");
  const auto first = to_json(look(root));
  const auto again = snapshot_from_json(text::Json::parse(first.dump(), "x").value(), "x");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again).dump(), first.dump());
  EXPECT_EQ(again->driver, "580.159.04");
  EXPECT_EQ(again->pythons.at(0).torch_cuda, "13.0");
}

TEST(Snapshot, refuses_json_of_another_kind_and_damaged_values) {
  EXPECT_FALSE(snapshot_from_json(text::Json::object().set("schema", "cukit.lock/1"), "x"));
  const auto damaged = snapshot_from_json(
      text::Json::object()
          .set("schema", "cukit.snapshot/1")
          .set("toolkits", text::Json::list().add(text::Json::object().set("cudart", 13))),
      "x");
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, testing::HasSubstr("toolkits: cudart: text is expected"));
}

TEST(Snapshot, sees_what_an_extension_is_linked_to) {
  test::FakeRoot root;
  const auto site = root.venv("/venv", "2.11.0+cu126", "12.6");
  root.dist(site, "vllm", "0.20.0");
  root.put(site + "/vllm/_C.abi3.so",
           test::elf_library("_C.abi3.so", {"libcudart.so.13", "libc.so.6"}));
  root.put(site + "/vllm-0.20.0.dist-info/RECORD", "vllm/_C.abi3.so,sha256=x,10\n");
  const auto snapshot = look(root);
  ASSERT_EQ(snapshot.pythons.at(0).extensions.size(), 1U);
  EXPECT_THAT(snapshot.pythons[0].extensions[0].needed, testing::ElementsAre("libcudart.so.13"));
}

TEST(Snapshot, reads_a_toolkit_of_real_wheels) {
  const fs::path real = "/usr/local/cuda/bin/nvcc";
  if (!path_exists(real)) {
    GTEST_SKIP() << "no toolkit in /usr/local/cuda";
  }
  // what the program itself says: `Cuda compilation tools, release X.Y, VX.Y.Z`
  const auto text = text_after(real, "Cuda compilation tools, release ");
  EXPECT_THAT(release_in("release " + text), testing::MatchesRegex("1[0-9]\\.[0-9]+\\.[0-9]+"));
}

TEST(ElfFacts, are_empty_for_damaged_files) {
  const test::FakeRoot root;
  const auto whole = test::elf_library("libx.so.1", {"libcudart.so.13"});
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    root.put("/x.so", whole.substr(0, length));
    EXPECT_LE(read_elf_facts(root.path() / "x.so").needed.size(), 1U);
  }
  root.put("/x.so", whole);
  EXPECT_EQ(read_elf_facts(root.path() / "x.so").soname, "libx.so.1");
}

} // namespace
} // namespace cukit::host

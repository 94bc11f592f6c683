#include "support/fake_root.hpp"
#include "survey/elf_facts.hpp"
#include "survey/root_view.hpp"
#include "survey/snapshot.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::survey {
namespace {

/// Two caches and a variable of consumers that nobody knows but this test.
Clues clues() {
  return {.variables = {"MINE_*"},
          .programs = {"MINE_NVCC"},
          .caches = {{.consumer = "tvm-ffi",
                      .variable = "TVM_FFI_CACHE_DIR",
                      .usual = ".cache/tvm-ffi",
                      .entries = {"*"}},
                     {.consumer = "triton",
                      .variable = "TRITON_CACHE_DIR",
                      .usual = ".triton/cache",
                      .entries = {"*"},
                      .holds_kernels = true},
                     {.consumer = "deepgemm",
                      .usual = ".deep_gemm",
                      .below = "cache",
                      .entries = {"*"},
                      .holds_kernels = true},
                     {.consumer = "mine",
                      .variable = "MINE_CACHE",
                      .usual = ".mine",
                      .entries = {"*/built/*"}}}};
}

Snapshot look(const test::FakeRoot& root) {
  return take_snapshot({.root = root.path(),
                        .environment = root.environment,
                        .venvs = {},
                        .toolkits = {},
                        .clues = clues(),
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

/// The roots of all toolkits, with what led to each.
std::map<std::string, std::vector<std::string>> roots_of(const test::FakeRoot& root) {
  std::map<std::string, std::vector<std::string>> result;
  for (const auto& kit : look(root).toolkits) {
    result[kit.real] = kit.found_by;
  }
  return result;
}

TEST(Snapshot, finds_toolkits_that_module_files_name) {
  test::FakeRoot root;
  root.toolkit("/apps/cuda/13.0", "13.0.88");
  root.toolkit("/apps/cuda/12.8", "12.8.93");
  root.put("/usr/share/modules/modulefiles/cuda/13.0",
           "#%Module1.0\nset root /apps\nsetenv CUDA_HOME /apps/cuda/13.0\n"
           "prepend-path PATH /apps/cuda/13.0/bin\n");
  root.put("/site/modules/cuda/12.8.lua",
           "help([[CUDA]])\nsetenv(\"CUDA_HOME\", \"/apps/cuda/12.8\")\n");
  root.environment.set("MODULEPATH", "/nowhere:/site/modules");
  EXPECT_THAT(
      roots_of(root),
      testing::UnorderedElementsAre(
          testing::Pair("/apps/cuda/13.0",
                        testing::ElementsAre("module /usr/share/modules/modulefiles/cuda/13.0")),
          testing::Pair("/apps/cuda/12.8",
                        testing::ElementsAre("module /site/modules/cuda/12.8.lua"))));
}

TEST(Snapshot, finds_toolkits_of_spack_before_and_since_its_first_release) {
  test::FakeRoot root;
  root.toolkit("/opt/spack/opt/spack/linux-debian12-zen3/gcc-12.2.0/cuda-12.8.1-abcdefg",
               "12.8.93");
  root.toolkit("/home/user/spack/opt/spack/linux-zen3/cuda-13.0.2-hijklmn", "13.0.88");
  root.environment.set("SPACK_ROOT", "/home/user/spack");
  EXPECT_THAT(
      roots_of(root),
      testing::UnorderedElementsAre(
          testing::Key("/opt/spack/opt/spack/linux-debian12-zen3/gcc-12.2.0/cuda-12.8.1-abcdefg"),
          testing::Key("/home/user/spack/opt/spack/linux-zen3/cuda-13.0.2-hijklmn")));
}

TEST(Snapshot, finds_toolkits_of_nix_by_the_names_of_their_outputs) {
  test::FakeRoot root;
  root.toolkit("/nix/store/0a1b2c3d4e5f-cuda-merged-12.8", "12.8.93");
  root.put("/nix/store/9z8y7x6w5v4u-hello-2.12/bin/hello", "x", 0755);
  EXPECT_THAT(roots_of(root),
              testing::UnorderedElementsAre(testing::Pair(
                  "/nix/store/0a1b2c3d4e5f-cuda-merged-12.8", testing::ElementsAre("Nix"))));
}

TEST(Snapshot, finds_every_toolkit_of_an_hpc_sdk) {
  test::FakeRoot root;
  const std::string sdk = "/opt/nvidia/hpc_sdk/Linux_x86_64/25.9/cuda/";
  root.toolkit(sdk + "13.0", "13.0.88");
  root.toolkit(sdk + "12.9", "12.9.86");
  root.link(sdk + "bin", "13.0/bin"); // as NVIDIA lays them
  EXPECT_THAT(roots_of(root), testing::UnorderedElementsAre(testing::Key(sdk + "13.0"),
                                                            testing::Key(sdk + "12.9")));
}

TEST(Snapshot, follows_alternatives_for_toolkits_and_programs_inside_the_root) {
  test::FakeRoot root;
  root.toolkit("/opt/vendor/cuda-13.0", "13.0.88");
  root.link("/etc/alternatives/cuda", "/opt/vendor/cuda-13.0"); // absolute
  root.link("/etc/alternatives/nvcc", "/opt/vendor/cuda-13.0/bin/nvcc");
  root.link("/usr/bin/nvcc", "/etc/alternatives/nvcc");
  const auto snapshot = look(root);
  ASSERT_EQ(snapshot.path_nvcc, std::vector<std::string>{"/usr/bin/nvcc"});
  const auto kit =
      std::find_if(snapshot.toolkits.begin(), snapshot.toolkits.end(),
                   [](const auto& one) { return one.real == "/opt/vendor/cuda-13.0"; });
  ASSERT_NE(kit, snapshot.toolkits.end());
  EXPECT_THAT(kit->found_by, testing::Contains("/etc/alternatives/cuda"));
  EXPECT_THAT(kit->found_by, testing::Contains("PATH (behind /usr/bin/nvcc)"));
  EXPECT_EQ(kit->tools.at("nvcc").version, "13.0.88");
}

TEST(Snapshot, says_by_which_toolkit_each_cache_was_filled) {
  test::FakeRoot root;
  root.put("/home/user/.triton/cache/ABC234/add_kernel.ptx",
           "//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 8.7\n.target sm_90a\n");
  root.put("/home/user/.triton/cache/ABC234/add_kernel.cubin", "no ELF");
  root.put("/home/user/.deep_gemm/cache/kernel.fp8_gemm.77/kernel.cubin",
           "Cuda compilation tools, release 13.0, V13.0.88\n");
  root.put("/home/user/.cache/tvm-ffi/x/build.ninja", "nvcc = /opt/cuda/bin/nvcc\n");
  const auto snapshot = look(root);
  ASSERT_EQ(snapshot.caches.size(), 3U);
  EXPECT_EQ(snapshot.caches[0].nvcc, "/opt/cuda/bin/nvcc");
  EXPECT_EQ(snapshot.caches[1].consumer, "triton");
  EXPECT_EQ(snapshot.caches[1].built_by, "PTX 8.7");
  EXPECT_EQ(snapshot.caches[2].consumer, "deepgemm");
  EXPECT_EQ(snapshot.caches[2].built_by, "CUDA 13.0.88");
}

TEST(Snapshot, follows_a_variable_and_a_cache_of_a_consumer_that_the_caller_tells_of) {
  test::FakeRoot root;
  root.toolkit("/somewhere/kit", "13.0.88");
  root.environment.set("MINE_NVCC", "/somewhere/kit/bin/nvcc");
  root.environment.set("MINE_API_KEY", "secret");
  root.environment.set("MINE_CACHE", "/kept");
  root.put("/kept/0.1/built/a/build.ninja", "cuda_home = /somewhere/kit\n");
  root.put("/kept/0.1/other/a/build.ninja", "cuda_home = /elsewhere\n");
  const auto snapshot = look(root);
  ASSERT_EQ(snapshot.toolkits.size(), 1U);
  EXPECT_THAT(snapshot.toolkits[0].found_by, testing::ElementsAre("MINE_NVCC"));
  EXPECT_TRUE(snapshot.environment.contains("MINE_NVCC"));
  EXPECT_FALSE(snapshot.environment.contains("MINE_API_KEY"));
  ASSERT_EQ(snapshot.caches.size(), 1U);
  EXPECT_EQ(snapshot.caches[0].consumer, "mine");
  EXPECT_EQ(snapshot.caches[0].path, "/kept/0.1/built/a");
}

TEST(Snapshot, says_which_tree_of_cukits_a_toolkit_is) {
  test::FakeRoot root;
  root.toolkit("/usr/local/cuda", "13.0.88");
  EXPECT_EQ(look(root).toolkits.at(0).tree_id, "");
  root.put("/usr/local/cuda/.cukit/input", "cukit-tree\t1\nid\t00ff\nassembly\t1\n");
  EXPECT_EQ(look(root).toolkits.at(0).tree_id, "00ff");
}

TEST(Snapshot, an_image_without_HOME_has_the_home_of_its_user_0) {
  test::FakeRoot root;
  root.environment = Environment();
  root.environment.set("PATH", "/usr/bin");
  root.put("/etc/passwd", "daemon:x:1:1::/none:/bin/sh\nadmin:x:0:0::/var/admin:/bin/sh\n");
  EXPECT_EQ(look(root).environment.at("HOME"), "/var/admin");
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
  root.gpu("NVIDIA H200", "580.159.04"); // a reason to ask, were it this machine's
  root.put("/dev/nvidiactl", "");
  root.prepend_path("/usr/local/cuda/bin");
  root.prepend_path((root.path() / "usr/bin").string()); // this machine's path of them
  static_cast<void>(take_snapshot(
      {.root = root.path(), .environment = root.environment, .venvs = {}, .toolkits = {}}));
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
  const auto text = text_after(RootView("/"), real.string(), "Cuda compilation tools, release ");
  EXPECT_THAT(release_in("release " + text), testing::MatchesRegex("1[0-9]\\.[0-9]+\\.[0-9]+"));
}

TEST(ElfFacts, are_empty_for_damaged_files) {
  const test::FakeRoot root;
  const auto whole = test::elf_library("libx.so.1", {"libcudart.so.13"});
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    root.put("/x.so", whole.substr(0, length));
    EXPECT_LE(read_elf_facts(RootView(root.path()), "/x.so").needed.size(), 1U);
  }
  root.put("/x.so", whole);
  EXPECT_EQ(read_elf_facts(RootView(root.path()), "/x.so").soname, "libx.so.1");
}

} // namespace
} // namespace cukit::survey

// The dynamic loader under a root, with libraries that the C compiler here links: the order is that
// of ld.so(8).
#include "support/fake_root.hpp"
#include "survey/snapshot.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::survey {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string k_site = "/venv/lib/python3.11/site-packages";

class Loading : public testing::Test {
protected:
  void SetUp() override {
    if (std::system("cc --version >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "no C compiler to link libraries with";
    }
    root.venv("/venv", "2.8.0+cu128", "12.8");
  }

  /// A library of these functions; with `versioned` each has the SONAME as its version, as in
  /// NVIDIA's. `calls` are undefined in it, `needs` are paths in the root that it is linked with.
  void library(const std::string& path, const std::string& soname,
               const std::vector<std::string>& functions, bool versioned = true,
               const std::vector<std::string>& calls = {},
               const std::vector<std::string>& needs = {}, const std::string& options = {}) {
    std::string code;
    for (const auto& name : functions) {
      code += "int " + name + "(void) { return 1; }\n";
    }
    for (const auto& name : calls) {
      code += "extern int " + name + "(void);\nint call_" + name + "(void) { return " + name +
              "(); }\n";
    }
    const auto source = (root.path() / "library.c").string();
    const auto script = (root.path() / "library.map").string();
    root.put("/library.c", code);
    root.put("/library.map", soname + " { global: *; };\n");
    fs::create_directories((root.path() / path.substr(1)).parent_path());
    auto command = "cc -shared -fPIC -nostdlib -Wl,--no-as-needed -Wl,-soname," + soname +
                   (versioned ? " -Wl,--version-script=" + script : std::string()) + " " + options +
                   " -o '" + (root.path() / path.substr(1)).string() + "' '" + source + "'";
    for (const auto& need : needs) {
      command += " '" + (root.path() / need.substr(1)).string() + "'";
    }
    ASSERT_EQ(std::system((command + " -Wl,--unresolved-symbols=ignore-all").c_str()), 0);
  }

  /// A wheel of its own with one extension module.
  void extension(const std::string& name, const std::vector<std::string>& calls,
                 const std::vector<std::string>& needs, const std::string& requires_dist = {},
                 const std::string& options = {}) {
    const auto path = k_site + "/" + name + "/_core.so";
    library(path, "_core.so", {"PyInit_ext"}, false, calls, needs, options);
    const auto info = k_site + "/" + name + "-1.0.dist-info/";
    root.put(info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n" +
                                    (requires_dist.empty() ? "" : "Requires-Dist: ") +
                                    requires_dist + "\n\n");
    root.put(info + "RECORD", name + "/_core.so,sha256=x,1\n");
  }

  PythonEnvironment look() {
    const auto snapshot = take_snapshot({.root = root.path(),
                                         .environment = root.environment,
                                         .venvs = {"/venv"},
                                         .ask_devices = false});
    for (const auto& python : snapshot.pythons) {
      if (python.prefix == "/venv") {
        return python;
      }
    }
    ADD_FAILURE() << "the venv was not found";
    return {};
  }

  test::FakeRoot root;
  const std::string own = k_site + "/nvidia/nvjitlink/lib/libnvJitLink.so.12";
};

TEST_F(Loading, an_older_library_of_the_loaders_configuration_lacks_a_symbol) {
  library(own, "libnvJitLink.so.12", {"__nvJitLinkCreate_12_4", "__nvJitLinkCreate_12_8"});
  extension("sparsekit", {"__nvJitLinkCreate_12_8"}, {own});
  library("/opt/legacy/lib/libnvJitLink.so.12", "libnvJitLink.so.12", {"__nvJitLinkCreate_12_4"});
  root.put("/etc/ld.so.conf.d/000_cuda.conf", "/opt/legacy/lib\n");
  const auto python = look();
  ASSERT_THAT(python.load_problems, SizeIs(1));
  const auto& problem = python.load_problems.front();
  EXPECT_EQ(problem.object, k_site + "/sparsekit/_core.so");
  EXPECT_EQ(problem.library, "libnvJitLink.so.12");
  EXPECT_EQ(problem.taken, "/opt/legacy/lib/libnvJitLink.so.12");
  EXPECT_EQ(problem.led_by, "/etc/ld.so.conf.d/000_cuda.conf");
  EXPECT_THAT(problem.missing, ElementsAre("__nvJitLinkCreate_12_8"));
  EXPECT_EQ(problem.own, own);
  EXPECT_TRUE(problem.own_has_them);
}

TEST_F(Loading, a_library_that_has_everything_is_no_problem_wherever_it_lies) {
  library(own, "libnvJitLink.so.12", {"__nvJitLinkCreate_12_8"});
  extension("sparsekit", {"__nvJitLinkCreate_12_8"}, {own});
  library("/opt/newer/libnvJitLink.so.12", "libnvJitLink.so.12",
          {"__nvJitLinkCreate_12_8", "__nvJitLinkCreate_12_9"});
  root.environment.set("LD_LIBRARY_PATH", "/opt/newer");
  EXPECT_THAT(look().load_problems, IsEmpty());
}

TEST_F(Loading, ld_library_path_goes_before_runpath_and_behind_rpath) {
  const auto cusolver = k_site + "/nvidia/cusolver/lib/libcusolver.so.11";
  library(cusolver, "libcusolver.so.11", {"cusolverDnCreate", "cusolverDnXsyevBatched"});
  library("/opt/solver/lib/libcusolver.so.11", "libcusolver.so.11", {"cusolverDnCreate"});
  root.environment.set("LD_LIBRARY_PATH", "/opt/solver/lib");
  for (const bool is_runpath : {true, false}) {
    library(k_site + "/linalg/_core.so", "_core.so", {}, false, {"cusolverDnXsyevBatched"},
            {cusolver},
            std::string(is_runpath ? "-Wl,--enable-new-dtags" : "-Wl,--disable-new-dtags") +
                " -Wl,-rpath,'$ORIGIN/../nvidia/cusolver/lib'");
    root.put(k_site + "/linalg-1.0.dist-info/METADATA", "Name: linalg\nVersion: 1.0\n\n");
    root.put(k_site + "/linalg-1.0.dist-info/RECORD", "linalg/_core.so,sha256=x,1\n");
    const auto python = look();
    ASSERT_EQ(python.load_problems.size(), is_runpath ? 1U : 0U);
    if (is_runpath) {
      EXPECT_EQ(python.load_problems.front().led_by, "LD_LIBRARY_PATH");
      EXPECT_THAT(python.load_problems.front().missing, ElementsAre("cusolverDnXsyevBatched"));
    }
  }
}

TEST_F(Loading, what_torch_loaded_serves_an_extension_that_requires_torch) {
  library(own, "libnvJitLink.so.12", {"__nvJitLinkCreate_12_8"});
  library("/opt/legacy/lib/libnvJitLink.so.12", "libnvJitLink.so.12", {"__nvJitLinkCreate_12_4"});
  root.put("/etc/ld.so.conf.d/000_cuda.conf", "/opt/legacy/lib\n");
  library(
      k_site + "/torch/lib/libtorch_cuda.so", "libtorch_cuda.so", {}, false, {}, {own},
      "-Wl,--no-as-needed -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/../../nvidia/nvjitlink/lib'");
  extension("behind_torch", {"__nvJitLinkCreate_12_8"}, {own}, "torch>=2.4");
  extension("alone", {"__nvJitLinkCreate_12_8"}, {own});
  const auto python = look();
  ASSERT_THAT(python.load_problems, SizeIs(1));
  EXPECT_EQ(python.load_problems.front().distribution, "alone");
}

TEST_F(Loading, a_symbol_without_a_version_is_served_by_any_library_that_is_loaded) {
  const auto lib = k_site + "/torch/lib/";
  library(lib + "libtorch_cpu.so", "libtorch_cpu.so", {"torch_call_dispatcher"}, false);
  library(lib + "libtorch_cuda.so", "libtorch_cuda.so", {"torch_cuda_stream"}, false);
  library(lib + "libtorch.so", "libtorch.so", {"shell"}, false, {},
          {lib + "libtorch_cpu.so", lib + "libtorch_cuda.so"}, "-Wl,-rpath,'$ORIGIN'");
  const auto cudart = k_site + "/nvidia/cuda_runtime/lib/libcudart.so.12";
  library(cudart, "libcudart.so.12", {"cudaMalloc"});
  const std::vector<std::string> needs = {lib + "libtorch.so", cudart};
  const std::string options =
      "-Wl,-rpath,'$ORIGIN/../torch/lib:$ORIGIN/../nvidia/cuda_runtime/lib'";
  extension("sound", {"torch_call_dispatcher"}, needs, "torch", options);
  EXPECT_THAT(look().load_problems, IsEmpty());
  extension("newer", {"torch_of_another_release"}, needs, "torch", options);
  const auto python = look();
  ASSERT_THAT(python.load_problems, SizeIs(1));
  EXPECT_THAT(python.load_problems.front().missing, ElementsAre("torch_of_another_release"));
}

TEST_F(Loading, a_library_that_nobody_has_is_not_found) {
  library("/build/libcufft.so.12", "libcufft.so.12", {"cufftCreate"});
  extension("fastfft", {"cufftCreate"}, {"/build/libcufft.so.12"});
  root.remove("/build/libcufft.so.12");
  const auto python = look();
  ASSERT_THAT(python.load_problems, SizeIs(1));
  EXPECT_EQ(python.load_problems.front().library, "libcufft.so.12");
  EXPECT_EQ(python.load_problems.front().taken, "");
}

TEST_F(Loading, symbols_without_a_version_belong_to_the_library_of_their_prefix) {
  const auto nccl = k_site + "/nvidia/nccl/lib/libnccl.so.2";
  library(nccl, "libnccl.so.2", {"ncclAllReduce"}, false);
  extension("collective", {"ncclMemFree", "unrelated_function"}, {nccl}, "",
            "-Wl,-rpath,'$ORIGIN/../nvidia/nccl/lib'");
  const auto python = look();
  ASSERT_THAT(python.load_problems, SizeIs(1));
  EXPECT_THAT(python.load_problems.front().missing, ElementsAre("ncclMemFree"));
  EXPECT_FALSE(python.load_problems.front().own_has_them);
}

TEST_F(Loading, includes_of_the_configuration_are_followed_in_order) {
  library(own, "libnvJitLink.so.12", {"__nvJitLinkCreate_12_8"});
  extension("sparsekit", {"__nvJitLinkCreate_12_8"}, {own});
  library("/opt/a/libnvJitLink.so.12", "libnvJitLink.so.12", {"__nvJitLinkCreate_12_4"});
  library("/opt/b/libnvJitLink.so.12", "libnvJitLink.so.12", {"__nvJitLinkCreate_12_1"});
  root.put("/etc/ld.so.conf", "# ours\ninclude ld.so.conf.d/*.conf\n");
  root.put("/etc/ld.so.conf.d/10-b.conf", "/opt/b\n");
  root.put("/etc/ld.so.conf.d/05-a.conf", "  /opt/a\n");
  root.put("/etc/ld.so.conf.d/00-not.txt", "/opt/nowhere\n");
  const auto python = look();
  ASSERT_THAT(python.load_problems, SizeIs(1));
  EXPECT_EQ(python.load_problems.front().led_by, "/etc/ld.so.conf.d/05-a.conf");
}

TEST(DriverLibraries, are_listed_in_the_loaders_order_with_their_versions) {
  const test::FakeRoot root;
  root.put("/usr/lib/x86_64-linux-gnu/libcuda.so.580.105.08", "x");
  root.link("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.580.105.08");
  root.put("/usr/local/cuda-12.9/compat/libcuda.so.575.57.08", "x");
  root.link("/usr/local/cuda-12.9/compat/libcuda.so.1", "libcuda.so.575.57.08");
  root.put("/etc/ld.so.conf.d/00-cuda-compat.conf", "/usr/local/cuda-12.9/compat\n");
  root.put("/sys/module/nvidia/version", "580.105.08\n");
  const auto snapshot = take_snapshot(
      {.root = root.path(), .environment = root.environment, .venvs = {}, .ask_devices = false});
  EXPECT_EQ(snapshot.kernel_module, "580.105.08");
  ASSERT_THAT(snapshot.driver_libraries, SizeIs(2));
  EXPECT_EQ(snapshot.driver_libraries[0].version, "575.57.08");
  EXPECT_EQ(snapshot.driver_libraries[0].led_by, "/etc/ld.so.conf.d/00-cuda-compat.conf");
  EXPECT_EQ(snapshot.driver_libraries[1].version, "580.105.08");
}

TEST(SystemLibraries, are_those_that_the_loader_takes_by_its_own_configuration) {
  const test::FakeRoot root;
  root.put("/etc/ld.so.conf", "/opt/first\ninclude /etc/ld.so.conf.d/*.conf\n");
  root.put("/etc/ld.so.conf.d/b.conf", "/opt/second # ours\n");
  root.put("/etc/ld.so.conf.d/a.txt", "/opt/never\n");
  for (const char* folder : {"/opt/first", "/opt/second", "/usr/lib/x86_64-linux-gnu"}) {
    root.put(std::string(folder) + "/libcudart.so.12", "x");
  }
  root.put("/opt/second/libcufft.so.11", "x");
  root.put("/opt/never/libcurand.so.10", "x");
  root.put("/usr/lib/x86_64-linux-gnu/libcublas.so.12", "x");
  const auto snapshot = take_snapshot(
      {.root = root.path(), .environment = root.environment, .venvs = {}, .ask_devices = false});
  const std::map<std::string, std::string> expected{
      {"libcudart.so.12", "/opt/first/libcudart.so.12"},
      {"libcufft.so.11", "/opt/second/libcufft.so.11"},
      {"libcublas.so.12", "/usr/lib/x86_64-linux-gnu/libcublas.so.12"}};
  EXPECT_EQ(snapshot.system_libraries, expected);
}

} // namespace
} // namespace cukit::survey

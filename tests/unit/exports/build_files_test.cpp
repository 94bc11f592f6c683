// Files for build systems: quoted by each one's rules, and read by the programs that are here. Real
// builds with them are in tests/e2e/build_systems.sh.
#include "base/child.hpp"
#include "exports/build_files.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::exports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class BuildFiles : public ::testing::Test {
protected:
  [[nodiscard]] BuildFilesRequest request(const std::string& name) const {
    const auto tree = folder.path() / name;
    for (const auto* file : {"bin/nvcc", "lib/libcudart.so", "lib/libcudart.so.13",
                             "lib/libnvrtc.so", "lib/libcudadevrt.a", "lib/stubs/libcuda.so"}) {
      EXPECT_TRUE(make_directories((tree / file).parent_path()));
      EXPECT_TRUE(write_file_atomic(tree / file, "x"));
    }
    return {.tree = tree,
            .release = Version::parse("13.0.3").value(),
            .gpus = {GpuTarget::parse("sm_90").value(), GpuTarget::parse("sm_90a").value(),
                     GpuTarget::parse("sm_120f").value()},
            .host_compiler = {},
            .title = "CUDA 13.0.3"};
  }
  static std::map<std::string, std::string> files(const BuildFilesRequest& request,
                                                  BuildSystem system) {
    const auto result = build_files(request, system);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result.value_or(std::map<std::string, std::string>());
  }
  void put(const std::map<std::string, std::string>& files) const {
    for (const auto& [name, text] : files) {
      ASSERT_TRUE(write_file_atomic(folder.path() / name, text));
    }
  }
  [[nodiscard]] Finished program(std::vector<std::string> command) const {
    auto environment = Environment::of_this_process();
    environment.set("PKG_CONFIG_PATH", folder.path());
    const auto done = run_command({.arguments = std::move(command),
                                   .environment = environment,
                                   .time_limit = std::chrono::minutes(1)},
                                  {});
    EXPECT_TRUE(done);
    return done ? *done : Finished{};
  }
  static bool is_here(const char* program) {
    return !Environment::of_this_process().find_program(program).empty();
  }
  TempDirectory folder = *TempDirectory::create(fs::temp_directory_path(), "cukit-build-files-");
};

TEST_F(BuildFiles, cmake_reads_the_toolchain_whatever_stands_in_the_path) {
  auto wanted = request("it's a \"tree\" $HOME ${X} @y@ [x] \\n #");
  wanted.host_compiler = "/opt/gcc 13/bin/g++";
  put(files(wanted, BuildSystem::cmake));
  EXPECT_THAT(files(wanted, BuildSystem::cmake).at("cukit-presets.json"),
              HasSubstr("\"${fileDir}/cukit-toolchain.cmake\""));
  if (!is_here("cmake")) {
    GTEST_SKIP() << "cmake is not installed; its file was written alone";
  }
  ASSERT_TRUE(write_file_atomic(folder.path() / "show.cmake",
                                "include(${CMAKE_CURRENT_LIST_DIR}/cukit-toolchain.cmake)\n"
                                "message(STATUS \"<${CMAKE_CUDA_COMPILER}>\")\n"
                                "message(STATUS \"<${CMAKE_CUDA_HOST_COMPILER}>\")\n"
                                "message(STATUS \"<${CMAKE_CUDA_ARCHITECTURES}>\")\n"));
  const auto done = program({"cmake", "-P", (folder.path() / "show.cmake").string()});
  EXPECT_THAT(done.output, AllOf(HasSubstr("<" + wanted.tree.string() + "/bin/nvcc>"),
                                 HasSubstr("</opt/gcc 13/bin/g++>"), HasSubstr("<90;120>")))
      << done.errors;
}

TEST_F(BuildFiles, pkg_config_names_each_library_and_takes_a_path_with_a_space) {
  const auto wanted = request("a tree; x&y");
  const auto made = files(wanted, BuildSystem::pkg_config);
  EXPECT_EQ(made.size(), 3U) << "cuda, cudart, nvrtc";
  put(made);
  if (!is_here("pkg-config")) {
    GTEST_SKIP() << "pkg-config is not installed; its files were written alone";
  }
  // its output is for a shell, which gives the words back
  const auto words =
      program({"/bin/sh", "-c",
               "eval \"set -- $(pkg-config --cflags --libs cuda)\"; printf '<%s>' \"$@\""});
  const auto& tree = wanted.tree.string();
  EXPECT_EQ(words.output, "<-I" + tree + "/include><-I" + tree + "/include/cccl><-L" + tree +
                              "/lib/stubs><-lcuda>")
      << words.errors;
  EXPECT_EQ(program({"pkg-config", "--modversion", "cudart"}).output, "13.0.3\n");
}

TEST_F(BuildFiles, meson_and_bazel_get_their_own_quotes) {
  auto wanted = request("it's \\ \"t\"");
  const auto& tree = folder.path().string();
  EXPECT_THAT(files(wanted, BuildSystem::meson).at("cukit-native.ini"),
              HasSubstr("\ncuda = '" + tree + "/it\\'s \\\\ \"t\"/bin/nvcc'\n"));
  EXPECT_THAT(
      files(wanted, BuildSystem::bazel).at("cukit.bazelrc"),
      AllOf(HasSubstr("common --repo_env=\"LOCAL_CUDA_PATH=" + tree + "/it's \\\\ \\\"t\\\"\"\n"),
            HasSubstr("=sm_90,sm_120\n")));
  wanted.gpus.clear();
  EXPECT_THAT(files(wanted, BuildSystem::bazel).at("cukit.bazelrc"),
              Not(HasSubstr("CAPABILITIES")));
}

TEST_F(BuildFiles, a_path_that_a_format_cannot_hold_is_refused) {
  for (const auto& [name, system] :
       {std::pair("two\nlines", BuildSystem::cmake), std::pair("two\nlines", BuildSystem::meson),
        std::pair("two\nlines", BuildSystem::bazel),
        std::pair("two\nlines", BuildSystem::pkg_config), std::pair("a;b", BuildSystem::cmake),
        std::pair("it's", BuildSystem::pkg_config), std::pair("$HOME", BuildSystem::pkg_config)}) {
    const auto refused = build_files(request(name), system);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::usage);
    EXPECT_THAT(refused.error().message, HasSubstr("cannot hold"));
  }
}

} // namespace
} // namespace cukit::exports

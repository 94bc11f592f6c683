#include "base/child.hpp"
#include "fixture.hpp"

namespace cukit::assemble {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

using NormaliseTest = AssembleTest;

TEST_F(NormaliseTest, links_the_soname_and_the_plain_name_to_a_fully_versioned_library) {
  add("x", "1", {{"nvidia/cu13/lib/libaaaa.so.4.0.1", library("libaaaa.so.4")}});
  EXPECT_THAT(overview(), Contains(Pair("lib/libaaaa.so.4", "link to libaaaa.so.4.0.1")));
  EXPECT_THAT(overview(), Contains(Pair("lib/libaaaa.so", "link to libaaaa.so.4")));
}

TEST_F(NormaliseTest, keeps_files_and_links_that_artifacts_bring) {
  auto& artifact = add("x", "1",
                       {{"nvidia/cu13/lib/libaaaa.so.4", library("libaaaa.so.4")},
                        {"nvidia/cu13/lib/libaaaa.so.5", library("libaaaa.so.5")},
                        {"nvidia/cu13/lib/libbbbb.so", library("libbbbb.so.1")}});
  artifact.link = {{"lib/libaaaa.so", "libaaaa.so.5"}};
  EXPECT_THAT(overview(), Contains(Pair("lib/libaaaa.so", "link to libaaaa.so.5")));
  EXPECT_THAT(overview(), Contains(Pair("lib/libbbbb.so", "x")));
  EXPECT_THAT(overview(), Contains(Pair("lib/libbbbb.so.1", "link to libbbbb.so")));
}

// As nvrtc's wheel has it: libnvrtc.alt.so.13 says that it is libnvrtc.so.13.
TEST_F(NormaliseTest, an_alternative_library_does_not_take_the_place_of_the_real_one) {
  add("x", "1",
      {{"nvidia/cu13/lib/libaaaa.alt.so.4", library("libaaaa.so.4")},
       {"nvidia/cu13/lib/libaaaa.so.4", library("libaaaa.so.4")}});
  EXPECT_THAT(overview(), Contains(Pair("lib/libaaaa.so", "link to libaaaa.so.4")));
  EXPECT_THAT(overview(), Contains(Pair("lib/libaaaa.alt.so", "link to libaaaa.alt.so.4")));
}

TEST_F(NormaliseTest, two_libraries_that_claim_one_soname_are_an_error) {
  add("x", "1",
      {{"nvidia/cu13/lib/libaaaa.so.4.1", library("libaaaa.so.4")},
       {"nvidia/cu13/lib/libaaaa.so.4.2", library("libaaaa.so.4")}});
  const auto files = plan_result();
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().message, HasSubstr("libaaaa.so.4"));
}

TEST_F(NormaliseTest, leaves_scripts_static_libraries_and_subfolders_alone) {
  add("x", "1",
      {{"nvidia/cu13/lib/libcc.so", "INPUT(libaaaa.so)\n"},
       {"nvidia/cu13/lib/liba.a", "!<arch>\n"},
       {"nvidia/cu13/lib/sub/libaaaa.so.4", library("libaaaa.so.4")}});
  EXPECT_THAT(overview(), Not(Contains(Key("lib/libaaaa.so"))));
  EXPECT_THAT(overview(), Not(Contains(Key("lib/sub/libaaaa.so"))));
}

TEST_F(NormaliseTest, reads_the_soname_that_a_real_linker_wrote) {
  const auto source = scratch_->path() / "f.c";
  const auto output = scratch_->path() / "f.so";
  ASSERT_TRUE(create_file(source, "int f(void) { return 1; }\n"));
  const auto environment = Environment::of_this_process();
  if (environment.find_program("cc").empty()) {
    GTEST_SKIP() << "no C compiler";
  }
  const auto built = run_command({.arguments = {"cc", "-shared", "-Wl,-soname,libfoo.so.7", "-o",
                                                output.string(), source.string()},
                                  .environment = environment});
  ASSERT_TRUE(built);
  ASSERT_EQ(built->exit_code, 0) << built->errors;
  platform_.platform = Platform::host();
  add("x", "1", {{"nvidia/cu13/lib/libfoo.so.7.1", *read_file(output, 1U << 20U)}});
  EXPECT_THAT(overview(), Contains(Pair("lib/libfoo.so.7", "link to libfoo.so.7.1")));
  EXPECT_THAT(overview(), Contains(Pair("lib/libfoo.so", "link to libfoo.so.7")));
}

TEST_F(NormaliseTest, row40_a_library_or_program_of_another_processor_is_an_error) {
  for (const char* path :
       {"nvidia/cu13/lib/libaaaa.so.4", "nvidia/cu13/bin/nvcc", "nvidia/cu13/nvvm/bin/cicc"}) {
    platform_.artifacts.clear();
    add("x" + sha256_of(path).hex().substr(0, 4), "1",
        {{path, library("libaaaa.so.4", Platform::Kind::linux_sbsa)}});
    const auto files = plan_result();
    ASSERT_FALSE(files) << path;
    EXPECT_THAT(files.error().message, HasSubstr("another processor"));
  }
}

TEST_F(NormaliseTest, a_stub_that_an_artifact_brings_is_kept) {
  add("x", "1", {{"nvidia/cu13/include/cuda.h", ""}, {"nvidia/cu13/lib/stubs/libcuda.so", "s"}});
  EXPECT_THAT(overview(), Contains(Pair("lib/stubs/libcuda.so", "x")));
}

TEST_F(NormaliseTest, the_stub_is_for_the_platform_of_the_tree) {
  platform_.platform = Platform::Kind::linux_sbsa;
  add("x", "1",
      {{"nvidia/cu13/include/cuda.h", "CUresult CUDAAPI cuInit(int);\n"},
       {"nvidia/cu13/include/cudaGL.h", "#define cuGLInit cuGLInit_v2\n"}});
  EXPECT_EQ(text_of("lib/stubs/libcuda.so"),
            stub_libcuda({"cuGLInit_v2", "cuInit"}, Platform::Kind::linux_sbsa));
}

TEST_F(NormaliseTest, there_is_no_stub_without_the_drivers_header) {
  add("x", "1", {{"nvidia/cu13/include/nvrtc.h", ""}});
  EXPECT_THAT(overview(), Not(Contains(Key("lib/stubs/libcuda.so"))));
  EXPECT_THAT(overview(), Not(Contains(Key("lib64"))));
}

TEST_F(NormaliseTest, version_files_have_the_form_of_nvidias_installers) {
  add_small_toolkit();
  auto& picked = add("nvcc", "13.2.78", {{"nvidia/cu13/bin/ptxas", "p"}});
  picked.take = {"bin/ptxas"};
  auto& headers = add("curand", "10.4.0.35", {{"nvidia/cu13/include/curand.h", "p"}});
  headers.take = {"include/"};
  add("something-new", "1.2", {{"nvidia/cu13/include/new.h", "p"}});
  EXPECT_EQ(text_of("version.txt"), "CUDA Version 13.0.2\n");
  const auto entry = [](const char* key, const char* name, const char* version) {
    return fmt::format("  \"{}\": {{\n    \"name\": \"{}\",\n    \"version\": \"{}\"\n  }}", key,
                       name, version);
  };
  const auto expected = "{\n" + entry("cuda", "CUDA SDK", "13.0.2") + ",\n" +
                        entry("cuda_cudart", "CUDA Runtime (cudart)", "13.0.96") + ",\n" +
                        entry("cuda_nvcc", "CUDA NVCC", "13.0.88") + ",\n" +
                        entry("libcurand", "NVIDIA cuRAND library", "10.4.0.35") + ",\n" +
                        entry("ptxas", "ptxas", "13.2.78") + ",\n" +
                        entry("something-new", "something-new", "1.2") + "\n}\n";
  EXPECT_EQ(text_of("version.json"), expected);
}

TEST_F(NormaliseTest, pkg_config_files_work_where_the_tree_stands) {
  add("cudart", "1",
      {{"nvidia/cu13/include/cuda.h", "CUresult CUDAAPI cuInit(int);\n"},
       {"nvidia/cu13/lib/libcudart.so.13", library("libcudart.so")}});
  const auto tree = build_at(scratch_->path() / "a tree");
  ASSERT_TRUE(tree);
  auto environment = Environment::of_this_process();
  if (environment.find_program("pkg-config").empty()) {
    GTEST_SKIP() << "no pkg-config";
  }
  environment.set("PKG_CONFIG_PATH", (tree->path / "lib/pkgconfig").string());
  const auto ask = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "pkg-config");
    const auto finished =
        run_command({.arguments = std::move(arguments), .environment = environment});
    EXPECT_TRUE(finished && finished->exit_code == 0) << (finished ? finished->errors : "");
    return finished ? finished->output : "";
  };
  EXPECT_THAT(ask({"--libs", "cuda-13.0"}), HasSubstr("lib/pkgconfig/../../lib/stubs -lcuda"));
  EXPECT_THAT(ask({"--libs", "cudart"}), HasSubstr("-lcudart"));
  EXPECT_EQ(ask({"--modversion", "cuda"}), "13.0\n");
}

TEST_F(NormaliseTest, absolute_roots_in_texts_of_artifacts_become_relative) {
  add("x", "1",
      {{"nvidia/cu13/lib/pkgconfig/nvrtc-13.0.pc",
        "cudaroot=/opt/build/cuda\nlibdir=/usr/local/cuda-13.0/lib64\nLibs: -L/usr/local/cuda/lib\n"
        "Note: /usr/local/cuda-toolkit /usr/local/cudart\n"},
       {"nvidia/cu13/lib/cmake/x/x.cmake", "set(root \"/usr/local/cuda-13.0\")\n"},
       {"nvidia/cu13/lib/cmake/y.cmake", "set(root ../..)\n"},
       {"nvidia/cu13/include/x.h", "// /usr/local/cuda\n"}});
  EXPECT_EQ(text_of("lib/pkgconfig/nvrtc-13.0.pc"),
            "cudaroot=${pcfiledir}/../..\nlibdir=${pcfiledir}/../../lib64\n"
            "Libs: -L${pcfiledir}/../../lib\nNote: /usr/local/cuda-toolkit /usr/local/cudart\n");
  EXPECT_EQ(text_of("lib/cmake/x/x.cmake"), "set(root \"${CMAKE_CURRENT_LIST_DIR}/../../..\")\n");
  EXPECT_EQ(text_of("lib/cmake/y.cmake"), "set(root ../..)\n");
  EXPECT_EQ(text_of("include/x.h"), "// /usr/local/cuda\n");
  EXPECT_THAT(overview(), Contains(Pair("lib/cmake/x/x.cmake", "x")));
}

TEST_F(NormaliseTest, a_text_that_is_too_large_is_the_components_fault) {
  add("small", "1.0", {{"nvidia/cu13/bin/tool", "#!tool\n"}});
  add("huge", "1.0", {{"nvidia/cu13/lib/cmake/huge.cmake", std::string(17U << 20U, ' ')}});
  const auto planned = plan(lock_, platform_, entries_);
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().code, ErrorCode::integrity);
  EXPECT_THAT(planned.error().message, HasSubstr("lib/cmake/huge.cmake of huge"));
}

} // namespace
} // namespace cukit::assemble

// Which variables a toolkit sets, and what of a caller's own leads elsewhere.
#include "exports/shells.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::exports {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ToolkitVariables : public ::testing::Test {
protected:
  ToolkitVariables() {
    for (const auto* root : {"tree", "other", "third"}) {
      for (const auto* name : {"bin/nvcc", "bin/ptxas", "bin/cuobjdump", "bin/nvdisasm",
                               "include/cuda.h", "lib/pkgconfig/cudart.pc", ".cukit/input"}) {
        put(std::string(root) + "/" + name);
      }
    }
    request.tree = at("tree");
    request.id = "0123abcd";
    request.jit = at("jit");
    request.gpus = {GpuTarget::parse("sm_90").value(), GpuTarget::parse("sm_120").value()};
    caller.set("PATH", "/usr/bin:/bin");
  }
  void put(const std::string& path) const {
    const auto file = folder.path() / path;
    ASSERT_TRUE(make_directories(file.parent_path()));
    ASSERT_TRUE(write_file_atomic(file, "x"));
  }
  [[nodiscard]] std::string at(const std::string& path) const {
    return (folder.path() / path).string();
  }
  [[nodiscard]] ToolkitEnvironment toolkit() const {
    auto result = environment(request, knowledge::Knowledge::embedded());
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return *std::move(result);
  }
  /// A variable after the toolkit was applied; "(unset)" when there is none.
  [[nodiscard]] std::string after(const std::string& name) const {
    return apply(toolkit(), caller).get(name).value_or("(unset)");
  }
  void set(const std::string& name, const std::string& value) { caller.set(name, value); }

  TempDirectory folder = *TempDirectory::create(fs::temp_directory_path(), "cukit-export-");
  Request request;
  Environment caller;
};

TEST_F(ToolkitVariables, compiler_caches_tell_trees_apart_and_keep_what_the_caller_compares) {
  EXPECT_EQ(after("CCACHE_EXTRAFILES"), at("tree/.cukit/input"));
  EXPECT_EQ(after("SCCACHE_C_CUSTOM_CACHE_BUSTER"), "0123abcd");
  set("CCACHE_EXTRAFILES", "/mine");
  set("SCCACHE_C_CUSTOM_CACHE_BUSTER", "v2");
  EXPECT_EQ(after("CCACHE_EXTRAFILES"), at("tree/.cukit/input") + ":/mine");
  EXPECT_EQ(after("SCCACHE_C_CUSTOM_CACHE_BUSTER"), "0123abcd:v2");
}

TEST_F(ToolkitVariables, each_list_of_targets_has_its_consumers_spelling) {
  EXPECT_EQ(after("CUDAARCHS"), "90;120");
  EXPECT_EQ(after("NVTE_CUDA_ARCHS"), "90;120");
  EXPECT_EQ(after("TORCH_CUDA_ARCH_LIST"), "9.0;12.0");
  EXPECT_EQ(after("FLASHINFER_CUDA_ARCH_LIST"), "9.0a 12.0f");
  request.gpus.push_back(GpuTarget::parse("sm_86").value());
  EXPECT_EQ(after("FLASH_ATTN_CUDA_ARCHS"), "90;120;80");
}

TEST_F(ToolkitVariables, whatever_names_another_toolkit_is_taken_out) {
  for (const auto* name :
       {"CUDA_ROOT", "CUDA_DIR", "CUDA_TOOLKIT_ROOT_DIR", "CUDA_INC_PATH", "TRITON_LIBDEVICE_PATH",
        "NUMBA_CUDA_INCLUDE_PATH", "NVTE_CUDA_INCLUDE_DIR", "NVHPC_CUDA_HOME"}) {
    set(name, at("other/include"));
    EXPECT_EQ(after(name), "(unset)") << name;
    set(name, at("tree/include"));
    EXPECT_EQ(after(name), at("tree/include")) << name;
  }
  for (const auto* name : {"NVCC", "PYTORCH_NVCC", "FLASHINFER_NVCC", "DG_JIT_NVCC_COMPILER"}) {
    for (const auto& value : {at("other/bin/nvcc"), "ccache " + at("other/bin/nvcc"),
                              std::string("/gone/cuda/bin/nvcc")}) {
      set(name, value);
      EXPECT_EQ(after(name), "(unset)") << name << "=" << value;
    }
    for (const auto& value :
         {at("tree/bin/nvcc"), std::string("ccache nvcc"), std::string("/usr/bin/ccache nvcc"),
          "ccache " + at("tree/bin/nvcc")}) {
      set(name, value);
      EXPECT_EQ(after(name), value) << name;
    }
  }
}

TEST_F(ToolkitVariables, lists_and_flags_keep_what_is_the_callers_own) {
  put("mine/include/mine.h");
  for (const auto* name :
       {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "CMAKE_PREFIX_PATH"}) {
    set(name, at("mine/include") + ":" + at("other/include") + ":/usr/local/cuda-0.0/include");
    EXPECT_EQ(after(name), at("mine/include")) << name;
    set(name, at("other/targets/x86_64-linux/lib"));
    EXPECT_EQ(after(name), path_exists(at("other/targets")) ? "(unset)" : after(name));
    set(name, at("mine/include"));
    EXPECT_EQ(after(name), at("mine/include")) << name;
  }
  for (const auto* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CUDAFLAGS", "CXXFLAGS",
                           "FLASHINFER_EXTRA_CUDAFLAGS"}) {
    set(name, "-O3 -I" + at("other/include") + " -isystem " + at("other/include") + " -DX -I" +
                  at("mine/include") + " --generate-line-info");
    EXPECT_EQ(after(name), "-O3 -DX -I" + at("mine/include") + " --generate-line-info") << name;
    set(name, "-I" + at("other/include"));
    EXPECT_EQ(after(name), "(unset)") << name;
    set(name, "-DNAME=\"a b\" -O2");
    EXPECT_EQ(after(name), "-DNAME=\"a b\" -O2") << name;
  }
}

TEST_F(ToolkitVariables, a_folder_of_everybodys_is_no_toolkit) {
  set("CPATH", "/usr/include:/usr/local/include");
  EXPECT_EQ(after("CPATH"), "/usr/include:/usr/local/include");
}

TEST_F(ToolkitVariables, flags_that_a_user_shares_are_set_for_consumers_that_are_there) {
  set("XLA_FLAGS", "--xla_dump_to=/d --xla_gpu_cuda_data_dir=" + at("other"));
  EXPECT_EQ(after("XLA_FLAGS"), "--xla_dump_to=/d");
  request.named = {"jax"};
  EXPECT_EQ(after("XLA_FLAGS"), "--xla_dump_to=/d --xla_gpu_cuda_data_dir=" + at("tree"));
}

TEST_F(ToolkitVariables, a_triton_that_cannot_read_this_ptxas_keeps_its_own) {
  request.ptxas = Version::parse("13.0.88").value();
  EXPECT_EQ(after("TRITON_PTXAS_PATH"), at("tree/bin/ptxas")) << "unknown: as the newest";
  set("TRITON_PTXAS_PATH", at("other/bin/ptxas"));
  for (const auto* version : {"3.2.0", "3.3.1", "3.4.0"}) {
    request.versions["triton"] = Version::parse(version).value();
    EXPECT_EQ(after("TRITON_PTXAS_PATH"), "(unset)") << version;
    EXPECT_EQ(after("TRITON_PTXAS_BLACKWELL_PATH"), "(unset)") << version;
    EXPECT_EQ(after("TRITON_CUOBJDUMP_PATH"), at("tree/bin/cuobjdump")) << version;
  }
  request.versions["triton"] = Version::parse("3.5.0").value();
  EXPECT_EQ(after("TRITON_PTXAS_BLACKWELL_PATH"), at("tree/bin/ptxas"));
  request.ptxas = Version::parse("12.9.86").value();
  request.versions["triton"] = Version::parse("3.3.1").value();
  EXPECT_EQ(after("TRITON_PTXAS-BLACKWELL_PATH"), at("tree/bin/ptxas"));
  EXPECT_EQ(after("TRITON_PTXAS_BLACKWELL_PATH"), "(unset)");
  EXPECT_THAT(names_beyond_shells(toolkit()), Contains("TRITON_PTXAS-BLACKWELL_PATH"));
  EXPECT_THAT(print(toolkit(), Shell::sh, caller), Not(HasSubstr("PTXAS-BLACKWELL")));
  EXPECT_THAT(print(toolkit(), Shell::json, caller), HasSubstr("TRITON_PTXAS-BLACKWELL_PATH"));
}

TEST_F(ToolkitVariables, a_pinned_host_compiler_stands_instead_of_the_callers) {
  put("gcc/bin/g++-13");
  put("gcc/bin/gcc-13");
  for (const auto* name : {"NVCC_CCBIN", "CUDAHOSTCXX", "CXX", "CC"}) {
    set(name, "/opt/gcc/bin/g++");
    EXPECT_EQ(after(name), "/opt/gcc/bin/g++");
  }
  set("NVCC_PREPEND_FLAGS", "-ccbin /opt/gcc/bin/g++ -O1");
  EXPECT_EQ(after("NVCC_PREPEND_FLAGS"), "-ccbin /opt/gcc/bin/g++ -O1");
  request.host_compiler = at("gcc/bin/g++-13");
  for (const auto* name : {"NVCC_CCBIN", "CUDAHOSTCXX", "CXX"}) {
    EXPECT_EQ(after(name), at("gcc/bin/g++-13"));
  }
  EXPECT_EQ(after("CC"), at("gcc/bin/gcc-13"));
  EXPECT_EQ(after("NVCC_PREPEND_FLAGS"), "-O1");
}

TEST_F(ToolkitVariables, twice_is_once_and_taking_back_restores_what_was_there) {
  set("CUDA_HOME", "/usr/local/cuda");
  set("CPATH", at("other/include") + ":/usr/include");
  set("CCACHE_EXTRAFILES", "/mine");
  const auto once = apply(toolkit(), caller);
  EXPECT_EQ(apply(toolkit(), once).values(), once.values());
  auto other = request;
  other.tree = at("third");
  other.id = "ffff";
  const auto switched = apply(*environment(other, knowledge::Knowledge::embedded()), once);
  EXPECT_EQ(switched.get("PATH"), at("third/bin") + ":/usr/bin:/bin");
  EXPECT_EQ(switched.get("CCACHE_EXTRAFILES"), at("third/.cukit/input") + ":/mine");
  EXPECT_EQ(apply(toolkit(), switched).values(), once.values());
  EXPECT_EQ(take_back(switched).values(), caller.values());
  EXPECT_EQ(take_back(caller).values(), caller.values());
}

TEST_F(ToolkitVariables, taking_back_keeps_what_others_did_to_PATH) {
  auto used = apply(toolkit(), caller);
  used.set("PATH", "/venv/bin:" + *used.get("PATH"));
  EXPECT_EQ(take_back(used).get("PATH"), "/venv/bin:/usr/bin:/bin");
}

TEST_F(ToolkitVariables, json_and_plain_lines_are_complete_and_do_not_grow) {
  set("CPATH", at("other/include"));
  const auto first = print(toolkit(), Shell::json, caller);
  EXPECT_THAT(first, AllOf(HasSubstr("\"CPATH\""), HasSubstr(at("tree/bin") + ":/usr/bin:/bin"),
                           Not(HasSubstr("CUKIT_ENV_"))));
  const auto plain = print(toolkit(), Shell::plain, caller);
  EXPECT_EQ(print(toolkit(), Shell::plain, apply(toolkit(), caller)), plain);
}

} // namespace
} // namespace cukit::exports

// Archives of NVIDIA's redistributables in a tree. Layouts are those that nixpkgs, conda-forge and
// rules_ml_toolchain unpack.
#include "assemble/redist_layout.hpp"
#include "fixture.hpp"

namespace cukit::assemble {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

std::string placed(const std::string& path, const std::string& release = "13.0.2",
                   Platform platform = Platform::Kind::linux_x86_64) {
  return redist_path_in_tree(path, *Version::parse(release), platform);
}

TEST(RedistPath, folders_that_archives_are_known_to_use_become_those_of_a_tree) {
  EXPECT_EQ(placed("bin/nvcc"), "bin/nvcc");
  EXPECT_EQ(placed("lib/libcudart.so.13"), "lib/libcudart.so.13");
  EXPECT_EQ(placed("lib64/libcudart.so.13"), "lib/libcudart.so.13");
  EXPECT_EQ(placed("targets/x86_64-linux/lib/stubs/libcuda.so"), "lib/stubs/libcuda.so");
  EXPECT_EQ(placed("targets/x86_64-linux/include/cuda.h"), "include/cuda.h");
  EXPECT_EQ(placed("extras/CUPTI/lib64/libcupti.so.13"), "lib/libcupti.so.13");
  EXPECT_EQ(placed("extras/CUPTI/include/cupti.h"), "include/cupti.h");
  EXPECT_EQ(placed("extras/CUPTI/samples/x.cu"), "extras/CUPTI/samples/x.cu");
  EXPECT_EQ(placed("pkg-config/cuda-13.0.pc"), "lib/pkgconfig/cuda-13.0.pc");
  EXPECT_EQ(placed("pkgconfig/cuda-13.0.pc"), "lib/pkgconfig/cuda-13.0.pc");
  EXPECT_EQ(placed("nvvm/lib64/libnvvm.so.4"), "nvvm/lib64/libnvvm.so.4");
}

TEST(RedistPath, another_platforms_targets_stay_where_they_are) {
  EXPECT_EQ(placed("targets/sbsa-linux/lib/a"), "targets/sbsa-linux/lib/a");
  EXPECT_EQ(placed("targets/sbsa-linux/lib/a", "13.0.2", Platform::Kind::linux_sbsa), "lib/a");
}

TEST(RedistPath, libraries_of_another_cuda_go_nowhere) {
  EXPECT_EQ(placed("lib/13/libcutensor.so.2"), "lib/libcutensor.so.2");
  EXPECT_EQ(placed("lib/12/libcutensor.so.2"), "");
  EXPECT_EQ(placed("lib/12/libcutensor.so.2", "12.4.1"), "lib/libcutensor.so.2");
  EXPECT_EQ(placed("lib/10.2/libcutensor.so.1", "11.8.0"), "");
  EXPECT_EQ(placed("lib/13"), "lib/13");
}

class RedistTree : public AssembleTest {
protected:
  lock::Artifact& archive(const std::string& component, const Contents& contents,
                          std::vector<std::string> require = {}) {
    auto& artifact = add(component, "13.0.88", contents);
    artifact.source = "redist";
    artifact.root = "";
    artifact.require = std::move(require);
    return artifact;
  }
};

TEST_F(RedistTree, an_archive_without_a_root_fills_the_tree_and_its_licence_has_a_folder) {
  archive("nvcc", {{"bin/nvcc", "#!/bin/sh\n"}, {"LICENSE", "mine\n"}}, {"bin/nvcc"});
  archive("crt", {{"include/crt/host_config.h", "x"}, {"LICENSE", "other\n"}});
  const auto paths = overview();
  EXPECT_THAT(paths, Contains(Pair("bin/nvcc", "nvcc")));
  EXPECT_THAT(paths, Contains(Pair("LICENSES/nvcc/LICENSE", "nvcc")));
  EXPECT_THAT(paths, Contains(Pair("LICENSES/crt/LICENSE", "crt")));
  EXPECT_THAT(paths, Not(Contains(Key("LICENSE"))));
}

TEST_F(RedistTree, licences_come_along_with_single_files) {
  archive("crt", {{"include/crt/a.h", "x"}, {"bin/nvcc", "#!x"}, {"LICENSE", "l\n"}}).take = {
      "include/crt/"};
  EXPECT_THAT(overview(), Contains(Key("LICENSES/crt/LICENSE")));
  EXPECT_THAT(overview(), Not(Contains(Key("bin/nvcc"))));
}

TEST_F(RedistTree, stubs_of_nvcc_may_be_in_any_archive) {
  archive("nvcc", {{"bin/nvcc", "#!/bin/sh\n"}}, {"bin/crt/link.stub"});
  archive("crt", {{"bin/crt/link.stub", "stub"}});
  EXPECT_THAT(overview(), Contains(Pair("bin/crt/link.stub", "crt")));
}

TEST_F(RedistTree, a_required_file_that_lies_elsewhere_also_gets_its_place) {
  archive("nvcc", {{"bin/nvcc", "#!/bin/sh\n"}, {"crt/link.stub", "stub"}}, {"bin/crt/link.stub"});
  archive("nvvm", {{"nvvm/include/nvvm.h", "h"}, {"nvvm/lib64/libnvvm.so.4", "#!"}},
          {"include/nvvm.h", "nvvm/lib64/libnvvm.so"});
  const auto paths = overview();
  EXPECT_THAT(paths, Contains(Key("crt/link.stub")));
  EXPECT_EQ(text_of("bin/crt/link.stub"), "stub");
  EXPECT_EQ(text_of("include/nvvm.h"), "h");
  EXPECT_THAT(paths, Contains(Pair("nvvm/lib64/libnvvm.so", "link to libnvvm.so.4")));
}

TEST_F(RedistTree, required_files_that_are_nowhere_are_all_named) {
  archive("nvcc", {{"bin/nvcc", "#!/bin/sh\n"}}, {"bin/nvcc", "bin/ptxas", "nvvm/bin/cicc"});
  const auto plan = plan_result();
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::integrity);
  ASSERT_EQ(plan.error().causes.size(), 1U);
  EXPECT_THAT(plan.error().causes[0], HasSubstr("bin/ptxas, nvvm/bin/cicc"));
  EXPECT_THAT(plan.error().causes[0], Not(HasSubstr("bin/nvcc,")));
}

TEST_F(RedistTree, two_files_of_a_name_are_not_guessed_between) {
  archive("a", {{"x/link.stub", "1"}}, {"bin/crt/link.stub"});
  archive("b", {{"y/link.stub", "2"}});
  EXPECT_FALSE(plan_result());
}

TEST_F(RedistTree, a_library_is_required_by_the_name_that_linkers_use) {
  archive("cudart", {{"lib64/libaaaa.so.4", library("libaaaa.so.4")}}, {"lib/libaaaa.so"});
  EXPECT_THAT(overview(), Contains(Pair("lib/libaaaa.so", "link to libaaaa.so.4")));
}

TEST_F(RedistTree, links_of_an_archive_move_with_their_files) {
  const auto& artifact =
      archive("cudart", {{"lib64/libx.so.13.0.96", "#!"}, {"lib64/a/y", "#!"}}, {"lib/libx.so"});
  auto& list = entries_[lock::store_key(artifact)].list;
  for (const auto& [path, target] :
       {std::pair("lib64/libx.so", "libx.so.13"), std::pair("lib64/libx.so.13", "libx.so.13.0.96"),
        std::pair("include/deep/y", "../../lib64/a/y"),
        std::pair("targets/x86_64-linux/lib/z", "../../../lib64/a/y")}) {
    store::EntryFile link;
    link.path = *RelativePath::parse(path);
    link.link = target;
    list.push_back(link);
  }
  const auto paths = overview();
  EXPECT_THAT(paths, Contains(Pair("lib/libx.so", "link to libx.so.13")));
  EXPECT_THAT(paths, Contains(Pair("lib/libx.so.13", "link to libx.so.13.0.96")));
  EXPECT_THAT(paths, Contains(Pair("include/deep/y", "link to ../../lib/a/y")));
  EXPECT_THAT(paths, Contains(Pair("lib/z", "link to a/y")));
}

TEST_F(RedistTree, pkg_config_files_are_freed_of_the_place_they_were_made_for) {
  archive("cudart",
          {{"pkg-config/cudart-13.0.pc",
            "cudaroot=/usr/local/cuda-13.0\nlibdir=${cudaroot}/targets/x86_64-linux/lib\n"}});
  const auto text = text_of("lib/pkgconfig/cudart-13.0.pc");
  EXPECT_THAT(text, HasSubstr("cudaroot=${pcfiledir}/../..\n"));
  EXPECT_THAT(text, Not(HasSubstr("/usr/local")));
}

TEST_F(RedistTree, both_header_roots_of_cccl_may_hold_nv) {
  archive("cccl", {{"include/cccl/nv/target", "x"}, {"include/nv/target", "x"}},
          {"include/nv/target", "include/cccl/nv/target"});
  EXPECT_THAT(overview(), Contains(Key("include/nv/target")));
}

} // namespace
} // namespace cukit::assemble

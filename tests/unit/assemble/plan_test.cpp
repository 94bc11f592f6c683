#include "fixture.hpp"

namespace cukit::assemble {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

using PlanTest = AssembleTest;

TEST_F(PlanTest, holds_exactly_this_for_a_small_toolkit) {
  add_small_toolkit();
  const std::map<std::string, std::string> expected{
      {"LICENSES/cudart/License.txt", "cudart"},
      {"bin/nvcc", "nvcc"},
      {"bin/nvcc.profile", "nvcc"},
      {"bin/tool", "nvcc"},
      {"include/cuda.h", "cudart"},
      {"lib/libaaaa.so", "link to libaaaa.so.4"},
      {"lib/libaaaa.so.4", "cudart"},
      {"lib/pkgconfig/cuda-13.0.pc", "cukit"},
      {"lib/pkgconfig/cuda.pc", "cukit"},
      {"lib/stubs/libcuda.so", "cukit"},
      {"lib64", "link to lib"},
      {"targets/x86_64-linux/include", "link to ../../include"},
      {"targets/x86_64-linux/lib", "link to ../../lib"},
      {"version.json", "cukit"},
      {"version.txt", "cukit"}};
  EXPECT_EQ(overview(), expected);
}

TEST_F(PlanTest, names_the_targets_folder_of_arm_servers_as_nvcc_does) {
  platform_.platform = Platform::Kind::linux_sbsa;
  add("x", "1", {{"nvidia/cu13/include/a.h", ""}});
  EXPECT_THAT(overview(), Contains(Pair("targets/sbsa-linux/include", "link to ../../include")));
}

TEST_F(PlanTest, take_and_leave_are_paths_in_the_tree_after_the_move) {
  auto& artifact = add("cccl", "13.2",
                       {{"nvidia/cu13/cuda_cccl/lib/cmake/a.cmake", "a"},
                        {"nvidia/cu13/cuda_cccl/.metadata/scan", "s"},
                        {"nvidia/cu13/include/nv/target", "t"},
                        {"nvidia/cu13/include/other", "o"},
                        {"nvidia/cu13/bin/ptxas", "p"},
                        {"nvidia/cu13/bin/ptxas2", "p"}});
  artifact.move = {{"cuda_cccl/lib/cmake/", "lib/cmake/"}};
  artifact.take = {"lib/cmake/", "include/", "bin/ptxas"};
  artifact.leave = {"include/other"};
  const auto paths = overview();
  EXPECT_THAT(paths, AllOf(Contains(Key("lib/cmake/a.cmake")), Contains(Key("include/nv/target")),
                           Contains(Key("bin/ptxas"))));
  EXPECT_THAT(paths, Not(Contains(Key("include/other"))));
  EXPECT_THAT(paths, Not(Contains(Key("bin/ptxas2"))));
  EXPECT_THAT(paths, Not(Contains(Key("cuda_cccl/.metadata/scan"))));
}

TEST_F(PlanTest, a_move_of_one_file_and_a_move_that_goes_on_from_another) {
  auto& artifact =
      add("cccl", "13.3", {{"nvidia/cu13/cccl/LICENSE", "l"}, {"nvidia/cu13/a/b/c", "c"}});
  artifact.move = {{"cccl/LICENSE", "LICENSES/cccl/LICENSE"}, {"a/", "x/"}, {"x/b/", "y/"}};
  EXPECT_THAT(overview(), AllOf(Contains(Key("LICENSES/cccl/LICENSE")), Contains(Key("y/c"))));
}

TEST_F(PlanTest, licences_come_along_whatever_is_taken) {
  auto& artifact = add("curand", "10.4",
                       {{"nvidia/cu13/include/curand.h", "h"},
                        {"nvidia/cu13/lib/libcurand.a", "a"},
                        {"curand-10.4.dist-info/licenses/sub/NOTICE", "n"},
                        {"curand-10.4.dist-info/LICENSE.txt", "l"},
                        {"curand-10.4.dist-info/METADATA", "m"}});
  artifact.take = {"include/"};
  artifact.leave = {"LICENSES/"};
  const auto paths = overview();
  EXPECT_THAT(paths, Contains(Key("LICENSES/curand/sub/NOTICE")));
  EXPECT_THAT(paths, Contains(Key("LICENSES/curand/LICENSE.txt")));
  EXPECT_THAT(paths, Not(Contains(Key("lib/libcurand.a"))));
}

TEST_F(PlanTest, differing_licences_of_two_versions_are_both_kept) {
  add("nvcc", "13.0.88", {{"n.dist-info/licenses/License.txt", "old"}});
  add("nvcc", "13.2.78", {{"n.dist-info/licenses/License.txt", "new"}});
  EXPECT_EQ(text_of("LICENSES/nvcc/License.txt"), "old");
  EXPECT_EQ(text_of("LICENSES/nvcc-13.2.78/License.txt"), "new");
}

TEST_F(PlanTest, two_owners_with_different_bytes_are_an_error_that_names_both) {
  add("a", "1.0", {{"nvidia/cu13/include/x.h", "1"}});
  add("b", "2.0", {{"nvidia/cu13/include/x.h", "2"}});
  const auto files = plan_result();
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, ErrorCode::integrity);
  EXPECT_EQ(files.error().message,
            "a 1.0 and b 2.0 both bring include/x.h, with different content");
}

TEST_F(PlanTest, two_owners_with_equal_bytes_share_the_path) {
  add("a", "1.0", {{"nvidia/cu13/include/x.h", "1"}});
  add("b", "2.0", {{"nvidia/cu13/include/x.h", "1"}});
  EXPECT_THAT(overview(), Contains(Pair("include/x.h", "a")));
}

TEST_F(PlanTest, a_file_where_another_has_a_folder_is_an_error) {
  add("a", "1.0", {{"nvidia/cu13/include/x", "1"}});
  add("b", "2.0", {{"nvidia/cu13/include/x/y.h", "1"}});
  const auto files = plan_result();
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().message,
              AllOf(HasSubstr("include/x"), HasSubstr("a 1.0"), HasSubstr("b 2.0")));
}

TEST_F(PlanTest, a_lib64_folder_of_an_artifact_meets_the_link_and_is_an_error) {
  add("a", "1.0", {{"nvidia/cu13/lib64/x", "1"}, {"nvidia/cu13/lib/y", "1"}});
  ASSERT_FALSE(plan_result());
}

TEST_F(PlanTest, refuses_an_artifact_that_reaches_into_our_own_folder) {
  add("a", "1.0", {{"nvidia/cu13/.cukit/content", "1"}});
  const auto files = plan_result();
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, ErrorCode::integrity);
  EXPECT_THAT(files.error().message, HasSubstr(".cukit/"));
}

TEST_F(PlanTest, refuses_a_move_out_of_the_tree) {
  auto& artifact = add("a", "1.0", {{"nvidia/cu13/a/x", "1"}});
  artifact.move = {{"a/", "../"}};
  EXPECT_FALSE(plan_result());
}

TEST_F(PlanTest, a_file_outside_the_root_that_nobody_knows_is_an_error) {
  add("a", "1.0", {{"nvidia/other/x", "1"}});
  const auto files = plan_result();
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().message, HasSubstr("nvidia/other/x"));
}

TEST_F(PlanTest, links_of_the_lock_lead_to_files_of_any_artifact) {
  auto& artifact = add("nvvm", "13.0", {{"nvidia/cu13/nvvm/bin/cicc", "c"}});
  artifact.link = {{"nvvm/lib64/libnvvm.so", "../../lib/libnvvm.so.4"}};
  add("other", "1", {{"nvidia/cu13/lib/libnvvm.so.4", "n"}});
  EXPECT_THAT(overview(),
              Contains(Pair("nvvm/lib64/libnvvm.so", "link to ../../lib/libnvvm.so.4")));
}

TEST_F(PlanTest, a_link_of_the_lock_that_leads_nowhere_is_an_error) {
  auto& artifact = add("nvvm", "13.0", {{"nvidia/cu13/nvvm/bin/cicc", "c"}});
  artifact.link = {{"nvvm/lib64/libnvvm.so", "../../lib/libnvvm.so.4"}};
  const auto files = plan_result();
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().message, HasSubstr("nvvm/lib64/libnvvm.so"));
}

TEST_F(PlanTest, an_assembly_of_a_newer_cukit_is_refused_by_number) {
  add_small_toolkit();
  lock_.assembly = 2;
  const auto files = plan_result();
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().message, HasSubstr("assembly 2"));
}

TEST_F(PlanTest, an_entry_that_is_not_there_is_an_error) {
  add_small_toolkit();
  entries_.clear();
  EXPECT_FALSE(plan_result());
}

} // namespace
} // namespace cukit::assemble

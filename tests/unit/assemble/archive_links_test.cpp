// Links that archives bring meet those that the assembly makes from SONAMEs.
#include "fixture.hpp"

namespace cukit::assemble {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

class ArchiveLinksTest : public AssembleTest {
protected:
  /// As the store's index has it: a link in the entry of the artifact that was added last.
  void link(const std::string& name, const std::string& target) {
    auto& list = entries_.at(lock::store_key(platform_.artifacts.back())).list;
    list.push_back({.path = *RelativePath::parse("nvidia/cu13/" + name), .link = target});
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
  }
  void add_library_with_links() {
    add("cudart", "13.0.96", {{"nvidia/cu13/lib/libaaaa.so.4.2", library("libaaaa.so.4")}});
    link("lib/libaaaa.so", "libaaaa.so.4");
    link("lib/libaaaa.so.4", "libaaaa.so.4.2");
  }
};

TEST_F(ArchiveLinksTest, a_chain_from_an_archive_is_what_sonames_would_give) {
  add_library_with_links();
  const auto with_links = overview();
  entries_.clear();
  platform_.artifacts.clear();
  add("cudart", "13.0.96", {{"nvidia/cu13/lib/libaaaa.so.4.2", library("libaaaa.so.4")}});
  EXPECT_EQ(overview(), with_links);
  EXPECT_THAT(with_links, Contains(Pair("lib/libaaaa.so", "link to libaaaa.so.4")));
  EXPECT_THAT(with_links, Contains(Pair("lib/libaaaa.so.4", "link to libaaaa.so.4.2")));
}

TEST_F(ArchiveLinksTest, a_built_tree_holds_them_and_verify_agrees) {
  add_library_with_links();
  const auto tree = build_at(scratch_->path() / "tree");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(fs::read_symlink(tree->path / "lib/libaaaa.so.4"), "libaaaa.so.4.2");
  EXPECT_EQ(*verify(*tree, {}), std::vector<std::string>());
}

TEST_F(ArchiveLinksTest, equal_links_of_two_artifacts_are_shared_and_others_are_a_conflict) {
  add_library_with_links();
  add("nvcc", "13.0.88", {{"nvidia/cu13/bin/tool", "#!/bin/sh\n"}});
  link("lib/libaaaa.so", "libaaaa.so.4");
  EXPECT_TRUE(plan_result());
  add("cccl", "13.0.85", {{"nvidia/cu13/include/x.h", ""}});
  link("lib/libaaaa.so", "libaaaa.so.4.2");
  const auto conflict = plan_result();
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().message,
            "cudart 13.0.96 and cccl 13.0.85 both bring lib/libaaaa.so, with different content");
  EXPECT_THAT(conflict.error().causes, Contains(HasSubstr("a link to libaaaa.so.4.2")));
}

TEST_F(ArchiveLinksTest, a_link_of_the_recipe_must_be_the_archives_own) {
  add_library_with_links();
  platform_.artifacts.back().link = {{"lib/libaaaa.so", "libaaaa.so.4"}};
  EXPECT_TRUE(plan_result());
  platform_.artifacts.back().link = {{"lib/libaaaa.so", "libaaaa.so.4.2"}};
  EXPECT_FALSE(plan_result());
}

TEST_F(ArchiveLinksTest, a_lib64_that_is_a_link_is_the_one_every_tree_has) {
  add_library_with_links();
  link("lib64", "lib");
  EXPECT_THAT(overview(), Contains(Pair("lib64", "link to lib")));
}

} // namespace
} // namespace cukit::assemble

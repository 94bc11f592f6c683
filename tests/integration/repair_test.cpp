// Damage of every kind is named, and repaired from the source; what was not damaged stays.
#include "store_fixture.hpp"

#include <fstream>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Repair : public StoreRun {
protected:
  void SetUp() override {
    up("demo", "13.0.188");
    up("other", "13.0.187");
    root_ = tree("demo");
  }
  /// Whatever the rules of the tree are, a user with a shell can do this.
  static void overwrite(const fs::path& file, const std::string& bytes) {
    ASSERT_EQ(::chmod(file.c_str(), 0644), 0) << file;
    std::ofstream(file, std::ios::binary | std::ios::in) << bytes;
    ASSERT_EQ(::chmod(file.c_str(), 0444), 0);
  }
  void open_folder(const std::string& name) { ASSERT_EQ(::chmod((root_ / name).c_str(), 0755), 0); }
  /// Named by verify, repaired, clean, and the other tree was never in trouble.
  void expect_repaired(const std::string& named) {
    const auto found = run({"verify", "demo"}, 1);
    EXPECT_THAT(found, AllOf(HasSubstr(named), HasSubstr("--repair")));
    EXPECT_THAT(run({"verify", "demo", "--repair"}), HasSubstr("demo: repaired"));
    EXPECT_THAT(run({"verify"}), HasSubstr("all as they were built"));
    EXPECT_THAT(playground.names_in("staging"), IsEmpty());
    EXPECT_THAT(playground.names_in("trees"), SizeIs(2));
    EXPECT_EQ(tree("demo"), root_);
  }
  fs::path root_;
};

TEST_F(Repair, row37_an_edited_file_is_named_and_restored_in_the_tree_and_the_store) {
  const auto file = root_ / "include/cuda_runtime.h";
  const auto before = read_file(file, 1000).value();
  overwrite(file, "/* my own idea of cuda_runtime.h, longer than it was */\n");
  expect_repaired("modified: include/cuda_runtime.h");
  EXPECT_EQ(read_file(file, 1000).value(), before);
}

TEST_F(Repair, row37_one_flipped_byte_of_the_same_length_is_named_and_restored) {
  const auto file = root_ / "nvvm/bin/cicc";
  auto bytes = read_file(file, 1U << 20U).value();
  const auto before = bytes;
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0755), 0);
  std::ofstream(file, std::ios::binary | std::ios::in) << bytes;
  ASSERT_EQ(::chmod(file.c_str(), 0555), 0);
  server.forget();
  expect_repaired("modified: nvvm/bin/cicc");
  EXPECT_EQ(read_file(file, 1U << 20U).value(), before);
  // Only what was damaged is fetched again.
  EXPECT_EQ(server.requests(index.file_path(index.file_of("nvidia-nvvm"))), 1);
  EXPECT_EQ(server.requests(index.file_path(index.file_of("nvidia-cuda-cccl"))), 0);
}

TEST_F(Repair, row37_a_truncated_file_is_named_and_restored) {
  const auto file = root_ / "nvvm/libdevice/libdevice.10.bc";
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  fs::resize_file(file, 3);
  ASSERT_EQ(::chmod(file.c_str(), 0444), 0);
  expect_repaired("modified: nvvm/libdevice/libdevice.10.bc (3 bytes, was 8)");
}

TEST_F(Repair, row37_a_changed_mode_is_named_and_restored) {
  const auto file = root_ / "bin/nvcc";
  ASSERT_EQ(::chmod(file.c_str(), 0777), 0);
  expect_repaired("mode changed: bin/nvcc (0777, was 0555)");
}

TEST_F(Repair, row37_a_deleted_file_is_named_and_restored_without_a_source) {
  open_folder("bin");
  ASSERT_TRUE(fs::remove(root_ / "bin/ptxas"));
  playground.environment.set("CUKIT_INDEX_URL", "http://127.0.0.1:9/simple");
  expect_repaired("missing: bin/ptxas");
}

TEST_F(Repair, row37_an_added_file_is_named_and_taken_out_without_a_source) {
  open_folder("include");
  std::ofstream(root_ / "include/mine.h") << "x";
  playground.environment.set("CUKIT_INDEX_URL", "http://127.0.0.1:9/simple");
  expect_repaired("extra: include/mine.h");
  EXPECT_FALSE(path_exists(root_ / "include/mine.h"));
}

TEST_F(Repair, row37_a_damaged_record_is_named_and_restored) {
  open_folder(".cukit");
  overwrite(root_ / ".cukit/files", "cukit-files\t2\n");
  expect_repaired("the list of the tree's files does not fit its content digest");
}

TEST_F(Repair, row37_a_damaged_index_of_an_entry_is_named_and_restored) {
  const auto key = playground.names_in("store").front();
  overwrite(playground.home() / "store" / key / "index", "cukit-index\t9\n");
  EXPECT_THAT(run({"verify"}, 1), HasSubstr("index of a store entry is damaged"));
  EXPECT_THAT(run({"verify", "--repair"}), HasSubstr("repaired"));
  run({"verify"});
}

TEST_F(Repair, row37_trees_that_share_a_damaged_file_are_repaired_with_it) {
  // A third name for the same bytes: another tree with the same wheels of the older release.
  playground.write("third.yaml", manifest_of("third", "13.0.187") + "consumers: [triton]\n");
  run({"up", "--no-validate", "third.yaml"});
  overwrite(tree("other") / "include/nvvm.h", "/* NVVM */\n");
  run({"verify", "other"}, 1);
  run({"verify", "other", "--repair"});
  EXPECT_THAT(run({"verify"}), HasSubstr("all as they were built"));
}

TEST_F(Repair, without_a_source_says_so_and_changes_nothing) {
  overwrite(root_ / "include/nvvm.h", "/* NVVM */\n");
  playground.environment.set("CUKIT_INDEX_URL", "http://127.0.0.1:9/simple");
  const auto said = run({"verify", "demo", "--repair"}, 4);
  EXPECT_THAT(said, AllOf(HasSubstr("not repaired"), HasSubstr("127.0.0.1:9")));
  EXPECT_THAT(run({"verify", "demo"}, 1), HasSubstr("modified: include/nvvm.h"));
  EXPECT_THAT(playground.names_in("staging"), IsEmpty());
  playground.environment.set("CUKIT_INDEX_URL", index.url());
  run({"verify", "demo", "--repair"});
  run({"verify"});
}

TEST_F(Repair, what_no_name_needs_is_removed_instead) {
  playground.write("plain.yaml", manifest_of("plain", "13.0.188") + "components: [core]\n");
  run({"gc", "--name", "demo"});
  run({"build", "demo.yaml"});
  ASSERT_TRUE(folder_exists(root_));
  overwrite(root_ / "include/nvvm.h", "/* NVVM */\n");
  EXPECT_THAT(run({"verify", "--repair"}), HasSubstr("removed, because no name needs it"));
  EXPECT_FALSE(folder_exists(root_));
  run({"verify"});
  EXPECT_THAT(run({"build", "demo.yaml"}), Not(HasSubstr("nothing to do")));
}

TEST_F(Repair, the_json_has_kind_and_path_of_each_difference) {
  ASSERT_EQ(::chmod((root_ / "bin/nvcc").c_str(), 0700), 0);
  const auto json = run({"verify", "demo", "--json"}, 1);
  EXPECT_THAT(json,
              AllOf(HasSubstr("cukit.verify/1"), HasSubstr("\"clean\": false"),
                    HasSubstr("\"kind\": \"mode changed\""), HasSubstr("\"path\": \"bin/nvcc\"")));
}

} // namespace
} // namespace cukit::test

#include "store/store.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>

namespace cukit::store {
namespace {

using testing::ElementsAre;

// sha256sum of "hello\n"
const char* const k_hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
const char* const k_key = "aa11";

RelativePath path(std::string_view text) {
  return *RelativePath::parse(text);
}

class StoreTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = TempDirectory::create(fs::temp_directory_path(), "cukit-store-");
    ASSERT_TRUE(made);
    scratch_ = std::make_unique<TempDirectory>(std::move(*made));
    const Home home{scratch_->path(), scratch_->path() / "cache"};
    ASSERT_TRUE(prepare(home));
    store_ = std::make_unique<Store>(home);
  }
  /// As an extractor leaves it: files with their modes below files/.
  Staging stage() {
    auto staging = *Staging::create(store_->home());
    EXPECT_TRUE(make_directories(staging.path() / "files/a"));
    EXPECT_TRUE(create_file(staging.path() / "files/a/hello", "hello\n", 0444));
    EXPECT_TRUE(create_file(staging.path() / "files/tool", "#!/bin/sh\n", 0555));
    return staging;
  }
  static std::vector<EntryFile> list() {
    return {{path("tool"), 10, sha256_of("#!/bin/sh\n"), true},
            {path("a/hello"), 6, *Sha256::parse(k_hello), false}};
  }
  std::vector<std::string> verified() {
    const auto lines = store_->verify(k_key);
    EXPECT_TRUE(lines);
    return lines ? *lines : std::vector<std::string>{"verify failed"};
  }
  fs::path file(std::string_view name) { return store_->home().store() / k_key / "files" / name; }
  std::unique_ptr<TempDirectory> scratch_;
  std::unique_ptr<Store> store_;
};

TEST_F(StoreTest, an_entry_is_absent_then_complete) {
  EXPECT_FALSE(store_->has(k_key));
  EXPECT_FALSE(store_->read(k_key));
  {
    const auto staged = stage();
    ASSERT_TRUE(store_->commit(staged, k_key, list(), Durability::full));
  }
  EXPECT_TRUE(store_->has(k_key));
  const auto entry = store_->read(k_key);
  ASSERT_TRUE(entry);
  ASSERT_EQ(entry->list.size(), 2U);
  EXPECT_EQ(entry->list[0].path.text(), "a/hello");
  EXPECT_EQ(entry->list[0].sha256.hex(), k_hello);
  EXPECT_EQ(entry->list[0].size, 6U);
  EXPECT_FALSE(entry->list[0].executable);
  EXPECT_TRUE(entry->list[1].executable);
  EXPECT_EQ(*read_file(entry->files / "a/hello", 100), "hello\n");
  EXPECT_TRUE(verified().empty());
  EXPECT_TRUE(list_directory(store_->home().staging())->empty());
}

TEST_F(StoreTest, the_index_is_the_documented_text) {
  const auto staged = stage();
  ASSERT_TRUE(store_->commit(staged, k_key, list(), Durability::normal));
  const auto text = *read_file(store_->home().store() / k_key / "index", 1000);
  const std::string start =
      fmt::format("cukit-index\t1\n0444\t6\t{}\ta/hello\n0555\t10\t", k_hello);
  EXPECT_EQ(text.substr(0, start.size()), start);
  struct stat info {};
  ASSERT_EQ(::stat((store_->home().store() / k_key / "index").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0444U);
}

TEST_F(StoreTest, somebody_elses_equal_entry_wins) {
  const auto first = stage();
  const auto second = stage();
  ASSERT_TRUE(store_->commit(first, k_key, list(), Durability::normal));
  const auto inode = [&] {
    struct stat info {};
    EXPECT_EQ(::stat(file("tool").c_str(), &info), 0);
    return info.st_ino;
  };
  const auto before = inode();
  const auto entry = store_->commit(second, k_key, list(), Durability::normal);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->list, store_->read(k_key)->list);
  EXPECT_EQ(inode(), before);
}

TEST_F(StoreTest, another_content_under_the_same_key_is_an_integrity_error) {
  const auto first = stage();
  const auto second = stage();
  ASSERT_TRUE(store_->commit(first, k_key, list(), Durability::normal));
  auto other = list();
  other[0].size = 11;
  const auto entry = store_->commit(second, k_key, other, Durability::normal);
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code, ErrorCode::integrity);
}

TEST_F(StoreTest, a_key_that_is_a_path_is_refused) {
  const auto staged = stage();
  EXPECT_FALSE(store_->commit(staged, "../x", list(), Durability::normal));
  EXPECT_FALSE(store_->read(".."));
}

TEST_F(StoreTest, verify_names_each_kind_of_damage) {
  const auto staged = stage();
  auto files = list();
  for (const char* name : {"b", "c", "d", "e", "f"}) {
    ASSERT_TRUE(create_file(staged.path() / "files" / name, "hello\n", 0444));
    files.push_back({path(name), 6, *Sha256::parse(k_hello), false});
  }
  ASSERT_TRUE(store_->commit(staged, k_key, files, Durability::normal));
  ASSERT_TRUE(verified().empty());
  ASSERT_TRUE(fs::remove(file("a/hello")));
  std::ofstream(file("b")) << "hellO\n"; // same length
  std::ofstream(file("c")) << "short";
  ASSERT_EQ(::chmod(file("d").c_str(), 0644), 0);
  ASSERT_TRUE(fs::remove(file("e")));
  fs::create_symlink("f", file("e"));
  ASSERT_TRUE(create_file(file("z"), "more", 0444));
  ASSERT_TRUE(make_directories(file("empty")));
  EXPECT_THAT(verified(),
              ElementsAre("missing: a/hello", "modified: b", "modified: c (5 bytes, was 6)",
                          "mode changed: d (0644, was 0444)", "modified: e (another kind of file)",
                          "extra: empty/", "extra: z"));
}

class DamagedIndex : public StoreTest, public testing::WithParamInterface<int> {};

TEST_P(DamagedIndex, is_never_read_as_a_shorter_entry) {
  const auto staged = stage();
  ASSERT_TRUE(store_->commit(staged, k_key, list(), Durability::normal));
  const fs::path index = store_->home().store() / k_key / "index";
  std::string text = *read_file(index, 1000);
  switch (GetParam()) {
  case 0:
    text.resize(text.size() / 2);
    break;
  case 1:
    text.clear();
    break;
  case 2:
    text[20] = text[20] == '1' ? '2' : '1';
    break;
  case 3:
    text.erase(14, text.find('\n', 14) - 13);
    break; // the first file's line
  case 4:
    text += "more\n";
    break;
  case 5:
    text.replace(0, 13, "cukit-index\t2");
    break;
  default:
    break;
  }
  ASSERT_EQ(::chmod(index.c_str(), 0644), 0);
  std::ofstream(index, std::ios::binary) << text;
  const auto entry = store_->read(k_key);
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code, ErrorCode::integrity);
}
INSTANTIATE_TEST_SUITE_P(Each, DamagedIndex, testing::Range(0, 6));

} // namespace
} // namespace cukit::store

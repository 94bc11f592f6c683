// Entries that hold symbolic links, as archives bring them.
#include "store/index.hpp"
#include "store/store.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RelativePath path(std::string_view text) {
  return *RelativePath::parse(text);
}

EntryFile file(std::string_view name, std::string_view content) {
  return {.path = path(name), .size = content.size(), .sha256 = sha256_of(content)};
}

EntryFile link(std::string_view name, std::string target) {
  return {.path = path(name), .link = std::move(target)};
}

class LinksTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(prepare(home_));
    staging_.emplace(*Staging::create(home_));
    ASSERT_TRUE(make_directories(files() / "lib"));
    ASSERT_TRUE(create_file(files() / "lib/libx.so.1.2", "x", 0444));
    fs::create_symlink("libx.so.1.2", files() / "lib/libx.so.1");
    fs::create_symlink("libx.so.1", files() / "lib/libx.so");
  }
  fs::path files() const { return staging_->path() / "files"; }
  fs::path stored(std::string_view name) const { return home_.store() / "aa11/files" / name; }
  std::vector<EntryFile> list() const {
    return {link("lib/libx.so", "libx.so.1"), link("lib/libx.so.1", "libx.so.1.2"),
            file("lib/libx.so.1.2", "x")};
  }
  TempDirectory scratch_ = *TempDirectory::create(fs::temp_directory_path(), "cukit-links-");
  Home home_{scratch_.path(), scratch_.path() / "cache"};
  Store store_{home_};
  std::optional<Staging> staging_;
};

TEST_F(LinksTest, come_back_from_the_index_as_they_were) {
  ASSERT_TRUE(store_.commit(*staging_, "aa11", list(), Durability::normal));
  const auto entry = store_.read("aa11");
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(entry->list, list());
  EXPECT_EQ(*store_.verify("aa11"), std::vector<std::string>());
  const auto text = *read_file(home_.store() / "aa11/index", 1000);
  EXPECT_TRUE(text.starts_with("cukit-index\t2\nlink\t0\tlibx.so.1\tlib/libx.so\n"
                               "link\t0\tlibx.so.1.2\tlib/libx.so.1\n0444\t1\t"))
      << text;
}

TEST_F(LinksTest, verify_names_a_link_that_leads_elsewhere_or_became_a_file) {
  ASSERT_TRUE(store_.commit(*staging_, "aa11", list(), Durability::normal));
  fs::remove(stored("lib/libx.so"));
  fs::create_symlink("/etc/passwd", stored("lib/libx.so"));
  fs::remove(stored("lib/libx.so.1"));
  ASSERT_TRUE(create_file(stored("lib/libx.so.1"), "x", 0444));
  EXPECT_THAT(*store_.verify("aa11"),
              ElementsAre("link changed: lib/libx.so (leads to /etc/passwd, was libx.so.1)",
                          "modified: lib/libx.so.1 (another kind of file)"));
}

TEST_F(LinksTest, an_index_without_links_stays_in_the_old_form) {
  const auto text = write_index({file("a", "x")});
  EXPECT_TRUE(text.starts_with("cukit-index\t1\n")) << text;
  EXPECT_EQ(*read_index(text, "index"), std::vector{file("a", "x")});
}

std::string sealed(std::string text) {
  const auto digest = sha256_of(text).hex();
  return std::move(text) + "end\t" + digest + "\n";
}

TEST_F(LinksTest, an_index_never_holds_a_link_out_of_the_entry) {
  const auto read = [](const std::string& lines) { return read_index(sealed(lines), "index"); };
  EXPECT_TRUE(read("cukit-index\t2\nlink\t0\tb\ta\n"));
  EXPECT_FALSE(read("cukit-index\t2\nlink\t0\t../b\ta\n"));
  EXPECT_FALSE(read("cukit-index\t2\nlink\t0\t/b\ta\n"));
  EXPECT_FALSE(read("cukit-index\t2\nlink\t0\t\ta\n"));
  EXPECT_FALSE(read("cukit-index\t2\nlink\t1\tb\ta\n"));
  EXPECT_FALSE(read("cukit-index\t1\nlink\t0\tb\ta\n")) << "the old form has no links";
  const auto newer = read("cukit-index\t3\n");
  ASSERT_FALSE(newer);
  EXPECT_THAT(newer.error().message, HasSubstr("version 1 or 2"));
}

/// What the package calls its files cannot stand in for what the store keeps about it.
TEST_F(LinksTest, row26_names_of_our_own_files_in_a_package_are_harmless) {
  auto all = list();
  for (const auto* name : {".cukit-ok", ".lock", "index", "entry"}) {
    ASSERT_TRUE(create_file(files() / name, "forged", 0444));
    all.push_back(file(name, "forged"));
  }
  fs::create_symlink("../index", files() / "lib/index");
  all.push_back(link("lib/index", "../index"));
  ASSERT_TRUE(store_.commit(*staging_, "aa11", all, Durability::normal));
  EXPECT_TRUE(read_file(home_.store() / "aa11/index", 2000)->starts_with("cukit-index\t2\n"));
  EXPECT_EQ(*store_.verify("aa11"), std::vector<std::string>());
  EXPECT_EQ(store_.read("aa11")->list.size(), all.size());
}

} // namespace
} // namespace cukit::store

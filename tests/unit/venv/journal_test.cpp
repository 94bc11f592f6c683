// Changes of an environment are whole or absent, and can be taken back.
#include "support/fake_venv.hpp"
#include "venv/journal.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::venv {
namespace {

using test::FakeVenv;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VenvJournal : public ::testing::Test {
protected:
  VenvJournal() : place(*find_place(venv.path())), site(place.sites.front()) {
    put("pkg/old.txt", "old");
  }
  void put(const std::string& path, const std::string& text) const {
    venv.put("lib/python3.11/site-packages/" + path, text);
  }
  [[nodiscard]] std::string read(const std::string& path) const {
    return venv.read("lib/python3.11/site-packages/" + path);
  }
  /// A change that replaces a file and brings another; up to commit().
  [[nodiscard]] Journal staged(const std::string& text) const {
    auto journal = *begin(place, site);
    for (const char* path : {"pkg/old.txt", "pkg/more/new.txt"}) {
      const auto file = journal.folder / "new" / path;
      EXPECT_TRUE(make_directories(file.parent_path()));
      EXPECT_TRUE(create_file(file, text));
      journal.rows.push_back({path, *identity_of(site / path), *identity_of(file)});
    }
    return journal;
  }
  FakeVenv venv;
  Place place;
  fs::path site;
};

TEST_F(VenvJournal, a_restore_that_was_stopped_is_ended_and_no_further_change_goes) {
  auto first = staged("1");
  ASSERT_TRUE(commit(first));
  auto second = staged("2");
  ASSERT_TRUE(commit(second));
  ASSERT_TRUE(write_file_atomic(second.folder / "undoing", "\n"));
  EXPECT_TRUE(is_unfinished(place));
  const auto held = hold(place);
  ASSERT_TRUE(held);
  EXPECT_THAT(held->taken_back, ElementsAre(2));
  EXPECT_EQ(read("pkg/old.txt"), "1");
  EXPECT_FALSE(is_unfinished(place));
  EXPECT_EQ(list_journals(place)->size(), 1U);
}

TEST_F(VenvJournal, what_had_not_begun_is_thrown_away_and_what_had_is_completed) {
  static_cast<void>(staged("never"));
  {
    const auto held = hold(place);
    ASSERT_TRUE(held);
    EXPECT_THAT(held->recovered, ElementsAre(HasSubstr("had not begun")));
  }
  EXPECT_EQ(read("pkg/old.txt"), "old");
  auto journal = staged("whole");
  ASSERT_TRUE(commit(journal));
  // as it would be, had it been stopped behind the first file
  ASSERT_TRUE(remove_tree(journal.folder / "done"));
  ASSERT_TRUE(make_directories(journal.folder / "new/pkg/more"));
  ASSERT_TRUE(rename_path(site / "pkg/more/new.txt", journal.folder / "new/pkg/more/new.txt"));
  EXPECT_TRUE(is_unfinished(place));
  EXPECT_THAT(hold(place)->recovered, ElementsAre(HasSubstr("it is whole now")));
  EXPECT_EQ(read("pkg/more/new.txt"), "whole");
  EXPECT_THAT(*undo(journal), IsEmpty());
  EXPECT_EQ(read("pkg/old.txt"), "old");
  EXPECT_FALSE(path_exists(site / "pkg/more"));
}

TEST_F(VenvJournal, a_change_of_something_that_somebody_changed_meanwhile_is_not_made) {
  auto journal = staged("new");
  put("pkg/old.txt", "somebody's");
  const auto refused = commit(journal);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("changed by somebody else meanwhile"));
  EXPECT_EQ(read("pkg/old.txt"), "somebody's");
  EXPECT_FALSE(path_exists(journal.folder));
}

TEST_F(VenvJournal, an_environment_that_was_moved_is_given_back_where_it_is) {
  auto journal = staged("new");
  ASSERT_TRUE(commit(journal));
  const auto moved = venv.root.path() / "moved";
  ASSERT_TRUE(rename_path(venv.path(), moved));
  const auto there = *find_place(moved);
  auto all = *list_journals(there);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().site, there.sites.front());
  EXPECT_THAT(*undo(all.front()), IsEmpty());
  EXPECT_EQ(read_file(there.sites.front() / "pkg/old.txt", 100).value_or(""), "old");
}

TEST_F(VenvJournal, a_journal_that_names_files_elsewhere_is_not_followed) {
  auto journal = staged("new");
  ASSERT_TRUE(commit(journal));
  auto text = read_file(journal.folder / "journal.json", 1U << 20U).value_or("");
  const auto at = text.find("pkg/old.txt");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 11, "../../../../x");
  ASSERT_TRUE(write_file_atomic(journal.folder / "journal.json", text));
  EXPECT_FALSE(list_journals(place));
}

} // namespace
} // namespace cukit::venv

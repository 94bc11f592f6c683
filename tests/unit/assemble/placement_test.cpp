// How files get from the store into a tree on real file systems: btrfs and xfs on loop devices,
// overlay, tmpfs. Each test skips with the reason where it cannot mount.
#include "assemble/placer.hpp"
#include "assemble/tree_writer.hpp"
#include "base/child.hpp"
#include "fixture.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::assemble {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Something mounted below a scratch folder, and taken away again.
class Mounted {
public:
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;
  ~Mounted() {
    if (why_not_.empty()) {
      ::umount2(at_.c_str(), MNT_DETACH);
    }
  }
  /// A file system of that kind in a file; xfs wants 300 MB.
  static std::unique_ptr<Mounted> in_a_file(const fs::path& scratch, const std::string& kind) {
    auto result = std::unique_ptr<Mounted>(new Mounted(scratch / kind));
    const auto image = scratch / (kind + ".img");
    if (::geteuid() != 0) {
      result->why_not_ = "mounting needs root";
      return result;
    }
    const int fd = ::open(image.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const bool sized = fd >= 0 && ::ftruncate(fd, 320LL << 20) == 0;
    ::close(fd);
    if (!sized || !result->run({"mkfs." + kind, image.string()}) ||
        !result->run({"mount", "-o", "loop", image.string(), result->at_.string()})) {
      result->why_not_ = "no loop-mounted " + kind + ": " + result->why_not_;
    }
    return result;
  }
  static std::unique_ptr<Mounted> overlay(const fs::path& scratch, const fs::path& lower) {
    auto result = std::unique_ptr<Mounted>(new Mounted(scratch / "overlay"));
    for (const char* name : {"upper", "work"}) {
      EXPECT_TRUE(make_directories(scratch / name));
    }
    const auto options = fmt::format("lowerdir={},upperdir={},workdir={}", lower.string(),
                                     (scratch / "upper").string(), (scratch / "work").string());
    if (::mount("overlay", result->at_.c_str(), "overlay", 0, options.c_str()) != 0) {
      result->why_not_ = fmt::format("no overlay can be mounted: {}", std::strerror(errno));
    }
    return result;
  }
  [[nodiscard]] const fs::path& at() const { return at_; }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

private:
  explicit Mounted(fs::path at) : at_(std::move(at)) { EXPECT_TRUE(make_directories(at_)); }
  bool run(std::vector<std::string> arguments) {
    Command command;
    command.arguments = std::move(arguments);
    command.environment.set("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    const auto done = run_command(command);
    why_not_ = !done ? done.error().message : (done->exit_code == 0 ? "" : done->errors);
    return why_not_.empty();
  }
  fs::path at_;
  std::string why_not_;
};

struct stat look(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info;
}

class PlacementTest : public AssembleTest {
protected:
  /// The store moves to `place`, where the toolkit is made.
  void keep_store_at(const fs::path& place) {
    const store::Home home{place / "home", place / "home/cache"};
    ASSERT_TRUE(store::prepare(home));
    store_ = std::make_unique<store::Store>(home);
    add_small_toolkit();
  }
  /// Builds and says what was counted and complained about.
  Placer::Counts place_into(const fs::path& folder, Placement placement = Placement::link) {
    EXPECT_TRUE(make_directories(folder));
    auto writer = TreeWriter::open(folder, placement);
    EXPECT_TRUE(writer);
    for (const auto& file : planned()) {
      const auto added = writer->add(file);
      EXPECT_TRUE(added) << added.error().message;
    }
    EXPECT_TRUE(writer->finish());
    complaint_ = writer->placer().complaint();
    return writer->placer().counts();
  }
  std::uint64_t stored_files() {
    std::uint64_t count = 0;
    for (const auto& file : planned()) {
      count += file.from.empty() ? 0 : 1;
    }
    return count;
  }
  std::string complaint_;
};

class Reflink : public PlacementTest, public testing::WithParamInterface<const char*> {};

TEST_P(Reflink, row36_files_are_reflinked_so_that_editing_one_changes_no_other) {
  const auto disk = Mounted::in_a_file(scratch_->path(), GetParam());
  if (!disk->why_not().empty()) {
    GTEST_SKIP() << disk->why_not();
  }
  keep_store_at(disk->at());
  const auto counts = place_into(disk->at() / "t");
  EXPECT_EQ(counts.reflinks, stored_files());
  EXPECT_EQ(counts.hard_links + counts.copies, 0U);
  EXPECT_THAT(complaint_, IsEmpty());
  const auto tree = build_at(disk->at() / "whole");
  ASSERT_TRUE(tree);
  EXPECT_THAT(*verify(*tree, {}), IsEmpty());
  EXPECT_EQ(look(tree->path / "bin/nvcc").st_nlink, 1U);
  EXPECT_EQ(look(tree->path / "bin/nvcc").st_mtime, 1);
  // Somebody edits the tree; the store has the old bytes.
  ASSERT_EQ(::chmod((tree->path / "bin/nvcc").c_str(), 0755), 0);
  ASSERT_EQ(::truncate((tree->path / "bin/nvcc").c_str(), 3), 0);
  EXPECT_EQ(verify(*tree, {})->size(), 1U);
  for (const auto& [key, entry] : entries_) {
    EXPECT_THAT(*store_->verify(key), IsEmpty());
  }
  store_.reset();
  entries_.clear();
}
INSTANTIATE_TEST_SUITE_P(FileSystems, Reflink, testing::Values("btrfs", "xfs"),
                         [](const auto& one) { return std::string(one.param); });

TEST_F(PlacementTest, row36_a_copy_may_share_blocks_but_never_a_file) {
  const auto disk = Mounted::in_a_file(scratch_->path(), "btrfs");
  if (!disk->why_not().empty()) {
    GTEST_SKIP() << disk->why_not();
  }
  keep_store_at(disk->at());
  EXPECT_EQ(place_into(disk->at() / "t", Placement::copy).hard_links, 0U);
  EXPECT_EQ(look(disk->at() / "t/bin/nvcc").st_nlink, 1U);
  entries_.clear();
}

TEST_F(PlacementTest, row36_a_store_on_another_file_system_is_copied_from_and_told_once) {
  const auto disk = Mounted::in_a_file(scratch_->path(), "xfs");
  if (!disk->why_not().empty()) {
    GTEST_SKIP() << disk->why_not();
  }
  keep_store_at(disk->at());
  const auto counts = place_into(scratch_->path() / "t");
  EXPECT_EQ(counts.copies, stored_files());
  EXPECT_EQ(counts.why_copied, EXDEV);
  EXPECT_THAT(complaint_, HasSubstr("the store lies on another file system"));
  const auto here = build_at(scratch_->path() / "here");
  const auto there = build_at(disk->at() / "there");
  ASSERT_TRUE(here);
  ASSERT_TRUE(there);
  EXPECT_EQ(here->content, there->content);
  EXPECT_THAT(*verify(*here, {}), IsEmpty());
  entries_.clear();
}

TEST_F(PlacementTest, row36_a_store_in_the_lower_layer_of_an_overlay_serves) {
  const auto lower = scratch_->path() / "lower";
  ASSERT_TRUE(make_directories(lower));
  keep_store_at(lower);
  const auto overlay = Mounted::overlay(scratch_->path(), lower);
  if (!overlay->why_not().empty()) {
    GTEST_SKIP() << overlay->why_not();
  }
  const auto before = build_at(scratch_->path() / "t");
  store_ = std::make_unique<store::Store>(
      store::Home{overlay->at() / "home", overlay->at() / "home/cache"});
  for (auto& [key, entry] : entries_) {
    entry = *store_->read(key);
  }
  const auto after = build_at(overlay->at() / "t");
  ASSERT_TRUE(before);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->content, before->content);
  EXPECT_THAT(*verify(*after, {}), IsEmpty());
  // What lies in the lower layer cannot be moved; it goes all the same.
  ASSERT_TRUE(store::move_out(overlay->at() / "home/store" / entries_.begin()->first,
                              overlay->at() / "home/staging/gone"));
  EXPECT_FALSE(store_->has(entries_.begin()->first));
  entries_.clear();
}

TEST_F(PlacementTest, row36_hard_links_are_found_out_once_where_there_are_no_reflinks) {
  add_small_toolkit();
  const auto counts = place_into(scratch_->path() / "t");
  if (counts.reflinks > 0) {
    GTEST_SKIP() << "this file system has reflinks";
  }
  EXPECT_EQ(counts.hard_links, stored_files());
  EXPECT_EQ(counts.copies, 0U);
}

} // namespace
} // namespace cukit::assemble

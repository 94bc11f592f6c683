#include "home/roots.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace cukit::home {
namespace {

class RootsOfMany : public ::testing::Test {
protected:
  RootsOfMany() { EXPECT_TRUE(store::prepare(home_)); }

  void name(const std::string& called, char digit) const {
    auto lock = read_file(CUKIT_SOURCE_DIR "/manifests/newer-ptxas.lock.yaml", 1U << 20U).value();
    const std::string_view key = "\n        sha256: sha256:";
    lock.replace(lock.find(key) + key.size(), 64, std::string(64, digit));
    const auto switched = names::switch_to(home_, called,
                                           {.number = 0,
                                            .tree = std::string(64, digit),
                                            .lock = lock,
                                            .report = std::string(64, digit)},
                                           store::Durability::normal);
    EXPECT_TRUE(switched) << switched.error().message;
  }
  [[nodiscard]] Roots all() const { return RootsMemory().read(home_).value(); }
  static void expect_equal(const Roots& a, const Roots& b) {
    EXPECT_EQ(a.trees, b.trees);
    EXPECT_EQ(a.entries, b.entries);
    EXPECT_EQ(a.reports, b.reports);
  }

private:
  TempDirectory folder_ = TempDirectory::create(fs::temp_directory_path(), "roots-").value();

protected:
  store::Home home_{folder_.path() / "home", folder_.path() / "home/cache"};
};

TEST_F(RootsOfMany, are_read_once_and_follow_what_comes_and_goes) {
  name("one", 'a');
  name("two", 'b');
  RootsMemory memory;
  expect_equal(memory.read(home_).value(), all());
  // What was read once is not read again: gc asks for the roots between any two batches.
  const auto lock = home_.names() / "one/gen/1/lock";
  const auto text = read_file(lock, 1U << 20U).value();
  std::ofstream(lock) << "no lock"; // in place: the generation's folder stays as it is
  EXPECT_TRUE(memory.read(home_));
  std::ofstream(lock) << text;
  name("one", 'c');
  expect_equal(memory.read(home_).value(), all());
  ASSERT_TRUE(names::drop_name(home_, "two"));
  expect_equal(memory.read(home_).value(), all());
  name("two", 'd'); // another generation 1 than before
  expect_equal(memory.read(home_).value(), all());
  EXPECT_TRUE(all().trees.contains(std::string(64, 'd')));
  EXPECT_FALSE(memory.read(home_, {{"two", 1}})->trees.contains(std::string(64, 'd')));
}

} // namespace
} // namespace cukit::home

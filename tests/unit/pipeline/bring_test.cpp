// Several artifacts at once: each says how it ended, and the machine is not overrun.
#include "pipeline/bring.hpp"
#include "places_fixture.hpp"

#include <atomic>
#include <thread>

namespace cukit::pipeline {
namespace {

using ::testing::HasSubstr;

class Bring : public Places {
protected:
  [[nodiscard]] Session session() {
    const auto root = folder->path() / "home";
    return {environment,
            {.root = root, .cache = root / "cache"},
            knowledge::Knowledge::embedded(),
            settings,
            lines,
            stop.get_token()};
  }
};

TEST_F(Bring, every_artifact_of_a_batch_that_cannot_begin_says_why) {
  ASSERT_TRUE(create_file(folder->path() / "file", "no folder"));
  auto here = session();
  const std::vector<lock::Artifact> wanted(3, artifact({}));
  std::vector<Brought> all;
  for (const auto& one : wanted) {
    all.push_back({.artifact = &one});
  }
  const auto done = bring(here, all, folder->path() / "file/downloads", {});
  ASSERT_TRUE(done) << done.error().message;
  for (const auto& one : all) {
    ASSERT_TRUE(one.error);
    EXPECT_EQ(one.error->code, ErrorCode::host);
    EXPECT_THAT(one.error->message, HasSubstr("cannot create the folder"));
  }
}

TEST_F(Bring, reads_many_parts_with_a_bounded_number_of_threads) {
  ASSERT_TRUE(write_file_atomic(folder->path() / k_file, bytes));
  settings.mirrors = {folder->path().string()};
  auto here = session();
  const std::vector<lock::Artifact> wanted(60, artifact({"include/"}));
  std::vector<Brought> all;
  for (const auto& one : wanted) {
    all.push_back({.artifact = &one, .by_ranges = true});
  }
  std::atomic<unsigned> at_once = 0;
  std::atomic<unsigned> most = 0;
  std::atomic<unsigned> done = 0;
  const auto part = [&](std::size_t, const RandomAccess&) -> Result<void> {
    const unsigned now = ++at_once;
    for (unsigned seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --at_once;
    ++done;
    return {};
  };
  ASSERT_TRUE(bring(here, all, folder->path() / "downloads", {.whole = {}, .part = part}));
  EXPECT_EQ(done, 60U);
  EXPECT_LE(most, k_most_at_once);
}

} // namespace
} // namespace cukit::pipeline

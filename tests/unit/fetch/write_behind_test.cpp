#include "fetch/write_behind.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <numeric>

namespace cukit::fetch {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::vector<std::uint8_t> counted(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

TEST(WriteBehind, keeps_the_bytes_of_each_file_in_their_order) {
  ThreadPool pool(3);
  const auto sent = counted(5 * WriteBehind::k_waiting_bytes + 77);
  std::vector<std::vector<std::uint8_t>> got(4);
  {
    std::vector<std::unique_ptr<WriteBehind>> files;
    for (auto& out : got) {
      files.push_back(std::make_unique<WriteBehind>(pool, [&out](Bytes bytes) -> Result<void> {
        out.insert(out.end(), bytes.begin(), bytes.end());
        return {};
      }));
    }
    for (std::size_t at = 0; at < sent.size(); at += 16000) {
      const auto piece = Bytes(sent).subspan(at, std::min<std::size_t>(16000, sent.size() - at));
      for (auto& file : files) {
        ASSERT_TRUE(file->push(piece));
      }
    }
    for (auto& file : files) {
      ASSERT_TRUE(file->drain());
    }
  }
  for (const auto& out : got) {
    EXPECT_EQ(out, sent);
  }
}

TEST(WriteBehind, waits_for_the_disk_instead_of_keeping_everything) {
  ThreadPool pool(1);
  std::latch may_go(1);
  std::size_t consumed = 0;
  std::size_t largest = 0;
  WriteBehind file(pool, [&](Bytes bytes) -> Result<void> {
    may_go.wait();
    largest = std::max(largest, bytes.size());
    consumed += bytes.size();
    return {};
  });
  const auto piece = counted(WriteBehind::k_waiting_bytes / 4);
  for (int i = 0; i < 80; ++i) {
    if (i == 3) { // less than may wait: the thread that receives is not held up yet
      may_go.count_down();
    }
    ASSERT_TRUE(file.push(piece));
  }
  ASSERT_TRUE(file.drain());
  EXPECT_EQ(consumed, 80 * piece.size());
  EXPECT_LE(largest, WriteBehind::k_waiting_bytes);
}

TEST(WriteBehind, leaves_nothing_in_memory_while_the_line_is_silent) {
  ThreadPool pool(1);
  std::atomic<std::size_t> consumed = 0;
  WriteBehind file(pool, [&](Bytes bytes) -> Result<void> {
    consumed += bytes.size();
    consumed.notify_all();
    return {};
  });
  const auto piece = counted(1000);
  for (std::size_t sent = 1000; sent <= 20'000; sent += 1000) {
    ASSERT_TRUE(file.push(piece));
  }
  for (std::size_t seen = consumed; seen < 20'000; seen = consumed) { // nobody drains
    consumed.wait(seen);
  }
  EXPECT_EQ(consumed, 20'000U);
}

TEST(WriteBehind, tells_an_error_and_consumes_nothing_after_it) {
  ThreadPool pool(1);
  int calls = 0;
  bool fails = true;
  WriteBehind file(pool, [&](Bytes) -> Result<void> {
    ++calls;
    return fails ? Result<void>(fail(ErrorCode::host, "no room")) : Result<void>();
  });
  const auto block = counted(WriteBehind::k_waiting_bytes / 4);
  while (file.push(block)) {
  }
  const auto told = file.drain();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().message, "no room");
  EXPECT_EQ(calls, 1);

  fails = false; // the room was made: it goes on
  ASSERT_TRUE(file.push(block));
  ASSERT_TRUE(file.drain());
  EXPECT_EQ(calls, 2);
}

TEST(WriteBehind, is_done_with_its_owner_when_it_is_gone) {
  ThreadPool pool(1);
  std::atomic<bool> in_work = false;
  std::atomic<bool> ended = false;
  {
    WriteBehind file(pool, [&](Bytes) -> Result<void> {
      in_work = true;
      in_work.notify_all();
      std::this_thread::yield();
      ended = true;
      return {};
    });
    ASSERT_TRUE(file.push(counted(WriteBehind::k_waiting_bytes / 4)));
    in_work.wait(false);
  }
  EXPECT_TRUE(ended);
}

} // namespace
} // namespace cukit::fetch

#include "archive/wheel.hpp"
#include "support/archive_forge.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <gmock/gmock.h>

namespace cukit::archive {
namespace {

using test::forge_wheel;
using test::ForgedWheel;
using testing::HasSubstr;

/// Bytes that deflate hardly makes smaller.
std::string noise(std::size_t size, std::uint32_t state) {
  std::string text;
  text.reserve(size);
  while (text.size() < size) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>(state >> 24U);
  }
  return text;
}

/// Files of all sizes: jobs of their own, batches, and text that a batch inflates in pieces.
ForgedWheel large_wheel() {
  ForgedWheel wheel;
  for (int i = 0; i < 600; ++i) {
    wheel.files.emplace_back(fmt::format("nvidia/include/d{}/h{}.h", i % 40, i),
                             noise(static_cast<std::size_t>(i) * 7, static_cast<std::uint32_t>(i)));
  }
  wheel.files.emplace_back("nvidia/lib/libbig.so.1", "\x7f"
                                                     "ELF" +
                                                         noise(3'000'000, 7));
  wheel.files.emplace_back("nvidia/lib/zeros.a", std::string(4'000'000, '\0'));
  wheel.files.emplace_back("nvidia/bin/tool", "#!/bin/sh\nexit 0\n");
  return wheel;
}

class Counting final : public Progress {
public:
  int begin(std::string_view, std::uint64_t, std::string_view) override { return 1; }
  void advance(int work, std::uint64_t amount) override {
    EXPECT_EQ(work, 1);
    total += amount;
    if (on_advance) {
      on_advance();
    }
  }
  void reset(int, std::uint64_t) override {}
  void end(int) override {}
  void say(std::string_view) override {}
  std::atomic<std::uint64_t> total = 0;
  std::function<void()> on_advance;
};

class ExtractTest : public testing::Test {
protected:
  TempDirectory folder_ = TempDirectory::create(fs::temp_directory_path(), "extract-").value();
  ThreadPool pool_{3};
  Counting progress_;
  std::stop_source stop_;
  std::function<bool(const RelativePath&)> wanted_ = [](const RelativePath&) { return true; };

  Result<std::vector<WrittenFile>> run(const std::string& bytes, Audit audit = Audit::whole) {
    const auto file = in_memory(bytes, "large.whl");
    CUKIT_TRY_ASSIGN(const auto wheel, open_wheel(*file, audit));
    CUKIT_TRY_ASSIGN(auto sink, TreeSink::open(folder_.path()));
    return extract(*file, wheel, wanted_, sink, pool_, progress_, 1, stop_.get_token());
  }
};

TEST_F(ExtractTest, writes_every_member_as_it_was) {
  const auto wheel = large_wheel();
  const auto written = run(forge_wheel(wheel));
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->size(), wheel.files.size() + 3);
  EXPECT_TRUE(std::is_sorted(written->begin(), written->end(),
                             [](const auto& a, const auto& b) { return a.path < b.path; }));
  for (const auto& [path, content] : wheel.files) {
    EXPECT_EQ(read_file(folder_.path() / path, 1U << 24U).value_or("?"), content) << path;
  }
  for (const auto& file : *written) {
    EXPECT_EQ(file.executable, file.path.text() == "nvidia/lib/libbig.so.1" ||
                                   file.path.text() == "nvidia/bin/tool");
    EXPECT_EQ(file.sha256, sha256_of_file(folder_.path() / file.path.text()).value());
  }
}

TEST_F(ExtractTest, writes_the_same_when_headers_are_checked_late) {
  const auto written = run(forge_wheel(large_wheel()), Audit::ranged);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->size(), large_wheel().files.size() + 3);
}

TEST_F(ExtractTest, advances_by_all_compressed_bytes) {
  const auto bytes = forge_wheel(large_wheel());
  ASSERT_TRUE(run(bytes));
  const auto file = in_memory(bytes, "large.whl");
  std::uint64_t compressed = 0;
  const auto members = audit_zip(*file, Audit::whole).value();
  for (const auto& member : members) {
    compressed += member.compressed;
  }
  EXPECT_EQ(progress_.total, compressed);
}

TEST_F(ExtractTest, writes_only_what_is_wanted) {
  wanted_ = [](const RelativePath& path) { return path.is_inside("nvidia/include/d7"); };
  const auto written = run(forge_wheel(large_wheel()), Audit::ranged);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->size(), 15U);
  EXPECT_EQ(list_directory(folder_.path() / "nvidia").value(), std::vector<std::string>{"include"});
  EXPECT_EQ(list_directory(folder_.path() / "nvidia/include").value(),
            std::vector<std::string>{"d7"});
}

TEST_F(ExtractTest, nothing_wanted_is_no_error) {
  wanted_ = [](const RelativePath&) { return false; };
  const auto written = run(forge_wheel(large_wheel()));
  ASSERT_TRUE(written);
  EXPECT_TRUE(written->empty());
}

TEST_F(ExtractTest, row33_refuses_content_that_record_does_not_know) {
  for (const auto* path : {"nvidia/lib/libbig.so.1", "nvidia/include/d3/h3.h"}) {
    auto wheel = large_wheel();
    wheel.rows[path] = std::string(path) + "," + test::record_digest("other") + ",\n";
    folder_ = TempDirectory::create(fs::temp_directory_path(), "extract-").value();
    const auto result = run(forge_wheel(wheel));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::integrity);
    EXPECT_THAT(result.error().message, HasSubstr(std::string("`") + path + "` has sha256"));
    EXPECT_THAT(result.error().message, HasSubstr(sha256_of("other").hex()));
  }
}

TEST_F(ExtractTest, reports_the_fault_and_not_the_cancellation_that_followed) {
  auto wheel = large_wheel();
  auto entries = test::wheel_entries(wheel);
  entries[3].local.crc = entries[3].central.crc = 1;
  const auto result = run(test::forge_zip(entries));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("`nvidia/include/d3/h3.h` has CRC"));
}

TEST_F(ExtractTest, finds_late_what_a_ranged_audit_did_not_look_at) {
  auto entries = test::wheel_entries(large_wheel());
  entries[5].after = std::string(3'000'000, 'j');
  const auto result = run(test::forge_zip(entries), Audit::ranged);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "3000000 bytes after `nvidia/include/d5/h5.h` belong to no member");
}

TEST_F(ExtractTest, ends_soon_after_a_stop_request) {
  progress_.on_advance = [this] { stop_.request_stop(); };
  const auto result = run(forge_wheel(large_wheel()));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::interrupted);
  // each of the three threads may finish the piece it is at
  EXPECT_LT(progress_.total, 3'000'000U);
}

TEST_F(ExtractTest, several_wheels_share_one_pool) {
  const auto bytes = forge_wheel(large_wheel());
  const auto other = TempDirectory::create(fs::temp_directory_path(), "extract-").value();
  const auto file = in_memory(bytes, "large.whl");
  const auto wheel = open_wheel(*file, Audit::whole).value();
  Result<std::vector<WrittenFile>> second;
  {
    std::jthread thread([&] {
      auto sink = TreeSink::open(other.path()).value();
      second = extract(*file, wheel, wanted_, sink, pool_, progress_, 1, {});
    });
    EXPECT_TRUE(run(bytes));
  }
  ASSERT_TRUE(second);
  EXPECT_EQ(second->size(), wheel.members.size());
}

TEST_F(ExtractTest, a_wheel_that_unpacks_to_far_more_than_its_bytes_writes_nothing) {
  ForgedWheel bomb;
  for (int i = 0; i < 8; ++i) {
    bomb.files.emplace_back(fmt::format("nvidia/lib/zeros{}.a", i), std::string(4'000'000, '\0'));
  }
  const auto result = run(forge_wheel(bomb));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::integrity);
  EXPECT_THAT(result.error().message, HasSubstr("is no wheel"));
  EXPECT_FALSE(path_exists(folder_.path() / "nvidia"));
}

} // namespace
} // namespace cukit::archive

#include "places_fixture.hpp"
#include "support/tar_forge.hpp"

#include <fstream>

namespace cukit::pipeline {
namespace {

using test::Fault;
using test::FaultServer;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Mirrors = Places;

/// Bytes that this process has read so far, from any file.
std::uint64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t count = 0;
  file >> name >> count;
  return name == "rchar:" ? count : 0;
}

TEST_F(Mirrors, come_before_the_index_and_in_their_order) {
  FaultServer first;
  FaultServer second;
  first.serve("/", "");
  serve(second, bytes);
  second.serve(std::string("/flat/") + k_file, bytes);
  settings.mirrors = {first.url("/flat"), second.url("/flat")};
  const auto entry = obtain(artifact({}));
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(first.requests(std::string("/flat/") + k_file), 1);
  EXPECT_EQ(second.body_bytes(std::string("/flat/") + k_file), bytes.size());
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(Mirrors, with_other_bytes_are_passed_over_for_the_next_source) {
  const auto damaged = folder->path() / "damaged";
  ASSERT_TRUE(make_directories(damaged));
  ASSERT_TRUE(write_file_atomic(damaged / k_file, std::string(bytes.size(), 'x')));
  settings.mirrors = {damaged.string()};
  const auto entry = obtain(artifact({}));
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_THAT(lines.lines, Contains(HasSubstr("trying another source")));
  EXPECT_EQ(server.body_bytes(k_path), bytes.size());
}

TEST_F(Mirrors, that_are_down_are_a_note_when_another_source_serves) {
  environment.set("CUKIT_MIRROR", "http://127.0.0.1:9/mirror /no/such/folder");
  const auto entry = obtain(artifact({}));
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_THAT(lines.lines, Contains(HasSubstr("note: the mirror http://127.0.0.1:9/mirror")));
}

TEST_F(Mirrors, row43_of_somebody_else_cannot_change_a_byte) {
  FaultServer attacker;
  std::string evil = bytes;
  evil[1000] = static_cast<char>(~evil[1000]);
  serve(attacker, evil);
  settings.mirrors = {attacker.url("/simple")};
  environment.set("CUKIT_INDEX_URL", attacker.url("/simple"));
  const auto refused = obtain(artifact({}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::integrity);
  environment.set("CUKIT_INDEX_URL", server.url("/simple"));
  EXPECT_TRUE(obtain(artifact({})));
}

TEST_F(Mirrors, row42_with_a_login_are_named_without_it) {
  settings.mirrors = {"http://user:geheim@127.0.0.1:9/mirror?token=geheim"};
  environment.set("CUKIT_INDEX_URL", "http://user:geheim@127.0.0.1:9/simple");
  const auto failed = obtain(artifact({}));
  ASSERT_FALSE(failed);
  std::string text = failed.error().message + failed.error().where + failed.error().hint;
  for (const auto& cause : failed.error().causes) {
    text += cause;
  }
  for (const auto& line : lines.lines) {
    text += line;
  }
  EXPECT_THAT(text, HasSubstr("127.0.0.1:9"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("geheim")));
}

TEST_F(Mirrors, on_this_disk_are_hashed_once_and_read_once_more_to_unpack) {
  ASSERT_TRUE(write_file_atomic(folder->path() / k_file, bytes));
  settings.mirrors = {folder->path().string()};
  const auto before = bytes_read();
  if (before == 0) {
    GTEST_SKIP() << "/proc/self/io is not to be had here";
  }
  ASSERT_TRUE(obtain(artifact({})));
  EXPECT_LT(bytes_read() - before, bytes.size() * 9 / 4);
  EXPECT_TRUE(path_exists(folder->path() / k_file)); // never moved, never deleted
}

TEST_F(Mirrors, an_archive_on_this_disk_is_hashed_once_and_read_once_more_to_unpack) {
  const std::string top = "libcublas-linux-x86_64-13.1.0.3-archive";
  const auto archive = test::xz_of(
      test::forge_tar({{.name = top + "/LICENSE", .content = "terms\n"},
                       {.name = top + "/lib/libcublas.so.13", .content = noise(k_library, 3)}}));
  lock::Artifact wanted;
  wanted.component = "cublas";
  wanted.source = "redist";
  wanted.file = top + ".tar.xz";
  wanted.path = "cuda/redist/libcublas/linux-x86_64/" + wanted.file;
  wanted.size = archive.size();
  wanted.sha256 = sha256_of(archive);
  for (const auto* base : {"first", "second"}) { // the first has other bytes of the same length
    const auto path = folder->path() / base / wanted.path;
    ASSERT_TRUE(make_directories(path.parent_path()));
    auto bytes_there = archive;
    bytes_there[1000] = static_cast<char>(bytes_there[1000] ^ (*base == 'f' ? 1 : 0));
    ASSERT_TRUE(write_file_atomic(path, bytes_there));
  }
  environment.set("CUKIT_REDIST_URL", (folder->path() / "second").string());
  const auto before = bytes_read();
  if (before == 0) {
    GTEST_SKIP() << "/proc/self/io is not to be had here";
  }
  ASSERT_TRUE(obtain(wanted));
  EXPECT_LT(bytes_read() - before, archive.size() * 9 / 4);
  settings.mirrors = {(folder->path() / "first").string()};
  EXPECT_TRUE(obtain(wanted)); // the second place has the locked bytes
  environment.set("CUKIT_REDIST_URL", (folder->path() / "first").string());
  const auto refused = obtain(wanted);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::integrity);
}

TEST_F(Mirrors, downloads_of_several_sources_leave_nothing_in_the_cache) {
  ASSERT_TRUE(obtain(artifact({})));
  const auto left =
      list_directory(folder->path() / fmt::format("home{}", homes) / "cache/downloads");
  ASSERT_TRUE(left);
  for (const auto& name : *left) {
    EXPECT_THAT(name, ::testing::EndsWith(".lock"));
  }
}

} // namespace
} // namespace cukit::pipeline

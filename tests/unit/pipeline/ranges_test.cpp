#include "places_fixture.hpp"

namespace cukit::pipeline {
namespace {

using test::Fault;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Ranges = Places;

TEST_F(Ranges, headers_of_a_wheel_of_20_MB_cost_less_than_half_a_megabyte) {
  const auto entry = obtain(artifact({"include/"}));
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(entry->list.size(), 13U); // with the licence
  EXPECT_GT(server.body_bytes(k_path), 0U);
  EXPECT_LT(server.body_bytes(k_path), 500'000U);
  EXPECT_EQ(downloaded, server.body_bytes(k_path));
  EXPECT_LE(server.requests(k_path), 6);
}

TEST_F(Ranges, one_library_comes_without_the_other) {
  const auto entry = obtain(artifact({"lib/libcublas.so.13"}));
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_THAT(names(*entry), ElementsAre("nvidia/cu13/lib/libcublas.so.13",
                                         "nvidia_cublas-13.1.0.3.dist-info/licenses/License.txt"));
  EXPECT_TRUE(*read_file(entry->files / "nvidia/cu13/lib/libcublas.so.13", 1U << 30U) ==
              noise(k_library, 1));
  EXPECT_LT(server.body_bytes(k_path), k_library + 2'500'000); // what is read ahead is 1 MB at most
}

TEST_F(Ranges, row16_a_server_that_fails_at_ranges_is_asked_once_for_the_whole_file) {
  const auto honest = obtain(artifact({"include/"}));
  ASSERT_TRUE(honest);
  for (const auto& fault : {Fault::whole_file(), Fault::range_off_by(3)}) {
    server.forget();
    server.script(k_path, {fault});
    const auto entry = obtain(artifact({"include/"}));
    ASSERT_TRUE(entry) << entry.error().message;
    EXPECT_EQ(entry->list, honest->list);
    EXPECT_EQ(entry->key, honest->key);
    EXPECT_EQ(server.requests(k_path), 2);
    EXPECT_EQ(server.seen(k_path)[1].header("range"), "");
    EXPECT_THAT(lines.lines, Contains(HasSubstr("the whole file is downloaded instead")));
    EXPECT_GE(downloaded, bytes.size());
  }
}

TEST_F(Ranges, row16_a_file_that_changes_between_two_reads_comes_whole_or_not_at_all) {
  server.script(k_path, {Fault::none(), Fault::with_etag("\"other\"")});
  const auto entry = obtain(artifact({"lib/libcublas.so.13"}));
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_THAT(lines.lines, Contains(HasSubstr("changed while it was read")));

  std::string other = bytes;
  other[bytes.size() / 2] = static_cast<char>(~other[bytes.size() / 2]);
  serve(server, other);
  server.script(k_path, {Fault::none(), Fault::with_etag("\"other\"")});
  const auto refused = obtain(artifact({"lib/libcublas.so.13"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::integrity);
}

TEST_F(Ranges, row9_bytes_that_RECORD_does_not_know_are_refused) {
  test::ForgedWheel forged;
  forged.name = "nvidia_cublas";
  forged.version = "13.1.0.3";
  forged.files.emplace_back("nvidia/cu13/include/cublas_0.h", "evil");
  auto evil = test::forge_wheel(forged);
  ASSERT_LT(evil.size(), bytes.size());
  forged.files.emplace_back("nvidia/cu13/lib/filler", std::string());
  server.serve(k_path, evil);
  auto wanted = artifact({"include/"});
  wanted.size = evil.size();
  const auto entry = obtain(wanted);
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code, ErrorCode::integrity);
  std::string text = entry.error().message;
  for (const auto& cause : entry.error().causes) {
    text += cause;
  }
  EXPECT_THAT(text, HasSubstr("differs from the lock"));
}

TEST_F(Ranges, are_read_from_a_local_mirror_in_place) {
  ASSERT_TRUE(write_file_atomic(folder->path() / k_file, bytes));
  settings.mirrors = {folder->path().string()};
  const auto entry = obtain(artifact({"include/"}));
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(entry->list.size(), 13U);
  EXPECT_EQ(server.requests(), 0);
}

} // namespace
} // namespace cukit::pipeline

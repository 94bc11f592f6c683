#include "http/client.hpp"
#include "support/fault_server.hpp"

#include <gmock/gmock.h>
#include <thread>

namespace cukit::http {
namespace {

using test::Fault;
using test::FaultServer;
using ::testing::HasSubstr;

std::string numbered(std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    bytes += fmt::format("{:08x}", bytes.size());
  }
  return bytes.substr(0, size);
}

class RangeFile : public ::testing::Test {
protected:
  RangeFile() { server.serve("/big", bytes); }
  static std::unique_ptr<Client> make_client() {
    Options options;
    options.first_delay = std::chrono::milliseconds(1);
    return std::move(*Client::create(options));
  }
  Result<std::unique_ptr<RandomAccess>> open(std::optional<std::uint64_t> size = std::nullopt) {
    return open_range_file(*client, server.url("/big"), size, {});
  }
  static Result<std::string> read(const RandomAccess& file, std::uint64_t offset,
                                  std::size_t count) {
    std::string text(count, '\0');
    CUKIT_TRY(file.read_at(offset, std::span(reinterpret_cast<std::uint8_t*>(text.data()), count)));
    return text;
  }
  const std::string bytes = numbered(3'000'001);
  FaultServer server;
  std::unique_ptr<Client> client = make_client();
};

TEST_F(RangeFile, reads_the_same_bytes_as_the_file_has) {
  const auto file = open();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->size(), bytes.size());
  const std::pair<std::uint64_t, std::size_t> cases[] = {
      {0, 1},         {65'535, 2},  {65'536, 65'536}, {3'000'000, 1},      {2'999'000, 1001},
      {3'000'001, 0}, {1, 200'000}, {0, 3'000'001},   {150'000, 1'500'000}};
  for (const auto& [offset, count] : cases) {
    const auto text = read(**file, offset, count);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_TRUE(*text == bytes.substr(offset, count)) << offset << " " << count;
  }
}

TEST_F(RangeFile, costs_one_request_for_neighbouring_reads) {
  const auto file = open(bytes.size());
  ASSERT_TRUE(file);
  EXPECT_EQ(server.requests(), 0);
  for (std::uint64_t at = 70'000; at < 120'000; at += 1000) {
    ASSERT_TRUE(read(**file, at, 1000));
  }
  EXPECT_EQ(server.requests(), 1);
  EXPECT_LE(server.body_bytes(), 65'536U);
  EXPECT_EQ(range_bytes_received(**file), server.body_bytes());
}

TEST_F(RangeFile, reads_ahead_for_somebody_who_goes_on) {
  const auto file = open(bytes.size());
  ASSERT_TRUE(file);
  for (std::uint64_t at = 0; at + 16'384 <= bytes.size(); at += 16'384) {
    const auto text = read(**file, at, 16'384);
    ASSERT_TRUE(text);
    ASSERT_TRUE(*text == bytes.substr(at, 16'384));
  }
  EXPECT_LE(server.requests(), 8);
}

TEST_F(RangeFile, refuses_to_read_past_the_end) {
  const auto file = open(bytes.size());
  EXPECT_FALSE(read(**file, bytes.size(), 1));
  EXPECT_FALSE(read(**file, UINT64_MAX, 1));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(RangeFile, row16_refuses_a_server_without_ranges_or_with_others) {
  for (const auto& fault : {Fault::whole_file(), Fault::range_off_by(5), Fault::status_of(416)}) {
    server.always("/big", fault);
    const auto file = open(bytes.size());
    ASSERT_TRUE(file);
    const auto text = read(**file, 100, 100);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ErrorCode::source);
    EXPECT_EQ(ranges_failed(**file), fault.status == 0);
    EXPECT_EQ(range_bytes_received(**file), 0U);
  }
}

TEST_F(RangeFile, row16_takes_nothing_of_a_whole_file_that_was_not_asked_for) {
  server.serve("/big", numbered(50'000'000));
  server.always("/big", Fault::whole_file());
  const auto file = open(50'000'000);
  ASSERT_FALSE(read(**file, 0, 10));
  EXPECT_EQ(server.requests(), 1);
  EXPECT_LT(server.body_bytes(), 20'000'000U); // what the sockets hold, not the file
}

TEST_F(RangeFile, refuses_a_file_of_another_size) {
  const auto file = open(bytes.size() - 1);
  const auto text = read(**file, 0, 10);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("3000001 bytes, not the expected 3000000"));
}

TEST_F(RangeFile, row16_notices_a_file_that_changes_between_two_reads) {
  const auto file = open(bytes.size());
  ASSERT_TRUE(read(**file, 0, 10));
  server.script("/big", {Fault::with_etag("\"other\"")});
  const auto text = read(**file, 2'000'000, 10);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::integrity);
  EXPECT_THAT(text.error().message, HasSubstr("changed while it was read"));
  EXPECT_TRUE(ranges_failed(**file));
}

TEST_F(RangeFile, row16_notices_a_change_that_only_last_modified_tells) {
  Fault dated = Fault::with_etag("");
  dated.headers = {"Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT"};
  Fault later = dated;
  later.headers = {"Last-Modified: Thu, 22 Oct 2015 07:28:00 GMT"};
  server.script("/big", {dated, dated, later});
  const auto file = open(bytes.size());
  ASSERT_TRUE(read(**file, 0, 10));
  ASSERT_TRUE(read(**file, 1'000'000, 10));
  const auto text = read(**file, 2'000'000, 10);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("changed while it was read"));
}

TEST_F(RangeFile, row16_notices_another_size_in_a_later_answer) {
  const auto file = open(bytes.size());
  ASSERT_TRUE(read(**file, 0, 10));
  server.script("/big", {Fault::total_said(4'000'000)});
  EXPECT_FALSE(read(**file, 2'000'000, 10));
}

TEST_F(RangeFile, says_that_the_file_is_gone) {
  server.remove("/big");
  const auto file = open();
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("404"));
}

TEST_F(RangeFile, survives_a_broken_connection) {
  server.script("/big", {Fault::close_after(5), Fault::reset_after(100)});
  const auto file = open(bytes.size());
  const auto text = read(**file, 1'000'000, 100);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, bytes.substr(1'000'000, 100));
}

TEST_F(RangeFile, serves_several_threads) {
  const auto file = open(bytes.size());
  std::vector<std::jthread> readers;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < 4; ++t) {
    readers.emplace_back([&, t] {
      for (std::uint64_t at = t * 1000; at + 5000 < bytes.size(); at += 300'000) {
        const auto text = read(**file, at, 5000);
        wrong[t] += text && *text == bytes.substr(at, 5000) ? 0 : 1;
      }
    });
  }
  readers.clear();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

} // namespace
} // namespace cukit::http

// What is packed is the same bytes on every machine, and other programs unpack it.
#include "base/child.hpp"
#include "image/tar_writer.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::image {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PackedFiles : public ::testing::Test {
protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return folder.path() / name; }
  /// Text that packs, and differs everywhere.
  static std::string text_of(std::size_t size) {
    std::string text;
    std::uint64_t state = 1;
    while (text.size() < size) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      text += fmt::format("line {} of {}\n", text.size(), state >> 40U);
    }
    text.resize(size);
    return text;
  }
  Packed pack(const std::string& name, const std::string& text, Compression compression,
              unsigned threads, std::size_t at_once) const {
    ThreadPool pool(threads);
    auto file = PackedFile::create(at(name), compression, pool);
    EXPECT_TRUE(file);
    for (std::size_t i = 0; i < text.size(); i += at_once) {
      EXPECT_TRUE(file->write(std::string_view(text).substr(i, at_once)));
    }
    return file->finish().value();
  }
  [[nodiscard]] std::string output_of(std::vector<std::string> command) const {
    const auto done = run_command({.arguments = std::move(command),
                                   .environment = Environment::of_this_process(),
                                   .directory = folder.path().string(),
                                   .output_limit = 64U << 20U},
                                  {});
    EXPECT_TRUE(done && done->exit_code == 0) << (done ? done->errors : "");
    return done ? done->output : "";
  }
  static bool is_here(const char* program) {
    return !Environment::of_this_process().find_program(program).empty();
  }
  TempDirectory folder = *TempDirectory::create(fs::temp_directory_path(), "cukit-packed-");
};

constexpr std::size_t k_mebi = 1U << 20U;

TEST_F(PackedFiles, threads_and_pieces_change_no_byte_and_gzip_takes_it_back) {
  for (const auto size : {std::size_t{0}, std::size_t{1}, k_mebi - 1, k_mebi, k_mebi + 1,
                          4 * k_mebi, 9 * k_mebi + 7}) {
    const auto text = text_of(size);
    const auto name = std::to_string(size) + ".gz";
    const auto one = pack(name, text, Compression::gzip, 1, text.size() + 1);
    const auto other = pack("other" + name, text, Compression::gzip, 5, 70'001);
    EXPECT_EQ(one.digest, other.digest) << size;
    EXPECT_EQ(one.content, sha256_of(text));
    EXPECT_EQ(one.digest, sha256_of_file(at(name)).value());
    EXPECT_EQ(one.size, fs::file_size(at(name)));
    EXPECT_TRUE(output_of({"gzip", "-dc", name}) == text) << size;
  }
}

TEST_F(PackedFiles, zstd_too) {
  for (const auto size : {std::size_t{0}, k_mebi, 4 * k_mebi + 3}) {
    const auto text = text_of(size);
    const auto name = std::to_string(size) + ".zst";
    const auto one = pack(name, text, Compression::zstd, 1, text.size() + 1);
    EXPECT_EQ(one.digest, pack("other" + name, text, Compression::zstd, 3, 33'333).digest);
    EXPECT_EQ(one.content, sha256_of(text));
    if (is_here("zstd")) {
      EXPECT_TRUE(output_of({"zstd", "-dc", name}) == text) << size;
    }
  }
}

TEST_F(PackedFiles, tar_reads_long_names_other_letters_and_links) {
  const std::string long_name = "opt/" + std::string(120, 'd') + "/" + std::string(130, 'f');
  const std::string bytes = text_of(3000);
  ASSERT_TRUE(write_file_atomic(at("source"), bytes));
  std::vector<Item> items{
      {.path = long_name,
       .link = {},
       .size = 3000,
       .sha256 = sha256_of(bytes),
       .from = at("source")},
      {.path = "opt/link", .link = std::string(150, 'x')},
      {.path = "opt/tool", .is_executable = true, .link = {}, .content = "#!/bin/sh\n"},
      {.path = "opt/\xc3\xa9\xe2\x82\xac", .link = {}, .content = "é"},
  };
  std::sort(items.begin(), items.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  ThreadPool pool(1);
  auto file = PackedFile::create(at("a.tar"), Compression::none, pool);
  ASSERT_TRUE(write_tar(*file, items, {}));
  ASSERT_TRUE(file->finish());
  EXPECT_THAT(
      output_of({"env", "LC_ALL=C.UTF-8", "TZ=UTC", "tar", "--quoting-style=literal",
                 "--numeric-owner", "-tvf", "a.tar"}),
      AllOf(HasSubstr("drwxr-xr-x 0/0               0 1970-01-01 00:00 opt/\n"),
            HasSubstr("-r--r--r-- 0/0            3000 1970-01-01 00:00 " + long_name + "\n"),
            HasSubstr("-r-xr-xr-x 0/0              10 1970-01-01 00:00 opt/tool\n"),
            HasSubstr("opt/link -> " + std::string(150, 'x') + "\n"), HasSubstr("opt/é€\n")));
  EXPECT_EQ(output_of({"tar", "-xOf", "a.tar", long_name}), bytes);
}

TEST_F(PackedFiles, a_file_that_was_altered_is_no_part_of_an_archive) {
  ASSERT_TRUE(write_file_atomic(at("source"), "other"));
  ThreadPool pool(1);
  for (const auto& built : {std::string("bytes"), std::string("longer")}) {
    auto file = PackedFile::create(at(built), Compression::none, pool);
    const auto refused = write_tar(*file,
                                   {{.path = "a",
                                     .link = {},
                                     .size = built.size(),
                                     .sha256 = sha256_of(built),
                                     .from = at("source")}},
                                   {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::integrity);
  }
}

} // namespace
} // namespace cukit::image

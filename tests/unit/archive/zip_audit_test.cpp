#include "archive/zip.hpp"
#include "support/archive_forge.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::archive {
namespace {

using test::Descriptor;
using test::extra_field;
using test::forge_zip;
using test::ForgedEnd;
using test::ForgedEntry;
using test::le16;
using test::le32;
using test::le64;
using testing::HasSubstr;

Result<std::vector<ZipMember>> read_all(const std::string& bytes, Audit audit,
                                        std::vector<std::string>* contents = nullptr) {
  const auto file = in_memory(bytes, "forged.zip");
  CUKIT_TRY_ASSIGN(auto members, audit_zip(*file, audit));
  for (const auto& member : members) {
    CUKIT_TRY_ASSIGN(auto content, read_member(*file, member, 64U << 20U));
    if (contents != nullptr) {
      contents->push_back(std::move(content));
    }
  }
  return members;
}

void expect_accepted(const std::string& bytes, const std::vector<ForgedEntry>& entries) {
  for (const auto audit : {Audit::whole, Audit::ranged}) {
    std::vector<std::string> contents;
    const auto members = read_all(bytes, audit, &contents);
    ASSERT_TRUE(members) << members.error().message;
    ASSERT_EQ(members->size(), entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ((*members)[i].path.text(), entries[i].name);
      EXPECT_EQ((*members)[i].size, entries[i].content.size());
      EXPECT_EQ(contents[i], entries[i].content);
    }
  }
}

std::string noise(std::size_t size) {
  std::string text;
  for (std::uint32_t state = 1; text.size() < size; state = state * 1664525U + 1013904223U) {
    text += static_cast<char>(state >> 24U);
  }
  return text;
}

const ForgedEntry k_first{.name = "a.txt", .content = "alpha alpha alpha alpha"};
const ForgedEntry k_second{.name = "lib/b.bin", .content = "beta", .method = 0};

template <typename Change> ForgedEntry with(ForgedEntry entry, Change change) {
  change(entry);
  return entry;
}

TEST(ZipAudit, reads_stored_and_deflated_members) {
  expect_accepted(forge_zip({k_first, k_second}), {k_first, k_second});
}

TEST(ZipAudit, reads_an_empty_archive_and_empty_files) {
  expect_accepted(forge_zip({}), {});
  const std::vector<ForgedEntry> empty{{.name = "deflated"}, {.name = "stored", .method = 0}};
  expect_accepted(forge_zip(empty), empty);
}

TEST(ZipAudit, reads_members_larger_than_its_buffers) {
  const std::vector<ForgedEntry> large{
      {.name = "noise", .content = noise(3'000'001)},
      {.name = "stored noise", .content = noise(1'000'003), .method = 0},
      {.name = "zeros", .content = std::string(5'000'000, '\0')},
      {.name = "exactly one buffer", .content = std::string(512U << 10U, 'x')}};
  expect_accepted(forge_zip(large), large);
}

TEST(ZipAudit, passes_over_folders) {
  const ForgedEntry folder{.name = "lib/", .method = 0, .attributes = 040755U << 16U | 0x10U};
  expect_accepted(forge_zip({folder, k_second}), {k_second});
}

TEST(ZipAudit, passes_over_a_folder_with_a_deflated_nothing_but_not_with_more) {
  ForgedEntry folder{.name = "lib/", .attributes = 040755U << 16U};
  expect_accepted(forge_zip({folder, k_second}), {k_second});
  folder.raw = "x\1";
  EXPECT_FALSE(read_all(forge_zip({folder, k_second}), Audit::whole));
}

TEST(ZipAudit, reads_all_four_forms_of_a_data_descriptor) {
  for (const auto form :
       {Descriptor::plain, Descriptor::signed32, Descriptor::plain64, Descriptor::signed64}) {
    const auto first = with(k_first, [form](auto& entry) { entry.descriptor = form; });
    const auto second = with(k_second, [form](auto& entry) { entry.descriptor = form; });
    const ForgedEntry third{.name = "c"};
    expect_accepted(forge_zip({first, second, third}), {first, second, third});
  }
}

TEST(ZipAudit, reads_zip64_records_and_extra_fields) {
  expect_accepted(forge_zip({k_first, k_second}, {.zip64 = true}), {k_first, k_second});
  expect_accepted(forge_zip({k_first}, {.zip64 = true, .zip64_sentinels = false}), {k_first});
  const auto wide = with(k_second, [](auto& entry) {
    for (auto* header : {&entry.local, &entry.central}) {
      header->size = header->compressed = 0xffffffff;
      header->extra = extra_field(1, le64(4) + le64(4));
    }
  });
  expect_accepted(forge_zip({wide}), {wide});
}

TEST(ZipAudit, takes_a_name_in_utf8_that_is_marked_so) {
  const auto named = with(k_first, [](auto& entry) {
    entry.name = "gr\xc3\xbc\xc3\x9f"
                 "e.txt";
    entry.local.flags = entry.central.flags = 0x0800;
  });
  expect_accepted(forge_zip({named}), {named});
}

TEST(ZipAudit, takes_a_comment) {
  expect_accepted(forge_zip({k_first}, {.comment = std::string(65535, 'c')}), {k_first});
}

TEST(ZipAudit, takes_an_archive_as_a_stored_member) {
  const ForgedEntry nested{.name = "inner.zip", .content = forge_zip({k_first}), .method = 0};
  expect_accepted(forge_zip({nested}), {nested});
}

struct Fault {
  std::string name;
  std::string message; ///< a part of it that no other fault has
  std::string bytes;
  bool is_seen_by_ranges = true;
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

class ZipFault : public testing::TestWithParam<Fault> {};

TEST_P(ZipFault, row32_is_refused_with_its_own_message) {
  const auto& fault = GetParam();
  const auto whole = read_all(fault.bytes, Audit::whole);
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().code, ErrorCode::integrity);
  EXPECT_EQ(whole.error().where, "forged.zip");
  EXPECT_THAT(whole.error().message, HasSubstr(fault.message));
  const auto ranged = read_all(fault.bytes, Audit::ranged);
  EXPECT_EQ(ranged.has_value(), !fault.is_seen_by_ranges);
}

Fault headers_differ(std::string name, std::string message, void (*change)(ForgedEntry&)) {
  return {std::move(name), std::move(message), forge_zip({with(k_first, change), k_second})};
}

std::vector<Fault> header_faults() {
  return {
      headers_differ("local_name", "`a.txt` has another name in its local header",
                     [](auto& entry) { entry.local.name = "b.txt"; }),
      headers_differ("local_size", "the size of `a.txt` in the local header is 7",
                     [](auto& entry) { entry.local.size = 7; }),
      headers_differ("local_compressed", "the compressed size of `a.txt` in the local header is 3",
                     [](auto& entry) { entry.local.compressed = 3; }),
      headers_differ("local_crc", "the CRC of `a.txt` in the local header differs",
                     [](auto& entry) { entry.local.crc = 1; }),
      headers_differ("local_method", "the method of `a.txt` is 0 in the local header",
                     [](auto& entry) { entry.local.method = 0; }),
      headers_differ("local_flags", "the flags of `a.txt` are 0x0001 in the local header",
                     [](auto& entry) { entry.local.flags = 1; }),
      headers_differ("descriptor_flag_local_only", "the flags of `a.txt` are 0x0008",
                     [](auto& entry) {
                       entry.descriptor = Descriptor::signed32;
                       entry.central.flags = 0;
                     }),
      headers_differ("descriptor_crc", "the CRC of `a.txt` in the data descriptor differs",
                     [](auto& entry) {
                       entry.descriptor = Descriptor::signed32;
                       entry.descriptor_crc = 5;
                     }),
      headers_differ("descriptor_missing", "`a.txt` has no data descriptor",
                     [](auto& entry) { entry.local.flags = entry.central.flags = 8; }),
      headers_differ("descriptor_signature",
                     "the data descriptor of `a.txt` has no valid signature",
                     [](auto& entry) {
                       entry.local.flags = entry.central.flags = 8;
                       entry.after = std::string(16, '\0');
                     }),
      headers_differ("wrong_crc", "the content of `a.txt` has CRC",
                     [](auto& entry) { entry.local.crc = entry.central.crc = 1; }),
      headers_differ("declared_too_small", "`a.txt` yields more than the declared 9 bytes",
                     [](auto& entry) { entry.local.size = entry.central.size = 9; }),
      headers_differ("declared_too_large", "`a.txt` yields 23 of the declared 99 bytes",
                     [](auto& entry) { entry.local.size = entry.central.size = 99; }),
      headers_differ("stored_with_two_sizes", "`a.txt` is stored but has two sizes",
                     [](auto& entry) {
                       entry.method = 0;
                       entry.local.size = entry.central.size = 9;
                     }),
      headers_differ("encrypted", "`a.txt` is encrypted",
                     [](auto& entry) { entry.local.flags = entry.central.flags = 1; }),
      headers_differ("strong_encryption", "flags 0x0040",
                     [](auto& entry) { entry.local.flags = entry.central.flags = 0x40; }),
      headers_differ("method", "packed with method 12", [](auto& entry) { entry.method = 12; }),
      headers_differ("version", "needs version 6.4",
                     [](auto& entry) { entry.version_needed = 64; }),
      headers_differ("impossible_ratio", "declares 4000000000 bytes",
                     [](auto& entry) { entry.local.size = entry.central.size = 4'000'000'000; }),
      headers_differ("stream_cut", "the deflate stream of `a.txt` is cut",
                     [](auto& entry) {
                       entry.raw = test::raw_deflate(entry.content);
                       entry.raw->pop_back();
                     }),
      headers_differ("stream_damaged", "the deflate stream of `a.txt` is damaged",
                     [](auto& entry) { entry.raw = std::string("\x07") + "aaaa"; }),
      headers_differ("stream_followed_by_more", "3 bytes follow the end of the deflate stream",
                     [](auto& entry) { entry.raw = test::raw_deflate(entry.content) + "xyz"; }),
  };
}

std::string deep_path(int depth) {
  std::string path = "a";
  for (int i = 1; i < depth; ++i) {
    path += "/a";
  }
  return path;
}

std::vector<Fault> name_faults() {
  const auto named = [](std::string name, std::string path, std::string message) {
    return Fault{std::move(name), std::move(message),
                 forge_zip({with(k_second, [&path](auto& entry) { entry.name = path; })})};
  };
  return {
      named("nul", std::string("a\0b", 3), "control character"),
      named("backslash", "a\\b", "backslash"),
      named("escape", "a\x1b[2J", "`a\\x1b[2J`"),
      named("absolute", "/etc/passwd", "is absolute"),
      named("dotdot", "a/../../b", "`..` part"),
      named("dot", "./a", "`.` or `..` part"),
      named("empty", "", "is empty"),
      named("double_slash", "a//b", "has an empty"),
      named("long_part", std::string(256, 'n'), "a part that is too long"),
      named("deep", deep_path(65), "is too deep"),
      named("not_ascii", "gr\xc3\xbc n", "not marked as UTF-8"),
      {"not_utf8", "is not UTF-8",
       forge_zip({with(k_second,
                       [](auto& entry) {
                         entry.name = "\xff\xfe";
                         entry.local.flags = entry.central.flags = 0x800;
                       })})},
      {"duplicate", "`a.txt` is in the archive twice", forge_zip({k_first, k_first})},
      {"file_and_folder", "`a.txt` is a file and a folder",
       forge_zip({k_first, with(k_second, [](auto& entry) { entry.name = "a.txt/b"; })})},
      {"file_and_folder_entry", "`a.txt` is a file and a folder",
       forge_zip({k_first, {.name = "a.txt/", .method = 0, .attributes = 040755U << 16U}})},
      {"unicode_path_extra", "`a.txt` has a second name",
       forge_zip({with(k_first,
                       [](auto& entry) {
                         entry.central.extra =
                             extra_field(0x7075, "\1" + le32(test::crc32_of("a.txt")) + "b.txt");
                       })})},
      {"symlink", "`a.txt` is neither a file nor a folder (mode 0120777)",
       forge_zip({with(k_first, [](auto& entry) { entry.attributes = 0120777U << 16U; })})},
      {"device", "`a.txt` is neither a file nor a folder (mode 060600)",
       forge_zip({with(k_first, [](auto& entry) { entry.attributes = 060600U << 16U; })})},
      {"folder_with_data", "the folder `lib` carries data",
       forge_zip({{.name = "lib/", .content = "x", .method = 0, .attributes = 0x10}})},
      {"file_marked_as_folder", "`a.txt` is a file by one mark and a folder by another",
       forge_zip({with(k_first, [](auto& entry) { entry.attributes = 040755U << 16U; })})},
  };
}

std::vector<Fault> layout_faults() {
  const auto archive = forge_zip({k_first, k_second});
  const auto changed = [](auto change) { return forge_zip({k_first, with(k_second, change)}); };
  return {
      {"gap", "5 bytes after `a.txt` belong to no member",
       changed([](auto& entry) { entry.before = "stray"; })},
      {"gap_before_directory", "7 bytes after `lib/b.bin` belong to no member",
       forge_zip({k_first, k_second}, {.before_directory = "strayed"})},
      {"hidden_member", "a member that the directory does not list lies after `a.txt`",
       forge_zip({k_first, with(k_second, [](auto& entry) { entry.is_hidden = true; })})},
      {"one_local_header_twice", "overlaps what comes after it",
       forge_zip({k_first, {.name = "b.txt", .is_only_listed = true, .offset = 0}})},
      {"overlap", "`a.txt` overlaps what comes after it",
       changed([](auto& entry) { entry.offset = 10; })},
      {"no_local_header", "there is no local header where the directory says that `lib/b.bin`",
       std::string(archive).replace(archive.find("PK\3\4", 1), 4, "XXXX")},
      {"offset_in_directory", "`lib/b.bin` begins inside the central directory",
       changed([](auto& entry) { entry.offset = 200; })},
      {"prefix", "does not end at the end record", forge_zip({k_first}, {.prefix = "#!/bin/sh\n"})},
      {"prefix_with_right_offsets", "9 bytes before the first member belong to nothing",
       forge_zip({with(k_first, [](auto& entry) { entry.before = "#!/bin/sh"; })})},
      {"suffix", "4 bytes after the end record belong to nothing",
       forge_zip({k_first}, {.suffix = "junk"})},
      {"comment_too_long", "the comment of the end record is cut: 3 bytes of 9",
       forge_zip({k_first}, {.comment = "abc", .comment_length = 9})},
      {"archive_in_comment", "the comment holds a second archive",
       forge_zip({k_first}, {.comment = forge_zip({k_second})})},
      {"two_archives", "does not end at the end record", archive + archive},
      {"two_end_records", "does not end at the end record",
       archive + archive.substr(archive.size() - 22)},
      {"bytes_before_end_record", "does not end at the end record",
       forge_zip({k_first}, {.after_directory = "x"})},
      {"cut", "there is no end record", archive.substr(0, archive.size() - 23)},
      {"tiny", "3 bytes are too few", "PK\5"},
      {"text", "there is no end record", std::string(500, 't')},
      {"more_members_announced", "the central directory is damaged or holds fewer members",
       forge_zip({k_first, with(k_second,
                                [](auto& entry) {
                                  entry.central.extra = extra_field(9, std::string(60, 'e'));
                                })},
                 {.entries = 3})},
      {"fewer_members_announced", "bytes more than its 1 members",
       forge_zip({k_first, k_second}, {.entries = 1})},
      {"absurd_count", "cannot hold 60000 members", forge_zip({k_first}, {.entries = 60000})},
      {"disks", "spread over several disks", forge_zip({k_first}, {.disk = 1})},
      {"directory_offset", "does not end at the end record",
       forge_zip({k_first}, {.directory_offset = 3})},
  };
}

std::vector<Fault> zip64_faults() {
  const auto wide = [](std::string extra) {
    return forge_zip({with(k_second, [&extra](auto& entry) {
      for (auto* header : {&entry.local, &entry.central}) {
        header->size = 0xffffffff;
        header->extra = extra;
      }
    })});
  };
  return {
      {"zip64_contradicts", "contradict each other",
       forge_zip({k_first}, {.zip64 = true, .zip64_sentinels = false, .entries = 2})},
      {"zip64_locator_elsewhere", "does not stand right before its locator",
       forge_zip({k_first}, {.zip64 = true, .zip64_offset = 0})},
      {"zip64_hidden_bytes", "does not stand right before its locator",
       forge_zip({k_first}, {.zip64 = true, .zip64_extensible = "hidden"})},
      {"zip64_gap", "does not end at the zip64 end record",
       forge_zip({k_first}, {.after_directory = "x", .zip64 = true})},
      {"zip64_sentinels_without_record", "does not end at the end record",
       forge_zip({k_first}, {.entries = 0xffff, .directory_size = 0xffffffff})},
      {"zip64_value_missing", "the zip64 extra field of `lib/b.bin` lacks a value", wide("")},
      {"zip64_value_short", "lacks a value", wide(extra_field(1, le32(4)))},
      {"zip64_value_too_many", "holds values that no field calls for",
       wide(extra_field(1, le64(4) + le64(4)))},
      {"zip64_twice", "has two zip64 extra fields",
       wide(extra_field(1, le64(4)) + extra_field(1, le64(5)))},
      {"zip64_wrong_size", "is stored but has two sizes, 4 and 4294967300",
       wide(extra_field(1, le64((1ULL << 32U) + 4)))},
      {"extra_overrun", "an extra field of `lib/b.bin` runs past its area",
       wide(le16(9) + le16(50) + "short")},
  };
}

std::string fault_name(const testing::TestParamInfo<Fault>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Headers, ZipFault, testing::ValuesIn(header_faults()), fault_name);
INSTANTIATE_TEST_SUITE_P(Names, ZipFault, testing::ValuesIn(name_faults()), fault_name);
INSTANTIATE_TEST_SUITE_P(Layout, ZipFault, testing::ValuesIn(layout_faults()), fault_name);
INSTANTIATE_TEST_SUITE_P(Zip64, ZipFault, testing::ValuesIn(zip64_faults()), fault_name);

TEST(ZipAudit, row30_refuses_more_unpacked_bytes_than_the_budget) {
  std::vector<ForgedEntry> bombs;
  for (int i = 0; i < 9; ++i) { // 9 times 4 GB, each possible by its own ratio
    ForgedEntry bomb{.name = "bomb" + std::to_string(i), .raw = std::string(4'000'000, 'x')};
    bomb.local.size = bomb.central.size = 4'000'000'000;
    bombs.push_back(std::move(bomb));
  }
  const auto result = read_all(forge_zip(bombs), Audit::whole);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("unpacks to more than"));
}

TEST(ZipAudit, gives_members_in_the_order_of_the_directory_with_their_places) {
  const auto bytes = forge_zip({k_first, k_second});
  const auto members = read_all(bytes, Audit::whole).value();
  EXPECT_EQ(members[0].header_offset, 0U);
  EXPECT_EQ(members[0].data_offset, 30U + 5U);
  EXPECT_EQ(members[1].header_offset, bytes.find("PK\3\4", 1));
  EXPECT_EQ(members[1].data_offset, bytes.find("beta"));
  EXPECT_EQ(members[1].end_offset, bytes.find("PK\1\2"));
}

TEST(ReadMember, stops_when_the_consumer_says_so) {
  const auto bytes = forge_zip({{.name = "zeros", .content = std::string(5'000'000, '\0')}});
  const auto file = in_memory(bytes, "forged.zip");
  const auto members = audit_zip(*file, Audit::whole).value();
  int calls = 0;
  const auto result = read_member(*file, members[0], [&calls](auto) {
    ++calls;
    return Result<void>(fail(ErrorCode::host, "no more room"));
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no more room");
  EXPECT_EQ(calls, 1);
}

TEST(ReadMember, refuses_a_member_above_the_limit_before_reading_it) {
  const auto bytes = forge_zip({k_first});
  const auto file = in_memory(bytes, "forged.zip");
  const auto members = audit_zip(*file, Audit::whole).value();
  const auto result = read_member(*file, members[0], 22);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("has 23 bytes, more than the 22"));
}

} // namespace
} // namespace cukit::archive

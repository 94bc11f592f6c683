// What a hostile or damaged archive may try, in the order of the checklist.
#include "archive/tar_audit.hpp"
#include "base/limits.hpp"
#include "tar_fixture.hpp"

namespace cukit::archive {
namespace {

TEST_F(TarXzTest, row24_refuses_names_that_leave_the_folder_or_are_none) {
  EXPECT_THAT(refusal({file("../evil")}), HasSubstr("`..` part"));
  EXPECT_THAT(refusal({file("../../victim")}), HasSubstr("`..` part"));
  EXPECT_THAT(refusal({{.name = "/etc/passwd"}}), HasSubstr("is absolute"));
  EXPECT_THAT(refusal({file("a/../../b")}), HasSubstr("`..` part"));
  EXPECT_THAT(refusal({{.name = ""}}), HasSubstr("is empty"));
  EXPECT_THAT(refusal({{.name = "."}}), HasSubstr("`.` or `..` part"));
  EXPECT_THAT(refusal({file("./a")}), HasSubstr("`.` or `..` part"));
  EXPECT_THAT(refusal({file("a//b")}), HasSubstr("has an empty"));
  EXPECT_THAT(refusal({file("a\nb")}), HasSubstr("control character"));
  EXPECT_THAT(refusal({file("a\x1b[2J")}), HasSubstr("\\x1b[2J"));
  EXPECT_THAT(refusal({file("a\\b")}), HasSubstr("backslash"));
  EXPECT_THAT(refusal({file("\xff\xfe")}), HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal({file("a/")}), HasSubstr("has an empty"));
  EXPECT_THAT(refusal({test::gnu_long(in_top(std::string(300, 'n'))), file("x")}),
              HasSubstr("a part that is too long"));
  std::string deep = k_top;
  for (int i = 0; i < 5000; ++i) {
    deep += "/a";
  }
  EXPECT_THAT(refusal({pax_header({{"path", deep}}), file("x")}), HasSubstr("is too long"));
  EXPECT_THAT(refusal({pax_header({{"path", deep.substr(0, 500)}}), file("x")}),
              HasSubstr("is too deep"));
}

TEST_F(TarXzTest, row25_refuses_links_that_lead_out_and_writes_through_none) {
  const auto outside = HasSubstr("which is no place in the archive");
  EXPECT_THAT(refusal({symlink("a", "../victim")}), outside);
  EXPECT_THAT(refusal({symlink("a", "/etc")}), outside);
  EXPECT_THAT(refusal({symlink("a", "")}), outside);
  EXPECT_THAT(refusal({symlink("a", "x\ty/../b")}), outside);
  EXPECT_THAT(refusal({symlink("a/b", "../../c")}), outside);
  EXPECT_THAT(refusal({symlink("d", "e"), file("d/evil")}), HasSubstr("`d` is no folder"));
  EXPECT_THAT(refusal({file("d/evil"), symlink("d", "e")}), HasSubstr("`d` is in the tar file"));
  EXPECT_THAT(refusal({folder("d"), symlink("d", "e")}), HasSubstr("`d` is in the tar file twice"));
  EXPECT_THAT(refusal({symlink("d", "e"), folder("d")}), HasSubstr("`d` is in the tar file twice"));
  EXPECT_THAT(refusal({symlink("d", "e"), file("d")}), HasSubstr("`d` is in the tar file twice"));
  // each link alone looks well
  EXPECT_THAT(refusal({symlink("a", "."), symlink("b", "a/..")}),
              HasSubstr("the link `b` leads out of the archive"));
  EXPECT_THAT(refusal({symlink("x/y/up", "../.."), symlink("out", "x/y/up/../victim")}),
              HasSubstr("the link `out` leads out of the archive"));
  EXPECT_THAT(refusal({symlink("a", "b"), symlink("b", "a")}), HasSubstr("goes in a circle"));
  EXPECT_EQ(refusal({symlink("x/a", "../gone"), symlink("b", "x/a/..")}), "accepted: b x/a");
}

TEST_F(TarXzTest, row25_refuses_hard_links_to_anything_but_an_earlier_file) {
  const auto no_file = HasSubstr("which is no earlier file");
  EXPECT_THAT(refusal({{.name = in_top("a"), .type = '1', .link = "/etc/passwd"}}),
              HasSubstr("is absolute"));
  EXPECT_THAT(refusal({{.name = in_top("a"), .type = '1', .link = k_top + "/../victim"}}),
              HasSubstr("`..` part"));
  EXPECT_THAT(refusal({{.name = in_top("a"), .type = '1', .link = "other/a"}}),
              HasSubstr("lies outside"));
  EXPECT_THAT(refusal({symlink("l", "f"), hard_link("a", "l")}), no_file);
  EXPECT_THAT(refusal({folder("d"), hard_link("a", "d")}), no_file);
  EXPECT_THAT(refusal({hard_link("a", "later"), file("later")}), no_file);
  EXPECT_THAT(refusal({hard_link("a", "a")}), no_file);
  auto with_content = hard_link("a", "f");
  with_content.content = "other";
  EXPECT_THAT(refusal({file("f"), with_content}), HasSubstr("cannot have 5 bytes"));
  EXPECT_EQ(refusal({file("f"), hard_link("a", "f"), hard_link("b", "a")}), "accepted: a b f");
  EXPECT_EQ(content("b"), "content");
}

TEST_F(TarXzTest, row27_refuses_what_is_neither_file_nor_folder_nor_link) {
  const auto of_type = [&](char type) {
    auto entry = file("odd", "");
    entry.type = type;
    return refusal({entry});
  };
  for (const char type : {'3', '4'}) {
    EXPECT_THAT(of_type(type), HasSubstr("odd` is a device"));
  }
  EXPECT_THAT(of_type('6'), HasSubstr("is a pipe"));
  EXPECT_THAT(of_type('S'), HasSubstr("is a sparse file"));
  for (const char type : {'7', 'A', 'D', 'M', 'V', 'X', 's', '9'}) {
    EXPECT_THAT(of_type(type), HasSubstr("is an entry of type"));
  }
  EXPECT_THAT(refusal({pax_header({{"GNU.sparse.size", "8589934592"}}), file("a")}),
              HasSubstr("sparse file"));
  EXPECT_THAT(refusal({pax_header({{"SCHILY.realsize", "8589934592"}}), file("a")}),
              HasSubstr("sparse file"));
  auto stuffed = folder("d");
  stuffed.content = "x";
  EXPECT_THAT(refusal({stuffed}), HasSubstr("cannot have 1 bytes"));
}

TEST_F(TarXzTest, row27_drops_setuid_owners_and_attributes) {
  auto tool = file("bin/tool", "#!/bin/sh\n");
  tool.mode = 06777;
  auto bin = folder("bin");
  bin.mode = 07777;
  const auto attributes = pax_header({{"SCHILY.xattr.security.capability", "\1\0\0\2"},
                                      {"LIBARCHIVE.xattr.user.a", "YQ"},
                                      {"SCHILY.acl.access", "user::rwx"},
                                      {"uid", "0"},
                                      {"mtime", "99.5"}});
  const auto written = unpack_entries({bin, attributes, tool});
  ASSERT_TRUE(written) << written.error().message;
  struct stat info {};
  ASSERT_EQ(::lstat((folder_ / "bin/tool").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0555U);
  EXPECT_EQ(info.st_mtim.tv_sec, 1);
  ASSERT_EQ(::lstat((folder_ / "bin").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0755U);
}

TEST_F(TarXzTest, row28_refuses_sizes_that_contradict_or_are_none) {
  EXPECT_THAT(refusal({pax_header({{"size", "3"}}), file("a")}),
              HasSubstr("has 7 bytes by its header and 3 by an extended one"));
  auto empty = file("a", "");
  EXPECT_THAT(refusal({pax_header({{"size", "1024"}}), empty, file("smuggled")}),
              HasSubstr("has 0 bytes by its header and 1024"));
  EXPECT_THAT(refusal({pax_header({{"size", "-7"}}), file("a")}), HasSubstr("no number"));
  EXPECT_EQ(refusal({pax_header({{"size", "7"}}), file("a")}), "accepted: a");
  const auto sized = [&](const std::string& field) {
    auto entry = file("a");
    entry.size = field;
    return refusal({entry});
  };
  const auto no_number = HasSubstr("no number that a file can have");
  EXPECT_THAT(sized(std::string(12, '\xff')), no_number); // minus one
  EXPECT_THAT(sized("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xf9"), no_number);
  EXPECT_THAT(sized("\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), no_number);
  EXPECT_THAT(sized("0000000000x"), no_number);
  EXPECT_THAT(sized("00000009"), no_number);
  EXPECT_THAT(sized(std::string("\x80\0\0\0\0\0\0\x7f\0\0\0\0", 12)), HasSubstr("cannot have"));
  EXPECT_EQ(sized(std::string("\x80\0\0\0\0\0\0\0\0\0\0\7", 12)), "accepted: a");
}

TEST_F(TarXzTest, row28_refuses_extended_headers_that_are_damaged_or_ambiguous) {
  const auto raw = [&](std::string payload) {
    return refusal({test::raw_pax_header(std::move(payload)), file("a")});
  };
  EXPECT_THAT(raw("x path=b\n"), HasSubstr("no length"));
  EXPECT_THAT(raw("9 path=b"), HasSubstr("no length"));
  EXPECT_THAT(raw("999 path=b\n"), HasSubstr("no length"));
  EXPECT_THAT(raw("0 path=b\n"), HasSubstr("no length"));
  EXPECT_THAT(raw("8 pathb\n"), HasSubstr("not KEY=VALUE"));
  EXPECT_THAT(raw("8 path=bc"), HasSubstr("not KEY=VALUE"));
  EXPECT_THAT(raw(std::string("11 pa\0th=b\n", 11)), HasSubstr("not KEY=VALUE"));
  EXPECT_THAT(refusal({pax_header({{"path", in_top("b")}, {"path", in_top("c")}}), file("a")}),
              HasSubstr("two values of path"));
  EXPECT_THAT(refusal({pax_header({{"path", ""}}), file("a")}), HasSubstr("an empty path"));
  EXPECT_THAT(
      refusal({pax_header({{"path", in_top("b")}}), pax_header({{"mtime", "1"}}), file("a")}),
      HasSubstr("two extended headers"));
  EXPECT_THAT(refusal({pax_header({{"path", "x"}}, 'g'), file("a")}), HasSubstr("to all of its"));
  EXPECT_THAT(refusal({pax_header({{"size", "9"}}, 'g'), file("a")}), HasSubstr("to all of its"));
  EXPECT_THAT(refusal({pax_header({{"hdrcharset", "UTF-16"}}), file("a")}),
              HasSubstr("character set"));
  EXPECT_THAT(refusal({file("a"), pax_header({{"path", in_top("b")}})}),
              HasSubstr("ends after an extended header"));
  EXPECT_THAT(refusal({test::gnu_long(std::string("a\0b", 3)), file("a")}), HasSubstr("holds NUL"));
  auto cut = test::gnu_long(in_top("b"));
  cut.content.clear();
  cut.size = "77777777777";
  EXPECT_THAT(refusal({cut}), HasSubstr("an extended header of the tar file has"));
  auto wrong = file("a");
  wrong.checksum = 1;
  EXPECT_THAT(refusal({wrong}), HasSubstr("the tar file is damaged"));
  auto old = file("a");
  old.magic = "";
  EXPECT_THAT(refusal({old}), HasSubstr("none that POSIX or GNU tar describe"));
}

TEST_F(TarXzTest, row29_refuses_every_end_but_the_right_one) {
  const auto tar = forge_tar({file("a")});
  const auto ends = [&](const test::ForgedTarEnd& end) {
    return message_of(unpack_bytes(xz_of(forge_tar({file("a")}, end))));
  };
  EXPECT_EQ(ends({}), "accepted: a");
  EXPECT_EQ(ends({.behind = std::string(9000, '\0')}), "accepted: a");
  EXPECT_THAT(ends({.zero_blocks = 0}), HasSubstr("without the two blocks"));
  EXPECT_THAT(ends({.zero_blocks = 1}), HasSubstr("without the two blocks"));
  EXPECT_THAT(ends({.cut = 1}), HasSubstr("without the two blocks"));
  EXPECT_THAT(ends({.behind = "x"}), HasSubstr("data lies behind the end"));
  EXPECT_THAT(ends({.behind = forge_tar({file("b")})}), HasSubstr("data lies behind the end"));
  EXPECT_THAT(ends({.zero_blocks = 1, .behind = forge_tar({file("b")})}),
              HasSubstr("zeros in its middle"));
  const auto xz = xz_of(tar);
  const auto follows = HasSubstr("bytes follow the end of the xz stream");
  EXPECT_THAT(message_of(unpack_bytes(xz + xz_of(forge_tar({file("b")})))), follows);
  EXPECT_THAT(message_of(unpack_bytes(xz + "x")), follows);
  EXPECT_THAT(message_of(unpack_bytes(xz + std::string(4, '\0'))), follows);
  EXPECT_THAT(message_of(unpack_bytes("")), HasSubstr("cut off"));
  EXPECT_THAT(message_of(unpack_bytes(tar)), HasSubstr("no xz stream"));
}

TEST_F(TarXzTest, row29_refuses_every_flipped_bit_and_every_cut) {
  const auto bytes = xz_of(forge_tar({file("a", "some text"), symlink("b", "a")}));
  ASSERT_TRUE(unpack_bytes(bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 8));
    EXPECT_FALSE(unpack_bytes(flipped)) << "bit " << i % 8 << " of byte " << i;
    EXPECT_FALSE(unpack_bytes(bytes.substr(0, i))) << i << " bytes";
  }
}

TEST_F(TarXzTest, row30_stops_a_bomb_at_its_budget) {
  const auto small = xz_of(forge_tar({file("zeros", std::string(15U << 20U, '\0'))}));
  EXPECT_EQ(message_of(unpack_bytes(small)), "accepted: zeros");
  const auto bomb = xz_of(forge_tar({file("zeros", std::string(20U << 20U, '\0'))}));
  EXPECT_GT((20U << 20U) / bomb.size(), 1000U) << "it is one";
  EXPECT_THAT(message_of(unpack_bytes(bomb)), HasSubstr("is no archive"));
  EXPECT_LE(content("zeros").size(), 24U << 20U);
  // the same content again and again costs no byte in the archive
  std::vector<ForgedTarEntry> repeated{file("f", std::string(1U << 20U, '\0'))};
  for (int i = 0; i < 40; ++i) {
    repeated.push_back(hard_link("h" + std::to_string(i), "f"));
  }
  EXPECT_THAT(refusal(repeated), HasSubstr("is no archive"));
  auto large = file("huge", "");
  large.size = std::string("\x80\0\0\0\0\0\0\x40\0\0\0\0", 12); // 256 GiB
  EXPECT_THAT(refusal({large}), HasSubstr("cannot have"));
}

TEST(TarAudit, row30_stops_at_the_number_of_entries) {
  const auto block = forge_tar({folder("d")}, {.zero_blocks = 0});
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(block.data()), block.size());
  TarAudit audit("many.tar.xz", k_top);
  std::vector<TarEntry> found;
  for (std::uint64_t i = 0; i < limits::k_archive_members; ++i) {
    ASSERT_TRUE(audit.see(bytes, found));
    found.clear();
  }
  const auto result = audit.see(bytes, found);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "the tar file has more than 200000 entries");
}

TEST_F(TarXzTest, row31_refuses_a_dictionary_above_the_limit_without_having_it) {
  const auto tar = forge_tar({file("a")});
  EXPECT_EQ(message_of(unpack_bytes(xz_of(tar, {.dictionary = 64U << 20U}))), "accepted: a");
  EXPECT_THAT(message_of(unpack_bytes(xz_of(tar, {.dictionary = 1U << 30U}))),
              HasSubstr("asks for 1.1 GB of memory"));
}

} // namespace
} // namespace cukit::archive

#include "archive/plain_tar.hpp"
#include "base/child.hpp"

#include <gmock/gmock.h>

namespace cukit::archive {
namespace {

using ::testing::HasSubstr;

class PlainTar : public ::testing::Test {
protected:
  Result<void> write(const std::vector<std::pair<std::string, std::string>>& members,
                     const std::stop_token& stop = {}) {
    texts = members;
    files.clear();
    std::vector<PlainTarItem> items;
    for (const auto& [name, text] : texts) {
      files.push_back(in_memory(text, name));
      items.push_back({name, files.back().get()});
    }
    fs::remove(path());
    return write_plain_tar(path(), items, stop);
  }
  [[nodiscard]] std::string python(const std::string& program) const {
    Environment environment;
    environment.set("PATH", "/usr/bin:/bin");
    const auto done = run_command(
        {.arguments = {"python3", "-c", program, path().string()}, .environment = environment});
    return done && done->exit_code == 0 ? done->output : "";
  }
  [[nodiscard]] fs::path path() const { return folder->path() / "x.tar"; }
  [[nodiscard]] std::string bytes() const { return read_file(path(), 1U << 30U).value(); }
  Result<TempDirectory> folder = TempDirectory::create(::testing::TempDir(), "tar");
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::unique_ptr<RandomAccess>> files;
};

TEST_F(PlainTar, lists_what_python_lists_at_the_same_offsets) {
  const std::string deep = "parts/" + std::string(64, 'a') + "/" + std::string(90, 'b');
  ASSERT_TRUE(write({{"z", "last"},
                     {"artifacts/a", std::string(3'000'000, 'x')},
                     {"empty", ""},
                     {"block", std::string(512, 'y')},
                     {deep, "deep"}}));
  const auto members = list_plain_tar(path());
  ASSERT_TRUE(members) << members.error().message;
  std::string ours;
  for (const auto& member : *members) {
    ours += fmt::format("{} {} {}\n", member.name, member.offset, member.size);
  }
  const auto theirs = python("import sys, tarfile\n"
                             "for m in tarfile.open(sys.argv[1], 'r:'):\n"
                             "  assert m.isreg() and m.mtime == 1 and m.uid == m.gid == 0\n"
                             "  assert m.mode == 0o644 and m.uname == m.gname == ''\n"
                             "  print(m.name, m.offset_data, m.size)\n");
  if (theirs.empty()) {
    GTEST_SKIP() << "python3 is not to be had here";
  }
  EXPECT_EQ(ours, theirs);
}

TEST_F(PlainTar, does_not_depend_on_the_order_of_its_items) {
  ASSERT_TRUE(write({{"b", "2"}, {"a", "1"}}));
  const auto first = bytes();
  ASSERT_TRUE(write({{"a", "1"}, {"b", "2"}}));
  EXPECT_TRUE(bytes() == first);
}

TEST_F(PlainTar, refuses_what_it_did_not_make) {
  const auto refused = [&](const char* what, const std::string& with) {
    const auto made =
        python("import sys, tarfile, io\nt = tarfile.open(sys.argv[1], 'w:', format=" + with +
               "\nt.close()\n" + "print('made')\n");
    if (made.empty()) {
      return;
    }
    const auto members = list_plain_tar(path());
    EXPECT_FALSE(members) << what;
    if (!members) {
      EXPECT_EQ(members.error().code, ErrorCode::integrity) << what;
    }
  };
  const std::string ustar = "tarfile.USTAR_FORMAT)\n";
  refused("a folder", ustar + "i = tarfile.TarInfo('d'); i.type = tarfile.DIRTYPE; t.addfile(i)");
  refused("a link", ustar + "i = tarfile.TarInfo('l'); i.type = tarfile.SYMTYPE; "
                            "i.linkname = '/etc'; t.addfile(i)");
  refused("a name twice",
          ustar + "t.addfile(tarfile.TarInfo('a')); t.addfile(tarfile.TarInfo('a'))");
  refused("a pax header", "tarfile.PAX_FORMAT)\ni = tarfile.TarInfo('x' * 300); t.addfile(i)");
  refused("a long name of GNU",
          "tarfile.GNU_FORMAT)\ni = tarfile.TarInfo('x' * 300); t.addfile(i)");
  for (const std::string& text :
       {std::string("no tar file"), std::string(), std::string(2000, 'x')}) {
    ASSERT_TRUE(write_file_atomic(path(), text));
    const auto members = list_plain_tar(path());
    EXPECT_TRUE(!members || members->empty());
  }
}

TEST_F(PlainTar, notices_that_its_end_is_missing) {
  ASSERT_TRUE(write({{"a", std::string(100'000, 'a')}, {"b", std::string(100'000, 'b')}}));
  const auto whole = bytes();
  for (const std::size_t size : {whole.size() / 2, whole.size() - 30'000, std::size_t{700}}) {
    ASSERT_TRUE(write_file_atomic(path(), whole.substr(0, size)));
    const auto members = list_plain_tar(path());
    EXPECT_TRUE(!members || members->size() < 2) << size;
  }
}

TEST_F(PlainTar, is_never_written_over_a_file_and_can_be_stopped) {
  ASSERT_TRUE(write({{"a", "1"}}));
  const auto file = in_memory("1", "a");
  EXPECT_FALSE(write_plain_tar(path(), {{"a", file.get()}}, {}));
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = write({{"a", std::string(5'000'000, 'a')}}, stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::interrupted);
}

} // namespace
} // namespace cukit::archive

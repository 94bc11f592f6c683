#include "base/child.hpp"
#include "tar_fixture.hpp"

#include <atomic>
#include <thread>

namespace cukit::archive {
namespace {

std::vector<ForgedTarEntry> redist_like() {
  return {folder(""),
          folder("lib"),
          symlink("lib/libx.so", "libx.so.1"),
          symlink("lib/libx.so.1", "libx.so.1.2.3"),
          file("lib/libx.so.1.2.3", std::string("\x7f"
                                                "ELF") +
                                        noise(700'000, 3)),
          file("LICENSE", "licence\n"),
          folder("include/empty"),
          file("include/x.h", "#pragma once\n"),
          hard_link("include/y.h", "include/x.h")};
}

TEST_F(TarXzTest, unpacks_the_shape_of_a_vendor_archive_without_its_top_folder) {
  const auto written = unpack_entries(redist_like());
  ASSERT_TRUE(written) << written.error().message;
  std::vector<std::string> names;
  for (const auto& one : *written) {
    names.push_back(one.path.text() + (one.link.empty() ? "" : " -> " + one.link));
  }
  EXPECT_THAT(names, testing::ElementsAre("LICENSE", "include/x.h", "include/y.h",
                                          "lib/libx.so -> libx.so.1",
                                          "lib/libx.so.1 -> libx.so.1.2.3", "lib/libx.so.1.2.3"));
  EXPECT_EQ(content("include/y.h"), "#pragma once\n");
  EXPECT_EQ(content("lib/libx.so"), redist_like()[4].content);
  EXPECT_EQ(fs::read_symlink(folder_ / "lib/libx.so"), "libx.so.1");
  EXPECT_FALSE(fs::exists(folder_ / "include/empty"));
  EXPECT_TRUE(written->back().executable);
  EXPECT_EQ(written->back().sha256, sha256_of(redist_like()[4].content));
  for (const auto* name : {"lib", "lib/libx.so", "include/y.h", "."}) {
    struct stat info {};
    ASSERT_EQ(::lstat((folder_ / name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mtim.tv_sec, 1) << name;
  }
}

TEST_F(TarXzTest, gives_the_same_however_the_bytes_arrive) {
  const auto bytes = xz_of(forge_tar(redist_like()), {.block = 100'000});
  Trickle slow(bytes, 7);
  Trickle fast(bytes, bytes.size());
  const auto first = unpack(slow);
  const auto second = unpack(fast);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->size(), second->size());
  for (std::size_t i = 0; i < first->size(); ++i) {
    EXPECT_EQ((*first)[i].sha256, (*second)[i].sha256);
  }
}

TEST_F(TarXzTest, the_top_folder_must_be_the_one_named_like_the_file) {
  EXPECT_EQ(top_folder("cuda/redist/cuda_x/linux-x86_64/" + k_top + ".tar.xz"), k_top);
  EXPECT_EQ(top_folder("some.whl"), "");
  EXPECT_THAT(refusal({file("a"), {.name = "other/b"}}), HasSubstr("`other/b` lies outside"));
  EXPECT_THAT(refusal({{.name = "a"}}), HasSubstr("`a` lies outside"));
  EXPECT_THAT(refusal({{.name = k_top}}), HasSubstr("is no folder"));
  EXPECT_THAT(refusal({{.name = k_top + "x/a"}}), HasSubstr("lies outside"));
}

TEST_F(TarXzTest, archives_that_need_more_memory_together_wait_for_each_other) {
  XzMemory memory(100);
  XzMemory::Share first(memory);
  ASSERT_TRUE(first.become(80, {}));
  std::atomic<bool> has = false;
  std::jthread other([&](const std::stop_token& stop) {
    XzMemory::Share second(memory);
    EXPECT_TRUE(second.become(500, stop)) << "alone it gets more than all may have";
    has = true;
  });
  EXPECT_FALSE(has);
  ASSERT_TRUE(first.become(90, {})); // it could not wait for one that waits for it
  XzMemory::Share late(memory);
  stop_.request_stop();
  const auto refused = late.become(50, stop_.get_token());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::interrupted);
  EXPECT_TRUE(first.become(0, {}));
  other.join();
  EXPECT_TRUE(has);
}

TEST_F(TarXzTest, an_error_of_the_source_and_a_stop_end_it_soon) {
  const auto bytes = xz_of(forge_tar({file("noise", noise(600'000, 1))}));
  Trickle broken(bytes, 4096);
  broken.on_read = [](std::size_t at) {
    return at < 100'000 ? Result<void>() : fail(ErrorCode::source, "the line broke");
  };
  const auto failed = unpack(broken);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::source);
  EXPECT_EQ(failed.error().message, "the line broke");
  Trickle stopped(bytes, 4096);
  stopped.on_read = [this](std::size_t at) {
    EXPECT_LT(at, 200'000U);
    if (at > 100'000) {
      stop_.request_stop();
    }
    return Result<void>();
  };
  const auto interrupted = unpack(stopped);
  ASSERT_FALSE(interrupted);
  EXPECT_EQ(interrupted.error().code, ErrorCode::interrupted);
}

TEST_F(TarXzTest, a_full_folder_is_the_error_and_not_what_follows_from_it) {
  fs::create_directory(folder_ / "a");
  auto sink = TreeSink::open(folder_);
  EXPECT_FALSE(sink);
  fs::remove(folder_ / "a");
  sink = TreeSink::open(folder_);
  fs::create_directory(folder_ / "noise"); // somebody else's
  Trickle stream(xz_of(forge_tar({file("noise", noise(900'000, 1))})), 1U << 20U);
  const auto result = extract_tar_xz(stream, k_top, *sink, memory_, silent_, 0, {});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("noise exists already"));
}

/// Real tar programs write, we read: the same names, bytes and links come back.
class Peers : public TarXzTest {
protected:
  void SetUp() override {
    TarXzTest::SetUp();
    for (const auto* program : {"tar", "xz", "python3"}) {
      if (environment_.find_program(program).empty()) {
        GTEST_SKIP() << "no " << program;
      }
    }
    const auto top = work_.path() / k_top;
    fs::create_directories(top / "lib");
    fs::create_directories(top / std::string(120, 'd') / std::string(140, 'e'));
    EXPECT_TRUE(create_file(top / "lib/libx.so.1.2", noise(400'000, 5)));
    fs::create_symlink("libx.so.1.2", top / "lib/libx.so");
    fs::create_symlink(std::string(130, 'd') + "/gone", top / "lib/long");
    fs::create_hard_link(top / "lib/libx.so.1.2", top / "lib/same");
    EXPECT_TRUE(create_file(top / std::string(120, 'd') / std::string(140, 'e') / "f", "deep"));
    EXPECT_TRUE(create_file(top / "gr\xc3\xbc\xc3\x9f"
                                  "e",
                            "umlaut"));
    EXPECT_TRUE(create_file(top / "empty", ""));
  }
  void expect_same() {
    const auto file = open_local_file(work_.path() / "out.tar.xz").value();
    FileStream stream(*file);
    const auto written = unpack(stream);
    ASSERT_TRUE(written) << written.error().message;
    std::size_t seen = 0;
    for (const auto& one : fs::recursive_directory_iterator(work_.path() / k_top)) {
      const auto name = one.path().lexically_relative(work_.path() / k_top);
      if (one.is_symlink()) {
        EXPECT_EQ(fs::read_symlink(folder_ / name), fs::read_symlink(one.path()));
      } else if (one.is_regular_file()) {
        EXPECT_EQ(sha256_of_file(folder_ / name).value(), sha256_of_file(one.path()).value());
      }
      seen += one.is_directory() ? 0 : 1;
    }
    EXPECT_EQ(written->size(), seen);
  }
  void run(std::vector<std::string> arguments) {
    const auto result = run_command({.arguments = std::move(arguments),
                                     .environment = environment_,
                                     .directory = work_.path().string()});
    ASSERT_TRUE(result);
    ASSERT_EQ(result->errors, "");
  }
  Environment environment_ = Environment::of_this_process();
  TempDirectory work_ = TempDirectory::create(fs::temp_directory_path(), "peers-").value();
};

TEST_F(Peers, row28_reads_what_gnu_tar_writes_in_each_format) {
  for (const auto* format : {"gnu", "pax"}) {
    run({"tar", "-cJf", "out.tar.xz", std::string("--format=") + format, k_top});
    expect_same();
  }
}

TEST_F(Peers, row28_reads_what_python_writes_in_each_format) {
  for (const auto* format : {"GNU_FORMAT", "PAX_FORMAT"}) {
    run({"python3", "-c",
         "import sys, tarfile\n"
         "with tarfile.open('out.tar.xz', 'w:xz', format=getattr(tarfile, sys.argv[1])) as t:\n"
         "    t.add(sys.argv[2])\n",
         format, k_top});
    expect_same();
  }
}

} // namespace
} // namespace cukit::archive

#include "fetch_fixture.hpp"
#include "support/patience.hpp"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cukit::fetch {
namespace {

TEST_F(Fetch, row19_a_stop_ends_within_a_second_and_keeps_the_part) {
  server.script("/x.whl", {Fault::stall_after(100'000)});
  std::chrono::steady_clock::time_point asked;
  std::jthread later([&] {
    while (!path_exists(part()) || fs::file_size(part()) < 100'000) {
      std::this_thread::yield();
    }
    asked = std::chrono::steady_clock::now();
    stop.request_stop();
  });
  const auto blob = fetch();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, test::k_soon);
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::interrupted);
  EXPECT_EQ(fs::file_size(part()), 100'000U);
  later.join();
  stop = std::stop_source();
  server.forget();
  expect_right(fetch());
  EXPECT_EQ(server.body_bytes(), 200'000U);
}

TEST_F(Fetch, row19_a_stop_before_the_start_asks_nobody) {
  stop.request_stop();
  const auto blob = fetch();
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, ErrorCode::interrupted);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(Fetch, row22_a_full_disk_is_named_with_need_and_have) {
  options.folder = directory->path() / "small";
  ASSERT_TRUE(make_directories(options.folder));
  std::string skipped;
  // In a thread of its own with mounts of its own: nothing is left behind.
  std::jthread([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", options.folder.c_str(), "tmpfs", 0, "size=128k") != 0) {
      skipped = "mounting needs root";
      return;
    }
    const auto blob = fetch();
    ASSERT_FALSE(blob);
    EXPECT_EQ(blob.error().code, ErrorCode::host);
    EXPECT_THAT(
        blob.error().message,
        AllOf(HasSubstr("no room"), HasSubstr("300 kB more are needed"), HasSubstr("are free")));
    EXPECT_NE(blob.error().hint, "");
    EXPECT_EQ(server.requests(), 1);
  }).join();
  if (!skipped.empty()) {
    GTEST_SKIP() << skipped;
  }
}

TEST_F(Fetch, what_was_reserved_for_bytes_that_did_not_come_is_given_back) {
  Wanted large = wanted({server.url("/x.whl")});
  large.size = 64U << 20U;
  server.script("/x.whl", {Fault::stall_after(100'000)});
  std::stop_source source;
  std::jthread stopper([&] {
    while (!path_exists(part()) || fs::file_size(part()) < 100'000) {
      std::this_thread::sleep_for(1ms);
    }
    source.request_stop();
  });
  EXPECT_FALSE(fetch_all(
      *client, {large}, options, [](std::size_t, const Result<Blob>&) {}, watcher,
      source.get_token()));
  struct stat info {};
  ASSERT_EQ(::stat(part().c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 100'000);
  EXPECT_LE(info.st_blocks * 512, 2 << 20);
}

TEST_F(Fetch, a_download_goes_with_the_last_one_who_holds_it) {
  auto first = fetch();
  auto second = fetch();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(server.requests(), 1);
  const auto path = first->path;
  let_go(*std::move(first), options.without_locks);
  EXPECT_TRUE(is_held(path));
  expect_right(second);
  let_go(*std::move(second), options.without_locks);
  EXPECT_THAT(list_directory(options.folder).value(), IsEmpty());
}

TEST_F(Fetch, a_download_that_somebody_is_about_to_hold_stays) {
  auto blob = fetch();
  ASSERT_TRUE(blob);
  const auto path = blob->path;
  const auto lock =
      FileLock::acquire(path.string() + ".lock", FileLock::Mode::exclusive, {}).value();
  let_go(*std::move(blob), options.without_locks);
  EXPECT_TRUE(path_exists(path));
}

TEST_F(Fetch, row34_a_second_process_waits_and_takes_what_the_first_brought) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer lets no thread start after a fork of a process with threads";
#endif
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      // A client of its own: connections are not shared across a fork.
      const auto mine = http::Client::create(options.http);
      Silent silent;
      const auto all = fetch_all(**mine, {wanted({server.url("/x.whl")})}, options,
                                 [](std::size_t, const Result<Blob>&) {}, silent, {});
      ::_exit(all ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(server.body_bytes(), bytes.size());
  expect_right(fetch());
}

TEST_F(Fetch, brings_the_same_file_once_when_it_is_wanted_twice) {
  int came = 0;
  const auto all =
      fetch_all(*client, {wanted({server.url("/x.whl")}), wanted({server.url("/x.whl")})}, options,
                [&](std::size_t, const Result<Blob>& blob) { came += blob ? 1 : 0; }, watcher, {});
  EXPECT_TRUE(all);
  EXPECT_EQ(came, 2);
  EXPECT_EQ(server.requests(), 1);
}

} // namespace
} // namespace cukit::fetch

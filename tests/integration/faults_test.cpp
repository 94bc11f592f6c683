// Calls of the operating system that fail at the worst moment: what is said, with which exit code,
// that nothing half is left, that the lock file is the old or the new one, and that the next run
// works.
#include "lab.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sys/mount.h>
#include <unistd.h>

namespace cukit::test {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool is_thorough() {
  const char* text = std::getenv("CUKIT_CRASH_ROUNDS");
  return text != nullptr && std::atoi(text) >= 1000;
}

struct Injection {
  std::string name;
  std::string call; ///< of faulty_fs.h
  std::string error;
  std::string said;    ///< part of what the user is told
  std::string at = {}; ///< text of the path
};

void PrintTo(const Injection& one, std::ostream* out) {
  *out << one.name;
}

/// What a failed call may lead to: a clean error of the host, or nothing at all where it did not
/// matter.
void expect_clean(const Finished& finished, const Injection& injection, const std::string& report) {
  EXPECT_EQ(finished.signal, 0) << report << finished.errors;
  EXPECT_THAT(finished.exit_code, AnyOf(0, 6)) << report << finished.errors;
  if (finished.exit_code == 0) {
    return;
  }
  EXPECT_THAT(finished.errors, HasSubstr(injection.said)) << report;
  EXPECT_THAT(finished.errors, HasSubstr("next:")) << report;
}

class OneFault : public ::testing::TestWithParam<Injection> {
protected:
  /// The n-th call fails, from nothing; false when the run never made so many.
  bool fails_at(int n) {
    faults_.forget();
    lab_.begin_anew();
    faults_.fail(fmt::format("{}:{}:{}:{}", GetParam().call, n, GetParam().error, GetParam().at));
    const auto finished = lab_.up();
    const auto report = faults_.report();
    faults_.forget();
    if (report.empty()) {
      EXPECT_EQ(finished.exit_code, 0) << finished.errors;
      return false;
    }
    expect_clean(finished, GetParam(), report);
    EXPECT_THAT(lab_.lock_text(), AnyOf(Eq(""), Eq(lock_))) << report;
    lab_.expect_whole(report);
    lab_.expect_rerun(report);
    EXPECT_EQ(lab_.lock_text(), lock_) << report;
    return true;
  }

  void SetUp() override {
    CUKIT_NEEDS_FAULTS()
    ASSERT_EQ(lab_.up().exit_code, 0);
    lock_ = lab_.lock_text();
  }

  Lab lab_;
  Faults faults_{lab_.playground};
  std::string lock_;
};

INSTANTIATE_TEST_SUITE_P(
    Faults, OneFault,
    ::testing::Values(
        Injection{"row22_no_space_at_write", "write", "ENOSPC", "No space left"},
        Injection{"row22_no_space_at_close", "close", "ENOSPC", "No space left"},
        Injection{"row22_no_space_at_fsync", "fsync", "ENOSPC", "No space left"},
        Injection{"row22_no_space_at_syncfs", "syncfs", "ENOSPC", "No space left"},
        Injection{"row22_no_space_at_rename", "rename", "ENOSPC", "No space left"},
        Injection{"row22_no_space_at_mkdir", "mkdir", "ENOSPC", "No space left"},
        Injection{"row22_no_space_at_fallocate", "fallocate", "ENOSPC", "No space left"},
        Injection{"row22_no_space_at_link", "link", "ENOSPC", "No space left"},
        Injection{"row23_io_error_at_any_change", "*", "EIO", "Input/output error"},
        Injection{"row23_io_error_at_read", "read", "EIO", "Input/output error"},
        Injection{"row23_quota_at_write", "write", "EDQUOT", "quota"},
        Injection{"row23_read_only_at_any_change", "*", "EROFS", "Read-only"},
        Injection{"row23_too_many_files_at_open", "open", "EMFILE", "Too many open files"},
        Injection{"row23_no_memory_at_open", "open", "ENOMEM", "Cannot allocate memory"},
        Injection{"row23_no_memory_at_any_change", "*", "ENOMEM", "Cannot allocate memory"}),
    [](const auto& one) { return one.param.name; });

TEST_P(OneFault, is_a_clean_error_and_the_next_run_works) {
  // A run has hundreds of calls: first, fourth, thirteenth, ...; `cmd/dev test crash` takes more.
  int n = 1;
  for (int step = 0; fails_at(n) && !HasFailure(); ++step) {
    n += is_thorough() ? 1 + step / 10 : 1 + 2 * n;
  }
  EXPECT_GT(n, 1) << "no such call was ever made";
}

TEST(Faults, row22_a_lock_that_cannot_be_written_stays_as_it_was) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  ASSERT_EQ(lab.playground.run({"lock", lab.manifest.string()}).exit_code, 0);
  const auto old = lab.lock_text();
  lab.playground.write("demo.yaml", Lab::text("consumers: [triton]\n"));
  Faults faults(lab.playground);
  // The name of the temporary file beside it begins with a dot.
  for (const auto* rule : {"open:1:ENOSPC:/.demo", "write:1:ENOSPC:/.demo", "write:1:SHORT:/.demo",
                           "chmod:1:EIO:/.demo", "fsync:1:EIO:/.demo", "close:1:ENOSPC:/.demo",
                           "rename:1:EIO:demo.lock.yaml"}) {
    faults.fail(rule);
    const auto failed = lab.playground.run({"lock", lab.manifest.string()});
    const bool is_short = std::string_view(rule).find("SHORT") != std::string_view::npos;
    EXPECT_EQ(failed.exit_code, is_short ? 0 : 6) << rule << failed.errors;
    EXPECT_THAT(faults.report(), HasSubstr("demo.lock.yaml")) << rule;
    if (is_short) { // a write may take less than it was given; the rest follows
      EXPECT_NE(lab.lock_text(), old);
      lab.playground.write("demo.lock.yaml", old);
    } else {
      EXPECT_THAT(failed.errors, HasSubstr("demo.lock.yaml"));
      EXPECT_EQ(lab.lock_text(), old) << rule;
    }
    const auto names = list_directory(lab.playground.path()).value();
    for (const auto& name : names) {
      EXPECT_FALSE(name.starts_with(".demo")) << rule << " left " << name;
    }
    faults.forget();
  }
  lab.expect_rerun("after all");
  EXPECT_NE(lab.lock_text(), old);
}

TEST(Faults, row22_a_small_disk_that_is_full_leaves_nothing_half) {
  const Lab lab(1'500'000);
  const auto disk = lab.playground.home();
  ASSERT_TRUE(make_directories(disk));
  if (::geteuid() != 0 || ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "mounting a small file system needs root";
  }
  for (const auto* size : {"size=1m", "size=1700k", "size=2m", "size=2600k"}) {
    ASSERT_EQ(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, size), 0) << size;
    const auto failed = lab.up();
    EXPECT_EQ(failed.exit_code, 6) << size << failed.errors;
    EXPECT_THAT(failed.errors, HasSubstr("No space left")) << size;
    EXPECT_THAT(failed.errors, HasSubstr("need")) << size;
    EXPECT_THAT(failed.errors, HasSubstr("free")) << size;
    EXPECT_THAT(failed.errors, HasSubstr("next:")) << size;
    EXPECT_THAT(lab.playground.names_in("trees"), IsEmpty()) << size;
    EXPECT_THAT(lab.playground.names_in("names"), IsEmpty()) << size;
    lab.expect_whole(size);
  }
  EXPECT_EQ(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  lab.expect_rerun("with room");
  EXPECT_EQ(::umount2(disk.c_str(), MNT_DETACH), 0);
}

TEST(Faults, row23_a_low_limit_of_open_files_is_lived_with_or_named) {
  if (const auto why = no_faults_because(); !why.empty()) {
    GTEST_SKIP() << "sanitizers open pipes of their own to look at memory, and report what they "
                    "cannot look at";
  }
  const Lab lab;
  for (const int limit : {6, 8, 12, 16, 24, 32, 64, 256}) {
    lab.begin_anew();
    Command command;
    command.arguments = {"/bin/sh",
                         "-c",
                         fmt::format("ulimit -n {}; exec \"$0\" \"$@\"", limit),
                         CUKIT_BINARY,
                         "up",
                         "--no-validate",
                         lab.manifest.string()};
    command.environment = lab.playground.environment;
    command.directory = lab.playground.path().string();
    const auto finished = run_command(command);
    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->signal, 0) << limit << finished->errors;
    EXPECT_THAT(finished->exit_code, AnyOf(0, 4, 6, 127)) << limit << finished->errors;
    if (finished->exit_code == 6) {
      EXPECT_THAT(finished->errors, HasSubstr("ulimit -n")) << limit;
    }
    lab.expect_whole("limit " + std::to_string(limit));
    if (limit == 256) {
      EXPECT_EQ(finished->exit_code, 0) << finished->errors;
    }
  }
  lab.expect_rerun("without a limit");
}

TEST(Faults, row23_a_low_limit_of_memory_is_lived_with_or_named) {
  if (const auto why = no_faults_because(); !why.empty()) {
    GTEST_SKIP() << "sanitizers want address space without a limit";
  }
  const Lab lab;
  int refusals = 0;
  for (int megabytes = 24; megabytes <= 600; megabytes += megabytes / 4) {
    lab.begin_anew();
    Command command;
    command.arguments = {"/bin/sh",
                         "-c",
                         fmt::format("ulimit -v {}; exec \"$0\" \"$@\"", megabytes * 1024),
                         CUKIT_BINARY,
                         "up",
                         "--no-validate",
                         lab.manifest.string()};
    command.environment = lab.playground.environment;
    command.directory = lab.playground.path().string();
    const auto finished = run_command(command);
    ASSERT_TRUE(finished);
    const auto limit = fmt::format("{} MB: {}", megabytes, finished->errors);
    if (finished->errors.find("error while loading shared libraries") != std::string::npos ||
        finished->errors.find("cannot allocate memory in static TLS") != std::string::npos) {
      continue; // the program was never started
    }
    EXPECT_EQ(finished->signal, 0) << limit;
    EXPECT_THAT(finished->exit_code, AnyOf(0, 4, 6)) << limit;
    refusals += finished->exit_code == 0 ? 0 : 1;
    lab.expect_whole(limit);
  }
  EXPECT_GT(refusals, 0) << "no limit was too low";
  lab.expect_rerun("without a limit");
}

TEST(Faults, row35_a_file_system_without_locks_is_refused_by_name) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  Faults faults(lab.playground);
  for (const auto* error : {"ENOLCK", "ENOSYS", "EOPNOTSUPP"}) {
    lab.begin_anew();
    faults.fail(fmt::format("flock:1+:{}", error));
    const auto refused = lab.up();
    EXPECT_EQ(refused.exit_code, 6) << error << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr("keeps no locks")) << error;
    EXPECT_THAT(refused.errors, HasSubstr("CUKIT_HOME")) << error;
    EXPECT_THAT(lab.playground.names_in("store"), IsEmpty());
    faults.forget();
  }
  lab.expect_rerun("on a disk with locks");
}

TEST(Faults, row35_a_folder_of_locks_that_cannot_be_written_is_named) {
  CUKIT_NEEDS_FAULTS()
  Lab lab;
  ASSERT_EQ(lab.up().exit_code, 0);
  lab.playground.write("demo.yaml", Lab::text("consumers: [triton]\n"));
  Faults faults(lab.playground);
  faults.fail("open:1+:EROFS:home/locks/");
  const auto refused = lab.up();
  EXPECT_EQ(refused.exit_code, 6) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("home/locks/"));
  EXPECT_THAT(refused.errors, HasSubstr("next:"));
  faults.forget();
  lab.expect_rerun("with a folder that can be written");
}

} // namespace
} // namespace cukit::test

// Locks from the outside: checked, upgraded, compared, explained.
#include "base/strings.hpp"
#include "support/cukit_program.hpp"
#include "support/fake_index.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_manifest =
    "cukit: 1\nname: demo\ngpus: [sm_90]\nplatforms: [linux-x86_64]\n";

class Locking : public ::testing::Test {
protected:
  Locking() : index(server) {
    index.add_release("13.0.99", "13.0.188");
    index.publish();
    playground.environment.set("CUKIT_INDEX_URL", index.url());
    manifest = playground.write("demo.yaml", k_manifest).string();
    lock_file = (playground.path() / "demo.lock.yaml").string();
  }
  Finished run(std::vector<std::string> arguments) const {
    return playground.run(std::move(arguments));
  }
  void lock() const {
    const auto done = run({"lock", manifest});
    ASSERT_EQ(done.exit_code, 0) << done.errors;
  }
  std::string text() const { return read_file(lock_file, 1U << 20U).value_or(""); }
  void edit(const std::string& from, const std::string& to) const {
    auto changed = text();
    ASSERT_NE(changed.find(from), std::string::npos) << from;
    changed.replace(changed.find(from), from.size(), to);
    playground.write("demo.lock.yaml", changed);
  }
  void add_newer() {
    index.set_upload_time("2026-06-01T00:00:00Z");
    index.add_release("13.0.100", "13.0.190");
    index.publish();
  }

  FaultServer server;
  FakeIndex index;
  Playground playground;
  std::string manifest;
  std::string lock_file;
};

TEST_F(Locking, check_says_what_is_wrong_and_writes_nothing) {
  const auto missing = run({"lock", "--check", manifest});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.errors, HasSubstr("there is none yet"));
  EXPECT_FALSE(path_exists(lock_file));
  lock();
  EXPECT_EQ(run({"lock", "--check", manifest}).exit_code, 0);
  EXPECT_EQ(run({"lock", manifest}).exit_code, 0);
}

TEST_F(Locking, a_lock_that_was_changed_by_hand_is_noticed_and_made_again) {
  lock();
  const auto good = text();
  edit("version: \"13.0.188\"", "version: \"13.0.187\"");
  const auto check = run({"lock", "--check", manifest});
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_THAT(check.errors, testing::AnyOf(HasSubstr("changed by hand"), HasSubstr("rule")));
  EXPECT_EQ(run({"up", "--locked", "--no-validate", manifest}).exit_code, 1);
  ASSERT_EQ(run({"lock", manifest}).exit_code, 0);
  EXPECT_EQ(text(), good);
  edit("assembly:", "# reviewed\nassembly:");
  EXPECT_THAT(run({"lock", "--check", manifest}).errors, HasSubstr("line 3"));
}

TEST_F(Locking, a_lock_of_a_newer_format_is_refused_by_name) {
  lock();
  edit("cukit-lock: 1", "cukit-lock: 99");
  const auto refused = run({"lock", "--check", manifest});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("format 99"), HasSubstr("newer cukit")));
}

TEST_F(Locking, an_upgrade_shows_what_changes) {
  lock();
  add_newer();
  const auto kept = run({"lock", manifest});
  EXPECT_THAT(kept.output, HasSubstr("unchanged"));
  const auto explained = run({"lock", "--explain", manifest});
  EXPECT_EQ(explained.exit_code, 0) << explained.errors;
  EXPECT_THAT(text(), HasSubstr("13.0.99"));
  const auto upgraded = run({"lock", "--upgrade", manifest});
  EXPECT_EQ(upgraded.exit_code, 0) << upgraded.errors;
  EXPECT_THAT(upgraded.output, AllOf(HasSubstr("nvcc"), HasSubstr("13.0.188 -> 13.0.190"),
                                     HasSubstr("to download")));
  EXPECT_THAT(text(), HasSubstr("13.0.100"));
}

TEST_F(Locking, an_upgrade_of_one_component_names_unknown_ones) {
  lock();
  add_newer();
  const auto unknown = run({"lock", "--upgrade=nvc", manifest});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("nvcc"));
  EXPECT_EQ(run({"lock", "--upgrade=cuda", manifest}).exit_code, 0);
  EXPECT_THAT(text(), HasSubstr("13.0.100"));
}

TEST_F(Locking, exclude_newer_goes_back_in_time) {
  add_newer();
  lock();
  EXPECT_THAT(text(), HasSubstr("13.0.100"));
  const auto older = run({"lock", "--exclude-newer", "2026-01-31", manifest});
  EXPECT_EQ(older.exit_code, 0) << older.errors;
  EXPECT_THAT(text(), HasSubstr("13.0.99"));
  const auto nothing = run({"lock", "--exclude-newer", "2025-12-31", manifest});
  EXPECT_EQ(nothing.exit_code, 4) << nothing.output;
  EXPECT_EQ(run({"lock", "--exclude-newer", "soon", manifest}).exit_code, 2);
}

TEST_F(Locking, files_without_a_time_are_left_out_with_a_note) {
  index.set_upload_time("");
  index.add_release("13.0.101", "13.0.191");
  index.publish();
  const auto done = run({"lock", "--exclude-newer", "2026-01-31", manifest});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("states no upload time"));
  EXPECT_THAT(text(), HasSubstr("13.0.99"));
}

TEST_F(Locking, what_is_assumed_stands_for_a_machine_that_is_not_there) {
  playground.write("demo.yaml", "cukit: 1\nname: demo\ngpus: native\nplatforms: [linux-x86_64]\n");
  const auto done = run({"lock", "--assume-gpu", "sm_120", manifest});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(text(), AllOf(HasSubstr("gpus: [sm_120]"), HasSubstr("assumed: [gpus]")));
  const auto wrong = run({"lock", "--assume-driver", "580", manifest});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("driver: native"));
}

TEST_F(Locking, diff_compares_two_locks) {
  lock();
  const auto before = playground.write("before.lock.yaml", text());
  EXPECT_THAT(run({"diff", before.string(), manifest}).output, HasSubstr("the same toolkit"));
  add_newer();
  ASSERT_EQ(run({"lock", "--upgrade", manifest}).exit_code, 0);
  const auto words = run({"diff", "--exit-code", before.string(), lock_file});
  EXPECT_EQ(words.exit_code, 1);
  EXPECT_THAT(words.output, HasSubstr("CUDA 13.0.99 -> 13.0.100"));
  const auto json = run({"diff", "--json", before.string(), lock_file});
  EXPECT_THAT(json.output, AllOf(HasSubstr("\"schema\": \"cukit.diff/1\""), HasSubstr("13.0.190")));
}

TEST_F(Locking, why_explains_components_files_and_gpus) {
  const auto done = run({"up", "--no-validate", manifest});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(run({"why", "nvvm", "--of", manifest}).output,
              AllOf(HasSubstr("nvvm 13.0.188"), HasSubstr("group core")));
  EXPECT_THAT(run({"why", "gpu", "sm_90"}).output, HasSubstr("served by"));
  EXPECT_EQ(run({"why", "gpu", "sm_80"}).exit_code, 1);
  const auto file = run({"why", "nvvm/bin/cicc"});
  EXPECT_EQ(file.exit_code, 0) << file.errors;
  EXPECT_THAT(file.output, AllOf(HasSubstr("belongs to"), HasSubstr("nvvm 13.0.188")));
  const auto made = run({"why", "lib64/stubs/libcuda.so"});
  EXPECT_THAT(made.output, AllOf(HasSubstr("lib64 -> lib"), HasSubstr("cukit, which makes it")));
  EXPECT_EQ(run({"why", "bin/nothing"}).exit_code, 2);
}

TEST_F(Locking, the_matrix_fits_into_80_columns) {
  const auto table = run({"matrix", "--driver", "580"});
  ASSERT_EQ(table.exit_code, 0) << table.errors;
  for (const auto line : split(table.output, '\n')) {
    EXPECT_LE(line.size(), 80U) << line;
  }
  EXPECT_THAT(run({"matrix", "sm_90", "--cuda", "13", "--json"}).output,
              HasSubstr("\"schema\": \"cukit.matrix/1\""));
  EXPECT_EQ(run({"matrix", "--cuda", "99"}).exit_code, 2);
}

TEST_F(Locking, a_log_becomes_a_manifest_with_what_the_doctor_says_of_it) {
  const auto log =
      playground.write("build.log", "flashinfer/jit/cpp_ext.py: building\n"
                                    "nvcc fatal   : Unsupported gpu architecture 'compute_120a'\n");
  const auto made = run({"init", "-o", "-", "--log", log.string()});
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_THAT(made.output, AllOf(HasSubstr("gpus: [sm_120a]"), HasSubstr("build.log:2: "),
                                 HasSubstr("this nvcc does not compile for the target")));
  // a failure that names no target is known all the same
  const auto other = playground.write("other.log", "/usr/bin/ld: cannot find -lcudart\n");
  EXPECT_THAT(run({"init", "-o", "-", "--log", other.string()}).output, HasSubstr("other.log:1: "));
  const auto nothing = playground.write("nothing.log", "make: nothing to be done\n");
  EXPECT_EQ(run({"init", "-o", "-", "--log", nothing.string()}).exit_code, 2);
}

TEST_F(Locking, why_knows_a_file_before_there_is_a_tree) {
  lock();
  const auto told = run({"why", "--of", manifest, "bin/cicc"});
  EXPECT_EQ(told.exit_code, 0) << told.errors;
  EXPECT_THAT(told.output, HasSubstr("nvvm 13.0.188"));
  EXPECT_EQ(run({"why", "--of", manifest, "bin/nothing"}).exit_code, 2);
}

TEST_F(Locking, init_writes_a_manifest_that_locks) {
  FaultServer other; // a third number of 20 and more would be one of a build
  FakeIndex usual(other);
  usual.add_release("13.0.9", "13.0.189");
  usual.publish();
  playground.environment.set("CUKIT_INDEX_URL", usual.url());
  lock();
  const auto made = run({"init", "-o", "new.yaml", "--from-lock", manifest});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const auto again = run({"lock", "new.yaml"});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  const auto same = run({"diff", manifest, "new.yaml"});
  EXPECT_THAT(same.output, Not(HasSubstr("13.0.189 ->")));
  EXPECT_EQ(run({"init", "-o", "new.yaml"}).exit_code, 2); // it exists
  EXPECT_THAT(run({"init", "-o", "-", "--gpu", "H100"}).output, HasSubstr("gpus: [sm_90]"));
}

} // namespace
} // namespace cukit::test

// The doctor as a user starts it.
#include "support/cukit_program.hpp"
#include "support/fake_root.hpp"
#include "text/json.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Doctor : public testing::Test {
protected:
  void drift() const {
    root.toolkit("/usr/local/cuda", "13.2.78");
    root.headers("/usr/local/cuda/include", "13.0");
  }
  [[nodiscard]] Finished doctor(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"doctor", "--root", root.path().string(), "--env",
                                       environment.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return playground.run(arguments);
  }
  Playground playground;
  FakeRoot root;
  fs::path environment =
      playground.write("image.env", "PATH=/usr/local/cuda/bin:/usr/bin\nHOME=/home/user\n");
};

TEST_F(Doctor, a_finding_is_an_exit_code_of_one_and_json_by_its_contract) {
  drift();
  const auto done = doctor({"--json"});
  EXPECT_EQ(done.exit_code, 1) << done.errors;
  const auto json = text::Json::parse(done.output, "output");
  ASSERT_TRUE(json) << done.output;
  EXPECT_EQ(json->text_of("schema"), "cukit.doctor/1");
  const auto& finding = json->find("findings")->items().at(0);
  EXPECT_EQ(finding.text_of("id"), "headers-differ");
  EXPECT_EQ(finding.text_of("severity"), "error");
  EXPECT_FALSE(finding.find("evidence")->items().at(0).text_of("path").empty());
  EXPECT_FALSE(finding.find("fix")->items().at(0).text_of("command").empty());
  const auto& consumer = json->find("consumers")->items().at(0);
  EXPECT_EQ(consumer.text_of("name"), "cmake");
  EXPECT_EQ(consumer.find("nvcc")->text_of("version"), "13.2.78");
  EXPECT_EQ(consumer.find("headers")->text_of("version"), "13.0");
  EXPECT_EQ(consumer.text_of("verdict"), "fails");
}

TEST_F(Doctor, a_sound_image_works_and_gives_zero) {
  root.toolkit("/usr/local/cuda", "13.0.88");
  const auto done = doctor();
  EXPECT_EQ(done.exit_code, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("works"));
  EXPECT_THAT(done.output, Not(HasSubstr("error")));
}

TEST_F(Doctor, nothing_of_the_callers_environment_leaks_into_a_root) {
  root.toolkit("/usr/local/cuda", "13.0.88");
  playground.environment.set("CUDA_HOME", "/nowhere");
  playground.environment.set("NVCC_PREPEND_FLAGS", "-ccbin=");
  EXPECT_EQ(doctor().exit_code, 0);
}

TEST_F(Doctor, a_snapshot_tells_the_same_story_elsewhere) {
  drift();
  const auto taken =
      playground.run({"snapshot", "--root", root.path().string(), "--env", environment.string()});
  ASSERT_EQ(taken.exit_code, 0) << taken.errors;
  EXPECT_THAT(taken.output, Not(HasSubstr(root.path().string())));
  const auto file = playground.write("machine.json", taken.output);
  const auto there = playground.run({"doctor", "--json", "--from", file.string()});
  EXPECT_EQ(there.exit_code, 1);
  EXPECT_EQ(there.output, doctor({"--json"}).output);
}

TEST_F(Doctor, a_log_alone_is_enough_and_may_come_from_a_file) {
  const auto log = playground.write(
      "build.log",
      "ptxas x.ptx, line 9; fatal   : Unsupported .version 9.2; current version is '9.0'\n");
  const auto done = doctor({"--log", log.string()});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.output, HasSubstr("[cicc-differs]"));
  EXPECT_THAT(done.output, HasSubstr("log:1"));
}

TEST_F(Doctor, explains_its_rules_and_knows_what_was_meant) {
  const auto known = playground.run({"doctor", "--explain", "headers-differ"});
  EXPECT_EQ(known.exit_code, 0);
  EXPECT_THAT(known.output, HasSubstr("CUDART_VERSION"));
  const auto unknown = playground.run({"doctor", "--explain", "header-differ"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("did you mean `headers-differ`?"));
  EXPECT_THAT(playground.run({"doctor", "--rules"}).output, HasSubstr("older-toolkit-first"));
  EXPECT_EQ(playground.run({"doctor", "--consumer", "flashinver"}).exit_code, 2);
}

TEST_F(Doctor, everything_behind_watch_is_the_builds) {
  const auto good =
      playground.run({"doctor", "--watch", "sh", "-c", "echo $0 $1", "--json", "-j8"});
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.errors, "--json -j8\n");
  const auto bad = playground.run(
      {"doctor", "--json", "--watch", "sh", "-c",
       "echo \"nvcc fatal   : Unsupported gpu architecture 'compute_120f'\"; exit 1"});
  EXPECT_EQ(bad.exit_code, 1);
  const auto json = text::Json::parse(bad.output, "output");
  ASSERT_TRUE(json) << bad.output;
  EXPECT_FALSE(json->find("findings")->items().empty());
  EXPECT_EQ(playground.run({"doctor", "--watch"}).exit_code, 2);
  EXPECT_EQ(playground.run({"doctor", "--watch", "cukit-has-no-such-program"}).exit_code, 6);
}

TEST_F(Doctor, watches_a_build_and_is_silent_when_it_works) {
  const auto good = playground.run({"doctor", "--watch", "--", "sh", "-c", "echo built"});
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.output, "");
  EXPECT_EQ(good.errors, "built\n");
  const auto bad =
      playground.run({"doctor", "--watch", "--", "sh", "-c",
                      "echo 'nvlink fatal: elfLink linker library load error' >&2; exit 3"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.output, HasSubstr("[dlto-library-missing]"));
}

} // namespace
} // namespace cukit::test

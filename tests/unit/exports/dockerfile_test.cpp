// A build context: what its stages keep, who they run as, and what proves that the tree is the one.
#include "base/strings.hpp"
#include "exports/dockerfile.hpp"
#include "exports/variable_files.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::exports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

DockerfileRequest request() {
  return {.manifest = "cukit: 1\n",
          .lock = "cukit-lock: 1\n",
          .content = "sha256:0123",
          .variables = "ENV CUDA_HOME=\"/opt/cuda\"\n",
          .title = "CUDA 13.0.3, made by cukit",
          .place = "/opt/cuda"};
}

/// The lines of a stage, without FROM.
std::string stage(const std::string& dockerfile, const std::string& name) {
  const auto begin = dockerfile.find(" AS " + name + "\n");
  EXPECT_NE(begin, std::string::npos) << name;
  return dockerfile.substr(begin, dockerfile.find("\nFROM ", begin) - begin);
}

TEST(Dockerfile, both_final_stages_are_run_by_a_user_and_hold_what_they_need_alone) {
  const auto files = docker_context(request()).value();
  const auto& text = files.at("Dockerfile");
  const auto jit = stage(text, "jit");
  const auto libs = stage(text, "libs");
  EXPECT_TRUE(jit.ends_with("\nUSER cuda\n")) << jit;
  EXPECT_TRUE(libs.ends_with("\nUSER cuda\n")) << libs;
  EXPECT_THAT(jit, AllOf(HasSubstr("g++ ninja-build"), HasSubstr("\nENV CUDA_HOME=\"/opt/cuda\"\n"),
                         HasSubstr("COPY --from=tree /opt/cuda/ /opt/cuda/")));
  EXPECT_THAT(libs, AllOf(Not(HasSubstr("g++")), Not(HasSubstr("from=tree /opt/cuda/"))));
  EXPECT_EQ(text.find("COPY cukit"), std::string::npos) << "no layer keeps cukit";
  EXPECT_EQ(text.find('{' + std::string("place")), std::string::npos);
  EXPECT_THAT(files.at(".dockerignore"), HasSubstr("!cuda.lock.yaml"));
}

TEST(Dockerfile, the_tree_is_made_from_the_lock_and_compared_with_the_one_that_was_validated) {
  auto wanted = request();
  const auto text = [&] { return stage(docker_context(wanted).value().at("Dockerfile"), "tree"); };
  EXPECT_THAT(text(), AllOf(HasSubstr("up --locked --no-validate --prefix /opt/cuda "
                                      "/mnt/context/cuda.yaml"),
                            HasSubstr("= sha256:0123\n")));
  wanted.is_locked = false;
  wanted.content.clear();
  EXPECT_THAT(text(), AllOf(HasSubstr("up --frozen"), Not(HasSubstr("&& test"))));
}

TEST(Dockerfile, a_place_that_needs_quotes_is_refused) {
  for (const auto* place : {"cuda", "/opt/my cuda", "/opt/$HOME", "/opt/a\nRUN x", "/o'"}) {
    auto wanted = request();
    wanted.place = place;
    EXPECT_FALSE(docker_context(wanted)) << place;
  }
}

TEST(ImageVariables, lists_go_on_with_what_the_base_has) {
  ToolkitEnvironment toolkit;
  toolkit.tree = "/opt/cuda";
  toolkit.jit = "/home/me/jit/0123";
  toolkit.set = {{.name = "PATH", .value = "/opt/cuda/bin", .joins = Joins::before},
                 {.name = "XLA_FLAGS", .value = "--own", .joins = Joins::after},
                 {.name = "CUDA_HOME", .value = "/opt/cuda"},
                 {.name = "CACHE", .value = "/home/me/jit/0123/x"}};
  const auto own = image_variables(toolkit, {});
  EXPECT_EQ(own.at("PATH"),
            "/opt/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  EXPECT_EQ(own.at("XLA_FLAGS"), "--own");
  EXPECT_EQ(own.count("CACHE"), 0U);
  const auto joined = image_variables(
      toolkit,
      {{"PATH", "/base"}, {"XLA_FLAGS", "--base"}, {"CUDA_HOME", "/usr/local/cuda"}, {"A", "b"}});
  EXPECT_EQ(joined.at("PATH"), "/opt/cuda/bin:/base");
  EXPECT_EQ(joined.at("XLA_FLAGS"), "--base --own");
  EXPECT_EQ(joined.at("CUDA_HOME"), "/opt/cuda");
  EXPECT_EQ(joined.at("A"), "b");
}

} // namespace
} // namespace cukit::exports

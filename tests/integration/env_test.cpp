// `cukit env` and `cukit run` on a toolkit that stands: what the manifest, the venv and the last
// validation say goes into the variables, and a consumer is what its recipe says and no more.
#include "base/strings.hpp"
#include "store_fixture.hpp"
#include "support/fake_root.hpp"

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Env : public StoreRun {
protected:
  Env() {
    up("demo");
    playground.environment.set("PATH", "/usr/bin:/bin");
  }
  void program(const std::string& name) const {
    const auto file = at(name);
    ASSERT_TRUE(make_directories(file.parent_path()));
    ASSERT_TRUE(
        write_file_atomic(file, "#!/bin/sh\nexec g++ \"$@\"\n")); // it may be asked what it is
    ASSERT_EQ(::chmod(file.c_str(), 0755), 0);
  }
  void dist(const std::string& name) const {
    ASSERT_TRUE(make_directories(at("venv/lib/python3.11/site-packages") / (name + ".dist-info")));
    ASSERT_TRUE(write_file_atomic(at("venv/pyvenv.cfg"), "home = /usr/bin\n"));
  }
  [[nodiscard]] fs::path at(const std::string& name) const { return playground.path() / name; }
  /// As if the last `up` had validated with this compiler.
  void validated_with(const std::string& compiler) const {
    const auto report = playground.home() / "reports/seen.json";
    ASSERT_TRUE(make_directories(report.parent_path()));
    ASSERT_TRUE(write_file_atomic(report, "{\"schema\": \"cukit.validate/1\", \"host_compiler\": "
                                          "\"gcc 12.2.0 (" +
                                              compiler + ")\"}\n"));
    ASSERT_TRUE(write_file_atomic(playground.home() / "names/demo/current/report", "seen\n"));
  }
  [[nodiscard]] Finished env(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"env", "demo"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return playground.run(arguments);
  }
};

TEST_F(Env, a_host_compiler_that_the_manifest_pins_stands_instead_of_the_callers) {
  if (playground.environment.find_program("g++").empty()) {
    GTEST_SKIP() << "g++ is not installed";
  }
  program("gcc/bin/g++-13");
  const auto pinned = at("gcc/bin/g++-13").string();
  const auto manifest = playground.write("demo.yaml", manifest_of("demo", "13.0.188") +
                                                          "host: {compiler: " + pinned + "}\n");
  run({"up", "--no-validate", manifest.string()});
  playground.environment.set("CXX", "/opt/gcc/bin/g++");
  playground.environment.set("NVCC_CCBIN", "/opt/gcc/bin/g++");
  const auto done = playground.run({"env", manifest.string()});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  for (const auto* name : {"NVCC_CCBIN", "CUDAHOSTCXX", "CXX"}) {
    EXPECT_THAT(done.output, HasSubstr(std::string("export ") + name + "='" + pinned + "'\n"));
  }
  EXPECT_THAT(env().output, HasSubstr("export NVCC_CCBIN='" + pinned + "'\n")) << "by its name";
}

TEST_F(Env, a_callers_compiler_that_was_not_validated_is_named) {
  program("gcc/bin/g++");
  program("usual/g++");
  validated_with(at("usual/g++").string());
  playground.environment.set("PATH", at("usual").string() + ":/usr/bin:/bin");
  EXPECT_EQ(env().errors, "");
  playground.environment.set("CUDAHOSTCXX", at("gcc/bin/g++").string());
  const auto done = env();
  EXPECT_THAT(done.errors, AllOf(HasSubstr("CUDAHOSTCXX is " + at("gcc/bin/g++").string()),
                                 HasSubstr("validated with " + at("usual/g++").string()),
                                 HasSubstr("host: {compiler:")));
  EXPECT_THAT(done.output, Not(HasSubstr("export CUDAHOSTCXX=")));
  EXPECT_THAT(playground.run({"--quiet", "env", "demo"}).errors, "");
}

TEST_F(Env, another_usual_compiler_than_the_validated_one_is_not_taken) {
  program("usual/g++");
  program("kept/g++");
  validated_with(at("kept/g++").string());
  playground.environment.set("PATH", at("usual").string() + ":/usr/bin:/bin");
  EXPECT_THAT(env().output, HasSubstr("export NVCC_CCBIN='" + at("kept/g++").string() + "'\n"));
}

TEST_F(Env, a_variable_of_another_toolkit_is_taken_out_and_named) {
  program("other/bin/nvcc");
  playground.environment.set("PYTORCH_NVCC", at("other/bin/nvcc").string());
  playground.environment.set("CPATH", "/usr/include:" + at("other/include").string());
  ASSERT_TRUE(make_directories(at("other/include")));
  const auto done = env();
  EXPECT_THAT(done.output, AllOf(HasSubstr("\nunset PYTORCH_NVCC\n"),
                                 HasSubstr("export CPATH='/usr/include'\n")));
  EXPECT_THAT(done.errors, AllOf(HasSubstr("PYTORCH_NVCC led to"), HasSubstr("CPATH led to")));
  playground.environment.set("LD_LIBRARY_PATH", at("other/bin").string());
  const auto child = playground.run({"run", "demo", "--", "/usr/bin/env"});
  EXPECT_THAT(child.output, HasSubstr("LD_LIBRARY_PATH=" + at("other/bin").string()));
  EXPECT_THAT(child.errors, HasSubstr("LD_LIBRARY_PATH leads to " + at("other/bin").string()));
  EXPECT_THAT(child.output,
              AllOf(HasSubstr("CPATH=/usr/include\n"), Not(HasSubstr("\nPYTORCH_NVCC="))));
}

TEST_F(Env, it_asks_the_venv_which_triton_is_there) {
  dist("triton-3.4.0");
  const auto venv = at("venv").string();
  const auto done = env({"--venv", venv});
  EXPECT_THAT(done.output, Not(HasSubstr("export TRITON_PTXAS_PATH=")));
  EXPECT_THAT(done.errors, HasSubstr("triton 3.4.0 takes a ptxas <13"));
  playground.environment.set("VIRTUAL_ENV", venv);
  EXPECT_THAT(env().output, Not(HasSubstr("export TRITON_PTXAS_PATH=")));
  playground.environment.unset("VIRTUAL_ENV");
  EXPECT_THAT(env().output, HasSubstr("export TRITON_PTXAS_PATH="));
  EXPECT_EQ(env({"--venv", at("nowhere").string()}).exit_code, 2);
}

TEST_F(Env, unset_needs_no_toolkit_and_a_child_gets_the_variables_once) {
  const auto twice =
      playground.run({"run", "demo", "--", CUKIT_BINARY, "run", "demo", "--", "/usr/bin/env"});
  const auto path = "PATH=" + (tree("demo") / "bin").string() + ":/usr/bin:/bin\n";
  EXPECT_THAT(twice.output, HasSubstr("\n" + path)) << twice.errors;
  const auto back =
      playground.run({"run", "demo", "--", CUKIT_BINARY, "env", "--unset", "--shell", "plain"});
  EXPECT_THAT(back.output, HasSubstr("PATH=/usr/bin:/bin\n"));
  EXPECT_EQ(playground.run({"env", "--unset"}).exit_code, 0);
}

/// A consumer that exists in a folder of recipes alone.
class OwnConsumer : public Env {
protected:
  OwnConsumer() {
    std::error_code error;
    fs::copy(fs::path(CUKIT_SOURCE_DIR) / "recipes", at("recipes"), fs::copy_options::recursive,
             error);
    EXPECT_FALSE(error);
    EXPECT_TRUE(write_file_atomic(at("recipes/consumers/mine.yaml"), R"(summary: mine
needs: [core]
why: nobody but this test
environment: {MINE_ROOT: "{tree}", MINE_CACHE: "{jit}/mine"}
architectures: {variable: MINE_TARGETS, style: number, separator: ","}
reach: {programs: [MINE_NVCC]}
variables: [MINE_*]
caches:
  - {variable: MINE_CACHE, usual: .cache/mine, entries: ["*/built/*"], holds: builds}
discovery:
  present: [mine-cuda*]
  runtime: true
  nvcc: [env MINE_NVCC]
  root: [env MINE_ROOT]
  libraries: [lib64]
  links: [cudart]
versions:
  - {when: "<2", environment: {MINE_OLD_ROOT: "{tree}"}, discovery: {root: [env MINE_OLD_ROOT]}}
)"));
    root.toolkit("/cuda", "13.0.88");
    root.dist(root.venv("/venv", "2.11.0+cu130", "13.0"), "mine-cuda13x", "2.1");
    root.put("/user/.cache/mine/0.1/built/norm/build.ninja", "cuda_home = /opt/gone\n");
    playground.environment.set("HOME", real("/user"));
  }
  [[nodiscard]] std::string real(const std::string& path) const {
    return root.path().string() + path;
  }
  [[nodiscard]] Finished with_recipes(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--recipes", at("recipes").string()});
    return playground.run(arguments);
  }
  FakeRoot root;
};

TEST_F(OwnConsumer, init_and_env_know_it) {
  const auto made = with_recipes({"init", "--venv", real("/venv"), "-o", at("new.yaml").string()});
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_THAT(read_file(at("new.yaml"), 1U << 20U).value_or(""), HasSubstr("mine"));
  const auto set = with_recipes({"env", "demo", "--gpu", "sm_120"});
  EXPECT_THAT(set.output, AllOf(HasSubstr("export MINE_ROOT="), HasSubstr("/jit/"),
                                HasSubstr("export MINE_TARGETS='120'\n")));
  playground.environment.set("MINE_NVCC", real("/cuda/bin/nvcc"));
  EXPECT_THAT(with_recipes({"env", "demo"}).output, HasSubstr("\nunset MINE_NVCC\n"));
  root.dist(root.venv("/older"), "mine-cuda12x", "1.9");
  const auto older = with_recipes({"env", "demo", "--venv", real("/older")});
  EXPECT_THAT(older.output,
              AllOf(HasSubstr("export MINE_OLD_ROOT="), Not(HasSubstr("export MINE_ROOT="))));
}

TEST_F(OwnConsumer, doctor_finds_it_with_its_root_its_caches_and_their_fix) {
  playground.environment.set("MINE_ROOT", real("/cuda"));
  const std::vector<std::string> look{"doctor", "--venv", real("/venv"), "--gpu", "sm_90"};
  auto json = look;
  json.insert(json.begin(), "--json");
  const auto seen = with_recipes(json).output;
  EXPECT_THAT(seen, AllOf(HasSubstr("\"name\": \"mine\""), HasSubstr("\"version\": \"2.1\""),
                          HasSubstr(real("/cuda/bin/nvcc")), HasSubstr("cache-stale")));
  EXPECT_THAT(with_recipes(look).output, HasSubstr("mine"));
  auto fix = look;
  fix.insert(fix.end(), {"--consumer", "mine", "--fix", "--yes", "--no-validate"});
  const auto done = with_recipes(fix);
  EXPECT_THAT(done.errors, HasSubstr("removed " + real("/user/.cache/mine/0.1/built/norm")));
  EXPECT_FALSE(path_exists(real("/user/.cache/mine/0.1/built/norm"))) << done.output << done.errors;
  EXPECT_TRUE(path_exists(real("/user/.cache/mine")));
}

TEST_F(OwnConsumer, a_cache_is_followed_where_its_variable_leads_and_removed_there) {
  playground.environment.set("MINE_ROOT", real("/cuda"));
  playground.environment.set("MINE_CACHE", real("/elsewhere"));
  root.put("/elsewhere/7/built/x/build.ninja", "cuda_home = /opt/gone\n");
  const auto done = with_recipes({"doctor", "--venv", real("/venv"), "--gpu", "sm_90", "--consumer",
                                  "mine", "--fix", "--yes", "--no-validate"});
  EXPECT_FALSE(path_exists(real("/elsewhere/7/built/x"))) << done.output << done.errors;
  EXPECT_TRUE(path_exists(real("/user/.cache/mine/0.1/built/norm")));
}

} // namespace
} // namespace cukit::test

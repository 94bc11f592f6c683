// `doctor --fix --yes` on this machine: what is mended, and what is left to a person.
#include "store_fixture.hpp"
#include "support/fake_root.hpp"

#include <sys/stat.h>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DoctorFix : public StoreRun {
protected:
  DoctorFix() {
    // a toolkit of two releases, a venv that builds with it, and a cache that an older one filled
    root.toolkit("/cuda", "13.2.78");
    root.headers("/cuda/include", "13.0");
    root.dist(root.venv("/venv", "2.11.0+cu130", "13.0"), "flashinfer-python", "0.6.12");
    root.put("/user/.cache/flashinfer/0.6.12/90a/cached_ops/norm/build.ninja",
             "cuda_home = /opt/gone\\nnvcc = /opt/gone/bin/nvcc\\n");
    playground.environment.set("HOME", at("/user"));
    playground.environment.set("CUDA_HOME", at("/cuda"));
    playground.environment.set("PATH", at("/cuda/bin") + ":/usr/bin:/bin");
  }
  [[nodiscard]] std::string at(const std::string& path) const {
    return root.path().string() + path;
  }
  [[nodiscard]] Finished fix(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"doctor", "--venv", at("/venv"), "--gpu", "sm_90", "--fix"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return playground.run(arguments);
  }
  /// As above, asked about nvcc alone: what the small index can bring a toolkit for.
  [[nodiscard]] Finished bring() const {
    return fix({"--consumer", "cmake", "--yes", "--no-validate"});
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return read_file(playground.path() / name, 1U << 20U).value_or("");
  }
  FakeRoot root;
};

TEST_F(DoctorFix, a_plan_alone_changes_nothing) {
  const auto before = list_directory(playground.path()).value();
  const auto done = fix({});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.output, AllOf(HasSubstr("plan\n"), HasSubstr("(--yes does this)"),
                                 HasSubstr("cukit.env.sh")));
  EXPECT_EQ(list_directory(playground.path()).value(), before);
  EXPECT_TRUE(path_exists(at("/user/.cache/flashinfer/0.6.12/90a/cached_ops/norm")));
}

TEST_F(DoctorFix, yes_brings_a_toolkit_up_and_writes_its_variables) {
  playground.environment.set("CPATH", at("/cuda/include")); // leads to the broken one
  const auto done = bring();
  ASSERT_EQ(done.exit_code, 0) << done.output << done.errors;
  EXPECT_THAT(file("cukit.yaml"), HasSubstr("gpus: [sm_90]"));
  const auto variables = file("cukit.env.sh");
  EXPECT_THAT(variables, StartsWith("# Written by `cukit doctor --fix --yes`"));
  const auto toolkit = tree("cukit").string();
  EXPECT_THAT(variables, HasSubstr(toolkit));

  // a shell that reads it finds the new nvcc first, and the doctor is content there
  Command shell{.arguments = {"/bin/sh", "-c",
                              ". ./cukit.env.sh; "
                              "echo $CUDA_HOME ${CPATH-none}; command -v nvcc"}};
  shell.environment = playground.environment;
  shell.directory = playground.path().string();
  const auto said = run_command(shell);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->output, toolkit + " none\n" + toolkit + "/bin/nvcc\n") << said->errors;
}

TEST_F(DoctorFix, without_a_gpu_the_manifest_names_one_and_says_so) {
  if (path_exists("/proc/driver/nvidia/gpus")) {
    GTEST_SKIP() << "a GPU is here, and is named";
  }
  const auto done = playground.run(
      {"doctor", "--venv", at("/venv"), "--consumer", "cmake", "--fix", "--yes", "--no-validate"});
  EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  EXPECT_THAT(file("cukit.yaml"), AllOf(HasSubstr("gpus: [sm_90] #"), Not(HasSubstr("native"))));
  EXPECT_THAT(done.output, HasSubstr("none is known here"));
}

TEST_F(DoctorFix, of_warnings_alone_says_that_their_fixes_stand_above) {
  root.headers("/cuda/include", "13.2");
  root.remove("/user/.cache");
  playground.environment.set("CUDA_PATH", at("/other"));
  root.toolkit("/other", "13.2.78");
  const auto done = fix({"--consumer", "cmake"});
  EXPECT_EQ(done.exit_code, 0) << done.output;
  EXPECT_THAT(done.output, AllOf(HasSubstr("warning"), HasSubstr("no error: --fix mends errors")));
}

TEST_F(DoctorFix, a_toolkit_that_cukit_has_built_is_told_of_where_nothing_leads_to_it) {
  ASSERT_EQ(bring().exit_code, 0);
  playground.environment.unset("CUDA_HOME");
  playground.environment.set("PATH", "/usr/bin:/bin");
  const auto done = playground.run({"doctor", "--consumer", "cmake"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.output, HasSubstr("eval \"$(cukit env cukit)\"")) << done.output;
}

TEST_F(DoctorFix, a_stale_cache_goes_and_its_neighbours_stay) {
  root.put("/user/.cache/flashinfer/0.6.12/80/cached_ops/norm/build.ninja",
           "cuda_home = " + at("/cuda") + "\nnvcc = " + at("/cuda/bin/nvcc") + "\n");
  root.headers("/cuda/include", "13.2");
  const auto done = fix({"--yes", "--no-validate"});
  EXPECT_FALSE(path_exists(at("/user/.cache/flashinfer/0.6.12/90a/cached_ops/norm")))
      << done.output << done.errors;
  EXPECT_TRUE(path_exists(at("/user/.cache/flashinfer/0.6.12/80/cached_ops/norm/build.ninja")));
}

TEST_F(DoctorFix, nothing_outside_of_home_and_this_folder_is_touched) {
  const auto listing = [&] {
    std::map<std::string, std::uint64_t> sizes;
    for (const char* folder : {"/cuda", "/venv"}) {
      for (const auto& one : fs::recursive_directory_iterator(at(folder))) {
        sizes[one.path().string()] = one.is_regular_file() ? one.file_size() : 0;
      }
    }
    return sizes;
  };
  const auto before = listing();
  ASSERT_EQ(bring().exit_code, 0);
  EXPECT_EQ(listing(), before);
}

TEST_F(DoctorFix, files_of_a_person_are_left_alone) {
  playground.write("cukit.yaml", "cukit: 1\ngpus: [sm_80]\n");
  playground.write("cukit.env.sh", "export MINE=1\n");
  const auto done = fix({"--yes", "--no-validate"});
  EXPECT_THAT(done.errors, HasSubstr("left alone, it exists: cukit.yaml"));
  EXPECT_EQ(file("cukit.yaml"), "cukit: 1\ngpus: [sm_80]\n");
  EXPECT_EQ(file("cukit.env.sh"), "export MINE=1\n");
}

TEST_F(DoctorFix, a_second_time_does_the_same_again) {
  ASSERT_EQ(bring().exit_code, 0);
  const auto first = file("cukit.env.sh");
  const auto again = bring();
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(file("cukit.env.sh"), first);
}

TEST_F(DoctorFix, variables_of_a_failed_up_are_not_written) {
  playground.environment.set("CUKIT_INDEX_URL",
                             fmt::format("http://127.0.0.1:{}/nowhere/", server.port()));
  const auto done = fix({"--yes", "--no-validate"});
  EXPECT_NE(done.exit_code, 0);
  EXPECT_FALSE(path_exists(playground.path() / "cukit.env.sh"));
}

TEST_F(DoctorFix, the_plan_of_another_machine_is_not_carried_out_here) {
  const auto done = playground.run({"doctor", "--root", root.path().string(), "--fix", "--yes"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_FALSE(path_exists(playground.path() / "cukit.yaml"));
}

TEST_F(DoctorFix, an_environment_that_only_misleads_gets_variables_and_no_toolkit) {
  root.headers("/cuda/include", "13.2");
  playground.environment.set("NVCC_PREPEND_FLAGS", "-ccbin=");
  const auto done = fix({"--yes"});
  EXPECT_THAT(file("cukit.env.sh"), HasSubstr("\nunset NVCC_PREPEND_FLAGS\n")) << done.output;
}

TEST_F(DoctorFix, a_cache_where_a_variable_keeps_it_goes_as_the_plan_says) {
  root.headers("/cuda/include", "13.2");
  for (const char* name : {"TORCH_EXTENSIONS_DIR", "TVM_FFI_CACHE_DIR"}) {
    playground.environment.set(name, at("/scratch/jit"));
  }
  playground.environment.set("FLASHINFER_WORKSPACE_BASE", at("/scratch/base"));
  const std::string ops = "/scratch/base/.cache/flashinfer/0.6.12/90a/cached_ops/";
  root.put(ops + "norm/build.ninja", "cuda_home = /opt/gone\nnvcc = /opt/gone/bin/nvcc\n");
  root.put("/scratch/jit/ext/build.ninja", "nvcc = /opt/gone/bin/nvcc\n");
  root.put("/scratch/jit/ext/ext.so", "");
  root.put("/scratch/jit/mine/build.ninja", "nvcc = /opt/gone/bin/nvcc\n");
  root.put("/scratch/jit/mine/kernel.cu", "mine");
  root.put("/scratch/jit/notes.txt", "mine");
  const auto done = fix({"--yes"});
  EXPECT_FALSE(path_exists(at(ops + "norm"))) << done.output << done.errors;
  EXPECT_FALSE(path_exists(at("/scratch/jit/ext"))) << done.output << done.errors;
  EXPECT_TRUE(path_exists(at("/scratch/jit/mine/kernel.cu")));
  EXPECT_TRUE(path_exists(at("/scratch/jit/notes.txt")));
  EXPECT_THAT(done.errors, Not(HasSubstr("left alone")));
}

TEST_F(DoctorFix, errors_that_are_left_are_said_and_end_in_one) {
  root.headers("/cuda/include", "13.2");
  playground.write("build.log",
                   "AttributeError: module 'torch.utils' has no attribute 'cpp_extension'\n");
  const auto done = fix({"--yes", "--log", (playground.path() / "build.log").string()});
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.errors, AllOf(HasSubstr("left for you"), HasSubstr("[incomplete-import]")));
}

TEST_F(DoctorFix, variables_that_could_not_be_written_leave_their_errors) {
  root.headers("/cuda/include", "13.2");
  root.remove("/user/.cache");
  playground.environment.set("NVCC_PREPEND_FLAGS", "-ccbin=");
  playground.write("cukit.env.sh", "export MINE=1\n");
  const auto planned = fix({});
  EXPECT_THAT(planned.output, HasSubstr("(for you to do)"));
  EXPECT_THAT(planned.output, Not(HasSubstr("(--yes does this)")));
  const auto done = fix({"--yes"});
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("[ccbin-empty]"));
}

TEST_F(DoctorFix, a_plan_that_mends_all_ends_in_zero) {
  root.headers("/cuda/include", "13.2");
  root.remove("/user/.cache");
  playground.environment.set("NVCC_PREPEND_FLAGS", "-ccbin=");
  const auto done = fix({"--yes", "--consumer", "cmake"});
  EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  EXPECT_THAT(done.errors, Not(HasSubstr("left for you")));
}

TEST_F(DoctorFix, a_pipe_called_like_our_file_is_somebody_elses) {
  root.headers("/cuda/include", "13.2");
  playground.environment.set("NVCC_PREPEND_FLAGS", "-ccbin=");
  ASSERT_EQ(::mkfifo((playground.path() / "cukit.env.sh").c_str(), 0600), 0);
  const auto done = fix({"--yes"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.errors, HasSubstr("left alone, it exists: cukit.env.sh"));
}

} // namespace
} // namespace cukit::test

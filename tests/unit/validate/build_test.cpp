// build() with a shell script in place of nvcc, which leaves the cubins of tests/data/validate
// behind.
#include "validate/compile.hpp"
#include "validate/libraries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sys/stat.h>
#include <thread>

namespace cukit::validate {
namespace {

// Finds code=sm_X among its arguments, keeps that cubin and makes a program; a line `//! COMMAND`
// of the source is run first.
constexpr const char* k_nvcc = R"sh(#!/bin/sh
for word in "$@"; do
  case "$word" in
  arch=*,code=*) target=${word#*code=} ;;
  -arch=*) target=${word#-arch=} ;;
  *kernel.cu) source=$word ;;
  esac
done
cubin=DATA/$target.cubin
env >environment; printf '%s\n' "$@" >arguments
eval "$(sed -n 's,^//! ,,p' "$source")"
[ -z "$cubin" ] || cp "$cubin" keep/kernel.cubin
printf '#!/bin/sh\n[ -z "$2" ] || cp %s "$2"\necho number sum 12\n' "$emitted" >program
chmod 755 program
)sh";

class BuildTest : public testing::Test {
protected:
  void SetUp() override {
    auto created = TempDirectory::create(fs::temp_directory_path(), "cukit-build-");
    ASSERT_TRUE(created);
    folder_.emplace(std::move(*created));
    std::string script = k_nvcc;
    script.replace(script.find("DATA"), 4, std::string(CUKIT_TEST_DATA) + "/validate");
    put("tree/bin/nvcc", script, 0755);
    put("host/g++",
        "#!/bin/sh\ncase $1 in --version) echo 'g++ 12 Free Software Foundation';; -dump*) echo "
        "12.2.0;; esac\n",
        0755);
    put("recipes/kernels/common/probe.hpp", "");
    tree_.path = folder() / "tree";
    tree_.release = Version::parse("13.0.2").value();
    options_.gpus = {GpuTarget::parse("sm_90").value()};
    options_.environment.set("PATH", (folder() / "host").string());
    options_.environment.set("CUDA_HOME", "/wrong");
    options_.jobs = 2;
  }
  void put(const std::string& path, const std::string& text, unsigned mode = 0644) const {
    ASSERT_TRUE(make_directories((folder() / path).parent_path()));
    ASSERT_TRUE(write_file_atomic(folder() / path, text, mode));
  }
  void put_kernel(const std::string& name, const std::string& yaml = "",
                  const std::string& command = "") const {
    put("recipes/kernels/" + name + "/kernel.yaml", "summary: s\nsuites: [core]\n" +
                                                        (yaml.empty() ? "targets: plain\n" : yaml) +
                                                        "numbers: {sum: 12}\n");
    put("recipes/kernels/" + name + "/kernel.cu", command.empty() ? "" : "//! " + command + "\n");
  }
  Result<Report> try_build(const std::stop_token& stop = {}) {
    return build(tree_, knowledge::Knowledge::from(folder() / "recipes"), options_, out(), silent_,
                 stop);
  }
  Report built() {
    auto report = try_build();
    EXPECT_TRUE(report) << report.error().message;
    return report ? *std::move(report) : Report{};
  }
  BuildResult only_build() {
    const auto report = built();
    EXPECT_EQ(report.builds.size(), 1U);
    return report.builds.empty() ? BuildResult{} : report.builds.front();
  }
  [[nodiscard]] fs::path out() const { return folder() / "out"; }
  [[nodiscard]] const fs::path& folder() const { return folder_->path(); }

  assemble::Tree tree_;
  BuildOptions options_;
  Silent silent_;

private:
  std::optional<TempDirectory> folder_;
};

TEST_F(BuildTest, makes_a_folder_that_needs_nothing_else) {
  put_kernel("plain");
  const auto report = built();
  ASSERT_EQ(report.builds.size(), 1U);
  EXPECT_EQ(report.builds[0].state, State::passed) << report.builds[0].reason;
  EXPECT_EQ(report.release, "13.0.2");
  EXPECT_TRUE(report.host_compiler.starts_with("gcc 12.2.0")) << report.host_compiler;
  fs::remove_all(folder() / "tree");
  fs::rename(out(), folder() / "moved");
  const machine::Devices devices{
      .driver = std::nullopt,
      .gpus = {{.index = 0, .name = "H200", .uuid = "GPU-0", .target = {9, 0, 0}}},
      .why_none = ""};
  const auto run_report = run(folder() / "moved", devices, silent_, {});
  ASSERT_TRUE(run_report) << run_report.error().message;
  EXPECT_EQ(run_report->runs.at(0).state, State::passed) << run_report->runs.at(0).reason;
  EXPECT_EQ(list_directory(folder() / "moved").value(),
            (std::vector<std::string>{"bin", "bundle.json"}))
      << "no scratch is left";
}

TEST_F(BuildTest, compiles_each_kernel_for_the_form_of_each_gpu) {
  put_kernel("any");
  put_kernel("rich", "targets: specific\n");
  put_kernel("hopper", "targets: specific\nonly: [sm_90]\n");
  options_.gpus.push_back(GpuTarget::parse("sm_120").value());
  std::vector<std::string> seen;
  for (const auto& result : built().builds) {
    seen.push_back(fmt::format("{} {} {}", result.kernel, result.target, state_text(result.state)));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"any sm_90 passed", "any sm_120 passed",
                                            "hopper sm_90a passed", "hopper sm_120f not_applicable",
                                            "rich sm_90a passed", "rich sm_120f passed"}));
}

TEST_F(BuildTest, fails_when_the_machine_code_is_for_another_target) {
  put_kernel("plain", "", "cubin=" CUKIT_TEST_DATA "/validate/sm_90a.cubin");
  const auto result = only_build();
  EXPECT_EQ(result.state, State::failed);
  EXPECT_EQ(result.reason, "kernel.cubin holds machine code for sm_90a, wanted sm_90");
  EXPECT_FALSE(path_exists(out() / "bin/plain.sm_90"));
}

TEST_F(BuildTest, fails_when_one_of_several_cubins_is_for_another_target) {
  put_kernel("plain", "", "cp " CUKIT_TEST_DATA "/validate/sm_120.cubin keep/plain_dlink.cubin");
  EXPECT_NE(only_build().reason.find("plain_dlink.cubin holds machine code for sm_120"),
            std::string::npos);
}

TEST_F(BuildTest, fails_when_there_is_no_machine_code_to_check) {
  put_kernel("plain", "", "cubin=");
  EXPECT_EQ(only_build().reason, "nvcc left no machine code to check");
}

TEST_F(BuildTest, quotes_the_first_error_of_the_compiler) {
  put_kernel("plain", "",
             "echo 'kernel.cu(3): warning: x' >&2; echo '../../sources/plain/kernel.cu(4): error: "
             "no such y' >&2; exit 2");
  EXPECT_EQ(only_build().reason, "nvcc ended with code 2: plain/kernel.cu(4): error: no such y");
}

TEST_F(BuildTest, checks_what_a_program_compiles_at_run_time) {
  put_kernel("good", "targets: plain\nemits: true\n",
             "emitted=" CUKIT_TEST_DATA "/validate/sm_90.cubin");
  put_kernel("wrong", "targets: plain\nemits: true\n",
             "emitted=" CUKIT_TEST_DATA "/validate/sm_120.cubin");
  const auto report = built();
  ASSERT_EQ(report.builds.size(), 2U);
  EXPECT_EQ(report.builds[0].state, State::passed) << report.builds[0].reason;
  EXPECT_NE(report.builds[1].reason.find(
                "compiling at run time: emitted.cubin holds machine code for sm_120"),
            std::string::npos)
      << report.builds[1].reason;
}

TEST_F(BuildTest, gives_nvcc_an_environment_made_of_nothing) {
  put_kernel("plain", "",
             "cat environment >&2; echo error: >&2; [ -z \"$CUDA_HOME$HOME$LD_LIBRARY_PATH\" ] && "
             "[ \"$LANG\" = C ]"
             " && [ \"${PATH%%:*}\" = \"" +
                 (folder() / "tree/bin").string() + "\" ] || exit 1");
  EXPECT_EQ(only_build().state, State::passed);
}

TEST_F(BuildTest, does_not_apply_what_the_toolkit_has_no_component_for) {
  put_kernel("plain", "targets: plain\nneeds: [nvrtc]\n");
  auto result = only_build();
  EXPECT_EQ(result.state, State::not_applicable);
  EXPECT_EQ(result.reason, "the toolkit has no nvrtc");
  tree_.components["nvrtc"] = "13.0.88";
  EXPECT_EQ(only_build().state, State::passed);
}

TEST_F(BuildTest, row40_fails_when_a_library_that_a_program_loads_is_missing_in_the_tree) {
  put_kernel("plain", "targets: plain\nlibraries: [\"lib/libcudart.so.*\"]\n");
  ASSERT_TRUE(make_directories(folder() / "tree/lib"));
  const auto result = only_build();
  EXPECT_EQ(result.state, State::failed);
  EXPECT_EQ(result.reason, "the toolkit has no lib/libcudart.so.*");
}

TEST_F(BuildTest, brings_each_library_once_under_its_soname) {
  const fs::path data = fs::path(CUKIT_TEST_DATA) / "corpora/elf/made/libx-x86_64.so";
  const auto name = soname(data);
  ASSERT_TRUE(name) << name.error().message;
  put("tree/lib/libcudart.so.13.0.96", read_file(data, 1U << 20U).value());
  fs::create_symlink("libcudart.so.13.0.96", folder() / "tree/lib/libcudart.so.13");
  const auto files = copy_libraries(folder() / "tree", "lib/libcudart.so.*", out());
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(files->front().path.text(), "lib/" + *name);
  EXPECT_EQ(files->front().sha256, sha256_of_file(data).value());
}

TEST_F(BuildTest, replaces_an_earlier_bundle_but_leaves_other_folders_alone) {
  put_kernel("plain");
  put_kernel("old");
  built();
  EXPECT_TRUE(path_exists(out() / "bin/old.sm_90"));
  ASSERT_TRUE(remove_tree(folder() / "recipes/kernels/old"));
  built();
  EXPECT_FALSE(path_exists(out() / "bin/old.sm_90"));
  fs::remove(out() / "bundle.json");
  const auto report = try_build();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::usage);
  EXPECT_TRUE(path_exists(out() / "bin/plain.sm_90"));
}

TEST_F(BuildTest, goes_on_where_it_was_killed_and_removes_no_file_of_a_persons) {
  put_kernel("plain");
  put("out/.cukit-begun", "");
  put("out/bin/plain.sm_90", "half");
  put("out/.cukit-build-0123456789abcdef/work/kernel.cu", "half");
  built();
  EXPECT_EQ(list_directory(out()).value(), (std::vector<std::string>{"bin", "bundle.json"}));
  put("out/bin/mine", "mine");
  const auto refused = try_build();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("bin/mine"), std::string::npos);
  EXPECT_TRUE(path_exists(out() / "bin/mine"));
  EXPECT_TRUE(path_exists(out() / "bundle.json"));
  ASSERT_TRUE(remove_tree(out()));
  put("out/bundle.json", "{\"of\": \"something else\"}");
  put("out/lib/mine", "mine");
  EXPECT_FALSE(try_build());
  EXPECT_TRUE(path_exists(out() / "lib/mine"));
}

TEST_F(BuildTest, asks_for_one_target_and_no_ptx) {
  Toolchain toolchain;
  toolchain.tree = "/tree";
  toolchain.compiler.path = "/usr/bin/g++";
  Kernel kernel;
  kernel.name = "k";
  kernel.sources = {"kernel.cu"};
  const auto count = [](const std::vector<std::string>& words, const std::string& word) {
    return std::count(words.begin(), words.end(), word);
  };
  const auto plain = nvcc_arguments(toolchain, kernel, {12, 0, 'f'});
  EXPECT_EQ(count(plain, "-gencode"), 1);
  EXPECT_EQ(count(plain, "arch=compute_120f,code=sm_120f"), 1);
  EXPECT_EQ(count(plain, "$ORIGIN/../lib"), 1);
  EXPECT_EQ(plain.at(0), "/tree/bin/nvcc");
  kernel.flags = {"-dlto"};
  const auto lto = nvcc_arguments(toolchain, kernel, {9, 0, 0});
  EXPECT_EQ(count(lto, "-gencode"), 0);
  EXPECT_EQ(count(lto, "-arch=sm_90"), 1);
}

TEST_F(BuildTest, ends_at_once_when_it_is_asked_to_stop) {
  const auto fifo = folder() / "started";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  put_kernel("plain", "", "echo up >" + fifo.string() + "; exec tail -f /dev/null");
  std::stop_source source;
  const std::jthread stopper([&] {
    std::ifstream stream(fifo); // opens when the compiler does
    std::string word;
    stream >> word;
    source.request_stop();
  });
  const auto report = try_build(source.get_token());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::interrupted);
  EXPECT_FALSE(path_exists(out() / "bundle.json")) << "half a bundle is none";
}

TEST(TargetFor, is_the_richest_form_of_each_gpu_for_specific_kernels) {
  Kernel kernel;
  const auto form = [&](const char* gpu) {
    return target_for(kernel, GpuTarget::parse(gpu).value()).sm();
  };
  kernel.targets = "plain";
  EXPECT_EQ(form("sm_90"), "sm_90");
  EXPECT_EQ(form("sm_120a"), "sm_120a") << "as the user asked";
  kernel.targets = "specific";
  EXPECT_EQ(form("sm_90"), "sm_90a");
  EXPECT_EQ(form("sm_100"), "sm_100f");
  EXPECT_EQ(form("sm_110"), "sm_110f");
  EXPECT_EQ(form("sm_121"), "sm_121f");
  EXPECT_EQ(form("sm_120a"), "sm_120a");
  EXPECT_EQ(form("sm_86"), "sm_86") << "has no other form";
  kernel.targets = "plain";
  kernel.flags = {"-dlto"};
  EXPECT_EQ(form("sm_120f"), "sm_120");
  EXPECT_EQ(form("sm_90a"), "sm_90a");
}

} // namespace
} // namespace cukit::validate

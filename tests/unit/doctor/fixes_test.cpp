// What the doctor prints as a command and as a manifest, where names and paths of others try to
// become a command or a key of their own.
#include "base/child.hpp"
#include "base/strings.hpp"
#include "cases.hpp"
#include "text/node.hpp"

#include <set>

namespace cukit::doctor {
namespace {

using testing::Contains;
using testing::Not;

/// A text that leaves a file called `canary` behind wherever it is run.
class HostileNames : public testing::TestWithParam<std::string> {
protected:
  HostileNames() : folder(TempDirectory::create(fs::temp_directory_path(), "cukit-fix-").value()) {}

  /// Runs it in a shell in which no program is found: only a shell's own commands do anything.
  void expect_harmless(const Fix& fix) {
    Environment environment;
    environment.set("PATH", "/nowhere");
    const auto done = run_command({.arguments = {"/bin/bash", "-c", fix.command.text()},
                                   .environment = environment,
                                   .directory = folder.path().string()});
    ASSERT_TRUE(done.has_value());
    EXPECT_THAT(done->errors, Not(testing::HasSubstr("syntax error"))) << fix.command.text();
    EXPECT_FALSE(path_exists(folder.path() / "canary")) << fix.command.text();
    EXPECT_EQ(printable(fix.command.text()), fix.command.text());
    std::error_code error;
    fs::remove(folder.path() / "cukit.yaml", error);
  }
  void expect_harmless(const Diagnosis& diagnosis) {
    for (const auto& finding : diagnosis.findings) {
      seen.insert(finding.id);
      for (const auto& fix : finding.fix) {
        if (!fix.command.empty()) {
          expect_harmless(fix);
        }
        if (!fix.manifest.empty()) {
          expect_three_keys(fix.manifest);
        }
      }
    }
  }
  static void expect_three_keys(const std::string& manifest) {
    const auto root = text::parse_yaml(manifest, "manifest");
    ASSERT_TRUE(root) << root.error().message << "\n" << manifest;
    static const std::set<std::string> ours{"cukit", "gpus", "pytorch", "consumers"};
    for (const auto& [key, value] : root->members) {
      EXPECT_TRUE(ours.contains(key.scalar)) << manifest;
    }
  }

  TempDirectory folder;
  Scene scene;
  std::set<std::string> seen;
};

TEST_P(HostileNames, of_a_toolkit_stay_words) {
  const std::string root = "/opt/a" + GetParam();
  scene.root.toolkit(root, "13.0.88");
  scene.root.remove(root + "/lib64");
  scene.root.remove(root + "/include/crt");
  venv(scene, "vllm", "0.20.0");
  cuda_home(scene, root);
  gpu(scene, "sm_121");
  expect_harmless(diagnosis_of(scene));
  EXPECT_FALSE(seen.empty());
}

TEST_P(HostileNames, of_a_linked_compiler_stay_words_of_the_script_too) {
  scene.root.toolkit("/opt/b" + GetParam(), "13.0.88");
  scene.root.link("/opt/odd" + GetParam() + "/bin/nvcc", "/opt/b" + GetParam() + "/bin/nvcc");
  cuda_home(scene, "/opt/odd" + GetParam());
  expect_harmless(diagnosis_of(scene));
  EXPECT_TRUE(seen.contains("nvcc-linked-alone"));
}

TEST_P(HostileNames, of_a_venv_stay_words_and_add_nothing_to_the_manifest) {
  const std::string prefix = "/home/a" + GetParam();
  const auto site = scene.root.venv(prefix, "2.11.0+cu130", "13.0");
  scene.venvs.push_back(prefix);
  scene.root.dist(site, "flashinfer-python", "0.6.12");
  scene.root.wheels(site, {"13.2.78", "13.5.1", "13.2.78", "13.0.96", ""});
  gpu(scene, "sm_120");
  expect_harmless(diagnosis_of(scene));
  EXPECT_FALSE(seen.empty());
}

TEST_P(HostileNames, of_packages_stay_words) {
  const auto site = venv(scene, "flashinfer-python", "0.6.8");
  scene.root.dist(site, "flashinfer-cubin", "0.6.7");
  scene.root.dist(site, "torch-odd", "1.0", {"nvidia-cuda-nvcc==99" + GetParam()});
  scene.root.dist(site, "torch-odder", "1.0", {"nvidia-cuda-nvcc" + GetParam() + "==99"});
  scene.root.dist(site, "nvidia-cuda-nvcc", "13.0.88" + GetParam());
  scene.root.dist(site, "nvidia-x" + GetParam() + "-cu13", "0.0.1");
  expect_harmless(diagnosis_of(scene));
  EXPECT_FALSE(seen.empty());
}

TEST_P(HostileNames, of_a_host_compiler_stay_words) {
  scene.root.toolkit(k_local, "12.0.140");
  cuda_home(scene, k_local);
  scene.root.gxx("15.1.0");
  const std::string folder_of_older = "/opt/gcc" + GetParam() + "/bin";
  scene.root.put(folder_of_older + "/g++-12", "#!/bin/sh\necho 'g++ (GCC) 12.2.0'\n", 0755);
  scene.root.environment.set("PATH", "/usr/bin:" + folder_of_older);
  expect_harmless(diagnosis_of(scene));
  EXPECT_TRUE(seen.contains("host-compiler-too-new"));
}

INSTANTIATE_TEST_SUITE_P(all, HostileNames,
                         testing::Values("'; echo >canary; '", "$(echo >canary)", "`echo >canary`",
                                         "\necho >canary\n", "\"; echo >canary; \"",
                                         " ;echo >canary", "\nhost: {compiler: x}",
                                         ", host: {compiler: x}", "}\nhost: x #", "\\", "' \"",
                                         "\x1b[31m", "&& echo >canary #"));

TEST(Fixes, a_package_that_is_called_like_an_option_or_an_address_is_not_installed) {
  for (const char* name : {"-rfile", "--index-url=x", "http://x/y.whl", "../x"}) {
    survey::Snapshot snapshot;
    snapshot.pythons.push_back({.prefix = "/venv", .torch = "2.11.0+cu130", .torch_cuda = "13.0"});
    snapshot.pythons[0].extensions.push_back({"/venv/x.so", name, {"libcudart.so.12"}});
    const auto diagnosis = diagnose(snapshot, {}, knowledge::Knowledge::embedded());
    ASSERT_TRUE(diagnosis);
    ASSERT_FALSE(diagnosis->findings.empty());
    for (const auto& finding : diagnosis->findings) {
      for (const auto& fix : finding.fix) {
        EXPECT_THAT(fix.command.words(), Not(Contains(shell_word(name)))) << fix.text();
      }
    }
  }
}

TEST(Fixes, a_manifest_that_is_there_is_not_written_over) {
  Scene scene;
  scene.root.toolkit(k_local, "13.2.78");
  scene.root.headers(k_local + "/include", "13.0");
  cuda_home(scene, k_local);
  const auto folder = TempDirectory::create(fs::temp_directory_path(), "cukit-fix-").value();
  ASSERT_TRUE(create_file(folder.path() / "cukit.yaml", "mine"));
  bool is_offered = false;
  for (const auto& finding : diagnosis_of(scene).findings) {
    for (const auto& fix : finding.fix) {
      if (!fix.manifest.empty()) {
        is_offered = true;
        EXPECT_TRUE(run_command({.arguments = {"/bin/sh", "-c", fix.command.text()},
                                 .directory = folder.path().string()}));
      }
    }
  }
  EXPECT_TRUE(is_offered);
  EXPECT_EQ(read_file(folder.path() / "cukit.yaml", 100).value(), "mine");
}

TEST(Fixes, of_a_cache_variable_that_names_a_persons_folder_remove_the_stale_entry_alone) {
  Scene scene;
  const auto site = venv(scene, "torch-odd");
  scene.root.toolkit(k_local, "13.0.88");
  cuda_home(scene, k_local);
  for (const char* name : {"TORCH_EXTENSIONS_DIR", "TVM_FFI_CACHE_DIR"}) {
    scene.root.environment.set(name, "/home/user");
  }
  scene.root.dist(site, "apache-tvm-ffi", "0.1");
  const std::string ninja = "nvcc = /opt/gone/bin/nvcc\n";
  scene.root.put("/home/user/mine/build.ninja", ninja);
  scene.root.put("/home/user/mine/thesis.tex", "x");
  scene.root.put("/home/user/ext/build.ninja", ninja);
  std::vector<std::string> removed;
  for (const auto& finding : diagnosis_of(scene).findings) {
    for (const auto& fix : finding.fix) {
      removed.insert(removed.end(), fix.removes.begin(), fix.removes.end());
      if (!fix.removes.empty()) {
        EXPECT_EQ(fix.command.text(), "rm -rf /home/user/ext");
      }
    }
  }
  EXPECT_THAT(removed, testing::Each("/home/user/ext"));
  EXPECT_FALSE(removed.empty());
}

TEST(Findings, a_look_that_was_cut_short_explains_what_is_missing) {
  survey::Snapshot snapshot;
  snapshot.notes = {"after 8 GB the rest was not looked at"};
  snapshot.pythons.push_back({.prefix = "/venv",
                              .distributions = {{.name = "flashinfer-python", .version = "0.6.12"}},
                              .torch = "2.11.0+cu130",
                              .torch_cuda = "13.0"});
  const auto diagnosis = diagnose(snapshot, {}, knowledge::Knowledge::embedded());
  ASSERT_TRUE(diagnosis);
  ASSERT_FALSE(diagnosis->findings.empty());
  EXPECT_EQ(diagnosis->findings[0].id, "scan-cut-short");
  for (const auto& finding : diagnosis->findings) {
    EXPECT_NE(finding.id, "no-nvcc");
  }
}

} // namespace
} // namespace cukit::doctor

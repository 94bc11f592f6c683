// Whatever was seen, what comes out must be a manifest, and must say the same again.
#include "draft/draft.hpp"
#include "manifest/manifest.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <gmock/gmock.h>

namespace cukit::draft {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const knowledge::Knowledge& recipes() {
  static const auto knowledge = knowledge::Knowledge::embedded();
  return knowledge;
}

class DraftTest : public testing::Test {
protected:
  DraftTest()
      : folder_(std::move(*TempDirectory::create(fs::temp_directory_path(), "cukit-draft-"))) {}
  fs::path file(const std::string& name, const std::string& text) const {
    const auto path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  static Draft named() { return {.name = "test", .origin = "a test", .remarks = {}, .fields = {}}; }
  /// What the draft says once it is read as a manifest.
  static manifest::Manifest read(const Draft& draft) {
    auto manifest = manifest::parse(write(draft), "draft.yaml", recipes());
    EXPECT_TRUE(manifest.has_value()) << (manifest ? "" : manifest.error().message) << "\n"
                                      << write(draft);
    return manifest.value_or(manifest::Manifest());
  }
  TempDirectory folder_;
};

machine::Devices two_gpus() {
  machine::Devices devices;
  devices.driver = machine::Driver{.version = *Version::parse("580.95.05"), .cuda = {}};
  for (const auto& [name, target] :
       {std::pair("NVIDIA H200", "sm_90"), {"NVIDIA RTX PRO 6000 Blackwell", "sm_120"}}) {
    devices.gpus.push_back(
        {.index = 0, .name = name, .uuid = {}, .target = *GpuTarget::parse(target)});
  }
  return devices;
}

TEST_F(DraftTest, a_machine_with_gpus) {
  auto draft = named();
  add_machine(
      draft, two_gpus(),
      machine::Compiler{.path = "/usr/bin/g++", .kind = "gcc", .version = *Version::parse("12.2")});
  const auto manifest = read(draft);
  EXPECT_THAT(manifest.gpus, SizeIs(2));
  EXPECT_EQ(manifest.driver->text, ">=580");
  EXPECT_FALSE(manifest.host_compiler.has_value()); // a suggestion
  EXPECT_THAT(write(draft), AllOf(HasSubstr("# seen here: NVIDIA H200 (sm_90)"),
                                  HasSubstr("# host: {compiler: gcc}"), HasSubstr("580.95.05")));
}

TEST_F(DraftTest, a_machine_without_anything_still_gives_a_manifest) {
  auto draft = named();
  add_machine(draft, {}, std::nullopt);
  const auto manifest = read(draft);
  EXPECT_TRUE(manifest.native_gpus);
  EXPECT_FALSE(manifest.driver.has_value());
  EXPECT_THAT(write(draft), HasSubstr("--assume-gpu"));
}

TEST_F(DraftTest, a_venv_names_its_torch_and_its_consumers) {
  const auto site = "venv/lib/python3.12/site-packages/";
  file(std::string(site) + "torch/version.py",
       "__version__ = '2.11.0+cu130'\ncuda: Optional[str] = '13.0'\n");
  for (const auto* name : {"torch-2.11.0+cu130", "triton-3.6.0", "flashinfer_python-0.6.8",
                           "nvidia_cuda_nvcc-13.5.37", "nvidia_cuda_runtime-13.0.96"}) {
    fs::create_directories(folder_.path() / site / (std::string(name) + ".dist-info"));
  }
  const auto folder = folder_.path() / "venv";
  const auto venv = python::read_venv(folder, "test");
  ASSERT_TRUE(venv.has_value());
  EXPECT_EQ(venv->installed.at("flashinfer-python"), "0.6.8");
  auto draft = named();
  ASSERT_TRUE(add_venv(draft, *venv, folder, "venv", recipes()).has_value());
  add_machine(draft, {}, std::nullopt);
  const auto manifest = read(draft);
  EXPECT_EQ(manifest.pytorch_venv->text, "venv");
  EXPECT_THAT(manifest.consumers, SizeIs(3));
  EXPECT_THAT(write(draft), AllOf(HasSubstr("torch 2.11.0+cu130 there was built with CUDA 13.0"),
                                  HasSubstr("nvidia-cuda-nvcc 13.5.37 beside a torch of CUDA 13.0"),
                                  Not(HasSubstr("nvidia-cuda-runtime"))));
}

TEST_F(DraftTest, a_venvs_path_adds_no_key_of_its_own) {
  const std::string name = "a\"}\nhost: {compiler: \"x";
  file(name + "/lib/python3.12/site-packages/torch/version.py",
       "__version__ = '2.11.0+cu130'\ncuda: Optional[str] = '13.0'\n");
  const auto venv = python::read_venv(folder_.path() / name, "test");
  ASSERT_TRUE(venv.has_value());
  auto draft = named();
  ASSERT_TRUE(add_venv(draft, *venv, folder_.path() / name, name, recipes()).has_value());
  add_machine(draft, {}, std::nullopt);
  EXPECT_EQ(read(draft).pytorch_venv->text, name);
}

TEST_F(DraftTest, a_venv_that_is_none_or_holds_no_cuda_is_an_error) {
  EXPECT_EQ(python::read_venv(folder_.path() / "nothing", "m.yaml:3:1").error().where,
            "m.yaml:3:1");
  file("venv/lib/python3.12/site-packages/torch/version.py",
       "__version__ = '2.11.0+cpu'\ncuda = None\n");
  const auto venv = python::read_venv(folder_.path() / "venv", "test");
  ASSERT_TRUE(venv.has_value());
  EXPECT_THAT(python::torch_of(*venv, folder_.path(), "test").error().message,
              HasSubstr("built without CUDA"));
}

TEST_F(DraftTest, the_torch_of_a_systems_python_lies_in_dist_packages) {
  file("usr/local/lib/python3.11/dist-packages/torch/version.py",
       "__version__ = '2.11.0+cu130'\ncuda = '13.0'\n");
  const auto venv = python::read_venv(folder_.path() / "usr/local", "test");
  ASSERT_TRUE(venv.has_value());
  EXPECT_EQ(python::torch_of(*venv, folder_.path(), "test")->version, "2.11.0+cu130");
}

TEST_F(DraftTest, two_torches_are_an_error) {
  file("venv/lib/python3.11/site-packages/torch/version.py", "cuda = '13.0'\n");
  file("venv/lib/python3.12/site-packages/torch/version.py", "cuda = '13.0'\n");
  const auto venv = python::read_venv(folder_.path() / "venv", "test");
  EXPECT_THAT(python::torch_of(*venv, folder_.path(), "test").error().message,
              HasSubstr("2 copies of torch"));
}

TEST_F(DraftTest, a_lock_leads_to_a_manifest_with_its_wishes) {
  const auto lock = lock::load(fs::path(CUKIT_SOURCE_DIR) / "manifests/newer-ptxas.lock.yaml");
  ASSERT_TRUE(lock.has_value());
  auto draft = named();
  ASSERT_TRUE(add_lock(draft, *lock, "newer-ptxas.lock.yaml", recipes()).has_value());
  add_machine(draft, {}, std::nullopt);
  const auto manifest = read(draft);
  EXPECT_EQ(manifest.nvcc->text, lock->release.text());
  EXPECT_THAT(manifest.ptxas->text, testing::StartsWith("13."));
  EXPECT_THAT(manifest.gpus, SizeIs(2));
}

TEST_F(DraftTest, a_toolkit_folder_by_its_version_json) {
  file("cuda/version.json", R"({"cuda": {"name": "CUDA SDK", "version": "13.0.2"},
    "cuda_nvcc": {"name": "CUDA NVCC", "version": "13.0.88"},
    "libcublas": {"name": "CUDA cuBLAS", "version": "13.1.0.3"}})");
  file("cuda/include/cuda_runtime_api.h", "#define CUDART_VERSION  13000\n");
  auto draft = named();
  ASSERT_TRUE(add_tree(draft, folder_.path() / "cuda", recipes()).has_value());
  add_machine(draft, {}, std::nullopt);
  const auto manifest = read(draft);
  EXPECT_EQ(manifest.nvcc->text, "13.0.2");
  std::vector<std::string> components;
  for (const auto& wish : manifest.components) {
    components.push_back(wish.value);
  }
  EXPECT_THAT(components, testing::UnorderedElementsAre("core", "cublas"));
  EXPECT_THAT(draft.remarks, IsEmpty());
}

TEST_F(DraftTest, headers_of_another_release_are_noticed) {
  file("cuda/version.txt", "CUDA Version 12.8.1\n");
  file("cuda/include/cuda_runtime_api.h", "#define CUDART_VERSION  13020\n");
  auto draft = named();
  ASSERT_TRUE(add_tree(draft, folder_.path() / "cuda", recipes()).has_value());
  ASSERT_THAT(draft.remarks, SizeIs(1));
  EXPECT_THAT(draft.remarks[0], HasSubstr("headers are of 13.2"));
}

TEST_F(DraftTest, a_folder_that_is_no_toolkit) {
  auto draft = named();
  EXPECT_EQ(add_tree(draft, folder_.path(), recipes()).error().code, ErrorCode::usage);
}

TEST_F(DraftTest, a_failing_log_names_gpus_torch_and_compilers) {
  auto draft = named();
  const std::string log = "torch 2.11.0+cu130\nCuda compilation tools, release 12.8, V12.8.93\n"
                          "nvcc fatal   : Unsupported gpu architecture 'compute_120a'\n"
                          "/x/site-packages/flashinfer/jit/cpp_ext.py: error\n"
                          "-gencode=arch=compute_9000,code=sm_9000\n";
  ASSERT_TRUE(add_log(draft, log, "build.log", recipes()).has_value());
  add_machine(draft, two_gpus(), std::nullopt);
  const auto manifest = read(draft);
  ASSERT_THAT(manifest.gpus, SizeIs(1)); // what the log says goes before what is seen
  EXPECT_EQ(manifest.gpus[0].text, "sm_120a");
  EXPECT_EQ(manifest.pytorch_cuda->text, "cu130");
  ASSERT_THAT(manifest.consumers, SizeIs(1));
  EXPECT_EQ(manifest.consumers[0].value, "flashinfer");
  EXPECT_THAT(draft.remarks, testing::ElementsAre(HasSubstr("nvcc 12.8.93")));
}

TEST_F(DraftTest, lines_of_megabytes_are_read_like_any_other) {
  auto of_log = named();
  const auto log = "release 1." + std::string(4U << 20U, '1') + "\nsm_" +
                   std::string(4U << 20U, '1') + "\nrelease 12.8, V12.8.93 compute_90\n";
  ASSERT_TRUE(add_log(of_log, log, "build.log", recipes()).has_value());
  EXPECT_THAT(of_log.remarks, testing::ElementsAre(HasSubstr("nvcc 12.8.93")));

  auto of_tree = named();
  file("cuda/version.txt", "CUDA Version " + std::string(3U << 20U, '1') + "\nCUDA Version 12.8.1");
  file("cuda/include/cuda_runtime_api.h",
       "#define " + std::string(3U << 20U, ' ') + "CUDART_VERSION  13020\n");
  ASSERT_TRUE(add_tree(of_tree, folder_.path() / "cuda", recipes()).has_value());
  EXPECT_THAT(of_tree.remarks, testing::ElementsAre(HasSubstr("headers are of 13.2")));

  const auto version = file("venv/lib/python3.12/site-packages/torch/version.py",
                            "cuda: " + std::string(900U << 10U, 'x') +
                                "\n__version__ = '2.11.0+cu130'\ncuda: Optional[str] = \"13.0\"\n");
  const auto venv = python::read_venv(folder_.path() / "venv", "test");
  ASSERT_TRUE(venv.has_value());
  const auto torch = python::torch_of(*venv, folder_.path() / "venv", "test");
  ASSERT_TRUE(torch.has_value());
  EXPECT_EQ(torch->version, "2.11.0+cu130");
  EXPECT_EQ(torch->cuda.text(), "13.0");
}

TEST_F(DraftTest, what_only_resembles_a_target_or_a_version_is_passed_over) {
  auto draft = named();
  const std::string log = "sm_9 sm_1200 sm_90b sm_90af compute_ SM_90 release 12.8.1, V12.8.93 "
                          "release 12.8, V12.8 release , V1.2.3 +cu130 0+cu1300 0+cu13 ";
  EXPECT_FALSE(add_log(draft, log, "x.log", recipes()).has_value());
  ASSERT_TRUE(add_log(draft, log + "xsm_90f_ 0+cu130x", "x.log", recipes()).has_value());
  EXPECT_THAT(write(draft), AllOf(HasSubstr("pytorch: cu130"), Not(HasSubstr("gpus:"))));
  EXPECT_THAT(draft.remarks, IsEmpty());
}

TEST_F(DraftTest, a_log_of_something_else_is_an_error) {
  auto draft = named();
  EXPECT_EQ(add_log(draft, "make: nothing to be done\n", "x.log", recipes()).error().code,
            ErrorCode::usage);
}

TEST_F(DraftTest, what_is_hostile_in_a_source_stays_in_a_comment) {
  auto draft = named();
  file("cuda/version.json", "{\"cuda\": {\"version\": \"13.0.2\"}, \"cuda_nvcc\": {\"version\": "
                            "\"1\\nhost: {compiler: evil}\\u001b[31m\"}}");
  ASSERT_TRUE(add_tree(draft, folder_.path() / "cuda", recipes()).has_value());
  add_machine(draft, {}, std::nullopt);
  EXPECT_FALSE(read(draft).host_compiler.has_value());
  EXPECT_THAT(write(draft), Not(HasSubstr("\x1b")));
}

} // namespace
} // namespace cukit::draft

// The question to the driver, answered by fake drivers that are compiled here.
#include "base/child.hpp"
#include "machine/nvml.hpp"
#include "machine/probe.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace cukit::machine {
namespace {

const char* const k_good_driver = R"(
#include <string.h>
int cuDriverGetVersion(int* v) { *v = 13010; return 0; }
int cuInit(unsigned f) { return CODE; }
int cuDeviceGetCount(int* n) { *n = 2; return 0; }
int cuDeviceGet(int* d, int i) { *d = i + 40; return 0; }
int cuDeviceGetName(char* n, int size, int d) { strcpy(n, d == 40 ? "NVIDIA H200" : "NVIDIA H100 MIG 1g.10gb"); return 0; }
int cuDeviceGetAttribute(int* v, int a, int d) { *v = a == 75 ? (d == 40 ? 9 : 12) : 0; return 0; }
int cuDeviceGetUuid_v2(void* u, int d) { for (int i = 0; i < 16; ++i) ((unsigned char*)u)[i] = (unsigned char)(i * 16 + i); return 0; }
int cuGetErrorString(int e, const char** t) { *t = "unknown weather"; return 0; }
)";

const char* const k_good_nvml = R"(
#include <string.h>
int nvmlInit_v2(void) { return CODE; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char* t, unsigned n) { strncpy(t, "580.159.04", n); return 0; }
int nvmlDeviceGetCount_v2(unsigned* n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** d) { *d = (void*)(long)(i + 7); return 0; }
int nvmlDeviceGetName(void* d, char* t, unsigned n) { strncpy(t, d == (void*)7 ? "NVIDIA H200" : "NVIDIA B200", n); return 0; }
int nvmlDeviceGetUUID(void* d, char* t, unsigned n) { strncpy(t, "GPU-5c1f0001-0000-0000-0000-000000000001", n); return 0; }
int nvmlDeviceGetCudaComputeCapability(void* d, int* a, int* b) { *a = d == (void*)7 ? 9 : 10; *b = 0; return 0; }
)";

/// A script that answers as nvidia-smi 580 does.
const char* const k_smi = "#!/bin/sh\n"
                          "case \"$*\" in *compute_cap*csv,noheader*) ;; *) exit 2 ;; esac\n"
                          "echo 'NVIDIA L40S, GPU-77aa, 570.124.06, 8.9'\n"
                          "echo 'NVIDIA L40S, GPU-77ab, 570.124.06, 8.9'\n";

class DevicesTest : public testing::Test {
protected:
  void SetUp() override {
    auto created = TempDirectory::create(fs::temp_directory_path(), "cukit-driver-");
    ASSERT_TRUE(created);
    folder_.emplace(std::move(*created));
    if (environment_.find_program("cc").empty()) {
      GTEST_SKIP() << "no C compiler to make a fake driver with";
    }
  }

  /// A library libcuda.so.1 in the folder; `code` is what its cuInit says.
  std::string make_driver(const std::string& source, const std::string& code = "0",
                          const std::string& name = "libcuda.so.1") {
    const fs::path file = folder_->path() / "driver.c";
    EXPECT_TRUE(write_file_atomic(file, source));
    const std::string library = (folder_->path() / name).string();
    const auto finished =
        run_command({.arguments = {"cc", "-shared", "-fPIC", "-w", "-DCODE=" + code, "-o", library,
                                   file.string()},
                     .environment = environment_});
    EXPECT_TRUE(finished && finished->exit_code == 0)
        << (finished ? finished->errors : finished.error().message);
    return library;
  }

  /// This program as the child, with the fake driver first in the loader's path.
  Devices ask(std::chrono::milliseconds limit = std::chrono::seconds(30),
              const QuickLook& quick = {}) {
    auto environment = environment_;
    environment.set("LD_LIBRARY_PATH", folder_->path().string());
    return ask_child("/proc/self/exe", environment, quick, limit, {});
  }

  [[nodiscard]] const fs::path& folder() const { return folder_->path(); }
  Environment environment_ = Environment::of_this_process();

private:
  std::optional<TempDirectory> folder_;
};

TEST_F(DevicesTest, lists_gpus_with_name_uuid_and_target) {
  const auto library = make_driver(k_good_driver);
  const auto devices = ask();
  ASSERT_EQ(devices.gpus.size(), 2U) << devices.why_none;
  EXPECT_EQ(devices.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(devices.gpus[0].uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(devices.gpus[0].target.sm(), "sm_90");
  EXPECT_EQ(devices.gpus[1].index, 1);
  EXPECT_EQ(devices.gpus[1].target.sm(), "sm_120");
  ASSERT_TRUE(devices.driver);
  EXPECT_EQ(devices.driver->cuda.value_or(Version()).text(), "13.1");
  EXPECT_EQ(devices.driver->library, library);
  EXPECT_TRUE(devices.why_none.empty());
}

TEST_F(DevicesTest, names_an_instance_of_a_partitioned_gpu_by_its_prefix) {
  make_driver(k_good_driver);
  const auto devices = ask();
  ASSERT_EQ(devices.gpus.size(), 2U);
  EXPECT_TRUE(devices.gpus[1].uuid.starts_with("MIG-"));
}

TEST_F(DevicesTest, takes_the_drivers_version_from_its_file_name_when_the_kernel_says_none) {
  const auto library = make_driver(k_good_driver);
  fs::rename(library, folder() / "libcuda.so.580.159.04");
  fs::create_symlink("libcuda.so.580.159.04", library);
  const auto devices = ask();
  ASSERT_TRUE(devices.driver);
  EXPECT_EQ(devices.driver->version, Version::parse("580.159.04").value());
}

TEST_F(DevicesTest, row40_refuses_a_stub_by_name) {
  const auto answer = probe({make_driver(k_good_driver, "34")}); // alone: a machine has its own too
  EXPECT_EQ(answer.find("devices"), nullptr);
  const auto why = std::string(answer.text_of("why"));
  EXPECT_NE(why.find("stub"), std::string::npos) << why;
  EXPECT_NE(why.find(folder().string()), std::string::npos) << why;
}

TEST_F(DevicesTest, goes_on_to_the_next_library_after_a_stub) {
  const auto stub = make_driver(k_good_driver, "34");
  const fs::path renamed = folder() / "stub.so";
  fs::rename(stub, renamed);
  const auto good = make_driver(k_good_driver);
  const auto answer = probe({renamed.string(), good});
  ASSERT_NE(answer.find("devices"), nullptr) << answer.dump();
  EXPECT_EQ(answer.text_of("library"), good);
}

TEST_F(DevicesTest, says_that_the_driver_sees_no_gpu) {
  make_driver(k_good_driver, "100");
  const auto devices = ask();
  EXPECT_TRUE(devices.gpus.empty());
  EXPECT_TRUE(devices.driver) << "there is a driver all the same";
  EXPECT_NE(devices.why_none.find("CUDA_ERROR_NO_DEVICE"), std::string::npos) << devices.why_none;
}

TEST_F(DevicesTest, quotes_the_drivers_own_text_of_an_error) {
  make_driver(k_good_driver, "999");
  EXPECT_NE(ask().why_none.find("999 (unknown weather)"), std::string::npos);
}

TEST_F(DevicesTest, survives_a_driver_that_crashes) {
  make_driver(
      "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }");
  const auto devices = ask();
  EXPECT_TRUE(devices.gpus.empty());
  EXPECT_NE(devices.why_none.find("crashed"), std::string::npos) << devices.why_none;
}

TEST_F(DevicesTest, gives_up_on_a_driver_that_hangs) {
  make_driver("#include <unistd.h>\n__attribute__((constructor)) static void start(void) { for "
              "(;;) pause(); }");
  const auto devices = ask(std::chrono::milliseconds(300));
  EXPECT_NE(devices.why_none.find("did not answer"), std::string::npos) << devices.why_none;
}

TEST_F(DevicesTest, refuses_a_library_that_is_no_driver) {
  const auto library = make_driver("int unrelated(void) { return 1; }");
  const auto answer = probe({library});
  EXPECT_NE(answer.text_of("why").find("not the functions"), std::string::npos);
}

TEST_F(DevicesTest, says_what_was_looked_for_when_there_is_no_driver) {
  const auto answer = probe({"libcukit-nowhere.so.1", "/nowhere/libcuda.so.1"});
  EXPECT_NE(answer.text_of("why").find("/nowhere/libcuda.so.1"), std::string::npos);
}

TEST_F(DevicesTest, does_not_mistake_what_a_driver_prints_for_the_answer) {
  make_driver(std::string(k_good_driver) + "\n#include <stdio.h>\n__attribute__((constructor)) "
                                           "static void start(void) { puts(\"{}\\nhello\"); }");
  EXPECT_EQ(ask().gpus.size(), 2U);
}

TEST_F(DevicesTest, keeps_the_kernel_modules_version_when_the_library_is_missing) {
  QuickLook quick;
  quick.driver = Version::parse("580.95.05").value();
  const auto devices = ask_child("/bin/false", environment_, quick, std::chrono::seconds(10), {});
  ASSERT_TRUE(devices.driver);
  EXPECT_EQ(devices.driver->version, *quick.driver);
  EXPECT_NE(devices.why_none.find("the kernel module 580.95.05 is loaded, so the driver's "
                                  "libraries are missing"),
            std::string::npos)
      << devices.why_none;
}

TEST_F(DevicesTest, says_once_what_is_wrong_with_a_library_that_two_names_lead_to) {
  const auto file = folder() / "libcuda.so.1";
  ASSERT_TRUE(write_file_atomic(file, "no library"));
  const auto why = std::string(probe({file.string(), file.string()}).text_of("why"));
  EXPECT_NE(why.find(file.string()), std::string::npos) << why;
  EXPECT_EQ(why.find("; "), std::string::npos) << why;
}

TEST_F(DevicesTest, nvml_names_gpus_and_driver_where_libcuda_is_not_there) {
  const auto library = make_driver(k_good_nvml, "0", "libnvidia-ml.so.1");
  auto answer = probe({"/nowhere/libcuda.so.1"});
  ask_nvml({"/nowhere/libnvidia-ml.so.1", library}, answer);
  const auto* seen = answer.find("seen");
  ASSERT_NE(seen, nullptr) << answer.dump();
  ASSERT_EQ(seen->items().size(), 2U);
  EXPECT_EQ(seen->items()[1].text_of("name"), "NVIDIA B200");
  EXPECT_EQ(seen->items()[1].find("major")->integer(), 10);
  EXPECT_EQ(answer.text_of("driver_version"), "580.159.04");
}

TEST_F(DevicesTest, what_nvml_sees_is_no_gpu_that_something_can_run_on) {
  make_driver(k_good_nvml, "0", "libnvidia-ml.so.1");
  make_driver(k_good_driver, "999");
  const auto devices = ask();
  EXPECT_TRUE(devices.gpus.empty());
  ASSERT_EQ(devices.seen.size(), 2U);
  EXPECT_EQ(devices.seen[0].target.sm(), "sm_90");
  EXPECT_EQ(driver_text(devices.driver.value_or(Driver{}).version), "580.159.04");
  EXPECT_NE(devices.why_none.find("unknown weather"), std::string::npos);
}

TEST_F(DevicesTest, an_nvml_that_does_not_start_adds_nothing) {
  const auto library = make_driver(k_good_nvml, "9", "libnvidia-ml.so.1"); // driver not loaded
  auto answer = text::Json::object();
  ask_nvml({library}, answer);
  EXPECT_EQ(answer.find("seen"), nullptr);
}

TEST_F(DevicesTest, nvidia_smi_is_the_last_resort) {
  ASSERT_TRUE(create_file(folder() / "nvidia-smi", k_smi, 0755));
  auto environment = environment_;
  environment.set("PATH", folder().string() + ":/usr/bin:/bin");
  const auto devices = ask_nvidia_smi(environment);
  EXPECT_TRUE(devices.gpus.empty());
  ASSERT_EQ(devices.seen.size(), 2U) << devices.why_none;
  EXPECT_EQ(devices.seen[1].name, "NVIDIA L40S");
  EXPECT_EQ(devices.seen[1].uuid, "GPU-77ab");
  EXPECT_EQ(devices.seen[1].target.sm(), "sm_89");
  EXPECT_EQ(driver_text(devices.driver.value_or(Driver{}).version), "570.124.06");
  environment.set("PATH", "/nowhere");
  EXPECT_EQ(ask_nvidia_smi(environment).why_none, "no nvidia-smi in PATH");
}

TEST_F(DevicesTest, what_a_broken_nvidia_smi_prints_is_no_gpu) {
  auto environment = environment_;
  environment.set("PATH", folder().string() + ":/usr/bin:/bin");
  for (const char* text :
       {"exit 9", "echo 'NVIDIA-SMI has failed because it could not communicate, a, b'",
        "echo 'Field \"compute_cap\" is not a valid field to query.'; exit 2", "kill -9 $$"}) {
    ASSERT_TRUE(
        write_file_atomic(folder() / "nvidia-smi", std::string("#!/bin/sh\n") + text + "\n"));
    fs::permissions(folder() / "nvidia-smi", fs::perms::owner_all);
    EXPECT_TRUE(ask_nvidia_smi(environment).seen.empty()) << text;
  }
}

TEST(Devices, never_starts_itself_over_and_over) {
  ASSERT_EQ(::setenv(k_probe_variable, "1", 1), 0);
  const auto answer = devices();
  ASSERT_EQ(::unsetenv(k_probe_variable), 0);
  EXPECT_TRUE(answer.gpus.empty());
  EXPECT_NE(answer.why_none.find("not asked"), std::string::npos);
}

} // namespace
} // namespace cukit::machine

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], cukit::machine::k_probe_argument) == 0) {
    return cukit::machine::probe_devices_main();
  }
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}

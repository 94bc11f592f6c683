// Toolkits from archives of NVIDIA's redistributables, from the outside: CUDA 12 in the layout that
// is documented, with archives made here.
#include "base/sha256.hpp"
#include "support/cukit_program.hpp"
#include "support/fault_server.hpp"
#include "support/tar_forge.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string k_script = "#!/bin/sh\nexit 0\n";

class Redist : public testing::Test {
protected:
  void SetUp() override {
    playground.environment.set("CUKIT_INDEX_URL", "http://127.0.0.1:9/simple");
    playground.environment.set("CUKIT_REDIST_URL", server.url("/compute"));
    playground.write("demo.yaml", "cukit: 1\nname: demo\ngpus: [sm_90]\ntoolkit: {nvcc: \"12.4\"}\n"
                                  "components: [nvcc, cccl]\nplatforms: [linux-x86_64]\n");
    server.always("/compute/cuda/redist/", Fault::status_of(403)); // this server lists nothing
    server.always("/compute/cuda/", Fault::status_of(403));
    server.always("/compute/", Fault::status_of(403));
    add_nvcc();
    add_archive("cuda_cudart", "12.4.127", cudart());
    add_archive("cuda_cccl", "12.4.127",
                {{.name = "include/cub/version.cuh", .content = "x"},
                 {.name = "include/thrust/version.h", .content = "x"},
                 {.name = "include/cuda/std/type_traits", .content = "x"},
                 {.name = "include/nv/target", .content = "x"}});
  }

  void add_nvcc(const std::string& without = "") {
    std::vector<ForgedTarEntry> entries;
    for (const auto* path : {"bin/nvcc", "bin/cudafe++", "bin/fatbinary", "bin/bin2c", "bin/ptxas",
                             "bin/nvlink", "nvvm/bin/cicc"}) {
      entries.push_back({.name = path, .content = k_script + path, .mode = 0555});
    }
    for (const auto* path : {"bin/nvcc.profile", "bin/crt/link.stub", "include/crt/host_config.h",
                             "nvvm/libdevice/libdevice.10.bc"}) {
      entries.push_back({.name = path, .content = path, .mode = 0444});
    }
    std::erase_if(entries, [&](const auto& entry) { return entry.name == without; });
    add_archive("cuda_nvcc", "12.4.131", std::move(entries));
  }

  static std::vector<ForgedTarEntry> cudart() {
    std::vector<ForgedTarEntry> entries;
    for (const auto* path :
         {"include/cuda.h", "include/cuda_runtime.h", "include/cuda_runtime_api.h",
          "include/cuda_fp16.h", "include/cuda_bf16.h", "include/cuda_fp8.h",
          "include/cooperative_groups.h", "lib/libcudart.so.12.4.127", "lib/libcudart_static.a",
          "lib/libcudadevrt.a", "lib/libculibos.a"}) {
      entries.push_back({.name = path, .content = path, .mode = 0444});
    }
    entries.push_back(
        {.name = "lib/libcudart.so.12", .type = '2', .link = "libcudart.so.12.4.127"});
    entries.push_back({.name = "lib/libcudart.so", .type = '2', .link = "libcudart.so.12"});
    return entries;
  }

  /// Serves the archive, and puts it into the manifest (label 12.4.1 is known: 12.4.9 is not).
  void add_archive(const std::string& component, const std::string& version,
                   std::vector<ForgedTarEntry> entries) {
    const auto top = component + "-linux-x86_64-" + version + "-archive";
    entries.push_back({.name = "LICENSE", .content = component + "\n", .mode = 0444});
    for (auto& entry : entries) {
      entry.name = top + "/" + entry.name;
    }
    const auto bytes = xz_of(forge_tar(entries));
    const auto path = component + "/linux-x86_64/" + top + ".tar.xz";
    archives[component] = "/compute/cuda/redist/" + path;
    server.serve(archives[component], bytes);
    leaves[component] = "\"" + component + R"(": {"license": "CUDA Toolkit", "version": ")" +
                        version + R"(", "linux-x86_64": {"relative_path": ")" + path +
                        R"(", "sha256": ")" + sha256_of(bytes).hex() +
                        R"(", "md5": "0", "size": ")" + std::to_string(bytes.size()) + R"("}})";
    serve_manifest("12.4.9");
  }

  void serve_manifest(const std::string& label) {
    std::string text = R"({"release_date": "2024-06-01")";
    for (const auto& [component, leaf] : leaves) {
      text += ", " + leaf;
    }
    listing.insert(label);
    server.serve("/compute/cuda/redist/redistrib_" + label + ".json", text + "}");
    std::string page;
    for (const auto& one : listing) {
      page += "<a href=\"redistrib_" + one + ".json\">x</a>\n";
    }
    server.always("/compute/cuda/redist/",
                  Fault::status_of(200, page, {"Content-Type: text/html"}));
  }

  Finished up() {
    return playground.run({"up", "--no-validate", (playground.path() / "demo.yaml").string()});
  }
  std::string lock_text() const {
    return read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value_or("");
  }
  fs::path tree() const {
    return fs::canonical(playground.home() / "trees" / playground.names_in("trees").at(0));
  }

  FaultServer server;
  Playground playground;
  std::map<std::string, std::string> leaves;
  std::map<std::string, std::string> archives;
  std::set<std::string> listing;
};

TEST_F(Redist, cuda_12_is_locked_fetched_unpacked_and_assembled) {
  const auto done = up();
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const auto lock = lock_text();
  EXPECT_THAT(lock, HasSubstr("cuda/redist/redistrib_12.4.9.json: sha256:"));
  EXPECT_THAT(lock, HasSubstr("path: cuda/redist/cuda_nvcc/linux-x86_64/"));
  EXPECT_THAT(lock, HasSubstr("trust: first-lock"));
  EXPECT_THAT(lock, Not(HasSubstr("127.0.0.1")));
  EXPECT_TRUE(fs::exists(tree() / "nvvm/bin/cicc"));
  EXPECT_TRUE(fs::exists(tree() / "lib64/libcudart.so"));
  EXPECT_TRUE(fs::exists(tree() / "LICENSES/nvcc/LICENSE"));
  EXPECT_EQ(fs::read_symlink(tree() / "lib/libcudart.so"), "libcudart.so.12");
}

TEST_F(Redist, a_second_run_asks_nobody) {
  ASSERT_EQ(up().exit_code, 0);
  server.forget();
  const auto again = up();
  EXPECT_THAT(again.output, HasSubstr("nothing to do")) << again.errors;
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(Redist, row08_a_known_release_with_another_manifest_is_an_integrity_error) {
  serve_manifest("12.4.1");
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 5);
  EXPECT_THAT(failed.errors, HasSubstr("sha256:9cd815f3b71c2e36")); // NVIDIA's own
  EXPECT_FALSE(path_exists(playground.path() / "demo.lock.yaml"));
}

TEST_F(Redist, an_archive_of_other_bytes_is_refused_and_the_next_base_serves) {
  ASSERT_EQ(playground.run({"lock", (playground.path() / "demo.yaml").string()}).exit_code, 0);
  server.always(archives.at("cuda_cccl"), Fault::wrong_bytes());
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 5) << failed.errors;
  EXPECT_TRUE(playground.names_in("trees").empty());
  server.always(archives.at("cuda_cccl"), Fault::none());
  EXPECT_EQ(up().exit_code, 0);
}

TEST_F(Redist, an_archive_without_what_it_must_bring_is_named) {
  add_nvcc("nvvm/bin/cicc");
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 5);
  EXPECT_THAT(failed.errors, HasSubstr("nvvm/bin/cicc"));
  EXPECT_TRUE(playground.names_in("trees").empty());
}

TEST_F(Redist, a_release_that_no_source_has_is_a_conflict_that_says_so) {
  playground.write("demo.yaml", "cukit: 1\nname: demo\ngpus: [sm_90]\ntoolkit: {nvcc: \"12.8\"}\n"
                                "sources: [redist]\nplatforms: [linux-x86_64]\n");
  const auto failed = up();
  EXPECT_THAT(failed.exit_code, testing::AnyOf(3, 4)) << failed.errors;
  EXPECT_THAT(failed.errors + failed.output, HasSubstr("12.8"));
}

} // namespace
} // namespace cukit::test

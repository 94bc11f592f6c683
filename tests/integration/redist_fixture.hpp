// CUDA 12 as archives of NVIDIA's redistributables in the layout that is documented, made here and
// served as their host does.
#pragma once

#include "base/sha256.hpp"
#include "support/cukit_program.hpp"
#include "support/fault_server.hpp"
#include "support/tar_forge.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <set>

namespace cukit::test {

inline const std::string k_script = "#!/bin/sh\nexit 0\n";

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

} // namespace cukit::test

#include "support/fake_index.hpp"

#include "base/sha256.hpp"
#include "support/archive_forge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace cukit::test {

namespace {

std::string noise(std::size_t size) {
  std::mt19937_64 engine(42);
  std::string bytes;
  while (bytes.size() < size) {
    bytes += static_cast<char>(engine() & 0xffU);
  }
  return bytes;
}

std::string script(const std::string& text) {
  return "#!/bin/sh\n" + text + "\n";
}

std::string header(const std::string& name) {
  return "/* " + name + " */\n";
}

std::string normalised(std::string project) {
  std::replace(project.begin(), project.end(), '-', '_');
  return project;
}

} // namespace

FakeIndex::FakeIndex(FaultServer& server, std::size_t filler)
    : server_(server), filler_(filler),
      nvcc_("echo 'Cuda compilation tools, release 13.0, V13.0.188'") {}

void FakeIndex::add_file(const std::string& project, const std::string& file, std::string bytes) {
  entries_[project].push_back(fmt::format(
      R"({{"filename": "{0}", "url": "../../files/{0}", "hashes": {{"sha256": "{1}"}}, "size": {2}, "yanked": false{3}}})",
      file, sha256_of(bytes).hex(), bytes.size(),
      upload_time_.empty() ? "" : fmt::format(R"(, "upload-time": "{}")", upload_time_)));
  last_[project] = file;
  server_.serve(file_path(file), std::move(bytes));
}

void FakeIndex::add_wheel(const std::string& project, const std::string& version,
                          std::vector<std::pair<std::string, std::string>> files) {
  ForgedWheel wheel;
  wheel.name = normalised(project);
  wheel.version = version;
  for (auto& [path, content] : files) {
    wheel.files.emplace_back("nvidia/cu13/" + path, std::move(content));
  }
  wheel.files.emplace_back(fmt::format("{}-{}.dist-info/licenses/License.txt", wheel.name, version),
                           "do as you like\n");
  const auto file = fmt::format("{}-{}-py3-none-manylinux_2_17_x86_64.whl", wheel.name, version);
  add_file(project, file, forge_wheel(wheel));
  wheels_.push_back(file);
}

void FakeIndex::add_release(const std::string& version, const std::string& core) {
  const auto minor = core.substr(0, core.find('.', 3));
  const auto compact = minor.substr(0, 2) + "0" + minor.substr(3) + "0";
  add_wheel("nvidia-cuda-nvcc", core,
            {{"bin/nvcc", script(nvcc_)},
             {"bin/nvcc.profile", "TOP = $(_HERE_)/..\n"},
             {"bin/cudafe++", script("exit 0")},
             {"bin/fatbinary", script("exit 0")},
             {"bin/bin2c", script("exit 0")},
             {"bin/ptxas", script("exit 0")},
             {"bin/nvlink", script("exit 0")},
             {"bin/crt/link.stub", "link\n"},
             {"bin/crt/prelink.stub", "prelink\n"},
             {"include/fatbinary_section.h", header("fatbinary_section")}});
  add_wheel("nvidia-cuda-crt", core,
            {{"include/crt/host_config.h", header("host_config")},
             {"include/crt/host_runtime.h", header("host_runtime")}});
  add_wheel("nvidia-nvvm", core,
            {{"nvvm/bin/cicc", script("exit 0") + noise(filler_)},
             {"nvvm/libdevice/libdevice.10.bc", "bitcode\n"},
             {"lib/libnvvm.so.4", "no library\n"},
             {"include/nvvm.h", header("nvvm")}});
  std::vector<std::pair<std::string, std::string>> runtime;
  for (const auto* name :
       {"cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cooperative_groups.h"}) {
    runtime.emplace_back(std::string("include/") + name, header(name));
  }
  runtime.emplace_back("include/cuda_runtime_api.h",
                       fmt::format("#define CUDART_VERSION {}\n", compact));
  runtime.emplace_back("include/cuda.h", "#define CUDA_VERSION " + compact +
                                             "\nCUresult CUDAAPI cuInit(unsigned int Flags);\n");
  for (const auto* name : {"libcudart.so.13", "libcudart_static.a", "libcudadevrt.a"}) {
    runtime.emplace_back(std::string("lib/") + name, std::string(name) + "\n");
  }
  add_wheel("nvidia-cuda-runtime", core, std::move(runtime));
  std::vector<std::pair<std::string, std::string>> cccl;
  for (const auto* path :
       {"include/cccl/cuda/std/version", "include/cccl/cuda/std/__cccl/version.h",
        "include/cccl/cub/version.cuh", "include/cccl/thrust/version.h", "include/cccl/nv/target",
        "include/nv/target", "lib/cmake/cccl/cccl-config.cmake"}) {
    cccl.emplace_back(path, header(path));
  }
  add_wheel("nvidia-cuda-cccl", core, std::move(cccl));
  add_wheel("nvidia-cuda-culibos", core, {{"lib/libculibos.a", "archive\n"}});

  ForgedWheel meta;
  meta.name = "cuda_toolkit";
  meta.version = version;
  for (const auto& [extra, project] :
       std::map<std::string, std::string>{{"nvcc", "nvidia-cuda-nvcc"},
                                          {"crt", "nvidia-cuda-crt"},
                                          {"nvvm", "nvidia-nvvm"},
                                          {"cudart", "nvidia-cuda-runtime"},
                                          {"cccl", "nvidia-cuda-cccl"},
                                          {"culibos", "nvidia-cuda-culibos"}}) {
    meta.requires_dist.push_back(fmt::format(
        "{}=={}; (sys_platform == 'linux' or sys_platform == 'win32') and extra == '{}'", project,
        core, extra));
  }
  add_file("cuda-toolkit", fmt::format("cuda_toolkit-{}-py2.py3-none-any.whl", version),
           forge_wheel(meta));
}

void FakeIndex::publish() {
  for (const auto& [project, files] : entries_) {
    server_.serve(
        page_path(project),
        fmt::format(R"({{"meta": {{"api-version": "1.1"}}, "name": "{}", "files": [{}]}})", project,
                    fmt::join(files, ", ")),
        "application/vnd.pypi.simple.v1+json");
  }
}

std::string FakeIndex::url() const {
  return server_.url("/simple");
}

std::string FakeIndex::file_of(const std::string& project) const {
  return last_.at(project);
}

} // namespace cukit::test

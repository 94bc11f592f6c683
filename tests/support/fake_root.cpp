#include "support/fake_root.hpp"

#include <array>
#include <cstring>
#include <elf.h>

namespace cukit::test {

namespace {

TempDirectory scratch() {
  auto folder = TempDirectory::create(fs::temp_directory_path(), "cukit-root-");
  CUKIT_ENSURE(folder.has_value(), "a scratch folder can be made");
  return *std::move(folder);
}

int number(const std::string& minor, bool of_major) {
  const auto dot = minor.find('.');
  return std::stoi(of_major ? minor.substr(0, dot) : minor.substr(dot + 1));
}

std::string two_parts(const std::string& version) {
  const auto first = version.find('.');
  return version.substr(0, version.find('.', first + 1));
}

/// What the releases really shipped: PTX aside, the facts a header shows.
int gcc_of(const std::string& minor) {
  const int value = number(minor, true) * 100 + number(minor, false);
  return value >= 1304 ? 16 : value >= 1300 ? 15 : value >= 1208 ? 14 : value >= 1204 ? 13 : 12;
}

template <typename T> void append(std::string& bytes, const T& value) {
  std::array<char, sizeof(T)> raw{};
  std::memcpy(raw.data(), &value, sizeof(T));
  bytes.append(raw.data(), raw.size());
}

} // namespace

FakeRoot::FakeRoot() : folder_(scratch()) {
  environment.set("PATH", "/usr/local/bin:/usr/bin:/bin");
  environment.set("HOME", "/home/user");
  put("/etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  put("/lib/x86_64-linux-gnu/libc.so.6",
      "GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n");
  gxx("12.2.0");
}

void FakeRoot::put(const std::string& file, const std::string& text, unsigned mode) const {
  const fs::path target = path() / file.substr(1);
  CUKIT_ENSURE(make_directories(target.parent_path()).has_value(), "the folder can be made");
  std::error_code error;
  fs::remove(target, error);
  CUKIT_ENSURE(create_file(target, text, mode).has_value(), "the file can be written");
}

void FakeRoot::link(const std::string& name, const std::string& target) const {
  const fs::path place = path() / name.substr(1);
  CUKIT_ENSURE(make_directories(place.parent_path()).has_value(), "the folder can be made");
  std::error_code error;
  fs::remove(place, error);
  fs::create_symlink(target, place, error);
  CUKIT_ENSURE(!error, "the link can be made");
}

void FakeRoot::remove(const std::string& name) const {
  std::error_code error;
  fs::remove_all(path() / name.substr(1), error);
  CUKIT_ENSURE(!error, "it can be removed");
}

void FakeRoot::tool(const std::string& file, const std::string& version) const {
  put(file,
      fmt::format("#!/bin/sh\necho 'Cuda compilation tools, release {}, V{}'\n", two_parts(version),
                  version),
      0755);
}

void FakeRoot::headers(const std::string& include, const std::string& minor) const {
  const int coded = number(minor, true) * 1000 + number(minor, false) * 10;
  put(include + "/cuda_runtime_api.h",
      fmt::format("// licence\n#define CUDART_VERSION  {}\n", coded));
  put(include + "/cuda.h", fmt::format("#define CUDA_VERSION {}\n", coded));
  for (const char* name :
       {"cuda_runtime.h", "vector_types.h", "cuda_fp16.h", "cooperative_groups.h", "curand.h",
        "curand_kernel.h", "cublas_v2.h", "cusparse.h", "cusolverDn.h", "cufft.h", "nvrtc.h"}) {
    put(include + "/" + name, "#pragma once\n");
  }
}

void FakeRoot::crt(const std::string& include, const std::string& minor) const {
  const int value = number(minor, true) * 100 + number(minor, false);
  put(include + "/crt/host_runtime.h",
      fmt::format("#define __cudaLaunchPrologue(size) \\\n#define __cudaLaunch({}) \\\n",
                  minor == "13.0" ? "fun, isTileKernel" : "fun"));
  put(include + "/crt/host_config.h",
      fmt::format("#if __GNUC__ > {0}\n#error -- unsupported GNU version! gcc versions later than "
                  "{0} are not supported!\n",
                  gcc_of(minor)));
  put(include + "/crt/host_defines.h", "#pragma once\n");
  put(include + "/crt/math_functions.h",
      fmt::format("extern double rsqrt(double x){};\nextern double cospi(double x){};\n",
                  value >= 1302 ? " _NV_RSQRT_SPECIFIER" : "",
                  value >= 1300 ? " __NV_SPECIFIER" : ""));
}

void FakeRoot::cccl(const std::string& include, const std::string& version) const {
  const auto dot = version.find('.');
  const auto second = version.find('.', dot + 1);
  const long coded = std::stol(version.substr(0, dot)) * 1'000'000 +
                     std::stol(version.substr(dot + 1, second - dot - 1)) * 1000 +
                     std::stol(version.substr(second + 1));
  const bool is_moved = version[0] >= '3';
  const auto folder = is_moved ? include + "/cccl" : include;
  put(folder + "/cuda/std/__cccl/version.h", fmt::format("#define CCCL_VERSION {}\n", coded));
  put(folder + "/cuda/std/utility", "#pragma once\n");
  put(folder + "/cub/cub.cuh", "#pragma once\n");
  put(folder + "/nv/target", "// of " + version + "\n");
  if (is_moved) {
    put(include + "/nv/target", "// of " + version + "\n");
  }
}

void FakeRoot::toolkit(const std::string& root, const std::string& version) const {
  const auto minor = two_parts(version);
  for (const char* name :
       {"nvcc", "ptxas", "nvlink", "fatbinary", "cudafe++", "cuobjdump", "nvdisasm"}) {
    tool(root + "/bin/" + name, version);
  }
  tool(root + "/nvvm/bin/cicc", version);
  const int value = number(minor, true) * 100 + number(minor, false);
  put(root + "/bin/nvcc.profile",
      value >= 1302 ? "LIBRARIES =+ \"-L$(TOP)/lib/stubs\" \"-L$(TOP)/lib\"\n"
                    : "LIBRARIES =+ \"-L$(TOP)/$(_TARGET_DIR_)/lib$(_TARGET_SIZE_)/stubs\"\n");
  headers(root + "/include", minor);
  crt(root + "/include", minor);
  const int number_of_minor = number(minor, false);
  cccl(root + "/include", value >= 1300 ? fmt::format("3.{}.1", number_of_minor)
                                        : fmt::format("2.{}.0", std::max(number_of_minor - 1, 3)));
  const auto major = std::to_string(number(minor, true));
  put(root + "/lib/libcudart.so." + major, "");
  link(root + "/lib/libcudart.so", "libcudart.so." + major);
  put(root + "/lib/libcudart_static.a", "");
  put(root + "/lib/libcudadevrt.a", "");
  put(root + "/lib/libnvrtc.so." + major, "");
  link(root + "/lib/libnvrtc.so", "libnvrtc.so." + major);
  put(root + "/lib/libnvrtc-builtins.so." + minor, "");
  put(root + "/lib/stubs/libcuda.so", "");
  link(root + "/lib64", "lib");
  put(root + "/nvvm/libdevice/libdevice.10.bc", "BC");
}

void FakeRoot::prepend_path(const std::string& folder) {
  environment.set("PATH", folder + ":" + environment.get("PATH").value_or(""));
}

void FakeRoot::dist(const std::string& site, const std::string& name, const std::string& version,
                    const std::vector<std::string>& requirements) const {
  std::string folder = name;
  for (auto& c : folder) {
    c = c == '-' ? '_' : c;
  }
  std::string text = fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", name, version);
  for (const auto& requirement : requirements) {
    text += "Requires-Dist: " + requirement + "\n";
  }
  put(fmt::format("{}/{}-{}.dist-info/METADATA", site, folder, version), text + "\nwhat it is\n");
}

std::string FakeRoot::venv(const std::string& prefix, const std::string& torch,
                           const std::string& cuda) const {
  const auto site = prefix + "/lib/python3.11/site-packages";
  put(prefix + "/pyvenv.cfg", "home = /usr/bin\n");
  dist(site, "pip", "25.0");
  if (!torch.empty()) {
    dist(site, "torch", torch);
    put(site + "/torch/version.py",
        fmt::format("__version__ = '{}'\ncuda: Optional[str] = '{}'\n", torch, cuda));
  }
  return site;
}

void FakeRoot::wheels(const std::string& site, const Wheels& wheels) const {
  const auto root = site + "/nvidia/cu13";
  if (!wheels.nvcc.empty()) {
    dist(site, "nvidia-cuda-nvcc", wheels.nvcc,
         {"nvidia-nvvm", "nvidia-cuda-runtime", "nvidia-cuda-crt"});
    for (const char* name : {"nvcc", "ptxas", "nvlink", "fatbinary", "cudafe++"}) {
      tool(root + "/bin/" + name, wheels.nvcc);
    }
    put(root + "/bin/nvcc.profile", two_parts(wheels.nvcc) >= "13.2"
                                        ? "LIBRARIES =+ \"-L$(TOP)/lib\"\n"
                                        : "LIBRARIES =+ \"-L$(TOP)/lib$(_TARGET_SIZE_)\"\n");
  }
  if (!wheels.nvvm.empty()) {
    dist(site, "nvidia-nvvm", wheels.nvvm);
    tool(root + "/nvvm/bin/cicc", wheels.nvvm);
  }
  if (!wheels.crt.empty()) {
    dist(site, "nvidia-cuda-crt", wheels.crt);
    crt(root + "/include", two_parts(wheels.crt));
  }
  if (!wheels.runtime.empty()) {
    dist(site, "nvidia-cuda-runtime", wheels.runtime);
    headers(root + "/include", two_parts(wheels.runtime));
    put(root + "/lib/libcudart.so.13", "");
    put(root + "/lib/libcudart_static.a", "");
  }
  if (!wheels.cccl.empty()) {
    dist(site, "nvidia-cuda-cccl", wheels.cccl);
    cccl(root + "/include", fmt::format("3.{}.1", number(two_parts(wheels.cccl), false)));
  }
}

void FakeRoot::gpu(const std::string& model, const std::string& driver) const {
  put("/proc/driver/nvidia/version",
      fmt::format(
          "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Tue Oct 21 10:15:30 UTC 2025\n",
          driver));
  put("/proc/driver/nvidia/gpus/0000:01:00.0/information",
      fmt::format("Model: \t\t {}\nIRQ: 1\n", model));
}

void FakeRoot::gxx(const std::string& version) const {
  put("/usr/bin/g++", fmt::format("#!/bin/sh\necho 'g++ (GCC) {}'\n", version), 0755);
}

std::string elf_library(const std::string& soname, const std::vector<std::string>& needed) {
  std::string names(1, '\0');
  std::string dynamic;
  const auto add = [&](Elf64_Sxword tag, const std::string& text) {
    Elf64_Dyn entry{};
    entry.d_tag = tag;
    entry.d_un.d_val = names.size();
    append(dynamic, entry);
    names += text + '\0';
  };
  for (const auto& name : needed) {
    add(DT_NEEDED, name);
  }
  add(DT_SONAME, soname);
  append(dynamic, Elf64_Dyn{});
  names.resize((names.size() + 15) / 16 * 16);

  Elf64_Ehdr header{};
  std::memcpy(static_cast<void*>(header.e_ident), ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shoff = sizeof(Elf64_Ehdr) + names.size() + dynamic.size();

  std::array<Elf64_Shdr, 3> sections{};
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sizeof(Elf64_Ehdr);
  sections[1].sh_size = names.size();
  sections[1].sh_addralign = 1;
  sections[2].sh_type = SHT_DYNAMIC;
  sections[2].sh_offset = sizeof(Elf64_Ehdr) + names.size();
  sections[2].sh_size = dynamic.size();
  sections[2].sh_link = 1;
  sections[2].sh_entsize = sizeof(Elf64_Dyn);
  sections[2].sh_addralign = 8;
  std::string bytes;
  append(bytes, header);
  bytes += names + dynamic;
  for (const auto& section : sections) {
    append(bytes, section);
  }
  return bytes;
}

} // namespace cukit::test

// A folder that looks like a machine to the doctor: toolkits of small text files and shell scripts,
// Python environments of METADATA alone. Nothing in it is ever executed.
#pragma once

#include "base/environment.hpp"
#include "base/files.hpp"

#include <string>
#include <vector>

namespace cukit::test {

class FakeRoot {
public:
  FakeRoot(); ///< a Debian with g++ 12 and glibc 2.36, PATH and HOME set
  [[nodiscard]] const fs::path& path() const { return folder_.path(); }
  Environment environment;

  void put(const std::string& path, const std::string& text, unsigned mode = 0644) const;
  void link(const std::string& path, const std::string& target) const;
  void remove(const std::string& path) const;

  /// A program that says its version as NVIDIA's tools do.
  void tool(const std::string& path, const std::string& version) const;
  /// A whole, sound toolkit: parts, headers, CCCL, libraries, nvcc.profile as that release has it.
  void toolkit(const std::string& root, const std::string& version) const;
  /// cuda_runtime_api.h and its companions of a minor, in an include folder.
  void headers(const std::string& include, const std::string& minor) const;
  void crt(const std::string& include, const std::string& minor) const;
  void cccl(const std::string& include, const std::string& version) const;
  /// nvcc -> /usr/bin, as the variable PATH of a shell: folders put before what is there.
  void prepend_path(const std::string& folder);

  /// A venv; returns its site-packages.
  std::string venv(const std::string& prefix, const std::string& torch = {},
                   const std::string& cuda = {}) const;
  void dist(const std::string& site, const std::string& name, const std::string& version,
            const std::vector<std::string>& requirements = {}) const;
  /// The compiler's five wheels (names and nvidia/cu13) of these versions; empty ones are left out.
  struct Wheels {
    std::string nvcc;
    std::string nvvm;
    std::string crt;
    std::string runtime;
    std::string cccl;
  };
  void wheels(const std::string& site, const Wheels& wheels) const;
  void gpu(const std::string& model, const std::string& driver) const;
  void gxx(const std::string& version) const;

private:
  TempDirectory folder_;
};

/// An ELF shared object with nothing but a dynamic section.
std::string elf_library(const std::string& soname, const std::vector<std::string>& needed);

} // namespace cukit::test

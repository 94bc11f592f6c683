// A Python environment on the disk with packages as pip leaves them: files, METADATA, RECORD with
// digests, INSTALLER. What is in the packages is made up; nothing of it is executed.
#pragma once

#include "support/fake_root.hpp"

#include <map>

namespace cukit::test {

class FakeVenv {
public:
  FakeVenv(); ///< with activate, activate.fish and activate.csh as Python's own venv writes them
  [[nodiscard]] fs::path path() const { return root.path() / "venv"; }
  [[nodiscard]] fs::path site() const { return path() / "lib/python3.11/site-packages"; }

  /// Files by their path below site-packages. What stands there already is written over, as pip
  /// does.
  void wheel(const std::string& project, const std::string& version,
             const std::map<std::string, std::string>& files,
             const std::vector<std::string>& requirements = {}) const;
  /// The compiler's wheels of these versions, each with its RECORD.
  void cuda(const FakeRoot::Wheels& wheels) const;
  /// A torch that pins wheels of CUDA through the metapackage, as 2.11 does.
  void torch(const std::string& toolkit, const std::map<std::string, std::string>& pins) const;
  void put(const std::string& path, const std::string& text) const; ///< below the venv
  [[nodiscard]] std::string read(const std::string& path) const;
  void remove_dist(const std::string& folder) const; ///< its .dist-info alone

  FakeRoot root;

private:
  void record(const std::string& info, const std::vector<std::string>& paths) const;
};

/// Every file and link below a folder with its bytes or target, and its mode.
std::map<std::string, std::string> contents_of(const fs::path& folder);

} // namespace cukit::test

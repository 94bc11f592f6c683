// A Python index with small wheels in NVIDIA's names and layout, for faults that no real index has.
// Versions are ones that NVIDIA never published, so no pin of the knowledge applies; the programs
// in the wheels are shell scripts.
#pragma once

#include "support/fault_server.hpp"

#include <map>
#include <string>
#include <vector>

namespace cukit::test {

class FakeIndex {
public:
  /// Serves CUDA `release` (13.0.99) with nvcc 13.0.188 and all that core needs; `filler` bytes
  /// that do not compress are part of cicc, so that there is something to download.
  explicit FakeIndex(FaultServer& server, std::size_t filler = 200'000);

  /// Adds a release beside what is there: metapackage and wheels of `patch` ("13.0.98",
  /// "13.1.0rc1").
  void add_release(const std::string& version, const std::string& core_version);
  /// What `nvcc` of the next releases does; the default prints its version and copies nothing.
  void set_nvcc(std::string script) { nvcc_ = std::move(script); }
  /// When the files of the next releases were uploaded; empty: the page does not say.
  void set_upload_time(std::string time) { upload_time_ = std::move(time); }
  void publish(); ///< writes the pages; after add_release

  [[nodiscard]] std::string url() const; ///< of the simple index
  [[nodiscard]] std::string page_path(const std::string& project) const {
    return "/simple/" + project + "/";
  }
  [[nodiscard]] std::string file_path(const std::string& file) const { return "/files/" + file; }
  /// The wheel of a project in the last release added.
  [[nodiscard]] std::string file_of(const std::string& project) const;
  [[nodiscard]] const std::vector<std::string>& wheels() const {
    return wheels_;
  } ///< file names, without metapackages

private:
  void add_wheel(const std::string& project, const std::string& version,
                 std::vector<std::pair<std::string, std::string>> files);
  void add_file(const std::string& project, const std::string& file, std::string bytes);

  FaultServer& server_;
  std::size_t filler_;
  std::string nvcc_;
  std::string upload_time_ = "2026-01-01T00:00:00Z";
  std::map<std::string, std::vector<std::string>> entries_; ///< JSON of the files of each page
  std::map<std::string, std::string> last_;                 ///< project -> file
  std::vector<std::string> wheels_;
};

} // namespace cukit::test

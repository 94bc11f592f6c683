// A simple index on loopback, made of whatever a test adds.
#pragma once

#include "catalog/python_index.hpp"
#include "support/archive_forge.hpp"
#include "support/fault_server.hpp"

#include <gtest/gtest.h>

namespace cukit::catalog {

constexpr const char* k_json = "application/vnd.pypi.simple.v1+json";

inline std::string meta_wheel(const std::string& version, const std::string& nvcc) {
  return test::forge_wheel(
      test::ForgedWheel{.name = "cuda_toolkit",
                        .version = version,
                        .requires_dist = {"nvidia-cuda-nvcc==" + nvcc + ".*; extra == 'nvcc'"}});
}

class Index : public testing::Test {
protected:
  void SetUp() override {
    client_ = make_client();
    sources_.indexes = {{server_.url("/simple"), "--index-url", true}};
  }

  static std::unique_ptr<http::Client> make_client() {
    auto client =
        http::Client::create({.attempts = 2, .first_delay = std::chrono::milliseconds(1)});
    EXPECT_TRUE(client);
    return client ? *std::move(client) : nullptr;
  }

  void add(const std::string& project, const std::string& file, const std::string& bytes,
           const std::string& more = "", const std::string& root = "/simple") {
    auto& entries = entries_[root + "/" + project + "/"];
    entries +=
        (entries.empty() ? "" : ",") +
        fmt::format(
            R"({{"filename": "{0}", "url": "/files/{0}", "size": {1}, "hashes": {{"sha256": "{2}"}}{3}}})",
            file, bytes.size(), sha256_of(bytes).hex(), more);
    server_.serve("/files/" + file, bytes);
    server_.serve(root + "/" + project + "/",
                  R"({"meta": {"api-version": "1.1"}, "files": [)" + entries + "]}", k_json);
  }

  void add_release(const std::string& version, const std::string& nvcc,
                   const std::string& more = "") {
    add("cuda-toolkit", "cuda_toolkit-" + version + "-py2.py3-none-any.whl",
        meta_wheel(version, nvcc), more);
  }

  Result<Catalog> load(const std::vector<std::string>& projects = {"nvidia-cuda-nvcc"}) {
    return PythonIndex(*client_, sources_)
        .load(projects, [](const Version& v) { return v.major() == 13; }, {});
  }

  static Result<std::vector<std::string>> locate(PythonIndex& index, const std::string& file,
                                                 const Sha256& sha256) {
    Search search{.file = file, .sha256 = sha256};
    CUKIT_TRY(index.search({&search}, {}));
    if (search.locations.empty()) {
      return tl::unexpected<Error>(PythonIndex::not_found(search));
    }
    return search.locations;
  }
  Result<std::vector<std::string>> locate(const std::string& file, const Sha256& sha256) {
    PythonIndex index(*client_, sources_);
    return locate(index, file, sha256);
  }

  test::FaultServer server_;
  std::unique_ptr<http::Client> client_;
  source::Sources sources_;
  std::map<std::string, std::string> entries_;
};

inline bool has_text(const std::vector<std::string>& lines, std::string_view text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(text) != std::string::npos; });
}

} // namespace cukit::catalog

// A maths wheel in NVIDIA's layout behind a server that can do wrong, and a session with a store of
// its own.
#pragma once

#include "pipeline/entries.hpp"
#include "support/archive_forge.hpp"
#include "support/fault_server.hpp"

#include <gmock/gmock.h>
#include <mutex>
#include <random>

namespace cukit::pipeline {

class Lines final : public Progress {
public:
  int begin(std::string_view, std::uint64_t, std::string_view) override { return 0; }
  void advance(int, std::uint64_t) override {}
  void reset(int, std::uint64_t) override {}
  void end(int) override {}
  void say(std::string_view line) override {
    const std::lock_guard guard(mutex);
    lines.emplace_back(line);
  }
  std::mutex mutex; ///< guards the lines
  std::vector<std::string> lines;
};

inline std::string noise(std::size_t size, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::string bytes;
  bytes.reserve(size + 8);
  while (bytes.size() < size) {
    const auto word = engine();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  bytes.resize(size);
  return bytes;
}

class Places : public ::testing::Test {
protected:
  static constexpr std::size_t k_library = 10'000'000;

  Places() {
    test::ForgedWheel forged;
    forged.name = "nvidia_cublas";
    forged.version = "13.1.0.3";
    for (int i = 0; i < 12; ++i) {
      forged.files.emplace_back(fmt::format("nvidia/cu13/include/cublas_{}.h", i),
                                fmt::format("/* {} */\n", i) + std::string(60'000, ' '));
    }
    forged.files.emplace_back("nvidia/cu13/lib/libcublas.so.13", noise(k_library, 1));
    forged.files.emplace_back("nvidia/cu13/lib/libcublasLt.so.13", noise(k_library, 2));
    forged.files.emplace_back("nvidia_cublas-13.1.0.3.dist-info/licenses/License.txt", "terms\n");
    for (const auto& entry : test::wheel_entries(forged)) {
      record = entry.name.ends_with("/RECORD") ? sha256_of(entry.content) : record;
    }
    bytes = test::forge_wheel(forged);
    serve(server, bytes);
    environment.set("CUKIT_INDEX_URL", server.url("/simple"));
    environment.set("HOME", folder->path().string());
  }

  void serve(test::FaultServer& into, const std::string& content) const {
    into.serve(k_path, content);
    into.serve("/simple/nvidia-cublas/",
               fmt::format(R"({{"meta": {{"api-version": "1.1"}}, "name": "nvidia-cublas", "files":
                 [{{"filename": "{0}", "url": "../../files/{0}", "hashes": {{"sha256": "{1}"}}, "size": {2}}}]}})",
                           k_file, sha256_of(bytes).hex(), bytes.size()),
               "application/vnd.pypi.simple.v1+json");
  }
  [[nodiscard]] lock::Artifact artifact(std::vector<std::string> take) const {
    lock::Artifact result;
    result.component = "cublas";
    result.version = *Version::parse("13.1.0.3");
    result.source = "wheels";
    result.file = k_file;
    result.size = bytes.size();
    result.sha256 = sha256_of(bytes);
    result.root = "nvidia/cu13";
    if (!take.empty()) {
      result.record = record;
      result.trust_first_lock = true;
      result.take = std::move(take);
    }
    return result;
  }
  /// In a home of its own, so that every call begins with an empty store.
  Result<store::Entry> obtain(const lock::Artifact& wanted) {
    lines.lines.clear();
    const auto root = folder->path() / fmt::format("home{}", ++homes);
    const store::Home home{.root = root, .cache = root / "cache"};
    CUKIT_TRY(store::prepare(home));
    Session session(environment, home, knowledge::Knowledge::embedded(), settings, lines,
                    stop.get_token());
    lock::PlatformLock platform;
    platform.platform = Platform::host();
    platform.artifacts = {wanted};
    auto entries = obtain_entries(session, platform);
    downloaded = session.downloaded_bytes;
    CUKIT_TRY(entries);
    return entries->begin()->second;
  }
  static std::vector<std::string> names(const store::Entry& entry) {
    std::vector<std::string> result;
    for (const auto& file : entry.list) {
      result.push_back(file.path.text());
    }
    return result;
  }

  static constexpr const char* k_file = "nvidia_cublas-13.1.0.3-py3-none-manylinux_2_17_x86_64.whl";
  static constexpr const char* k_path =
      "/files/nvidia_cublas-13.1.0.3-py3-none-manylinux_2_17_x86_64.whl";
  Result<TempDirectory> folder = TempDirectory::create(::testing::TempDir(), "places");
  test::FaultServer server;
  std::string bytes; ///< of the wheel
  Sha256 record;
  Environment environment;
  Settings settings;
  Lines lines;
  std::stop_source stop;
  int homes = 0;
  std::uint64_t downloaded = 0;
};

} // namespace cukit::pipeline

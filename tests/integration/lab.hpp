// What the tests of crashes, faults and many processes share: an index, a home, a manifest, and the
// questions that are asked afterwards.
#pragma once

#include "support/cukit_program.hpp"
#include "support/fake_index.hpp"
#include "support/faults.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::test {

class Lab {
public:
  explicit Lab(std::size_t filler = 20'000) : index(server, filler) {
    index.add_release("13.0.99", "13.0.188");
    index.publish();
    playground.environment.set("CUKIT_INDEX_URL", index.url());
    manifest = playground.write("demo.yaml", text());
  }

  static std::string text(const std::string& more = {}) {
    return "cukit: 1\nname: demo\ngpus: [sm_90]\ntoolkit: {nvcc: \"13.0\"}\n" + more;
  }
  [[nodiscard]] fs::path lock() const { return playground.path() / "demo.lock.yaml"; }
  [[nodiscard]] std::string lock_text() const { return read_file(lock(), 1U << 20U).value_or(""); }

  [[nodiscard]] Finished up(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"up", "--no-validate", manifest.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return playground.run(arguments);
  }

  /// Neither home nor lock.
  void begin_anew() const {
    ASSERT_TRUE(remove_tree(playground.home()));
    ASSERT_TRUE(remove_tree(lock()));
  }

  /// Everything that is visible is whole.
  void expect_whole(const std::string& after) const {
    expect_nothing_hollow(after);
    const auto verified = playground.run({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << after << ": " << verified.output << verified.errors;
  }

  /// The same command works, leaves one tree and nothing in staging.
  void expect_rerun(const std::string& after) const {
    const auto again = up();
    EXPECT_EQ(again.exit_code, 0) << after << ": " << again.errors;
    EXPECT_THAT(playground.names_in("staging"), ::testing::IsEmpty()) << after;
    EXPECT_THAT(playground.names_in("names"), ::testing::ElementsAre("demo")) << after;
    expect_whole(after + ", run again");
  }

  FaultServer server;
  FakeIndex index;
  Playground playground;
  fs::path manifest;

private:
  static void expect_bytes(const fs::path& file, const std::string& after) {
    std::error_code none;
    EXPECT_GT(fs::file_size(file, none), 0U) << after << ": " << file;
    EXPECT_FALSE(none) << after << ": " << file;
  }

  /// Nothing leads to nothing: no index, tree or name to a file that is missing or has no bytes.
  void expect_nothing_hollow(const std::string& after) const {
    const auto home = playground.home();
    for (const auto& key : playground.names_in("store")) {
      expect_bytes(home / "store" / key / "index", after);
    }
    for (const auto& id : playground.names_in("trees")) {
      expect_bytes(home / "trees" / id / ".cukit/content", after);
      expect_bytes(home / "trees" / id / ".cukit/files", after);
    }
    for (const auto& name : playground.names_in("names")) {
      const auto current = home / "names" / name / "current";
      if (path_exists(current)) {
        expect_bytes(current / "tree", after);
        expect_bytes(current / "lock", after);
        const auto id = read_file(current / "tree", 1000).value_or("");
        EXPECT_TRUE(folder_exists(home / "trees" / id.substr(0, id.find('\n')))) << after;
      }
    }
  }
};

/// The tests that skip when nothing can be injected; reads like a sentence at the top of a test.
#define CUKIT_NEEDS_FAULTS()                                                                       \
  if (const auto why = no_faults_because(); !why.empty()) {                                        \
    GTEST_SKIP() << why;                                                                           \
  }

} // namespace cukit::test

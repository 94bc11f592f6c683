// Two releases behind an index, a home, and what the tests of generations, gc and repair ask.
#pragma once

#include "assemble/assemble.hpp"
#include "support/cukit_program.hpp"
#include "support/fake_index.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::test {

class StoreRun : public ::testing::Test {
protected:
  StoreRun() : index(server, 20'000) {
    index.add_release("13.0.98", "13.0.187");
    index.add_release("13.0.99", "13.0.188");
    index.publish();
    playground.environment.set("CUKIT_INDEX_URL", index.url());
    playground.environment.set("CUKIT_SYSTEM_HOME", "none");
  }

  static std::string manifest_of(const std::string& name, const std::string& nvcc) {
    return "cukit: 1\nname: " + name + "\ngpus: [sm_90]\ntoolkit: {nvcc: \"==" + nvcc + "\"}\n";
  }
  /// Writes NAME.yaml and brings it up; its content digest.
  std::string up(const std::string& name, const std::string& nvcc = "13.0.188",
                 std::vector<std::string> more = {}) {
    const auto manifest = playground.write(name + ".yaml", manifest_of(name, nvcc));
    std::vector<std::string> arguments{"up", "--no-validate", "--json", manifest.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = playground.run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    return value_of(done.output, "digest");
  }
  /// The text after "KEY": " in JSON; of several the first.
  static std::string value_of(const std::string& json, const std::string& key) {
    const auto at = json.find("\"" + key + "\": \"");
    if (at == std::string::npos) {
      return {};
    }
    const auto begin = at + key.size() + 5;
    return json.substr(begin, json.find('"', begin) - begin);
  }
  std::string run(const std::vector<std::string>& arguments, int expected = 0) const {
    const auto done = playground.run(arguments);
    EXPECT_EQ(done.exit_code, expected) << ::testing::PrintToString(arguments) << "\n"
                                        << done.output << done.errors;
    return done.output + done.errors;
  }
  /// Where the tree of a name stands.
  [[nodiscard]] fs::path tree(const std::string& name) const {
    const auto id = read_file(playground.home() / "names" / name / "current/tree", 100);
    EXPECT_TRUE(id);
    return playground.home() / "trees" / (id ? id->substr(0, 64) : "");
  }

  FaultServer server;
  FakeIndex index;
  Playground playground;
};

} // namespace cukit::test

// A manifest, an index that can do wrong, and a home of its own for the program under test.
#pragma once

#include "support/cukit_program.hpp"
#include "support/fake_index.hpp"

#include <gmock/gmock.h>

namespace cukit::test {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

inline constexpr const char* k_manifest =
    "cukit: 1\nname: demo\ngpus: [sm_90]\ntoolkit:\n  nvcc: \"13.0\"\n";

class Trouble : public ::testing::Test {
protected:
  Trouble() : index(server) {
    index.add_release("13.0.99", "13.0.188");
    index.publish();
    playground.environment.set("CUKIT_INDEX_URL", index.url());
    manifest = playground.write("demo.yaml", k_manifest);
  }

  [[nodiscard]] Finished up(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"up", "--no-validate", manifest.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return playground.run(arguments);
  }

  /// No tree, no entry, no name, nothing in staging that is not swept; and then everything works.
  void expect_clean_and_recoverable() {
    EXPECT_THAT(playground.names_in("trees"), IsEmpty());
    EXPECT_THAT(playground.names_in("names"), IsEmpty());
    const auto again = up();
    EXPECT_EQ(again.exit_code, 0) << again.errors;
    EXPECT_EQ(playground.names_in("trees").size(), 1U);
    EXPECT_THAT(playground.names_in("staging"), IsEmpty());
    const auto verified = playground.run({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
  }

  FaultServer server;
  FakeIndex index;
  Playground playground;
  fs::path manifest;
};

} // namespace cukit::test

// PyTorch's releases, compared with the facts they were taken from.
#include "knowledge/knowledge.hpp"
#include "knowledge/parse.hpp"
#include "text/node.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <set>

namespace cukit::knowledge {
namespace {

using testing::HasSubstr;

const Knowledge& binary() {
  static const auto knowledge = Knowledge::embedded();
  return knowledge;
}

const std::vector<TorchRelease>& torches() {
  const auto list = binary().torch_releases();
  EXPECT_TRUE(list) << list.error().message << list.error().where;
  static const std::vector<TorchRelease> none;
  return list ? **list : none;
}

TEST(TorchReleases, reach_from_2_1_to_2_15) {
  std::set<std::string> minors;
  for (const auto& torch : torches()) {
    minors.insert(torch.version.major_minor());
  }
  for (int minor = 1; minor <= 15; ++minor) {
    EXPECT_TRUE(minors.contains(fmt::format("2.{}", minor))) << minor;
  }
}

TEST(TorchReleases, tags_agree_with_the_cuda_of_their_builds) {
  for (const auto& torch : torches()) {
    for (const auto& [tag, build] : torch.builds) {
      const auto cuda = build.cuda->major_minor();
      EXPECT_EQ(tag, "cu" + cuda.substr(0, 2) + cuda.substr(3)) << torch.version.text();
    }
  }
}

/// PyTorch's RELEASE.md.
TEST(TorchReleases, know_what_2_11_was_built_with) {
  const auto found = std::find_if(torches().begin(), torches().end(), [](const auto& torch) {
    return torch.version.text() == "2.11.0";
  });
  ASSERT_NE(found, torches().end());
  EXPECT_EQ(found->default_tag, "cu130");
  EXPECT_EQ(found->builds.at("cu130").cuda->text(), "13.0.2");
  EXPECT_EQ(found->builds.at("cu130").cudnn->text(), "9.19.0.56");
  EXPECT_EQ(found->needs.at("triton").text(), "3.6.0");
}

/// What the wheels of the default index require (their METADATA): version, triton,
/// nvidia-cuda-runtime, cuDNN, NCCL.
TEST(TorchReleases, default_builds_are_what_their_wheels_require) {
  static constexpr const char* wheels[][5] = {
      {"2.1.0", "2.1.0", "12.1.105", "8.9.2.26", "2.18.1"},
      {"2.2.0", "2.2.0", "12.1.105", "8.9.2.26", "2.19.3"},
      {"2.3.0", "2.3.0", "12.1.105", "8.9.2.26", "2.20.5"},
      {"2.4.0", "3.0.0", "12.1.105", "9.1.0.70", "2.20.5"},
      {"2.5.0", "3.1.0", "12.4.127", "9.1.0.70", "2.21.5"},
      {"2.6.0", "3.2.0", "12.4.127", "9.1.0.70", "2.21.5"},
      {"2.9.0", "3.5.0", "12.8.90", "9.10.2.21", "2.27.5"},
      {"2.14.0", "3.8.0", "13.0.96", "9.24.0.43", "2.30.7"},
      {"2.15.0", "3.9.0", "13.2.86", "9.26.0.51", "2.30.7"}};
  for (const auto& [version, triton, cudart, cudnn, nccl] : wheels) {
    const auto torch = std::find_if(torches().begin(), torches().end(),
                                    [&](const auto& one) { return one.version.text() == version; });
    ASSERT_NE(torch, torches().end()) << version;
    const auto& build = torch->builds.at(torch->default_tag);
    EXPECT_EQ(torch->needs.at("triton").text(), triton) << version;
    EXPECT_EQ(build.cudnn->text(), cudnn) << version;
    EXPECT_EQ(build.nccl->text(), nccl) << version;
    const auto& tables = *binary().tables().value();
    const auto release = std::find_if(tables.begin(), tables.end(), [&](const auto& table) {
      return table.source == "redist" && table.release == *build.cuda;
    });
    ASSERT_NE(release, tables.end()) << version;
    EXPECT_EQ(release->components.at("cuda_cudart").text(), cudart) << version;
  }
}

TEST(TorchReleases, defaults_agree_with_the_table_of_tags) {
  std::size_t compared = 0;
  for (const auto& tag : *binary().pytorch().value()) {
    for (const auto& minor : tag.default_of) {
      for (const auto& torch : torches()) {
        if (torch.version.same_minor(minor)) {
          EXPECT_EQ(torch.default_tag, tag.tag) << torch.version.text();
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, torches().size()); // whoever writes `pytorch: 2.4` is understood
}

TEST(TorchReleases, mistakes_are_named) {
  const auto refused = parse_torch_releases("releases:\n  - {torch: \"2.1\", date: x, needs: "
                                            "{triton: \"2\"}, default: cu1, builds: {cu2: [y]}, "
                                            "evidence: documented}\n",
                                            "t.yaml");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().causes.size(), 3U);
}

} // namespace
} // namespace cukit::knowledge

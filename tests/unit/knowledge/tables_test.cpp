// versions.txt and redist.sha256, compared with NVIDIA's own manifests.
#include "knowledge/knowledge.hpp"
#include "knowledge/parse.hpp"
#include "support/real_manifests.hpp"
#include "text/json.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::knowledge {
namespace {

using testing::HasSubstr;

const Knowledge& binary() {
  static const auto knowledge = Knowledge::embedded();
  return knowledge;
}

const ReleaseTable* table(const std::string& source, const std::string& release) {
  const auto tables = binary().tables();
  EXPECT_TRUE(tables) << tables.error().message << tables.error().where;
  static const std::vector<ReleaseTable> none;
  for (const auto& one : tables ? **tables : none) {
    if (one.source == source && one.release == Version::parse(release).value()) {
      return &one;
    }
  }
  return nullptr;
}

/// NVIDIA's archive of releases names these; 12.7 never was, 13.4.0 was a preview.
TEST(Tables, hold_every_release_from_11_8_to_13_5) {
  for (const auto* release :
       {"11.8.0", "12.0.0", "12.0.1", "12.1.0", "12.1.1", "12.2.0", "12.2.1", "12.2.2", "12.3.0",
        "12.3.1", "12.3.2", "12.4.0", "12.4.1", "12.5.0", "12.5.1", "12.6.0", "12.6.1", "12.6.2",
        "12.6.3", "12.8.0", "12.8.1", "12.8.2", "12.9.0", "12.9.1", "12.9.2", "13.0.0", "13.0.1",
        "13.0.2", "13.0.3", "13.1.0", "13.1.1", "13.1.2", "13.2.0", "13.2.1", "13.2.2", "13.3.0",
        "13.3.1", "13.4.1", "13.4.2", "13.4.3", "13.5.0"}) {
    EXPECT_NE(table("redist", release), nullptr) << release;
    EXPECT_EQ(table("wheels", release) != nullptr, std::string(release) >= "13") << release;
  }
  EXPECT_EQ(binary().tables().value()->size(), 41U + 16U);
}

TEST(Tables, say_what_nvidias_release_notes_say) {
  EXPECT_EQ(table("redist", "12.4.1")->components.at("cuda_nvcc").text(), "12.4.131");
  EXPECT_EQ(table("redist", "12.4.1")->components.at("cuda_cudart").text(), "12.4.127");
  EXPECT_EQ(table("wheels", "13.0.2")->components.at("nvidia-cuda-nvcc").text(), "13.0.88");
  EXPECT_EQ(table("wheels", "13.0.2")->components.at("nvidia-cuda-runtime").text(), "13.0.96");
  EXPECT_EQ(table("redist", "13.3.0")->components.at("cccl").text(), "13.3.3.3.1");
}

TEST(Tables, both_sources_of_a_release_agree) {
  for (const auto& [redist, wheels] :
       {std::pair("cuda_nvcc", "nvidia-cuda-nvcc"), std::pair("cuda_cudart", "nvidia-cuda-runtime"),
        std::pair("libcublas", "nvidia-cublas")}) {
    for (const auto& one : *binary().tables().value()) {
      const auto* other = table("wheels", one.release.text());
      if (one.source == "redist" && one.evidence == "documented" && other != nullptr) {
        EXPECT_EQ(one.components.at(redist), other->components.at(wheels))
            << one.release.text() << " " << redist;
      }
    }
  }
}

TEST(Tables, are_those_of_the_real_manifests) {
  std::set<std::string> labels;
  for (const auto& one : test::real_manifests()) {
    if (one.product == "cuda") {
      labels.insert(one.label);
    }
  }
  int compared = 0;
  for (const auto& one : *binary().tables().value()) {
    const auto label = one.release.text();
    if (one.source != "redist" || one.evidence != "documented") {
      EXPECT_TRUE(one.source == "wheels" || !labels.contains(label)) << label;
      continue;
    }
    ++compared;
    const auto json = text::Json::parse(test::real_manifest("cuda", label), "m").value();
    EXPECT_EQ(one.date, json.text_of("release_date"));
    std::map<std::string, Version> expected; // 545.23.06 equals 545.23.6
    for (const auto& [key, value] : json.members()) {
      if (value.is(text::Json::Kind::object)) {
        expected[key] = Version::parse(value.text_of("version")).value();
      }
    }
    EXPECT_TRUE(one.components == expected) << label;
  }
  EXPECT_EQ(compared, 30);
}

TEST(Tables, mistakes_name_file_and_line) {
  const auto refused = [](const std::string& text) {
    const auto tables = parse_tables(text, "v.txt");
    return tables ? std::string("none") : tables.error().where + " " + tables.error().message;
  };
  EXPECT_EQ(
      refused("# x\nredist 12.4.1 documented\n  1.2 a b\n\nwheels 12.4.1 derived 2024-01-01\n"),
      "none");
  EXPECT_THAT(refused("redist 12.4.1\n"), HasSubstr("v.txt:1 "));
  EXPECT_THAT(refused("conda 12.4.1 documented\n"), HasSubstr("v.txt:1 "));
  EXPECT_THAT(refused("redist 12.4.1 rumoured\n"), HasSubstr("v.txt:1 "));
  EXPECT_THAT(refused("  1.2 a\n"), HasSubstr("v.txt:1 "));
  EXPECT_THAT(refused("redist 12.4.1 documented\n  x a\n"), HasSubstr("v.txt:2 "));
  EXPECT_THAT(refused("redist 12.4.1 documented\n  1.2\n"), HasSubstr("v.txt:2 "));
  EXPECT_THAT(refused("redist 12.4.1 documented\n  1.2 a\n  1.3 a\n"), HasSubstr("two versions"));
  EXPECT_THAT(refused("redist 12.4.1 documented\nredist 12.4.1 documented\n"), HasSubstr("twice"));
}

/// The digest of the list that NVIDIA's manifests were hashed into, `PRODUCT LABEL SHA256` a line.
TEST(RedistPins, are_the_known_digests_of_nvidias_manifests) {
  std::string list;
  for (const auto& [file, digest] : *binary().pins().value()) {
    const auto product = file.substr(0, file.find('/'));
    const auto label = file.substr(file.rfind('_') + 1, file.rfind('.') - file.rfind('_') - 1);
    if (file.find("/redist/redistrib_") != std::string::npos) {
      list += fmt::format("{} {} {}\n", product, label, digest.hex());
    }
  }
  EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 74);
  EXPECT_EQ(sha256_of(list).hex(),
            "09d29ac33c2524bb3bbcabd2ff95fbb941fc1532a352a0736fe7a802a6d15fda");
}

TEST(RedistRecipes, every_component_of_a_manifest_is_named_by_its_key) {
  const auto& components = *binary().components().value();
  const auto* known = table("redist", "13.2.1");
  for (const auto& component : components) {
    const auto& redist = component.redist;
    if (redist.names.empty() || redist.product != "cuda") {
      continue;
    }
    EXPECT_EQ(redist.evidence, "documented") << component.name;
    const bool is_there =
        std::any_of(redist.names.begin(), redist.names.end(),
                    [&](const auto& name) { return known->components.contains(name); });
    EXPECT_TRUE(is_there) << component.name;
    if (redist.older && !redist.older->within.empty()) {
      EXPECT_NE(find_component(components, redist.older->within), nullptr) << component.name;
    }
  }
}

TEST(RedistRecipes, before_13_nvcc_brings_its_own_headers_and_compiler) {
  const auto& components = *binary().components().value();
  const auto cuda = [](const char* text) { return Version::parse(text).value(); };
  for (const auto* name : {"crt", "nvvm", "nvptxcompiler"}) {
    const auto& redist = find_component(components, name)->redist;
    EXPECT_TRUE(redist.is_older(cuda("12.9.1"))) << name;
    EXPECT_FALSE(redist.is_older(cuda("13.0.0"))) << name;
    EXPECT_EQ(redist.older->within, "nvcc") << name;
  }
  EXPECT_EQ(find_component(components, "culibos")->redist.older->within, "cudart");
}

TEST(RedistRecipes, projects_of_libraries_carry_cudas_major) {
  const auto& components = *binary().components().value();
  const auto* cudnn = find_component(components, "cudnn");
  ASSERT_NE(cudnn, nullptr);
  EXPECT_EQ(cudnn->project_of(Version::parse("12.9.1").value()), "nvidia-cudnn-cu12");
  EXPECT_EQ(cudnn->project_of(Version::parse("13.0").value()), "nvidia-cudnn-cu13");
}

} // namespace
} // namespace cukit::knowledge

#include "knowledge/knowledge.hpp"
#include "model/tree_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

namespace cukit::knowledge {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T> const T& need(const Result<const T*>& result) {
  if (!result) {
    throw std::runtime_error(result.error().message + " " + result.error().where + " " +
                             fmt::format("{}", fmt::join(result.error().causes, "\n")));
  }
  return **result;
}

/// The pointers that a Knowledge gives out live as long as it does.
const Knowledge& binary() {
  static const auto knowledge = Knowledge::embedded();
  return knowledge;
}

TEST(Recipes, every_file_in_the_binary_parses) {
  const auto& knowledge = binary();
  EXPECT_EQ(need(knowledge.releases()).size(), 16U);
  EXPECT_EQ(need(knowledge.architectures()).size(), 24U);
  EXPECT_EQ(need(knowledge.products()).size(), 174U);
  EXPECT_EQ(need(knowledge.components()).size(), 36U);
  EXPECT_GE(need(knowledge.consumers()).size(), 10U);
  EXPECT_GE(need(knowledge.pytorch()).size(), 9U);
  EXPECT_TRUE(knowledge.pins().has_value());
}

TEST(Recipes, the_folder_says_the_same_as_the_binary) {
  const auto& inside = binary();
  const auto outside = Knowledge::from(fs::path(CUKIT_SOURCE_DIR) / "recipes");
  const auto files = inside.list("components");
  ASSERT_TRUE(files.has_value());
  EXPECT_EQ(*files, outside.list("components").value_or(std::vector<std::string>()));
  for (const auto& file : *files) {
    EXPECT_EQ(inside.read(file).value_or("?"), outside.read(file).value_or("!")) << file;
  }
}

TEST(Recipes, a_folder_without_files_is_an_error_with_its_path) {
  auto folder = TempDirectory::create(fs::temp_directory_path(), "recipes");
  ASSERT_TRUE(folder.has_value());
  const auto result = Knowledge::from(folder->path()).releases();
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message + result.error().where, HasSubstr("releases.yaml"));
}

TEST(Recipes, mistakes_name_file_line_and_the_near_key) {
  auto folder = TempDirectory::create(fs::temp_directory_path(), "recipes");
  ASSERT_TRUE(folder.has_value());
  ASSERT_TRUE(make_directories(folder->path() / "components").has_value());
  ASSERT_TRUE(create_file(folder->path() / "components/x.yaml",
                          "summary: x\nproject: p\nfollows: core\nprovide: [a]\nleave: [../b]\n")
                  .has_value());
  const auto result = Knowledge::from(folder->path()).components();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::usage);
  ASSERT_EQ(result.error().causes.size(), 2U);
  EXPECT_THAT(result.error().causes[0],
              HasSubstr("x.yaml:4:1: a component has no key `provide`; did you mean `provides`?"));
  EXPECT_THAT(result.error().causes[1], HasSubstr("x.yaml:5:9: `../b` is no path inside a tree"));
}

class ConsumerRecipe : public ::testing::Test {
protected:
  /// The consumers of a folder with this one alone.
  Result<std::vector<Consumer>> parsed(const std::string& text) {
    EXPECT_TRUE(make_directories(folder.path() / "consumers"));
    EXPECT_TRUE(make_directories(folder.path() / "knowledge"));
    EXPECT_TRUE(make_directories(folder.path() / "components"));
    EXPECT_TRUE(write_file_atomic(folder.path() / "components/nvcc.yaml",
                                  "summary: nvcc\nproject: p\nfollows: core\n"));
    EXPECT_TRUE(
        write_file_atomic(folder.path() / "knowledge/groups.yaml", "groups: {core: [nvcc]}\n"));
    EXPECT_TRUE(write_file_atomic(folder.path() / "consumers/mine.yaml",
                                  "summary: mine\nneeds: [core]\nwhy: seen\n" + text));
    const auto knowledge = Knowledge::from(folder.path());
    CUKIT_TRY_ASSIGN(const auto* list, knowledge.consumers());
    return *list;
  }
  TempDirectory folder = *TempDirectory::create(fs::temp_directory_path(), "recipes");
};

TEST_F(ConsumerRecipe, an_older_version_differs_in_what_it_says_and_is_else_the_same) {
  const auto list =
      parsed("environment: {A: \"1\"}\n"
             "discovery: {present: [mine*], root: [env A], libraries: [lib64]}\n"
             "versions:\n"
             "  - {when: \"<2\", environment: {B: \"2\"}, discovery: {root: [env B]}}\n"
             "  - {when: \"<3\", takes: {ptxas: \"<13\"}}\n");
  ASSERT_TRUE(list) << list.error().message;
  const auto& mine = list->front();
  const auto at = [&](const char* version) -> const Consumer& {
    return at_version(mine, Version::parse(version).value());
  };
  EXPECT_EQ(&at_version(mine, std::nullopt), &mine);
  EXPECT_EQ(&at("3.0"), &mine);
  EXPECT_EQ(at("1.9").environment.at(0).name, "B");
  EXPECT_EQ(at("1.9").discovery.root.at(0).argument, "B");
  EXPECT_THAT(at("1.9").discovery.libraries, ElementsAre("lib64"));
  EXPECT_EQ(at("1.9").name, "mine");
  EXPECT_EQ(at("2.5").environment.at(0).name, "A");
  EXPECT_TRUE(at("2.5").takes_ptxas.has_value());
  EXPECT_EQ(&at("3.0.dev1+local"), &mine) << "a pre-release of 3.0 is nearer to it";
  EXPECT_TRUE(brings(mine.discovery, "mine-cuda12x"));
  EXPECT_FALSE(brings(mine.discovery, "not-mine"));
}

TEST_F(ConsumerRecipe, mistakes_in_it_are_named_with_their_place) {
  for (const auto& [text, message] :
       {std::pair{"versions: [{environment: {A: b}}]\n", "needs `when`"},
        {"versions: [{when: \"<2\", enviroment: {A: b}}]\n", "no key `enviroment`"},
        {"environment: {\"A B\": x}\n", "no name of a variable"},
        {"reach: {folder: [A]}\n", "did you mean `folders`"},
        {"caches: [{variable: A, entries: [\"*\"], holds: builds}]\n", "`usual` or `below`"},
        {"caches: [{usual: ../x, entries: [\"*\"], holds: builds}]\n", "no path inside"},
        {"discovery: {root: [flag XLA_FLAGS]}\n", "too few"},
        {"architectures: {variable: A, style: odd, separator: \";\"}\n", "number or major"}}) {
    const auto list = parsed(text);
    ASSERT_FALSE(list) << text;
    std::string all = list.error().message + " " + list.error().hint;
    for (const auto& cause : list.error().causes) {
      all += "\n" + cause;
    }
    EXPECT_THAT(all, HasSubstr(message)) << text;
  }
}

// Trees keep NVIDIA's layout: what the code says of it is what the recipes bring.
TEST(Recipes, bring_programs_to_where_the_layout_says) {
  const auto& components = need(binary().components());
  const auto* nvcc = find_component(components, "nvcc");
  const auto* nvvm = find_component(components, "nvvm");
  const auto* cudart = find_component(components, "cudart");
  ASSERT_TRUE(nvcc != nullptr && nvvm != nullptr && cudart != nullptr);
  EXPECT_THAT(nvcc->parts.at("ptxas"),
              ElementsAre(std::string(layout::k_ptxas), std::string(layout::k_nvlink)));
  for (const auto place :
       {layout::k_nvcc, layout::k_ptxas, layout::k_nvlink, layout::k_fatbinary, layout::k_cudafe}) {
    EXPECT_THAT(nvcc->provides, Contains(std::string(place)));
  }
  EXPECT_THAT(nvvm->provides, Contains(std::string(layout::k_cicc)));
  EXPECT_THAT(nvvm->provides, Contains(HasSubstr(std::string(layout::k_libdevice) + "/")));
  EXPECT_THAT(cudart->provides, Contains(std::string(layout::k_runtime_header)));
  EXPECT_THAT(cudart->provides, Contains(std::string(layout::k_driver_header)));
}

// PTX ISA versions as NVIDIA's PTX ISA release history gives them.
TEST(Releases, know_the_ptx_isa_of_each_minor) {
  const auto& releases = need(binary().releases());
  const std::pair<const char*, const char*> expected[] = {
      {"11.8", "7.8"}, {"12.0", "8.0"}, {"12.5", "8.5"}, {"12.6", "8.5"}, {"12.8", "8.7"},
      {"12.9", "8.8"}, {"13.0", "9.0"}, {"13.2", "9.2"}, {"13.5", "9.5"}};
  for (const auto& [cuda, ptx] : expected) {
    const auto* release = find_release(releases, *Version::parse(cuda));
    ASSERT_NE(release, nullptr) << cuda;
    EXPECT_EQ(release->ptx.text(), ptx) << cuda;
  }
  EXPECT_EQ(find_release(releases, *Version::parse("12.7.1")), nullptr);
  EXPECT_EQ(find_release(releases, *Version::parse("13.10")), nullptr);
  EXPECT_TRUE(std::is_sorted(releases.begin(), releases.end(),
                             [](const auto& a, const auto& b) { return a.minor < b.minor; }));
}

TEST(Releases, find_the_minor_of_a_component_version) {
  const auto* release = find_release(need(binary().releases()), *Version::parse("13.2.78"));
  ASSERT_NE(release, nullptr);
  EXPECT_EQ(release->driver_branch, 595);
  EXPECT_EQ(release->driver_floor, 580);
  EXPECT_EQ(release->gcc_max, 15);
  EXPECT_EQ(release->clang_max, 21);
  EXPECT_EQ(release->cccl.text(), "3.2");
}

TEST(Components, refer_only_to_components_that_exist) {
  const auto& knowledge = binary();
  const auto names = knowledge.component_names().value_or(std::vector<std::string>());
  for (const auto& component : need(knowledge.components())) {
    for (const auto& needed : component.needs) {
      EXPECT_THAT(names, Contains(needed)) << component.name;
    }
    EXPECT_FALSE(component.provides.empty()) << component.name;
  }
  for (const auto& [group, members] : need(knowledge.groups())) {
    EXPECT_EQ(std::find(names.begin(), names.end(), group), names.end())
        << group << " is a component too";
    for (const auto& member : members) {
      EXPECT_THAT(names, Contains(member)) << group;
    }
  }
  for (const auto& consumer : need(knowledge.consumers())) {
    for (const auto& needed : consumer.needs) {
      EXPECT_THAT(names, Contains(needed)) << consumer.name;
    }
    for (const auto& needed : consumer.headers) {
      const auto* component = find_component(need(knowledge.components()), needed);
      ASSERT_NE(component, nullptr) << consumer.name << " " << needed;
      EXPECT_THAT(component->headers, ElementsAre("include/")) << needed;
    }
  }
}

TEST(Components, no_default_group_brings_the_static_ptx_compiler) {
  for (const auto& [group, members] : need(binary().groups())) {
    EXPECT_THAT(members, ::testing::Not(Contains("nvptxcompiler"))) << group;
  }
}

TEST(Components, ptxas_comes_with_its_partner) {
  const auto* nvcc = find_component(need(binary().components()), "nvcc");
  ASSERT_NE(nvcc, nullptr);
  EXPECT_THAT(nvcc->parts.at("ptxas"), ElementsAre("bin/ptxas", "bin/nvlink"));
  EXPECT_EQ(nvcc->follows, "core");
  EXPECT_EQ(nvcc->root, "nvidia/cu13");
  EXPECT_EQ(nvcc->licence, "LicenseRef-NVIDIA-Proprietary");
}

TEST(Consumers, bring_the_headers_of_flashinfer) {
  const auto& knowledge = binary();
  const auto& consumers = need(knowledge.consumers());
  const auto found = std::find_if(consumers.begin(), consumers.end(),
                                  [](const auto& c) { return c.name == "flashinfer"; });
  ASSERT_NE(found, consumers.end());
  EXPECT_THAT(found->needs, Contains("cccl"));
  EXPECT_THAT(found->headers, ElementsAre("curand", "cublas", "cusparse", "cusolver"));
  ASSERT_EQ(found->arch_variables.size(), 1U);
  EXPECT_EQ(found->arch_variables[0].separator, " ");
}

TEST(FindGpu, takes_targets_and_compute_capabilities) {
  const auto& knowledge = binary();
  const std::pair<const char*, const char*> expected[] = {
      {"sm_120", "sm_120"}, {"sm_120f", "sm_120f"}, {"SM_90A", "sm_90a"},    {"12.0", "sm_120"},
      {"12.0f", "sm_120f"}, {"sm120", "sm_120"},    {"compute_90", "sm_90"}, {" 8.9 ", "sm_89"}};
  for (const auto& [text, target] : expected) {
    const auto found = find_gpu(knowledge, text);
    ASSERT_TRUE(found.has_value()) << text << ": " << found.error().message;
    EXPECT_EQ(found->sm(), target) << text;
  }
}

// Compute capabilities as NVIDIA's own pages list them.
TEST(FindGpu, takes_product_names_in_any_case_and_spacing) {
  const auto& knowledge = binary();
  const std::pair<const char*, const char*> expected[] = {{"RTX PRO 6000 Blackwell", "sm_120"},
                                                          {"rtxpro6000blackwell", "sm_120"},
                                                          {"NVIDIA H100 80GB HBM3", "sm_90"},
                                                          {"NVIDIA H200", "sm_90"},
                                                          {"NVIDIA GeForce RTX 5090", "sm_120"},
                                                          {"rtx 4090", "sm_89"},
                                                          {"RTX 6000 Ada", "sm_89"},
                                                          {"Quadro RTX 6000", "sm_75"},
                                                          {"RTX A6000", "sm_86"},
                                                          {"A10", "sm_86"},
                                                          {"A100", "sm_80"},
                                                          {"Tesla T4", "sm_75"},
                                                          {"NVIDIA A100-SXM4-80GB", "sm_80"},
                                                          {"NVIDIA GB10", "sm_121"},
                                                          {"B200", "sm_100"},
                                                          {"Tesla V100-SXM2-16GB", "sm_70"},
                                                          {"Jetson AGX Thor", "sm_110"},
                                                          {"5090", "sm_120"},
                                                          {"4090 Laptop GPU", "sm_89"},
                                                          {"PRO 6000", "sm_120"},
                                                          {"1080 Ti", "sm_61"},
                                                          {"K80", "sm_37"},
                                                          {"L4", "sm_89"}};
  for (const auto& [text, target] : expected) {
    const auto found = find_gpu(knowledge, text);
    ASSERT_TRUE(found.has_value()) << text << ": " << found.error().message;
    EXPECT_EQ(found->sm(), target) << text;
  }
}

TEST(FindGpu, refuses_what_nobody_makes_and_names_the_nearest) {
  const auto& knowledge = binary();
  const std::pair<const char*, const char*> expected[] = {{"sm_125", "did you mean `sm_12"},
                                                          {"sm_130", "did you mean `sm_1"},
                                                          {"sm_12", "did you mean `sm_120`"},
                                                          {"12", "did you mean `sm_120`"},
                                                          {"sm_12f", "did you mean `sm_120f`"},
                                                          {"sm_1200", "did you mean `sm_120`"},
                                                          {"sm_9", "did you mean `sm_90`"},
                                                          {"compute_10a", "did you mean `sm_100a`"},
                                                          {"RTX 5O90", "did you mean `"},
                                                          {"Voodoo 2", "cukit gpus"},
                                                          {"", "write sm_90"},
                                                          {"sm_", "write sm_90"},
                                                          {"nvidia", "write sm_90"}};
  for (const auto& [text, hint] : expected) {
    const auto found = find_gpu(knowledge, text);
    ASSERT_FALSE(found.has_value()) << text;
    EXPECT_EQ(found.error().code, ErrorCode::usage);
    EXPECT_THAT(found.error().hint, HasSubstr(hint)) << text;
  }
}

TEST(FindGpu, refuses_a_name_that_several_architectures_share) {
  const auto found = find_gpu(binary(), "RTX 6000");
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().message, HasSubstr("Quadro RTX 6000 (sm_75)"));
  EXPECT_THAT(found.error().message, HasSubstr("RTX 6000 Ada Generation (sm_89)"));
  const auto part = find_gpu(binary(), "6000");
  ASSERT_FALSE(part.has_value());
  EXPECT_THAT(part.error().message, HasSubstr("Quadro RTX 6000 (sm_75)"));
  EXPECT_THAT(part.error().message, Not(HasSubstr("P6000"))); // words, not letters of one
}

TEST(FindGpu, refuses_forms_that_an_architecture_does_not_have) {
  const auto found = find_gpu(binary(), "sm_90f");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().message, "sm_90 has no family form `sm_90f`");
  EXPECT_EQ(found.error().hint, "write sm_90 or sm_90a");
  EXPECT_FALSE(find_gpu(binary(), "8.6a").has_value());
}

} // namespace
} // namespace cukit::knowledge

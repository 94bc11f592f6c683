#include "validate/validate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cukit::validate {
namespace {

class KernelRecipes : public testing::Test {
protected:
  void SetUp() override {
    auto created = TempDirectory::create(fs::temp_directory_path(), "cukit-recipes-");
    ASSERT_TRUE(created);
    folder_.emplace(std::move(*created));
    put("common/probe.hpp", "");
  }
  void put(const std::string& path, const std::string& text) const {
    const fs::path file = folder_->path() / "kernels" / path;
    ASSERT_TRUE(make_directories(file.parent_path()));
    ASSERT_TRUE(write_file_atomic(file, text));
  }
  [[nodiscard]] Result<std::vector<Kernel>>
  load(const std::vector<std::string>& suites = {}) const {
    return load_kernels(knowledge::Knowledge::from(folder_->path()), suites);
  }
  /// All causes of the error of loading, one a line.
  [[nodiscard]] std::string mistakes() const {
    const auto kernels = load();
    if (kernels) {
      return {};
    }
    std::string text = kernels.error().message + "\n" + kernels.error().where + "\n";
    for (const auto& cause : kernels.error().causes) {
      text += cause + "\n";
    }
    return text;
  }

private:
  std::optional<TempDirectory> folder_;
};

TEST_F(KernelRecipes, are_read_with_everything_in_them) {
  put("two/kernel.yaml", "summary: a test\nsuites: [core, full]\nsources: [kernel.cu, "
                         "other.cu]\nflags: [-rdc=true, -lx]\n"
                         "needs: [nvrtc]\ntargets: specific\nonly: [sm_90, \"12.0\"]\nlibraries: "
                         "[\"lib/libnvrtc.so.*\"]\nemits: true\n"
                         "numbers:\n  sum: -12.5\n  ratio: {value: 0.5, tolerance: 1e-6}\n");
  put("two/kernel.cu", "");
  put("two/other.cu", "");
  put("two/shared.hpp", "");
  const auto kernels = load();
  ASSERT_TRUE(kernels) << kernels.error().message;
  ASSERT_EQ(kernels->size(), 1U);
  const auto& kernel = kernels->front();
  EXPECT_EQ(kernel.name, "two");
  EXPECT_EQ(kernel.files, (std::vector<std::string>{"kernel.cu", "other.cu", "shared.hpp"}));
  EXPECT_EQ(kernel.sources, (std::vector<std::string>{"kernel.cu", "other.cu"}));
  EXPECT_EQ(kernel.flags, (std::vector<std::string>{"-rdc=true", "-lx"}));
  EXPECT_EQ(kernel.only, (std::vector<std::string>{"sm_90", "sm_120"}));
  EXPECT_TRUE(kernel.emits);
  EXPECT_EQ(kernel.numbers.at("sum").value, -12.5);
  EXPECT_EQ(kernel.numbers.at("sum").tolerance, 0);
  EXPECT_EQ(kernel.numbers.at("ratio").tolerance, 1e-6);
}

TEST_F(KernelRecipes, report_all_mistakes_of_a_file_at_once) {
  put("bad/kernel.yaml", "sumary: a test\ntargets: everything\nsources: [absent.cu]\nonly: "
                         "[sm_90a]\nlibraries: [../x, \"lib/a*b\"]\n"
                         "numbers:\n  sum: twelve\n  ratio: {value: 1, tolerance: -1}\n");
  put("bad/kernel.cu", "");
  const auto text = mistakes();
  for (const char* part : {"sumary", "`targets` must be", "absent.cu", "plain targets", "`../x`",
                           "`lib/a*b`", "`twelve`", "not negative", "kernel.yaml:7"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST_F(KernelRecipes, without_a_number_prove_nothing_and_are_refused) {
  put("none/kernel.yaml", "summary: a test\ntargets: plain\nnumbers: {}\n");
  put("none/kernel.cu", "");
  EXPECT_NE(mistakes().find("numbers"), std::string::npos) << mistakes();
}

TEST_F(KernelRecipes, are_chosen_by_suite) {
  for (const auto* name : {"a", "b"}) {
    put(std::string(name) + "/kernel.yaml",
        "summary: s\nsuites: [" + std::string(name == std::string("a") ? "core" : "full") +
            "]\ntargets: plain\nnumbers: {x: 1}\n");
    put(std::string(name) + "/kernel.cu", "");
  }
  EXPECT_EQ(load().value().size(), 2U);
  EXPECT_EQ(load({"core"}).value().size(), 1U);
  EXPECT_EQ(load({"core", "full"}).value().size(), 2U);
  const auto unknown = load({"cor"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::usage);
  EXPECT_NE(unknown.error().hint.find("core, full"), std::string::npos);
}

TEST(EmbeddedKernels, are_at_least_twelve_that_all_prove_a_number) {
  const auto knowledge = knowledge::Knowledge::embedded();
  const auto kernels = load_kernels(knowledge, {"core"});
  ASSERT_TRUE(kernels) << kernels.error().message;
  EXPECT_GE(kernels->size(), 12U);
  EXPECT_TRUE(std::is_sorted(kernels->begin(), kernels->end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  const auto components = knowledge.components();
  ASSERT_TRUE(components) << components.error().message;
  for (const auto& kernel : *kernels) {
    EXPECT_FALSE(kernel.numbers.empty()) << kernel.name;
    for (const auto& need : kernel.needs) {
      EXPECT_NE(knowledge::find_component(**components, need), nullptr)
          << kernel.name << " needs " << need;
    }
    for (const auto& source : kernel.sources) {
      const auto text = knowledge.read("kernels/" + kernel.name + "/" + source);
      ASSERT_TRUE(text) << kernel.name;
      const bool has_main = text->find("int main(") != std::string::npos;
      EXPECT_EQ(has_main, source == "kernel.cu") << kernel.name << "/" << source;
    }
  }
}

TEST(EmbeddedKernels, print_every_number_that_is_expected) {
  const auto knowledge = knowledge::Knowledge::embedded();
  const auto kernels = load_kernels(knowledge, {});
  ASSERT_TRUE(kernels) << kernels.error().message;
  for (const auto& kernel : *kernels) {
    const auto text = knowledge.read("kernels/" + kernel.name + "/kernel.cu").value();
    for (const auto& [name, expected] : kernel.numbers) {
      EXPECT_NE(text.find('"' + name + '"'), std::string::npos)
          << kernel.name << " never prints " << name;
    }
  }
}

} // namespace
} // namespace cukit::validate

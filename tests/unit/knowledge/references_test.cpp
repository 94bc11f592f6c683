// What recipes say of each other: a name that leads nowhere is an error with its place, as soon as
// the file is read, whoever made the recipes.
#include "base/temporary.hpp"
#include "knowledge/forward.hpp"
#include "knowledge/knowledge.hpp"
#include "knowledge/limits.hpp"

#include <gmock/gmock.h>

namespace cukit::knowledge {
namespace {

using testing::HasSubstr;

/// A copy of all recipes with one text of one file replaced.
class Changed {
public:
  Changed(const std::string& file, const std::string& what, const std::string& with)
      : folder_(*TempDirectory::create(fs::temp_directory_path(), "recipes")) {
    const auto recipes = fs::path(CUKIT_SOURCE_DIR) / "recipes";
    for (const char* part : {"components", "consumers", "knowledge"}) {
      fs::copy(recipes / part, folder_.path() / part, fs::copy_options::recursive);
    }
    auto text = read_file(folder_.path() / file, 1U << 20U).value_or("");
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << file << ": " << what;
    if (at != std::string::npos) {
      text.replace(at, what.size(), with);
      line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    }
    EXPECT_TRUE(write_file_atomic(folder_.path() / file, text));
  }
  [[nodiscard]] Knowledge recipes() const { return Knowledge::from(folder_.path()); }
  std::ptrdiff_t line = 0;

private:
  TempDirectory folder_;
};

/// The error of whoever reads that file.
std::optional<Error> error_of(const Knowledge& recipes) {
  std::optional<Error> error;
  const auto keep = [&](const auto& result) {
    if (!result && !error) {
      error = result.error();
    }
  };
  keep(recipes.components());
  keep(recipes.groups());
  keep(recipes.consumers());
  keep(recipes.variables());
  keep(recipes.limits());
  keep(recipes.releases());
  keep(recipes.pytorch());
  keep(forward_compatibility(recipes));
  return error;
}

struct Slip {
  const char* file;
  const char* what;
  const char* with;
  const char* told;
};

class Slips : public testing::TestWithParam<Slip> {};

TEST_P(Slips, a_name_that_leads_nowhere_is_said_with_its_place) {
  const auto& slip = GetParam();
  const Changed changed(slip.file, slip.what, slip.with);
  const auto error = error_of(changed.recipes());
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, ErrorCode::usage);
  auto all = error->where + ": " + error->message + "; " + error->hint;
  for (const auto& cause : error->causes) {
    all += "\n" + cause;
  }
  EXPECT_THAT(all, HasSubstr(slip.told));
  EXPECT_THAT(all, HasSubstr(fmt::format("{}:{}:", slip.file, changed.line)));
}

constexpr Slip k_slips[] = {
    {"components/nvcc.yaml", "needs: [crt, nvvm", "needs: [crtt, nvvm",
     "there is no component `crtt`; did you mean `crt`?"},
    {"components/crt.yaml", "within: nvcc", "within: nvc", "there is no component `nvc`"},
    {"components/cudart.yaml", "follows: release", "follows: releases", "`follows` must be"},
    {"components/cudart.yaml", "same_minor: true", "same_minors: true",
     "did you mean `same_minor`?"},
    {"knowledge/groups.yaml", "runtime: [cudart", "runtime: [cudarts",
     "there is no component `cudarts`"},
    {"consumers/flashinfer.yaml", "needs: [core]", "needs: [cor]",
     "there is no component or group `cor`; did you mean `core`?"},
    {"consumers/flashinfer.yaml", "headers: [curand", "headers: [curant",
     "there is no component `curant`"},
    {"consumers/flashinfer.yaml", "\"11.0\": \"13.0\"", "\"sm_110\": \"13.0\"",
     "`sm_110` stands for no targets"},
    {"consumers/flashinfer.yaml", "\"{jit}/flashinfer\"", "\"{jitt}/flashinfer\"",
     "nothing is put in for `{jitt}`; did you mean `jit`?"},
    {"consumers/jax.yaml", "data_dir={tree}", "data_dir={root}", "nothing is put in for `{root}`"},
    {"consumers/jax.yaml", "takes: {ptxas: \">=11.8", "takes: {ptxas: \"=>11.8", "=>11.8"},
    {"consumers/jax.yaml", "which ptxas", "whihc ptxas", "is no place to look at"},
    {"consumers/triton.yaml", "bundle: triton/", "bundle: ../triton/", "is no path inside a tree"},
    {"consumers/triton.yaml", "holds: kernels", "holds: kernel", "`holds` must be"},
    {"knowledge/variables.yaml", "value: \"{id}\"", "value: \"{ids}\"",
     "nothing is put in for `{ids}`"},
    {"knowledge/limits.yaml", "successor: linux-sbsa", "successor: linux-sbs", "linux-sbs"},
    {"knowledge/limits.yaml", "\"13.1\": unknown", "\"13.1\": unknwon",
     "is no release with a number"},
    {"knowledge/limits.yaml", "\"13.2\", evidence: documented", "\"13.2\", evidence: documentd",
     "`evidence` must be documented"},
    {"knowledge/pytorch.yaml", "\"2.11\": cu130", "\"2.11\": cu139",
     "is no version with a tag of `tags`"},
    {"knowledge/forward.yaml", "\"10.3\"", "\"10.9\"", "there is no GPU of compute capability"},
};
INSTANTIATE_TEST_SUITE_P(EveryKind, Slips, testing::ValuesIn(k_slips),
                         [](const auto& one) { return std::to_string(one.index); });

TEST(RecipesOfTheBinary, as_they_are_lead_everywhere) {
  EXPECT_FALSE(error_of(Knowledge::embedded()).has_value());
}

} // namespace
} // namespace cukit::knowledge

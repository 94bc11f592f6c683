// A release that this cukit knows consists of the files that it knows: every other file that an
// index offers for it is passed over, or refused where the known one is missing.
#include "fixture.hpp"
#include "resolve/pinned.hpp"

#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::HasSubstr;

constexpr const char* k_body = "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\"}\n"
                               "platforms: [linux-x86_64]\n";
constexpr const char* k_nvcc_file =
    "nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl";

/// Names under which an index could offer something else as nvcc 13.0.88.
const std::vector<std::string>& other_names() {
  static const std::vector<std::string> names{
      "nvidia_cuda_nvcc-13.0.88-py3-none-manylinux_2_17_x86_64.whl",
      "nvidia_cuda_nvcc-13.0.88-py3-none-manylinux_2_5_x86_64.whl",
      "nvidia_cuda_nvcc-13.0.88-py3-none-linux_x86_64.whl",
      "nvidia_cuda_nvcc-13.0.88-py3-none-any.whl",
      "nvidia_cuda_nvcc-13.0.88-py2.py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
      "nvidia_cuda_nvcc-13.0.88-1-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
      "nvidia.cuda.nvcc-13.0.88-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
      "Nvidia_Cuda_Nvcc-13.0.88-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
      "nvidia_cuda_nvcc-13.0.88.0-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
      "nvidia_cuda_nvcc-13.0.88.1-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
      "nvidia_cuda_nvcc-13.0.88.post1-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
      "nvidia_cuda_nvcc-13.0.88+x-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
      "nvidia_cuda_nvcc-13.0.088-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"};
  return names;
}

void add_wheel(catalog::Catalog& catalog, const std::string& project, const std::string& file) {
  catalog.projects[project].push_back(wheel_of_line(file, "1000", sha256_of(file).hex(), ""));
}

std::vector<std::string> files_of(const Resolution& resolution) {
  std::vector<std::string> files;
  for (const auto& artifact : resolution.lock.platforms.front().artifacts) {
    files.push_back(artifact.file);
  }
  return files;
}

TEST(PinnedRelease, takes_its_known_file_whatever_lies_beside_it) {
  const auto before = files_of(resolution_of(k_body));
  ASSERT_THAT(before, testing::Contains(k_nvcc_file));
  for (const auto& name : other_names()) {
    auto catalog = real_catalog();
    add_wheel(catalog, "nvidia-cuda-nvcc", name);
    const auto answer = answer_to(manifest_of(k_body), catalog);
    const auto* resolution = std::get_if<Resolution>(&answer);
    ASSERT_NE(resolution, nullptr) << name;
    EXPECT_EQ(files_of(*resolution), before) << name;
  }
}

TEST(PinnedRelease, is_refused_when_another_file_stands_in_for_a_known_one) {
  for (const auto& name : other_names()) {
    auto catalog = real_catalog();
    std::erase_if(catalog.projects["nvidia-cuda-nvcc"],
                  [](const auto& wheel) { return wheel.file == k_nvcc_file; });
    add_wheel(catalog, "nvidia-cuda-nvcc", name);
    const auto answer = resolve(manifest_of(k_body), recipes(), catalog, {}, nullptr);
    if (answer.has_value()) { // 13.0.88.1 does not fit crt 13.0.88: an earlier release serves
      const auto* resolution = std::get_if<Resolution>(&*answer);
      ASSERT_NE(resolution, nullptr) << name;
      EXPECT_THAT(files_of(*resolution), testing::Not(testing::Contains(name)));
      continue;
    }
    EXPECT_EQ(answer.error().code, ErrorCode::integrity) << name;
    EXPECT_THAT(answer.error().message, HasSubstr(name));
    EXPECT_THAT(answer.error().message, HasSubstr("knows nvidia_cuda_nvcc-13.0.88-py3-none-"));
  }
}

TEST(PinnedRelease, a_library_of_a_range_is_the_known_one_too) {
  const auto* body = "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\"}\nplatforms: [linux-x86_64]\n"
                     "components: [core, nvjitlink]\n";
  const auto before = files_of(resolution_of(body));
  auto catalog = real_catalog();
  add_wheel(catalog, "nvidia-nvjitlink",
            "nvidia_nvjitlink-13.0.999-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl");
  const auto answer = answer_to(manifest_of(body), catalog);
  ASSERT_TRUE(std::holds_alternative<Resolution>(answer));
  EXPECT_EQ(files_of(std::get<Resolution>(answer)), before);
}

catalog::MetaRelease other_metapackage(const catalog::Catalog& catalog, const std::string& file) {
  auto release =
      *std::find_if(catalog.releases.begin(), catalog.releases.end(), [](const auto& one) {
        return one.file.file == "cuda_toolkit-13.0.3.0-py2.py3-none-any.whl";
      });
  release.file = wheel_of_line(file, "1000", sha256_of(file).hex(), "");
  release.version = release.file.version;
  return release;
}

TEST(PinnedRelease, another_metapackage_of_a_known_release_is_passed_over_or_refused) {
  const auto before = resolution_of(k_body).lock.pins;
  for (const std::string name :
       {"cuda_toolkit-13.0.3-py3-none-any.whl", "cuda_toolkit-13.0.3-py2.py3-none-any.whl",
        "cuda_toolkit-13.0.3.0-1-py2.py3-none-any.whl",
        "cuda.toolkit-13.0.3.0-py2.py3-none-any.whl", "cuda_toolkit-13.0.3.1-py2.py3-none-any.whl",
        "cuda_toolkit-13.0.3+x-py2.py3-none-any.whl",
        "cuda_toolkit-13.0.3.post1-py2.py3-none-any.whl"}) {
    auto catalog = real_catalog();
    catalog.releases.push_back(other_metapackage(catalog, name));
    catalog.projects["cuda-toolkit"].push_back(catalog.releases.back().file);
    const auto answer = answer_to(manifest_of(k_body), catalog);
    ASSERT_TRUE(std::holds_alternative<Resolution>(answer)) << name;
    EXPECT_EQ(std::get<Resolution>(answer).lock.pins, before) << name;

    std::erase_if(catalog.releases, [](const auto& one) {
      return one.file.file == "cuda_toolkit-13.0.3.0-py2.py3-none-any.whl";
    });
    const auto refused = resolve(manifest_of(k_body), recipes(), catalog, {}, nullptr);
    ASSERT_FALSE(refused.has_value()) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::integrity) << name;
  }
}

TEST(PinnedRelease, a_lock_with_another_file_of_it_is_refused) {
  for (const auto& name : other_names()) {
    auto lock = resolution_of(k_body).lock;
    for (auto& artifact : lock.platforms.front().artifacts) {
      if (artifact.file == k_nvcc_file) {
        artifact.file = name;
        artifact.sha256 = sha256_of(name);
      }
    }
    const auto checked = check_pins(lock, recipes());
    ASSERT_FALSE(checked.has_value()) << name;
    EXPECT_EQ(checked.error().code, ErrorCode::integrity);
  }
  EXPECT_TRUE(check_pins(resolution_of(k_body).lock, recipes()));
}

TEST(PinnedRelease, a_version_that_nobody_knew_is_free) {
  const PinnedFiles pinned(**recipes().pins());
  for (const char* file :
       {"nvidia_cuda_nvcc-13.0.188-py3-none-manylinux_2_17_x86_64.whl",
        "nvidia_cuda_nvcc-13.0.8-py3-none-manylinux_2_17_x86_64.whl",
        "cuda_toolkit-13.0.4-py2.py3-none-any.whl", "cuda_toolkit-13.0.99-py2.py3-none-any.whl",
        "another_project-13.0.88-py3-none-any.whl"}) {
    EXPECT_EQ(pinned.original_of(*catalog::parse_wheel_name(file)), "") << file;
  }
  for (const auto& [file, digest] : **recipes().pins()) {
    if (const auto wheel = catalog::parse_wheel_name(file)) {
      EXPECT_EQ(pinned.original_of(*wheel), "") << file;
    }
  }
}

} // namespace
} // namespace cukit::resolve

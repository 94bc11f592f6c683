#include "base/strings.hpp"
#include "manifest/manifest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <gmock/gmock.h>
#include <random>

namespace cukit::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const knowledge::Knowledge& binary() {
  static const auto knowledge = knowledge::Knowledge::embedded();
  return knowledge;
}

Result<Manifest> read(std::string_view text, const std::string& file = "m.yaml") {
  return parse(text, file, binary());
}

Manifest must_read(std::string_view text, const std::string& file = "m.yaml") {
  auto manifest = read(text, file);
  if (!manifest) {
    throw std::runtime_error(manifest.error().message +
                             fmt::format(" {}", fmt::join(manifest.error().causes, "\n")));
  }
  return *std::move(manifest);
}

std::string shown(const Error& error) {
  return fmt::format("{}: {} ({})\n{}", error.where, error.message, error.hint,
                     fmt::join(error.causes, "\n"));
}

constexpr std::string_view k_everything = R"(cukit: 1
name: sm120-cu130
gpus: [sm_120, "12.0f", RTX PRO 6000 Blackwell, native]
pytorch: 2.11.0+cu130
driver: ">=580"
toolkit:
  nvcc: 13.10
  ptxas: ">=13.2"
  headers: "13.2"
  cccl: ">=3.2"
components: [core, nvrtc, nvjitlink, binutils]
consumers: [flashinfer, torch-extensions, triton]
host: {compiler: gcc}
platforms: [linux-x86_64, linux-sbsa]
sources: [wheels, redist]
validate: {suites: [core]}
)";

TEST(Manifest, reads_every_field_with_its_place) {
  const auto manifest = must_read(k_everything);
  EXPECT_EQ(manifest.name.value, "sm120-cu130");
  EXPECT_EQ(manifest.name.at, (text::Position{2, 7}));
  ASSERT_EQ(manifest.gpus.size(), 2U) << "the product is sm_120 again";
  EXPECT_EQ(manifest.gpus[0].value.sm(), "sm_120");
  EXPECT_EQ(manifest.gpus[1].value.sm(), "sm_120f");
  EXPECT_EQ(manifest.gpus[1].text, "12.0f");
  EXPECT_EQ(manifest.gpus[1].at, (text::Position{3, 16}));
  EXPECT_TRUE(manifest.native_gpus);
  EXPECT_EQ(manifest.native_gpus_at, (text::Position{3, 49}));
  EXPECT_EQ(manifest.pytorch_cuda->value.text(), "13.0");
  EXPECT_EQ(manifest.driver->value.text(), ">=580");
  EXPECT_EQ(manifest.nvcc->value.text(), "==13.10.*");
  EXPECT_FALSE(manifest.nvcc->value.contains(*Version::parse("13.1.80")));
  EXPECT_EQ(manifest.nvcc->at, (text::Position{7, 9}));
  EXPECT_EQ(manifest.ptxas->value.text(), ">=13.2");
  EXPECT_EQ(manifest.headers->value.text(), "==13.2.*");
  EXPECT_EQ(manifest.cccl->value.text(), ">=3.2");
  EXPECT_EQ(manifest.components.size(), 4U);
  EXPECT_EQ(manifest.consumers[2].value, "triton");
  EXPECT_EQ(manifest.host_compiler->value, "gcc");
  EXPECT_EQ(manifest.platforms[1].value.text(), "linux-sbsa");
  EXPECT_EQ(manifest.sources[0].value, "wheels");
  EXPECT_EQ(manifest.suites[0].value, "core");
}

TEST(Manifest, takes_its_name_from_the_file_when_it_gives_none) {
  EXPECT_EQ(must_read("cukit: 1\ngpus: native\n", "some/where/quick.start.yaml").name.value,
            "quick.start");
  const auto bad = read("cukit: 1\ngpus: native\n", "my manifest.yaml");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().where, "my manifest.yaml");
  EXPECT_THAT(bad.error().message, HasSubstr("gives no other"));
}

TEST(Manifest, a_bare_driver_is_the_oldest_one) {
  EXPECT_EQ(must_read("cukit: 1\ngpus: native\ndriver: 580.65.06\n").driver->value.text(),
            ">=580.65.6");
  const auto native = must_read("cukit: 1\ngpus: native\ndriver: native\n");
  EXPECT_TRUE(native.native_driver);
  EXPECT_EQ(native.driver, std::nullopt);
  EXPECT_EQ(native.native_driver_at, (text::Position{3, 9}));
}

TEST(Manifest, knows_the_cuda_of_a_pytorch_where_it_is_documented) {
  const std::pair<const char*, const char*> expected[] = {
      {"cu130", "13.0"}, {"cu118", "11.8"}, {"2.11.0+cu130", "13.0"},
      {"2.8.0", "12.8"}, {"2.11", "13.0"},  {"2.12.1+cu132", "13.2"}};
  for (const auto& [text, cuda] : expected) {
    EXPECT_EQ(must_read(fmt::format("cukit: 1\ngpus: native\npytorch: {}\n", text))
                  .pytorch_cuda->value.text(),
              cuda)
        << text;
  }
  for (const auto* text : {"cu13", "cu103", "13.0", "1.0", "2.11.0+cpu", "2.11.0+", "torch"}) {
    EXPECT_FALSE(read(fmt::format("cukit: 1\ngpus: native\npytorch: {}\n", text)).has_value())
        << text;
  }
  EXPECT_THAT(shown(read("cukit: 1\ngpus: native\npytorch: cu127\n").error()),
              HasSubstr("did you mean `cu12"));
}

TEST(Manifest, makes_the_path_of_a_venv_absolute_from_its_own_folder) {
  const auto manifest = must_read("cukit: 1\ngpus: native\npytorch: {venv: ../serve/.venv}\n",
                                  "/data/manifests/m.yaml");
  EXPECT_EQ(manifest.pytorch_venv->value, "/data/serve/.venv");
  EXPECT_EQ(manifest.pytorch_venv->at, (text::Position{3, 17}));
  EXPECT_EQ(manifest.pytorch_cuda, std::nullopt);
  EXPECT_EQ(must_read("cukit: 1\ngpus: native\nhost: {compiler: ./bin/g++}\n", "/data/m.yaml")
                .host_compiler->value,
            "/data/bin/g++");
}

TEST(Manifest, matched_cccl_is_the_default) {
  const auto matched = must_read("cukit: 1\ngpus: native\ntoolkit: {cccl: matched}\n");
  EXPECT_EQ(matched.cccl, std::nullopt);
  EXPECT_EQ(matched.digest, must_read("cukit: 1\ngpus: native\n").digest);
}

TEST(ManifestMistakes, row03_are_all_reported_at_once_in_the_order_of_the_file) {
  const auto result = read("cukit: 1\n"
                           "gpu: [sm_120]\n"
                           "gpus: [sm_125, RTX 509]\n"
                           "toolkit: {nvcc: latest, ptxs: \"13.2\"}\n"
                           "components: [core, nvrct]\n"
                           "consumers: [flashinfr]\n"
                           "platforms: [linux]\n"
                           "sources: [conda]\n"
                           "host: {compiler: msvc}\n");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::usage);
  EXPECT_EQ(result.error().message, "10 mistakes in m.yaml");
  EXPECT_THAT(
      result.error().causes,
      ElementsAre(
          StartsWith("m.yaml:2:1: the manifest has no key `gpu`; did you mean `gpus`?"),
          StartsWith("m.yaml:3:8: there is no GPU `sm_125`; did you mean `sm_12"),
          StartsWith("m.yaml:3:16: there is no GPU `RTX 509`; did you mean `GeForce RTX 50"),
          StartsWith("m.yaml:4:17: `latest` is no version range"),
          StartsWith("m.yaml:4:25: `toolkit` has no key `ptxs`; did you mean `ptxas`?"),
          StartsWith("m.yaml:5:20: there is no component or group `nvrct`; did you mean `nvrtc`?"),
          StartsWith("m.yaml:6:13: there is no consumer `flashinfr`; did you mean `flashinfer`?"),
          StartsWith("m.yaml:7:13: `linux` is no platform; use linux-x86_64"),
          StartsWith("m.yaml:8:11: there is no source `conda`; known are redist, wheels"),
          StartsWith("m.yaml:9:18: `msvc` is no host compiler")));
}

TEST(ManifestMistakes, a_name_that_no_folder_could_be_called_by_is_refused_before_any_work) {
  const std::string head = "cukit: 1\ngpus: [sm_90]\n";
  EXPECT_TRUE(read(head + "name: " + std::string(64, 'n') + "\n"));
  for (const std::size_t size : {65U, 66U, 200U, 201U}) {
    const std::string name(size, 'n');
    const auto given = read(head + "name: " + name + "\n");
    ASSERT_FALSE(given) << size;
    EXPECT_EQ(given.error().code, ErrorCode::usage);
    EXPECT_NE(given.error().hint.find("up to 64"), std::string::npos) << given.error().hint;
    EXPECT_FALSE(read(head, name + ".yaml")) << "the file's name counts";
  }
}

TEST(ManifestMistakes, name_what_is_missing) {
  const auto result = read("name: x\n");
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().causes, ElementsAre("m.yaml:1:1: the manifest lacks `cukit`",
                                                 "m.yaml:1:1: the manifest lacks `gpus`"));
}

struct BadCase {
  const char* text;
  const char* where;
  const char* message;
};

TEST(ManifestMistakes, row03_have_a_place_and_a_next_step) {
  const BadCase cases[] = {
      {"", "m.yaml", "the manifest is empty"},
      {"# nothing\n", "m.yaml", "the manifest is empty"},
      {"cukit: 2\ngpus: native\n", "m.yaml:1:8", "format `2` of the manifest is not known"},
      {"cukit: 1\ngpus: []\n", "m.yaml:2:7", "`gpus` is empty"},
      {"cukit: 1\ngpus:\n", "m.yaml:2:1", "`gpus` has no value"},
      {"cukit: 1\ngpus: native\nname: ../x\n", "m.yaml:3:7",
       "`../x` cannot be the name of a toolkit"},
      {"cukit: 1\ngpus: native\nname: .x\n", "m.yaml:3:7", "`.x` cannot be the name of a toolkit"},
      {"cukit: 1\ngpus: native\nname: \"a\\eb\"\n", "m.yaml:3:7",
       "`a\\x1bb` cannot be the name of a toolkit"},
      {"cukit: 1\ngpus: native\nname: -x\n", "m.yaml:3:7", "`-x` cannot be the name of a toolkit"},
      {"cukit: 1\ngpus: native\nname: x.yaml\n", "m.yaml:3:7",
       "`x.yaml` cannot be the name of a toolkit"},
      {"cukit: 1\ngpus: native\nvalidate: {suites: [cor]}\n", "m.yaml:3:21",
       "there is no suite of kernels `cor`"},
      {"cukit: 1\ngpus: native\nname: [a]\n", "m.yaml:3:7",
       "`name` must be text, but here is a list"},
      {"cukit: 1\ngpus: {a: b}\n", "m.yaml:2:7",
       "`gpus` must be a list, but here is keys with values"},
      {"cukit: 1\ngpus: [[sm_90]]\n", "m.yaml:2:8", "`gpus` must hold texts, but here is a list"},
      {"cukit: 1\ngpus: [sm_90f]\n", "m.yaml:2:8", "sm_90 has no family form `sm_90f`"},
      {"cukit: 1\ngpus: native\npytorch: {env: x}\n", "m.yaml", "2 mistakes in m.yaml"},
      {"cukit: 1\ngpus: native\ntoolkit: 13.2\n", "m.yaml:3:10",
       "`toolkit` must hold keys with values, but here is text"},
      {"- cukit: 1\n", "m.yaml:1:1", "the manifest must hold keys with values, but here is a list"},
      {"cukit: 1\ngpus: native\ntoolkit:\n\tnvcc: 13.2\n", "m.yaml:4:1",
       "a tab is used as indentation"},
      {"cukit: 1\ngpus: native\ncukit: 1\n", "m.yaml:3:1",
       "key `cukit` stands twice, first at line 1, column 1"},
      {"cukit: 1\ngpus: &g [sm_90]\n", "m.yaml:2:7", "anchors (`&name`) are not taken"},
      {"cukit: 1\nname: caf\xe9\n", "m.yaml:2:10", "not UTF-8: byte 0xe9 at offset 18"},
  };
  for (const auto& bad : cases) {
    const auto result = read(bad.text);
    ASSERT_FALSE(result.has_value()) << bad.text;
    EXPECT_EQ(result.error().code, ErrorCode::usage) << bad.text;
    EXPECT_EQ(result.error().where, bad.where) << bad.text << shown(result.error());
    EXPECT_EQ(result.error().message, bad.message) << bad.text;
  }
}

TEST(ManifestDigest, is_the_same_for_keys_in_any_order) {
  std::vector<std::string> blocks = {"cukit: 1\n",
                                     "name: a\n",
                                     "gpus: [sm_90, sm_120]\n",
                                     "pytorch: cu130\n",
                                     "driver: \">=580\"\n",
                                     "toolkit:\n  nvcc: \"13.2\"\n  ptxas: \">=13.2,<14\"\n",
                                     "components: [core, nvrtc]\n",
                                     "consumers: [triton, flashinfer]\n",
                                     "platforms: [linux-sbsa, linux-x86_64]\n"};
  const auto digest = must_read(join(blocks, "")).digest;
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(blocks.begin(), blocks.end(), random);
    EXPECT_EQ(must_read(join(blocks, "")).digest, digest);
  }
  EXPECT_EQ(
      must_read(
          "# a comment\r\n{cukit: \"1\", gpus: ['12.0', sm_90, H100, sm_120], pytorch: "
          "2.11.0+cu130, driver: 580,\n"
          " toolkit: {ptxas: '< 14, >= 13.2', nvcc: 13.2}, components: [nvrtc, core, core],\n"
          " consumers: [flashinfer, triton], platforms: [linux-x86_64, linux-sbsa], name: b}\n")
          .digest,
      digest)
      << "spelling, order inside lists, duplicates and the name do not count";
}

TEST(ManifestDigest, differs_when_a_wish_differs) {
  std::vector<Sha256> digests;
  for (const auto* line :
       {"", "driver: 580", "driver: native", "toolkit: {nvcc: 13.1}", "toolkit: {nvcc: 13.10}",
        "toolkit: {ptxas: 13.1}", "toolkit: {headers: 13.1}", "toolkit: {cccl: 3.1}",
        "pytorch: cu130", "pytorch: {venv: x}", "components: nvrtc", "consumers: triton",
        "host: {compiler: clang}", "platforms: linux-sbsa", "sources: [wheels, redist]",
        "sources: [redist, wheels]"}) {
    digests.push_back(must_read(fmt::format("cukit: 1\ngpus: [sm_90]\n{}\n", line)).digest);
  }
  digests.push_back(must_read("cukit: 1\ngpus: [sm_90a]\n").digest);
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::adjacent_find(digests.begin(), digests.end()), digests.end());
}

TEST(ManifestDigest, does_not_depend_on_where_the_manifest_lies) {
  constexpr std::string_view text = "cukit: 1\ngpus: native\npytorch: {venv: .venv}\n";
  EXPECT_EQ(must_read(text, "/a/m.yaml").digest, must_read(text, "/b/n.yaml").digest);
}

class ManifestFile : public ::testing::Test {
protected:
  void SetUp() override {
    auto folder = TempDirectory::create(fs::temp_directory_path(), "manifest");
    ASSERT_TRUE(folder.has_value());
    folder_.emplace(*std::move(folder));
  }
  fs::path write(const std::string& name, std::string_view text) {
    const auto path = folder_->path() / name;
    EXPECT_TRUE(create_file(path, text).has_value());
    return path;
  }
  static Error refusal(const fs::path& path) {
    const auto result = load(path, binary());
    EXPECT_FALSE(result.has_value());
    return result ? Error{.code = ErrorCode::host, .message = "it was read"} : result.error();
  }
  std::optional<TempDirectory> folder_;
};

TEST_F(ManifestFile, is_read) {
  const auto result = load(write("good.yaml", "cukit: 1\ngpus: [sm_90]\n"), binary());
  ASSERT_TRUE(result.has_value()) << shown(result.error());
  EXPECT_EQ(result->name.value, "good");
}

TEST_F(ManifestFile, that_is_a_folder_is_refused) {
  const auto error = refusal(folder_->path());
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_EQ(error.message, "the manifest is a folder");
  EXPECT_EQ(error.where, folder_->path().string());
  EXPECT_FALSE(error.hint.empty());
}

TEST_F(ManifestFile, that_is_not_there_is_refused) {
  const auto error = refusal(folder_->path() / "none.yaml");
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_EQ(error.message, "there is no such manifest");
}

TEST_F(ManifestFile, that_is_empty_is_refused) {
  const auto error = refusal(write("empty.yaml", ""));
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_EQ(error.message, "the manifest is empty");
  EXPECT_THAT(error.hint, HasSubstr("gpus: [sm_90]"));
}

TEST_F(ManifestFile, row05_of_50_megabytes_is_refused_by_its_size) {
  const auto path = write("large.yaml", "cukit: 1\n");
  fs::resize_file(path, 50'000'000);
  const auto error = refusal(path);
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_EQ(error.message, "the manifest has 50 MB, more than the 1.0 MB that one may have");
}

TEST_F(ManifestFile, row05_that_is_not_utf8_is_refused_with_the_offset) {
  const auto path = write("latin1.yaml", "cukit: 1\ngpus: [sm_90] # caf\xe9\n");
  const auto error = refusal(path);
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_EQ(error.where, path.string() + ":2:20");
  EXPECT_EQ(error.message, "not UTF-8: byte 0xe9 at offset 28");
}

} // namespace
} // namespace cukit::manifest

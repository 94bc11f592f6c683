#include "catalog/redist.hpp"
#include "support/corpus.hpp"
#include "support/real_manifests.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace cukit::catalog {
namespace {

Version version(const std::string& text) {
  return Version::parse(text).value();
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<RedistManifest> parse(const std::string& text) {
  return parse_redist(text, "cuda", version("13.0.2"), "redistrib_13.0.2.json");
}

const std::string k_digest(64, 'a');

std::string leaf(const std::string& path, const std::string& size = "\"10\"",
                 const std::string& digest = k_digest) {
  return R"({"relative_path": ")" + path + R"(", "sha256": ")" + digest +
         R"(", "md5": "0", "size": )" + size + "}";
}

std::string with_platform(const std::string& platform) {
  return R"({"release_date": "2025-10-09", "lib": {"name": "L", "license": "MIT", "version": "1.2.3", )" +
         platform + "}}";
}

RedistComponent component(const std::string& platforms) {
  auto manifest = parse(with_platform(platforms));
  EXPECT_TRUE(manifest) << manifest.error().message;
  return manifest ? manifest->components.at("lib") : RedistComponent();
}

void expect_refused(const std::string& text, const std::string& about) {
  const auto manifest = parse(text);
  ASSERT_FALSE(manifest) << text;
  EXPECT_EQ(manifest.error().code, ErrorCode::integrity);
  EXPECT_NE(manifest.error().message.find(about), std::string::npos) << manifest.error().message;
  EXPECT_EQ(manifest.error().where, "redistrib_13.0.2.json");
}

TEST(Redist, flat_platforms_give_their_path_size_and_digest) {
  const auto lib = component(R"("linux-x86_64": )" + leaf("lib/linux-x86_64/lib-1.2.3.tar.xz"));
  const auto* archive = lib.find(Platform::Kind::linux_x86_64, version("13.0.2"));
  ASSERT_NE(archive, nullptr);
  EXPECT_EQ(archive->path.text(), "lib/linux-x86_64/lib-1.2.3.tar.xz");
  EXPECT_EQ(archive->size, 10U);
  EXPECT_EQ(archive->sha256.hex(), k_digest);
  EXPECT_EQ(lib.find(Platform::Kind::linux_sbsa, version("13.0.2")), nullptr);
}

TEST(Redist, a_variant_is_chosen_by_cudas_major_and_the_exact_minor_goes_first) {
  const auto lib =
      component(R"("linux-x86_64": {"cuda12": )" + leaf("a") + R"(, "cuda13": )" + leaf("b") +
                R"(, "cuda13.1": )" + leaf("c") + R"(}, "cuda_variant": ["12", "13", "13.1"])");
  const auto path = [&](const std::string& cuda) {
    const auto* archive = lib.find(Platform::Kind::linux_x86_64, version(cuda));
    return archive == nullptr ? "none" : archive->path.text();
  };
  EXPECT_EQ(path("12.9.1"), "a");
  EXPECT_EQ(path("13.0.2"), "b");
  EXPECT_EQ(path("13.1.0"), "c");
  EXPECT_EQ(path("11.8.0"), "none");
}

TEST(Redist, source_and_linux_all_serve_every_platform) {
  for (const auto* key : {"source", "linux-all"}) {
    const auto lib = component("\"" + std::string(key) + "\": " + leaf("a"));
    for (const Platform platform : Platform::all()) {
      EXPECT_NE(lib.find(platform, version("12.8.0")), nullptr) << key;
    }
  }
}

TEST(Redist, platforms_and_fields_that_nobody_knows_are_passed_over) {
  const auto lib = component(R"("linux-riscv64": {"something": "else"}, "windows-arm64": 3, )"
                             R"("license_path": "x", "linux-sbsa": )" +
                             leaf("a"));
  EXPECT_EQ(lib.archives.size(), 1U);
}

TEST(Redist, a_manifest_without_label_and_product_is_read) {
  const auto manifest = parse(with_platform(R"("linux-sbsa": )" + leaf("a")));
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->date, "2025-10-09");
  EXPECT_EQ(manifest->path(), "cuda/redist/redistrib_13.0.2.json");
}

TEST(Redist, row08_duplicate_keys_are_refused) {
  expect_refused(R"({"lib": {"version": "1"}, "lib": {"version": "2"}})", "the text");
  expect_refused(with_platform(R"("linux-sbsa": {"sha256": "a", "sha256": "b"})"), "sha256");
}

TEST(Redist, row08_a_size_is_digits_in_a_string_of_at_most_64_bits) {
  for (const auto* size :
       {"\"18446744073709551616\"", "18446744073709551616", "10", "1e3", "\"-1\"", "\"1e3\"",
        "\"\"", "\"0\"", "\" 1\"", "\"0x10\"", "null", "[]"}) {
    expect_refused(with_platform(R"("linux-sbsa": )" + leaf("a", size)), "lib.linux-sbsa.size");
  }
}

TEST(Redist, row08_the_largest_size_of_64_bits_keeps_its_last_digit) {
  const auto lib = component(R"("linux-sbsa": )" + leaf("a", "\"18446744073709551615\""));
  ASSERT_EQ(lib.archives.size(), 1U);
  EXPECT_EQ(lib.archives[0].size, 18446744073709551615ULL);
}

TEST(Redist, row08_deep_nesting_is_refused) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += R"({"a":)";
  }
  expect_refused(deep, "the text");
}

TEST(Redist, row08_paths_that_leave_the_folder_or_name_a_host_are_refused) {
  for (const auto* path : {"../a", "a/../../b", "/etc/passwd", "//other.example/a", "a//b", "",
                           "https://other.example/a", "a\\\\..\\\\b", "a?x=1", "a#b", "a%2e%2e/b",
                           "a b", "a:b@c/d", "./a", "a/"}) {
    expect_refused(with_platform(R"("linux-sbsa": )" + leaf(path)), "relative_path");
  }
}

TEST(Redist, row08_digests_are_64_lower_case_digits) {
  for (const auto& digest : {std::string(63, 'a'), std::string(64, 'A'), "sha256:" + k_digest,
                             std::string(64, 'g'), std::string()}) {
    expect_refused(with_platform(R"("linux-sbsa": )" + leaf("a", "\"1\"", digest)), "sha256");
  }
}

TEST(Redist, row08_other_shapes_are_refused) {
  expect_refused("[]", "no map");
  expect_refused("{}", "no component");
  expect_refused(R"({"lib": 3})", "`lib`");
  expect_refused(R"({"lib": {"version": "x y"}})", "lib.version");
  expect_refused(R"({"a/b": {"version": "1"}})", "no name of a component");
  expect_refused(with_platform(R"("cuda_variant": "13")"), "cuda_variant");
  expect_refused(with_platform(R"("linux-sbsa": {"cuda13": {"cuda14": {}}})"), "relative_path");
  expect_refused(R"({"lib": {"version": "1"}} {})", "the text");
}

TEST(Redist, row08_the_shared_corpus_gets_its_verdicts) {
  const auto folder = test::corpus("json");
  int count = 0;
  for (const auto& row : test::read_table(folder / "expected.tsv")) {
    if (!row[0].starts_with("made/")) {
      continue;
    }
    ++count;
    const auto manifest = parse(text_of(folder / row[0]));
    if (row[1] != "either") {
      EXPECT_EQ(manifest.has_value(), row[1] == "accept") << row[0] << ": " << row[2];
    }
  }
  EXPECT_EQ(count, 14);
}

TEST(Redist, labels_are_read_off_file_names) {
  EXPECT_EQ(redist_label("redistrib_13.0.2.json")->text(), "13.0.2");
  EXPECT_EQ(redist_label("redistrib_2.0.2.1.json")->text(), "2.0.2.1");
  for (const auto* name : {"redistrib_.json", "redistrib_x.json", "redistrib_13.0.2.json.sha256",
                           "redistrib_013.0.2.json", "index.html", "redistrib_13.0.2_tar.json"}) {
    EXPECT_FALSE(redist_label(name)) << name;
  }
}

TEST(Redist, a_place_is_a_product_and_a_path_below_its_folder) {
  const auto place = redist_place("cuda/redist/cuda_nvcc/linux-sbsa/a.tar.xz");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->product, "cuda");
  EXPECT_EQ(place->below, "cuda_nvcc/linux-sbsa/a.tar.xz");
  for (const auto* path : {"cuda/redist", "cuda/a", "redist/a", "cuda/redist/../a",
                           "/cuda/redist/a", "cuda/redist/a?b", ""}) {
    EXPECT_FALSE(redist_place(path)) << path;
  }
}

/// Counted with Python's json module over the same 106 files.
TEST(Redist, all_real_manifests_are_read) {
  std::size_t components = 0;
  std::size_t archives = 0;
  for (const auto& one : test::real_manifests()) {
    const auto manifest = parse_redist(one.json, one.product, version(one.label), one.label);
    ASSERT_TRUE(manifest) << one.label << manifest.error().message;
    components += manifest->components.size();
    for (const auto& [name, component] : manifest->components) {
      archives += component.archives.size();
    }
  }
  EXPECT_EQ(test::real_manifests().size(), 106U);
  EXPECT_EQ(components, 1789U);
  EXPECT_EQ(archives, 3754U);
}

TEST(Redist, the_odd_names_of_real_manifests_are_taken_as_they_stand) {
  const auto load = [](const std::string& product, const std::string& label) {
    return parse_redist(test::real_manifest(product, label), product, version(label), label)
        .value();
  };
  const Platform x86 = Platform::Kind::linux_x86_64;
  const auto cuda = load("cuda", "13.1.1");
  const auto& compat = cuda.components.at("cuda_compat");
  EXPECT_EQ(compat.find(x86, version("13.1.1"))->path.name(),
            "cuda_compat-linux-x86_64-590.48.01_cuda13.1-archive.tar.xz");
  EXPECT_EQ(compat.find(x86, version("13.2.0")), nullptr);
  EXPECT_EQ(load("cuda", "13.0.2")
                .components.at("imex")
                .find(x86, version("13.0"))
                ->path.name()
                .substr(0, 11),
            "nvidia-imex");
  EXPECT_TRUE(load("cuda", "13.3.0").components.contains("cccl"));
  const auto cudnn = load("cudnn", "9.14.0").components.at("cudnn");
  EXPECT_EQ(cudnn.find(x86, version("12.9.1"))->size, 877735896U);
  EXPECT_EQ(cudnn.find(x86, version("13.0.2"))->size, 646368088U);
}

} // namespace
} // namespace cukit::catalog

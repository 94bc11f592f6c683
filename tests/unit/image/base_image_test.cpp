// An image that others made, to put another one on: what does not fit together is refused.
#include "image/layout.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <sys/stat.h>

namespace cukit::image {
namespace {

using ::testing::HasSubstr;
using text::Json;

class BaseImages : public ::testing::Test {
protected:
  BaseImages() {
    Image image{.platform = platform(),
                .layers = {{.title = "base 1",
                            .items = {{.path = "etc/name", .link = {}, .content = "base\n"}}}},
                .variables = {{"PATH", "/usr/bin"}},
                .labels = {{"who", "base"}},
                .created = "1970-01-01T00:00:00Z"};
    written = write(image, "base");
    layer = written.layers.front().blob.digest;
  }
  static Platform platform() { return Platform::parse("linux-x86_64").value(); }
  [[nodiscard]] fs::path at(const std::string& name) const { return folder.path() / name; }
  [[nodiscard]] fs::path blob(const Sha256& digest) const {
    return at("base/blobs/sha256") / digest.hex();
  }
  WrittenImage write(const Image& image, const std::string& name) const {
    EXPECT_TRUE(make_directories(at(name)));
    ThreadPool pool(2);
    auto result = write_layout(image, at(name), pool, {});
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result.value_or(WrittenImage{});
  }
  [[nodiscard]] Result<BaseImage> read(const char* name = "linux-x86_64") const {
    return read_base(at("base"), Platform::parse(name).value());
  }
  [[nodiscard]] std::string why() const {
    const auto image = read();
    return image ? "it was taken" : image.error().message;
  }
  [[nodiscard]] std::string text_of(const fs::path& file) const {
    return read_file(file, 1U << 20U).value();
  }
  void put(const fs::path& file, const std::string& bytes) const {
    ASSERT_TRUE(write_file_atomic(file, bytes));
  }
  static std::string with(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  /// The manifest with a change in it, its digest set right in the index.
  void change_manifest(const std::string& from, const std::string& to) const {
    const auto bytes = with(text_of(blob(written.manifest)), from, to);
    put(blob(sha256_of(bytes)), bytes);
    auto index =
        with(text_of(at("base/index.json")), written.manifest.hex(), sha256_of(bytes).hex());
    const auto old_size = fs::file_size(blob(written.manifest));
    put(at("base/index.json"), with(index, "\"size\": " + std::to_string(old_size),
                                    "\"size\": " + std::to_string(bytes.size())));
  }

  TempDirectory folder = *TempDirectory::create(fs::temp_directory_path(), "cukit-base-");
  WrittenImage written;
  Sha256 layer;
};

TEST_F(BaseImages, an_image_stands_on_another_and_keeps_what_that_says) {
  const auto base = read();
  ASSERT_TRUE(base) << base.error().message;
  const Image image{
      .platform = platform(),
      .layers = {{.title = "own 2", .items = {{.path = "opt/x", .link = {}, .content = "x"}}}},
      .variables = {{"PATH", "/opt:/usr/bin"}},
      .labels = {{"what", "own"}},
      .created = "1970-01-01T00:00:00Z",
      .base = &*base};
  const auto made = write(image, "own");
  EXPECT_EQ(text_of(at("own/blobs/sha256") / layer.hex()), text_of(blob(layer)));
  const auto config =
      Json::parse(text_of(at("own/blobs/sha256") / made.config.hex()), "config").value();
  EXPECT_EQ(config.find("rootfs")->find("diff_ids")->items().size(), 2U);
  EXPECT_EQ(config.find("history")->items().size(), 2U);
  EXPECT_EQ(config.find("config")->find("Labels")->text_of("who"), "base");
  EXPECT_EQ(config.find("config")->find("Labels")->text_of("what"), "own");
  EXPECT_EQ(config.find("config")->find("Env")->items().front().text(), "PATH=/opt:/usr/bin");
}

TEST_F(BaseImages, bytes_that_are_not_those_of_their_digest_are_refused) {
  auto bytes = text_of(blob(written.manifest));
  bytes[bytes.size() / 2] ^= 1;
  put(blob(written.manifest), bytes);
  EXPECT_THAT(why(), HasSubstr("the bytes of"));
}

TEST_F(BaseImages, a_layer_that_was_changed_is_seen_while_it_is_copied) {
  const auto base = read();
  ASSERT_TRUE(base);
  auto bytes = text_of(blob(layer));
  bytes.back() ^= 1;
  put(blob(layer), bytes);
  ASSERT_TRUE(make_directories(at("to")));
  const auto copied = copy_layers(*base, at("to"), {});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, ErrorCode::integrity);
}

TEST_F(BaseImages, a_layer_that_is_missing_short_or_no_file_is_refused) {
  const auto bytes = text_of(blob(layer));
  put(blob(layer), bytes.substr(1));
  EXPECT_THAT(why(), HasSubstr("is not there, or not of"));
  ASSERT_TRUE(remove_tree(blob(layer)));
  EXPECT_THAT(why(), HasSubstr("is not there, or not of"));
  put(at("elsewhere"), bytes);
  ASSERT_EQ(::symlink(at("elsewhere").c_str(), blob(layer).c_str()), 0);
  EXPECT_THAT(why(), HasSubstr("is not there, or not of"));
  ASSERT_TRUE(remove_tree(blob(layer)));
  ASSERT_EQ(::mkfifo(blob(layer).c_str(), 0600), 0);
  EXPECT_THAT(why(), HasSubstr("is not there, or not of"));
}

TEST_F(BaseImages, digests_sizes_and_kinds_are_read_strictly) {
  const auto index = text_of(at("base/index.json"));
  for (const auto& [from, to, said] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"sha256:" + written.manifest.hex(), "sha256:../../../../etc/passwd", "is no sha256"},
           {"sha256:" + written.manifest.hex(), "sha512:" + written.manifest.hex(), "is no sha256"},
           {"sha256:" + written.manifest.hex(), written.manifest.hex(), "is no sha256"},
           {"\"size\": ", "\"size\": -", "is no number"},
           {"\"size\": ", "\"size\": 99999999", "bytes"},
           {"\"manifests\": [", "\"manifest\": [", "no list of manifests"},
           {"\"amd64\"", "\"arm64\"", "no image for linux/amd64"}}) {
    put(at("base/index.json"), with(index, from, to));
    EXPECT_THAT(why(), HasSubstr(said)) << to;
  }
  put(at("base/index.json"), index);
  put(at("base/oci-layout"), "{\"imageLayoutVersion\": \"2.0.0\"}");
  EXPECT_THAT(why(), HasSubstr("version 1.0.0"));
  ASSERT_TRUE(remove_tree(at("base/oci-layout")));
  EXPECT_EQ(read().error().code, ErrorCode::usage);
}

TEST_F(BaseImages, a_manifest_with_other_layers_than_its_configuration_is_refused) {
  change_manifest("\"layers\": [", "\"layers\": [], \"other\": [");
  EXPECT_THAT(why(), HasSubstr("does not name each of its layers"));
}

TEST_F(BaseImages, a_layer_of_an_unknown_kind_is_named) {
  change_manifest("layer.v1.tar+gzip", "layer.v1.tar+rot13");
  EXPECT_THAT(why(), HasSubstr("layer.v1.tar+rot13"));
}

TEST_F(BaseImages, an_index_that_leads_to_itself_ends) {
  // an index of indexes, deeper than anybody makes one
  auto inner = text_of(at("base/index.json"));
  for (int depth = 0; depth < 6; ++depth) {
    put(blob(sha256_of(inner)), inner);
    inner = fmt::format(R"({{"schemaVersion": 2, "manifests": [{{"mediaType":
        "application/vnd.oci.image.index.v1+json", "digest": "{}", "size": {}}}]}})",
                        sha256_of(inner).text(), inner.size());
  }
  put(at("base/index.json"), inner);
  EXPECT_THAT(why(), HasSubstr("no list of manifests"));
}

TEST_F(BaseImages, an_image_for_another_platform_is_none) {
  const auto other = read("linux-sbsa");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("no image for linux/arm64"));
}

} // namespace
} // namespace cukit::image

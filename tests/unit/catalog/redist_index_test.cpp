#include "catalog/redist_index.hpp"
#include "support/fault_server.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <gmock/gmock.h>

namespace cukit::catalog {
namespace {

using test::Fault;
using testing::ElementsAre;
using testing::HasSubstr;

std::string manifest(const std::string& version, const std::string& digest_of = "archive") {
  return R"({"lib": {"version": ")" + version +
         R"(", "linux-sbsa": {"relative_path": "lib/linux-sbsa/lib.tar.xz", "sha256": ")" +
         sha256_of(digest_of).hex() + R"(", "size": "7"}}})";
}

class Redistributables : public testing::Test {
protected:
  void SetUp() override {
    folder_.emplace(TempDirectory::create(fs::temp_directory_path(), "redist-").value());
    client_ =
        http::Client::create({.attempts = 2, .first_delay = std::chrono::milliseconds(1)}).value();
  }

  void put(const std::string& path, const std::string& text) const {
    const auto file = folder_->path() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void use_folder(const std::string& below = "") {
    auto path = folder_->path() / below;
    sources_.redist.push_back({path.lexically_normal().string(), "CUKIT_REDIST_URL", true});
    while (sources_.redist.back().location.ends_with('/')) {
      sources_.redist.back().location.pop_back();
    }
  }
  void use_server() { sources_.redist.push_back({server_.url("/base"), "CUKIT_REDIST_URL", true}); }
  void serve(const std::string& path, const std::string& text) {
    server_.serve("/base/" + path, text, "application/json");
  }
  void know(const std::string& label, const std::string& text) {
    pins_["cuda/redist/redistrib_" + label + ".json"] = sha256_of(text);
  }

  Result<RedistCatalog> load(const std::string& product = "cuda") {
    index_.emplace(*client_, sources_, pins_);
    return index_->load({{.product = product, .wants = {}}}, {});
  }
  std::vector<std::string> labels(const std::string& product = "cuda") {
    std::vector<std::string> result;
    const auto catalog = load(product);
    EXPECT_TRUE(catalog) << catalog.error().message;
    for (const auto& one : catalog ? catalog->manifests : std::vector<RedistManifest>()) {
      result.push_back(one.label.text());
    }
    return result;
  }
  Result<std::vector<std::string>> locate() {
    if (!index_) {
      index_.emplace(*client_, sources_, pins_);
    }
    return index_->locate("cuda/redist/lib/linux-sbsa/lib.tar.xz");
  }

  std::optional<TempDirectory> folder_;
  test::FaultServer server_;
  std::unique_ptr<http::Client> client_;
  source::Sources sources_;
  std::map<std::string, Sha256> pins_;
  std::optional<RedistIndex> index_;
};

TEST_F(Redistributables, every_layout_of_a_folder_is_listed) {
  for (const auto* layout : {"a/cuda/redist/", "b/cuda/", "c/"}) {
    put(std::string(layout) + "redistrib_13.0.2.json", manifest("1"));
    put(std::string(layout) + "redistrib_13.0.10.json", manifest("1"));
    put(std::string(layout) + "README.md", "no manifest");
    sources_.redist.clear();
    use_folder(std::string(layout).substr(0, 1));
    EXPECT_THAT(labels(), ElementsAre("13.0.2", "13.0.10")) << layout;
  }
}

TEST_F(Redistributables, manifests_without_a_product_folder_are_those_of_cuda_alone) {
  put("redistrib_13.0.2.json", manifest("1"));
  use_folder();
  EXPECT_THAT(labels("cudnn"), ElementsAre());
}

TEST_F(Redistributables, the_first_base_that_has_a_label_gives_it_and_the_others_add_theirs) {
  put("a/redistrib_13.0.2.json", manifest("1"));
  put("b/redistrib_13.0.2.json", manifest("2"));
  put("b/redistrib_13.1.1.json", manifest("3"));
  use_folder("a");
  use_folder("b");
  const auto catalog = load();
  ASSERT_TRUE(catalog);
  ASSERT_EQ(catalog->manifests.size(), 2U);
  EXPECT_EQ(catalog->manifests[0].components.at("lib").version.text(), "1");
  EXPECT_EQ(catalog->manifests[1].components.at("lib").version.text(), "3");
}

TEST_F(Redistributables, a_servers_own_listing_says_which_labels_exist) {
  server_.serve("/base/cuda/redist/",
                R"(<a href="redistrib_13.0.2.json">x</a> <a href='cuda_nvcc/'>y</a>)", "text/html");
  serve("cuda/redist/redistrib_13.0.2.json", manifest("1"));
  use_server();
  EXPECT_THAT(labels(), ElementsAre("13.0.2"));
}

TEST_F(Redistributables, without_a_listing_the_known_labels_are_asked_for_in_every_layout) {
  know("13.0.2", manifest("1"));
  know("13.0.1", manifest("2"));
  serve("cuda/redistrib_13.0.2.json", manifest("1"));
  serve("redistrib_13.0.1.json", manifest("2"));
  server_.always("/base/cuda/redist/", Fault::status_of(403));
  use_server();
  EXPECT_THAT(labels(), ElementsAre("13.0.1", "13.0.2"));
}

TEST_F(Redistributables, row08_a_known_manifest_with_another_digest_is_refused_with_both_values) {
  know("13.0.2", manifest("1"));
  put("redistrib_13.0.2.json", manifest("2"));
  use_folder();
  const auto catalog = load();
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::integrity);
  EXPECT_THAT(catalog.error().message, HasSubstr(sha256_of(manifest("1")).text()));
  EXPECT_THAT(catalog.error().message, HasSubstr(sha256_of(manifest("2")).text()));
}

TEST_F(Redistributables, a_base_that_is_down_is_noted_while_another_serves) {
  know("13.0.2", manifest("1"));
  server_.always("/base/cuda/redist/redistrib_13.0.2.json", Fault::status_of(503));
  use_server();
  put("redistrib_13.0.2.json", manifest("1"));
  use_folder();
  const auto catalog = load();
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_EQ(catalog->manifests.size(), 1U);
  EXPECT_EQ(catalog->notes.size(), 1U);
}

TEST_F(Redistributables, no_base_that_answers_is_an_error_that_names_them) {
  know("13.0.2", manifest("1"));
  server_.always("/base/cuda/redist/redistrib_13.0.2.json", Fault::status_of(503));
  use_server();
  const auto catalog = load();
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::source);
  ASSERT_EQ(catalog.error().causes.size(), 1U);
  EXPECT_THAT(catalog.error().causes[0], HasSubstr("CUKIT_REDIST_URL"));
}

TEST_F(Redistributables, files_are_located_in_every_base_in_order) {
  use_server();
  put("m/cuda/redist/lib/linux-sbsa/lib.tar.xz", "archive");
  use_folder("m");
  const auto locations = locate();
  ASSERT_TRUE(locations) << locations.error().message;
  EXPECT_THAT(*locations,
              ElementsAre(server_.url("/base/cuda/redist/lib/linux-sbsa/lib.tar.xz"),
                          server_.url("/base/cuda/lib/linux-sbsa/lib.tar.xz"),
                          server_.url("/base/lib/linux-sbsa/lib.tar.xz"),
                          (folder_->path() / "m/cuda/redist/lib/linux-sbsa/lib.tar.xz").string()));
}

TEST_F(Redistributables, the_layout_that_gave_the_manifest_goes_first) {
  server_.serve("/base/cuda/", R"(<a href="redistrib_13.0.2.json">x</a>)", "text/html");
  serve("cuda/redistrib_13.0.2.json", manifest("1"));
  use_server();
  EXPECT_THAT(labels(), ElementsAre("13.0.2"));
  const auto locations = locate();
  ASSERT_TRUE(locations);
  EXPECT_EQ(locations->front(), server_.url("/base/cuda/lib/linux-sbsa/lib.tar.xz"));
}

TEST_F(Redistributables, a_folder_is_looked_into_and_its_archives_are_not_read) {
  fs::create_directories(folder_->path() / "cuda/lib/linux-sbsa/lib.tar.xz"); // of a wrong kind
  put("lib/linux-sbsa/lib.tar.xz", "any bytes");
  fs::permissions(folder_->path() / "lib/linux-sbsa/lib.tar.xz", fs::perms::none);
  use_folder();
  const auto locations = locate();
  ASSERT_TRUE(locations);
  EXPECT_THAT(*locations, ElementsAre((folder_->path() / "lib/linux-sbsa/lib.tar.xz").string()));
}

TEST_F(Redistributables, a_file_that_no_folder_has_is_named_with_the_folders) {
  use_folder();
  const auto locations = locate();
  ASSERT_FALSE(locations);
  EXPECT_EQ(locations.error().code, ErrorCode::source);
  ASSERT_EQ(locations.error().causes.size(), 1U);
  EXPECT_THAT(locations.error().causes[0], HasSubstr("does not have it"));
}

TEST_F(Redistributables, a_known_manifest_is_known_under_every_spelling_of_its_label) {
  know("13.0.2", manifest("1"));
  for (const char* name : {"redistrib_13.0.2.0.json", "redistrib_13.0.2.1.json"}) {
    put(std::string(name).substr(10) + "/" + name, manifest("2"));
    sources_.redist.clear();
    use_folder(std::string(name).substr(10));
    const auto catalog = load();
    ASSERT_FALSE(catalog) << name;
    EXPECT_EQ(catalog.error().code, ErrorCode::integrity) << name;
  }
  for (const char* name : {"redistrib_13.0.2.post1.json", "redistrib_13.0.2+x.json",
                           "redistrib_13.0.02.json", "redistrib_1!13.0.2.json"}) {
    EXPECT_FALSE(redist_label(name)) << name;
  }
}

TEST_F(Redistributables, a_listing_without_end_is_refused_before_any_is_asked) {
  std::string listing;
  for (int i = 0; i < 1000; ++i) {
    listing += fmt::format("<a href='redistrib_13.0.{}.json'>x</a>", i);
  }
  server_.serve("/base/cuda/redist/", listing, "text/html");
  use_server();
  const auto catalog = load();
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::source);
  EXPECT_LE(server_.requests(), 3); // the three layouts
}

} // namespace
} // namespace cukit::catalog

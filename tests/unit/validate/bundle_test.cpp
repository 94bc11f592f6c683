#include "fixture.hpp"

namespace cukit::validate {
namespace {

class BundleTest : public BundleFixture {};

TEST_F(BundleTest, is_read_as_it_was_written) {
  add("plain", "sm_90", "true");
  add("hopper", "sm_90a", "true");
  add_library("libcudart.so.13", "bytes");
  bundle_.programs[0].libraries = {"libcudart.so.13"};
  bundle_.programs[1].numbers["ratio"] = Expected{.value = 1.0 / 3, .tolerance = 1e-15};
  save();
  const auto read = load_bundle(folder());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->json().dump(), bundle_.json().dump());
  EXPECT_EQ(read->programs[1].numbers.at("ratio").value, 1.0 / 3);
  EXPECT_EQ(read->programs[1].target.sm(), "sm_90a");
  EXPECT_TRUE(check_files(*read, folder()));
}

TEST_F(BundleTest, names_what_it_is_for_in_its_schema) {
  EXPECT_EQ(bundle_.json().text_of("schema"), "cukit.bundle/1");
}

TEST_F(BundleTest, that_was_changed_is_an_integrity_error_with_the_file) {
  add("plain", "sm_90", "true");
  add_library("libcudart.so.13", "bytes");
  ASSERT_TRUE(write_file_atomic(folder() / "lib/libcudart.so.13", "other"));
  const auto checked = check_files(bundle_, folder());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::integrity);
  EXPECT_NE(checked.error().where.find("libcudart.so.13"), std::string::npos);
  ASSERT_TRUE(write_file_atomic(folder() / "lib/libcudart.so.13", "bytes"));
  EXPECT_TRUE(check_files(bundle_, folder()));
  fs::remove(folder() / "bin/plain.sm_90");
  EXPECT_FALSE(check_files(bundle_, folder()));
}

TEST_F(BundleTest, of_an_empty_folder_says_how_to_make_one) {
  const auto read = load_bundle(folder());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::usage);
  EXPECT_NE(read.error().hint.find("--build-only"), std::string::npos);
}

TEST_F(BundleTest, that_cannot_be_read_is_refused) {
  add("plain", "sm_90", "true");
  const auto good = bundle_.json().dump();
  const auto with = [&](const std::string& from, const std::string& to) {
    auto text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"empty", ""},
      {"cut", good.substr(0, good.size() / 2)},
      {"a newer schema", with("cukit.bundle/1", "cukit.bundle/2")},
      {"a newer report", with("cukit.validate/1", "cukit.validate/2")},
      {"a path that leaves the folder", with("bin/plain.sm_90", "../plain.sm_90")},
      {"an absolute path", with("bin/plain.sm_90", "/bin/sh")},
      {"no programs", with("\"programs\"", "\"programms\"")},
      {"no digest", with(bundle_.programs[0].file.sha256.text(), "md5:0")},
      {"no number", with("\"value\"", "\"worth\"")},
  };
  for (const auto& [name, text] : cases) {
    ASSERT_TRUE(write_file_atomic(folder() / k_bundle_file, text));
    const auto read = load_bundle(folder());
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().code, ErrorCode::integrity) << name;
  }
}

} // namespace
} // namespace cukit::validate

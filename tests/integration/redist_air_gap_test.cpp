// Mirrors and bundles of NVIDIA's archives: where the machine that builds reaches nothing else.
#include "redist_fixture.hpp"

#include <fstream>

namespace cukit::test {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RedistAirGap : public Redist {
protected:
  void SetUp() override {
    Redist::SetUp();
    ASSERT_EQ(playground.run({"lock", manifest()}).exit_code, 0);
    lock = lock_text();
  }
  [[nodiscard]] std::string manifest() const { return (playground.path() / "demo.yaml").string(); }
  [[nodiscard]] fs::path mirror(const std::string& name = "mirror") const {
    return playground.path() / name;
  }
  [[nodiscard]] std::string bundle() const { return (playground.path() / "all.tar").string(); }
  void fill(const std::string& name = "mirror") {
    const auto done = playground.run({"mirror", manifest(), mirror(name).string()});
    ASSERT_EQ(done.exit_code, 0) << done.errors;
  }
  void nobody_is_there() {
    playground.environment.set("CUKIT_REDIST_URL", "http://127.0.0.1:9/compute");
  }
  /// Where an archive lies in a mirror.
  [[nodiscard]] fs::path archive(const std::string& component,
                                 const std::string& name = "mirror") const {
    return mirror(name) / archives.at(component).substr(std::string("/compute/").size());
  }
  static void spoil(const fs::path& file) {
    auto bytes = read_file(file, 1U << 30U).value();
    bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
    ASSERT_TRUE(write_file_atomic(file, bytes));
  }
  /// A web server that knows nothing but files and index.html.
  void serve_folder(FaultServer& web, const fs::path& folder) const {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const auto path = entry.path().lexically_relative(folder).string();
      if (entry.is_regular_file() && !path.starts_with('.')) {
        const auto bytes = read_file(entry.path(), 1U << 30U).value();
        web.serve("/m/" + path, bytes);
        if (path.ends_with("index.html")) {
          web.serve("/m/" + path.substr(0, path.size() - 10), bytes, "text/html");
        }
      }
    }
  }

  std::string lock;
};

TEST_F(RedistAirGap, a_mirror_has_nvidias_own_paths_and_a_second_run_downloads_nothing) {
  fill();
  for (const auto& [component, path] : archives) {
    EXPECT_TRUE(path_exists(archive(component))) << component;
  }
  EXPECT_TRUE(path_exists(mirror() / "cuda/redist/redistrib_12.4.9.json"));
  EXPECT_THAT(read_file(mirror() / "cuda/redist/index.html", 1U << 20U).value(),
              HasSubstr("href=\"redistrib_12.4.9.json\""));
  server.forget();
  const auto again = playground.run({"mirror", "--json", manifest(), mirror().string()});
  ASSERT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.output, HasSubstr("\"added\": 0"));
  EXPECT_THAT(again.output, HasSubstr("\"downloaded_bytes\": 0"));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(RedistAirGap, a_mirror_filled_from_a_folder_counts_nothing_as_downloaded) {
  fill();
  playground.environment.set("CUKIT_REDIST_URL", mirror().string());
  const auto done = playground.run({"mirror", "--json", manifest(), mirror("second").string()});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("\"added\": 4")); // three archives and their manifest
  EXPECT_THAT(done.output, HasSubstr("\"downloaded_bytes\": 0"));
}

TEST_F(RedistAirGap, a_mirror_is_a_base_and_a_mirror_as_a_folder) {
  fill();
  nobody_is_there();
  const auto mirrored =
      playground.run({"up", "--no-validate", "--mirror", mirror().string(), manifest()});
  ASSERT_EQ(mirrored.exit_code, 0) << mirrored.errors;
  ASSERT_TRUE(remove_tree(playground.home()));
  fs::remove(playground.path() / "demo.lock.yaml");
  playground.environment.set("CUKIT_REDIST_URL", mirror().string());
  ASSERT_EQ(up().exit_code, 0);
  EXPECT_EQ(lock_text(), lock); // through another source the same bytes
}

TEST_F(RedistAirGap, a_mirror_is_a_base_behind_a_web_server_that_knows_nothing_of_it) {
  fill();
  FaultServer web;
  serve_folder(web, mirror());
  fs::remove(playground.path() / "demo.lock.yaml");
  playground.environment.set("CUKIT_REDIST_URL", web.url("/m"));
  server.forget();
  const auto done = up();
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(lock_text(), lock);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(RedistAirGap, of_several_mirrors_each_archive_comes_from_the_first_that_has_it_right) {
  fill("first");
  fill("second");
  spoil(archive("cuda_nvcc", "first"));
  fs::remove(archive("cuda_cudart", "first"));
  FaultServer third;
  serve_folder(third, mirror("second"));
  fs::remove(archive("cuda_cudart", "second"));
  nobody_is_there();
  playground.environment.set("CUKIT_MIRROR", mirror("first").string() + " " +
                                                 mirror("second").string() + " " + third.url("/m"));
  const auto done = up();
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(playground.run({"verify"}).exit_code, 0);
  const auto asked = third.seen();
  EXPECT_EQ(third.body_bytes("/m" + archives.at("cuda_nvcc").substr(8)), 0U);
  EXPECT_EQ(third.requests("/m" + archives.at("cuda_cudart").substr(8)), 1);
  EXPECT_EQ(third.requests("/m" + archives.at("cuda_cccl").substr(8)), 0);
}

TEST_F(RedistAirGap, row9_a_damaged_archive_of_a_mirror_is_never_used_and_is_replaced) {
  fill();
  const auto good = read_file(archive("cuda_cccl"), 1U << 30U).value();
  spoil(archive("cuda_cccl"));
  nobody_is_there();
  const auto refused = playground.run(
      {"up", "--no-validate", "--mirror", mirror().string(), "--locked", manifest()});
  EXPECT_EQ(refused.exit_code, 5) << refused.errors;
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
  playground.environment.set("CUKIT_REDIST_URL", server.url("/compute"));
  fill();
  EXPECT_TRUE(read_file(archive("cuda_cccl"), 1U << 30U).value() == good);
}

TEST_F(RedistAirGap, a_manifest_that_was_replaced_since_the_lock_is_not_mirrored) {
  server.serve("/compute/cuda/redist/redistrib_12.4.9.json", "{\"a\": {\"version\": \"1\"}}");
  const auto refused = playground.run({"mirror", "--frozen", manifest(), mirror().string()});
  EXPECT_EQ(refused.exit_code, 5) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("redistrib_12.4.9.json"));
  EXPECT_FALSE(path_exists(mirror() / "cuda/redist/redistrib_12.4.9.json"));
  EXPECT_TRUE(path_exists(archive("cuda_nvcc"))); // what came right is kept for the next run
}

TEST_F(RedistAirGap, a_bundle_of_archives_works_where_there_is_no_network_at_all) {
  if (!playground.cuts_off()) {
    GTEST_SKIP() << "a network namespace without a route needs root and unshare";
  }
  ASSERT_EQ(playground.run({"bundle", manifest(), "-o", bundle()}).exit_code, 0);
  const auto first = sha256_of_file(bundle()).value();
  ASSERT_EQ(up().exit_code, 0);
  const auto trees = playground.names_in("trees");
  ASSERT_TRUE(remove_tree(playground.home()));
  EXPECT_EQ(playground.run_cut_off({"up", "--no-validate", manifest()}).exit_code, 4);
  fs::remove(playground.path() / "demo.yaml");
  fs::remove(playground.path() / "demo.lock.yaml");
  const auto done = playground.run_cut_off({"up", "--no-validate", "--bundle", bundle()});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(playground.names_in("trees"), trees);
  EXPECT_EQ(playground.run_cut_off({"verify"}).exit_code, 0);
  EXPECT_EQ(sha256_of_file(bundle()).value(), first); // it is only read
}

TEST_F(RedistAirGap, a_bundle_with_another_archive_than_the_locks_is_refused) {
  ASSERT_EQ(playground.run({"bundle", manifest(), "-o", bundle()}).exit_code, 0);
  auto bytes = read_file(bundle(), 1U << 30U).value();
  const auto at = bytes.find("\xfd"
                             "7zXZ");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 40] = static_cast<char>(bytes[at + 40] ^ 1);
  ASSERT_TRUE(write_file_atomic(bundle(), bytes));
  const auto refused = playground.run({"up", "--no-validate", "--bundle", bundle()});
  EXPECT_EQ(refused.exit_code, 5) << refused.errors;
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
  EXPECT_THAT(playground.names_in("store"), IsEmpty());
}

TEST_F(RedistAirGap, row37_a_damaged_entry_of_an_archive_is_repaired_from_a_mirror) {
  fill();
  ASSERT_EQ(up().exit_code, 0);
  const auto file = tree() / "nvvm/bin/cicc"; // the store's entry has the same bytes
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  auto bytes = read_file(file, 1U << 20U).value();
  bytes.back() = 'X';
  std::ofstream(file, std::ios::in | std::ios::binary) << bytes;
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::remove);
  const auto found = playground.run({"verify"});
  EXPECT_EQ(found.exit_code, 1);
  EXPECT_THAT(found.output, HasSubstr("modified: nvvm/bin/cicc"));
  nobody_is_there();
  const auto nowhere = playground.run({"verify", "--repair"});
  EXPECT_NE(nowhere.exit_code, 0) << nowhere.output;
  const auto repaired = playground.run({"verify", "--repair", "--mirror", mirror().string()});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.output << repaired.errors;
  EXPECT_EQ(playground.run({"verify"}).exit_code, 0);
  EXPECT_EQ(read_file(file, 1U << 20U).value().back(), 'c');
}

TEST_F(RedistAirGap, row42_a_login_in_the_base_is_written_nowhere) {
  auto url = server.url("/compute");
  url.insert(url.find("127."), "user:geheim@");
  playground.environment.set("CUKIT_REDIST_URL", url);
  fs::remove(playground.path() / "demo.lock.yaml");
  const auto done = up();
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.output + done.errors, Not(HasSubstr("geheim")));
  fill();
  ASSERT_EQ(playground.run({"bundle", manifest(), "-o", bundle()}).exit_code, 0);
  for (const auto& entry : fs::recursive_directory_iterator(playground.path())) {
    if (entry.is_regular_file()) {
      EXPECT_THAT(read_file(entry.path(), 1U << 30U).value(), Not(HasSubstr("geheim")))
          << entry.path();
    }
  }
}

} // namespace
} // namespace cukit::test

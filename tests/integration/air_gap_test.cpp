// Mirrors and bundles, from the outside: what serves a machine that reaches nothing else.
#include "base/sha256.hpp"
#include "trouble_fixture.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace cukit::test {
namespace {

using ::testing::Contains;

class AirGap : public Trouble {
protected:
  AirGap() { EXPECT_EQ(playground.run({"lock", manifest.string()}).exit_code, 0); }
  [[nodiscard]] std::string mirror_folder() const {
    return (playground.path() / "mirror").string();
  }
  [[nodiscard]] std::string bundle_file() const { return (playground.path() / "all.tar").string(); }
  /// Every file below the mirror, by its path, with its time.
  [[nodiscard]] std::map<std::string, fs::file_time_type> mirror_files() const {
    std::map<std::string, fs::file_time_type> result;
    for (const auto& entry : fs::recursive_directory_iterator(mirror_folder())) {
      const auto path = entry.path().lexically_relative(mirror_folder()).string();
      if (entry.is_regular_file() && !path.starts_with('.')) {
        result[path] = entry.last_write_time();
      }
    }
    return result;
  }
  void nobody_is_there() {
    playground.environment.set("CUKIT_INDEX_URL", "http://127.0.0.1:9/simple");
    playground.environment.set("CUKIT_REDIST_URL", "http://127.0.0.1:9/redist");
  }
};

TEST_F(AirGap, a_mirror_holds_what_the_lock_needs_and_a_second_run_downloads_nothing) {
  const auto first = playground.run({"mirror", manifest.string(), mirror_folder()});
  ASSERT_EQ(first.exit_code, 0) << first.errors;
  const auto files = mirror_files();
  for (const auto& wheel : index.wheels()) {
    EXPECT_THAT(files, Contains(::testing::Key(::testing::EndsWith("/" + wheel))));
  }
  EXPECT_TRUE(files.contains("cuda-toolkit/cuda_toolkit-13.0.99-py2.py3-none-any.whl"));
  EXPECT_TRUE(files.contains("index.html"));
  const auto page = read_file(mirror_folder() + "/nvidia-nvvm/index.html", 1U << 20U).value();
  const auto wheel = index.file_of("nvidia-nvvm");
  const auto digest = sha256_of_file(fs::path(mirror_folder()) / "nvidia-nvvm" / wheel).value();
  EXPECT_THAT(page, HasSubstr("href=\"" + wheel + "#sha256=" + digest.hex() + "\" data-size=\""));
  server.forget();
  const auto second = playground.run({"mirror", "--json", manifest.string(), mirror_folder()});
  ASSERT_EQ(second.exit_code, 0) << second.errors;
  EXPECT_THAT(second.output, HasSubstr("\"added\": 0"));
  EXPECT_EQ(server.requests(), 0);
  EXPECT_EQ(mirror_files(), files);
}

TEST_F(AirGap, a_mirror_is_an_index_and_a_mirror_as_a_folder) {
  ASSERT_EQ(playground.run({"mirror", manifest.string(), mirror_folder()}).exit_code, 0);
  nobody_is_there();
  ASSERT_EQ(up({"--mirror", mirror_folder()}).exit_code, 0);
  ASSERT_TRUE(remove_tree(playground.home()));
  playground.environment.set("CUKIT_MIRROR", mirror_folder());
  ASSERT_EQ(up().exit_code, 0);
  playground.environment.unset("CUKIT_MIRROR");
  const auto lock = read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value();
  ASSERT_TRUE(remove_tree(playground.home()));
  fs::remove(playground.path() / "demo.lock.yaml");
  playground.environment.set("CUKIT_INDEX_URL", mirror_folder());
  const auto relocked = up();
  ASSERT_EQ(relocked.exit_code, 0) << relocked.errors;
  EXPECT_EQ(read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value(), lock);
}

TEST_F(AirGap, a_mirror_is_an_index_behind_a_web_server_that_knows_nothing_of_it) {
  ASSERT_EQ(playground.run({"mirror", manifest.string(), mirror_folder()}).exit_code, 0);
  FaultServer web;
  for (const auto& [path, time] : mirror_files()) {
    const auto bytes = read_file(fs::path(mirror_folder()) / path, 1U << 30U).value();
    web.serve("/m/" + path, bytes);
    if (path.ends_with("index.html")) {
      web.serve("/m/" + path.substr(0, path.size() - 10), bytes, "text/html");
    }
  }
  const auto lock = read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value();
  fs::remove(playground.path() / "demo.lock.yaml");
  playground.environment.set("CUKIT_INDEX_URL", web.url("/m"));
  server.forget();
  const auto done = up();
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(server.requests(), 0);
  EXPECT_EQ(read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value(), lock);
}

TEST_F(AirGap, row9_a_damaged_file_of_a_mirror_is_replaced_and_never_used) {
  ASSERT_EQ(playground.run({"mirror", manifest.string(), mirror_folder()}).exit_code, 0);
  const auto wheel = fs::path(mirror_folder()) / "nvidia-nvvm" / index.file_of("nvidia-nvvm");
  auto bytes = read_file(wheel, 1U << 30U).value();
  const auto good = bytes;
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  ASSERT_TRUE(write_file_atomic(wheel, bytes));
  const auto other_source = up({"--mirror", mirror_folder()});
  EXPECT_EQ(other_source.exit_code, 0) << other_source.errors;
  EXPECT_THAT(other_source.errors, HasSubstr("trying another source"));
  ASSERT_TRUE(remove_tree(playground.home()));
  const auto index_url = index.url();
  nobody_is_there();
  EXPECT_EQ(up({"--mirror", mirror_folder()}).exit_code, 5);
  playground.environment.set("CUKIT_INDEX_URL", index_url);
  ASSERT_EQ(playground.run({"mirror", manifest.string(), mirror_folder()}).exit_code, 0);
  EXPECT_TRUE(read_file(wheel, 1U << 30U).value() == good);
}

TEST_F(AirGap, a_mirror_that_cannot_be_completed_says_so_and_goes_on_next_time) {
  const auto path = index.file_path(index.file_of("nvidia-nvvm"));
  server.always(path, Fault::status_of(403));
  const auto failed = playground.run({"mirror", manifest.string(), mirror_folder()});
  EXPECT_EQ(failed.exit_code, 4) << failed.errors;
  server.always(path, Fault::none());
  server.forget();
  ASSERT_EQ(playground.run({"mirror", manifest.string(), mirror_folder()}).exit_code, 0);
  EXPECT_EQ(server.requests(path), 1);
  EXPECT_EQ(server.requests(index.file_path(index.file_of("nvidia-cuda-nvcc"))), 0);
}

TEST_F(AirGap, a_bundle_has_the_same_bytes_for_the_same_locks) {
  ASSERT_EQ(playground.run({"bundle", manifest.string(), "-o", bundle_file()}).exit_code, 0);
  const auto first = sha256_of_file(bundle_file()).value();
  ASSERT_TRUE(remove_tree(playground.home()));
  ASSERT_EQ(playground.run({"bundle", manifest.string(), "-o", bundle_file()}).exit_code, 0);
  EXPECT_EQ(sha256_of_file(bundle_file()).value(), first);
  const auto names = list_directory(playground.path()).value();
  for (const auto& name : names) {
    EXPECT_FALSE(name.starts_with(".cukit-bundle")) << name;
  }
}

TEST_F(AirGap, a_bundle_is_a_tar_file_that_anybody_can_read) {
  ASSERT_EQ(playground.run({"bundle", manifest.string(), "-o", bundle_file()}).exit_code, 0);
  Environment environment = playground.environment;
  environment.set("TZ", "UTC");
  const auto listed =
      run_command({.arguments = {"/usr/bin/tar", "--numeric-owner", "-tvf", bundle_file()},
                   .environment = environment,
                   .directory = playground.path().string()});
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->exit_code, 0) << listed->errors;
  EXPECT_THAT(listed->output, HasSubstr("manifests/demo.lock.yaml"));
  EXPECT_THAT(listed->output, HasSubstr("-rw-r--r-- 0/0"));
  EXPECT_THAT(listed->output, HasSubstr("1970-01-01 00:00"));
}

TEST_F(AirGap, up_from_a_bundle_asks_nobody) {
  ASSERT_EQ(playground.run({"bundle", manifest.string(), "-o", bundle_file()}).exit_code, 0);
  ASSERT_TRUE(remove_tree(playground.home()));
  fs::remove(manifest);
  fs::remove(playground.path() / "demo.lock.yaml");
  server.forget();
  const auto done = playground.run({"up", "--no-validate", "--bundle", bundle_file()});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(server.requests(), 0);
  EXPECT_THAT(done.output, HasSubstr("CUDA 13.0.99"));
  EXPECT_EQ(playground.run({"verify"}).exit_code, 0);
  EXPECT_THAT(playground.names_in("names"), ::testing::ElementsAre("demo"));
}

TEST_F(AirGap, up_from_a_bundle_works_where_there_is_no_network_at_all) {
  if (!playground.cuts_off()) {
    GTEST_SKIP() << "a network namespace without a route needs root and unshare";
  }
  ASSERT_EQ(playground.run({"bundle", manifest.string(), "-o", bundle_file()}).exit_code, 0);
  ASSERT_TRUE(remove_tree(playground.home()));
  EXPECT_EQ(playground.run_cut_off({"up", "--no-validate", manifest.string()}).exit_code,
            4); // it is really cut off
  const auto done =
      playground.run_cut_off({"up", "--no-validate", "--bundle", bundle_file(), manifest.string()});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(playground.names_in("trees").size(), 1U);
}

TEST_F(AirGap, a_bundle_is_for_the_manifests_it_was_made_from) {
  ASSERT_EQ(playground.run({"bundle", manifest.string(), "-o", bundle_file()}).exit_code, 0);
  playground.write("demo.yaml", std::string(k_manifest) + "consumers: [triton]\n");
  const auto changed = up({"--bundle", bundle_file()});
  EXPECT_EQ(changed.exit_code, 1) << changed.errors;
  const auto other = playground.run({"up", "--bundle", bundle_file(), "other.yaml"});
  EXPECT_EQ(other.exit_code, 2) << other.errors;
  EXPECT_THAT(other.errors, HasSubstr("demo.yaml"));
}

TEST_F(AirGap, row9_a_bundle_that_was_tampered_with_is_an_integrity_error) {
  ASSERT_EQ(playground.run({"bundle", manifest.string(), "-o", bundle_file()}).exit_code, 0);
  const auto good = read_file(bundle_file(), 1U << 30U).value();
  const auto lock_at = good.find("cukit-lock: 1");
  const auto manifest_at = good.find("name: demo");
  const auto index_at = good.find("\"cukit-bundle\": 1");
  const auto member_at = good.find("nvvm/bin/cicc");
  ASSERT_NE(member_at, std::string::npos);
  ASSERT_NE(lock_at, std::string::npos);
  ASSERT_NE(manifest_at, std::string::npos);
  ASSERT_NE(index_at, std::string::npos);
  // In a wheel, in a header, in the lock, in the manifest, in the list.
  for (const auto at : {member_at + 3000, std::size_t{10}, lock_at + 40, manifest_at + 6,
                        index_at + 60, good.size()}) {
    auto bad = good;
    if (at == good.size()) {
      bad.resize(good.size() / 2);
    } else {
      bad[at] = static_cast<char>(bad[at] ^ 1);
    }
    ASSERT_TRUE(write_file_atomic(bundle_file(), bad));
    ASSERT_TRUE(remove_tree(playground.home()));
    const auto refused = playground.run({"up", "--no-validate", "--bundle", bundle_file()});
    EXPECT_EQ(refused.exit_code, 5) << at << refused.errors;
    EXPECT_THAT(playground.names_in("trees"), IsEmpty());
    EXPECT_THAT(playground.names_in("store"), IsEmpty());
  }
  ASSERT_TRUE(write_file_atomic(bundle_file(), good));
  EXPECT_EQ(playground.run({"up", "--no-validate", "--bundle", bundle_file()}).exit_code, 0);
}

TEST_F(AirGap, row42_a_login_in_an_address_is_written_nowhere) {
  auto url = index.url();
  url.insert(url.find("127."), "user:geheim@");
  playground.environment.set("CUKIT_INDEX_URL", url);
  fs::remove(playground.path() / "demo.lock.yaml");
  const auto done = up({"--mirror", url});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.output + done.errors, Not(HasSubstr("geheim")));
  ASSERT_EQ(playground.run({"mirror", manifest.string(), mirror_folder()}).exit_code, 0);
  for (const auto& entry : fs::recursive_directory_iterator(playground.path())) {
    if (entry.is_regular_file() && entry.file_size() < 200'000) {
      EXPECT_THAT(read_file(entry.path(), 1U << 20U).value(), Not(HasSubstr("geheim")))
          << entry.path();
    }
  }
  EXPECT_EQ(server.seen()[server.seen().size() - 1].header("authorization"),
            "Basic dXNlcjpnZWhlaW0=");
}

TEST_F(AirGap, row43_a_lock_cannot_name_a_host) {
  FaultServer attacker;
  auto lock = read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value();
  const auto wheel = index.file_of("nvidia-nvvm");
  for (const auto& to : {"file: " + attacker.url("/" + wheel),
                         "file: " + wheel + "\n        url: " + attacker.url("/" + wheel)}) {
    auto changed = lock;
    const auto at = changed.find("file: " + wheel);
    ASSERT_NE(at, std::string::npos);
    changed.replace(at, 6 + wheel.size(), to);
    playground.write("demo.lock.yaml", changed);
    const auto refused = up({"--frozen"});
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.errors, HasSubstr("demo.lock.yaml"));
  }
  EXPECT_EQ(attacker.requests(), 0);
}

TEST_F(AirGap, a_mirror_replaces_no_page_that_a_person_wrote) {
  ASSERT_TRUE(make_directories(mirror_folder()));
  const auto page = fs::path(mirror_folder()) / "index.html";
  ASSERT_TRUE(create_file(page, "<!DOCTYPE html>\n<html>welcome</html>\n"));
  server.forget();
  const auto refused = playground.run({"mirror", manifest.string(), mirror_folder()});
  EXPECT_EQ(refused.exit_code, 2) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("index.html"));
  EXPECT_EQ(server.requests(), 0);
  EXPECT_THAT(read_file(page, 1000).value(), HasSubstr("welcome"));
}

TEST_F(AirGap, a_mirror_keeps_nothing_of_runs_that_were_killed) {
  const auto work = fs::path(mirror_folder()) / ".cukit-mirror";
  ASSERT_TRUE(make_directories(work));
  ASSERT_TRUE(create_file(work / (std::string(64, 'a') + ".part"), "half"));
  ASSERT_EQ(playground.run({"mirror", manifest.string(), mirror_folder()}).exit_code, 0);
  EXPECT_THAT(list_directory(work).value(), ::testing::ElementsAre("lock"));
}

TEST_F(AirGap, a_bundle_replaces_a_file_and_nothing_else) {
  const auto out = playground.path() / "out";
  ASSERT_TRUE(make_directories(out / "folder"));
  ASSERT_EQ(::mkfifo((out / "pipe").c_str(), 0600), 0);
  const bool has_device =
      ::mknod((out / "device").c_str(), S_IFCHR | 0666, ::makedev(1, 3)) == 0; // needs root
  fs::create_symlink("device", out / "link-to-device");
  server.forget();
  for (const auto* name : {"folder", "pipe", "device", "link-to-device"}) {
    const bool is_device = std::string(name).ends_with("device");
    if (is_device && !has_device) {
      continue;
    }
    const auto refused = playground.run({"bundle", manifest.string(), "-o", (out / name).string()});
    EXPECT_EQ(refused.exit_code, 2) << name << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr("not a regular file")) << name;
  }
  EXPECT_EQ(server.requests(), 0);
  EXPECT_TRUE(fs::is_fifo(out / "pipe"));
  EXPECT_TRUE(!has_device || fs::is_character_file(out / "device"));

  ASSERT_TRUE(create_file(out / "first.tar", "old"));
  fs::create_symlink("first.tar", out / "latest.tar");
  const auto made =
      playground.run({"bundle", manifest.string(), "-o", (out / "latest.tar").string()});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_TRUE(fs::is_symlink(out / "latest.tar"));
  EXPECT_GT(fs::file_size(out / "first.tar"), 1000U);
}

TEST_F(AirGap, a_bundle_that_brings_again_what_the_store_has_says_so) {
  ASSERT_EQ(up().exit_code, 0);
  const auto made = playground.run({"bundle", manifest.string(), "-o", bundle_file()});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_THAT(made.errors, HasSubstr("they come again"));
}

} // namespace
} // namespace cukit::test

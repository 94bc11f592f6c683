// Bad input and bad luck, from the outside: what is said, with which exit code, that nothing half
// is left, and that the next run works.
#include "trouble_fixture.hpp"

#include <sys/mount.h>
#include <unistd.h>

namespace cukit::test {
namespace {

TEST_F(Trouble, a_good_run_is_good) {
  const auto first = up();
  ASSERT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_THAT(first.output, HasSubstr("CUDA 13.0.99"));
  EXPECT_THAT(first.output, HasSubstr("not validated"));
  const auto lock = read_file(playground.path() / "demo.lock.yaml", 1U << 20U);
  ASSERT_TRUE(lock);
  EXPECT_THAT(*lock, HasSubstr("trust: first-lock")); // these versions are pinned nowhere
  EXPECT_THAT(*lock, Not(HasSubstr("127.0.0.1")));
}

TEST_F(Trouble, a_second_run_asks_nobody_and_writes_nothing) {
  ASSERT_EQ(up().exit_code, 0);
  server.forget();
  const auto again = up();
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.output, HasSubstr("nothing to do"));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(Trouble, only_a_run_that_asks_somebody_loads_libcurl_and_its_thirty_libraries) {
  playground.environment.set("LD_DEBUG", "files");
  EXPECT_THAT(up().errors, HasSubstr("libcurl.so.4"));
  const auto again = up();
  EXPECT_THAT(again.output, HasSubstr("nothing to do"));
  EXPECT_THAT(again.errors, Not(HasSubstr("libcurl.so.4")));
}

TEST_F(Trouble, a_libcurl_that_cannot_be_loaded_is_named_with_what_to_install) {
  playground.write("libcurl.so.4", "no library");
  playground.environment.set("LD_LIBRARY_PATH", playground.path().string());
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 6) << failed.errors;
  EXPECT_THAT(failed.errors, HasSubstr("libcurl.so.4 cannot be loaded"));
  EXPECT_THAT(failed.errors, HasSubstr("libcurl4"));
  playground.environment.set("LD_LIBRARY_PATH", "");
  expect_clean_and_recoverable();
}

TEST_F(Trouble, an_index_that_is_down_is_a_source_error) {
  playground.environment.set("CUKIT_INDEX_URL", "http://127.0.0.1:9/simple");
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 4);
  EXPECT_THAT(failed.errors, HasSubstr("127.0.0.1:9"));
  EXPECT_THAT(failed.errors, HasSubstr("next:"));
  EXPECT_FALSE(path_exists(playground.path() / "demo.lock.yaml"));
  playground.environment.set("CUKIT_INDEX_URL", index.url());
  expect_clean_and_recoverable();
}

TEST_F(Trouble, row17_an_index_that_answers_a_login_page_is_a_source_error) {
  server.always(
      index.page_path("nvidia-cuda-nvcc"),
      Fault::status_of(200, "<html><title>Sign in</title></html>", {"Content-Type: text/html"}));
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 4) << failed.errors;
  server.always(index.page_path("nvidia-cuda-nvcc"), Fault::none());
  expect_clean_and_recoverable();
}

TEST_F(Trouble, a_page_that_is_missing_or_cut_is_a_source_error) {
  for (const auto& fault : {Fault::status_of(404),
                            Fault::status_of(200, R"({"meta": {"api-ver)",
                                             {"Content-Type: application/vnd.pypi.simple.v1+json"}),
                            Fault::status_of(403)}) {
    server.always(index.page_path("nvidia-nvvm"), fault);
    const auto failed = up();
    EXPECT_THAT(failed.exit_code, ::testing::AnyOf(3, 4))
        << failed.errors; // a project that nobody has is a conflict
    EXPECT_THAT(failed.errors, HasSubstr("nvidia-nvvm")) << failed.errors;
    EXPECT_FALSE(path_exists(playground.path() / "demo.lock.yaml"));
  }
  server.always(index.page_path("nvidia-nvvm"), Fault::none());
  expect_clean_and_recoverable();
}

TEST_F(Trouble, row09_a_wheel_with_other_bytes_is_an_integrity_error) {
  const auto path = index.file_path(index.file_of("nvidia-nvvm"));
  server.always(path, Fault::wrong_bytes());
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 5) << failed.errors;
  EXPECT_THAT(failed.errors, HasSubstr("nvidia_nvvm"));
  EXPECT_THAT(playground.names_in("store"), Not(::testing::Contains(HasSubstr("nvvm"))));
  server.always(path, Fault::none());
  expect_clean_and_recoverable();
}

TEST_F(Trouble, row14_a_wheel_that_ends_early_is_resumed) {
  const auto path = index.file_path(index.file_of("nvidia-nvvm"));
  server.script(path, {Fault::close_after(100'000)});
  const auto done = up();
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(server.requests(path), 2);
}

TEST_F(Trouble, a_lock_that_does_not_hold_stops_a_locked_run) {
  const auto missing = up({"--locked"});
  EXPECT_EQ(missing.exit_code, 1);
  ASSERT_EQ(playground.run({"lock", manifest.string()}).exit_code, 0);
  EXPECT_EQ(playground.run({"lock", "--check", manifest.string()}).exit_code, 0);
  playground.write("demo.yaml", std::string(k_manifest) + "consumers: [triton]\n");
  EXPECT_EQ(playground.run({"lock", "--check", manifest.string()}).exit_code, 1);
  const auto stale = up({"--locked"});
  EXPECT_EQ(stale.exit_code, 1);
  EXPECT_THAT(stale.errors, HasSubstr("cukit lock"));
}

TEST_F(Trouble, the_lock_is_the_same_on_another_day_and_from_another_mirror) {
  ASSERT_EQ(playground.run({"lock", manifest.string()}).exit_code, 0);
  const auto first = read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value();
  FaultServer other;
  FakeIndex grown(other);
  grown.add_release("13.0.99", "13.0.188");
  grown.add_release("13.0.100", "13.0.190");
  grown.publish();
  playground.environment.set("CUKIT_INDEX_URL", grown.url());
  playground.write("demo.yaml", "# a comment\n" + std::string(k_manifest));
  ASSERT_EQ(playground.run({"lock", "--json", manifest.string()}).exit_code, 0);
  EXPECT_EQ(read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value(), first);
  // A manifest that changes in something else keeps the choices; --upgrade moves them.
  playground.write("demo.yaml", std::string(k_manifest) + "consumers: [triton]\n");
  ASSERT_EQ(playground.run({"lock", manifest.string()}).exit_code, 0);
  EXPECT_THAT(read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value(),
              HasSubstr("release: \"13.0.99\""));
  ASSERT_EQ(playground.run({"lock", "--upgrade", manifest.string()}).exit_code, 0);
  EXPECT_THAT(read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value(),
              HasSubstr("release: \"13.0.100\""));
}

TEST_F(Trouble, a_release_candidate_is_taken_only_when_it_is_asked_for) {
  index.add_release("13.0.100rc1", "13.0.190rc1");
  index.publish();
  ASSERT_EQ(playground.run({"lock", manifest.string()}).exit_code, 0);
  EXPECT_THAT(read_file(playground.path() / "demo.lock.yaml", 1U << 20U).value(),
              HasSubstr("release: \"13.0.99\""));
  playground.write("asked.yaml", "cukit: 1\ngpus: [sm_90]\ntoolkit: {nvcc: \"==13.0.190rc1\"}\n");
  const auto asked = playground.run({"lock", "asked.yaml"});
  ASSERT_EQ(asked.exit_code, 0) << asked.errors;
  EXPECT_THAT(read_file(playground.path() / "asked.lock.yaml", 1U << 20U).value(),
              HasSubstr("release: \"13.0.100rc1\""));
}

TEST_F(Trouble, fetch_fills_the_store_so_that_the_rest_needs_no_source) {
  const auto plan = up({"--dry-run"});
  EXPECT_EQ(plan.exit_code, 0) << plan.errors;
  EXPECT_THAT(plan.output, HasSubstr("would download"));
  EXPECT_THAT(playground.names_in("store"), IsEmpty());
  const auto fetched = playground.run({"fetch", manifest.string()});
  ASSERT_EQ(fetched.exit_code, 0) << fetched.errors;
  EXPECT_EQ(playground.names_in("store").size(), index.wheels().size());
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
  playground.environment.set("CUKIT_INDEX_URL", "http://127.0.0.1:9/simple");
  const auto built = playground.run({"build", "--frozen", "--json", manifest.string()});
  EXPECT_EQ(built.exit_code, 0) << built.errors;
  EXPECT_THAT(built.output, HasSubstr("\"downloaded_bytes\": 0"));
  EXPECT_EQ(up({"--frozen"}).exit_code, 0);
}

TEST_F(Trouble, one_manifest_that_fails_does_not_stop_the_others) {
  playground.write("broken.yaml", "cukit: 1\ngpus: [sm_130]\n");
  const auto both =
      playground.run({"up", "--no-validate", "--json", "broken.yaml", manifest.string()});
  EXPECT_EQ(both.exit_code, 2); // the first failure's
  for (const auto* said : {"cukit.up/1", "\"status\": \"error\"", "cukit.error/1",
                           "\"status\": \"ready\"", "\"digest\": \"sha256:", "\"name\": \"demo\"",
                           "\"release\": \"13.0.99\"", "\"downloaded_bytes\"", "\"seconds\""}) {
    EXPECT_THAT(both.output, HasSubstr(said));
  }
  EXPECT_EQ(playground.names_in("trees").size(), 1U);
}

TEST_F(Trouble, row34_two_runs_at_once_do_the_work_once) {
  ASSERT_EQ(playground.run({"lock", manifest.string()}).exit_code, 0);
  server.forget();
  Running one(playground, {"up", "--no-validate", manifest.string()});
  Running two(playground, {"up", "--no-validate", manifest.string()});
  EXPECT_EQ(one.wait(60s), 0) << one.output();
  EXPECT_EQ(two.wait(60s), 0) << two.output();
  for (const auto& wheel : index.wheels()) {
    EXPECT_EQ(server.requests(index.file_path(wheel)), 1) << wheel;
  }
  EXPECT_EQ(playground.names_in("trees").size(), 1U);
  EXPECT_EQ(playground.run({"verify"}).exit_code, 0);
}

TEST_F(Trouble, a_validation_that_fails_leaves_the_name_alone) {
  const auto failed = playground.run({"up", manifest.string()}); // the fake nvcc compiles nothing
  EXPECT_EQ(failed.exit_code, 1) << failed.errors;
  EXPECT_THAT(failed.output, HasSubstr("validation failed"));
  EXPECT_THAT(playground.names_in("names"), IsEmpty());
  EXPECT_EQ(playground.run({"env", "demo"}).exit_code, 2);
}

TEST_F(Trouble, a_machine_without_a_compiler_is_told_before_anything_is_downloaded) {
  playground.environment.set("PATH", playground.path().string());
  ASSERT_EQ(playground.run({"lock", manifest.string()}).exit_code, 0);
  server.forget();
  const auto failed = playground.run({"up", manifest.string()});
  EXPECT_EQ(failed.exit_code, 6);
  EXPECT_THAT(failed.errors, HasSubstr("apt-get install g++"));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(Trouble, row22_a_full_disk_leaves_nothing_half) {
  const auto disk = playground.home();
  ASSERT_TRUE(make_directories(disk));
  if (::geteuid() != 0 || ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=400k") != 0) {
    GTEST_SKIP() << "mounting a small file system needs root";
  }
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 6) << failed.errors;
  EXPECT_THAT(failed.errors, HasSubstr("No space left"));
  EXPECT_THAT(failed.errors, HasSubstr("next:"));
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
  ASSERT_EQ(::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  expect_clean_and_recoverable();
  EXPECT_EQ(::umount2(disk.c_str(), MNT_DETACH), 0);
}

TEST_F(Trouble, a_prefix_leaves_nothing_but_the_prefix) {
  playground.environment.unset("CUKIT_HOME");
  ASSERT_EQ(playground.run({"lock", manifest.string()}).exit_code, 0);
  const auto prefix = playground.path() / "opt/cuda";
  const auto before = list_directory(playground.path()).value();
  ASSERT_EQ(
      playground
          .run({"up", "--locked", "--no-validate", "--prefix", prefix.string(), manifest.string()})
          .exit_code,
      0);
  auto after = list_directory(playground.path()).value();
  std::erase(after, "opt");
  EXPECT_EQ(after, before);
  EXPECT_THAT(list_directory(playground.path() / "opt").value(), ::testing::ElementsAre("cuda"));
  // Somebody else's folder is never replaced.
  ASSERT_TRUE(make_directories(playground.path() / "mine"));
  playground.write("mine/file", "precious");
  const auto refused = playground.run({"up", "--locked", "--no-validate", "--prefix",
                                       (playground.path() / "mine").string(), manifest.string()});
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_TRUE(path_exists(playground.path() / "mine/file"));
}

TEST_F(Trouble, a_known_release_made_of_other_files_is_refused) {
  FaultServer elsewhere;
  FakeIndex other(elsewhere); // its files have tags that NVIDIA's have not, so no pin names them
  other.add_release("13.0.3", "13.0.88");
  other.publish();
  playground.environment.set("CUKIT_INDEX_URL", other.url());
  const auto refused = up();
  EXPECT_EQ(refused.exit_code, 5) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("this cukit knows"));
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
  EXPECT_FALSE(path_exists(playground.path() / "demo.lock.yaml"));
}

TEST_F(Trouble, a_password_that_needs_quoting_is_shown_nowhere) {
  playground.environment.set("CUKIT_INDEX_URL", "https://user:ge?heim@127.0.0.1:9/simple");
  const auto refused = up();
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.errors + refused.output, Not(HasSubstr("heim")));
  EXPECT_THAT(refused.errors, HasSubstr("%3F"));
}

} // namespace
} // namespace cukit::test

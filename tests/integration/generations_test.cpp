// Generations of a name, and gc: what goes, what never goes, and what is said before.
#include "store_fixture.hpp"

#include <ctime>
#include <fstream>
#include <thread>
#include <utime.h>

namespace cukit::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Generations = StoreRun;

void make_old(const fs::path& path, std::chrono::seconds age) {
  const auto then = std::time(nullptr) - age.count();
  const utimbuf times{then, then};
  ASSERT_EQ(::utime(path.c_str(), &times), 0) << path;
}

TEST_F(Generations, are_listed_and_switched_between) {
  up("demo", "13.0.187");
  const auto old_tree = tree("demo");
  up("demo", "13.0.188");
  const auto new_tree = tree("demo");
  ASSERT_NE(old_tree, new_tree);
  const auto json = run({"list", "--json"});
  EXPECT_THAT(json, AllOf(HasSubstr("\"generation\": 2"), HasSubstr("\"number\": 1"),
                          HasSubstr(old_tree.string()), HasSubstr(new_tree.string())));
  EXPECT_THAT(run({"list"}), AllOf(HasSubstr("2 *"), HasSubstr("13.0.98"), HasSubstr("13.0.99")));

  EXPECT_THAT(run({"rollback", "demo"}), HasSubstr("generation 1, CUDA 13.0.98"));
  EXPECT_EQ(tree("demo"), old_tree);
  EXPECT_THAT(run({"env", "demo"}), HasSubstr(old_tree.string()));
  run({"rollback", "demo"}, 1);
  EXPECT_THAT(run({"switch", "demo", "--json"}),
              AllOf(HasSubstr("cukit.switch/1"), HasSubstr("\"from\": 1"), HasSubstr("\"to\": 2")));
  EXPECT_EQ(tree("demo"), new_tree);
  run({"switch", "demo", "--to", "1"});
  EXPECT_EQ(tree("demo"), old_tree);
  EXPECT_THAT(run({"switch", "demo", "--to", "7"}, 1), HasSubstr("no generation 7"));
  run({"switch", "nobody"}, 1);
}

TEST_F(Generations, rollback_after_an_up_that_followed_a_rollback_reaches_the_other_toolkit) {
  up("demo", "13.0.187");
  const auto old_tree = tree("demo");
  up("demo", "13.0.188");
  run({"rollback", "demo"});
  up("demo", "13.0.188");
  ASSERT_NE(tree("demo"), old_tree);
  EXPECT_THAT(run({"rollback", "demo", "--json"}),
              AllOf(HasSubstr("\"to\": 1"), HasSubstr("\"release\": \"13.0.98\"")));
  EXPECT_EQ(tree("demo"), old_tree);
}

TEST_F(Generations, every_generation_is_a_root_until_it_is_dropped) {
  up("demo", "13.0.187");
  up("demo", "13.0.188");
  const auto before = playground.names_in("store");
  EXPECT_THAT(run({"gc"}), HasSubstr("nothing to remove"));
  EXPECT_THAT(playground.names_in("trees"), SizeIs(2));

  const auto plan = run({"gc", "--keep", "1", "--dry-run"});
  EXPECT_THAT(plan, AllOf(HasSubstr("generation 1 of demo"), HasSubstr("would come back")));
  EXPECT_EQ(playground.names_in("store"), before);
  EXPECT_THAT(playground.names_in("trees"), SizeIs(2));

  EXPECT_THAT(run({"gc", "--keep", "1"}), HasSubstr("generation 1 of demo"));
  EXPECT_THAT(playground.names_in("trees"), SizeIs(1));
  EXPECT_LT(playground.names_in("store").size(), before.size());
  EXPECT_THAT(playground.names_in("staging"), IsEmpty());
  run({"verify"});
  server.forget();
  EXPECT_THAT(run({"up", "--no-validate", "demo.yaml"}), HasSubstr("nothing to do"));
}

TEST_F(Generations, go_by_age_but_never_the_current_one) {
  up("demo", "13.0.187");
  up("demo", "13.0.188");
  make_old(playground.home() / "names/demo/gen/1", 40 * 24h);
  make_old(playground.home() / "names/demo/gen/2", 40 * 24h);
  EXPECT_THAT(run({"gc", "--older-than", "60d"}), HasSubstr("nothing to remove"));
  EXPECT_THAT(run({"gc", "--older-than", "30d"}),
              AllOf(HasSubstr("generation 1 of demo"), Not(HasSubstr("generation 2"))));
  EXPECT_THAT(playground.names_in("trees"), SizeIs(1));
  run({"gc", "--older-than", "a week"}, 2);
}

TEST_F(Generations, a_name_goes_as_a_whole_and_the_others_stay) {
  up("demo", "13.0.187");
  up("other", "13.0.188");
  run({"gc", "--name", "nobody"}, 2);
  EXPECT_THAT(run({"gc", "--name", "demo"}), HasSubstr("the current one"));
  EXPECT_THAT(playground.names_in("names"), ::testing::ElementsAre("other"));
  EXPECT_THAT(playground.names_in("trees"), SizeIs(1));
  run({"verify"});
  up("demo", "13.0.187");
  EXPECT_THAT(playground.names_in("trees"), SizeIs(2));
}

TEST_F(Generations, a_tree_without_a_name_goes_unless_somebody_holds_it) {
  playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  run({"build", "demo.yaml"});
  const auto path = playground.home() / "trees" / playground.names_in("trees").front();
  {
    const auto held = assemble::open_tree(path);
    ASSERT_TRUE(held);
    EXPECT_THAT(run({"gc"}), HasSubstr("stays, because it is used now: tree"));
    EXPECT_TRUE(folder_exists(path));
    run({"verify", path.string()});
  }
  run({"gc"});
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
  EXPECT_THAT(playground.names_in("store"), IsEmpty());
}

TEST_F(Generations, a_tree_that_a_run_program_uses_stays_until_the_program_and_its_children_end) {
  up("demo", "13.0.187");
  playground.write("other.yaml", manifest_of("other", "13.0.188"));
  run({"build", "other.yaml"}); // a tree without a name
  const auto named = tree("demo");
  auto ids = playground.names_in("trees");
  std::erase(ids, named.filename().string());
  ASSERT_THAT(ids, SizeIs(1));
  const auto unnamed = playground.home() / "trees" / ids.front();
  ASSERT_EQ(::mkfifo((playground.path() / "go").c_str(), 0600), 0);
  // A shell that starts a child, says that it is there, and ends; the child waits for a word. The
  // low descriptors are taken by the script itself, as scripts do.
  const std::string script = "exec 3>/dev/null 4>/dev/null 9>/dev/null\n"
                             "(cat go >/dev/null; : >ended) </dev/null >/dev/null 2>&1 &\n"
                             ": >started";
  for (const auto& [word, path] :
       {std::pair{ids.front(), unnamed}, std::pair{std::string("demo"), named}}) {
    Running program(playground, {"run", word, "--", "/bin/sh", "-c", script});
    ASSERT_EQ(program.wait(60s), 0) << program.output();
    ASSERT_TRUE(path_exists(playground.path() / "started"));
    const auto said = run({"gc", "--name", "demo"}); // demo's tree has no name any more
    EXPECT_THAT(said, HasSubstr("stays, because it is used now: tree " + path.filename().string()));
    EXPECT_TRUE(folder_exists(path)) << word;
    std::ofstream(playground.path() / "go") << "now";
    while (!path_exists(playground.path() / "ended")) {
      std::this_thread::sleep_for(5ms);
    }
    fs::remove(playground.path() / "ended");
    fs::remove(playground.path() / "started");
    up("demo", "13.0.187"); // has its name again
  }
  run({"gc"});
  EXPECT_THAT(playground.names_in("trees"), ::testing::ElementsAre(named.filename().string()));
}

TEST_F(Generations, a_report_goes_when_it_is_old_and_no_generation_has_it) {
  up("demo");
  const auto reports = playground.home() / "reports";
  for (const char* name : {"named.json", "old.json", "young.json", ".old.json.0123"}) {
    ASSERT_TRUE(create_file(reports / name, "{}"));
    if (std::string(name) != "young.json") {
      make_old(reports / name, 2h);
    }
  }
  const auto generation = playground.home() / "names/demo/gen/1/report";
  ASSERT_TRUE(write_file_atomic(generation, "named\n"));
  EXPECT_THAT(run({"gc", "--dry-run"}),
              AllOf(HasSubstr("/old.json"), HasSubstr("/.old.json.0123"),
                    Not(HasSubstr("young.json")), Not(HasSubstr("named.json"))));
  EXPECT_THAT(playground.names_in("reports"), SizeIs(4));
  EXPECT_THAT(run({"gc", "--json"}), AllOf(HasSubstr("\"reports\""), HasSubstr("/old.json")));
  EXPECT_THAT(playground.names_in("reports"), ::testing::ElementsAre("named.json", "young.json"));
  make_old(reports / "young.json", 5s);
  run({"gc", "--staging-age", "0s", "--name", "demo"}); // with the name its report goes
  EXPECT_THAT(playground.names_in("reports"), IsEmpty());
}

TEST_F(Generations, a_download_goes_when_it_is_old_and_nobody_works_at_it) {
  up("demo");
  const auto downloads = playground.home() / "cache/downloads";
  const auto before = playground.names_in("cache/downloads");
  const auto put = [&](char digit, const std::string& suffix, std::chrono::seconds age) {
    const auto file = downloads / (std::string(64, digit) + suffix);
    ASSERT_TRUE(create_file(file, std::string(100'000, 'x')));
    make_old(file, age);
  };
  for (const char* suffix : {".part", ".part.json", ".lock"}) {
    put('a', suffix, 8 * 24h);  // begun long ago
    put('b', suffix, 6 * 24h);  // may still be resumed
    put('c', suffix, 30 * 24h); // somebody is at it
  }
  put('d', "", 8 * 24h); // finished, never used
  const auto held =
      FileLock::acquire(downloads / (std::string(64, 'c') + ".lock"), FileLock::Mode::exclusive);
  ASSERT_TRUE(held);
  make_old(downloads / (std::string(64, 'c') + ".lock"), 30 * 24h);
  const auto found = run({"gc", "--dry-run"});
  EXPECT_THAT(found,
              AllOf(HasSubstr(std::string(64, 'a') + ".part.json"), HasSubstr(std::string(64, 'd')),
                    Not(HasSubstr("bbbbb")), Not(HasSubstr("ccccc"))));
  EXPECT_THAT(playground.names_in("cache/downloads"), SizeIs(before.size() + 10));
  EXPECT_THAT(run({"du"}), HasSubstr("downloads"));
  run({"gc"});
  EXPECT_THAT(playground.names_in("cache/downloads"), SizeIs(before.size() + 6));
  for (const auto& name : playground.names_in("cache/downloads")) {
    make_old(downloads / name, 5s);
  }
  run({"gc", "--download-age", "0s"});
  for (const auto& name : playground.names_in("cache/downloads")) {
    EXPECT_THAT(name, ::testing::StartsWith("ccccc"));
  }
  run({"gc", "--download-age", "soon"}, 2);
  run({"verify"});
}

TEST_F(Generations, the_kernels_of_a_tree_at_a_prefix_stay_as_long_as_it_stands) {
  up("demo", "13.0.187");
  playground.write("other.yaml", manifest_of("other", "13.0.188"));
  const auto prefix = playground.path() / "opt/cuda";
  run({"up", "--no-validate", "--prefix", prefix.string(), "other.yaml"});
  const auto id = assemble::open_tree(prefix)->id.hex();
  const auto cache = playground.home() / "cache/jit" / id;
  const auto kernel = cache / "flashinfer/kernel.so";
  ASSERT_TRUE(make_directories(kernel.parent_path()));
  ASSERT_TRUE(create_file(kernel, "compiled"));
  make_old(kernel, 90 * 24h);
  run({"gc"});
  EXPECT_TRUE(path_exists(kernel));

  ASSERT_TRUE(remove_tree(cache / ".places")); // of an earlier cukit: `env` writes it again
  run({"env", prefix.string()});
  make_old(cache / "flashinfer", 90 * 24h);
  make_old(cache, 90 * 24h);
  run({"gc"});
  EXPECT_TRUE(path_exists(kernel));

  ASSERT_TRUE(rename_path(prefix, playground.path() / "opt/gone"));
  EXPECT_THAT(run({"gc"}), HasSubstr("kernels compiled with tree " + id.substr(0, 16)));
  EXPECT_FALSE(path_exists(cache));
}

TEST_F(Generations, kernels_of_a_tree_nobody_knows_go_when_they_are_old) {
  up("demo");
  const auto jit = playground.home() / "cache/jit";
  const auto young = jit / std::string(64, 'a');
  const auto old = jit / std::string(64, 'b');
  for (const auto& cache : {young, old}) {
    ASSERT_TRUE(make_directories(cache / "torch"));
    ASSERT_TRUE(create_file(cache / "torch/kernel.so", "compiled"));
  }
  for (const char* part : {"torch/kernel.so", "torch", ""}) {
    make_old(old / part, 60 * 24h);
  }
  run({"gc"});
  EXPECT_TRUE(path_exists(young));
  EXPECT_FALSE(path_exists(old));
}

TEST_F(Generations, gc_says_what_came_back_and_not_what_it_found) {
  playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  run({"build", "demo.yaml"});
  const auto path = playground.home() / "trees" / playground.names_in("trees").front();
  const auto bytes = [](const std::string& json) {
    const auto at = json.find("\"bytes\": ");
    return at == std::string::npos ? -1 : std::stol(json.substr(at + 9));
  };
  const auto planned = bytes(run({"gc", "--dry-run", "--json"}));
  EXPECT_GT(planned, 0);
  {
    const auto held = assemble::open_tree(path); // the tree stays, and with it what it shares
    ASSERT_TRUE(held);
    const auto done = bytes(run({"gc", "--json"}));
    EXPECT_GE(done, 0);
    EXPECT_LT(done, planned);
  }
  EXPECT_GT(bytes(run({"gc", "--json"})), 0);
  EXPECT_THAT(playground.names_in("trees"), IsEmpty());
}

TEST_F(Generations, du_counts_shared_files_once) {
  up("demo", "13.0.187");
  const auto one = run({"du", "--json"});
  EXPECT_THAT(one, AllOf(HasSubstr("cukit.du/1"), HasSubstr("\"demo\""), HasSubstr("own_bytes")));
  EXPECT_THAT(run({"du"}), AllOf(HasSubstr("saved by sharing"), HasSubstr("demo")));
  const auto bytes = [&](const std::string& key) {
    const auto json = run({"du", "--json"});
    const auto at = json.find("\"" + key + "\": ");
    EXPECT_NE(at, std::string::npos) << key;
    return at == std::string::npos ? 0 : std::stol(json.substr(at + key.size() + 4));
  };
  const auto total = bytes("total_bytes");
  const auto reports = bytes("reports_bytes");
  const auto downloads = bytes("downloads_bytes");
  ASSERT_TRUE(create_file(playground.home() / "reports/one.json", std::string(100'000, 'x')));
  ASSERT_TRUE(
      create_file(playground.home() / "cache/downloads/one.part", std::string(200'000, 'x')));
  EXPECT_GE(bytes("reports_bytes") - reports, 100'000);
  EXPECT_GE(bytes("downloads_bytes") - downloads, 200'000);
  EXPECT_GE(bytes("total_bytes") - total, 300'000);
}

TEST_F(Generations, row44_a_dead_runs_staging_folder_goes_when_its_lock_is_free_and_it_is_old) {
  up("demo");
  const auto staging = playground.home() / "staging";
  for (const char* name : {"young", "old", "held"}) {
    ASSERT_TRUE(make_directories(staging / name / "files"));
    ASSERT_TRUE(create_file(staging / name / ".lock", "4242\n"));
  }
  const auto lock = FileLock::acquire(staging / "held/.lock", FileLock::Mode::exclusive);
  ASSERT_TRUE(lock);
  for (const char* name : {"old", "held"}) {
    for (const char* part : {"/files", "/.lock", ""}) {
      make_old(staging / (std::string(name) + part), 2h);
    }
  }
  EXPECT_THAT(run({"gc", "--dry-run"}),
              AllOf(HasSubstr("/old"), Not(HasSubstr("/young")), Not(HasSubstr("/held"))));
  EXPECT_THAT(run({"gc"}), HasSubstr("/old"));
  EXPECT_THAT(playground.names_in("staging"), ::testing::ElementsAre("held", "young"));
  run({"gc", "--staging-age", "0s"});
  EXPECT_THAT(playground.names_in("staging"), ::testing::ElementsAre("held"));
}

TEST_F(Generations, row34_installs_gc_and_verify_at_once_all_succeed_and_lose_nothing) {
  const auto digest = up("demo", "13.0.188");
  for (const char* name : {"a", "b"}) {
    playground.write(std::string(name) + ".yaml",
                     manifest_of(name, *name == 'a' ? "13.0.187" : "13.0.188"));
    run({"lock", std::string(name) + ".yaml"});
  }
  // Each loop does again what the gc undoes: unnamed trees have no root.
  const auto loop = [&](const std::vector<std::string>& arguments, int times) {
    for (int i = 0; i < times; ++i) {
      const auto done = playground.run(arguments);
      EXPECT_EQ(done.exit_code, 0)
          << ::testing::PrintToString(arguments) << done.output << done.errors;
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.emplace_back(loop, std::vector<std::string>{"build", "a.yaml"}, 12);
    threads.emplace_back(loop, std::vector<std::string>{"build", "b.yaml"}, 12);
    threads.emplace_back(loop, std::vector<std::string>{"up", "--no-validate", "b.yaml"}, 12);
    threads.emplace_back(loop, std::vector<std::string>{"gc", "--staging-age", "0s"}, 25);
    threads.emplace_back(loop, std::vector<std::string>{"verify"}, 12);
  }
  run({"verify"});
  EXPECT_THAT(playground.names_in("staging"), IsEmpty());
  run({"gc"});
  EXPECT_THAT(playground.names_in("trees"), SizeIs(1)); // a's has no name; b and demo share theirs
  server.forget();
  EXPECT_EQ(up("demo", "13.0.188"), digest);
  EXPECT_EQ(server.requests(), 0);
}

} // namespace
} // namespace cukit::test

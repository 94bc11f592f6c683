// Many processes over one home: all succeed, the work is done once, and all see the same.
#include "lab.hpp"

#include <fmt/format.h>

#include <csignal>
#include <map>
#include <set>
#include <thread>

namespace cukit::test {
namespace {

using namespace std::chrono_literals;

/// The digests of trees in what `up --json` printed.
std::set<std::string> digests_in(const std::string& output) {
  std::set<std::string> found;
  constexpr std::string_view key = "\"digest\": \"sha256:";
  for (auto at = output.find(key); at != std::string::npos; at = output.find(key, at + 1)) {
    found.insert(output.substr(at + key.size(), 64));
  }
  return found;
}

/// Eight manifests of two releases: names and demands differ, the wheels are shared.
std::vector<std::string> write_manifests(const Lab& lab) {
  std::vector<std::string> manifests;
  for (int i = 0; i < 8; ++i) {
    const auto* gpu = i % 4 < 2 ? "sm_90" : "sm_80";
    manifests.push_back(
        lab.playground
            .write(
                fmt::format("many{}.yaml", i),
                fmt::format("cukit: 1\nname: many{}\ngpus: [{}]\ntoolkit: {{nvcc: \"13.{}\"}}\n{}",
                            i, gpu, i % 2, i >= 4 ? "consumers: [triton]\n" : ""))
            .string());
  }
  return manifests;
}

TEST(Concurrency, row34_thirty_two_processes_with_eight_manifests_do_the_work_once) {
  Lab lab;
  lab.index.add_release("13.1.99", "13.1.188");
  lab.index.publish();
  const auto manifests = write_manifests(lab);
  for (const auto& manifest : manifests) {
    const auto locked = lab.playground.run({"lock", manifest});
    ASSERT_EQ(locked.exit_code, 0) << locked.errors;
  }
  lab.server.forget();
  std::vector<Finished> results(32);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < results.size(); ++i) {
      threads.emplace_back([&, i] {
        results[i] =
            lab.playground.run({"up", "--no-validate", "--json", manifests[i % manifests.size()]});
      });
    }
  }
  std::map<std::size_t, std::set<std::string>> digests;
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].exit_code, 0) << results[i].errors;
    digests[i % manifests.size()].merge(digests_in(results[i].output));
  }
  for (const auto& [manifest, found] : digests) {
    EXPECT_EQ(found.size(), 1U) << manifests[manifest];
  }
  for (const auto& wheel : lab.index.wheels()) {
    EXPECT_EQ(lab.server.requests(lab.index.file_path(wheel)), 1) << wheel;
  }
  EXPECT_THAT(lab.playground.names_in("staging"), ::testing::IsEmpty());
  EXPECT_EQ(lab.playground.names_in("names").size(), manifests.size());
  lab.expect_whole("32 processes");
}

TEST(Concurrency, row34_processes_that_write_the_same_lock_agree) {
  const Lab lab;
  std::vector<Finished> results(8);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] { result = lab.up({"--json"}); });
    }
  }
  std::set<std::string> digests;
  for (const auto& result : results) {
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    digests.merge(digests_in(result.output));
  }
  EXPECT_EQ(digests.size(), 1U);
  EXPECT_EQ(lab.playground.names_in("trees").size(), 1U);
  lab.expect_rerun("8 processes");
}

TEST(Concurrency, commands_that_share_a_download_leave_it_to_each_other) {
  Lab lab;
  ASSERT_EQ(lab.playground.run({"lock", lab.manifest.string()}).exit_code, 0);
  const auto path = lab.playground.path();
  const auto loop = [&](const std::vector<std::string>& arguments, const fs::path& again,
                        int times) {
    for (int i = 0; i < times; ++i) {
      const auto done = lab.playground.run(arguments);
      EXPECT_EQ(done.exit_code, 0)
          << ::testing::PrintToString(arguments) << done.output << done.errors;
      EXPECT_TRUE(remove_tree(again)); // so that everything comes again
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const char* name : {"one.tar", "two.tar", "three.tar"}) {
      threads.emplace_back(
          loop,
          std::vector<std::string>{"bundle", lab.manifest.string(), "-o", (path / name).string()},
          path / name, 6);
    }
    threads.emplace_back(
        loop, std::vector<std::string>{"mirror", lab.manifest.string(), (path / "mirror").string()},
        path / "mirror", 4);
    threads.emplace_back(loop,
                         std::vector<std::string>{"up", "--no-validate", "--frozen", "--prefix",
                                                  (path / "opt/cuda").string(),
                                                  lab.manifest.string()},
                         path / "opt", 4);
    threads.emplace_back(loop, std::vector<std::string>{"fetch", lab.manifest.string()},
                         path / "none", 4);
    threads.emplace_back(
        loop, std::vector<std::string>{"gc", "--download-age", "0s", "--staging-age", "0s"},
        path / "none", 10);
  }
  for (const auto& name : lab.playground.names_in("cache/downloads")) {
    EXPECT_FALSE(path_exists(lab.playground.home() / "cache/downloads" / name)) << name;
  }
  lab.expect_rerun("commands at once");
}

TEST(Concurrency, row35_a_holder_that_is_killed_lets_the_others_go_on) {
  Lab lab;
  const auto path = lab.index.file_path(lab.index.file_of("nvidia-nvvm"));
  ASSERT_EQ(lab.playground.run({"lock", lab.manifest.string()}).exit_code, 0);
  lab.server.script(path, {Fault::stall_after(10)});
  lab.server.forget();
  Running holder(lab.playground, {"up", "--no-validate", lab.manifest.string()});
  for (int i = 0; i < 2000 && lab.server.requests(path) == 0; ++i) {
    std::this_thread::sleep_for(5ms);
  }
  ASSERT_EQ(lab.server.requests(path), 1) << holder.output();
  Running waiting(lab.playground, {"up", "--no-validate", lab.manifest.string()});
  constexpr auto said = "waiting for another cukit (process ";
  EXPECT_TRUE(waiting.says(said, 60s)) << "it should wait: " << waiting.output();
  holder.signal(SIGKILL);
  EXPECT_EQ(holder.wait(5s), 128 + SIGKILL);
  EXPECT_EQ(waiting.wait(120s), 0) << waiting.output();
  lab.expect_rerun("the holder's death");
}

} // namespace
} // namespace cukit::test

// extract_bench DIR WHEEL...: extracts each wheel into a folder of its own below DIR, all at once
// as `up` does, and prints the seconds and the peak memory. DIR is created and must not exist.
#include "archive/wheel.hpp"

#include <chrono>
#include <cstdio>
#include <sys/resource.h>
#include <thread>

namespace {

using namespace cukit;

Result<std::size_t> extract_one(const fs::path& wheel_path, const fs::path& folder,
                                ThreadPool& pool) {
  CUKIT_TRY(make_directories(folder));
  CUKIT_TRY_ASSIGN(const auto file, open_local_file(wheel_path));
  CUKIT_TRY_ASSIGN(const auto wheel, archive::open_wheel(*file, archive::Audit::whole));
  CUKIT_TRY_ASSIGN(auto sink, archive::TreeSink::open(folder));
  Silent silent;
  CUKIT_TRY_ASSIGN(const auto written,
                   archive::extract(*file, wheel, [](const RelativePath&) { return true; }, sink,
                                    pool, silent, 0, {}));
  return written.size();
}

int run(const fs::path& target, const std::vector<fs::path>& wheels) {
  if (path_exists(target)) {
    std::fprintf(stderr, "%s exists already\n", target.c_str());
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  std::vector<Result<std::size_t>> results(wheels.size());
  {
    ThreadPool pool;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < wheels.size(); ++i) {
      threads.emplace_back(
          [&, i] { results[i] = extract_one(wheels[i], target / wheels[i].filename(), pool); });
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::size_t files = 0;
  for (const auto& result : results) {
    if (!result) {
      std::fprintf(stderr, "%s (%s)\n", result.error().message.c_str(),
                   result.error().where.c_str());
      return static_cast<int>(result.error().code);
    }
    files += *result;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%.3f s, %zu files, peak memory %.1f MB\n", seconds.count(), files,
              static_cast<double>(usage.ru_maxrss) / 1000.0);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: extract_bench DIR WHEEL...\n");
    return 2;
  }
  return run(argv[1], std::vector<fs::path>(argv + 2, argv + argc));
}

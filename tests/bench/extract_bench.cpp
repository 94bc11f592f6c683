// extract_bench DIR FILE...: extracts each wheel or .tar.xz archive into a folder of its own below
// DIR, all wheels at once and four archives at a time, as `up` does, and prints the seconds and the
// peak memory. DIR is created and must not exist.
#include "archive/tar_xz.hpp"
#include "archive/wheel.hpp"

#include <chrono>
#include <cstdio>
#include <sys/resource.h>
#include <thread>

namespace {

using namespace cukit;

Result<std::size_t> extract_archive(const fs::path& path, const fs::path& folder,
                                    archive::XzMemory& memory) {
  CUKIT_TRY(make_directories(folder));
  CUKIT_TRY_ASSIGN(const auto file, open_local_file(path));
  CUKIT_TRY_ASSIGN(auto sink, archive::TreeSink::open(folder));
  archive::FileStream stream(*file);
  Silent silent;
  CUKIT_TRY_ASSIGN(const auto written,
                   archive::extract_tar_xz(stream, archive::top_folder(path.string()), sink, memory,
                                           silent, 0, {}));
  return written.size();
}

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

int run(const fs::path& target, const std::vector<fs::path>& files) {
  if (path_exists(target)) {
    std::fprintf(stderr, "%s exists already\n", target.c_str());
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  std::vector<Result<std::size_t>> results(files.size());
  archive::XzMemory memory;
  {
    ThreadPool pool;
    std::vector<std::jthread> threads;
    ThreadPool coordinators(4);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto folder = target / files[i].filename();
      if (!archive::top_folder(files[i].string()).empty()) {
        coordinators.submit(
            [&, i, folder] { results[i] = extract_archive(files[i], folder, memory); },
            fs::file_size(files[i]));
        continue;
      }
      threads.emplace_back([&, i, folder] { results[i] = extract_one(files[i], folder, pool); });
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::size_t written = 0;
  for (const auto& result : results) {
    if (!result) {
      std::fprintf(stderr, "%s (%s)\n", result.error().message.c_str(),
                   result.error().where.c_str());
      return static_cast<int>(result.error().code);
    }
    written += *result;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%.3f s, %zu files, peak memory %.1f MB\n", seconds.count(), written,
              static_cast<double>(usage.ru_maxrss) / 1000.0);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: extract_bench DIR FILE...\n");
    return 2;
  }
  return run(argv[1], std::vector<fs::path>(argv + 2, argv + argc));
}

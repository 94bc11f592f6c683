// One wanted file on its way: which location is next, what has arrived, and what to do about a
// failure. It is the sink of its own downloads; fetch.cpp runs many of them.
#pragma once

#include "base/file_lock.hpp"
#include "fetch/fetch.hpp"
#include "fetch/part_file.hpp"
#include "fetch/write_behind.hpp"

namespace cukit::fetch {

class Job final : public http::Sink {
public:
  /// What arrives is written and hashed on `writers`.
  Job(const Wanted& wanted, const Options& options, ThreadPool& writers, Progress& progress,
      std::stop_token stop);
  ~Job() override;

  /// The lock of the file in the cache; false: another process has it. wait() waits until it has
  /// not.
  Result<bool> lock();
  Result<void> wait_for_lock();

  /// What can be had without the network: from the cache, or from locations that are paths.
  /// Nothing: download() is next. May run on another thread than the rest.
  std::optional<Result<Blob>> settle();
  [[nodiscard]] http::Download download();
  /// After an attempt: the next one, or nothing when take_result() has the outcome.
  std::optional<http::Client::Again> after(http::Ended ended, double jitter);
  [[nodiscard]] Result<Blob> take_result();

  Result<void> start(std::uint64_t offset, std::optional<std::uint64_t> total,
                     std::string_view etag) override;
  Result<void> write(std::span<const std::uint8_t> bytes) override;

private:
  using Again = http::Client::Again;
  [[nodiscard]] const std::string& location() const { return wanted_.locations[location_]; }
  [[nodiscard]] std::string shown_location() const;
  [[nodiscard]] bool is_path() const { return location().starts_with('/'); }

  Result<Blob> from_cache(bool& found);
  Result<Blob> from_path(const fs::path& path);
  std::optional<Result<Blob>> from_paths();
  Result<Blob> finish();

  std::optional<Again> after_everything_came();
  std::optional<Again> after_failure(http::Ended ended, double jitter);
  std::optional<Again> from_the_start(const Error& why);
  std::optional<Again> next_location(Error error);
  std::optional<Again> end(Result<Blob> result);
  std::optional<Again> again(std::chrono::milliseconds delay);
  [[nodiscard]] Error wrong_size(std::uint64_t there) const;
  Error wrong_digest(const Sha256& got) const;
  Error all_failed();

  void show(std::uint64_t done);
  Hashed shown_hashing();

  const Wanted& wanted_;
  const Options& options_;
  Progress& progress_;
  std::stop_token stop_;
  PartFile part_;
  WriteBehind behind_; ///< appends to part_, which is this thread's own again after drain()
  std::optional<FileLock> lock_;
  std::optional<Result<Blob>> result_;
  std::optional<int> work_; ///< of progress_, once begun

  std::size_t location_ = 0;
  int attempts_ = 0;           ///< at this location without getting further
  bool began_anew_ = false;    ///< at this location: the one second chance is used up
  bool is_resumed_ = false;    ///< the part holds bytes of an earlier attempt
  bool is_misfit_ = false;     ///< the answer announced a file of another size
  std::uint64_t furthest_ = 0; ///< position reached at this location
  std::uint64_t downloaded_ = 0;
  std::vector<Error> errors_; ///< one per location that failed
};

} // namespace cukit::fetch

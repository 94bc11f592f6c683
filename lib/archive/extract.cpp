// Members of a wheel to files, on a pool. A member is a job of its own when it is large; small ones
// that lie side by side in the archive share a job, one read and one set of buffers.
#include "archive/member_reader.hpp"
#include "archive/wheel.hpp"
#include "archive/zip_format.hpp"
#include "base/limits.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>

namespace cukit::archive {

namespace {

constexpr std::uint64_t k_large = 512U << 10U; // compressed
// A batch is read at once; what lies between two wanted members is read too when it is short.
constexpr std::uint64_t k_batch_bytes = 1U << 20U;
constexpr std::uint64_t k_batch_unpacked = 8U << 20U;
constexpr std::uint64_t k_batch_gap = 16U << 10U;
constexpr std::size_t k_batch_members = 256;

struct Job {
  std::vector<const WheelMember*> members;
  std::uint64_t begin = 0; ///< of the bytes in the file that hold all of them
  std::uint64_t end = 0;
  std::uint64_t unpacked = 0;
  bool is_large = false;
};

bool fits(const Job& job, const ZipMember& member) {
  return !job.is_large && job.members.size() < k_batch_members &&
         member.header_offset - job.end <= k_batch_gap &&
         member.end_offset - job.begin <= k_batch_bytes &&
         job.unpacked + member.size <= k_batch_unpacked;
}

std::vector<Job> make_jobs(std::vector<const WheelMember*> members) {
  std::sort(members.begin(), members.end(), [](const WheelMember* a, const WheelMember* b) {
    return a->zip.header_offset < b->zip.header_offset;
  });
  std::vector<Job> jobs;
  for (const auto* member : members) {
    const ZipMember& zip = member->zip;
    // After a ranged audit nobody has looked yet at what lies between this member and the next.
    const bool is_large =
        zip.compressed >= k_large || zip.end_offset - zip.header_offset > k_batch_bytes;
    if (is_large || jobs.empty() || !fits(jobs.back(), zip)) {
      jobs.push_back({{}, zip.header_offset, zip.header_offset, 0, is_large});
    }
    Job& job = jobs.back();
    job.members.push_back(member);
    job.end = zip.end_offset;
    job.unpacked += zip.size;
  }
  return jobs;
}

/// Only the wanted members count, with the bytes that they have in the file: of a file that is read
/// by ranges nobody has seen more than that.
Result<void> check_budget(const RandomAccess& file,
                          const std::vector<const WheelMember*>& members) {
  std::uint64_t packed = 0;
  std::uint64_t unpacked = 0; // no overflow: the audit has bounded the sum
  for (const auto* member : members) {
    packed += member->zip.compressed;
    unpacked += member->zip.size;
  }
  if (unpacked > limits::k_wheel_free_bytes + packed * limits::k_wheel_ratio) {
    return zip::refuse(file, "{} of the wheel unpack to {}: more than {}:1 is no wheel",
                       human_bytes(packed), human_bytes(unpacked), limits::k_wheel_ratio);
  }
  return {};
}

/// What the jobs of one call share.
class Extraction {
public:
  Extraction(const RandomAccess& file, TreeSink& sink, Progress& progress, int work,
             const std::stop_token& stop)
      : file_(file), sink_(sink), progress_(progress), work_(work), stop_(stop) {}

  void expect(std::size_t jobs) { open_jobs_ = jobs; }

  void run(const Job& job) {
    auto result = run_or_error(job);
    const std::lock_guard guard(mutex_);
    if (!result && !error_) {
      error_ = std::move(result.error());
      cancelled_ = true;
    }
    if (--open_jobs_ == 0) {
      all_done_.notify_all(); // under the lock: wait() may return and end this object's life
    }
  }

  Result<std::vector<WrittenFile>> wait() {
    std::unique_lock guard(mutex_);
    all_done_.wait(guard, [this] { return open_jobs_ == 0; });
    if (error_) {
      return tl::unexpected<Error>(*std::move(error_));
    }
    std::sort(written_.begin(), written_.end(),
              [](const WrittenFile& a, const WrittenFile& b) { return a.path < b.path; });
    return std::move(written_);
  }

private:
  Result<void> go_on() const {
    if (stop_.stop_requested() || cancelled_) {
      return fail(ErrorCode::interrupted, "unpacking {} was interrupted", file_.name());
    }
    return {};
  }

  Result<void> run_or_error(const Job& job) {
    CUKIT_TRY(go_on());
    MemberReader reader;
    std::vector<WrittenFile> written;
    if (job.is_large) {
      CUKIT_TRY(write_member(reader, file_, *job.members.front(), written));
    } else {
      CUKIT_TRY_ASSIGN(const Window window, Window::read(file_, job.begin, job.end - job.begin));
      for (const auto* member : job.members) {
        CUKIT_TRY(write_member(reader, window, *member, written));
      }
    }
    const std::lock_guard guard(mutex_);
    std::move(written.begin(), written.end(), std::back_inserter(written_));
    return {};
  }

  template <typename Source>
  Result<void> write_member(MemberReader& reader, const Source& source, const WheelMember& member,
                            std::vector<WrittenFile>& written) {
    CUKIT_TRY_ASSIGN(auto out, sink_.create(member.zip.path, member.zip.size));
    CUKIT_TRY(reader.read(
        source, member.zip,
        [&out](std::span<const std::uint8_t> bytes) { return out.write(bytes); },
        [this](std::uint64_t compressed) {
          progress_.advance(work_, compressed);
          return go_on();
        }));
    CUKIT_TRY_ASSIGN(auto file, out.finish());
    if (member.sha256 && file.sha256 != *member.sha256) {
      return zip::refuse(file_, "`{}` has sha256 {}, RECORD says {}", file.path.text(),
                         file.sha256.hex(), member.sha256->hex());
    }
    written.push_back(std::move(file));
    return {};
  }

  const RandomAccess& file_;
  TreeSink& sink_;
  Progress& progress_;
  int work_;
  std::stop_token stop_;
  std::atomic<bool> cancelled_ = false;

  std::mutex mutex_; ///< guards what follows
  std::condition_variable all_done_;
  std::size_t open_jobs_ = 0;
  std::optional<Error> error_;
  std::vector<WrittenFile> written_;
};

} // namespace

Result<std::vector<WrittenFile>> extract(const RandomAccess& file, const Wheel& wheel,
                                         const std::function<bool(const RelativePath&)>& wanted,
                                         TreeSink& sink, ThreadPool& pool, Progress& progress,
                                         int work, const std::stop_token& stop) {
  std::vector<const WheelMember*> members;
  for (const auto& member : wheel.members) {
    if (wanted(member.zip.path)) {
      members.push_back(&member);
    }
  }
  CUKIT_TRY(check_budget(file, members));
  const auto jobs = make_jobs(std::move(members));
  Extraction extraction(file, sink, progress, work, stop);
  extraction.expect(jobs.size());
  for (const auto& job : jobs) {
    pool.submit([&extraction, &job] { extraction.run(job); }, job.unpacked);
  }
  CUKIT_TRY_ASSIGN(auto written, extraction.wait());
  CUKIT_TRY(sink.settle_folders());
  return written;
}

} // namespace cukit::archive

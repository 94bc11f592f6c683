#include "pipeline/bring.hpp"

#include "base/strings.hpp"
#include "base/thread_pool.hpp"

#include <algorithm>
#include <mutex>

namespace cukit::pipeline {

namespace {

struct Job {
  std::size_t index = 0;
  Located located;
  bool by_ranges = false;
  bool needs_whole = false; ///< the place that was asked cannot do ranges
  bool is_done = false;
  bool has_ended = false; ///< in this round
  bool is_final = false;  ///< no other place can help
};

class Round {
public:
  Round(Session& session, http::Client& client, const fs::path& folder, const Handlers& handlers)
      : session_(session), client_(client), folder_(folder), handlers_(handlers) {}

  void run(const std::vector<Job*>& jobs) {
    ThreadPool parts(k_most_at_once); // they wait for answers
    std::vector<Job*> whole;
    for (auto* job : jobs) {
      if (job->by_ranges) {
        parts.submit([this, job] { end(*job, read_part(*job)); });
      } else {
        whole.push_back(job);
      }
    }
    fetch_whole(whole);
  } // the pool ends after the parts

  [[nodiscard]] std::uint64_t downloaded() const { return downloaded_; }

private:
  /// What a job came to; a failure that is a place's own leaves it open for the next place.
  static void end(Job& job, Result<void> result) {
    job.is_done = result.has_value();
    job.has_ended = true;
    if (result) {
      return;
    }
    const auto code = result.error().code;
    job.is_final = job.is_final || (code != ErrorCode::source && code != ErrorCode::integrity);
    job.located.errors.push_back(std::move(result).error());
  }

  void count(std::uint64_t bytes) {
    const std::lock_guard guard(mutex_);
    downloaded_ += bytes;
  }

  Result<void> read_part(Job& job);
  void fetch_whole(const std::vector<Job*>& jobs);
  Result<void> hand_over(Job& job, fetch::Blob blob) const;

  Session& session_;
  http::Client& client_;
  const fs::path& folder_;
  const Handlers& handlers_;
  std::mutex mutex_; ///< guards the counter
  std::uint64_t downloaded_ = 0;
};

Result<void> Round::read_part(Job& job) {
  Result<void> result = fail(ErrorCode::source, "no source has {}", job.located.artifact->file);
  for (const auto& location : job.located.locations) {
    const auto file = open_location(client_, location, job.located.artifact->size, session_.stop);
    if (!file) {
      result = tl::unexpected<Error>(file.error());
      continue;
    }
    result = handlers_.part(job.index, **file);
    count(http::range_bytes_received(**file));
    if (result || session_.stop.stop_requested() || result.error().code == ErrorCode::host) {
      break;
    }
    job.needs_whole = job.needs_whole || http::ranges_failed(**file);
  }
  return result;
}

Result<void> Round::hand_over(Job& job, fetch::Blob blob) const {
  job.is_final = true; // the bytes are the locked ones: no place has better ones
  if (!job.needs_whole) {
    return handlers_.whole(job.index, std::move(blob));
  }
  CUKIT_TRY_ASSIGN(const auto file, open_local_file(blob.path));
  CUKIT_TRY(handlers_.part(job.index, *file));
  fetch::let_go(std::move(blob), store::without_locks(session_.home));
  return {};
}

void Round::fetch_whole(const std::vector<Job*>& jobs) {
  std::vector<fetch::Wanted> wanted;
  for (const auto* job : jobs) {
    wanted.push_back(fetch::Wanted{.file = job->located.artifact->file,
                                   .size = job->located.artifact->size,
                                   .sha256 = job->located.artifact->sha256,
                                   .locations = job->located.locations});
  }
  fetch::Options options;
  options.folder = folder_;
  options.http = session_.http_options();
  options.without_locks = store::without_locks(session_.home);
  Result<void> ended;
  {
    // They only wait for the unpacker's own pool, which takes the largest member of all files
    // first: with fewer of them a large member of the last file would run alone at the end.
    ThreadPool coordinators(k_most_at_once);
    const auto done = [&](std::size_t at, Result<fetch::Blob> blob) {
      Job& job = *jobs[at];
      if (!blob) {
        end(job, tl::unexpected<Error>(std::move(blob).error()));
        return;
      }
      count(blob->downloaded);
      coordinators.submit(
          [this, &job, got = *std::move(blob)]() mutable {
            end(job, hand_over(job, std::move(got)));
          },
          job.located.artifact->size);
    };
    ended = fetch::fetch_all(client_, wanted, options, done, session_.progress, session_.stop);
  }                        // the coordinators have finished
  for (auto* job : jobs) { // none is left out but where nothing could be begun
    if (!job->has_ended) {
      end(*job, ended ? fail(ErrorCode::interrupted, "interrupted") : ended);
    }
  }
}

std::vector<Located*> located_of(const std::vector<Job*>& jobs) {
  std::vector<Located*> result;
  for (auto* job : jobs) {
    result.push_back(&job->located);
  }
  return result;
}

/// What happened, with its nearest cause.
std::string told(const Error& error) {
  return error.causes.empty() ? error.message
                              : fmt::format("{}: {}", error.message, error.causes.front());
}

/// Those that go on; the others are done, or no place is left for them.
Result<std::vector<Job*>> next_round(Session& session, Locator& locator, std::vector<Job>& jobs) {
  std::vector<Job*> again;
  std::vector<Job*> elsewhere;
  for (auto& job : jobs) {
    if (job.is_done || job.is_final || session.stop.stop_requested()) {
      continue;
    }
    if (job.by_ranges && job.needs_whole) {
      job.by_ranges = false;
      again.push_back(&job);
      session.progress.say(fmt::format("note: {}; the whole file is downloaded instead",
                                       told(job.located.errors.back())));
      job.located.errors.clear();
    } else {
      elsewhere.push_back(&job);
    }
  }
  if (!elsewhere.empty()) {
    CUKIT_TRY(locator.next(located_of(elsewhere)));
  }
  for (auto* job : elsewhere) {
    if (job->located.locations.empty()) {
      job->is_final = true;
      continue;
    }
    if (!job->located.errors.empty()) {
      session.progress.say(
          fmt::format("note: {}; trying another source", told(job->located.errors.back())));
    }
    again.push_back(job);
  }
  for (auto* job : again) {
    job->has_ended = false;
  }
  return again;
}

} // namespace

Result<void> bring(Session& session, std::vector<Brought>& all, const fs::path& folder,
                   const Handlers& handlers) {
  CUKIT_TRY_ASSIGN(auto locator, Locator::create(session));
  CUKIT_TRY_ASSIGN(auto* client, session.client());
  std::vector<Job> jobs;
  for (const auto& one : all) {
    Job job;
    job.index = jobs.size();
    job.located.artifact = one.artifact;
    job.by_ranges = one.by_ranges;
    jobs.push_back(std::move(job));
  }
  while (true) {
    CUKIT_TRY_ASSIGN(const auto open, next_round(session, locator, jobs));
    if (open.empty()) {
      break;
    }
    Round round(session, *client, folder, handlers);
    round.run(open);
    session.downloaded_bytes += round.downloaded();
  }
  for (auto& job : jobs) {
    if (job.is_done) {
      continue;
    }
    const bool was_stopped = session.stop.stop_requested() && job.located.errors.empty();
    all[job.index].error = was_stopped
                               ? Error{.code = ErrorCode::interrupted, .message = "interrupted"}
                               : nobody_gave(std::move(job.located));
  }
  return {};
}

Result<void> first_failure(const Session& session, std::vector<Brought>& all) {
  CUKIT_TRY(session.check_stop());
  for (auto& one : all) {
    if (one.error) {
      return tl::unexpected<Error>(*std::move(one.error));
    }
  }
  return {};
}

} // namespace cukit::pipeline

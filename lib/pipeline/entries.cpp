#include "pipeline/entries.hpp"

#include "archive/wheel.hpp"
#include "base/strings.hpp"
#include "fetch/fetch.hpp"
#include "lock/lock.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

namespace cukit::pipeline {

namespace {

/// One entry that is being made; written by one coordinator thread, read after all have ended.
struct Job {
  std::string key;
  const lock::Artifact* artifact = nullptr;
  std::vector<std::string> locations;
  std::optional<store::Staging> staging;
  std::vector<store::EntryFile> files;
  fs::path blob; ///< of the cache; empty: none, or a mirror's own file
  std::optional<Error> error;
};

/// The key under which the store holds what `artifact` needs: its own, or the whole artifact's
/// where only a part is wanted.
std::optional<std::string> present_key(const store::Store& store, const lock::Artifact& artifact) {
  const auto key = lock::store_key(artifact);
  if (store.has(key)) {
    return key;
  }
  const auto whole = artifact.sha256.hex();
  if (artifact.record && store.has(whole)) {
    return whole;
  }
  return std::nullopt;
}

std::vector<Job> missing_jobs(const store::Store& store, const lock::PlatformLock& platform) {
  std::map<std::string, Job> jobs; // sorted: the order in which locks are taken
  for (const auto& artifact : platform.artifacts) {
    if (!present_key(store, artifact)) {
      const auto key = lock::store_key(artifact);
      auto& job = jobs[key];
      job.key = key;
      job.artifact = &artifact;
    }
  }
  std::vector<Job> result;
  for (auto& [key, job] : jobs) {
    result.push_back(std::move(job));
  }
  return result;
}

/// Which members of an artifact a ranged part needs: what `take` names below the root (before
/// moves), and the licences.
bool ranged_member(const lock::Artifact& artifact, const RelativePath& path) {
  if (!path.is_inside(artifact.root)) {
    return path.text().find(".dist-info/") != std::string::npos &&
           (path.text().find("/licenses/") != std::string::npos ||
            path.name().starts_with("LICENSE"));
  }
  // `take` names paths of the tree, so moves come first.
  std::string in_tree = path.text().substr(artifact.root.empty() ? 0 : artifact.root.size() + 1);
  for (const auto& [from, to] : artifact.move) {
    if (from.ends_with('/') ? in_tree.starts_with(from) : in_tree == from) {
      in_tree.replace(0, from.size(), to);
      break;
    }
  }
  return std::any_of(artifact.take.begin(), artifact.take.end(), [&](const std::string& entry) {
    return entry.ends_with('/') ? in_tree.starts_with(entry) : in_tree == entry;
  });
}

class Unpacker {
public:
  explicit Unpacker(Session& session) : session_(session), stop_(session.stop) {}

  /// Audits and unpacks `file` into a fresh staging folder of the job.
  Result<void> unpack(Job& job, const RandomAccess& file, int work) {
    const auto audit = job.artifact->record ? archive::Audit::ranged : archive::Audit::whole;
    CUKIT_TRY_ASSIGN(const auto wheel, archive::open_wheel(file, audit));
    if (job.artifact->record && wheel.record != *job.artifact->record) {
      return tl::unexpected<Error>(
          Error{.code = ErrorCode::integrity,
                .message = fmt::format("RECORD of {} differs from the lock: expected {}, got {}",
                                       job.artifact->file, job.artifact->record->text(),
                                       wheel.record.text()),
                .where = redact_url(file.name()),
                .hint = "the source serves other bytes than were locked; use another source, or "
                        "make the lock again"});
    }
    CUKIT_TRY_ASSIGN(auto staging, store::Staging::create(session_.home));
    const auto folder = staging.path() / "files";
    CUKIT_TRY(make_directories(folder));
    CUKIT_TRY_ASSIGN(auto sink, archive::TreeSink::open(folder));
    const auto wanted = [&](const RelativePath& path) {
      return !job.artifact->record || ranged_member(*job.artifact, path);
    };
    // A ranged read is one request after another: a pool of one thread keeps the members in the
    // file's order.
    ThreadPool alone(1);
    CUKIT_TRY_ASSIGN(const auto written, archive::extract(file, wheel, wanted, sink,
                                                          job.artifact->record ? alone : pool_,
                                                          session_.progress, work, stop_));
    for (const auto& one : written) {
      job.files.push_back(store::EntryFile{
          .path = one.path, .size = one.size, .sha256 = one.sha256, .executable = one.executable});
    }
    job.staging.emplace(std::move(staging));
    return {};
  }

private:
  Session& session_;
  std::stop_token stop_;
  ThreadPool pool_;
};

/// A part of a large wheel, by ranges, with a client of its own so that several parts arrive at
/// once.
Result<std::uint64_t> fetch_part(Session& session, Unpacker& unpacker, Job& job) {
  CUKIT_TRY_ASSIGN(const auto client, http::Client::create(session.http_options()));
  source::Sources none;
  catalog::PythonIndex index(*client, none);
  std::optional<Error> last;
  for (const auto& location : job.locations) {
    auto file = index.open(location, job.artifact->size, session.stop);
    if (file) {
      const int work =
          session.progress.begin(fmt::format("{} (headers)", job.artifact->component), 0);
      auto done = unpacker.unpack(job, **file, work);
      session.progress.end(work);
      if (done) {
        return http::range_bytes_received(**file);
      }
      last = std::move(done.error());
    } else {
      last = std::move(file.error());
    }
    job.files.clear();
    if (session.stop.stop_requested() || last->code == ErrorCode::host) {
      break;
    }
  }
  if (!last) {
    return fail(ErrorCode::source, "no source has {}", job.artifact->file);
  }
  return tl::unexpected<Error>(std::move(*last).under(
      fmt::format("cannot read the headers of {}", job.artifact->component)));
}

/// Downloads the whole artifacts; each is unpacked by a coordinator as soon as its bytes are
/// verified.
void fetch_whole(Session& session, Unpacker& unpacker, http::Client& client,
                 std::vector<Job*>& jobs) {
  std::vector<fetch::Wanted> wanted;
  for (const auto* job : jobs) {
    wanted.push_back(fetch::Wanted{.file = job->artifact->file,
                                   .size = job->artifact->size,
                                   .sha256 = job->artifact->sha256,
                                   .locations = job->locations});
  }
  fetch::Options options;
  options.folder = session.home.downloads();
  options.http = session.http_options();
  std::uint64_t downloaded = 0; // touched by the calling thread alone
  Result<void> ended;
  {
    ThreadPool coordinators(
        4); // they wait for the unpacker's own pool; small wheels overtake large ones
    const auto done = [&](std::size_t index, Result<fetch::Blob> result) {
      Job& job = *jobs[index];
      if (!result) {
        job.error = std::move(result.error());
        return;
      }
      downloaded += result->downloaded;
      coordinators.submit(
          [&session, &unpacker, &job, blob = *result] {
            auto file = open_local_file(blob.path);
            const int work = session.progress.begin(
                fmt::format("unpack {}", job.artifact->component), job.artifact->size);
            auto unpacked = file ? unpacker.unpack(job, **file, work)
                                 : Result<void>(tl::unexpected<Error>(file.error()));
            session.progress.end(work);
            if (!unpacked) {
              job.error = std::move(unpacked.error())
                              .under(fmt::format("cannot unpack {}", job.artifact->file));
            } else if (blob.owned) {
              job.blob = blob.path; // deleted after the commit
            }
          },
          job.artifact->size);
    };
    ended = fetch::fetch_all(client, wanted, options, done, session.progress, session.stop);
  } // the coordinators have finished
  for (auto* job : jobs) {
    if (!job->error && !job->staging) {
      job->error =
          ended ? Error{.code = ErrorCode::interrupted, .message = "interrupted"} : ended.error();
    }
  }
  session.downloaded_bytes += downloaded;
}

Result<void> locate(Session& session, std::vector<Job>& jobs) {
  CUKIT_TRY_ASSIGN(auto* index, session.index());
  std::vector<std::pair<std::string, Sha256>> files;
  for (const auto& job : jobs) {
    files.emplace_back(job.artifact->file, job.artifact->sha256);
  }
  CUKIT_TRY_ASSIGN(auto locations, index->locate_all(files, session.stop));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].locations = std::move(locations[i]);
  }
  return {};
}

Result<void> first_error(std::vector<Job>& jobs, const Session& session) {
  // A cause says more than the interruption it led to.
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
    const auto rank = [](const Job& job) {
      return !job.error ? 2 : (job.error->code == ErrorCode::interrupted ? 1 : 0);
    };
    return rank(a) < rank(b);
  });
  if (!jobs.empty() && jobs.front().error) {
    return tl::unexpected<Error>(std::move(*jobs.front().error));
  }
  return session.check_stop();
}

Result<void> commit_all(Session& session, const store::Store& original, std::vector<Job>& jobs) {
  store::Store store = original;
  const bool full = session.settings.durability == store::Durability::full && !jobs.empty();
  for (auto& job : jobs) {
    CUKIT_ENSURE(job.staging.has_value(), "a job without error has unpacked files");
    CUKIT_TRY(store.prepare(*job.staging, job.files));
  }
  if (full) {
    CUKIT_TRY(sync_file_system(session.home.staging())); // once for all
  }
  for (auto& job : jobs) {
    CUKIT_TRY(store.publish(*job.staging, job.key, std::move(job.files)));
    job.staging.reset();
  }
  if (full) {
    CUKIT_TRY(sync_directory(session.home.store()));
  }
  for (const auto& job : jobs) {
    if (!job.blob.empty()) {
      std::error_code ignored; // a leftover in the cache harms nothing
      fs::remove(job.blob, ignored);
    }
  }
  return {};
}

Result<void> make_missing(Session& session, const store::Store& store,
                          const lock::PlatformLock& platform) {
  auto jobs = missing_jobs(store, platform);
  if (jobs.empty()) {
    return {};
  }
  std::vector<FileLock> held;
  for (const auto& job : jobs) {
    const auto told = [&](int holder) {
      session.progress.say(fmt::format("waiting for another cukit{} that unpacks {}",
                                       holder > 0 ? fmt::format(" (process {})", holder) : "",
                                       job.artifact->component));
    };
    CUKIT_TRY_ASSIGN(auto lock, store::lock(session.home, "key-" + job.key,
                                            FileLock::Mode::exclusive, session.stop, told));
    held.push_back(std::move(lock));
  }
  jobs = missing_jobs(store, platform); // somebody else may have made them meanwhile
  if (jobs.empty()) {
    return {};
  }
  CUKIT_TRY(locate(session, jobs));
  CUKIT_TRY_ASSIGN(auto* client, session.client());
  Unpacker unpacker(session);
  std::vector<Job*> whole;
  std::vector<std::jthread> parts;
  std::mutex mutex; // guards the counter
  std::uint64_t part_bytes = 0;
  for (auto& job : jobs) {
    if (!job.artifact->record) {
      whole.push_back(&job);
      continue;
    }
    parts.emplace_back([&session, &unpacker, &job, &mutex, &part_bytes] {
      auto bytes = fetch_part(session, unpacker, job);
      if (!bytes) {
        job.error = std::move(bytes.error());
        return;
      }
      const std::lock_guard guard(mutex);
      part_bytes += *bytes;
    });
  }
  fetch_whole(session, unpacker, *client, whole);
  parts.clear(); // joins
  session.downloaded_bytes += part_bytes;
  CUKIT_TRY(first_error(jobs, session));
  return commit_all(session, store, jobs);
}

} // namespace

Result<std::map<std::string, store::Entry>> obtain_entries(Session& session,
                                                           const lock::PlatformLock& platform) {
  const store::Store store(session.home);
  CUKIT_TRY(make_missing(session, store, platform));
  std::map<std::string, store::Entry> entries;
  for (const auto& artifact : platform.artifacts) {
    const auto key = present_key(store, artifact);
    if (!key) {
      return fail(ErrorCode::host, "the store lost {} while it was used", artifact.file);
    }
    CUKIT_TRY_ASSIGN(auto entry, store.read(*key));
    entries.emplace(lock::store_key(artifact), std::move(entry));
  }
  return entries;
}

std::vector<Missing> missing_entries(const Session& session, const lock::PlatformLock& platform) {
  std::vector<Missing> result;
  for (const auto& job : missing_jobs(store::Store(session.home), platform)) {
    const bool ranged = job.artifact->record.has_value();
    result.push_back(Missing{
        .file = job.artifact->file, .bytes = ranged ? 0 : job.artifact->size, .ranged = ranged});
  }
  return result;
}

} // namespace cukit::pipeline

#include "pipeline/entries.hpp"

#include "base/log.hpp"
#include "pipeline/bring.hpp"
#include "pipeline/bundle.hpp"
#include "pipeline/unpack.hpp"

#include <algorithm>

namespace cukit::pipeline {

namespace {

/// One entry that is being made; written by one worker thread, read after all have ended.
struct EntryJob {
  std::string key;
  const lock::Artifact* artifact = nullptr;
  std::optional<Unpacked> unpacked = {};  ///< until it is published
  fetch::Blob blob = {};                  ///< of a whole file
  std::optional<store::Entry> entry = {}; ///< published, and held against gc
  std::optional<Error> error = {};
};

bool is_full(const Session& session) {
  return session.settings.durability == store::Durability::full;
}

Result<void> publish(const Session& session, EntryJob& job) {
  store::Store store(session.home);
  CUKIT_TRY_ASSIGN(job.entry,
                   store.publish(job.unpacked->staging, job.key, std::move(job.unpacked->files)));
  job.unpacked.reset();
  fetch::let_go(std::exchange(job.blob, {}), store::without_locks(session.home));
  return {};
}

/// On a worker, while others still download. Where everything has to be on disk before it gets its
/// name, one sync for all comes in between: publish_all().
Result<void> unpack(const Session& session, Unpacker& unpacker, EntryJob& job,
                    const RandomAccess& file) {
  CUKIT_TRY_ASSIGN(auto unpacked, unpacker.unpack(*job.artifact, file));
  job.unpacked.emplace(std::move(unpacked));
  CUKIT_TRY(store::Store(session.home).prepare(job.unpacked->staging, job.unpacked->files));
  return is_full(session) ? Result<void>() : publish(session, job);
}

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

std::vector<EntryJob> missing_jobs(const store::Store& store, const lock::PlatformLock& platform) {
  std::map<std::string, EntryJob> jobs; // sorted: the order in which locks are taken
  for (const auto& artifact : platform.artifacts) {
    if (!present_key(store, artifact)) {
      const auto key = lock::store_key(artifact);
      auto& job = jobs[key];
      job.key = key;
      job.artifact = &artifact;
    }
  }
  std::vector<EntryJob> result;
  for (auto& [key, job] : jobs) {
    result.push_back(std::move(job));
  }
  return result;
}

/// Nobody is asked: what the bundle lacks is an error.
Result<void> unpack_bundle(Session& session, std::vector<EntryJob>& jobs) {
  CUKIT_TRY_ASSIGN(const auto bundle, Bundle::open(session.settings.bundle));
  Unpacker unpacker(session);
  const auto find_and_unpack = [&](EntryJob& job) -> Result<void> {
    CUKIT_TRY_ASSIGN(const auto file, bundle.find(*job.artifact, session.stop));
    return unpack(session, unpacker, job, *file);
  };
  ThreadPool coordinators(k_most_at_once); // they wait for the unpacker's own pool
  for (auto& job : jobs) {
    coordinators.submit(
        [&find_and_unpack, &job] {
          if (auto done = find_and_unpack(job); !done) {
            job.error = std::move(done).error();
          }
        },
        job.artifact->size);
  }
  return {}; // after the coordinators have finished
}

Result<void> bring_and_unpack(Session& session, std::vector<EntryJob>& jobs) {
  if (!session.settings.bundle.empty()) {
    return unpack_bundle(session, jobs);
  }
  Unpacker unpacker(session);
  std::vector<Brought> all;
  for (const auto& job : jobs) {
    all.push_back({.artifact = job.artifact, .by_ranges = job.artifact->record.has_value()});
  }
  const auto part = [&](std::size_t index, const RandomAccess& file) {
    return unpack(session, unpacker, jobs[index], file);
  };
  const auto whole = [&](std::size_t index, fetch::Blob blob) -> Result<void> {
    CUKIT_TRY_ASSIGN(const auto file, open_local_file(blob.path));
    jobs[index].blob = std::move(blob);
    return unpack(session, unpacker, jobs[index], *file);
  };
  CUKIT_TRY(bring(session, all, session.home.downloads(), {.whole = whole, .part = part}));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].error = std::move(all[i].error);
  }
  return {};
}

Result<void> first_error(std::vector<EntryJob>& jobs, const Session& session) {
  // A cause says more than the interruption it led to.
  std::stable_sort(jobs.begin(), jobs.end(), [](const EntryJob& a, const EntryJob& b) {
    const auto rank = [](const EntryJob& job) {
      return !job.error ? 2 : (job.error->code == ErrorCode::interrupted ? 1 : 0);
    };
    return rank(a) < rank(b);
  });
  if (!jobs.empty() && jobs.front().error) {
    return tl::unexpected<Error>(std::move(*jobs.front().error));
  }
  return session.check_stop();
}

/// What is left when everything is on disk.
Result<void> publish_all(const Session& session, std::vector<EntryJob>& jobs) {
  if (!is_full(session)) {
    return {}; // each was published as it came
  }
  CUKIT_TRY(sync_file_system(session.home.staging())); // once for all
  for (auto& job : jobs) {
    CUKIT_ENSURE(job.unpacked.has_value(), "a job without error has unpacked files");
    CUKIT_TRY(publish(session, job));
  }
  return sync_directory(session.home.store());
}

/// What was made, held against gc.
std::vector<store::Entry> entries_of(std::vector<EntryJob>& jobs) {
  std::vector<store::Entry> entries;
  for (auto& job : jobs) {
    CUKIT_ENSURE(job.entry.has_value(), "a job without error has an entry");
    entries.push_back(std::move(*job.entry));
  }
  return entries;
}

Result<std::vector<store::Entry>> make_missing(Session& session, const store::Store& store,
                                               const lock::PlatformLock& platform) {
  auto jobs = missing_jobs(store, platform);
  if (jobs.empty()) {
    return std::vector<store::Entry>();
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
    return std::vector<store::Entry>();
  }
  for (const auto& job : jobs) {
    log_decision("store", "lacks {} {}: asks for {}", job.artifact->component,
                 job.artifact->version.text(),
                 job.artifact->record ? "ranges of its wheel" : "its file");
  }
  CUKIT_TRY(bring_and_unpack(session, jobs));
  CUKIT_TRY(first_error(jobs, session));
  CUKIT_TRY(publish_all(session, jobs));
  return entries_of(jobs);
}

using Entries = std::map<std::string, store::Entry>;

/// Reads and holds what `entries` lacks; false: a gc took one of them away before it was held.
Result<bool> read_present(const store::Store& store, const lock::PlatformLock& platform,
                          Entries& entries) {
  bool all = true;
  for (const auto& artifact : platform.artifacts) {
    const auto id = lock::store_key(artifact);
    const auto key = present_key(store, artifact);
    if (!key || entries.contains(id)) {
      all = all && key.has_value();
      continue;
    }
    auto entry = store.read(*key);
    if (entry) {
      entries.emplace(id, std::move(*entry));
    } else if (store.has(*key)) {
      return tl::unexpected<Error>(std::move(entry.error()));
    } else {
      all = false;
    }
  }
  return all;
}

// A second one is needed only when a gc came between looking and holding; what was held once stays,
// so each attempt gets further.
constexpr int k_attempts = 20;

} // namespace

Result<std::map<std::string, store::Entry>> obtain_entries(Session& session,
                                                           const lock::PlatformLock& platform) {
  const store::Store store(session.home);
  Entries entries;
  for (int attempt = 0; attempt < k_attempts; ++attempt) {
    CUKIT_TRY_ASSIGN(const auto made, make_missing(session, store, platform));
    CUKIT_TRY_ASSIGN(const bool all, read_present(store, platform, entries));
    if (all) {
      return entries;
    }
  }
  return fail(ErrorCode::host, "the store loses entries while it is used");
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

// A locked artifact's bytes to files in a staging folder, ready to be committed. What the lock says
// of it (RECORD, which part) is checked here.
#pragma once

#include "archive/xz_memory.hpp"
#include "base/thread_pool.hpp"
#include "lock/lock.hpp"
#include "pipeline/session.hpp"

namespace cukit::pipeline {

struct Unpacked {
  store::Staging staging;
  std::vector<store::EntryFile> files;
};

/// Safe from several threads: each call has a staging folder of its own, the pool is shared.
class Unpacker {
public:
  explicit Unpacker(Session& session) : session_(session), stop_(session.stop) {}

  /// Audits and unpacks `file`, a wheel or an archive by the name in the lock; of a wheel only the
  /// named part where the lock wants no more. An archive loses the one folder at its top.
  Result<Unpacked> unpack(const lock::Artifact& artifact, const RandomAccess& file);

private:
  Result<Unpacked> unpack_wheel(const lock::Artifact& artifact, const RandomAccess& file, int work);
  Result<Unpacked> unpack_archive(const lock::Artifact& artifact, const RandomAccess& file,
                                  int work);
  Session& session_;
  std::stop_token stop_;
  ThreadPool pool_;
  archive::XzMemory xz_memory_; ///< of all archives that are unpacked at once
};

} // namespace cukit::pipeline

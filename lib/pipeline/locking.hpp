// Manifest -> lock that holds: the one beside the manifest when it does, else a new one, written
// beside the manifest.
#pragma once

#include "pipeline/session.hpp"

namespace cukit::pipeline {

struct Locked {
  manifest::Manifest manifest;
  lock::Lock lock;
  fs::path path;
  bool changed = false; ///< the file was written (or would have been, in a dry run)
  std::string why;      ///< why it had to be made: "there is no lock", "the manifest changed", ...
  std::optional<lock::Lock> before; ///< what `lock` replaces; empty when there was none
  std::vector<resolve::Choice>
      choices; ///< of a new resolution; empty when the lock was taken as it is
  std::vector<resolve::Note> notes;
  std::vector<resolve::PassedOver> passed_over; ///< of a new resolution
};

Outcome<Locked> ensure_lock(Session& session, const fs::path& manifest_path);

/// `lock --check`: an error of code expected_no when the lock is missing, stale or was changed by
/// hand, nothing else.
Outcome<Locked> check_lock(Session& session, const fs::path& manifest_path);

/// Whether this machine meets what the lock asks of it (driver, C library, GPUs): expected_no with
/// every difference.
Result<void> meets_requirements(const lock::Lock& lock, Platform platform);

/// A manifest's native wishes and its PyTorch venv, looked up on this machine, or taken from what
/// the command line assumes, or from what the earlier lock assumed where this machine shows
/// nothing.
Result<resolve::MachineFacts> machine_facts(Session& session, manifest::Manifest& manifest,
                                            const lock::Lock* earlier = nullptr);

} // namespace cukit::pipeline

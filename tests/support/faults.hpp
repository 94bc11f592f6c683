// The library of support/faulty_fs.h for a program that a Playground runs: faults at chosen calls,
// death at a chosen step, and the journal of all changes.
#pragma once

#include "support/cukit_program.hpp"

#include <optional>

namespace cukit::test {

/// Why the library cannot be used in this build (sanitizers want to be first themselves); empty
/// where it can.
std::string no_faults_because();

/// Sets the variables in `playground.environment`, and takes them back when it dies. One at a time.
class Faults {
public:
  explicit Faults(Playground& playground);
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  ~Faults();

  /// "rename:3:EIO", "write:1+:ENOSPC:downloads", several with commas (faulty_fs.h).
  Faults& fail(const std::string& rules);
  /// SIGKILL at the n-th mutation.
  Faults& kill_at(int n);
  /// Folders list their names in an order that the seed chooses.
  Faults& shuffle(unsigned seed);
  /// Every change goes to journal_file().
  Faults& keep_journal();
  [[nodiscard]] fs::path journal_file() const;
  /// What was injected since the last forget(), one line each ("fail rename 3 PATH"); empty: the
  /// run never came so far.
  [[nodiscard]] std::string report() const;
  /// Takes all rules back and empties report and journal.
  void forget();

private:
  Playground& playground_;
  TempDirectory notes_; ///< outside of what counts
};

} // namespace cukit::test

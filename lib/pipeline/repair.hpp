// Whether store entries and trees are as they were built, and how they become so again: damaged
// entries are fetched from the configured sources, damaged trees are assembled again, and each
// takes the place of the damaged one in one step. What nothing refers to any more is removed.
#pragma once

#include "pipeline/session.hpp"

namespace cukit::pipeline {

struct Checked {
  enum class Kind { entry, tree, generation };
  enum class Repair { none, repaired, removed, failed };
  Kind kind = Kind::entry;
  std::string id;   ///< key, id, or name/number
  std::string what; ///< for people: "tree 4f0c...", or what the user called it
  fs::path path;
  std::vector<store::Difference> differences = {};
  std::optional<Error> unreadable = {}; ///< its own record is damaged, so nothing could be compared
  Repair repair = Repair::none;
  std::optional<Error> why_not = {}; ///< of a repair that failed
  [[nodiscard]] bool is_clean() const { return differences.empty() && !unreadable; }
};

/// One tree, wherever it stands; its record is compared with what the home's generations know of
/// it.
Result<Checked> check_tree(const store::Home& home, const fs::path& path, std::string what,
                           store::DigestMemory& memory, const std::stop_token& stop);
/// All entries and trees of a home, and of its generations those that cannot be read; the system
/// store below it is not looked at.
Result<std::vector<Checked>> check_home(const store::Home& home, const std::stop_token& stop);

/// Repairs whatever is not clean, and looks at it again. What cannot be repaired says why; the
/// others are repaired all the same. A file that is damaged in one tree is damaged in each that
/// shares it, so give it all of check_home().
Result<void> repair(Session& session, std::vector<Checked>& checked);

} // namespace cukit::pipeline

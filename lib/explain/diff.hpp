// Two locks compared: what changed, and what that means for the person who uses the toolkit.
#pragma once

#include "knowledge/knowledge.hpp"
#include "lock/lock.hpp"

namespace cukit::explain {

struct ComponentChange {
  enum class Kind {
    added,
    removed,
    version, ///< another version
    bytes,   ///< the same version from another file
    files    ///< the same file, but other members of it are taken or moved
  };
  Kind kind = Kind::version;
  std::string component; ///< nvcc, or "ptxas of nvcc" for a part that stands in
  std::string from;      ///< version, with "headers only" where that is so; empty when added
  std::string to;        ///< empty when removed
  std::string why;       ///< of the later lock, of the earlier one where the component goes
  std::vector<Platform> platforms;
  bool is_upgrade = false; ///< kind version: the number grows
};

/// What a person notices: "PTX ISA" 9.0 -> 9.2 with a sentence and the source of the fact.
struct Effect {
  std::string subject;
  std::string from;
  std::string to;
  std::string text;
  std::string source; ///< may be empty: then the locks themselves say so
};

struct Download {
  Platform platform;
  std::uint64_t bytes = 0; ///< whole files that the earlier lock does not hold
  int files = 0;
  int ranged = 0; ///< further files of which only some members are read
};

struct Diff {
  Version from;
  Version to;
  std::vector<Platform> platforms_added = {};
  std::vector<Platform> platforms_removed = {};
  std::vector<ComponentChange> components = {}; ///< by component, on the platforms of both locks
  std::vector<Effect> effects = {};
  std::vector<Download> downloads = {}; ///< per platform of the later lock that has any
  /// The trees of both locks are equal on the platforms that both have.
  [[nodiscard]] bool is_same_toolkit() const {
    return from == to && components.empty() && platforms_added.empty() && platforms_removed.empty();
  }
  [[nodiscard]] bool empty() const { return is_same_toolkit() && effects.empty(); }
};

/// Pure. A release that the knowledge does not have is compared by its numbers alone, and an effect
/// says so.
Result<Diff> diff(const lock::Lock& from, const lock::Lock& to,
                  const knowledge::Knowledge& knowledge);

/// Whether the artifact is there for its headers alone.
bool is_headers_only(const lock::Artifact& artifact,
                     const std::vector<knowledge::Component>& components);

/// What an artifact is called: its component, or "ptxas of nvcc" for a part of it.
std::string part_name(const lock::Artifact& artifact,
                      const std::vector<knowledge::Component>& components);

} // namespace cukit::explain

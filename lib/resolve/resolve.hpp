// Pure: Manifest + Knowledge + Catalog + Machine + earlier Lock -> Lock with a reason per choice,
// or a Conflict that explains itself. The space is small, so it is searched exhaustively in
// preference order; every constraint is a named predicate (rules.hpp).
#pragma once

#include "catalog/catalog.hpp"
#include "lock/lock.hpp"
#include "machine/machine.hpp"
#include "manifest/manifest.hpp"

#include <variant>

namespace cukit::resolve {

/// What is known of the machine the toolkit is for, where the manifest says `native` or the host
/// compiler matters.
struct MachineFacts {
  std::vector<machine::Gpu> gpus = {};
  std::optional<machine::Driver> driver = {};
  std::optional<machine::Compiler> compiler = {};
  std::optional<Version> glibc = {};
  bool assumed_gpus = false;   ///< gpus were said on the command line, not seen
  bool assumed_driver = false; ///< so was the driver
};

struct Choice {
  std::string component;
  std::string version;
  std::string source;
  std::string reason; ///< a sentence
};

struct Note {
  std::string text;
  std::string source; ///< of the fact
};

struct Demand {
  std::string text; ///< in the user's words: "gpus: sm_120"
  std::string file;
  int line = 0;
  std::string reason; ///< why it collides
  std::string source;
};

struct WayOut {
  std::string change; ///< "toolkit.nvcc: 13.0 instead of 12.8"
  std::string result;
  std::vector<std::string> steps = {}; ///< what is to be done besides, in order; mostly nothing
};

/// Demands that cannot hold together; no member can be dropped.
struct Clash {
  std::vector<Demand> demands;
  std::vector<WayOut> ways_out; ///< of this clash alone, nearest first
};

struct Conflict {
  std::vector<Demand> demands; ///< no member can be dropped
  /// Single changes after which everything holds, nearest first; where there is none because of
  /// further clashes, those that end this one.
  std::vector<WayOut> ways_out;
  std::vector<Clash> further = {}; ///< what else cannot hold together; a demand may be in several
};

/// A release that comes before the chosen one in the order of preference, and what was against it.
struct PassedOver {
  std::string release;     ///< 13.0.3
  std::string demand = {}; ///< in the user's words, empty for a rule between the parts
  int line = 0;
  std::string reason;
  std::string source;
};

struct Resolution {
  lock::Lock lock; ///< artifacts that come by ranges have no record yet: see needs_record
  std::vector<Choice> choices;
  std::vector<Note> notes;
  std::vector<PassedOver> passed_over; ///< in the order of preference
  /// (platform index, artifact index) of artifacts whose RECORD must still be read, with the wheel
  /// to read it from.
  struct Unfinished {
    std::size_t platform = 0;
    std::size_t artifact = 0;
    catalog::WheelFile wheel;
  };
  std::vector<Unfinished> needs_record;
};

/// Projects of the index that resolve() wants to see for this manifest, and which cuda-toolkit
/// releases.
struct Wanted {
  std::vector<std::string> projects;
  std::vector<std::string> minors;        ///< "13.0" ..: releases with these minors
  bool prereleases = false;               ///< the manifest names one, so they are wanted too
  bool wheels = true;                     ///< whether the index is to be asked at once
  bool wheels_later = false;              ///< or only should redistributables hold nothing
  bool redist = false;                    ///< so for redistributables: at once,
  bool redist_later = false;              ///< or only should the wheels not answer
  std::string why_redist = {};            ///< why wheels cannot serve, where they cannot
  std::vector<std::string> products;      ///< of redistributables: cuda, cudnn, ...
  std::vector<std::string> redist_minors; ///< manifests of the product cuda with these minors
};
Result<Wanted> wanted(const manifest::Manifest& manifest, const knowledge::Knowledge& knowledge);

/// An Error here is a mistake in the recipes or the catalog; demands that cannot hold together are
/// a Conflict.
Result<std::variant<Resolution, Conflict>>
resolve(const manifest::Manifest& manifest, const knowledge::Knowledge& knowledge,
        const catalog::Catalog& catalog, const MachineFacts& machine, const lock::Lock* earlier);

/// Whether the lock still answers the manifest, without network. The text says why not; empty: it
/// holds.
Result<std::string> stale(const lock::Lock& lock, const manifest::Manifest& manifest,
                          const knowledge::Knowledge& knowledge, const MachineFacts& machine);

/// The pins of the knowledge compared with the lock's artifacts, RECORDs and metapackages: a known
/// file with another digest is an error of code integrity that names both values.
Result<void> check_pins(const lock::Lock& lock, const knowledge::Knowledge& knowledge);

} // namespace cukit::resolve

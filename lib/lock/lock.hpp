// The lock: the outcome of all decisions, and the trust boundary. Below it nothing may decide. The
// format is described at the writer (lock/write.cpp); it is byte-stable, and reading it and writing
// it again gives the same bytes.
#pragma once

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "model/gpu_target.hpp"
#include "model/platform.hpp"
#include "model/version.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cukit::lock {

/// The rule in an artifact's `why` whose argument is the component or consumer that brought it.
constexpr std::string_view k_needed_by = "needed-by ";

/// The number of the assembly rules that this build writes into new locks (what assemble/ does to
/// every tree alike).
constexpr int k_assembly = 1;
/// The number of the format itself (`cukit-lock: 1`).
constexpr int k_format = 1;

struct Artifact {
  std::string component;
  Version version;
  std::string why;    ///< a rule and its argument: "manifest toolkit.nvcc", "needed-by flashinfer",
                      ///< "group core"
  std::string source; ///< wheels, redist
  std::string file;
  std::string path; ///< redist: where it lies below every base (cuda/redist/cuda_nvcc/...), its
                    ///< last part being `file`; else empty
  std::uint64_t size = 0;
  Sha256 sha256;
  std::optional<Sha256> record; ///< members come by ranges and are checked against this RECORD
  std::string licence;
  bool trust_first_lock = false; ///< not pinned by the knowledge of the cukit that wrote the lock
  std::string root;              ///< folder inside the artifact that becomes the tree's root
  std::vector<std::string>
      take; ///< paths in the tree, a trailing / is a folder; empty: everything; sorted
  std::vector<std::string> leave;                        ///< sorted
  std::vector<std::pair<std::string, std::string>> move; ///< applied in this order
  std::vector<std::pair<std::string, std::string>> link; ///< link name -> target; sorted
  std::vector<std::string> require; ///< files that the tree must have once it stands, wherever the
                                    ///< archives put them; sorted
  bool operator==(const Artifact&) const = default;
};

struct PlatformLock {
  Platform platform;
  std::string glibc;               ///< least C library, "2.17"
  std::vector<Artifact> artifacts; ///< by (component, version)
  bool operator==(const PlatformLock&) const = default;
};

struct Lock {
  Sha256 manifest; ///< manifest::Manifest::digest
  int assembly = k_assembly;
  Version release;             ///< 13.0.2
  std::string driver;          ///< requires.driver: "580", a branch; empty when absent
  std::vector<GpuTarget> gpus; ///< requires.gpus
  bool observed_gpus = false;  ///< the manifest said `native`: gpus is what was seen
  bool assumed_gpus = false;   ///< it said `native`, and gpus is what --assume-gpu said
  bool assumed_driver = false; ///< it said `native`, and driver is what --assume-driver said
  /// What the choice rests on: metapackages by file name, redistrib manifests by path
  /// (cuda/redist/redistrib_13.0.2.json).
  std::map<std::string, Sha256> pins;
  std::vector<PlatformLock> platforms;

  [[nodiscard]] const PlatformLock* find(Platform platform) const;
  bool operator==(const Lock&) const = default;
};

/// Puts platforms, artifacts and their lists into the order of the format; write() and tree_id()
/// rely on it.
void sort(Lock& lock);

std::string write(const Lock& lock);
/// Everything is checked: unknown keys, digests, sizes, paths, spelling of versions, duplicates, a
/// newer format; all mistakes come in one error. The order of keys and of list items does not
/// matter: the value is sorted. `file` is for messages.
Result<Lock> read(std::string_view text, const std::string& file);
Result<Lock> load(const fs::path& path);
/// manifests/quickstart.yaml -> manifests/quickstart.lock.yaml
fs::path lock_path(const fs::path& manifest);

/// What identifies the store entry of an artifact: the artifact's sha256, or the digest of (record,
/// root, take, move) for a ranged part.
std::string store_key(const Artifact& artifact);
/// The tree's id: sha256 over assembly, release, platform and every artifact's (component, version,
/// sha256, record, root, take, leave, move, link, require): all that decides what a file of the
/// tree holds.
Sha256 tree_id(const Lock& lock, const PlatformLock& platform);

} // namespace cukit::lock

// What of CUDA a Python environment holds: whose each file is, what everybody pins, and which
// compiler and headers are really there. Reads only; nothing of the environment is executed.
#pragma once

#include "catalog/requirement.hpp"
#include "survey/snapshot.hpp"
#include "venv/place.hpp"
#include "venv/record.hpp"

#include <map>
#include <stop_token>

namespace cukit::venv {

/// An installed distribution.
struct Dist {
  std::string name;    ///< normalised: nvidia-cuda-nvcc
  std::string version; ///< as its folder says
  fs::path site;       ///< the folder of modules that it is in
  fs::path info;       ///< its .dist-info folder
  std::string installer = {};
  std::vector<std::string> requirements = {}; ///< Requires-Dist, as they stand
  std::vector<RecordRow> files = {};          ///< below nvidia/
  std::vector<std::string> outside = {};      ///< rows that lead out of the environment
  bool has_record = true;
};

enum class FileState {
  own,       ///< of one distribution, and as that brought it
  shared,    ///< of several, who all brought the same bytes
  clobbered, ///< other bytes than (one of) its owners brought
  missing,   ///< in RECORD, and not there
  stale,     ///< a file of CUDA that no distribution has (any more)
  foreign,   ///< something else that no distribution brought: a link, a file of a person's
};
std::string_view name_of(FileState state);

struct FileFact {
  std::string path; ///< below site-packages: nvidia/cu13/bin/nvcc
  FileState state = FileState::own;
  std::vector<std::string> owners = {};
  std::string bytes_of =
      {}; ///< of a clobbered file with several owners: the one whose bytes these are
};

/// A folder below site-packages/nvidia that wheels fill: cu13, or cuda_runtime of CUDA 12.
struct CudaFolder {
  std::string name; ///< nvidia/cu13
  fs::path path;
  std::map<std::string, std::size_t> files_of = {}; ///< distribution -> files
  std::map<FileState, std::size_t> count = {};
  std::vector<FileFact> odd = {}; ///< all but those that are own, by path
  std::uint64_t bytes = 0;
  std::size_t hard_linked = 0; ///< files that have further names: uv's cache, most likely
  std::optional<survey::Toolkit> toolkit = {}; ///< what really stands there
};

/// Somebody's demand on a distribution of CUDA's.
struct Pin {
  std::string by;      ///< torch; cuda-toolkit[cudart]
  std::string because; ///< torch, where `by` is only its means; else empty
  std::string text;    ///< nvidia-cuda-runtime==13.0.96
  std::string project;
  VersionRange range;
  std::string installed; ///< version, or empty
  bool holds = true;
};

struct Inventory {
  Place place;
  std::vector<Dist> dists; ///< by name, then folder
  std::vector<CudaFolder> folders;
  std::vector<Pin> pins;
  std::vector<std::string> notes;

  /// The first of that name, or nullptr.
  [[nodiscard]] const Dist* find(std::string_view project) const;
};

enum class Depth {
  sizes, ///< sizes and headers: milliseconds
  bytes, ///< every file hashed, versions read out of the programs
};
Result<Inventory> take_inventory(const Place& place, Depth depth, const std::stop_token& stop = {});

/// Whether the distribution is one of CUDA's own: it has files below nvidia/, or such a name.
bool is_of_cuda(const Dist& dist);

} // namespace cukit::venv

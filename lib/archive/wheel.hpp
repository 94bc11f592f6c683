// A Python wheel: a zip whose RECORD names every file with its sha256. Opening reads the directory, METADATA and RECORD;
// extracting checks each member against RECORD while it is written.
#pragma once

#include "archive/tree_sink.hpp"
#include "archive/zip.hpp"
#include "base/progress.hpp"
#include "base/sha256.hpp"
#include "base/thread_pool.hpp"

#include <map>
#include <optional>
#include <stop_token>

namespace cukit::archive {

struct WheelMember {
  ZipMember zip;
  std::optional<Sha256> sha256; ///< from RECORD; empty for RECORD itself
};

struct Wheel {
  std::vector<WheelMember> members; ///< sorted by path
  std::string dist_info;            ///< nvidia_cuda_nvcc-13.0.88.dist-info
  std::string metadata;             ///< text of METADATA
  Sha256 record;                    ///< of RECORD's bytes
};

/// The value of a METADATA header, empty when absent; headers may repeat (Requires-Dist).
std::vector<std::string> metadata_values(std::string_view metadata, std::string_view header);

/// With Audit::whole every file must be in RECORD and everything in RECORD in the file. With Audit::ranged only what RECORD and
/// the directory say is compared.
Result<Wheel> open_wheel(const RandomAccess& file, Audit audit);

/// Extracts the members that `wanted` accepts, keeping their paths, into `sink` (a fresh folder), several at once on `pool`; the
/// call returns when all are written. What was written is returned sorted by path. On error the folder is to be thrown away.
Result<std::vector<WrittenFile>> extract(const RandomAccess& file, const Wheel& wheel,
                                         const std::function<bool(const RelativePath&)>& wanted, TreeSink& sink,
                                         ThreadPool& pool, Progress& progress, int work, const std::stop_token& stop);

} // namespace cukit::archive

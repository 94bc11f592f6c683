// A Python wheel: a zip whose RECORD names every file with its sha256. Opening reads the directory,
// METADATA, WHEEL and RECORD; extracting checks each member against RECORD while it is written.
#pragma once

#include "archive/tree_sink.hpp"
#include "archive/zip.hpp"
#include "base/progress.hpp"
#include "base/sha256.hpp"
#include "base/thread_pool.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::archive {

struct WheelMember {
  ZipMember zip;
  std::optional<Sha256> sha256; ///< from RECORD; empty for RECORD itself and its signatures
};

struct Wheel {
  std::vector<WheelMember> members; ///< sorted by path
  std::string dist_info;            ///< nvidia_cuda_nvcc-13.0.88.dist-info
  std::string metadata;             ///< text of METADATA
  Sha256 record;                    ///< of RECORD's bytes
};

/// The values of a METADATA header, empty when absent; headers may repeat (Requires-Dist).
std::vector<std::string> metadata_values(std::string_view metadata, std::string_view header);

/// Every file must be in RECORD with its sha256 and everything in RECORD in the file; METADATA and
/// WHEEL must match RECORD, and METADATA the name of the dist-info folder. With Audit::ranged the
/// local headers of the other members are left for the moment when they are read.
Result<Wheel> open_wheel(const RandomAccess& file, Audit audit);

/// Extracts the members that `wanted` accepts, keeping their paths, into `sink` (a fresh folder),
/// several at once on `pool`; the call returns when all are written, so it must not run on `pool`.
/// Members that unpack to far more than their bytes in the file are refused before any is written.
/// What was written is returned sorted by path. `work` advances by compressed bytes. The first
/// error cancels the rest, and so does `stop` (ErrorCode::interrupted). On error the folder is to
/// be thrown away. Several wheels may be extracted at once.
Result<std::vector<WrittenFile>> extract(const RandomAccess& file, const Wheel& wheel,
                                         const std::function<bool(const RelativePath&)>& wanted,
                                         TreeSink& sink, ThreadPool& pool, Progress& progress,
                                         int work, const std::stop_token& stop);

} // namespace cukit::archive

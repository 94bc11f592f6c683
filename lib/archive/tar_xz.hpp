// NVIDIA's redistributable archives: one tar file in one xz stream with one folder at its top.
// Hostile bytes end here: regular files, folders, relative symbolic links that stay inside, and
// hard links to earlier files are taken; devices, pipes, sparse files, absolute paths, `..`, a path
// twice, and all that two readers could understand in two ways make the whole archive an error.
// Owners, times, modes (also setuid) and extended attributes are dropped: TreeSink's rules hold.
#pragma once

#include "archive/byte_stream.hpp"
#include "archive/tree_sink.hpp"
#include "archive/xz_memory.hpp"
#include "base/progress.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace cukit::archive {

/// Unpacks into `sink` (a fresh folder) what lies in the folder `top`, without that folder; an
/// entry elsewhere is an error. An empty `top` takes the names as they are. What was written is
/// returned sorted by path; folders are made only for what lies in them.
///
/// `input` is read to its very end, where an xz stream that goes on, a second one, padding or
/// anything else is refused, so a stream that hashes what passes has seen all of it; nothing may be
/// kept before that digest was compared. `work` advances by compressed bytes. A thread of its own
/// decodes while the caller's hashes and writes; unpacked memory is 2 MiB and the dictionary, which
/// `memory` grants. On error, or when `stop` was requested (ErrorCode::interrupted; `input` must
/// return soon then), the folder is to be thrown away.
Result<std::vector<WrittenFile>> extract_tar_xz(ByteStream& input, const std::string& top,
                                                TreeSink& sink, XzMemory& memory,
                                                Progress& progress, int work,
                                                const std::stop_token& stop);

/// cuda_nvcc-linux-x86_64-13.0.88-archive for .../cuda_nvcc-linux-x86_64-13.0.88-archive.tar.xz:
/// the folder at the top of NVIDIA's archives. Empty when the name does not end with .tar.xz.
std::string top_folder(std::string_view file);

} // namespace cukit::archive

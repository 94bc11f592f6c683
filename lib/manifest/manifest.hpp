// The manifest, version 1: what a person wants, with the line of every wish, so that a conflict can
// point at it.
#pragma once

#include "base/sha256.hpp"
#include "fit/torch.hpp"
#include "knowledge/knowledge.hpp"
#include "model/gpu_target.hpp"
#include "model/platform.hpp"
#include "model/version.hpp"
#include "text/node.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cukit::manifest {

template <typename T> struct Wish {
  T value;
  std::string text; ///< as written
  text::Position at;
};

struct Manifest {
  std::string file; ///< as named on the command line
  Wish<std::string> name;
  std::vector<Wish<GpuTarget>> gpus; ///< at least one, unless `native_gpus`
  bool native_gpus = false;          ///< gpus: native (or the list holds it)
  text::Position native_gpus_at;
  /// PyTorch's CUDA (13.0 of cu130); empty when absent. A venv is resolved by the pipeline before
  /// resolve().
  std::optional<Wish<Version>> pytorch_cuda;
  /// The build as far as it was named; with a venv the pipeline fills it in beside the CUDA.
  std::optional<fit::TorchName> pytorch_build;
  std::optional<Wish<std::string>> pytorch_venv; ///< absolute path
  std::optional<Wish<VersionRange>> driver;
  bool native_driver = false;
  text::Position native_driver_at;
  std::optional<Wish<VersionRange>> nvcc;
  std::optional<Wish<VersionRange>> ptxas;
  std::optional<Wish<VersionRange>> headers;
  std::optional<Wish<VersionRange>> cccl;    ///< empty: matched
  std::vector<Wish<std::string>> components; ///< names or groups; empty: core
  std::vector<Wish<std::string>> consumers;
  std::optional<Wish<std::string>> host_compiler; ///< gcc, clang or a path
  std::vector<Wish<Platform>> platforms;          ///< empty: the host's
  std::vector<Wish<std::string>> sources;         ///< redist, wheels
  std::vector<Wish<std::string>> suites;          ///< validate.suites; empty: core

  /// Over the parsed values in a canonical form: a comment, an order of keys or another spelling of
  /// the same value change nothing.
  Sha256 digest;
};

/// `file` is for messages. All mistakes of the file come in one error (code usage).
Result<Manifest> parse(std::string_view text, const std::string& file,
                       const knowledge::Knowledge& knowledge);
/// Reads the file too: a folder, more than limits::k_manifest_bytes, an empty file or bytes that
/// are not UTF-8 are errors that say so.
Result<Manifest> load(const fs::path& path, const knowledge::Knowledge& knowledge);

} // namespace cukit::manifest

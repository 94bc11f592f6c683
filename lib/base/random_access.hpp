// Bytes that can be read at any offset: a local file, or a file on a server that serves byte ranges
// (http/range_file.hpp).
#pragma once

#include "base/fd.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace cukit {

class RandomAccess {
public:
  virtual ~RandomAccess() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills all of `out` from `offset`; reading past the end is an error. Safe from several threads.
  [[nodiscard]] virtual Result<void> read_at(std::uint64_t offset,
                                             std::span<std::uint8_t> out) const = 0;
  /// Where the bytes are, for messages.
  [[nodiscard]] virtual std::string name() const = 0;
};

/// A regular file, opened once; another process may rename or unlink it meanwhile.
Result<std::unique_ptr<RandomAccess>> open_local_file(const std::filesystem::path& path);

/// Bytes in memory; the view must outlive the object.
std::unique_ptr<RandomAccess> in_memory(std::string_view bytes, std::string name);

} // namespace cukit

// The adapter of libarchive: the entries of a plain tar file whose bytes come in pieces. Formats
// but tar and all filters are off, nothing is written by it, and each of its warnings is an error.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace cukit::archive {

class TarReader {
public:
  /// The next piece; empty at the end. It stays valid until the next call.
  using Next = std::function<Result<std::span<const std::uint8_t>>()>;
  TarReader(std::string where, Next next);
  TarReader(TarReader&&) noexcept;
  TarReader& operator=(TarReader&&) noexcept;
  ~TarReader();

  struct Entry {
    std::string name; ///< without a final slash
    std::string link; ///< target of either kind of link
    std::uint64_t size = 0;
    bool is_file = false;
    bool is_folder = false;
    bool is_link = false;
    bool is_hard_link = false;
  };
  /// None at the two blocks of the end; what comes behind them is left unread.
  Result<std::optional<Entry>> next();
  /// The content of the entry, in pieces that follow each other without holes.
  Result<void> read(const std::function<Result<void>(std::span<const std::uint8_t>)>& consume);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace cukit::archive

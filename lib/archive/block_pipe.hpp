// Unpacked bytes on their way from the thread that decodes to the one that hashes and writes: a few
// blocks, so that neither waits for the other for long and memory stays small. Private to archive/.
#pragma once

#include "archive/tar_audit.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace cukit::archive {

struct Block {
  std::vector<std::uint8_t> bytes;
  std::size_t size = 0;          ///< of `bytes`, what is filled
  std::vector<TarEntry> entries; ///< whose headers end in this block

  [[nodiscard]] std::span<const std::uint8_t> content() const {
    return std::span(bytes).first(size);
  }
};

class BlockPipe {
public:
  /// For the decoder: an empty block, used before or new.
  Block take_empty();
  /// Waits while the pipe is full. False when the other side has given up.
  bool push(Block block);
  /// Nothing more comes: because of `outcome`.
  void close(Result<void> outcome);

  /// For the reader: the next block, none at the end; the decoder's error once all blocks before it
  /// were read.
  Result<std::optional<Block>> pop();
  void give_back(Block block);
  /// Nothing more is read.
  void abandon();

private:
  std::mutex mutex_; ///< guards what follows
  std::condition_variable changed_;
  std::deque<Block> full_;
  std::vector<Block> empty_;
  std::optional<Result<void>> outcome_;
  bool abandoned_ = false;
};

} // namespace cukit::archive

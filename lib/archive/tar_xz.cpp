#include "archive/tar_xz.hpp"

#include "archive/block_pipe.hpp"
#include "archive/refuse.hpp"
#include "archive/tar_reader.hpp"
#include "archive/xz_decoder.hpp"
#include "base/limits.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <thread>

namespace cukit::archive {

namespace {

constexpr std::size_t k_xz_input_bytes = 256U << 10U;

/// The decoding side: compressed bytes in, audited blocks of the tar file out.
class Decoding {
public:
  Decoding(ByteStream& input, const std::string& top, XzMemory& memory, Progress& progress,
           int work, std::stop_token stop)
      : input_(input), where_(input.name()), memory_(memory), progress_(progress), work_(work),
        stop_(std::move(stop)), decoder_(where_), audit_(where_, top), buffer_(k_xz_input_bytes) {}

  Result<void> run(BlockPipe& pipe) {
    while (true) {
      Block block = pipe.take_empty();
      CUKIT_TRY_ASSIGN(const bool ended, fill(block));
      CUKIT_TRY(audit_.see(block.content(), block.entries));
      CUKIT_TRY(check_budget()); // hard links count as well
      if (!pipe.push(std::move(block))) {
        return fail(ErrorCode::interrupted, "unpacking {} was given up", where_);
      }
      if (ended) {
        CUKIT_TRY(check_end());
        return audit_.end();
      }
    }
  }

private:
  /// True when the xz stream has ended.
  Result<bool> fill(Block& block) {
    while (block.size < block.bytes.size()) {
      if (stop_.stop_requested()) {
        return fail(ErrorCode::interrupted, "unpacking {} was interrupted", where_);
      }
      CUKIT_TRY_ASSIGN(const auto step, decoder_.step(std::span(block.bytes).subspan(block.size)));
      block.size += step.produced;
      unpacked_ += step.produced;
      CUKIT_TRY(check_budget());
      if (step.status == XzDecoder::Status::finished) {
        return true;
      }
      if (step.status == XzDecoder::Status::needs_memory) {
        CUKIT_TRY(allow_memory());
      } else if (step.status == XzDecoder::Status::needs_input) {
        CUKIT_TRY(feed());
      }
    }
    return false;
  }

  Result<void> feed() {
    CUKIT_TRY_ASSIGN(const auto size, input_.read(buffer_));
    if (size == 0) {
      return decoder_.end();
    }
    compressed_ += size;
    progress_.advance(work_, size);
    decoder_.feed(std::span(buffer_).first(size));
    return {};
  }

  Result<void> allow_memory() {
    const auto needed = decoder_.memory_needed();
    if (needed > limits::k_xz_memory) {
      return refuse_archive(where_, "the xz stream asks for {} of memory, {} are allowed",
                            human_bytes(needed), human_bytes(limits::k_xz_memory));
    }
    CUKIT_TRY(share_.become(needed, stop_));
    decoder_.allow(needed);
    return {};
  }

  Result<void> check_budget() {
    const auto total = unpacked_ + audit_.repeated_bytes();
    if (total > limits::k_xz_free_bytes + compressed_ * limits::k_xz_ratio) {
      return refuse_archive(where_, "{} of the archive unpack to {}: more than {}:1 is no archive",
                            human_bytes(compressed_), human_bytes(total), limits::k_xz_ratio);
    }
    return {};
  }

  Result<void> check_end() {
    std::size_t behind = decoder_.left_over();
    if (behind == 0) {
      CUKIT_TRY_ASSIGN(behind, input_.read(buffer_));
    }
    return behind == 0 ? Result<void>()
                       : refuse_archive(where_, "bytes follow the end of the xz stream");
  }

  ByteStream& input_;
  std::string where_;
  XzMemory& memory_;
  Progress& progress_;
  int work_;
  std::stop_token stop_;
  XzDecoder decoder_;
  XzMemory::Share share_{memory_};
  TarAudit audit_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t compressed_ = 0;
  std::uint64_t unpacked_ = 0;
};

/// The writing side.
class Writing {
public:
  Writing(std::string where, BlockPipe& pipe, TreeSink& sink)
      : where_(std::move(where)), pipe_(pipe), sink_(sink),
        reader_(where_, [this] { return next_block(); }) {}

  Result<std::vector<WrittenFile>> run() {
    while (true) {
      CUKIT_TRY_ASSIGN(const auto seen, reader_.next());
      if (!seen) {
        break;
      }
      CUKIT_TRY_ASSIGN(const auto entry, matching(*seen));
      CUKIT_TRY(write(entry));
    }
    CUKIT_TRY(drain());
    for (const auto& link : links_) {
      CUKIT_TRY_ASSIGN(auto made, sink_.link(link.path, link.target));
      written_.push_back(std::move(made));
    }
    CUKIT_TRY(sink_.settle_folders());
    std::sort(written_.begin(), written_.end(),
              [](const WrittenFile& a, const WrittenFile& b) { return a.path < b.path; });
    return std::move(written_);
  }

private:
  /// The bytes of the next block; empty at the end alone.
  Result<std::span<const std::uint8_t>> next_block() {
    do {
      if (block_) {
        pipe_.give_back(*std::exchange(block_, std::nullopt));
      }
      CUKIT_TRY_ASSIGN(block_, pipe_.pop());
      if (!block_) {
        return std::span<const std::uint8_t>();
      }
      std::move(block_->entries.begin(), block_->entries.end(), std::back_inserter(expected_));
    } while (block_->size == 0);
    return block_->content();
  }

  /// The audited entry, once libarchive has seen the same.
  Result<TarEntry> matching(const TarReader::Entry& seen) {
    using Kind = TarEntry::Kind;
    if (expected_.empty()) {
      return differs(seen.name);
    }
    TarEntry entry = std::move(expected_.front());
    expected_.pop_front();
    const bool same_kind = seen.is_file == (entry.kind == Kind::file) &&
                           seen.is_folder == (entry.kind == Kind::folder) &&
                           seen.is_link == (entry.kind == Kind::link) &&
                           seen.is_hard_link == (entry.kind == Kind::hard_link);
    const bool is_link = entry.kind == Kind::link || entry.kind == Kind::hard_link;
    if (!same_kind || seen.name != entry.name || seen.size != entry.size ||
        (is_link && seen.link != entry.link)) {
      return differs(entry.name);
    }
    return entry;
  }

  tl::unexpected<Error> differs(const std::string& name) const {
    return refuse_archive(where_, "two readers of the tar file see different entries at `{}`",
                          printable(name));
  }

  Result<void> write(const TarEntry& entry) {
    switch (entry.kind) {
    case TarEntry::Kind::folder:
      return {}; // made with the first file in it: an empty one is not kept
    case TarEntry::Kind::link:
      links_.push_back(entry); // after all files, so that nothing is written through one
      return {};
    case TarEntry::Kind::hard_link: {
      CUKIT_TRY_ASSIGN(auto copy, sink_.repeat(entry.source, entry.path));
      written_.push_back(std::move(copy));
      return {};
    }
    case TarEntry::Kind::file:
      break;
    }
    CUKIT_TRY_ASSIGN(auto out, sink_.create(entry.path, entry.size));
    CUKIT_TRY(
        reader_.read([&out](std::span<const std::uint8_t> bytes) { return out.write(bytes); }));
    CUKIT_TRY_ASSIGN(auto file, out.finish());
    if (file.size != entry.size) {
      return refuse_archive(where_, "`{}` has {} bytes, {} were announced", entry.path.text(),
                            file.size, entry.size);
    }
    written_.push_back(std::move(file));
    return {};
  }

  /// Until the decoder has seen the last byte and found it well.
  Result<void> drain() {
    while (true) {
      CUKIT_TRY_ASSIGN(const auto bytes, next_block());
      if (bytes.empty()) {
        return expected_.empty() ? Result<void>() : differs(expected_.front().name);
      }
    }
  }

  std::string where_;
  BlockPipe& pipe_;
  TreeSink& sink_;
  TarReader reader_;
  std::optional<Block> block_;
  std::deque<TarEntry> expected_;
  std::vector<TarEntry> links_;
  std::vector<WrittenFile> written_;
};

} // namespace

Result<std::vector<WrittenFile>> extract_tar_xz(ByteStream& input, const std::string& top,
                                                TreeSink& sink, XzMemory& memory,
                                                Progress& progress, int work,
                                                const std::stop_token& stop) {
  BlockPipe pipe;
  const std::jthread decoder([&] {
    Decoding decoding(input, top, memory, progress, work, stop);
    pipe.close(decoding.run(pipe));
  });
  auto written = Writing(input.name(), pipe, sink).run();
  pipe.abandon(); // or the decoder would wait for ever
  return written;
}

std::string top_folder(std::string_view file) {
  constexpr std::string_view k_ending = ".tar.xz";
  if (!file.ends_with(k_ending)) {
    return {};
  }
  file.remove_suffix(k_ending.size());
  return std::string(file.substr(file.rfind('/') + 1));
}

} // namespace cukit::archive

#include "archive/member_reader.hpp"

#include "archive/zip_format.hpp"

#include <algorithm>

namespace cukit::archive {

namespace {

// Large enough that ISA-L's copy of its 64 kB history and the system calls do not count, small
// enough for a second-level cache, where CRC, SHA-256 and write() find the bytes again.
constexpr std::size_t k_input_bytes = 256U << 10U;
constexpr std::size_t k_output_bytes = 512U << 10U;

void grow(std::vector<std::uint8_t>& buffer, std::uint64_t wanted, std::size_t limit) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, limit));
  if (buffer.size() < size) {
    buffer.resize(size);
  }
}

} // namespace

Result<Window> Window::read(const RandomAccess& file, std::uint64_t offset, std::uint64_t size) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  CUKIT_TRY(file.read_at(offset, bytes));
  return Window(file, offset, std::move(bytes));
}

Result<void> Window::read_at(std::uint64_t offset, std::span<std::uint8_t> out) const {
  const auto here = view(offset, out.size());
  if (here.size() != out.size()) {
    return file_->read_at(offset, out);
  }
  std::copy(here.begin(), here.end(), out.begin());
  return {};
}

std::span<const std::uint8_t> Window::view(std::uint64_t offset, std::uint64_t size) const {
  if (offset < offset_ || offset - offset_ > bytes_.size() ||
      size > bytes_.size() - (offset - offset_)) {
    return {};
  }
  return std::span(bytes_).subspan(static_cast<std::size_t>(offset - offset_),
                                   static_cast<std::size_t>(size));
}

/// One member on its way: where its bytes are and what has come out so far.
struct MemberReader::Run {
  const RandomAccess& file;
  const ZipMember& member;
  const Consume& consume;
  const Watch& watch;
  std::uint64_t next = 0; ///< offset in the file
  std::uint64_t end = 0;
  std::uint64_t produced = 0;
  std::uint32_t crc = 0;

  Result<void> pass_on(std::span<const std::uint8_t> bytes) {
    produced += bytes.size();
    if (produced > member.size) {
      return zip::refuse(file, "`{}` yields more than the declared {} bytes", member.path.text(),
                         member.size);
    }
    crc = crc32(crc, bytes);
    return consume(bytes);
  }

  Result<std::span<const std::uint8_t>> next_piece(std::vector<std::uint8_t>& buffer) {
    const auto piece = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - next)));
    CUKIT_TRY(file.read_at(next, piece));
    next += piece.size();
    CUKIT_TRY(watch ? watch(piece.size()) : Result<void>());
    return piece;
  }

  Result<void> check_end(std::uint64_t left_over) const {
    const auto& path = member.path.text();
    if (left_over != 0) {
      return zip::refuse(file, "{} bytes follow the end of the deflate stream of `{}`", left_over,
                         path);
    }
    if (produced != member.size) {
      return zip::refuse(file, "`{}` yields {} of the declared {} bytes", path, produced,
                         member.size);
    }
    if (crc != member.crc) {
      return zip::refuse(file, "the content of `{}` has CRC {:08x}, declared is {:08x}", path, crc,
                         member.crc);
    }
    return {};
  }

  tl::unexpected<Error> damaged() const {
    return zip::refuse(file, "the deflate stream of `{}` is damaged", member.path.text());
  }
  tl::unexpected<Error> cut() const {
    return zip::refuse(file, "the deflate stream of `{}` is cut", member.path.text());
  }
};

Result<void> MemberReader::copy(Run& run) {
  grow(input_, run.member.compressed, k_input_bytes);
  while (run.next < run.end) {
    CUKIT_TRY_ASSIGN(const auto piece, run.next_piece(input_));
    CUKIT_TRY(run.pass_on(piece));
  }
  return run.check_end(0);
}

Result<void> MemberReader::inflate(Run& run) {
  grow(input_, run.member.compressed, k_input_bytes);
  grow(output_, run.member.size + 1, k_output_bytes); // + 1: room to see a stream that is too long
  inflater_.begin();
  inflater_.feed({});
  std::size_t filled = 0;
  while (true) {
    const auto [status, produced] = inflater_.step(std::span(output_).subspan(filled));
    filled += produced;
    const bool finished = status == Inflater::Status::finished;
    if (status == Inflater::Status::damaged) {
      return run.damaged();
    }
    if (status == Inflater::Status::needs_input) {
      if (run.next == run.end) {
        return run.cut();
      }
      CUKIT_TRY_ASSIGN(const auto piece, run.next_piece(input_));
      inflater_.feed(piece);
    }
    if (finished || filled == output_.size()) {
      CUKIT_TRY(run.pass_on(std::span(output_).first(filled)));
      filled = 0;
    }
    if (finished) {
      return run.check_end(inflater_.left_over() + (run.end - run.next));
    }
  }
}

Result<void> MemberReader::inflate_whole(Run& run, std::span<const std::uint8_t> input) {
  grow(output_, run.member.size + 1, k_output_bytes);
  CUKIT_TRY(run.watch ? run.watch(input.size()) : Result<void>());
  const auto [status, produced] = inflater_.whole(input, output_);
  switch (status) {
  case Inflater::Status::damaged:
    return run.damaged();
  case Inflater::Status::needs_input:
    return run.cut();
  case Inflater::Status::output_full:
  case Inflater::Status::finished:
    CUKIT_TRY(run.pass_on(std::span(output_).first(produced)));
    break;
  }
  return run.check_end(inflater_.left_over());
}

Result<void> MemberReader::read(const RandomAccess& file, const ZipMember& member,
                                const Consume& consume, const Watch& watch) {
  Run run{file, member, consume, watch};
  run.next = member.data_offset;
  if (run.next == 0) {
    CUKIT_TRY_ASSIGN(run.next, zip::check_local(file, member, false));
  }
  run.end = run.next + member.compressed;
  return member.method == zip::k_stored ? copy(run) : inflate(run);
}

Result<void> MemberReader::read(const Window& window, const ZipMember& member,
                                const Consume& consume, const Watch& watch) {
  Run run{window, member, consume, watch};
  run.next = member.data_offset;
  if (run.next == 0) {
    CUKIT_TRY_ASSIGN(run.next, zip::check_local(window, member, false));
  }
  run.end = run.next + member.compressed;
  const auto input = window.view(run.next, member.compressed);
  if (input.size() != member.compressed) {
    return member.method == zip::k_stored ? copy(run) : inflate(run);
  }
  if (member.method == zip::k_stored) {
    CUKIT_TRY(watch ? watch(input.size()) : Result<void>());
    CUKIT_TRY(run.pass_on(input));
    return run.check_end(0);
  }
  return member.size < k_output_bytes ? inflate_whole(run, input) : inflate(run);
}

Result<void> read_member(const RandomAccess& file, const ZipMember& member,
                         const Consume& consume) {
  MemberReader reader;
  return reader.read(file, member, consume, {});
}

Result<std::string> read_member(const RandomAccess& file, const ZipMember& member,
                                std::uint64_t limit) {
  if (member.size > limit) {
    return zip::refuse(file, "`{}` has {} bytes, more than the {} that are accepted",
                       member.path.text(), member.size, limit);
  }
  std::string content;
  content.reserve(static_cast<std::size_t>(member.size));
  CUKIT_TRY(read_member(file, member, [&content](std::span<const std::uint8_t> bytes) {
    content.append(zip::text(bytes));
    return Result<void>();
  }));
  return content;
}

} // namespace cukit::archive

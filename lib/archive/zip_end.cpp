#include "archive/zip_format.hpp"
#include "base/limits.hpp"

#include <algorithm>

namespace cukit::archive::zip {

namespace {

struct EndRecord {
  std::uint64_t offset = 0;
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t directory = 0;
};

bool holds_signature(Bytes bytes) {
  for (std::size_t i = 0; i + 4 <= bytes.size(); ++i) {
    const auto value = u32(bytes, i);
    if (value == k_local_signature || value == k_central_signature || value == k_end_signature ||
        value == k_end64_signature || value == k_locator64_signature) {
      return true;
    }
  }
  return false;
}

/// Why no end record ends exactly where the file does.
tl::unexpected<Error> no_end_record(const RandomAccess& file, Bytes tail) {
  for (std::size_t at = tail.size() - k_end_bytes + 1; at-- > 0;) {
    if (u32(tail, at) != k_end_signature) {
      continue;
    }
    const std::size_t after = tail.size() - at - k_end_bytes;
    const std::size_t comment = u16(tail, at + 20);
    if (comment < after) {
      return refuse(file, "{} bytes after the end record belong to nothing", after - comment);
    }
    return refuse(file, "the comment of the end record is cut: {} bytes of {}", after, comment);
  }
  return refuse(file, "there is no end record: this is no zip file, or its end is missing");
}

Result<EndRecord> parse_end_record(const RandomAccess& file, Bytes record, std::uint64_t offset) {
  const auto disk = u16(record, 4);
  const auto directory_disk = u16(record, 6);
  const bool one_disk = disk == directory_disk && (disk == 0 || disk == k_sentinel16);
  if (!one_disk || u16(record, 8) != u16(record, 10)) {
    return refuse(file, "the archive says that it is spread over several disks");
  }
  return EndRecord{offset, u16(record, 10), u32(record, 12), u32(record, 16)};
}

/// Takes the earliest record that fits, so that one hidden in its comment is seen as such.
Result<EndRecord> find_end_record(const RandomAccess& file) {
  if (file.size() < k_end_bytes) {
    return refuse(file, "{} bytes are too few for a zip file", file.size());
  }
  const std::uint64_t window = std::min<std::uint64_t>(file.size(), k_end_bytes + k_sentinel16);
  std::vector<std::uint8_t> tail(static_cast<std::size_t>(window));
  CUKIT_TRY(file.read_at(file.size() - window, tail));
  for (std::size_t at = 0; at + k_end_bytes <= tail.size(); ++at) {
    if (u32(tail, at) != k_end_signature || u16(tail, at + 20) != tail.size() - at - k_end_bytes) {
      continue;
    }
    const Bytes record = Bytes(tail).subspan(at);
    if (holds_signature(record.subspan(k_end_bytes))) {
      return refuse(file, "the comment holds a second archive");
    }
    return parse_end_record(file, record, file.size() - window + at);
  }
  return no_end_record(file, tail);
}

/// The classic field must agree with the zip64 one, or pass to it.
bool agrees(std::uint64_t classic, std::uint64_t sentinel, std::uint64_t value) {
  return classic == value || classic == sentinel;
}

Result<Directory> read_zip64_end(const RandomAccess& file, const EndRecord& end, Bytes locator) {
  const std::uint64_t locator_offset = end.offset - k_locator64_bytes;
  const std::uint64_t offset = u64(locator, 8);
  if (u32(locator, 4) != 0 || u32(locator, 16) > 1) {
    return refuse(file, "the zip64 locator speaks of several disks");
  }
  if (offset > locator_offset || locator_offset - offset != k_end64_bytes) {
    return refuse(file, "the zip64 end record does not stand right before its locator");
  }
  std::vector<std::uint8_t> record(k_end64_bytes);
  CUKIT_TRY(file.read_at(offset, record));
  if (u32(record, 0) != k_end64_signature || u64(record, 4) != k_end64_bytes - 12) {
    return refuse(file, "the zip64 locator points at no zip64 end record of the known size");
  }
  if (u32(record, 16) != 0 || u32(record, 20) != 0 || u64(record, 24) != u64(record, 32)) {
    return refuse(file, "the zip64 end record speaks of several disks");
  }
  const Directory directory{u64(record, 48), u64(record, 40), u64(record, 32)};
  if (!agrees(end.entries, k_sentinel16, directory.entries) ||
      !agrees(end.size, k_sentinel32, directory.size) ||
      !agrees(end.directory, k_sentinel32, directory.offset)) {
    return refuse(file, "the end record and the zip64 end record contradict each other");
  }
  if (directory.offset > offset || offset - directory.offset != directory.size) {
    return refuse(file, "the central directory does not end at the zip64 end record");
  }
  return directory;
}

} // namespace

Result<Directory> find_directory(const RandomAccess& file) {
  CUKIT_TRY_ASSIGN(const EndRecord end, find_end_record(file));
  Directory directory{end.directory, end.size, end.entries};
  std::vector<std::uint8_t> locator(k_locator64_bytes);
  bool zip64 = false;
  if (end.offset >= k_locator64_bytes) {
    CUKIT_TRY(file.read_at(end.offset - k_locator64_bytes, locator));
    zip64 = u32(locator, 0) == k_locator64_signature;
  }
  if (zip64) {
    CUKIT_TRY_ASSIGN(directory, read_zip64_end(file, end, locator));
  } else if (end.directory > end.offset || end.offset - end.directory != end.size) {
    return refuse(file,
                  "the central directory ({} bytes at {}) does not end at the end record ({})",
                  end.size, end.directory, end.offset);
  }
  if (directory.entries > limits::k_archive_members ||
      directory.size > limits::k_central_directory_bytes) {
    return refuse(file, "{} members in {} bytes of directory are more than is accepted",
                  directory.entries, directory.size);
  }
  if (directory.size / k_central_bytes < directory.entries) {
    return refuse(file, "{} bytes of central directory cannot hold {} members", directory.size,
                  directory.entries);
  }
  return directory;
}

} // namespace cukit::archive::zip

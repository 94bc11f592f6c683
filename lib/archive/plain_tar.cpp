#include "archive/plain_tar.hpp"

#include "base/strings.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <set>
#include <unistd.h>

namespace cukit::archive {

namespace {

constexpr std::size_t k_read_bytes = 1U << 20U;
constexpr std::uint64_t k_block = 512;
constexpr std::size_t k_name = 100;
constexpr std::size_t k_prefix = 155;
constexpr std::uint64_t k_largest = 8ULL << 30U; // eleven octal digits

struct ReaderDeleter {
  void operator()(::archive* reader) const { archive_read_free(reader); }
};

/// Octal digits up to a final NUL, as ustar has its numbers.
void put_number(std::string& header, std::size_t at, std::size_t width, std::uint64_t value) {
  const auto digits = fmt::format("{:0{}o}", value, width - 1);
  header.replace(at, digits.size(), digits);
}

/// Where a long name is cut: the part before the slash goes into a field of its own.
std::optional<std::size_t> cut_of(const std::string& name) {
  for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
    if (at <= k_prefix && name.size() - at - 1 <= k_name) {
      return at;
    }
  }
  return std::nullopt;
}

/// POSIX.1-2017, pax, "ustar Interchange Format". libarchive's own writer of this would bring the
/// writers of all its formats along, and the libraries that those need.
Result<std::string> ustar_header(const std::string& name, std::uint64_t size) {
  std::string header(k_block, '\0');
  const auto cut = name.size() <= k_name ? std::nullopt : cut_of(name);
  if (name.size() > k_name && !cut) {
    return fail(ErrorCode::usage, "the name {} is too long for a tar file", printable(name));
  }
  if (size >= k_largest) {
    return fail(ErrorCode::host, "{} has {} bytes, more than a tar file can hold", name, size);
  }
  header.replace(0, cut ? name.size() - *cut - 1 : name.size(), cut ? name.substr(*cut + 1) : name);
  put_number(header, 100, 8, 0644); // mode
  put_number(header, 108, 8, 0);    // owner
  put_number(header, 116, 8, 0);    // group
  put_number(header, 124, 12, size);
  put_number(header, 136, 12, 1); // time
  header[156] = '0';              // a regular file
  header.replace(257, 8,
                 std::string("ustar\0"
                             "00",
                             8));
  put_number(header, 329, 8, 0); // device numbers
  put_number(header, 337, 8, 0);
  header.replace(345, cut.value_or(0), name, 0, cut.value_or(0));
  header.replace(148, 8, "        "); // the sum counts itself as spaces
  std::uint64_t sum = 0;
  for (const char c : header) {
    sum += static_cast<unsigned char>(c);
  }
  put_number(header, 148, 7, sum);
  return header;
}

Result<void> write_member(int fd, const PlainTarItem& item, const fs::path& path,
                          const std::stop_token& stop) {
  const std::uint64_t size = item.bytes->size();
  CUKIT_TRY_ASSIGN(const auto header, ustar_header(item.name, size));
  CUKIT_TRY(write_all(fd, header));
  std::string buffer(static_cast<std::size_t>(std::min<std::uint64_t>(size, k_read_bytes)), '\0');
  for (std::uint64_t at = 0; at < size;) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted while {} was written",
                  printable(path.string()));
    }
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - at));
    CUKIT_TRY(
        item.bytes->read_at(at, std::span(reinterpret_cast<std::uint8_t*>(buffer.data()), count)));
    CUKIT_TRY(write_all(fd, std::string_view(buffer).substr(0, count)));
    at += count;
  }
  return write_all(fd, std::string((k_block - size % k_block) % k_block, '\0'));
}

tl::unexpected<Error> refuse(const fs::path& path, std::string why) {
  Error error{.code = ErrorCode::integrity, .message = std::move(why), .where = path.string()};
  error.hint = "the file is damaged or was not made by cukit: copy or make it again";
  return tl::unexpected<Error>(std::move(error));
}

} // namespace

Result<void> write_plain_tar(const fs::path& path, std::vector<PlainTarItem> items,
                             const std::stop_token& stop) {
  std::sort(items.begin(), items.end(),
            [](const PlainTarItem& a, const PlainTarItem& b) { return a.name < b.name; });
  CUKIT_TRY_ASSIGN(Fd fd, open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0644));
  for (const auto& item : items) {
    CUKIT_TRY(write_member(fd.get(), item, path, stop));
  }
  CUKIT_TRY(write_all(fd.get(), std::string(2 * k_block, '\0')));
  if (::fsync(fd.get()) != 0) {
    return fail_errno(errno, "cannot write {}", printable(path.string()));
  }
  return fd.close();
}

Result<std::vector<PlainTarMember>> list_plain_tar(const fs::path& path) {
  CUKIT_TRY_ASSIGN(const auto file, open_local_file(path));
  const std::unique_ptr<::archive, ReaderDeleter> reader(archive_read_new());
  CUKIT_ENSURE(reader != nullptr, "no memory for a tar file");
  ::archive* handle = reader.get();
  if (archive_read_support_format_tar(handle) != ARCHIVE_OK ||
      archive_read_open_filename(handle, path.c_str(), k_read_bytes) != ARCHIVE_OK) {
    return refuse(path, "this is no bundle: it cannot be read as a tar file");
  }
  std::vector<PlainTarMember> members;
  std::set<std::string> names;
  archive_entry* entry = nullptr;
  int code = ARCHIVE_OK;
  while ((code = archive_read_next_header(handle, &entry)) == ARCHIVE_OK) {
    const char* name = archive_entry_pathname(entry);
    const auto size = archive_entry_size(entry);
    // Only there do the bytes follow one header block.
    if (name == nullptr || size < 0 || archive_format(handle) != ARCHIVE_FORMAT_TAR_USTAR ||
        archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) {
      return refuse(path, "this is no bundle: it holds more than plain files");
    }
    PlainTarMember member{.name = name, .size = static_cast<std::uint64_t>(size)};
    member.offset = static_cast<std::uint64_t>(archive_read_header_position(handle)) + k_block;
    if (member.offset > file->size() || member.size > file->size() - member.offset) {
      return refuse(path, fmt::format("the end of `{}` is missing", printable(member.name)));
    }
    if (!names.insert(member.name).second) {
      return refuse(path, fmt::format("`{}` is in it twice", printable(member.name)));
    }
    members.push_back(std::move(member));
  }
  if (code != ARCHIVE_EOF) {
    return refuse(path, "this is no bundle, or it is damaged: a header makes no sense");
  }
  return members;
}

} // namespace cukit::archive

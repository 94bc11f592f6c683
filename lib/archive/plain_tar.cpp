#include "archive/plain_tar.hpp"

#include "base/strings.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <fcntl.h>
#include <memory>
#include <set>
#include <unistd.h>

namespace cukit::archive {

namespace {

constexpr std::size_t k_piece = 1U << 20U;
constexpr std::uint64_t k_block = 512;
constexpr std::uint64_t k_largest = 8ULL << 30U; // eleven octal digits

struct WriterDeleter {
  void operator()(::archive* writer) const { archive_write_free(writer); }
};
struct ReaderDeleter {
  void operator()(::archive* reader) const { archive_read_free(reader); }
};
struct EntryDeleter {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using Writer = std::unique_ptr<::archive, WriterDeleter>;

Result<void> check(::archive* handle, la_ssize_t code, const fs::path& path) {
  if (code >= ARCHIVE_OK) {
    return {};
  }
  const char* text = archive_error_string(handle);
  const std::string why = text == nullptr ? "libarchive gives no reason" : text;
  const int number = archive_errno(handle);
  if (number > 0) {
    return fail_errno(number, "cannot write {}", printable(path.string()));
  }
  return fail(ErrorCode::host, "cannot write {}: {}", printable(path.string()), printable(why));
}

Result<void> write_member(::archive* writer, const PlainTarItem& item, const fs::path& path,
                          const std::stop_token& stop) {
  const std::unique_ptr<archive_entry, EntryDeleter> entry(archive_entry_new());
  CUKIT_ENSURE(entry != nullptr, "no memory for an entry");
  const std::uint64_t size = item.bytes->size();
  if (size >= k_largest) {
    return fail(ErrorCode::host, "{} has {} bytes, more than a tar file can hold", item.name, size);
  }
  archive_entry_set_pathname(entry.get(), item.name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 1, 0);
  CUKIT_TRY(check(writer, archive_write_header(writer, entry.get()), path));
  std::vector<std::uint8_t> buffer(
      static_cast<std::size_t>(std::min<std::uint64_t>(size, k_piece)));
  for (std::uint64_t at = 0; at < size;) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted while {} was written",
                  printable(path.string()));
    }
    const auto piece = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - at)));
    CUKIT_TRY(item.bytes->read_at(at, piece));
    CUKIT_TRY(check(writer, archive_write_data(writer, piece.data(), piece.size()), path));
    at += piece.size();
  }
  return {};
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
  const Writer writer(archive_write_new());
  CUKIT_ENSURE(writer != nullptr, "no memory for a tar file");
  CUKIT_TRY(check(writer.get(), archive_write_set_format_ustar(writer.get()), path));
  CUKIT_TRY(check(writer.get(), archive_write_add_filter_none(writer.get()), path));
  CUKIT_TRY(check(writer.get(), archive_write_open_fd(writer.get(), fd.get()), path));
  for (const auto& item : items) {
    CUKIT_TRY(write_member(writer.get(), item, path, stop));
  }
  CUKIT_TRY(check(writer.get(), archive_write_close(writer.get()), path));
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
      archive_read_open_filename(handle, path.c_str(), k_piece) != ARCHIVE_OK) {
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

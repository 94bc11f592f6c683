#include "image/tar_writer.hpp"

#include "base/random_access.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <span>

namespace cukit::image {

namespace {

constexpr std::size_t k_block = 512;
constexpr std::size_t k_field = 100; ///< bytes of a name, or of a link's target
constexpr std::uint64_t k_largest = 8ULL << 30U;
constexpr std::size_t k_read_bytes = 1U << 20U;
constexpr std::uint64_t k_time = 1; ///< as every file of a tree has it

struct Entry {
  std::string name; ///< a folder's ends in a slash
  std::string link;
  char type = '0';
  unsigned mode = 0644; ///< of the record in front; files are read-only, as in a tree
  std::uint64_t size = 0;
};

void put_octal(std::string& header, std::size_t at, std::size_t width, std::uint64_t value) {
  const auto digits = fmt::format("{:0{}o}", value, width - 1);
  header.replace(at, digits.size(), digits);
}

/// The fields as ustar has them; what does not fit is cut, a record in front says it whole.
std::string header_of(const Entry& entry) {
  std::string header(k_block, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    header.replace(at, std::min(text.size(), k_field), text.substr(0, k_field));
  };
  put(0, entry.name);
  put_octal(header, 100, 8, entry.mode);
  put_octal(header, 108, 8, 0); // owner
  put_octal(header, 116, 8, 0); // group
  put_octal(header, 124, 12, std::min(entry.size, k_largest - 1));
  put_octal(header, 136, 12, k_time);
  header[156] = entry.type;
  put(157, entry.link);
  header.replace(257, 8,
                 std::string("ustar\0"
                             "00",
                             8));
  put_octal(header, 329, 8, 0);
  put_octal(header, 337, 8, 0);
  header.replace(148, 8, "        "); // the sum counts itself as spaces
  std::uint64_t sum = 0;
  for (const char c : header) {
    sum += static_cast<unsigned char>(c);
  }
  put_octal(header, 148, 7, sum);
  return header;
}

/// "LENGTH KEY=VALUE\n", the length counting its own digits.
std::string record_of(std::string_view key, std::string_view value) {
  const auto rest = key.size() + value.size() + 3;
  auto length = rest + 1;
  while (std::to_string(length).size() + rest != length) {
    ++length;
  }
  return fmt::format("{} {}={}\n", length, key, value);
}

bool fits(std::string_view text) {
  return text.size() <= k_field &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c & '\x80') == 0; });
}

std::string padding(std::uint64_t size) {
  return std::string((k_block - size % k_block) % k_block, '\0');
}

Result<void> put_header(PackedFile& file, const Entry& entry) {
  std::string records;
  records += fits(entry.name) ? "" : record_of("path", entry.name);
  records += fits(entry.link) ? "" : record_of("linkpath", entry.link);
  records += entry.size < k_largest ? "" : record_of("size", std::to_string(entry.size));
  if (!records.empty()) {
    const Entry extended{.name = "pax", .link = {}, .type = 'x', .size = records.size()};
    CUKIT_TRY(file.write(header_of(extended) + records + padding(records.size())));
  }
  return file.write(header_of(entry));
}

tl::unexpected<Error> altered(const Item& item) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::integrity,
            .message = "the file is not the one that was built: its digest differs",
            .where = item.from.string(),
            .hint = "`cukit verify --repair` mends the tree; nothing was exported"});
}

Result<void> put_bytes(PackedFile& file, const Item& item, const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(const auto bytes, open_local_file(item.from));
  if (bytes->size() != item.size) {
    return altered(item);
  }
  Sha256Stream digest;
  std::string buffer(static_cast<std::size_t>(std::min<std::uint64_t>(item.size, k_read_bytes)),
                     '\0');
  for (std::uint64_t at = 0; at < item.size;) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted while {} was packed",
                  printable(item.from.string()));
    }
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), item.size - at));
    CUKIT_TRY(bytes->read_at(at, std::span(reinterpret_cast<std::uint8_t*>(buffer.data()), count)));
    const auto piece = std::string_view(buffer).substr(0, count);
    digest.update(piece);
    CUKIT_TRY(file.write(piece));
    at += count;
  }
  return digest.finish() == item.sha256 ? file.write(padding(item.size)) : altered(item);
}

Result<void> put_item(PackedFile& file, const Item& item, const std::stop_token& stop) {
  if (!item.link.empty()) {
    return put_header(file, {.name = item.path, .link = item.link, .type = '2', .mode = 0777});
  }
  const bool is_here = item.from.empty();
  const auto size = is_here ? item.content.size() : item.size;
  CUKIT_TRY(put_header(
      file,
      {.name = item.path, .link = {}, .mode = item.is_executable ? 0555U : 0444U, .size = size}));
  return is_here ? file.write(item.content + padding(size)) : put_bytes(file, item, stop);
}

} // namespace

Result<void> write_tar(PackedFile& file, const std::vector<Item>& items,
                       const std::stop_token& stop) {
  std::set<std::string> folders;
  const std::string* before = nullptr;
  for (const auto& item : items) {
    if (before != nullptr && item.path <= *before) {
      return fail(ErrorCode::usage, "{} is out of order or there twice", printable(item.path));
    }
    before = &item.path;
    for (auto at = item.path.find('/'); at != std::string::npos; at = item.path.find('/', at + 1)) {
      if (folders.insert(item.path.substr(0, at)).second) {
        CUKIT_TRY(put_header(
            file, {.name = item.path.substr(0, at + 1), .link = {}, .type = '5', .mode = 0755}));
      }
    }
    CUKIT_TRY(put_item(file, item, stop));
  }
  return file.write(std::string(2 * k_block, '\0'));
}

} // namespace cukit::image

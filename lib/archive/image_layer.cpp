#include "archive/image_layer.hpp"

#include "archive/byte_stream.hpp"
#include "archive/inflate.hpp"
#include "archive/tar_reader.hpp"
#include "base/strings.hpp"
#include "model/relative_path.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cukit::archive {

namespace {

constexpr std::size_t k_piece = 256U << 10U;
constexpr std::uint64_t k_entries = 2'000'000;
constexpr std::uint64_t k_written = 16ULL
                                    << 30U; // a bomb ends here; what the doctor reads is far less

/// The bytes of a file, unpacked when it is gzip (RFC 1952; several members follow each other).
class Unpacked {
public:
  explicit Unpacked(const RandomAccess& file) : stream_(file), input_(k_piece), output_(k_piece) {}

  Result<std::span<const std::uint8_t>> next() {
    if (!is_begun_) {
      CUKIT_TRY(begin());
    }
    if (!is_gzip_) {
      if (has_first_) {
        has_first_ = false;
        return std::span<const std::uint8_t>(input_.data(), filled_);
      }
      CUKIT_TRY_ASSIGN(filled_, stream_.read(input_));
      return std::span<const std::uint8_t>(input_.data(), filled_);
    }
    while (!is_over_) {
      const auto progress = inflater_.step(output_);
      using Status = Inflater::Status;
      if (progress.status == Status::damaged) {
        return fail(ErrorCode::integrity, "{} holds damaged gzip data", stream_.name());
      }
      if (progress.status == Status::finished) {
        is_over_ = true; // what follows a first member is padding in practice
      } else if (progress.status == Status::needs_input) {
        CUKIT_TRY_ASSIGN(filled_, stream_.read(input_));
        if (filled_ == 0 && progress.produced == 0) {
          return fail(ErrorCode::integrity, "{} ends inside its gzip data", stream_.name());
        }
        inflater_.feed({input_.data(), filled_});
      }
      if (progress.produced > 0) {
        return std::span<const std::uint8_t>(output_.data(), progress.produced);
      }
    }
    return std::span<const std::uint8_t>();
  }

private:
  /// Whole blocks are wanted in front, so that a header of gzip never lies across two.
  Result<void> begin() {
    is_begun_ = true;
    while (filled_ < input_.size()) {
      CUKIT_TRY_ASSIGN(const auto got, stream_.read(std::span(input_).subspan(filled_)));
      if (got == 0) {
        break;
      }
      filled_ += got;
    }
    if (filled_ >= 4 && input_[0] == 0x28 && input_[1] == 0xb5 && input_[2] == 0x2f &&
        input_[3] == 0xfd) {
      auto error = Error{
          .code = ErrorCode::usage,
          .message = fmt::format("{} is compressed with zstd, which is not read", stream_.name())};
      error.hint = "save the image with gzip layers, or unpack it and give its root folder";
      return tl::unexpected<Error>(std::move(error));
    }
    is_gzip_ = filled_ >= 18 && input_[0] == 0x1f && input_[1] == 0x8b && input_[2] == 8;
    has_first_ = !is_gzip_;
    if (is_gzip_) {
      CUKIT_TRY_ASSIGN(const auto header, header_length());
      inflater_.feed({input_.data() + header, filled_ - header});
    }
    return {};
  }
  [[nodiscard]] Result<std::size_t> header_length() const {
    const unsigned flags = input_[3];
    std::size_t at = 10;
    if ((flags & 4U) != 0) { // FEXTRA
      at += 2U + input_[10] + 256U * input_[11];
    }
    for (const unsigned text : {8U, 16U}) { // FNAME, FCOMMENT
      while ((flags & text) != 0 && at < filled_ && input_[at] != 0) {
        ++at;
      }
      at += (flags & text) != 0 ? 1 : 0;
    }
    at += (flags & 2U) != 0 ? 2 : 0; // FHCRC
    if (at >= filled_) {
      return fail(ErrorCode::integrity, "{} has a damaged gzip header", stream_.name());
    }
    return at;
  }

  FileStream stream_;
  std::vector<std::uint8_t> input_;
  std::vector<std::uint8_t> output_;
  std::size_t filled_ = 0;
  Inflater inflater_;
  bool is_begun_ = false;
  bool is_gzip_ = false;
  bool has_first_ = false;
  bool is_over_ = false;
};

class Layer {
public:
  Layer(const fs::path& root, const std::function<bool(std::string_view, std::uint64_t)>& is_wanted)
      : root_(root), is_wanted_(is_wanted) {}

  Result<void> take(TarReader& reader, const TarReader::Entry& entry) {
    std::string_view name = entry.name;
    while (name.starts_with("./") || name.starts_with('/')) {
      name.remove_prefix(name.starts_with('/') ? 1 : 2);
    }
    const auto path = RelativePath::parse(name);
    if (name.empty() || name == "." || !path) {
      return {}; // the root itself, or a name that no file can have here
    }
    if (path->name().starts_with(".wh.")) {
      return remove(*path);
    }
    CUKIT_TRY_ASSIGN(const bool has_place, make_place(*path, entry.is_folder));
    if (!has_place || entry.is_folder) {
      return {};
    }
    const auto target = root_ / path->text();
    if (entry.is_link || entry.is_hard_link) {
      return make_link(target, entry);
    }
    return entry.is_file ? write(reader, target, path->text(), entry.size) : Result<void>();
  }

private:
  /// Real folders above the path, and nothing at it; false where a link stands above it, which is
  /// never followed.
  Result<bool> make_place(const RelativePath& path, bool is_folder) {
    fs::path at = root_;
    const auto parts = split(path.text(), '/');
    for (std::size_t i = 0; i < parts.size(); ++i) {
      at /= parts[i];
      std::error_code error;
      const auto status = fs::symlink_status(at, error);
      const bool is_last = i + 1 == parts.size();
      if (is_last && !is_folder) {
        CUKIT_TRY(remove_tree(at));
        fs::remove(at, error);
        return true;
      }
      if (fs::is_symlink(status) && !is_last) {
        return false;
      }
      if (!fs::is_directory(status)) {
        fs::remove(at, error);
        if (!fs::create_directory(at, error)) {
          return fail_errno(error.value(), "cannot make {}", at.string());
        }
      }
    }
    return true;
  }
  /// Through a link the path would be another one, also outside of the root.
  [[nodiscard]] bool is_below_a_link(const RelativePath& path) const {
    std::error_code error;
    for (auto above = path.parent(); !above.empty(); above = above.parent()) {
      if (fs::is_symlink(fs::symlink_status(root_ / above.text(), error))) {
        return true;
      }
    }
    return false;
  }
  Result<void> remove(const RelativePath& path) {
    const auto parent = root_ / path.parent().text();
    if (is_below_a_link(path)) {
      return {};
    }
    std::error_code error;
    if (path.name() != ".wh..wh..opq") {
      const auto gone = parent / path.name().substr(4);
      const bool is_folder = fs::is_directory(fs::symlink_status(gone, error));
      if (is_folder) {
        return remove_tree(gone);
      }
      fs::remove(gone, error);
      return {};
    }
    for (const auto& name : list_directory(parent).value_or(std::vector<std::string>{})) {
      const bool is_folder = fs::is_directory(fs::symlink_status(parent / name, error));
      if (is_folder) {
        CUKIT_TRY(remove_tree(parent / name));
      } else {
        fs::remove(parent / name, error);
      }
    }
    return {};
  }
  Result<void> make_link(const fs::path& target, const TarReader::Entry& entry) {
    std::error_code error;
    if (entry.is_link) {
      fs::create_symlink(entry.link, target, error); // RootView reads it, nobody follows it
      return {};
    }
    std::string_view name = entry.link;
    while (name.starts_with("./") || name.starts_with('/')) {
      name.remove_prefix(name.starts_with('/') ? 1 : 2);
    }
    const auto source = RelativePath::parse(name);
    if (source && !is_below_a_link(*source) &&
        fs::is_regular_file(fs::symlink_status(root_ / source->text(), error))) {
      fs::create_hard_link(root_ / source->text(), target, error);
    }
    return {};
  }
  Result<void> write(TarReader& reader, const fs::path& target, std::string_view path,
                     std::uint64_t size) {
    // programs are told by their folder: modes do not come through the reader
    const unsigned mode = path.find("bin/") != std::string_view::npos ? 0755 : 0644;
    CUKIT_TRY_ASSIGN(Fd fd, open_file(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
    if (!is_wanted_(path, size)) {
      if (::ftruncate(fd.get(), static_cast<off_t>(std::min<std::uint64_t>(size, 1ULL << 40U))) !=
          0) {
        return fail_errno(errno, "cannot make {}", target.string());
      }
      return fd.close();
    }
    written_ += size;
    if (written_ > k_written) {
      return fail(ErrorCode::integrity, "a layer holds more than {} bytes to look at", k_written);
    }
    CUKIT_TRY(reader.read([&](std::span<const std::uint8_t> bytes) {
      return write_all(fd.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }));
    return fd.close();
  }

  const fs::path& root_;
  const std::function<bool(std::string_view, std::uint64_t)>& is_wanted_;
  std::uint64_t written_ = 0;
};

} // namespace

Result<void> apply_layer(const fs::path& tar, const fs::path& root,
                         const std::function<bool(std::string_view, std::uint64_t)>& is_wanted) {
  CUKIT_TRY_ASSIGN(const auto file, open_local_file(tar));
  Unpacked bytes(*file);
  TarReader reader(tar.string(), [&] { return bytes.next(); });
  Layer layer(root, is_wanted);
  for (std::uint64_t count = 0; count < k_entries; ++count) {
    CUKIT_TRY_ASSIGN(const auto entry, reader.next());
    if (!entry) {
      return {};
    }
    CUKIT_TRY(layer.take(reader, *entry));
  }
  return fail(ErrorCode::integrity, "{} has more than {} entries", tar.string(), k_entries);
}

} // namespace cukit::archive

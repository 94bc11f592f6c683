#include "archive/image_layer.hpp"

#include "archive/layer_bytes.hpp"
#include "archive/tar_reader.hpp"
#include "base/strings.hpp"
#include "model/relative_path.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cukit::archive {

namespace {

constexpr std::uint64_t k_entries = 2'000'000;
constexpr std::uint64_t k_written = 16ULL
                                    << 30U; // a bomb ends here; what the doctor reads is far less

/// Names of a layer begin at its root, however they are spelt.
std::string_view from_root(std::string_view name) {
  while (name.starts_with("./") || name.starts_with('/')) {
    name.remove_prefix(name.starts_with('/') ? 1 : 2);
  }
  return name;
}

class Layer {
public:
  Layer(const fs::path& root, const std::function<bool(std::string_view, std::uint64_t)>& is_wanted)
      : root_(root), is_wanted_(is_wanted) {}

  Result<void> take(TarReader& reader, const TarReader::Entry& entry) {
    const auto name = from_root(entry.name);
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
        CUKIT_TRY(remove_tree(at)); // whatever it is
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
    const auto source = RelativePath::parse(from_root(entry.link));
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
  LayerBytes bytes(*file);
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

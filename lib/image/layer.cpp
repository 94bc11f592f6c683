#include "image/layer.hpp"

#include "archive/tar_reader.hpp"
#include "base/strings.hpp"
#include "image/layer_bytes.hpp"
#include "model/relative_path.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cukit::image {

namespace {

constexpr std::string_view k_whiteout = ".wh.";
constexpr std::string_view k_opaque = ".wh..wh..opq";

/// Names of a layer begin at its root, however they are spelt.
std::string_view from_root(std::string_view name) {
  while (name.starts_with("./") || name.starts_with('/')) {
    name.remove_prefix(name.starts_with('/') ? 1 : 2);
  }
  return name;
}

class Laying {
public:
  Laying(const fs::path& root, const IsWanted& is_wanted, LayerBudget& budget)
      : root_(root), is_wanted_(is_wanted), budget_(budget) {}

  Result<void> take(archive::TarReader& reader, const archive::TarReader::Entry& entry) {
    const auto name = from_root(entry.name);
    const auto path = RelativePath::parse(name);
    if (name.empty() || name == "." || !path) {
      return {}; // the root itself, or a name that no file can have here
    }
    if (path->name().starts_with(k_whiteout)) {
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
  /// What is taken away is named in its own folder alone: `.wh..` and `.wh...` would be the folder
  /// and the one above it, also above the root.
  Result<void> remove(const RelativePath& path) {
    const auto hidden = path.name().substr(k_whiteout.size());
    const bool is_opaque = path.name() == k_opaque;
    if (!is_opaque && (hidden.empty() || hidden == "." || hidden == "..")) {
      return fail(ErrorCode::integrity, "the layer's whiteout `{}` names no file of its folder",
                  printable(path.text()));
    }
    if (is_below_a_link(path)) {
      return {};
    }
    const auto parent = root_ / path.parent().text();
    if (!is_opaque) {
      // `.wh..wh.` in front of any other name is a note of the union file system to itself
      return hidden.starts_with(k_whiteout) ? Result<void>() : remove_tree(parent / hidden);
    }
    for (const auto& name : list_directory(parent).value_or(std::vector<std::string>{})) {
      CUKIT_TRY(remove_tree(parent / name));
    }
    return {};
  }
  Result<void> make_link(const fs::path& target, const archive::TarReader::Entry& entry) {
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
  Result<void> write(archive::TarReader& reader, const fs::path& target, std::string_view path,
                     std::uint64_t size) {
    // programs are told by their folder: modes do not come through the reader
    const unsigned mode = path.find("bin/") != std::string_view::npos ? 0755 : 0644;
    CUKIT_TRY_ASSIGN(Fd fd, open_file(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
    const bool is_wanted = is_wanted_(path, size);
    if (!is_wanted || size > budget_.written) {
      budget_.passed_over += is_wanted ? 1 : 0;
      if (::ftruncate(fd.get(), static_cast<off_t>(std::min<std::uint64_t>(size, 1ULL << 40U))) !=
          0) {
        return fail_errno(errno, "cannot make {}", target.string());
      }
      return fd.close();
    }
    budget_.written -= size;
    CUKIT_TRY(reader.read([&](std::span<const std::uint8_t> bytes) {
      return write_all(fd.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }));
    return fd.close();
  }

  const fs::path& root_;
  const IsWanted& is_wanted_;
  LayerBudget& budget_;
};

} // namespace

void LayerBudget::grow(const fs::path& file, std::uint64_t size) {
  if (!known_.insert(file).second) {
    return;
  }
  unpacked += limits::k_layer_unpacked_ratio * size;
  written = std::min(written + limits::k_layer_written_ratio * size, limits::k_layer_written);
  entries = std::min(entries + size / limits::k_layer_entry_bytes, limits::k_layer_entries);
}

Result<void> apply_layer(const fs::path& tar, const fs::path& root, const IsWanted& is_wanted,
                         LayerBudget& budget) {
  CUKIT_TRY_ASSIGN(const auto file, open_local_file(tar));
  budget.grow(tar, file->size());
  LayerBytes bytes(*file, budget.unpacked);
  archive::TarReader reader(tar.string(), [&] { return bytes.next(); });
  Laying layer(root, is_wanted, budget);
  while (true) {
    CUKIT_TRY_ASSIGN(const auto entry, reader.next());
    if (!entry) {
      return {};
    }
    if (budget.entries == 0) {
      return fail(ErrorCode::integrity, "{} has more entries than any image of its size",
                  printable(tar.filename().string()));
    }
    --budget.entries;
    CUKIT_TRY(layer.take(reader, *entry));
  }
}

} // namespace cukit::image

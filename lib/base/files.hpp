// Files and folders by path. Everything here checks every call, retries EINTR and never follows a
// link it did not expect to. Extraction of archives does not use this header: it has its own openat
// sink (archive/tree_sink.hpp).
#pragma once

#include "base/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cukit {

namespace fs = std::filesystem;

Result<Fd> open_file(const fs::path& path, int flags, unsigned mode = 0644);

/// The whole file; more than `limit` bytes, a folder or a device is an error.
Result<std::string> read_file(const fs::path& path, std::uint64_t limit);

/// Writes all bytes or reports why not.
Result<void> write_all(int fd, std::string_view bytes);
/// Writes what is left to read of `from` to `to`; `what` says what cannot be done when reading
/// fails.
Result<void> copy_bytes(int from, int to, std::string_view what);

/// Replaces `path` in one step: temporary file beside it, fsync, rename, fsync of the folder.
/// Afterwards the file holds either the old or the new bytes, whatever happens.
Result<void> write_file_atomic(const fs::path& path, std::string_view bytes, unsigned mode = 0644);

/// Creates a file that must not exist yet.
Result<void> create_file(const fs::path& path, std::string_view bytes, unsigned mode = 0644);

/// Creates the folder and its parents with mode 0755 whatever the umask; one that exists is fine,
/// another kind of file is not.
Result<void> make_directories(const fs::path& path);

/// Removes a folder with everything in it, also read-only folders; one that does not exist is fine.
/// Follows no link.
Result<void> remove_tree(const fs::path& path);

/// Names in a folder, sorted, without . and ..
Result<std::vector<std::string>> list_directory(const fs::path& path);

Result<void> rename_path(const fs::path& from, const fs::path& to);
Result<bool> rename_no_replace(const fs::path& from,
                               const fs::path& to); ///< false: the target exists already
Result<void> sync_file(const fs::path& path);
Result<void> sync_directory(const fs::path& path);
Result<void> sync_file_system(const fs::path& path); ///< syncfs of the file system that holds path

bool path_exists(const fs::path& path); ///< follows no link: a dangling link exists
bool folder_exists(const fs::path& path);

/// A folder of its own below `parent`, removed with all content when the value dies, unless
/// release() is called.
class TempDirectory {
public:
  static Result<TempDirectory> create(const fs::path& parent, std::string_view prefix);
  TempDirectory(TempDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TempDirectory& operator=(TempDirectory&& other) noexcept;
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory();
  [[nodiscard]] const fs::path& path() const { return path_; }
  fs::path release() { return std::exchange(path_, {}); }

private:
  explicit TempDirectory(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

} // namespace cukit

// The only writer of unpacked files. Works below one folder descriptor with openat2
// (RESOLVE_BENEATH, NO_SYMLINKS, NO_XDEV), creates exclusively, never follows a link, sets modes by
// rule: ELF or `#!` is 0555, everything else 0444, folders 0755, time stamp 1, whatever the umask.
#pragma once

#include "base/sha256.hpp"
#include "model/relative_path.hpp"

#include <memory>
#include <span>

namespace cukit::archive {

struct WrittenFile {
  RelativePath path;
  std::uint64_t size = 0;
  Sha256 sha256 = {};
  bool executable = false;
  std::string link = {}; ///< target of a symbolic link, which has none of the above; empty: a file
};

class TreeSink {
public:
  /// `folder` exists and is empty.
  static Result<TreeSink> open(const fs::path& folder);
  TreeSink(TreeSink&&) noexcept;
  TreeSink& operator=(TreeSink&&) noexcept;
  ~TreeSink();

  /// One file that is being written; dropping it before finish() leaves a file that must not be
  /// used.
  class File {
  public:
    File(File&&) noexcept;
    File& operator=(File&&) noexcept;
    ~File();
    Result<void> write(std::span<const std::uint8_t> bytes);
    Result<WrittenFile> finish();

  private:
    friend class TreeSink;
    struct State;
    explicit File(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };

  /// Safe from several threads. `size` is what will be written, for the message of a full disk. A
  /// path that exists is an error.
  Result<File> create(const RelativePath& path, std::uint64_t size);

  /// A second file with the content of one that was finished before: a hard link would do, but not
  /// on every file system.
  Result<WrittenFile> repeat(const RelativePath& source, const RelativePath& path);
  /// A symbolic link. `target` was checked by the caller; it is not looked at.
  Result<WrittenFile> link(const RelativePath& path, const std::string& target);

  /// Sets the time stamp of every folder made so far: writing into a folder changes it, so this
  /// comes last. extract() calls it.
  Result<void> settle_folders();

private:
  struct State;
  explicit TreeSink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace cukit::archive

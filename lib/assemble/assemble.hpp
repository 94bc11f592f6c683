// Lock + store entries -> Tree: a toolkit that every consumer accepts unchanged. First the plan
// (who owns each path; two owners of a path with different bytes are an error), then links or
// copies, then what every tree gets alike (lib64, targets/, links from SONAMEs, the stub of
// libcuda, version files, pkg-config), at last .cukit/ with the list and the content digest.
#pragma once

#include "base/environment.hpp"
#include "base/progress.hpp"
#include "lock/lock.hpp"
#include "store/store.hpp"

#include <functional>
#include <map>
#include <optional>

namespace cukit::assemble {

/// One path of a tree.
struct TreeFile {
  RelativePath path;
  bool executable = false;
  std::uint64_t size = 0;
  Sha256 sha256;       ///< of the bytes; unused for a link
  std::string link;    ///< target of a symbolic link, else empty
  fs::path from;       ///< where the bytes are; empty: `content`
  std::string content; ///< bytes made by the assembly itself
  std::string owner;   ///< component, or "cukit"
};

/// Pure but for reading ELF headers and cuda.h: everything the tree will hold outside .cukit/,
/// sorted by path.
Result<std::vector<TreeFile>>
plan(const lock::Lock& lock, const lock::PlatformLock& platform,
     const std::map<std::string, store::Entry>& entries /* by store key */);

enum class Placement {
  link,
  copy
}; ///< link: reflink, else hard link, else copy; copy: never shares a file with the store

struct Tree {
  fs::path path;
  Sha256 id;
  Sha256 content; ///< over (path, mode, sha256 or link target) of everything outside .cukit/
  Version release;
  Platform platform;
  std::map<std::string, std::string> components;      ///< name -> version
  std::shared_ptr<const store::FolderHold> hold = {}; ///< keeps gc away while the value lives
  [[nodiscard]] bool has(std::string_view path_in_tree) const;
};

/// Fills `folder` (fresh and empty) with the plan and .cukit/. Files are 0444 or 0555, folders
/// 0555 in a linked tree (but for `folder` itself, which has to be moved) and 0755 in a copy, and
/// every time stamp is 1, so that the same lock gives the same tree everywhere. Syncs nothing: the
/// caller does, before it lets anybody see the folder.
Result<Tree> build(const lock::Lock& lock, const lock::PlatformLock& platform,
                   const std::vector<TreeFile>& files, const fs::path& folder, Placement placement,
                   Progress& progress, const std::stop_token& stop);

/// The last step of a linked tree, once it stands where it belongs: its own folder becomes
/// read-only.
Result<void> seal_tree(const fs::path& path);

/// Reads .cukit/ of a tree that stands somewhere and holds it; an error when it is none.
Result<Tree> open_tree(const fs::path& path);
/// What the tree holds as it was built, from .cukit/files; owners and content are left empty,
/// `from` is where each file stands.
Result<std::vector<TreeFile>> list_files(const Tree& tree);
/// Re-hashes everything; what differs, is missing or is extra is named. Empty: all well.
Result<std::vector<std::string>> verify(const Tree& tree, const std::stop_token& stop);
/// The same in parts.
Result<std::vector<store::Difference>> differences(const Tree& tree, store::DigestMemory& memory,
                                                   const std::stop_token& stop);

/// A libcuda.so for linking: exports every function of cuda.h and its companions, before and after
/// macro expansion, answers CUDA_ERROR_STUB_LIBRARY (34) to each. Byte for byte the same on every
/// machine.
std::string stub_libcuda(const std::vector<std::string>& symbols, Platform platform);
/// What a program can ask the driver library for once it was compiled with these headers, sorted.
std::vector<std::string>
driver_symbols(const std::map<std::string, std::string>& headers /* name -> text */);

} // namespace cukit::assemble

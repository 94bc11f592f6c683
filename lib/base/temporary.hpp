// What cukit makes for a while outside of its home: beside what it works on, or in TMPDIR. Each
// such folder is locked as long as somebody works in it, so that the next run finds what a killed
// one left. Temporary files of write_file_atomic() are locked and swept in the same way.
#pragma once

#include "base/environment.hpp"
#include "base/files.hpp"

namespace cukit {

/// Beginnings of the names.
namespace temporary {
constexpr std::string_view k_home = ".cukit-home-";          ///< a store for one `--prefix`
constexpr std::string_view k_prefix = ".cukit-prefix-";      ///< a tree on its way to a prefix
constexpr std::string_view k_bundle = ".cukit-bundle-";      ///< a bundle that is being written
constexpr std::string_view k_manifests = "cukit-bundle-";    ///< manifests of a bundle
constexpr std::string_view k_validation = "cukit-validate-"; ///< kernels
constexpr std::string_view k_build = ".cukit-build-";        ///< kernels on their way to a folder
constexpr std::string_view k_image = "cukit-image-";         ///< what the doctor reads of an image
constexpr std::string_view k_export = ".cukit-export-";      ///< an image or archive being written
} // namespace temporary

/// TMPDIR, else /tmp.
fs::path temporary_folder(const Environment& environment);

/// A folder of its own, removed with all content when the value dies, and locked until then. Where
/// the file system keeps no locks on folders, others leave it alone for a day.
class HeldDirectory {
public:
  /// Sweeps `parent` first.
  static Result<HeldDirectory> create(const fs::path& parent, std::string_view prefix);
  [[nodiscard]] const fs::path& path() const { return folder_.path(); }

private:
  HeldDirectory(Fd hold, TempDirectory folder)
      : hold_(std::move(hold)), folder_(std::move(folder)) {}
  Fd hold_; // declared first: it is let go after the folder is gone
  TempDirectory folder_;
};

/// Removes the folders with such names in `parent` that belong to this user and that nobody holds
/// any more. What cannot be removed stays: nobody waits for it.
void sweep_temporary(const fs::path& parent);

/// Sixteen digits: the end of the name of everything that is made for a while.
std::string unique_suffix();
/// Keeps a file that was just made from being swept as long as the result is open; closed: a sweep
/// was faster, and the file is gone.
Result<Fd> hold_temporary(const Fd& file, const fs::path& path);
/// Removes the files in `folder` called `prefix` and a unique suffix, under the same conditions.
void sweep_temporary_files(const fs::path& folder, std::string_view prefix);

/// Each takes the other's place in one step; both must exist. False, and nothing has changed: the
/// file system cannot do that (NFS), or not with this folder (a lower layer of overlay).
Result<bool> try_exchange(const fs::path& from, const fs::path& to);

} // namespace cukit

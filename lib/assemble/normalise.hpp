// What every tree gets alike, whatever was taken: the number of these rules is lock::k_assembly. A
// rule that changes is a new number; the old one must still be buildable.
#pragma once

#include "assemble/claims.hpp"

namespace cukit::assemble {

/// Assembly 1, in this order: texts without absolute paths, links from SONAMEs, the stub of
/// libcuda, version files, pkg-config files, lib64 and targets/.
Result<void> normalise(Claims& claims, const lock::Lock& lock, const lock::PlatformLock& platform);

/// The parts of normalise() that have files of their own.
Result<void> remove_absolute_paths(Claims& claims);
Result<void> add_library_links(Claims& claims, Platform platform);
Result<void> add_stub(Claims& claims, Platform platform);
Result<void> add_version_files(Claims& claims, const lock::Lock& lock,
                               const lock::PlatformLock& platform);
Result<void> add_pkg_config(Claims& claims, const Version& release);

/// The version of each component; where parts of it come from several versions, that of the part
/// which was not picked by path.
std::map<std::string, std::string> component_versions(const lock::PlatformLock& platform);

/// The same text with every /usr/local/cuda (also with -X.Y) replaced by the way up from the file
/// to the tree's root: `variable`/../.. for a file in lib/pkgconfig. Values of prefix= and
/// cudaroot= in pkg-config files are taken for roots as well.
std::string without_absolute_root(std::string_view text, const RelativePath& path);

} // namespace cukit::assemble

// Archives of NVIDIA's redistributables in a tree. They were read about, not opened: so a file may
// lie in any of the places that archives are known to use, and what a component must bring is
// looked for wherever its archive has it.
#pragma once

#include "assemble/claims.hpp"

namespace cukit::assemble {

/// Where a file of an archive goes: lib64/ and targets/TRIPLE/lib/ are lib/, extras/CUPTI/ is the
/// root, pkg-config/ is lib/pkgconfig/, and lib/13/ is lib/ where 13 is the release's major. Empty:
/// nowhere, since it is for another CUDA.
std::string redist_path_in_tree(std::string_view path, const Version& release, Platform platform);

/// The target of a link that moves with its file: relative to the new place.
Result<std::string> redist_link_in_tree(const RelativePath& old_path, std::string_view target,
                                        const RelativePath& new_path, const Version& release,
                                        Platform platform);

/// Before the other rules: a required file that lies elsewhere under its name also gets the place
/// where it must be.
Result<void> place_required(Claims& claims, const lock::PlatformLock& platform);
/// After all rules: every required file is there, or an error (code integrity) names all that are
/// not, and the archives that should have brought them.
Result<void> check_required(const Claims& claims, const lock::PlatformLock& platform);

} // namespace cukit::assemble

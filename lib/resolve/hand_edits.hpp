// Signs that a lock is not as cukit wrote it.
#pragma once

#include "resolve/resolve.hpp"

namespace cukit::resolve {

/// What contradicts itself in a lock (a version that is not the one in the file's name, a file of
/// another project or platform), is spelled as cukit does not spell it, or is not what follows from
/// the manifest, the recipes and the lock's own choices. `text` is the file. Empty: nothing was
/// noticed. Nothing but a source knows sizes, the digests and RECORDs of files that this cukit has
/// no pin of, and the folders of archives; a change of these shows when they are fetched.
/// `lock` is that of `manifest` as it is (stale() found nothing).
Result<std::string> changed_by_hand(const lock::Lock& lock, std::string_view text,
                                    const manifest::Manifest& manifest,
                                    const knowledge::Knowledge& knowledge,
                                    const MachineFacts& machine);

} // namespace cukit::resolve

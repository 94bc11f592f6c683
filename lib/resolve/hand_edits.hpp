// Signs that a lock is not as cukit wrote it.
#pragma once

#include "knowledge/knowledge.hpp"
#include "lock/lock.hpp"

namespace cukit::resolve {

/// What contradicts itself in a lock (a version that is not the one in the file's name, a file of
/// another project or platform), or is spelled as cukit does not spell it. `text` is the file.
/// Empty: nothing was noticed.
Result<std::string> changed_by_hand(const lock::Lock& lock, std::string_view text,
                                    const knowledge::Knowledge& knowledge);

} // namespace cukit::resolve

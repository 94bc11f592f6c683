// Which releases are enough to look at for most manifests, so that a lock does not read the
// metapackages of all.
#pragma once

#include "resolve/resolve.hpp"

namespace cukit::resolve {

/// Minors among which the recipes' tables expect the answer, the earlier lock's included. An answer
/// that resolve() finds among them is the one it would find among all; when it finds none, all must
/// be read. Empty: no saying, read all (a wish borrows parts of other releases, or the tables know
/// no answer).
Result<std::vector<std::string>> likely_minors(const manifest::Manifest& manifest,
                                               const knowledge::Knowledge& knowledge,
                                               const MachineFacts& machine,
                                               const lock::Lock* earlier);

} // namespace cukit::resolve

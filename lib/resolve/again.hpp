// A lock composed again from its own choices: what follows from the manifest, the recipes and this
// machine is derived anew, without asking anybody.
#pragma once

#include "resolve/resolve.hpp"

namespace cukit::resolve {

/// The lock that this cukit writes for the same manifest when the sources offer what `lock` holds.
/// Taken from `lock`, because only a source knows it: which versions and files were chosen, where
/// archives lie, sizes, digests, and that a file was not known when it was locked (`trust`).
/// An error when the choices do not even make a lock.
Result<lock::Lock> compose_again(const lock::Lock& lock, const manifest::Manifest& manifest,
                                 const knowledge::Knowledge& knowledge,
                                 const MachineFacts& machine);

} // namespace cukit::resolve

// The texts in .cukit/ of a tree: what it was made from, what it holds, and the digest of that.
#pragma once

#include "assemble/assemble.hpp"

namespace cukit::assemble {

std::string write_input(const lock::Lock& lock, const lock::PlatformLock& platform);
/// Fills id, release, platform and components.
Result<Tree> read_input(std::string_view text, const std::string& file);

/// `files` is sorted by path. The content digest of a tree is the sha256 of this text.
std::string write_files(const std::vector<TreeFile>& files);
/// Owners and content stay empty; `from` is not set.
Result<std::vector<TreeFile>> read_files(std::string_view text, const std::string& file);

} // namespace cukit::assemble

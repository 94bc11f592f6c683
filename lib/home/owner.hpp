// Which artifact of a lock a path of its tree comes from.
#pragma once

#include "lock/lock.hpp"
#include "model/relative_path.hpp"
#include "store/store.hpp"

namespace cukit::home {

struct Owner {
  RelativePath path;                        ///< where the links of the question end
  std::vector<std::string> links;           ///< "lib64 -> lib" steps on the way, may be empty
  const lock::Artifact* artifact = nullptr; ///< of the lock; null: cukit made the file itself
};

/// `platform` is part of `lock`; `tree` is the folder of the tree, `path` inside it. An error when
/// nothing stands there, or when the store no longer has the content of an artifact that must be
/// looked into.
Result<Owner> owner_of(const store::Home& home, const lock::Lock& lock,
                       const lock::PlatformLock& platform, const fs::path& tree,
                       const RelativePath& path);

} // namespace cukit::home

// What a power cut may leave of a name where durability was left to the kernel: a generation whose
// files are empty, and `current` leading to it.
#pragma once

#include "names/names.hpp"

namespace cukit::names {

/// Drops such generations, and the `current` that leads to one: the next `up` makes a new one. How
/// many were dropped.
Result<int> drop_cut_off(const store::Home& home);

/// A generation, or the link `current`, that cannot be read as cukit wrote it.
struct Damaged {
  std::string name;
  int number = 0; ///< 0: `current`, or the name's own folder
  fs::path path;
  Error why;
};
/// Without those that a power cut left empty.
Result<std::vector<Damaged>> find_damaged(const store::Home& home);
/// The generations of a name that can be read, oldest first; what cannot is added to `damaged`.
std::vector<Generation> readable_generations(const store::Home& home, const std::string& name,
                                             std::vector<Error>& damaged);
/// Where the lock of a generation lies.
fs::path lock_path(const store::Home& home, const std::string& name, int number);
/// Drops a damaged generation, and the `current` that leads to it. A `current` that leads nowhere
/// is made to lead to the newest generation that can be read; where there is none it goes.
/// `is_certain`: the caller knows better, although the files can be read.
Result<void> drop_damaged(const store::Home& home, const Damaged& damaged, bool is_certain = false);

} // namespace cukit::names

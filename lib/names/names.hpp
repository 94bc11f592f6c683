// A name points at a tree through generations: names/<name>/gen/<n>/{tree,lock,report}, and
// `current -> gen/<n>` is the only switch. It is for people and `cukit run`; scripts get the
// immutable path of the tree.
#pragma once

#include "model/toolkit_name.hpp"
#include "store/store.hpp"

#include <optional>

namespace cukit::names {

struct Generation {
  int number = 0;
  std::string tree;          ///< id (hexadecimal)
  std::string lock;          ///< text of the lock it was built from
  std::string report;        ///< key of the report, may be empty
  std::string manifest = {}; ///< absolute path of the manifest it was made for; empty: not known
  std::int64_t made = 0;     ///< when it was written, seconds since 1970; for readers
};

/// Whether both stand for one tree made from one lock; they may have been validated apart.
bool same_toolkit(const Generation& a, const Generation& b);

/// The names that point somewhere, sorted.
Result<std::vector<std::string>> list(const store::Home& home);
/// Empty when there is no such name.
Result<std::optional<Generation>> current(const store::Home& home, const std::string& name);
/// Whether one stands for that toolkit with that report: it was validated so before, here or on
/// another node that has this home.
Result<bool> has_generation(const store::Home& home, const std::string& name,
                            const Generation& wanted);
/// A new generation (its number is chosen here), made current by one rename; when the current one
/// is the same toolkit, and this or an earlier one of it has the report, nothing is done (false).
/// Of two at once both generations are kept and the later rename is current. A crash leaves the old
/// or the new one current. Durability::normal leaves everything to the kernel: after a power cut
/// `current` may lead to a generation that cannot be read, which the next switch mends.
Result<bool> switch_to(const store::Home& home, const std::string& name, const Generation& next,
                       store::Durability durability = store::Durability::full);

/// All generations of a name, oldest first, whether it points somewhere or not; none when there is
/// no such name.
Result<std::vector<Generation>> generations(const store::Home& home, const std::string& name);
/// Every name that has a folder, also one whose `current` is missing: what gc looks at.
Result<std::vector<std::string>> list_all(const store::Home& home);

struct Switched {
  int from = 0; ///< 0: the name pointed nowhere
  Generation to;
};
/// Makes an earlier or later generation current by one rename: `number`, or 0 for the newest. An
/// error of code expected_no when the generation or its tree is gone.
Result<Switched> make_current(const store::Home& home, const std::string& name, int number);
/// The same with the newest generation before the current one that is another toolkit than it.
Result<Switched> roll_back(const store::Home& home, const std::string& name);

/// Removes one generation; the current one is refused (false).
Result<bool> drop_generation(const store::Home& home, const std::string& name, int number);
/// Removes the name with all of its generations.
Result<void> drop_name(const store::Home& home, const std::string& name);

} // namespace cukit::names

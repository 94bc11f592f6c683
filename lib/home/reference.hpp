// What a word of a person stands for: the one place where names, manifests, locks, paths and ids of
// trees are told apart. The spelling alone decides, never what lies in the working folder:
//
//     (nothing)               the only toolkit that there is
//     *.lock.yaml             a lock
//     *.yaml, *.yml           a manifest; what counts is the lock beside it, never its name
//     with a slash, ., ..     the folder of a tree
//     any other word          a name, else the beginning of a tree's id
#pragma once

#include "lock/lock.hpp"
#include "names/names.hpp"

#include <optional>
#include <string>

namespace cukit::home {

struct Reference {
  enum class Kind { name, manifest, lock, tree };
  Kind kind = Kind::tree;
  std::string text;                            ///< as it is shown
  fs::path path;                               ///< of the manifest, the lock, or the tree's folder
  std::optional<names::Generation> generation; ///< of a name: the current one
};

/// Such a word is a file or a folder wherever it lies; nothing else is looked for.
bool is_path(const std::string& text);

/// Names and ids are looked for in this home, then in the system store. An error of code usage when
/// the word stands for nothing. Whether a file or folder is there is seen when it is used.
Result<Reference> find_reference(const store::Home& home, const std::string& text);

/// Of a name its generation's, of a manifest the one beside it, of a tree that of a generation that
/// has it (an error of code usage when none has).
Result<lock::Lock> lock_of(const store::Home& home, const Reference& reference);

/// Where the tree for this machine's platform stands. An error of code usage when a manifest has no
/// lock yet or its tree was not built here, of code expected_no when the lock is for other
/// platforms.
Result<fs::path> tree_of(const store::Home& home, const Reference& reference);

} // namespace cukit::home

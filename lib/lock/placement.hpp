// Where the lock puts the files of an artifact. One rule for two askers: what a part that is read
// by byte ranges has to bring, and what the assembly places.
#pragma once

#include "lock/lock.hpp"
#include "model/relative_path.hpp"

namespace cukit::lock {

/// `path` after all moves, which apply one after the other: a later one may start where an earlier
/// one ended.
std::string moved(const Artifact& artifact, std::string path);

enum class Choice {
  taken,
  not_taken, ///< `take` names others only
  left,      ///< `leave` names it
};
/// What `take` and `leave` say of a path in the tree, after the moves.
Choice choice(const Artifact& artifact, std::string_view path);

/// LICENSE* at the top of a folder.
bool is_licence(std::string_view path);

struct Member {
  enum class Kind {
    content,   ///< `path` is its place in the tree
    licence,   ///< always comes along; `path` is its place in the component's folder of licences
    left,      ///< content that `leave` keeps out of this tree
    not_taken, ///< content that nobody asked for
    packaging, ///< dist-info, __init__.py
    unknown,   ///< outside the root, and nobody knows why
  };
  Kind kind = Kind::unknown;
  std::string path;
};
/// What a file of a wheel is. Licences are <name>.dist-info/licenses/* and
/// <name>.dist-info/LICENSE*, and LICENSE* at the top of the root.
Member wheel_member(const Artifact& artifact, const RelativePath& path);
/// What the store's entry for the artifact must hold where it is a part. `leave` does not count:
/// entries are shared by trees that leave different things out.
bool belongs_to_part(const Artifact& artifact, const RelativePath& path);

/// Whether `take` (or `leave`) of an artifact of nvcc speaks of its ptxas, not of some other share
/// of an archive.
bool takes_ptxas(const std::vector<std::string>& take);

} // namespace cukit::lock

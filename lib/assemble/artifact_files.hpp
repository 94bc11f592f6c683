// Where the files of one artifact go in the tree.
#pragma once

#include "assemble/assemble.hpp"

namespace cukit::assemble {

struct ArtifactFiles {
  std::vector<TreeFile> content;  ///< what take, leave and move leave of the artifact's root
  std::vector<TreeFile> licences; ///< below LICENSES/<component>/; they always come along
};

/// Files of an archive (source redist) go where redist_path_in_tree() says, before take, leave and
/// move. Licence files are LICENSE* at its top; of a wheel they are <name>.dist-info/licenses/* and
/// <name>.dist-info/LICENSE*, and LICENSE* at the top of the root. Other packaging files outside
/// the root are dropped; anything else there is an error, so that nothing is lost unseen.
Result<ArtifactFiles> artifact_files(const lock::Artifact& artifact, const store::Entry& entry,
                                     const Version& release, Platform platform);

} // namespace cukit::assemble

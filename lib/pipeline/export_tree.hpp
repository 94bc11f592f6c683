// A tree as the layers of an image, or as one archive: what `cukit export` hands on. A tree that is
// not what was built is never exported.
#pragma once

#include "image/layout.hpp"
#include "pipeline/session.hpp"

namespace cukit::pipeline {

struct ExportedTree {
  assemble::Tree tree;
  /// One for each component, what changes least between releases first; at last what cukit makes
  /// itself, the list of files and the lock.
  std::vector<image::Layer> layers;
};

/// Of the lock's tree for the session's platform, as if it stood at `place` (absolute); it is built
/// where it is not there. The lock lies beside it, as `place`.lock.yaml.
Result<ExportedTree> export_tree(Session& session, const lock::Lock& lock, const fs::path& place);

/// Name, version, licences, lock and tree of what is exported.
std::map<std::string, std::string> image_labels(const lock::Lock& lock, const assemble::Tree& tree);

struct ImageWish {
  fs::path place;
  fs::path base = {};
  std::string created;
  image::Compression compression = image::Compression::gzip;
};
/// Puts an OCI image layout into `folder`, which is empty or not there, in one step.
Result<image::WrittenImage> export_image(Session& session, const lock::Lock& lock,
                                         const ImageWish& wish, const fs::path& folder);

/// One tar file of all layers, in one step; the end of its name (.tar, .tar.gz, .tgz, .tar.zst)
/// says how it is packed.
Result<image::Packed> export_archive(Session& session, const lock::Lock& lock,
                                     const fs::path& place, const fs::path& file);

} // namespace cukit::pipeline

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
  std::vector<std::string>
      left_out; ///< paths in the tree that may not be passed on, when asked for
};
struct ExportWish {
  fs::path place; ///< where the tree will stand, absolute
  /// Keep only what NVIDIA's list lets be passed on, and the licences; then it is no tree any more.
  bool distributable_only = false;
};

/// Of the lock's tree for the session's platform, as if it stood at the place; it is built where it
/// is not there. The lock lies beside it, as PLACE.lock.yaml.
Result<ExportedTree> export_tree(Session& session, const lock::Lock& lock, const ExportWish& wish);

/// Name, version, licences, lock and tree of what is exported.
std::map<std::string, std::string> image_labels(const lock::Lock& lock, const assemble::Tree& tree);

struct ImageWish {
  ExportWish tree;
  fs::path base = {};
  std::string created;
  image::Compression compression = image::Compression::gzip;
};
struct ExportedImage {
  image::WrittenImage image;
  std::vector<std::string> left_out;
};
/// Puts an OCI image layout into `folder`, which is empty or not there, in one step.
Result<ExportedImage> export_image(Session& session, const lock::Lock& lock, const ImageWish& wish,
                                   const fs::path& folder);

/// One tar file of all layers, in one step; the end of its name (.tar, .tar.gz, .tgz, .tar.zst)
/// says how it is packed.
struct ExportedArchive {
  image::Packed packed;
  std::vector<std::string> left_out;
};
Result<ExportedArchive> export_archive(Session& session, const lock::Lock& lock,
                                       const ExportWish& wish, const fs::path& file);

} // namespace cukit::pipeline

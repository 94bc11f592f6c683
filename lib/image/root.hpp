// A container image (an OCI layout folder, or the tar file that `docker save` and `podman save`
// write) as a root folder to look at. Layers are laid over each other in a scratch folder with the
// files that are wanted of them; every other file is there by name and size alone. Hostile bytes:
// nothing is written outside of the scratch folder, no link is followed, devices are passed over.
#pragma once

#include "base/temporary.hpp"
#include "image/layer.hpp"

namespace cukit::image {

struct Root {
  HeldDirectory folder; ///< removed with the value
  Environment environment;
  std::vector<std::string> notes; ///< what was not read, and why
  [[nodiscard]] fs::path root() const { return folder.path() / "root"; }
};

/// Whether the path is a layout folder or a tar file rather than a root folder.
bool is_image(const fs::path& path);
/// Layers may be plain or gzip; other compressions are an error that names them. For an image of
/// several platforms the first that is for this machine's is taken.
Result<Root> open_image(const fs::path& path, const fs::path& scratch, const IsWanted& is_wanted);

} // namespace cukit::image

// NVIDIA's own redist manifests, as tests/data/redist/manifests.txt keeps them: every component,
// version, archive, size and SHA-256 of 106 of them; what is for Windows and the MD5 sums are left
// out.
#pragma once

#include <string>
#include <vector>

namespace cukit::test {

struct RealManifest {
  std::string product; ///< cuda, cudnn, cusparselt or cutensor
  std::string label;   ///< of the release: 13.0.2
  std::string json;    ///< in NVIDIA's format
};

/// All of them, by product and label in the order of their text.
const std::vector<RealManifest>& real_manifests();

/// The JSON of one; a test fails, and the text is empty, when there is none.
std::string real_manifest(const std::string& product, const std::string& label);

} // namespace cukit::test

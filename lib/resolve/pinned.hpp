// The pins of the knowledge bind releases, not only file names: of a component's version that this
// cukit knows, the files it knows are all there are. An index that offers the same version under
// another tag, build tag or spelling, or with a number behind it, offers something else.
#pragma once

#include "catalog/catalog.hpp"

#include <map>
#include <string>

namespace cukit::resolve {

class PinnedFiles {
public:
  explicit PinnedFiles(const std::map<std::string, Sha256>& pins);

  [[nodiscard]] bool contains(const std::string& file) const;
  /// The known file for whose release and platform this one, which is not known, stands in; empty
  /// when it is a known one itself, or of a release that nobody knew.
  [[nodiscard]] std::string original_of(const catalog::WheelFile& wheel) const;

private:
  const std::map<std::string, Sha256>* pins_;
  std::map<std::string, std::vector<catalog::WheelFile>> by_project_;
};

} // namespace cukit::resolve

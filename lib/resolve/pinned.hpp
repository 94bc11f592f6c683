// The pins of the knowledge bind releases, not only file names: of a component's version that this
// cukit knows, the files it knows are all there are. An index that offers the same version under
// another tag, build tag or spelling, or with a number behind it, offers something else.
#pragma once

#include "catalog/catalog.hpp"

#include <map>
#include <mutex>
#include <string>

namespace cukit::resolve {

class PinnedFiles {
public:
  /// `pins` must outlive it. Their names are read when the first file is in question.
  explicit PinnedFiles(const std::map<std::string, Sha256>& pins) : pins_(&pins) {}

  [[nodiscard]] bool contains(const std::string& file) const;
  /// The known file for whose release and platform this one, which is not known, stands in; empty
  /// when it is a known one itself, or of a release that nobody knew.
  [[nodiscard]] std::string original_of(const catalog::WheelFile& wheel) const;

private:
  void read_names() const;

  const std::map<std::string, Sha256>* pins_;
  mutable std::once_flag read_; ///< guards by_project_
  mutable std::map<std::string, std::vector<catalog::WheelFile>> by_project_;
};

} // namespace cukit::resolve

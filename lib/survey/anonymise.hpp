// What of a snapshot may leave the machine. Private to survey.
#pragma once

#include "survey/snapshot.hpp"

namespace cukit::survey {

/// Replaces what names a person, everywhere alike, so that paths still fit each other.
class Anonymiser {
public:
  explicit Anonymiser(const Snapshot& snapshot);
  [[nodiscard]] std::string operator()(std::string text) const;

private:
  void replace_homes(std::string& text) const;
  void replace_own_name(std::string& text) const;

  std::string home_;
  std::string name_; ///< the last name of the home folder, as other folders may be called too
};

/// A variable's value with those parts alone that are known to say nothing but how CUDA is built:
/// absolute paths, flags of compilers and linkers, targets, numbers and switches. Whatever else is
/// in it, a token in CMAKE_ARGS for one, becomes `(left out)`; what parts words is kept. So is an
/// entry of a list that is one of `paths`, which may have spaces in it.
std::string known_parts(std::string_view value, const std::set<std::string>& paths = {});
/// The toolkits, environments and programs that a snapshot has anyway.
std::set<std::string> paths_of(const Snapshot& snapshot);

} // namespace cukit::survey

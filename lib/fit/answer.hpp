// Whether two things go together, with the number that decides: what resolve's rules and the
// doctor's rules phrase, each in its own words.
#pragma once

#include "model/version.hpp"

namespace cukit::fit {

enum class Answer { yes, no, unknown };

/// What the version that was asked about is held to.
enum class Bound {
  none,       ///< to nothing, or nobody knows to what
  at_least,   ///< `version` or newer
  at_most,    ///< `version` or older
  same_major, ///< the major of `version`
  same_minor, ///< major and minor of `version`
  same        ///< `version` itself
};

struct Fit {
  Answer answer = Answer::unknown;
  Bound bound = Bound::none;
  Version version = {}; ///< of the bound

  /// What is not known is let pass.
  [[nodiscard]] bool is_refused() const { return answer == Answer::no; }
};

/// The answer to `asked` that a bound gives; at_least and at_most compare majors and minors.
[[nodiscard]] Fit held_to(Bound bound, const Version& version, const Version& asked);

/// -1, 0 or 1 by major and minor alone: all patches of a minor are one.
[[nodiscard]] int compare_minor(const Version& a, const Version& b);

} // namespace cukit::fit

#include "fit/answer.hpp"

namespace cukit::fit {

int compare_minor(const Version& a, const Version& b) {
  if (a.major() != b.major()) {
    return a.major() < b.major() ? -1 : 1;
  }
  return a.minor() == b.minor() ? 0 : (a.minor() < b.minor() ? -1 : 1);
}

Fit held_to(Bound bound, const Version& version, const Version& asked) {
  const auto holds = [&] {
    switch (bound) {
    case Bound::none:
      return true;
    case Bound::at_least:
      return compare_minor(asked, version) >= 0;
    case Bound::at_most:
      return compare_minor(asked, version) <= 0;
    case Bound::same_major:
      return asked.major() == version.major();
    case Bound::same_minor:
      return asked.same_minor(version);
    case Bound::same:
      return asked == version;
    }
    return true;
  };
  return {.answer = holds() ? Answer::yes : Answer::no, .bound = bound, .version = version};
}

} // namespace cukit::fit

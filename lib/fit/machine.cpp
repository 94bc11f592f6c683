#include "fit/machine.hpp"

#include <algorithm>

namespace cukit::fit {

namespace {

Version whole(int major) {
  return Version::parse(std::to_string(major)).value_or(Version());
}

Fit by_major(Bound bound, int major, int asked) {
  const bool holds = bound == Bound::at_least ? asked >= major : asked <= major;
  return {.answer = holds ? Answer::yes : Answer::no, .bound = bound, .version = whole(major)};
}

} // namespace

Fit runs_on_driver(const knowledge::Release& release, const Version& driver) {
  const bool runs = driver.major() >= release.driver_floor;
  return {.answer = runs ? Answer::yes : Answer::no,
          .bound = Bound::at_least,
          .version = whole(release.driver_floor)};
}

const knowledge::Release* cuda_of_driver(const std::vector<knowledge::Release>& releases,
                                         const Version& driver) {
  const knowledge::Release* own = nullptr;
  for (const auto& release : releases) {
    const bool is_newer = own == nullptr || own->minor < release.minor;
    if (release.driver_branch > 0 && release.driver_branch <= driver.major() && is_newer) {
      own = &release;
    }
  }
  return own;
}

Fit ptx_on_driver(const knowledge::Release& release, const knowledge::Release& driver_cuda) {
  return held_to(Bound::at_most, driver_cuda.ptx, release.ptx);
}

CompilerRange compilers_of(const knowledge::Release& release) {
  return {
      .gcc_max = release.gcc_max, .clang_min = release.clang_min, .clang_max = release.clang_max};
}

Fit host_compiler(const CompilerRange& range, std::string_view kind, int major) {
  if (kind == "gcc" && range.gcc_max > 0) {
    return by_major(Bound::at_most, range.gcc_max, major);
  }
  if (kind == "clang" && range.clang_max > 0) {
    const auto newest = by_major(Bound::at_most, range.clang_max, major);
    return newest.is_refused() ? newest : by_major(Bound::at_least, range.clang_min, major);
  }
  return {};
}

const knowledge::CLibraryClash* c_library_clash(const knowledge::Limits& limits,
                                                const Version& cuda, const Version& glibc) {
  const auto clash =
      std::find_if(limits.c_library.begin(), limits.c_library.end(), [&](const auto& one) {
        return compare_minor(glibc, one.glibc) >= 0 && compare_minor(cuda, one.cuda) < 0;
      });
  return clash == limits.c_library.end() ? nullptr : &*clash;
}

} // namespace cukit::fit

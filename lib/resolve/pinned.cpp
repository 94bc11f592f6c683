#include "resolve/pinned.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

// A release is three numbers; NVIDIA writes a fourth, 0, behind some.
constexpr std::size_t k_release_parts = 3;

/// The parts that name a release: 13.0.3 of 13.0.3.0, 13.3.3.3.1 of itself.
std::size_t significant_parts(const Version& version) {
  auto count = version.release().size();
  while (count > k_release_parts && version.part(count - 1) == 0) {
    --count;
  }
  return count;
}

/// Whether `other` is that release, rebuilt (13.0.88.1, 13.0.88.post1, 13.0.88+x) or not: a
/// requirement on `==13.0.88.*` takes any of them.
bool is_of_release(const Version& other, const Version& known) {
  if (other.is_prerelease() != known.is_prerelease()) {
    return false;
  }
  if (known.is_prerelease()) {
    return other.without_local().without_post() == known;
  }
  for (std::size_t i = 0; i < significant_parts(known); ++i) {
    if (other.part(i) != known.part(i)) {
      return false;
    }
  }
  return true;
}

bool share_a_machine(const catalog::WheelFile& a, const catalog::WheelFile& b) {
  return a.machine == b.machine || a.machine == "any" || b.machine == "any";
}

} // namespace

void PinnedFiles::read_names() const {
  for (const auto& [file, digest] : *pins_) {
    if (auto wheel = catalog::parse_wheel_name(file)) { // not RECORD of ..., no manifest
      by_project_[wheel->project].push_back(*std::move(wheel));
    }
  }
}

bool PinnedFiles::contains(const std::string& file) const {
  return pins_->contains(file);
}

std::string PinnedFiles::original_of(const catalog::WheelFile& wheel) const {
  std::call_once(read_, [this] { read_names(); });
  const auto project = by_project_.find(wheel.project);
  if (project == by_project_.end() || contains(wheel.file)) {
    return {};
  }
  const auto known = std::find_if(
      project->second.begin(), project->second.end(), [&](const catalog::WheelFile& one) {
        return share_a_machine(one, wheel) && is_of_release(wheel.version, one.version);
      });
  return known == project->second.end() ? std::string() : known->file;
}

} // namespace cukit::resolve

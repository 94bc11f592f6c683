// What the catalog offers for a release of CUDA: which wheel each component would be on each
// platform, and why there is none.
#pragma once

#include "catalog/catalog.hpp"
#include "lock/lock.hpp"
#include "resolve/facts.hpp"
#include "resolve/rules.hpp"

#include <map>
#include <set>

namespace cukit::resolve {

struct Pick {
  enum class State { found, not_on_platform, missing };
  State state = State::missing;
  const catalog::WheelFile* wheel = nullptr;
  const catalog::MetaRelease* from = nullptr; ///< whose metapackage pinned it
  std::string how;     ///< a sentence for the user: "pinned by the metapackage of CUDA 13.0.3"
  std::string why_not; ///< lower case, no period
};

class Offer {
public:
  /// All four must outlive it; `earlier` may be null. `with_prereleases`: the manifest names one.
  Offer(const catalog::Catalog& catalog, const Facts& facts, const lock::Lock* earlier,
        bool with_prereleases);

  /// Releases that can be considered at all, ascending: known to the recipes, with nvcc in their
  /// wheels, no pre-release unasked.
  [[nodiscard]] const std::vector<const catalog::MetaRelease*>& releases() const {
    return releases_;
  }
  /// Releases that the index lists but that were not considered, ascending, with the reason.
  struct LeftOut {
    Version version;
    const rules::Rule* rule = nullptr;
    std::string text;
  };
  [[nodiscard]] const std::vector<LeftOut>& left_out() const { return left_out_; }

  [[nodiscard]] const Pick& pick(const knowledge::Component& component, Platform platform,
                                 const catalog::MetaRelease& release) const;
  [[nodiscard]] const knowledge::Release& facts_of(const catalog::MetaRelease& release) const;
  /// The version of nvcc that a release pins, from its wheels on any platform.
  [[nodiscard]] std::optional<Version> nvcc_of(const catalog::MetaRelease& release) const;

private:
  bool may_take(const catalog::WheelFile& release, bool with_prereleases);
  Pick find(const knowledge::Component& component, Platform platform,
            const catalog::MetaRelease& release) const;
  Pick find_in_newer(const knowledge::Component& component, Platform platform,
                     const catalog::MetaRelease& release) const;
  Pick choose(const knowledge::Component& component, Platform platform,
              const catalog::MetaRelease& release, const catalog::Requirement& requirement) const;
  const lock::Artifact* locked(const knowledge::Component& component, Platform platform,
                               const std::string& file) const;

  const catalog::Catalog& catalog_;
  const Facts& facts_;
  const lock::Lock* earlier_;
  std::vector<const catalog::MetaRelease*> releases_;
  std::vector<LeftOut> left_out_;
  mutable std::map<std::tuple<const knowledge::Component*, Platform, const catalog::MetaRelease*>,
                   Pick>
      picks_;
};

/// 13.0.3 of 13.0.3.0: how a release is called.
Version release_label(const Version& version);

} // namespace cukit::resolve

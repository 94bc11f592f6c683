// What the catalog offers for a release of CUDA: which file of which source each component would be
// on each platform, and why there is none.
#pragma once

#include "catalog/catalog.hpp"
#include "lock/lock.hpp"
#include "resolve/facts.hpp"
#include "resolve/rules.hpp"

#include <map>
#include <memory>
#include <set>

namespace cukit::resolve {

constexpr std::string_view k_wheels = "wheels";
constexpr std::string_view k_redist = "redist";

/// A file of a source.
struct Offered {
  std::string source; ///< wheels, redist
  std::string file;
  std::string path; ///< redist: below every base; else empty
  Version version;
  std::uint64_t size = 0; ///< 0: the source does not say
  std::optional<Sha256> sha256;
  std::string glibc;                         ///< empty: not known
  const catalog::WheelFile* wheel = nullptr; ///< wheels alone
};

/// A release of CUDA in the sources that hold it.
struct OfferedRelease {
  Version version;
  const catalog::MetaRelease* wheels = nullptr;
  const catalog::RedistManifest* redist = nullptr;
};

struct Pick {
  enum class State { found, not_on_platform, missing };
  State state = State::missing;
  const Offered* file = nullptr;
  const OfferedRelease* from = nullptr; ///< whose metapackage or manifest pinned it
  /// What says that it is this file: a metapackage or a redistrib manifest, by the name that locks
  /// use; empty: nothing but the index.
  std::string pinned_by;
  std::optional<Sha256> pin;
  /// The archive is this component's, which holds the one that was asked for as well (nvcc before
  /// 13.0 has crt).
  const knowledge::Component* carrier = nullptr;
  std::string how;     ///< a sentence for the user: "pinned by the metapackage of CUDA 13.0.3"
  std::string why_not; ///< lower case, no period
};

class Offer {
public:
  /// Which sources may be used.
  struct Sources {
    std::vector<std::string> order; ///< the preferred one first
    bool is_stated = false; ///< by the manifest: what the earlier lock took does not go before it
    std::vector<std::string> redist_minors; ///< whose manifests were asked for
  };
  /// All must outlive it; `earlier` may be null. `with_prereleases`: the manifest names one.
  Offer(const catalog::Catalog& catalog, const Facts& facts, const lock::Lock* earlier,
        bool with_prereleases, Sources sources);
  Offer(const Offer&) = delete;
  Offer& operator=(const Offer&) = delete;

  /// Releases that can be considered at all, ascending: known to the recipes, with nvcc in one of
  /// their sources, no pre-release unasked.
  [[nodiscard]] const std::vector<const OfferedRelease*>& releases() const { return releases_; }
  /// Releases that exist but were not considered, ascending, with the reason.
  struct LeftOut {
    Version version;
    const rules::Rule* rule = nullptr;
    std::string text;
    bool is_unread = false;  ///< it exists, but its manifest is in no source
    bool has_digest = false; ///< of an unread one: this build knows the digest of its manifest
  };
  [[nodiscard]] const std::vector<LeftOut>& left_out() const { return left_out_; }

  [[nodiscard]] const Pick& pick(const knowledge::Component& component, Platform platform,
                                 const OfferedRelease& release) const;
  /// The same payload where only its headers are wanted: a wheel gives them by ranges, an archive
  /// comes whole.
  [[nodiscard]] Pick pick_headers(const knowledge::Component& component, Platform platform,
                                  const OfferedRelease& release) const;
  [[nodiscard]] const knowledge::Release& facts_of(const OfferedRelease& release) const;
  /// The version of nvcc in a release, from any platform.
  [[nodiscard]] std::optional<Version> nvcc_of(const OfferedRelease& release) const;

private:
  using Place = std::tuple<const knowledge::Component*, Platform, const OfferedRelease*>;

  void add_wheels(bool with_prereleases);
  void add_manifests();
  void add_unread_manifests();
  OfferedRelease& release_of(const Version& version);
  [[nodiscard]] bool uses(std::string_view source) const;
  bool may_take(const catalog::WheelFile& release, bool with_prereleases);
  [[nodiscard]] bool has_original(const catalog::WheelFile& release) const;
  [[nodiscard]] int trust_in(const catalog::WheelFile& wheel, bool is_known_release) const;

  Pick find(const knowledge::Component& component, Platform platform,
            const OfferedRelease& release) const;
  Pick find_in(std::string_view source, const knowledge::Component& component, Platform platform,
               const OfferedRelease& release) const;
  Pick find_wheel(const knowledge::Component& component, Platform platform,
                  const OfferedRelease& release) const;
  Pick find_newest_wheel(const knowledge::Component& component, Platform platform,
                         const OfferedRelease& release) const;
  Pick find_archive(const knowledge::Component& component, Platform platform,
                    const OfferedRelease& release) const;
  Pick archive_of(const catalog::RedistManifest& manifest, const knowledge::Component& component,
                  Platform platform, const OfferedRelease& release) const;
  Pick find_in_newer(const knowledge::Component& component, Platform platform,
                     const OfferedRelease& release) const;
  Pick choose(const knowledge::Component& component, Platform platform,
              const OfferedRelease& release, const catalog::Requirement& requirement) const;
  bool is_locked(const knowledge::Component& component, Platform platform,
                 const std::string& file) const;
  const Offered* offered(const catalog::WheelFile& wheel) const;
  const Offered* offered(const catalog::RedistManifest& manifest,
                         const catalog::RedistComponent& component,
                         const catalog::RedistArchive& archive) const;

  const catalog::Catalog& catalog_;
  const Facts& facts_;
  const lock::Lock* earlier_;
  std::vector<std::string> sources_;
  bool is_stated_;
  std::vector<std::string> redist_minors_;
  std::vector<std::unique_ptr<OfferedRelease>> storage_;
  std::vector<const OfferedRelease*> releases_;
  std::vector<LeftOut> left_out_;
  mutable std::map<const void*, std::unique_ptr<Offered>> files_; ///< by the catalog's own entry
  mutable std::map<Place, Pick> picks_;
};

/// 13.0.3 of 13.0.3.0: how a release is called.
Version release_label(const Version& version);

} // namespace cukit::resolve

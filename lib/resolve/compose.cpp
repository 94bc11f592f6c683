#include "resolve/compose.hpp"

#include "base/strings.hpp"
#include "lock/placement.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

/// An entry of `leave` or a move's source is of use only where it can meet something that is taken.
bool is_taken(const std::string& path, const std::vector<std::string>& take) {
  return take.empty() || std::any_of(take.begin(), take.end(), [&](const std::string& entry) {
           return path == entry || (entry.ends_with('/') && path.starts_with(entry));
         });
}

class Composer {
public:
  Composer(const Inputs& inputs, const Candidate& chosen)
      : inputs_(inputs), chosen_(chosen),
        nvcc_(*knowledge::find_component(*inputs.facts.components, k_nvcc)) {}

  Result<Resolution> run() {
    auto& lock = result_.lock;
    lock.manifest = inputs_.manifest.digest;
    lock.release = chosen_.toolkit.release;
    lock.driver = driver();
    lock.gpus = inputs_.problem.gpus;
    lock.assumed_gpus = inputs_.manifest.native_gpus && inputs_.is_gpu_assumed;
    lock.assumed_driver = inputs_.manifest.native_driver && inputs_.is_driver_assumed;
    lock.observed_gpus = inputs_.manifest.native_gpus && !lock.assumed_gpus;
    if (lock.observed_gpus && inputs_.earlier != nullptr && lock.gpus.empty()) {
      lock.gpus = inputs_.earlier->gpus;
    }
    CUKIT_TRY(pin_release());
    for (const auto platform : inputs_.problem.platforms) {
      lock.platforms.push_back({.platform = platform, .glibc = {}, .artifacts = {}});
      CUKIT_TRY(add_platform(lock.platforms.back()));
    }
    lock::sort(lock);
    find_unfinished();
    add_choices();
    return std::move(result_);
  }

private:
  std::string driver() const {
    const auto& oldest = inputs_.problem.oldest_driver;
    const Version floor =
        Version::parse(std::to_string(chosen_.toolkit.facts->driver_floor)).value_or(Version());
    // a native wish is what this machine showed, and no requirement
    const bool is_wished =
        (inputs_.manifest.driver.has_value() || inputs_.is_driver_assumed) && oldest > floor;
    return is_wished ? oldest.text() : floor.text();
  }

  /// What nvcc was picked by names the release.
  Result<void> pin_release() {
    for (const auto platform : inputs_.problem.platforms) {
      CUKIT_TRY(pin(inputs_.offer.pick(nvcc_, platform, *chosen_.release)));
    }
    return {};
  }

  /// The choice rests on this metapackage or manifest.
  Result<void> pin(const Pick& pick) {
    if (pick.pinned_by.empty()) {
      return {};
    }
    CUKIT_TRY_ASSIGN(const auto digest, known_digest(pick.pinned_by, pick.pin));
    result_.lock.pins[pick.pinned_by] = digest;
    return {};
  }

  Result<Sha256> known_digest(const std::string& file, const std::optional<Sha256>& said) const {
    if (!said) {
      return tl::unexpected<Error>(
          Error{.code = ErrorCode::source,
                .message = fmt::format("the index states no sha256 for {}", file),
                .hint = "a lock needs one; ask another index (--index-url)"});
    }
    const auto known = inputs_.facts.pins->find(file);
    if (known != inputs_.facts.pins->end() && known->second != *said) {
      return mismatch(file, *said, known->second, "this cukit knows it with");
    }
    if (const auto wheel = catalog::parse_wheel_name(file)) {
      CUKIT_TRY(refuse_stand_in(*wheel));
    }
    return *said;
  }
  Result<void> refuse_stand_in(const catalog::WheelFile& wheel) const {
    const auto original = inputs_.facts.pinned->original_of(wheel);
    if (original.empty()) {
      return {};
    }
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::integrity,
              .message = fmt::format("{} is offered where this cukit knows {} as the file of that "
                                     "release",
                                     wheel.file, original),
              .hint = "files of a published release are never replaced by others: ask another "
                      "source (--index-url)"});
  }
  static tl::unexpected<Error> mismatch(const std::string& file, const Sha256& said,
                                        const Sha256& known, std::string_view who) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::integrity,
              .message = fmt::format("{} has {} in its source, but {} {}", file, said.text(), who,
                                     known.text()),
              .hint = "published files never change: this one is damaged or was replaced; ask "
                      "another source (--index-url, CUKIT_REDIST_URL)"});
  }

  Result<void> add_platform(lock::PlatformLock& platform) {
    for (const auto& part : inputs_.problem.parts) {
      const bool is_cccl = part.component->name == k_cccl && chosen_.cccl != nullptr;
      const auto& release = is_cccl ? *chosen_.cccl : *chosen_.release;
      const auto pick =
          part.whole ? inputs_.offer.pick(*part.component, platform.platform, release)
                     : inputs_.offer.pick_headers(*part.component, platform.platform, release);
      if (pick.file == nullptr) {
        continue; // the rules allowed it to be absent here; notes() tells
      }
      if (pick.carrier != nullptr) {
        CUKIT_TRY(add_carried(platform, part, pick));
        continue;
      }
      CUKIT_TRY(add_part(platform, part, pick));
    }
    return {};
  }

  Result<void> add_part(lock::PlatformLock& platform, const Part& part, const Pick& pick) {
    const auto& component = *part.component;
    auto artifact = new_artifact(part.why, component, pick);
    if (!part.whole) {
      artifact.take = pick.file->source == k_redist ? component.redist.headers : component.headers;
    }
    fill_paths(artifact, component);
    const bool gives_up_ptxas = &component == &nvcc_ && chosen_.ptxas != nullptr;
    if (gives_up_ptxas) {
      const auto& members = ptxas_members();
      artifact.leave.insert(artifact.leave.end(), members.begin(), members.end());
    }
    CUKIT_TRY(add(platform, std::move(artifact), component, pick, !part.whole));
    return gives_up_ptxas ? add_ptxas(platform) : Result<void>();
  }

  /// A component whose files are in another's archive: they come with it, or alone where the other
  /// is not wanted whole.
  Result<void> add_carried(lock::PlatformLock& platform, const Part& part, const Pick& pick) {
    const auto& parts = inputs_.problem.parts;
    const bool comes_along = std::any_of(parts.begin(), parts.end(), [&](const Part& other) {
      return other.component == pick.carrier && other.whole;
    });
    if (comes_along) {
      return {};
    }
    const auto& files = part.component->redist.older->files;
    for (auto& artifact : platform.artifacts) {
      if (artifact.file == pick.file->file) {
        artifact.take.insert(artifact.take.end(), files.begin(), files.end());
        return {};
      }
    }
    auto artifact = new_artifact(part.why, *pick.carrier, pick);
    artifact.take = files;
    fill_paths(artifact, *pick.carrier);
    return add(platform, std::move(artifact), *pick.carrier, pick, false);
  }

  static lock::Artifact new_artifact(const std::string& why, const knowledge::Component& component,
                                     const Pick& pick) {
    lock::Artifact artifact;
    artifact.why = why;
    artifact.source = pick.file->source;
    if (artifact.source != k_redist) { // an archive's own top folder is never part of its paths
      artifact.root = component.root;
    }
    return artifact;
  }

  void fill_paths(lock::Artifact& artifact, const knowledge::Component& component) const {
    const auto& take = artifact.take;
    const bool is_archive = artifact.source == k_redist;
    const auto& leave = is_archive ? component.redist.leave : component.leave;
    const auto& move = is_archive ? component.redist.move : component.move;
    std::copy_if(leave.begin(), leave.end(), std::back_inserter(artifact.leave),
                 [&](const std::string& path) { return is_taken(path, take); });
    std::copy_if(move.begin(), move.end(), std::back_inserter(artifact.move),
                 [&](const auto& one) { return is_taken(one.first, take); });
    if (is_archive) {
      fill_required(artifact, component.redist);
    } else if (take.empty()) { // where a link leads is not among single members
      artifact.link = component.link;
    }
  }

  /// A library's number changes with CUDA's major; the name that linkers look for does not.
  void fill_required(lock::Artifact& artifact, const knowledge::RedistRecipe& recipe) const {
    const bool is_older = recipe.is_older(chosen_.release->version);
    const auto& provides =
        is_older && !recipe.older->provides.empty() ? recipe.older->provides : recipe.provides;
    for (const auto& path : provides) {
      const auto at = path.find(".so.");
      const auto file = at == std::string::npos ? path : path.substr(0, at + 3);
      const bool is_known = std::find(artifact.require.begin(), artifact.require.end(), file) !=
                            artifact.require.end();
      if (!is_known && is_taken(file, artifact.take)) {
        artifact.require.push_back(file);
      }
    }
  }

  const std::vector<std::string>& ptxas_members() const {
    const auto part = nvcc_.parts.find(std::string(k_ptxas_part));
    CUKIT_ENSURE(part != nvcc_.parts.end(), "checked before the search");
    return part->second;
  }

  Result<void> add_ptxas(lock::PlatformLock& platform) {
    const auto& pick = inputs_.offer.pick(nvcc_, platform.platform, *chosen_.ptxas);
    CUKIT_ENSURE(pick.file != nullptr, "the availability of the part is a rule");
    auto artifact = new_artifact("manifest toolkit.ptxas", nvcc_, pick);
    artifact.take = ptxas_members();
    return add(platform, std::move(artifact), nvcc_, pick, false);
  }

  Result<void> add(lock::PlatformLock& platform, lock::Artifact artifact,
                   const knowledge::Component& component, const Pick& pick, bool is_headers) {
    const auto& file = *pick.file;
    const bool is_ranged = is_headers && file.wheel != nullptr;
    artifact.component = component.name;
    artifact.version = file.version;
    artifact.file = file.file;
    artifact.path = file.path;
    artifact.size = file.size;
    artifact.licence = component.licence;
    CUKIT_TRY_ASSIGN(artifact.sha256, known_digest(file.file, file.sha256));
    if (file.size == 0) {
      return fail(ErrorCode::source, "the index states no size for {}", file.file);
    }
    // a known manifest vouches for the archives that it lists
    artifact.trust_first_lock =
        !inputs_.facts.pins->contains(file.wheel != nullptr ? file.file : pick.pinned_by);
    CUKIT_TRY(compare_with_earlier(platform.platform, artifact, is_ranged));
    if (is_ranged && !artifact.record) {
      ranged_.emplace(file.file, file.wheel);
    }
    CUKIT_TRY(pin(pick));
    raise_glibc(platform, file);
    whys_.try_emplace(file.file, pick.how);
    platform.artifacts.push_back(std::move(artifact));
    return {};
  }

  /// A wheel's name says which C library it needs; of an archive that of its release is known.
  void raise_glibc(lock::PlatformLock& platform, const Offered& file) const {
    auto glibc = Version::parse(file.glibc);
    if (file.wheel == nullptr) {
      if (const auto* known = knowledge::find_least_glibc(
              *inputs_.facts.least_glibc, platform.platform, chosen_.toolkit.release)) {
        glibc = known->least;
      }
    }
    if (glibc && (platform.glibc.empty() || *glibc > *Version::parse(platform.glibc))) {
      platform.glibc = glibc->text();
    }
  }

  /// The RECORD of a file that is known needs no reading; a file whose bytes were replaced since
  /// the last lock is refused.
  Result<void> compare_with_earlier(Platform platform, lock::Artifact& artifact,
                                    bool is_ranged) const {
    const auto known = inputs_.facts.pins->find("RECORD of " + artifact.file);
    if (is_ranged && known != inputs_.facts.pins->end()) {
      artifact.record = known->second;
    }
    const auto* entry = inputs_.earlier == nullptr ? nullptr : inputs_.earlier->find(platform);
    if (entry == nullptr) {
      return {};
    }
    for (const auto& old : entry->artifacts) {
      if (old.file != artifact.file) {
        continue;
      }
      if (old.sha256 != artifact.sha256) {
        return mismatch(artifact.file, artifact.sha256, old.sha256, "the lock has it with");
      }
      if (is_ranged && !artifact.record) {
        artifact.record = old.record;
      }
    }
    return {};
  }

  void find_unfinished() {
    for (std::size_t i = 0; i < result_.lock.platforms.size(); ++i) {
      const auto& artifacts = result_.lock.platforms[i].artifacts;
      for (std::size_t j = 0; j < artifacts.size(); ++j) {
        const auto wheel = ranged_.find(artifacts[j].file);
        if (wheel != ranged_.end() && !artifacts[j].record) {
          result_.needs_record.push_back({.platform = i, .artifact = j, .wheel = *wheel->second});
        }
      }
    }
  }

  void add_choices() {
    std::set<std::pair<std::string, std::string>> seen;
    result_.choices.push_back({.component = "CUDA",
                               .version = chosen_.toolkit.release.text(),
                               .source = all_sources(),
                               .reason = release_reason()});
    for (const auto& platform : result_.lock.platforms) {
      for (const auto& artifact : platform.artifacts) {
        if (seen.insert({artifact.component, artifact.version.text()}).second) {
          result_.choices.push_back({.component = artifact.component,
                                     .version = artifact.version.text(),
                                     .source = artifact.source,
                                     .reason = reason_of(artifact)});
        }
      }
    }
  }

  std::string all_sources() const {
    std::set<std::string> sources;
    for (const auto& platform : result_.lock.platforms) {
      for (const auto& artifact : platform.artifacts) {
        sources.insert(artifact.source);
      }
    }
    return join({sources.begin(), sources.end()}, " and ");
  }

  std::string reason_of(const lock::Artifact& artifact) const {
    const auto how = whys_.find(artifact.file);
    std::string text = how == whys_.end() ? std::string() : how->second;
    if (artifact.component == k_nvcc && chosen_.ptxas != nullptr &&
        lock::takes_ptxas(artifact.take)) {
      text =
          fmt::format("ptxas and its nvlink from CUDA {}: the manifest asks for ptxas {}",
                      release_label(chosen_.ptxas->version).text(), inputs_.manifest.ptxas->text);
    } else if (artifact.component == k_cccl && chosen_.cccl != nullptr) {
      text =
          fmt::format("CCCL {} from CUDA {}: the manifest asks for {}", chosen_.toolkit.cccl.text(),
                      release_label(chosen_.cccl->version).text(), inputs_.manifest.cccl->text);
    } else if (!artifact.take.empty()) {
      const bool is_share = artifact.source == k_redist && artifact.component == k_nvcc;
      text = fmt::format("{}, {}", is_share ? "a share of it" : "headers only", text);
    }
    return fmt::format("{} ({})", text, artifact.why);
  }

  std::string release_reason() const {
    const auto& manifest = inputs_.manifest;
    const auto& release = chosen_.toolkit.release;
    if (inputs_.earlier != nullptr && inputs_.earlier->release == release) {
      return "the lock holds it and every rule still allows it";
    }
    if (manifest.nvcc) {
      return fmt::format(
          "the manifest asks for nvcc {}; this is its newest release that every rule allows",
          manifest.nvcc->text);
    }
    if (manifest.pytorch_cuda && release.same_minor(manifest.pytorch_cuda->value)) {
      return fmt::format("PyTorch's own CUDA ({}) serves every GPU, consumer and driver",
                         manifest.pytorch_cuda->text);
    }
    if (manifest.pytorch_cuda) {
      return fmt::format(
          "the lowest CUDA after PyTorch's own ({}) that serves every GPU, consumer and driver",
          manifest.pytorch_cuda->text);
    }
    return "the newest release that every rule allows";
  }

  const Inputs& inputs_;
  const Candidate& chosen_;
  const knowledge::Component& nvcc_;
  Resolution result_;
  std::map<std::string, const catalog::WheelFile*> ranged_; ///< by file
  std::map<std::string, std::string> whys_;                 ///< file -> how it was picked
};

} // namespace

Result<Resolution> compose(const Inputs& inputs, const Candidate& chosen) {
  return Composer(inputs, chosen).run();
}

} // namespace cukit::resolve

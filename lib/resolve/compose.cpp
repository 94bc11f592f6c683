#include "resolve/compose.hpp"

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
    lock.observed_gpus = inputs_.manifest.native_gpus;
    if (lock.observed_gpus && inputs_.earlier != nullptr && lock.gpus.empty()) {
      lock.gpus = inputs_.earlier->gpus;
    }
    CUKIT_TRY(pin(*chosen_.release));
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
    const bool is_wished = inputs_.manifest.driver.has_value() && oldest > floor;
    return is_wished ? oldest.text() : floor.text();
  }

  /// The choice rests on this metapackage.
  Result<void> pin(const catalog::MetaRelease& release) {
    CUKIT_TRY_ASSIGN(const auto digest, digest_of(release.file));
    result_.lock.pins[release.file.file] = digest;
    return {};
  }

  Result<Sha256> digest_of(const catalog::WheelFile& wheel) const {
    if (!wheel.sha256) {
      return tl::unexpected<Error>(
          Error{.code = ErrorCode::source,
                .message = fmt::format("the index states no sha256 for {}", wheel.file),
                .hint = "a lock needs one; ask another index (--index-url)"});
    }
    const auto known = inputs_.facts.pins->find(wheel.file);
    if (known != inputs_.facts.pins->end() && known->second != *wheel.sha256) {
      return mismatch(wheel, known->second, "this cukit knows it with");
    }
    return *wheel.sha256;
  }
  static tl::unexpected<Error> mismatch(const catalog::WheelFile& wheel, const Sha256& known,
                                        std::string_view who) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::integrity,
              .message = fmt::format("{} has {} on the index, but {} {}", wheel.file,
                                     wheel.sha256->text(), who, known.text()),
              .hint = "files of an index never change: this one is damaged or was replaced; ask "
                      "another index (--index-url)"});
  }

  Result<void> add_platform(lock::PlatformLock& platform) {
    for (const auto& part : inputs_.problem.parts) {
      const bool is_cccl = part.component->name == k_cccl && chosen_.cccl != nullptr;
      const auto& pick = inputs_.offer.pick(*part.component, platform.platform,
                                            is_cccl ? *chosen_.cccl : *chosen_.release);
      if (pick.wheel == nullptr) {
        continue; // the rules allowed it to be absent here; notes() tells
      }
      lock::Artifact artifact;
      artifact.why = part.why;
      artifact.root = part.component->root;
      if (!part.whole) {
        artifact.take = part.component->headers;
      }
      fill_paths(artifact, *part.component);
      const bool gives_up_ptxas = part.component == &nvcc_ && chosen_.ptxas != nullptr;
      if (gives_up_ptxas) {
        const auto& members = ptxas_members();
        artifact.leave.insert(artifact.leave.end(), members.begin(), members.end());
      }
      CUKIT_TRY(add(platform, std::move(artifact), *part.component, pick, !part.whole));
      if (gives_up_ptxas) {
        CUKIT_TRY(add_ptxas(platform));
      }
    }
    return {};
  }

  static void fill_paths(lock::Artifact& artifact, const knowledge::Component& component) {
    const auto& take = artifact.take;
    std::copy_if(component.leave.begin(), component.leave.end(), std::back_inserter(artifact.leave),
                 [&](const std::string& path) { return is_taken(path, take); });
    std::copy_if(component.move.begin(), component.move.end(), std::back_inserter(artifact.move),
                 [&](const auto& move) { return is_taken(move.first, take); });
    if (take.empty()) { // where a link leads is not among single members
      artifact.link = component.link;
    }
  }

  const std::vector<std::string>& ptxas_members() const {
    const auto part = nvcc_.parts.find(std::string(k_ptxas_part));
    CUKIT_ENSURE(part != nvcc_.parts.end(), "checked before the search");
    return part->second;
  }

  Result<void> add_ptxas(lock::PlatformLock& platform) {
    const auto& pick = inputs_.offer.pick(nvcc_, platform.platform, *chosen_.ptxas);
    CUKIT_ENSURE(pick.wheel != nullptr, "the availability of the part is a rule");
    lock::Artifact artifact;
    artifact.why = "manifest toolkit.ptxas";
    artifact.root = nvcc_.root;
    artifact.take = ptxas_members();
    return add(platform, std::move(artifact), nvcc_, pick, false);
  }

  Result<void> add(lock::PlatformLock& platform, lock::Artifact artifact,
                   const knowledge::Component& component, const Pick& pick, bool is_ranged) {
    const auto& wheel = *pick.wheel;
    artifact.component = component.name;
    artifact.version = wheel.version;
    artifact.source = "wheels";
    artifact.file = wheel.file;
    artifact.size = wheel.size;
    artifact.licence = component.licence;
    CUKIT_TRY_ASSIGN(artifact.sha256, digest_of(wheel));
    if (wheel.size == 0) {
      return fail(ErrorCode::source, "the index states no size for {}", wheel.file);
    }
    artifact.trust_first_lock = !inputs_.facts.pins->contains(wheel.file);
    CUKIT_TRY(compare_with_earlier(platform.platform, wheel, artifact, is_ranged));
    if (is_ranged && !artifact.record) {
      ranged_.emplace(wheel.file, &wheel);
    }
    CUKIT_TRY(pin(*pick.from));
    const auto glibc = Version::parse(wheel.glibc);
    if (glibc && (platform.glibc.empty() || *glibc > *Version::parse(platform.glibc))) {
      platform.glibc = wheel.glibc;
    }
    whys_.try_emplace(wheel.file, pick.how);
    platform.artifacts.push_back(std::move(artifact));
    return {};
  }

  /// The RECORD of a file that is known needs no reading; a file whose bytes were replaced since
  /// the last lock is refused.
  Result<void> compare_with_earlier(Platform platform, const catalog::WheelFile& wheel,
                                    lock::Artifact& artifact, bool is_ranged) const {
    const auto known = inputs_.facts.pins->find("RECORD of " + wheel.file);
    if (is_ranged && known != inputs_.facts.pins->end()) {
      artifact.record = known->second;
    }
    const auto* entry = inputs_.earlier == nullptr ? nullptr : inputs_.earlier->find(platform);
    if (entry == nullptr) {
      return {};
    }
    for (const auto& old : entry->artifacts) {
      if (old.file != wheel.file) {
        continue;
      }
      if (old.sha256 != artifact.sha256) {
        return mismatch(wheel, old.sha256, "the lock has it with");
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
                               .source = "wheels",
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

  std::string reason_of(const lock::Artifact& artifact) const {
    const auto how = whys_.find(artifact.file);
    std::string text = how == whys_.end() ? std::string() : how->second;
    if (artifact.component == k_nvcc && !artifact.take.empty()) {
      text =
          fmt::format("ptxas and its nvlink from CUDA {}: the manifest asks for ptxas {}",
                      release_label(chosen_.ptxas->version).text(), inputs_.manifest.ptxas->text);
    } else if (artifact.component == k_cccl && chosen_.cccl != nullptr) {
      text =
          fmt::format("CCCL {} from CUDA {}: the manifest asks for {}", chosen_.toolkit.cccl.text(),
                      release_label(chosen_.cccl->version).text(), inputs_.manifest.cccl->text);
    } else if (!artifact.take.empty()) {
      text = fmt::format("headers only, {}", text);
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

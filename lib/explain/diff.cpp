#include "explain/diff.hpp"

#include "base/strings.hpp"
#include "resolve/facts.hpp"
#include "resolve/requirements.hpp"
#include "resolve/rules.hpp"

#include <algorithm>
#include <set>

namespace cukit::explain {

namespace rules = resolve::rules;
using resolve::Facts;

namespace {

using Kind = ComponentChange::Kind;
using Components = std::vector<knowledge::Component>;

std::string version_text(const lock::Artifact& artifact, const Components& components) {
  return artifact.version.text() + (is_headers_only(artifact, components) ? " (headers only)" : "");
}

/// Artifacts of one platform by what they are called.
std::map<std::string, const lock::Artifact*> by_name(const lock::PlatformLock& platform,
                                                     const Components& components) {
  std::map<std::string, const lock::Artifact*> result;
  for (const auto& artifact : platform.artifacts) {
    result.emplace(part_name(artifact, components), &artifact);
  }
  return result;
}

std::optional<Kind> kind_of(const lock::Artifact& before, const lock::Artifact& after) {
  if (before.version.text() != after.version.text()) {
    return Kind::version;
  }
  if (before.sha256 != after.sha256) {
    return Kind::bytes;
  }
  const bool same_files = before.take == after.take && before.leave == after.leave &&
                          before.move == after.move && before.link == after.link &&
                          before.root == after.root && before.require == after.require;
  return same_files ? std::nullopt : std::optional(Kind::files);
}

class Comparison {
public:
  Comparison(const lock::Lock& from, const lock::Lock& to, const Components& components)
      : from_(from), to_(to), components_(components) {}

  void run(Diff& diff) {
    for (const auto& platform : from_.platforms) {
      if (to_.find(platform.platform) == nullptr) {
        diff.platforms_removed.push_back(platform.platform);
      }
    }
    for (const auto& platform : to_.platforms) {
      const auto* before = from_.find(platform.platform);
      if (before == nullptr) {
        diff.platforms_added.push_back(platform.platform);
      } else {
        compare(*before, platform);
      }
      add_download(before, platform, diff);
    }
    diff.components = std::move(changes_);
    std::stable_sort(diff.components.begin(), diff.components.end(),
                     [](const auto& a, const auto& b) { return a.component < b.component; });
  }

private:
  void compare(const lock::PlatformLock& before, const lock::PlatformLock& after) {
    const auto old_ones = by_name(before, components_);
    const auto new_ones = by_name(after, components_);
    for (const auto& [name, artifact] : old_ones) {
      if (!new_ones.contains(name)) {
        note(after.platform, {.kind = Kind::removed,
                              .component = name,
                              .from = version_text(*artifact, components_),
                              .to = {},
                              .why = artifact->why,
                              .platforms = {}});
      }
    }
    for (const auto& [name, artifact] : new_ones) {
      const auto old = old_ones.find(name);
      const auto kind =
          old == old_ones.end() ? std::optional(Kind::added) : kind_of(*old->second, *artifact);
      if (!kind) {
        continue;
      }
      ComponentChange change{.kind = *kind,
                             .component = name,
                             .from = {},
                             .to = version_text(*artifact, components_),
                             .why = artifact->why,
                             .platforms = {}};
      if (*kind != Kind::added) {
        change.from = version_text(*old->second, components_);
        change.is_upgrade = old->second->version < artifact->version;
        name_sources(*old->second, *artifact, change);
      }
      note(after.platform, std::move(change));
    }
  }

  static void name_sources(const lock::Artifact& before, const lock::Artifact& after,
                           ComponentChange& change) {
    if (before.source != after.source) {
      change.from += " from " + before.source;
      change.to += " from " + after.source;
    }
  }

  /// The same change on another platform is one line.
  void note(Platform platform, ComponentChange change) {
    const auto same = std::find_if(changes_.begin(), changes_.end(), [&](const auto& other) {
      return other.kind == change.kind && other.component == change.component &&
             other.from == change.from && other.to == change.to;
    });
    if (same != changes_.end()) {
      same->platforms.push_back(platform);
      return;
    }
    change.platforms = {platform};
    changes_.push_back(std::move(change));
  }

  static void add_download(const lock::PlatformLock* before, const lock::PlatformLock& after,
                           Diff& diff) {
    std::set<std::string> known;
    for (const auto& artifact :
         before == nullptr ? std::vector<lock::Artifact>() : before->artifacts) {
      known.insert(lock::store_key(artifact));
    }
    Download download{.platform = after.platform};
    for (const auto& artifact : after.artifacts) {
      if (known.contains(lock::store_key(artifact))) {
        continue;
      }
      if (artifact.record) {
        ++download.ranged;
      } else {
        ++download.files;
        download.bytes += artifact.size;
      }
    }
    if (download.files + download.ranged > 0) {
      diff.downloads.push_back(download);
    }
  }

  const lock::Lock& from_;
  const lock::Lock& to_;
  const Components& components_;
  std::vector<ComponentChange> changes_;
};

/// Everything that nvcc of a release compiles for, in its plain forms.
std::vector<GpuTarget> served(const Facts& facts, const Version& cuda) {
  std::vector<GpuTarget> result;
  for (const auto& architecture : *facts.architectures) {
    if (!rules::gpu_range(architecture, architecture.target, cuda)) {
      result.push_back(architecture.target);
    }
  }
  return result;
}

std::vector<GpuTarget> minus(const std::vector<GpuTarget>& a, const std::vector<GpuTarget>& b) {
  std::vector<GpuTarget> result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

class Effects {
public:
  Effects(const lock::Lock& from, const lock::Lock& to, const Facts& facts,
          std::vector<Effect>& list)
      : from_(from), to_(to), facts_(facts), list_(list),
        before_(knowledge::find_release(*facts.releases, from.release)),
        after_(knowledge::find_release(*facts.releases, to.release)) {}

  void run() {
    const bool is_known = before_ != nullptr && after_ != nullptr;
    if (!is_known) {
      const auto& unknown = before_ == nullptr ? from_.release : to_.release;
      add("CUDA", from_.release.text(), to_.release.text(),
          fmt::format("this cukit does not know CUDA {}, so what it changes cannot be told",
                      unknown.major_minor()),
          "");
    } else if (before_ != after_) {
      ptx();
      driver_floor();
      gpus_served();
      host_compilers();
      c_library();
    }
    ptxas();
    cccl();
    requirements();
  }

private:
  void add(std::string subject, std::string from, std::string to, std::string text,
           std::string_view source) {
    list_.push_back({.subject = std::move(subject),
                     .from = std::move(from),
                     .to = std::move(to),
                     .text = std::move(text),
                     .source = std::string(source)});
  }

  void ptx() {
    if (before_->ptx == after_->ptx) {
      return;
    }
    add("PTX ISA", before_->ptx.text(), after_->ptx.text(),
        fmt::format("what is compiled to PTX alone is taken by drivers of branch {} or newer (was "
                    "{}); machine code for each GPU is not concerned",
                    after_->driver_branch, before_->driver_branch),
        rules::k_ptx_of_driver.source);
  }

  void driver_floor() {
    if (before_->driver_floor != after_->driver_floor) {
      add("least driver", std::to_string(before_->driver_floor),
          std::to_string(after_->driver_floor), "programs start on this branch or a newer one",
          rules::k_driver_floor.source);
    }
  }

  void gpus_served() {
    const auto old_ones = served(facts_, from_.release);
    const auto new_ones = served(facts_, to_.release);
    if (const auto gained = minus(new_ones, old_ones); !gained.empty()) {
      add("GPUs gained", "", resolve::targets_text(gained),
          fmt::format("nvcc {} compiles for them", to_.release.major_minor()),
          rules::k_gpu_range.source);
    }
    if (const auto lost = minus(old_ones, new_ones); !lost.empty()) {
      add("GPUs lost", resolve::targets_text(lost), "",
          fmt::format("nvcc {} no longer compiles for them", to_.release.major_minor()),
          rules::k_gpu_range.source);
    }
  }

  void host_compilers() {
    if (before_->gcc_max != after_->gcc_max) {
      add("gcc up to", std::to_string(before_->gcc_max), std::to_string(after_->gcc_max),
          "newer ones are refused by crt/host_config.h", rules::k_host_compiler.source);
    }
    if (before_->clang_max != after_->clang_max) {
      add("clang up to", std::to_string(before_->clang_max), std::to_string(after_->clang_max),
          "newer ones are refused by crt/host_config.h", rules::k_host_compiler.source);
    }
  }

  /// The C libraries at which the headers of some release stop compiling.
  void c_library() {
    const auto& clashes = facts_.limits->c_library;
    for (auto clash = clashes.rbegin(); clash != clashes.rend(); ++clash) { // the oldest first
      const auto text = clash->glibc.text();
      const auto old_verdict = rules::c_library(*facts_.limits, from_.release, clash->glibc);
      const auto new_verdict = rules::c_library(*facts_.limits, to_.release, clash->glibc);
      if (old_verdict.has_value() != new_verdict.has_value()) {
        add(fmt::format("glibc {}", text), old_verdict ? "refused" : "works",
            new_verdict ? "refused" : "works", (old_verdict ? old_verdict : new_verdict)->reason,
            rules::k_c_library.source);
      }
    }
  }

  std::optional<Version> version_of(const lock::Lock& lock, std::string_view name) const {
    for (const auto& platform : lock.platforms) {
      const auto artifacts = by_name(platform, *facts_.components);
      if (const auto found = artifacts.find(std::string(name)); found != artifacts.end()) {
        return found->second->version;
      }
    }
    return std::nullopt;
  }

  /// A newer ptxas that stands in for nvcc's own.
  void ptxas() {
    const auto part = fmt::format("{} of {}", resolve::k_ptxas_part, resolve::k_nvcc);
    const auto effective = [&](const lock::Lock& lock) {
      const auto own = version_of(lock, part);
      return own ? own : version_of(lock, resolve::k_nvcc);
    };
    const auto old_one = effective(from_);
    const auto new_one = effective(to_);
    const bool is_part = version_of(from_, part) || version_of(to_, part);
    if (is_part && old_one && new_one && *old_one != *new_one) {
      add("ptxas and nvlink", old_one->text(), new_one->text(),
          "they make the machine code; nvlink of this version is needed to link what this ptxas "
          "writes",
          rules::k_ptxas_pair.source);
    }
  }

  void cccl() {
    const auto number = [&](const lock::Lock& lock,
                            const knowledge::Release* release) -> std::string {
      const auto package = version_of(lock, resolve::k_cccl);
      if (!package) {
        return {};
      }
      const auto own = rules::cccl_of_package(*package, *facts_.releases);
      return own == Version() && release != nullptr ? release->cccl.text() : own.text();
    };
    const auto old_one = number(from_, before_);
    const auto new_one = number(to_, after_);
    if (old_one != new_one && !old_one.empty() && !new_one.empty()) {
      add("CCCL", old_one, new_one,
          "Thrust, CUB and libcu++ of every translation unit; objects that exchange their types "
          "must be built anew",
          rules::k_cccl.source);
    }
  }

  void requirements() {
    if (from_.gpus != to_.gpus) {
      add("the lock is for", resolve::targets_text(from_.gpus), resolve::targets_text(to_.gpus),
          "the GPUs that validation compiles for and that --locked expects", "");
    }
    if (from_.driver != to_.driver) {
      add("driver asked for", from_.driver, to_.driver, "a machine below it is refused by --locked",
          "");
    }
    for (const auto& platform : to_.platforms) {
      const auto* old_one = from_.find(platform.platform);
      if (old_one != nullptr && old_one->glibc != platform.glibc) {
        add(fmt::format("least glibc on {}", platform.platform.text()), old_one->glibc,
            platform.glibc, "the programs in the tree start on it or a newer one", "");
      }
    }
  }

  const lock::Lock& from_;
  const lock::Lock& to_;
  const Facts& facts_;
  std::vector<Effect>& list_;
  const knowledge::Release* before_;
  const knowledge::Release* after_;
};

} // namespace

bool is_headers_only(const lock::Artifact& artifact,
                     const std::vector<knowledge::Component>& components) {
  const auto* component = knowledge::find_component(components, artifact.component);
  if (component == nullptr || artifact.take.empty()) {
    return false;
  }
  const auto& headers =
      artifact.source == "redist" ? component->redist.headers : component->headers;
  return artifact.take == headers;
}

std::string part_name(const lock::Artifact& artifact,
                      const std::vector<knowledge::Component>& components) {
  const auto* component = knowledge::find_component(components, artifact.component);
  if (component != nullptr && !artifact.take.empty()) {
    for (const auto& [part, members] : component->parts) {
      auto sorted = members;
      std::sort(sorted.begin(), sorted.end());
      if (sorted == artifact.take) {
        return fmt::format("{} of {}", part, component->name);
      }
    }
    for (const auto& inner : components) {
      const auto& older = inner.redist.older;
      if (artifact.source == "redist" && older && older->within == artifact.component &&
          std::is_permutation(artifact.take.begin(), artifact.take.end(), older->files.begin(),
                              older->files.end())) {
        return fmt::format("{} of {}", inner.name, component->name);
      }
    }
  }
  return artifact.component;
}

Result<Diff> diff(const lock::Lock& from, const lock::Lock& to,
                  const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load(knowledge));
  Diff result{.from = from.release, .to = to.release};
  Comparison(from, to, *facts.components).run(result);
  Effects(from, to, facts, result.effects).run();
  return result;
}

} // namespace cukit::explain

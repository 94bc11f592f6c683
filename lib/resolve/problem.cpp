#include "resolve/problem.hpp"

#include "base/strings.hpp"
#include "resolve/offer.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

using rules::Verdict;
using rules::Violation;

constexpr std::int64_t k_first_build = 20;

Verdict broken(const rules::Rule& rule, std::string reason) {
  return Violation{.rule = &rule, .reason = std::move(reason)};
}

class Builder {
public:
  Builder(const manifest::Manifest& manifest, const Facts& facts, const MachineFacts& machine,
          bool must_show)
      : manifest_(manifest), facts_(facts), machine_(machine), must_show_(must_show) {}

  Result<Problem> build() {
    CUKIT_TRY_ASSIGN(problem_.parts, parts(manifest_, facts_));
    problem_.platforms = platforms(manifest_);
    add_sources();
    add_platforms();
    add_components();
    add_host();
    std::vector<std::size_t> consumers;
    for (std::size_t i = 0; i < manifest_.consumers.size(); ++i) {
      const auto& wish = manifest_.consumers[i];
      consumers.push_back(demand(Topic::consumer, i, "consumers", wish.text, wish.at));
    }
    add_driver();
    CUKIT_TRY(add_gpus(consumers));
    add_parts(consumers);
    CUKIT_TRY(add_pytorch());
    add_versions();
    add_inner_rules();
    return std::move(problem_);
  }

private:
  std::size_t demand(Topic topic, std::size_t index, std::string key, std::string value,
                     text::Position at) {
    problem_.demands.push_back({.topic = topic,
                                .index = index,
                                .key = std::move(key),
                                .value = std::move(value),
                                .at = at});
    return problem_.demands.size() - 1;
  }
  void constrain(std::vector<std::size_t> demands, std::function<Verdict(const Toolkit&)> check) {
    problem_.constraints.push_back({.demands = std::move(demands), .check = std::move(check)});
  }

  void add_sources() {
    if (manifest_.sources.empty()) {
      return;
    }
    std::vector<std::string> named;
    for (const auto& wish : manifest_.sources) {
      named.push_back(wish.value);
    }
    const auto index =
        demand(Topic::source, 0, "sources", join(named, ", "), manifest_.sources.front().at);
    constrain({index}, [named, limits = facts_.limits](const Toolkit& toolkit) {
      return rules::sources(*limits, named, toolkit.source, toolkit.release);
    });
  }

  void add_platforms() {
    for (std::size_t i = 0; i < manifest_.platforms.size(); ++i) {
      const auto& wish = manifest_.platforms[i];
      platform_demands_[wish.value] = {demand(Topic::platform, i, "platforms", wish.text, wish.at)};
    }
    for (const auto platform : problem_.platforms) {
      constrain(demands_of(platform), [platform, limits = facts_.limits](const Toolkit& toolkit) {
        return rules::platform(*limits, platform, toolkit.release);
      });
    }
  }
  /// Nothing where the platform is simply this machine's: it cannot be dropped.
  std::vector<std::size_t> demands_of(Platform platform) const {
    const auto found = platform_demands_.find(platform);
    return found == platform_demands_.end() ? std::vector<std::size_t>() : found->second;
  }

  void add_components() {
    for (std::size_t i = 0; i < manifest_.components.size(); ++i) {
      const auto& wish = manifest_.components[i];
      component_demands_.push_back(demand(Topic::component, i, "components", wish.text, wish.at));
    }
  }

  void add_host() {
    if (!manifest_.host_compiler) {
      return;
    }
    const auto& wish = *manifest_.host_compiler;
    const auto index = demand(Topic::host, 0, "host.compiler", wish.text, wish.at);
    if (machine_.compiler) {
      constrain({index}, [compiler = *machine_.compiler](const Toolkit& toolkit) {
        return rules::host_compiler(*toolkit.facts, compiler);
      });
    }
    if (machine_.glibc) {
      constrain({index}, [glibc = *machine_.glibc, limits = facts_.limits](const Toolkit& toolkit) {
        return rules::c_library(*limits, toolkit.release, glibc);
      });
    }
  }

  void add_driver() {
    if (manifest_.native_driver) {
      const auto index =
          demand(Topic::native_driver, 0, "driver", "native", manifest_.native_driver_at);
      if (machine_.driver) {
        problem_.oldest_driver = machine_.driver->version;
        constrain_driver(index);
      } else if (must_show_) {
        constrain({index}, [](const Toolkit&) {
          return broken(rules::k_machine, "this machine shows no NVIDIA driver");
        });
      }
    }
    if (manifest_.driver) {
      const auto index =
          demand(Topic::driver, 0, "driver", manifest_.driver->text, manifest_.driver->at);
      problem_.oldest_driver = rules::oldest_driver(manifest_.driver->value);
      constrain_driver(index);
    }
  }
  void constrain_driver(std::size_t index) {
    constrain({index}, [oldest = problem_.oldest_driver](const Toolkit& toolkit) {
      return rules::driver_floor(*toolkit.facts, oldest);
    });
  }

  Result<void> add_gpus(const std::vector<std::size_t>& consumers) {
    if (manifest_.native_gpus) {
      const auto index = demand(Topic::native_gpus, 0, "gpus", "native", manifest_.native_gpus_at);
      if (machine_.gpus.empty() && must_show_) {
        constrain({index}, [](const Toolkit&) {
          return broken(rules::k_machine, "this machine shows no NVIDIA GPU");
        });
      }
      for (const auto& gpu : machine_.gpus) {
        CUKIT_TRY(add_gpu(gpu.target, index, consumers));
      }
    }
    for (std::size_t i = 0; i < manifest_.gpus.size(); ++i) {
      const auto& wish = manifest_.gpus[i];
      CUKIT_TRY(add_gpu(wish.value, demand(Topic::gpu, i, "gpus", wish.text, wish.at), consumers));
    }
    auto& gpus = problem_.gpus;
    std::sort(gpus.begin(), gpus.end());
    gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
    return {};
  }
  Result<void> add_gpu(const GpuTarget& target, std::size_t index,
                       const std::vector<std::size_t>& consumers) {
    problem_.gpus.push_back(target);
    const auto* architecture = knowledge::find_architecture(*facts_.architectures, target.plain());
    if (architecture == nullptr) {
      return fail(ErrorCode::usage, "the recipes know no GPU {}", target.sm());
    }
    gpu_demands_.emplace_back(target, index);
    constrain({index}, [architecture, target](const Toolkit& toolkit) {
      return rules::gpu_range(*architecture, target, toolkit.release);
    });
    for (std::size_t i = 0; i < consumers.size(); ++i) {
      const auto* consumer = facts_.consumer(manifest_.consumers[i].value);
      if (!consumer->minimum.empty()) {
        constrain({consumers[i], index}, [consumer, target](const Toolkit& toolkit) {
          return rules::consumer_minimum(*consumer, target, toolkit.release);
        });
      }
    }
    return {};
  }

  /// Every component on every platform, once per wish that brings it.
  void add_parts(const std::vector<std::size_t>& consumers) {
    for (const auto& part : problem_.parts) {
      for (const auto platform : problem_.platforms) {
        for (const auto& bringer : part.bringers) {
          auto demands = demands_of(platform);
          if (bringer.kind == Bringer::Kind::consumer) {
            demands.push_back(consumers[bringer.index]);
          } else if (bringer.kind == Bringer::Kind::component ||
                     bringer.kind == Bringer::Kind::group) {
            demands.push_back(component_demands_[bringer.index]);
          }
          constrain(std::move(demands), [component = part.component, platform,
                                         is_named = part.named](const Toolkit& toolkit) {
            const auto place = toolkit.place(*component, platform);
            const bool is_missing = !place.version && (is_named || !place.is_not_made);
            return is_missing ? broken(rules::k_availability, place.why_not) : Verdict();
          });
        }
      }
    }
  }

  Result<void> add_pytorch() {
    if (!manifest_.pytorch_cuda) {
      return {};
    }
    const auto& wish = *manifest_.pytorch_cuda;
    const auto index = demand(Topic::pytorch, 0, "pytorch", wish.text, wish.at);
    constrain({index}, [cuda = wish.value](const Toolkit& toolkit) {
      return rules::pytorch_major(cuda, toolkit.release);
    });
    if (manifest_.pytorch_build) {
      CUKIT_TRY_ASSIGN(const auto* torches, facts_.knowledge->torch_releases());
      add_torch_build(index, *torches, *manifest_.pytorch_build);
    }
    return {};
  }
  /// What holds or does not, whatever the toolkit: that build exists and has code for each GPU.
  void add_torch_build(std::size_t index, const fit::TorchReleases& torches,
                       const fit::TorchName& torch) {
    if (auto verdict = rules::pytorch_build(torches, torch)) {
      constrain({index}, [verdict](const Toolkit&) { return verdict; });
      return;
    }
    for (const auto& [target, demand_index] : gpu_demands_) {
      // where the manifest names no platform, Thor's tree may well be made on an x86 machine
      const bool is_open = manifest_.platforms.empty();
      const bool is_served =
          is_open && fit::torch_has_code(torches, torch, target, Platform::Kind::linux_sbsa,
                                         *facts_.architectures) == fit::Answer::yes;
      for (const auto platform : problem_.platforms) {
        auto verdict = rules::pytorch_code(torches, torch, target, platform, *facts_.architectures);
        if (verdict && !is_served) {
          constrain({index, demand_index}, [verdict](const Toolkit&) { return verdict; });
        }
      }
    }
  }

  void add_versions() {
    if (const auto& wish = manifest_.cccl) {
      constrain({demand(Topic::cccl, 0, "toolkit.cccl", wish->text, wish->at)},
                [range = wish->value](const Toolkit& toolkit) {
                  const bool holds = matches_cccl(range, toolkit.cccl, toolkit.cccl_package);
                  return holds ? Verdict()
                               : broken(rules::k_cccl,
                                        fmt::format("CUDA {} goes with CCCL {} or newer, and {} "
                                                    "does not allow what there is",
                                                    toolkit.release.text(),
                                                    toolkit.facts->cccl.text(), range.text()));
                });
    }
    if (const auto& wish = manifest_.headers) {
      constrain(
          {demand(Topic::headers, 0, "toolkit.headers", wish->text, wish->at)},
          [range = wish->value](const Toolkit& toolkit) {
            return matches(range, toolkit.release, toolkit.cudart)
                       ? Verdict()
                       : broken(
                             rules::k_runtime_minor,
                             fmt::format(
                                 "the headers have nvcc's minor, and nvcc {} goes with headers {}",
                                 toolkit.nvcc.text(), toolkit.cudart.text()));
          });
    }
    if (const auto& wish = manifest_.ptxas) {
      constrain(
          {demand(Topic::ptxas, 0, "toolkit.ptxas", wish->text, wish->at)},
          [range = wish->value](const Toolkit& toolkit) { return ptxas_wish(range, toolkit); });
    }
    if (const auto& wish = manifest_.nvcc) {
      constrain(
          {demand(Topic::nvcc, 0, "toolkit.nvcc", wish->text, wish->at)},
          [range = wish->value](const Toolkit& toolkit) {
            return matches(range, toolkit.release, toolkit.nvcc)
                       ? Verdict()
                       : broken(rules::k_version_wish,
                                fmt::format("the others need another nvcc, such as {} of CUDA {}",
                                            toolkit.nvcc.text(), toolkit.release.text()));
          });
    }
  }
  static Verdict ptxas_wish(const VersionRange& range, const Toolkit& toolkit) {
    if (matches(range, toolkit.ptxas_release, toolkit.ptxas)) {
      return {};
    }
    return broken(rules::k_ptxas_pair,
                  fmt::format("nvcc {} takes its own ptxas or a newer one of its major, and {} "
                              "allows none that is offered; an older "
                              "one refuses its PTX {}",
                              toolkit.nvcc.text(), range.text(), toolkit.facts->ptx.text()));
  }

  /// What holds between the parts of a toolkit whatever the manifest says.
  void add_inner_rules() {
    constrain({}, [](const Toolkit& toolkit) {
      return rules::ptxas_pair(toolkit.nvcc, toolkit.ptxas, toolkit.ptxas);
    });
    constrain({}, [](const Toolkit& toolkit) {
      return rules::device_runtime(toolkit.cudart, toolkit.ptxas);
    });
    constrain(
        {}, [](const Toolkit& toolkit) { return rules::cccl(toolkit.facts->cccl, toolkit.cccl); });
    for (const auto& part : problem_.parts) {
      for (const auto platform : problem_.platforms) {
        constrain({}, [component = part.component, platform](const Toolkit& toolkit) -> Verdict {
          const auto place = toolkit.place(*component, platform);
          return place.version ? inner_rule(*component, *place.version, toolkit) : Verdict();
        });
      }
    }
  }
  static Verdict inner_rule(const knowledge::Component& component, const Version& version,
                            const Toolkit& toolkit) {
    if (component.follows == "core") {
      return rules::compiler_core(toolkit.nvcc, component.name, version);
    }
    if (component.follows == "binutils") {
      return rules::binary_utilities(toolkit.nvcc, component.name, version);
    }
    if (component.name == k_nvjitlink) {
      return rules::jit_linker(toolkit.nvcc, version);
    }
    return component.has_minor_of_nvcc ? rules::runtime_minor(toolkit.nvcc, component.name, version)
                                       : Verdict();
  }

  const manifest::Manifest& manifest_;
  const Facts& facts_;
  const MachineFacts& machine_;
  bool must_show_;
  Problem problem_;
  std::map<Platform, std::vector<std::size_t>> platform_demands_;
  std::vector<std::size_t> component_demands_;
  std::vector<std::pair<GpuTarget, std::size_t>> gpu_demands_;
};

} // namespace

std::optional<std::size_t> Problem::find(Topic topic, std::size_t index) const {
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (demands[i].topic == topic && demands[i].index == index) {
      return i;
    }
  }
  return std::nullopt;
}

Result<Problem> make_problem(const manifest::Manifest& manifest, const Facts& facts,
                             const MachineFacts& machine, bool must_show) {
  return Builder(manifest, facts, machine, must_show).build();
}

namespace {

/// The versions that a range's clauses name.
std::vector<Version> named_versions(const VersionRange& range) {
  std::vector<Version> result;
  const auto text = range.text();
  for (const auto clause : split(text, ',')) {
    auto number = clause.substr(std::min(clause.find_first_of("0123456789"), clause.size()));
    if (number.ends_with(".*")) {
      number.remove_suffix(2);
    }
    if (auto version = Version::parse(number)) {
      result.push_back(*std::move(version));
    }
  }
  return result;
}

} // namespace

bool speaks_of_builds(const VersionRange& range) {
  const auto named = named_versions(range);
  return std::any_of(named.begin(), named.end(),
                     [](const Version& version) { return version.part(2) >= k_first_build; });
}

bool matches_cccl(const VersionRange& range, const Version& cccl, const Version& package) {
  constexpr int k_first_package_major = 10; // packages are numbered like CUDA, CCCL itself is at 3
  const auto named = named_versions(range);
  const bool is_of_package = std::any_of(named.begin(), named.end(), [](const Version& version) {
    return version.major() >= k_first_package_major;
  });
  return range.contains(is_of_package ? package : cccl);
}

bool matches(const VersionRange& range, const std::optional<Version>& release,
             const Version& build) {
  if (speaks_of_builds(range)) {
    return range.contains(build);
  }
  // A lock keeps the build of a newer ptxas, not its release; the wish was checked when the lock
  // was made.
  return !release || range.contains(*release);
}

} // namespace cukit::resolve

#include "fit/torch.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <cstdlib>

namespace cukit::fit {

namespace {

const std::optional<knowledge::CodeFor>& code_of(const knowledge::TorchBuild& build,
                                                 Platform platform) {
  return platform == Platform(Platform::Kind::linux_x86_64) ? build.code : build.code_arm;
}

Answer has_code(const knowledge::TorchBuild& build, const GpuTarget& gpu, Platform platform,
                const std::vector<knowledge::Architecture>& architectures) {
  const auto& code = code_of(build, platform);
  if (!code) {
    return Answer::unknown;
  }
  return runs_on(*code, gpu, architectures) ? Answer::yes : Answer::no;
}

std::int64_t weight(const Version& version) {
  return version.major() * 10'000 + version.minor() * 100 + version.part(2);
}

/// How far a build is from the one that was wished: another CUDA is nearer than another torch.
std::int64_t distance(const TorchName& wished, const TorchName& other) {
  const auto cuda = [](const TorchName& torch) {
    const auto version = cuda_of_tag(torch.tag);
    return version ? version->major() * 20 + version->minor() : 0;
  };
  const auto apart = wished.version && other.version
                         ? std::abs(weight(*wished.version) - weight(*other.version))
                         : 0;
  // a patch release away is nearer than the CUDA of another minor, a minor release further
  return (wished.tag.empty() ? 0 : std::abs(cuda(wished) - cuda(other))) * 2 + apart;
}

} // namespace

TorchName TorchName::parse(std::string_view text) {
  TorchName name;
  const auto plus = text.find('+');
  const auto front = text.substr(0, plus);
  if (auto version = Version::parse(front)) {
    name.version = *std::move(version);
    name.tag = plus == std::string_view::npos ? "" : std::string(text.substr(plus + 1));
  } else {
    name.tag = std::string(front);
  }
  return name;
}

std::string TorchName::text() const {
  if (!version) {
    return tag;
  }
  return tag.empty() ? version->text() : version->text() + "+" + tag;
}

const knowledge::TorchRelease* find_torch(const TorchReleases& releases, const Version& version) {
  const auto found = std::find_if(releases.begin(), releases.end(), [&](const auto& release) {
    const auto& patches = release.patches;
    return release.version == version ||
           std::find(patches.begin(), patches.end(), version) != patches.end();
  });
  return found == releases.end() ? nullptr : &*found;
}

Answer torch_build_exists(const TorchReleases& releases, const TorchName& torch) {
  const auto* release = torch.version ? find_torch(releases, *torch.version) : nullptr;
  if (release == nullptr || !cuda_of_tag(torch.tag)) {
    return Answer::unknown;
  }
  return release->builds.contains(torch.tag) ? Answer::yes : Answer::no;
}

bool runs_on(const knowledge::CodeFor& code, const GpuTarget& gpu,
             const std::vector<knowledge::Architecture>& architectures) {
  const auto is_tegra = [&](const GpuTarget& target) {
    const auto* architecture = knowledge::find_architecture(architectures, target.plain());
    return architecture != nullptr && architecture->tegra;
  };
  const auto device = gpu.plain();
  if (code.ptx && code.ptx->suffix == 0 && code.ptx->number() <= device.number()) {
    return true;
  }
  return std::any_of(code.cubins.begin(), code.cubins.end(), [&](const GpuTarget& cubin) {
    const bool is_same = cubin.plain() == device;
    return cubin.runs_on(device) && (is_same || (!is_tegra(cubin) && !is_tegra(device)));
  });
}

Answer torch_has_code(const TorchReleases& releases, const TorchName& torch, const GpuTarget& gpu,
                      Platform platform,
                      const std::vector<knowledge::Architecture>& architectures) {
  if (torch.version) {
    const auto* release = find_torch(releases, *torch.version);
    if (release == nullptr || !release->builds.contains(torch.tag)) {
      return Answer::unknown;
    }
    return has_code(release->builds.at(torch.tag), gpu, platform, architectures);
  }
  auto answer = Answer::unknown;
  for (const auto& release : releases) {
    const auto build = release.builds.find(torch.tag);
    if (build == release.builds.end()) {
      continue;
    }
    const auto one = has_code(build->second, gpu, platform, architectures);
    if (one != Answer::no) {
      return one;
    }
    answer = Answer::no;
  }
  return answer;
}

std::string torch_code_text(const TorchReleases& releases, const TorchName& torch,
                            Platform platform) {
  const auto* release = torch.version ? find_torch(releases, *torch.version) : nullptr;
  if (release == nullptr || !release->builds.contains(torch.tag)) {
    return {};
  }
  const auto& code = code_of(release->builds.at(torch.tag), platform);
  if (!code) {
    return {};
  }
  std::vector<std::string> targets;
  for (const auto& target : code->cubins) {
    targets.push_back(target.sm());
  }
  return join(targets, ", ") +
         (code->ptx ? fmt::format(", and PTX of {}", code->ptx->compute()) : ", and no PTX");
}

std::vector<TorchName> nearest_torches(const TorchReleases& releases, const TorchName& torch,
                                       const std::vector<GpuTarget>& gpus,
                                       const std::vector<Platform>& platforms,
                                       const std::vector<knowledge::Architecture>& architectures) {
  std::vector<TorchName> result;
  for (const auto& release : releases) {
    for (const auto& entry : release.builds) { // clang 14 lets no lambda have a binding
      const auto& build = entry.second;
      const bool serves = std::all_of(gpus.begin(), gpus.end(), [&](const GpuTarget& gpu) {
        return std::all_of(platforms.begin(), platforms.end(), [&](Platform platform) {
          return has_code(build, gpu, platform, architectures) == Answer::yes;
        });
      });
      TorchName name{.version = torch.version ? std::optional(release.version) : std::nullopt,
                     .tag = entry.first};
      const bool is_known = std::any_of(result.begin(), result.end(), [&](const TorchName& other) {
        return other.text() == name.text();
      });
      if (serves && !is_known) {
        result.push_back(std::move(name));
      }
    }
  }
  std::stable_sort(result.begin(), result.end(), [&](const TorchName& a, const TorchName& b) {
    return distance(torch, a) < distance(torch, b);
  });
  return result;
}

std::optional<Version> cuda_of_tag(std::string_view tag) {
  const bool is_tag =
      tag.size() > 3 && tag.size() < 6 && tag.starts_with("cu") &&
      std::all_of(tag.begin() + 2, tag.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_tag) {
    return std::nullopt;
  }
  auto version = Version::parse(fmt::format("{}.{}", tag.substr(2, tag.size() - 3), tag.back()));
  return version ? std::optional(*std::move(version)) : std::nullopt;
}

} // namespace cukit::fit

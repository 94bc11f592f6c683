#include "resolve/ways_out.hpp"

#include "resolve/forward.hpp"

#include <algorithm>
#include <cstdlib>

namespace cukit::resolve {

namespace {

/// Leaving something out is further away than any other value of it.
constexpr std::int64_t k_left_out = 10'000;

struct Change {
  std::int64_t distance = k_left_out;
  std::string text;
  std::size_t candidate = 0;
  std::vector<std::string> steps = {};
};

constexpr std::size_t k_torches_offered = 3;

/// After the driver's own change, before anything that gives something up.
constexpr std::int64_t k_compat_package = 2;

/// The first version that a wish names.
Version named_version(const VersionRange& range) {
  const auto text = range.text();
  const auto begin = std::min(text.find_first_of("0123456789"), text.size());
  const auto end = text.find_first_not_of("0123456789.", begin);
  auto number = text.substr(begin, end == std::string::npos ? end : end - begin);
  while (number.ends_with('.')) {
    number.pop_back();
  }
  return Version::parse(number).value_or(Version());
}

std::int64_t minor_distance(const Version& a, const Version& b) {
  return std::abs((a.major() * 100 + a.minor()) - (b.major() * 100 + b.minor()));
}

class Tries {
public:
  Tries(const manifest::Manifest& manifest, const Facts& facts, const Problem& problem,
        const Matrix& matrix, const std::vector<Candidate>& candidates)
      : manifest_(manifest), facts_(facts), problem_(problem), matrix_(matrix),
        candidates_(candidates) {}

  /// The nearest change of one demand that makes everything else hold.
  std::optional<Change> nearest(std::size_t demand) const {
    std::optional<Change> best;
    for (const auto candidate : allowed_without(demand)) {
      auto change = change_for(problem_.demands[demand], candidates_[candidate].toolkit);
      change.candidate = candidate;
      if (!best || change.distance < best->distance) {
        best = std::move(change);
      }
    }
    return best;
  }

  /// Builds of PyTorch that exist and serve every GPU, with a toolkit that all else allows; nearest
  /// first. Empty where the manifest names no build, or where a venv has it.
  std::vector<Change> torches(std::size_t demand, const fit::TorchReleases& known) const {
    std::vector<Change> result;
    if (!manifest_.pytorch_build || manifest_.pytorch_venv) {
      return result;
    }
    const auto allowed = allowed_without(demand);
    const auto nearest = fit::nearest_torches(known, *manifest_.pytorch_build, problem_.gpus,
                                              problem_.platforms, *facts_.architectures);
    for (const auto& torch : nearest) {
      const auto cuda = fit::cuda_of_tag(torch.tag);
      const auto candidate = std::find_if(allowed.begin(), allowed.end(), [&](std::size_t at) {
        return cuda && !rules::pytorch_major(*cuda, candidates_[at].toolkit.release);
      });
      if (candidate != allowed.end() && result.size() < k_torches_offered) {
        result.push_back({.distance = 1 + static_cast<std::int64_t>(result.size()),
                          .text = fmt::format("pytorch: {} instead of {}", torch.text(),
                                              problem_.demands[demand].value),
                          .candidate = *candidate});
      }
    }
    return result;
  }

private:
  std::vector<std::size_t> allowed_without(std::size_t demand) const {
    std::vector<std::size_t> result;
    for (std::size_t candidate = 0; candidate < candidates_.size(); ++candidate) {
      const bool is_allowed =
          std::all_of(matrix_.rows.begin(), matrix_.rows.end(), [&](const Matrix::Row& row) {
            const bool is_in_force =
                std::find(row.demands.begin(), row.demands.end(), demand) == row.demands.end();
            return !is_in_force || row.allows[candidate];
          });
      if (is_allowed) {
        result.push_back(candidate);
      }
    }
    return result;
  }

  Change change_for(const Wished& wished, const Toolkit& toolkit) const {
    const auto instead = [&](std::int64_t distance, const std::string& value) {
      return Change{.distance = distance,
                    .text = fmt::format("{}: {} instead of {}", wished.key, value, wished.value)};
    };
    switch (wished.topic) {
    case Topic::nvcc:
      return instead(1 + minor_distance(named_version(manifest_.nvcc->value), toolkit.release),
                     toolkit.release.major_minor());
    case Topic::headers:
      return instead(1 + minor_distance(named_version(manifest_.headers->value), toolkit.cudart),
                     toolkit.cudart.major_minor());
    case Topic::ptxas:
      return {.text = fmt::format("leave out toolkit.ptxas ({})", wished.value)};
    case Topic::cccl:
      return instead(1, "matched");
    case Topic::driver:
      return instead(1, fmt::format(">={}", toolkit.facts->driver_floor));
    case Topic::native_driver:
      return {.distance = 1,
              .text = fmt::format("a driver of branch {} or newer on this machine, which has {}",
                                  toolkit.facts->driver_floor,
                                  machine::driver_text(problem_.oldest_driver))};
    case Topic::host:
      return {.distance = 3,
              .text = fmt::format("host.compiler: a gcc up to {} or a clang up to {} instead of {}",
                                  toolkit.facts->gcc_max, toolkit.facts->clang_max, wished.value)};
    case Topic::pytorch:
      return pytorch_change(wished, toolkit);
    case Topic::gpu:
      return gpu_change(wished, toolkit);
    case Topic::source:
      return instead(1, toolkit.source);
    default:
      return {.text = fmt::format("leave out {} under {}", wished.value, wished.key)};
    }
  }

  Change pytorch_change(const Wished& wished, const Toolkit& toolkit) const {
    const knowledge::PyTorch* nearest = nullptr;
    for (const auto& torch : *facts_.pytorch) {
      const bool fits = !rules::pytorch_major(torch.cuda, toolkit.release);
      if (fits && (nearest == nullptr || minor_distance(torch.cuda, toolkit.release) <
                                             minor_distance(nearest->cuda, toolkit.release))) {
        nearest = &torch;
      }
    }
    if (nearest == nullptr) {
      return {.text = fmt::format("leave out pytorch ({})", wished.value)};
    }
    return {.distance = 1 + minor_distance(nearest->cuda, manifest_.pytorch_cuda->value),
            .text = fmt::format("pytorch: {} instead of {}", nearest->tag, wished.value)};
  }

  /// The plain form of the same GPU may begin earlier than its `a` or `f` form.
  Change gpu_change(const Wished& wished, const Toolkit& toolkit) const {
    const auto& target = manifest_.gpus[wished.index].value;
    const auto* architecture = knowledge::find_architecture(*facts_.architectures, target.plain());
    const auto accepts = [&](const manifest::Wish<std::string>& wish) {
      const auto* consumer = facts_.consumer(wish.value);
      return consumer == nullptr || !rules::consumer_minimum(*consumer, target, toolkit.release);
    };
    if (target.suffix != 0 && architecture != nullptr &&
        !rules::gpu_range(*architecture, target.plain(), toolkit.release) &&
        std::all_of(manifest_.consumers.begin(), manifest_.consumers.end(), accepts)) {
      return {.distance = 1,
              .text = fmt::format("gpus: {} instead of {}", target.plain().sm(), wished.value)};
    }
    return {.text = fmt::format("leave out {} under gpus", wished.value)};
  }

  const manifest::Manifest& manifest_;
  const Facts& facts_;
  const Problem& problem_;
  const Matrix& matrix_;
  const std::vector<Candidate>& candidates_;
};

} // namespace

Result<std::vector<WayOut>> ways_out(const manifest::Manifest& manifest, const Facts& facts,
                                     const Problem& problem, const std::vector<std::size_t>& set,
                                     const Matrix& matrix,
                                     const std::vector<Candidate>& candidates) {
  const Tries tries(manifest, facts, problem, matrix, candidates);
  const bool has_other_gpus = manifest.native_gpus || manifest.gpus.size() > 1;
  std::vector<Change> changes;
  for (const auto demand : set) {
    if (problem.demands[demand].topic == Topic::pytorch) {
      CUKIT_TRY_ASSIGN(const auto* known, facts.knowledge->torch_releases());
      auto torches = tries.torches(demand, *known);
      if (!torches.empty()) {
        std::move(torches.begin(), torches.end(), std::back_inserter(changes));
        continue;
      }
    }
    auto change = tries.nearest(demand);
    const auto topic = problem.demands[demand].topic;
    const bool leaves_none = (topic == Topic::gpu && !has_other_gpus) ||
                             (topic == Topic::platform && manifest.platforms.size() < 2);
    if (!change || (leaves_none && change->distance == k_left_out)) {
      continue;
    }
    if (topic == Topic::driver || topic == Topic::native_driver) {
      CUKIT_TRY_ASSIGN(
          auto way, forward_way(manifest, facts, problem, candidates[change->candidate].toolkit));
      if (way) {
        changes.push_back({.distance = k_compat_package,
                           .text = std::move(way->change),
                           .candidate = change->candidate,
                           .steps = std::move(way->steps)});
      }
    }
    changes.push_back(*std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.distance < b.distance; });
  std::vector<WayOut> result;
  for (auto& change : changes) {
    const auto& toolkit = candidates[change.candidate].toolkit;
    result.push_back(
        {.change = std::move(change.text),
         .result = fmt::format("CUDA {} with nvcc {}", toolkit.release.text(), toolkit.nvcc.text()),
         .steps = std::move(change.steps)});
  }
  return result;
}

} // namespace cukit::resolve

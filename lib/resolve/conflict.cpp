#include "resolve/conflict.hpp"

#include "resolve/ways_out.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

/// `range` admits some version of that minor.
bool admits_minor(const VersionRange& range, const Version& minor) {
  const auto text = minor.major_minor();
  const auto candidates = {text, text + ".1", text + ".99"};
  return std::any_of(candidates.begin(), candidates.end(), [&](const std::string& candidate) {
    const auto version = Version::parse(candidate);
    return version && range.contains(*version);
  });
}

/// Why no release that is offered is in the range, where that is so.
rules::Verdict nothing_in_range(const VersionRange& range, const Facts& facts, const Offer& offer) {
  if (const auto bounds = range.contradiction()) {
    return rules::Violation{
        .rule = &rules::k_version_wish,
        .reason = fmt::format("no version is both {} and {}", bounds->first, bounds->second)};
  }
  const auto& releases = offer.releases();
  if (releases.empty()) {
    return {};
  }
  const bool has_one = std::any_of(releases.begin(), releases.end(), [&](const auto* release) {
    return matches(range, release->version, offer.nvcc_of(*release).value_or(Version()));
  });
  if (has_one) {
    return {};
  }
  for (const auto& left_out : offer.left_out()) {
    if (range.contains(left_out.version, true)) {
      return rules::Violation{.rule = left_out.rule, .reason = left_out.text};
    }
  }
  for (const auto& release : *facts.releases) {
    auto verdict = rules::compiler_wheels(*facts.limits, release.minor);
    if (verdict && admits_minor(range, release.minor)) {
      verdict->reason += ", and no source of redistributables has its manifest";
      return verdict;
    }
  }
  const auto first = release_label(releases.front()->version).text();
  const auto last = release_label(releases.back()->version).text();
  return rules::Violation{.rule = &rules::k_availability,
                          .reason = fmt::format("no release of CUDA is in {}; {} to {} are offered",
                                                range.text(), first, last)};
}

/// Why a demand collides with the rest of the set: what it says of the best toolkit that all the
/// others allow.
rules::Violation reason_of(std::size_t demand, const std::vector<std::size_t>& set,
                           const Matrix& matrix, const Problem& problem,
                           const std::vector<Candidate>& candidates) {
  std::vector<bool> others(matrix.demands, false);
  for (const auto member : set) {
    others[member] = member != demand;
  }
  const auto best = matrix.first(others);
  CUKIT_ENSURE(best.has_value(), "a member of a minimal set cannot be dropped");
  others[demand] = true;
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    const auto& needed = matrix.rows[row].demands;
    const bool is_in_force =
        std::all_of(needed.begin(), needed.end(), [&](std::size_t entry) { return others[entry]; });
    if (is_in_force && !matrix.rows[row].allows[*best]) {
      if (auto verdict = problem.constraints[row].check(candidates[*best].toolkit)) {
        return *std::move(verdict);
      }
    }
  }
  CUKIT_ENSURE(false, "a member of a minimal set breaks a rule on what the others allow");
  return {};
}

Demand make_demand(const Wished& wished, const rules::Violation& violation,
                   const std::string& file) {
  return {.text = wished.text(),
          .file = file,
          .line = wished.at.line,
          .reason = violation.reason,
          .source = std::string(violation.rule->source)};
}

/// Without any demand nothing fits either: the index or the recipes are at fault, and the first
/// broken rule says how.
Error nothing_offered(const Problem& problem, const Offer& offer,
                      const std::vector<Candidate>& candidates) {
  Error error{.code = ErrorCode::source,
              .message = "the sources offer no release of CUDA that can be used"};
  for (const auto& candidate : candidates) {
    for (const auto& constraint : problem.constraints) {
      const auto verdict =
          constraint.demands.empty() ? constraint.check(candidate.toolkit) : rules::Verdict();
      if (verdict) {
        error.causes.push_back(
            fmt::format("CUDA {}: {}", candidate.toolkit.release.text(), verdict->reason));
        break;
      }
    }
  }
  constexpr std::size_t k_shown = 5;
  const auto& left_out = offer.left_out();
  for (std::size_t i = 0; i < left_out.size() && i < k_shown; ++i) {
    error.causes.push_back(left_out[left_out.size() - 1 - i].text); // the newest first
  }
  if (left_out.size() > k_shown) {
    error.causes.push_back(fmt::format("and {} more", left_out.size() - k_shown));
  }
  error.hint = "check which index is asked (--index-url) and that it has cuda-toolkit and the "
               "nvidia-* projects, or which redistributables (CUKIT_REDIST_URL)";
  return error;
}

constexpr std::size_t k_most_clashes = 6; ///< more would hide the first

/// What a clash is told from.
struct Told {
  const manifest::Manifest& manifest;
  const Facts& facts;
  const Problem& problem;
  const Offer& offer;
  const std::vector<Candidate>& candidates;
  const Matrix& matrix;
};

std::vector<Demand> demands_of(const Told& told, const std::vector<std::size_t>& set) {
  std::vector<Demand> demands;
  for (const auto member : set) {
    const auto& wished = told.problem.demands[member];
    auto violation = reason_of(member, set, told.matrix, told.problem, told.candidates);
    // of candidates that are only known, the offer says nothing
    if (wished.topic == Topic::nvcc && told.candidates.front().release != nullptr) {
      if (auto better = nothing_in_range(told.manifest.nvcc->value, told.facts, told.offer)) {
        violation = *std::move(better);
      }
    }
    demands.push_back(make_demand(wished, violation, told.manifest.file));
  }
  std::stable_sort(demands.begin(), demands.end(),
                   [](const Demand& a, const Demand& b) { return a.line < b.line; });
  return demands;
}

/// The matrix as if the manifest held those demands alone.
Matrix only(const Matrix& matrix, const std::vector<std::size_t>& set) {
  Matrix result{.demands = matrix.demands, .candidates = matrix.candidates, .rows = {}};
  for (const auto& row : matrix.rows) {
    const bool is_kept =
        std::all_of(row.demands.begin(), row.demands.end(), [&](std::size_t demand) {
          return std::find(set.begin(), set.end(), demand) != set.end();
        });
    if (is_kept) {
      result.rows.push_back(row);
    }
  }
  return result;
}

} // namespace

std::optional<std::size_t> Matrix::first(const std::vector<bool>& active) const {
  std::vector<const Row*> in_force;
  for (const auto& row : rows) {
    if (std::all_of(row.demands.begin(), row.demands.end(),
                    [&](std::size_t demand) { return active[demand]; })) {
      in_force.push_back(&row);
    }
  }
  for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
    if (std::all_of(in_force.begin(), in_force.end(),
                    [&](const Row* row) { return row->allows[candidate]; })) {
      return candidate;
    }
  }
  return std::nullopt;
}

namespace {

/// Among the demands that are active.
std::vector<std::size_t> minimal_among(const Matrix& matrix, std::vector<bool> active) {
  if (matrix.first(active) || !matrix.first(std::vector<bool>(matrix.demands, false))) {
    return {};
  }
  for (std::size_t demand = 0; demand < matrix.demands; ++demand) {
    if (active[demand]) {
      active[demand] = false;
      active[demand] = matrix.first(active).has_value();
    }
  }
  std::vector<std::size_t> set;
  for (std::size_t demand = 0; demand < matrix.demands; ++demand) {
    if (active[demand]) {
      set.push_back(demand);
    }
  }
  return set;
}

} // namespace

std::vector<std::size_t> minimal_conflict(const Matrix& matrix) {
  return minimal_among(matrix, std::vector<bool>(matrix.demands, true));
}

std::vector<std::vector<std::size_t>> minimal_conflicts(const Matrix& matrix, std::size_t most) {
  std::vector<std::vector<std::size_t>> sets;
  std::vector<bool> active(matrix.demands, true);
  for (auto set = minimal_among(matrix, active); !set.empty() && sets.size() < most;
       set = minimal_among(matrix, active)) {
    for (const auto demand : set) {
      active[demand] = false;
    }
    sets.push_back(std::move(set));
  }
  // What a demand of these does besides: without one other of each, what is left of it?
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto members = sets[i];
    for (std::size_t k = 0; k < members.size() && sets.size() < most; ++k) {
      active.assign(matrix.demands, true);
      active[members[k]] = false;
      auto set = minimal_among(matrix, active);
      if (!set.empty() && std::find(sets.begin(), sets.end(), set) == sets.end()) {
        sets.push_back(std::move(set));
      }
    }
  }
  return sets;
}

Matrix make_matrix(const Problem& problem, const std::vector<Candidate>& candidates) {
  Matrix matrix{.demands = problem.demands.size(), .candidates = candidates.size(), .rows = {}};
  for (const auto& constraint : problem.constraints) {
    Matrix::Row row{.demands = constraint.demands, .allows = {}};
    row.allows.reserve(candidates.size());
    for (const auto& candidate : candidates) {
      row.allows.push_back(!constraint.check(candidate.toolkit).has_value());
    }
    matrix.rows.push_back(std::move(row));
  }
  return matrix;
}

Result<Conflict> explain_conflict(const manifest::Manifest& manifest, const Facts& facts,
                                  const Problem& problem, const Offer& offer,
                                  const std::vector<Candidate>& candidates) {
  const auto matrix = make_matrix(problem, candidates);
  const auto sets = minimal_conflicts(matrix, k_most_clashes);
  if (sets.empty()) {
    return tl::unexpected(nothing_offered(problem, offer, candidates));
  }
  Conflict conflict;
  conflict.demands =
      demands_of({manifest, facts, problem, offer, candidates, matrix}, sets.front());
  CUKIT_TRY_ASSIGN(conflict.ways_out,
                   ways_out(manifest, facts, problem, sets.front(), matrix, candidates));
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (i == 0 && (sets.size() == 1 || !conflict.ways_out.empty())) {
      continue;
    }
    const auto alone = only(matrix, sets[i]);
    CUKIT_TRY_ASSIGN(auto ways, ways_out(manifest, facts, problem, sets[i], alone, candidates));
    if (i == 0) {
      conflict.ways_out = std::move(ways);
    } else {
      conflict.further.push_back(
          {.demands = demands_of({manifest, facts, problem, offer, candidates, matrix}, sets[i]),
           .ways_out = std::move(ways)});
    }
  }
  return conflict;
}

} // namespace cukit::resolve

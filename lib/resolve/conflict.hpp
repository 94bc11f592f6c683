// Why nothing fits: a smallest set of demands that cannot hold together, and the single changes
// that would help.
#pragma once

#include "resolve/search.hpp"

namespace cukit::resolve {

/// Demands 0..n-1, candidates 0..m-1, and constraints over them as bare numbers.
struct Matrix {
  struct Row {
    std::vector<std::size_t> demands;
    std::vector<bool> allows; ///< per candidate
  };
  std::size_t demands = 0;
  std::size_t candidates = 0;
  std::vector<Row> rows;

  /// The first candidate that all rows in force allow; a row is in force when `active` has all its
  /// demands.
  [[nodiscard]] std::optional<std::size_t> first(const std::vector<bool>& active) const;
};

/// A set of demands that no candidate satisfies although each of its proper subsets has one; empty
/// when all hold together, or when there is no candidate even without demands. Earlier demands are
/// given up first.
std::vector<std::size_t> minimal_conflict(const Matrix& matrix);

/// Several such sets, `most` at most: first those that share no demand, then others. Empty when
/// minimal_conflict() is.
std::vector<std::vector<std::size_t>> minimal_conflicts(const Matrix& matrix, std::size_t most);

Matrix make_matrix(const Problem& problem, const std::vector<Candidate>& candidates);

/// Nothing satisfies the problem. An error when not even an empty manifest could be answered: then
/// the sources are at fault.
Result<Conflict> explain_conflict(const manifest::Manifest& manifest, const Facts& facts,
                                  const Problem& problem, const Offer& offer,
                                  const std::vector<Candidate>& candidates);

} // namespace cukit::resolve

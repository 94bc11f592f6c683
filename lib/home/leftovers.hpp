// Files that nothing refers to and that stay for a while because they may be of use again: reports
// that no generation names, and downloads of runs that did not end.
#pragma once

#include "store/layout.hpp"

#include <set>
#include <string>
#include <vector>

namespace cukit::home {

/// Files of reports/ but those of the keys `named` that nobody wrote for `age`, `now` being seconds
/// since 1970; sorted. An `up` stores a report moments before it names it.
Result<std::vector<fs::path>> old_reports(const store::Home& home,
                                          const std::set<std::string>& named,
                                          std::chrono::seconds age, std::int64_t now);
/// Removes these, as far as `named` does not have them by now, and returns what went.
Result<std::vector<fs::path>> remove_reports(const std::vector<fs::path>& reports,
                                             const std::set<std::string>& named);

/// Files of cache/downloads/ whose download nobody works at and that nobody touched for `age`:
/// finished ones that were never used, parts, and what stands beside them; sorted.
Result<std::vector<fs::path>> old_downloads(const store::Home& home, std::chrono::seconds age,
                                            std::int64_t now);
/// Removes these, as far as nobody works at them by now, and returns what went. Each download is
/// locked meanwhile.
Result<std::vector<fs::path>> remove_downloads(const store::Home& home,
                                               const std::vector<fs::path>& downloads);

} // namespace cukit::home

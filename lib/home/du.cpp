#include "home/du.hpp"

#include "home/roots.hpp"
#include "store/usage.hpp"

namespace cukit::home {

namespace {

Result<std::uint64_t> bytes_below(const fs::path& folder) {
  store::Usage usage;
  CUKIT_TRY(usage.add(folder));
  return usage.bytes();
}

Result<std::map<std::string, std::vector<std::string>>>
names_of_trees(const store::Home& home, std::vector<Error>& damaged) {
  CUKIT_TRY_ASSIGN(const auto generations, all_generations(home, &damaged));
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& one : generations) {
    names[one.generation.tree].push_back(
        one.current ? one.name : fmt::format("{}@{}", one.name, one.generation.number));
  }
  return names;
}

} // namespace

Result<DiskUsage> disk_usage(const store::Home& home, const std::stop_token& stop) {
  DiskUsage result;
  CUKIT_TRY_ASSIGN(auto names, names_of_trees(home, result.damaged));
  std::uint64_t sum_of_trees = 0;
  if (folder_exists(home.trees())) {
    CUKIT_TRY_ASSIGN(const auto ids, list_directory(home.trees()));
    for (const auto& id : ids) {
      if (stop.stop_requested()) {
        return fail(ErrorCode::interrupted, "interrupted");
      }
      store::Usage usage;
      CUKIT_TRY(usage.add(home.trees() / id));
      sum_of_trees += usage.bytes();
      result.trees.push_back({.id = id,
                              .names = std::move(names[id]),
                              .bytes = usage.bytes(),
                              .own_bytes = usage.own_bytes(),
                              .files = usage.files()});
    }
  }
  CUKIT_TRY_ASSIGN(result.store, bytes_below(home.store()));
  CUKIT_TRY_ASSIGN(result.all_trees, bytes_below(home.trees()));
  CUKIT_TRY_ASSIGN(result.cache, bytes_below(home.cache));
  CUKIT_TRY_ASSIGN(result.downloads, bytes_below(home.downloads()));
  CUKIT_TRY_ASSIGN(result.staging, bytes_below(home.staging()));
  CUKIT_TRY_ASSIGN(result.reports, bytes_below(home.reports()));
  store::Usage both;
  CUKIT_TRY(both.add(home.store()));
  CUKIT_TRY(both.add(home.trees()));
  result.shared = result.store + sum_of_trees - both.bytes();
  result.total = both.bytes() + result.cache + result.staging + result.reports;
  return result;
}

} // namespace cukit::home

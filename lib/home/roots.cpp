#include "home/roots.hpp"

#include "base/stale.hpp"
#include "names/folder.hpp"
#include "names/mend.hpp"

#include <sys/stat.h>

namespace cukit::home {

namespace {

/// What can be read of a name, and what cannot.
void add_readable(const store::Home& home, const std::string& name, int current,
                  std::vector<NamedGeneration>& result, std::vector<Error>& damaged) {
  const auto found = names::readable_generations(home, name, damaged);
  for (const auto& generation : found) {
    result.push_back({name, generation, generation.number == current});
  }
}

} // namespace

Result<std::vector<NamedGeneration>> all_generations(const store::Home& home,
                                                     std::vector<Error>* damaged) {
  std::vector<NamedGeneration> result;
  CUKIT_TRY_ASSIGN(const auto names, names::list_all(home));
  for (const auto& name : names) {
    // A `current` that leads nowhere makes no generation less of a root.
    const auto current = names::current(home, name);
    const int number = current && *current ? (*current)->number : 0;
    if (damaged != nullptr) {
      add_readable(home, name, number, result, *damaged);
      continue;
    }
    CUKIT_TRY_ASSIGN(auto generations, names::generations(home, name));
    for (auto& generation : generations) {
      const bool is_current = generation.number == number;
      result.push_back({name, std::move(generation), is_current});
    }
  }
  return result;
}

void add_keys(const lock::Lock& lock, std::set<std::string>& keys) {
  for (const auto& platform : lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      keys.insert(lock::store_key(artifact));
      if (artifact.record) { // a whole artifact serves where only a part is wanted
        keys.insert(artifact.sha256.hex());
      }
    }
  }
}

namespace {

Result<std::set<std::string>> entries_of(const store::Home& home, const std::string& name,
                                         const names::Generation& generation) {
  auto lock = lock::read(generation.lock, names::lock_path(home, name, generation.number).string());
  if (!lock) {
    auto error = std::move(lock.error())
                     .under(fmt::format("cannot tell what generation {} of {} needs",
                                        generation.number, name));
    error.hint = "`cukit verify --repair` removes what is damaged; of a newer cukit, use that one";
    return tl::unexpected<Error>(std::move(error));
  }
  std::set<std::string> keys;
  add_keys(*lock, keys);
  return keys;
}

/// Tells a generation from a later one of the same number; empty when it is not there.
std::string stamp_of(const fs::path& generation) {
  struct stat info {};
  return look_twice([&] { return ::stat(generation.c_str(), &info); }) != 0
             ? std::string()
             : fmt::format("{} {} {}.{}", info.st_dev, info.st_ino, info.st_ctim.tv_sec,
                           info.st_ctim.tv_nsec);
}

} // namespace

Result<Roots> RootsMemory::read(const store::Home& home, const std::set<GenerationId>& without) {
  Roots roots;
  CUKIT_TRY_ASSIGN(const auto names, names::list_all(home));
  for (const auto& name : names) {
    const auto folder = home.names() / name;
    CUKIT_TRY_ASSIGN(const auto found, names::numbers(folder));
    for (const int number : found) {
      if (without.contains({name, number})) {
        continue;
      }
      auto& known = known_[{name, number}];
      auto stamp = stamp_of(folder / "gen" / std::to_string(number));
      if (stamp.empty() || stamp != known.stamp) {
        CUKIT_TRY_ASSIGN(const auto generation, names::read_whole_generation(folder, number));
        if (!generation) {
          continue;
        }
        known.entries = by_lock_[sha256_of(generation->lock).hex()];
        if (!known.entries) {
          CUKIT_TRY_ASSIGN(auto keys, entries_of(home, name, *generation));
          known.entries = std::make_shared<const std::set<std::string>>(std::move(keys));
          by_lock_[sha256_of(generation->lock).hex()] = known.entries;
        }
        known.tree = generation->tree;
        known.report = generation->report;
        known.stamp = std::move(stamp);
      }
      roots.trees.insert(known.tree);
      roots.reports.insert(known.report);
      roots.entries.insert(known.entries->begin(), known.entries->end());
    }
  }
  return roots;
}

} // namespace cukit::home

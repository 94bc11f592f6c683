#include "home/gc.hpp"

#include "base/kept_file.hpp"
#include "home/jit_caches.hpp"
#include "home/leftovers.hpp"
#include "store/hold.hpp"
#include "store/system_store.hpp"
#include "store/usage.hpp"

#include <algorithm>

namespace cukit::home {

namespace {

// So many folders are held at once: each needs a descriptor, and a process has 1,024 of them.
constexpr std::size_t k_batch = 256;

/// What is no folder there is none of cukit's: `verify` names it.
Result<std::vector<std::string>> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  if (folder_exists(folder)) {
    CUKIT_TRY_ASSIGN(names, list_directory(folder));
  }
  std::erase_if(names, [&](const std::string& name) { return !is_kept_folder(folder / name); });
  return names;
}

/// Whether the options ask for this generation; `newer` generations of its name come after it.
bool is_asked_for(const NamedGeneration& one, int newer, const GcOptions& options,
                  std::int64_t now) {
  if (!options.name.empty() && one.name != options.name) {
    return false;
  }
  if (options.has_no_limit()) {
    return !options.name.empty(); // the name as a whole
  }
  const bool old = options.older_than && now - one.generation.made > options.older_than->count();
  const bool surplus = options.keep && newer >= *options.keep;
  // With both, both must hold: the careful reading.
  return !one.current && (!options.older_than || old) && (!options.keep || surplus);
}

/// Parts the generations into those that go and those that stay.
void choose(std::vector<NamedGeneration>& all, const GcOptions& options, std::int64_t now,
            std::vector<DroppedGeneration>& dropped) {
  std::vector<NamedGeneration> stay;
  int newer = 0;
  std::string name;
  for (auto it = all.rbegin(); it != all.rend(); ++it) { // newest first
    newer = it->name == name ? newer + 1 : 0;
    name = it->name;
    if (is_asked_for(*it, newer, options, now)) {
      dropped.push_back({it->name, it->generation.number, it->generation.tree, it->current});
    } else {
      stay.push_back(std::move(*it));
    }
  }
  std::reverse(dropped.begin(), dropped.end());
  std::reverse(stay.begin(), stay.end());
  all = std::move(stay);
}

Result<void> find_unrooted(const store::Home& home, const Roots& roots, std::int64_t now,
                           Garbage& garbage) {
  CUKIT_TRY_ASSIGN(const auto trees, folders_in(home.trees()));
  for (const auto& id : trees) {
    if (!roots.trees.contains(id)) {
      garbage.trees.push_back(id);
    }
  }
  CUKIT_TRY_ASSIGN(const auto keys, folders_in(home.store()));
  for (const auto& key : keys) {
    if (!roots.entries.contains(key)) {
      garbage.entries.push_back(key);
    }
  }
  CUKIT_TRY_ASSIGN(garbage.caches, unused_caches(home, roots.trees, garbage.trees, now));
  return {};
}

Result<std::uint64_t> bytes_of(const store::Home& home, const Garbage& garbage,
                               const std::stop_token& stop) {
  std::vector<fs::path> folders = garbage.caches;
  folders.insert(folders.end(), garbage.staging.begin(), garbage.staging.end());
  for (const auto& id : garbage.trees) {
    folders.push_back(home.trees() / id);
  }
  for (const auto& key : garbage.entries) {
    folders.push_back(home.store() / key);
  }
  store::Usage usage;
  for (const auto& folder : folders) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted");
    }
    CUKIT_TRY(usage.add(folder));
  }
  for (const auto* files : {&garbage.reports, &garbage.downloads}) {
    for (const auto& file : *files) {
      usage.add_file(file);
    }
  }
  return usage.own_bytes();
}

Result<void> drop_generations(const store::Home& home, const Garbage& garbage,
                              const GcOptions& options, Collected& done) {
  if (!options.name.empty() && options.has_no_limit() && !garbage.generations.empty()) {
    CUKIT_TRY(names::drop_name(home, options.name));
    done.removed.generations = garbage.generations;
    return {};
  }
  for (const auto& one : garbage.generations) {
    // One that became current meanwhile stays.
    CUKIT_TRY_ASSIGN(const bool gone, names::drop_generation(home, one.name, one.number));
    if (gone) {
      done.removed.generations.push_back(one);
    } else {
      done.in_use.push_back(fmt::format("generation {} of {}", one.number, one.name));
    }
  }
  return {};
}

/// One kind of folder: trees or entries.
struct Kind {
  const char* what;
  fs::path parent;
  std::set<std::string> Roots::*roots;
  const std::vector<std::string>& found;
  std::vector<std::string>& removed;
};

/// What a collection knows and counts on its way.
struct Work {
  RootsMemory& roots;
  store::Usage freed = {}; ///< of what went; a file that has names elsewhere counts nothing
  Collected done = {};
};

/// Takes a batch away: locks each folder alone, reads the roots again, and only then renames. The
/// bytes go afterwards, when nobody waits any more.
Result<void> take_away(const store::Home& home, const Kind& kind, std::size_t begin,
                       std::size_t end, Work& work) {
  auto& done = work.done;
  std::vector<std::pair<std::string, store::FolderHold>> held;
  for (std::size_t i = begin; i < end; ++i) {
    const auto& name = kind.found[i];
    CUKIT_TRY_ASSIGN(auto hold, store::FolderHold::try_exclusive(kind.parent / name,
                                                                 store::without_locks(home)));
    if (hold) {
      held.emplace_back(name, std::move(*hold));
    } else if (folder_exists(kind.parent / name)) {
      done.in_use.push_back(fmt::format("{} {}", kind.what, name));
    }
  }
  CUKIT_TRY_ASSIGN(const auto roots, work.roots.read(home));
  CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(home));
  for (const auto& [name, hold] : held) {
    if ((roots.*kind.roots).contains(name)) {
      done.in_use.push_back(fmt::format("{} {}", kind.what, name));
      continue;
    }
    CUKIT_TRY(work.freed.add(kind.parent / name)); // nobody else can change it now
    CUKIT_TRY(store::move_out(kind.parent / name, staging.path() / name));
    kind.removed.push_back(name);
  }
  CUKIT_TRY(sync_directory(kind.parent));
  held.clear();
  return {}; // the staging folder goes with everything in it
}

Result<void> take_away_all(const store::Home& home, const Kind& kind, const std::stop_token& stop,
                           Work& work) {
  for (std::size_t begin = 0; begin < kind.found.size(); begin += k_batch) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted");
    }
    CUKIT_TRY(take_away(home, kind, begin, std::min(begin + k_batch, kind.found.size()), work));
  }
  return {};
}

/// Bytes of those of `found` that are in `removed`, as they were before.
std::uint64_t bytes_of_removed(const std::map<fs::path, std::uint64_t>& found,
                               const std::vector<fs::path>& removed) {
  std::uint64_t sum = 0;
  for (const auto& path : removed) {
    const auto it = found.find(path);
    sum += it == found.end() ? 0 : it->second;
  }
  return sum;
}

Result<std::map<fs::path, std::uint64_t>> bytes_of_each(const std::vector<fs::path>& paths) {
  std::map<fs::path, std::uint64_t> result;
  for (const auto& path : paths) {
    store::Usage usage;
    if (folder_exists(path)) {
      CUKIT_TRY(usage.add(path));
    } else {
      usage.add_file(path);
    }
    result.emplace(path, usage.own_bytes());
  }
  return result;
}

/// What no folder of a tree or an entry is; returns the bytes that came back.
Result<std::uint64_t> remove_leftovers(const store::Home& home, const Garbage& garbage,
                                       const GcOptions& options, std::int64_t now, Work& work) {
  auto& removed = work.done.removed;
  for (const auto& cache : garbage.caches) {
    if (!folder_exists(
            home.tree(cache.filename().string()))) { // a tree that stayed keeps its cache
      CUKIT_TRY(work.freed.add(cache));
      CUKIT_TRY(remove_tree(cache));
      removed.caches.push_back(cache);
    }
  }
  CUKIT_TRY_ASSIGN(const auto abandoned, store::abandoned(home, options.staging_age, now));
  CUKIT_TRY_ASSIGN(auto bytes, bytes_of_each(abandoned));
  for (const auto* files : {&garbage.reports, &garbage.downloads}) {
    CUKIT_TRY_ASSIGN(auto more, bytes_of_each(*files));
    bytes.merge(more);
  }
  CUKIT_TRY_ASSIGN(removed.staging, store::sweep(home, options.staging_age, now));
  // The roots are read again: an `up` may have named a report meanwhile.
  CUKIT_TRY_ASSIGN(const auto roots, work.roots.read(home));
  CUKIT_TRY_ASSIGN(removed.reports, remove_reports(garbage.reports, roots.reports));
  CUKIT_TRY_ASSIGN(removed.downloads, remove_downloads(home, garbage.downloads));
  return bytes_of_removed(bytes, removed.staging) + bytes_of_removed(bytes, removed.reports) +
         bytes_of_removed(bytes, removed.downloads);
}

} // namespace

Result<Garbage> find_garbage(const store::Home& home, const GcOptions& options, std::int64_t now,
                             const std::stop_token& stop) {
  if (home.is_system) {
    CUKIT_TRY(store::check_system_owner(home.root)); // said before a lock cannot be opened
  }
  CUKIT_TRY_ASSIGN(auto generations, all_generations(home));
  if (!options.name.empty() &&
      std::none_of(generations.begin(), generations.end(),
                   [&](const NamedGeneration& one) { return one.name == options.name; })) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("there is no name `{}`", options.name),
              .hint = "`cukit list` shows the names there are"});
  }
  Garbage garbage;
  choose(generations, options, now, garbage.generations);
  std::set<GenerationId> dropped;
  for (const auto& one : garbage.generations) {
    dropped.emplace(one.name, one.number);
  }
  garbage.roots = std::make_shared<RootsMemory>();
  CUKIT_TRY_ASSIGN(const auto roots, garbage.roots->read(home, dropped));
  CUKIT_TRY(find_unrooted(home, roots, now, garbage));
  CUKIT_TRY_ASSIGN(garbage.staging, store::abandoned(home, options.staging_age, now));
  CUKIT_TRY_ASSIGN(garbage.reports, old_reports(home, roots.reports, options.staging_age, now));
  CUKIT_TRY_ASSIGN(garbage.downloads, old_downloads(home, options.download_age, now));
  CUKIT_TRY_ASSIGN(garbage.bytes, bytes_of(home, garbage, stop));
  return garbage;
}

Result<Collected> collect(const store::Home& home, const Garbage& garbage, const GcOptions& options,
                          std::int64_t now, const std::stop_token& stop) {
  CUKIT_TRY(store::prepare(home));
  RootsMemory anew;
  Work work{.roots = garbage.roots ? *garbage.roots : anew};
  auto& removed = work.done.removed;
  CUKIT_TRY(drop_generations(home, garbage, options, work.done));
  CUKIT_TRY(take_away_all(home, {"tree", home.trees(), &Roots::trees, garbage.trees, removed.trees},
                          stop, work));
  CUKIT_TRY(take_away_all(
      home, {"entry", home.store(), &Roots::entries, garbage.entries, removed.entries}, stop,
      work));
  CUKIT_TRY_ASSIGN(const auto bytes, remove_leftovers(home, garbage, options, now, work));
  removed.bytes = work.freed.own_bytes() + bytes;
  return std::move(work.done);
}

} // namespace cukit::home

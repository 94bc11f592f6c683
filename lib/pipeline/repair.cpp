#include "pipeline/repair.hpp"

#include "assemble/record.hpp"
#include "base/kept_file.hpp"
#include "base/limits.hpp"
#include "base/strings.hpp"
#include "home/roots.hpp"
#include "names/mend.hpp"
#include "pipeline/entries.hpp"
#include "pipeline/trees.hpp"
#include "store/replace.hpp"

#include <algorithm>

namespace cukit::pipeline {

namespace {

/// What the generations tell about how entries and trees were made.
struct Origins {
  std::map<std::string, lock::Artifact> entries;                ///< by key
  std::map<std::string, std::pair<lock::Lock, Platform>> trees; ///< by id
};

Result<Origins> find_origins(const store::Home& home) {
  Origins origins;
  std::vector<Error> damaged; // check_home() has named them
  CUKIT_TRY_ASSIGN(const auto generations, home::all_generations(home, &damaged));
  for (const auto& one : generations) {
    const auto lock = lock::read(one.generation.lock, "the lock of " + one.name);
    if (!lock) {
      continue; // then what only it knows cannot be repaired, and says so
    }
    for (const auto& part : lock->platforms) {
      origins.trees.emplace(lock::tree_id(*lock, part).hex(), std::pair(*lock, part.platform));
      for (const auto& artifact : part.artifacts) {
        origins.entries.emplace(lock::store_key(artifact), artifact);
      }
    }
  }
  return origins;
}

/// A session like this one that works in a home of its own inside the staging folder, and with the
/// same downloads.
Session session_in(const Session& session, const fs::path& folder) {
  store::Home home;
  home.root = folder / "home";
  home.cache = session.home.cache;
  home.no_lock = session.home.no_lock;
  return {session.environment, home,        session.knowledge, session.settings,
          session.progress,    session.stop};
}

/// Fetches the artifacts anew into a scratch home and lets each entry change places.
Result<void> refetch(Session& session, const std::vector<lock::Artifact>& artifacts) {
  CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(session.home));
  auto scratch = session_in(session, staging.path());
  CUKIT_TRY(store::prepare(scratch.home));
  lock::PlatformLock part;
  part.platform = session.platform();
  part.artifacts = artifacts;
  CUKIT_TRY_ASSIGN(const auto fresh, obtain_entries(scratch, part));
  session.downloaded_bytes += scratch.downloaded_bytes;
  for (const auto& artifact : artifacts) {
    const auto key = lock::store_key(artifact);
    CUKIT_TRY_ASSIGN(const auto guard, store::lock(session.home, "key-" + key,
                                                   FileLock::Mode::exclusive, session.stop));
    CUKIT_TRY(store::put_in_place(scratch.home.store() / key, session.home.store() / key));
  }
  return sync_directory(session.home.store());
}

/// Nothing needs it: it leaves the home by one rename.
Result<void> discard(const store::Home& home, const fs::path& path) {
  CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(home));
  CUKIT_TRY(store::move_out(path, staging.path() / "damaged"));
  return sync_directory(path.parent_path());
}

void settle(Checked& one, Checked::Repair how, const Result<void>& result) {
  one.repair = result ? how : Checked::Repair::failed;
  if (!result) {
    one.why_not = result.error();
  }
}

void repair_entries(Session& session, const Origins& origins, std::vector<Checked>& checked) {
  for (auto& one : checked) {
    if (one.kind != Checked::Kind::entry || one.is_clean() || session.stop.stop_requested()) {
      continue;
    }
    const auto origin = origins.entries.find(one.id);
    if (origin == origins.entries.end()) {
      settle(one, Checked::Repair::removed, discard(session.home, one.path));
    } else {
      settle(one, Checked::Repair::repaired, refetch(session, {origin->second}));
    }
  }
}

Result<void> repair_tree(Session& session, const lock::Lock& lock, Platform platform) {
  const auto before = session.settings.platform;
  session.settings.platform = platform;
  auto result = rebuild_tree(session, lock);
  session.settings.platform = before;
  return result;
}

/// Why an entry that the tree is made of is still damaged; a tree built from it would be, too.
std::optional<Error> broken_entry(const lock::Lock& lock, const std::vector<Checked>& checked) {
  std::set<std::string> keys;
  home::add_keys(lock, keys);
  for (const auto& one : checked) {
    if (one.kind == Checked::Kind::entry && one.why_not && keys.contains(one.id)) {
      return Error(*one.why_not).under("the tree's store entries are still damaged");
    }
  }
  return std::nullopt;
}

bool is_in(const store::Home& home, const Checked& one) {
  return one.path == home.trees() / one.id;
}

void repair_trees(Session& session, const Origins& origins, std::vector<Checked>& checked) {
  for (auto& one : checked) {
    if (one.kind != Checked::Kind::tree || one.is_clean() || session.stop.stop_requested()) {
      continue;
    }
    const auto origin = origins.trees.find(one.id);
    if (!is_in(session.home, one)) {
      settle(one, Checked::Repair::failed,
             tl::unexpected<Error>(
                 Error{.code = ErrorCode::expected_no,
                       .message = "the tree stands outside of this home",
                       .where = one.path.string(),
                       .hint = "a copy: run its `cukit up --prefix` again; the system "
                               "store: its owner repairs it with --system"}));
    } else if (origin == origins.trees.end()) {
      settle(one, Checked::Repair::removed, discard(session.home, one.path));
    } else if (auto why = broken_entry(origin->second.first, checked)) {
      settle(one, Checked::Repair::failed, tl::unexpected<Error>(std::move(*why)));
    } else {
      settle(one, Checked::Repair::repaired,
             repair_tree(session, origin->second.first, origin->second.second));
    }
  }
}

/// Fills differences and unreadable; false when it is gone.
Result<bool> compare_entry(const store::Home& home, Checked& one, store::DigestMemory& memory,
                           const std::stop_token& stop) {
  const store::Store store(home);
  auto found = store.differences(one.id, memory, stop);
  if (found) {
    one.differences = std::move(*found);
  } else if (found.error().code == ErrorCode::interrupted) {
    return tl::unexpected<Error>(std::move(found.error()));
  } else if (found.error().code == ErrorCode::expected_no && !path_exists(one.path)) {
    return false; // gc was here
  } else if (found.error().code == ErrorCode::expected_no) {
    one.unreadable = other_kind(one.path, "a folder");
  } else {
    one.unreadable = std::move(found.error());
  }
  return true;
}

/// The record of a tree says what the lock says that it was built from.
std::optional<Error> other_record(const Origins& origins, const std::string& id,
                                  const fs::path& tree) {
  const auto origin = origins.trees.find(id);
  if (origin == origins.trees.end()) {
    return std::nullopt;
  }
  const auto& [lock, platform] = origin->second;
  const auto file = tree / ".cukit/input";
  const auto text = read_kept(file, limits::k_lock_bytes);
  // A tree of an older cukit has the same lines without the one that ends them.
  const auto wanted = assemble::write_input(lock, *lock.find(platform));
  if (text && (*text == wanted || (!text->empty() && wanted.starts_with(*text + "end\t")))) {
    return std::nullopt;
  }
  return text ? Error{.code = ErrorCode::integrity,
                      .message = "the record differs from the lock that the tree was built from",
                      .where = file.string(),
                      .hint = "`cukit verify --repair` builds the tree again"}
              : text.error();
}

Result<bool> compare_tree(const Origins& origins, Checked& one, store::DigestMemory& memory,
                          const std::stop_token& stop) {
  auto tree = assemble::open_tree(one.path);
  if (!tree) { // gc and a new build may both have been here since the folder was listed
    tree = assemble::open_tree(one.path);
  }
  auto found = tree ? assemble::differences(*tree, memory, stop)
                    : Result<std::vector<store::Difference>>(tl::unexpected<Error>(tree.error()));
  if (found) {
    one.differences = std::move(*found);
    if (one.id.empty()) {
      one.id = tree->id.hex();
    } else if (tree->id.hex() != one.id) {
      one.unreadable = Error{.code = ErrorCode::integrity,
                             .message = "the record is another tree's",
                             .where = (one.path / ".cukit/input").string()};
    } else {
      one.unreadable = other_record(origins, one.id, one.path);
    }
  } else if (found.error().code == ErrorCode::interrupted) {
    return tl::unexpected<Error>(std::move(found.error()));
  } else if (!path_exists(one.path)) {
    return false;
  } else {
    one.unreadable = std::move(found.error());
  }
  return true;
}

/// A lock that a newer cukit wrote is whole; this one cannot judge it.
bool is_newer(const std::string& lock) {
  constexpr std::string_view head = "cukit-lock: ";
  return lock.starts_with(head) &&
         lock.substr(head.size(), 2) != fmt::format("{}\n", lock::k_format);
}

struct DamagedGeneration {
  names::Damaged what;
  bool is_certain = false; ///< its files can be read, and its lock is none
};

/// Generations of which something cannot be read.
Result<std::vector<DamagedGeneration>> damaged_generations(const store::Home& home) {
  std::vector<DamagedGeneration> result;
  CUKIT_TRY_ASSIGN(auto damaged, names::find_damaged(home));
  for (auto& one : damaged) {
    result.push_back({.what = std::move(one)});
  }
  std::vector<Error> told; // the same
  CUKIT_TRY_ASSIGN(const auto generations, home::all_generations(home, &told));
  for (const auto& one : generations) {
    const int number = one.generation.number;
    const auto file = names::lock_path(home, one.name, number);
    auto lock = lock::read(one.generation.lock, file.string());
    if (!lock && !is_newer(one.generation.lock)) {
      result.push_back({.what = {.name = one.name,
                                 .number = number,
                                 .path = file.parent_path(),
                                 .why = std::move(lock).error()},
                        .is_certain = true});
    }
  }
  return result;
}

/// What is named is not read again as it was: nothing else knows it.
void repair_generations(Session& session, std::vector<Checked>& checked) {
  const auto damaged = damaged_generations(session.home);
  for (auto& one : checked) {
    if (one.kind != Checked::Kind::generation || !damaged) {
      continue;
    }
    for (const auto& [what, is_certain] : *damaged) {
      if (what.path == one.path) {
        settle(one, Checked::Repair::removed, names::drop_damaged(session.home, what, is_certain));
      }
    }
  }
}

Result<void> add_generations(const store::Home& home, std::vector<Checked>& result) {
  CUKIT_TRY_ASSIGN(auto damaged, damaged_generations(home));
  for (auto& [one, is_certain] : damaged) {
    auto what = one.number > 0 ? fmt::format("generation {} of {}", one.number, one.name)
                               : fmt::format("the name {}", one.name);
    result.push_back({.kind = Checked::Kind::generation,
                      .id = fmt::format("{}/{}", one.name, one.number),
                      .what = std::move(what),
                      .path = one.path,
                      .unreadable = std::move(one.why)});
  }
  return {};
}

/// A repair that left a difference has failed.
Result<void> look_again(const store::Home& home, const Origins& origins, Checked& one,
                        const std::stop_token& stop) {
  if (one.repair != Checked::Repair::repaired) {
    return {};
  }
  Checked again{.kind = one.kind, .id = one.id, .what = one.what, .path = one.path};
  store::DigestMemory memory;
  CUKIT_TRY_ASSIGN(const bool there, one.kind == Checked::Kind::entry
                                         ? compare_entry(home, again, memory, stop)
                                         : compare_tree(origins, again, memory, stop));
  if (!there || !again.is_clean()) {
    one.repair = Checked::Repair::failed;
    one.why_not = Error{.code = ErrorCode::integrity,
                        .message = "it differs again after the repair",
                        .where = one.path.string(),
                        .hint = "look at the disk: `dmesg`, `smartctl`"};
  }
  return {};
}

} // namespace

Result<Checked> check_tree(const store::Home& home, const fs::path& path, std::string what,
                           store::DigestMemory& memory, const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(const auto origins, find_origins(home));
  Checked one{.kind = Checked::Kind::tree, .id = "", .what = std::move(what), .path = path};
  // A tree in a home is called by its id; elsewhere it may be called anything.
  if (path.filename().string().size() == 64 && path.parent_path().filename() == "trees") {
    one.id = path.filename().string();
  }
  CUKIT_TRY_ASSIGN(const bool there, compare_tree(origins, one, memory, stop));
  return there ? Result<Checked>(std::move(one))
               : fail(ErrorCode::expected_no, "there is no tree at {}", path.string());
}

Result<std::vector<Checked>> check_home(const store::Home& home, const std::stop_token& stop) {
  std::vector<Checked> result;
  CUKIT_TRY_ASSIGN(const auto origins, find_origins(home));
  store::DigestMemory memory;
  for (const auto kind : {Checked::Kind::entry, Checked::Kind::tree}) {
    const bool entry = kind == Checked::Kind::entry;
    const fs::path parent = entry ? home.store() : home.trees();
    if (!folder_exists(parent)) {
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto ids, list_directory(parent));
    for (const auto& id : ids) {
      Checked one{
          .kind = kind,
          .id = id,
          .what = fmt::format("{} {}", entry ? "store entry" : "tree", printable(id.substr(0, 16))),
          .path = parent / id};
      CUKIT_TRY_ASSIGN(const bool there, entry ? compare_entry(home, one, memory, stop)
                                               : compare_tree(origins, one, memory, stop));
      if (there) {
        result.push_back(std::move(one));
      }
    }
  }
  CUKIT_TRY(add_generations(home, result));
  return result;
}

Result<void> repair(Session& session, std::vector<Checked>& checked) {
  CUKIT_TRY(store::prepare(session.home));
  CUKIT_TRY_ASSIGN(const int cut_off, names::drop_cut_off(session.home));
  if (cut_off > 0) {
    session.progress.say(fmt::format("note: {} {} that a power cut left empty {} removed", cut_off,
                                     cut_off == 1 ? "generation" : "generations",
                                     cut_off == 1 ? "was" : "were"));
  }
  CUKIT_TRY_ASSIGN(const auto origins, find_origins(session.home));
  repair_generations(session, checked);
  repair_entries(session, origins, checked);
  CUKIT_TRY(session.check_stop());
  repair_trees(session, origins, checked);
  CUKIT_TRY(session.check_stop());
  for (auto& one : checked) {
    CUKIT_TRY(look_again(session.home, origins, one, session.stop));
  }
  return {};
}

} // namespace cukit::pipeline

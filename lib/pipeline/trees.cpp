#include "pipeline/trees.hpp"

#include "base/kept_file.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "base/temporary.hpp"
#include "base/user_file.hpp"
#include "home/jit_caches.hpp"
#include "pipeline/entries.hpp"
#include "pipeline/prefix.hpp"
#include "store/replace.hpp"
#include "store/system_store.hpp"

namespace cukit::pipeline {

Result<const lock::PlatformLock*> part_of(const Session& session, const lock::Lock& lock) {
  const auto* part = lock.find(session.platform());
  if (part == nullptr) {
    std::vector<std::string> names;
    for (const auto& one : lock.platforms) {
      names.emplace_back(one.platform.text());
    }
    return tl::unexpected<Error>(Error{
        .code = ErrorCode::expected_no,
        .message = fmt::format("the lock is not for {} (it has {})", session.platform().text(),
                               fmt::format("{}", fmt::join(names, ", "))),
        .hint = fmt::format("add `platforms: [{}]` to the manifest and run `cukit lock`",
                            session.platform().text())});
  }
  if (lock.assembly > lock::k_assembly) {
    return fail(ErrorCode::usage,
                "the lock asks for assembly {}, this cukit knows up to {}: use a newer cukit",
                lock.assembly, lock::k_assembly);
  }
  return part;
}

namespace {

Result<assemble::Tree> build_into(Session& session, const lock::Lock& lock,
                                  const lock::PlatformLock& part, const fs::path& folder,
                                  assemble::Placement placement) {
  CUKIT_TRY_ASSIGN(const auto entries, obtain_entries(session, part));
  CUKIT_TRY(session.check_stop());
  CUKIT_TRY_ASSIGN(const auto files, assemble::plan(lock, part, entries));
  CUKIT_TRY_ASSIGN(auto tree, assemble::build(lock, part, files, folder, placement,
                                              session.progress, session.stop));
  CUKIT_TRY(session.check_stop());
  return tree;
}

Result<assemble::Tree> build_in_home(Session& session, const lock::Lock& lock,
                                     const lock::PlatformLock& part, const fs::path& path) {
  CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(session.home));
  const auto folder = staging.path() / "tree";
  CUKIT_TRY(make_directories(folder));
  CUKIT_TRY(build_into(session, lock, part, folder, assemble::Placement::link));
  const bool full = session.settings.durability == store::Durability::full;
  if (full) {
    CUKIT_TRY(sync_file_system(folder));
  }
  // Held before anybody can see it, so that no gc comes between this and the name.
  CUKIT_TRY_ASSIGN(const auto hold, store::FolderHold::shared(folder));
  if (path_exists(path) && !is_kept_folder(path)) { // no tree, but it bars the place of one
    CUKIT_TRY(store::move_out(path, staging.path() / "barrier"));
  }
  CUKIT_TRY(rename_no_replace(folder, path));
  CUKIT_TRY(assemble::seal_tree(path));
  if (full) {
    CUKIT_TRY(sync_directory(path.parent_path()));
  }
  return assemble::open_tree(path);
}

} // namespace

Result<assemble::Tree> open_standing(const store::Home& home, const Sha256& id) {
  const auto path = home.tree(id.hex());
  CUKIT_TRY(store::check_use(home, path));
  return assemble::open_tree(path);
}

Result<Built> ensure_tree(Session& session, const lock::Lock& lock) {
  CUKIT_TRY_ASSIGN(const auto* part, part_of(session, lock));
  const auto id = lock::tree_id(lock, *part);
  CUKIT_TRY(store::check_use(session.home, session.home.tree(id.hex())));
  if (auto tree = open_standing(session.home, id)) {
    log_detail("store", "tree {} stands", id.hex());
    return Built{std::move(*tree), false};
  }
  CUKIT_TRY(store::prepare(session.home));
  const auto told = [&](int holder) {
    session.progress.say(fmt::format("waiting for another cukit{} that builds this tree",
                                     holder > 0 ? fmt::format(" (process {})", holder) : ""));
  };
  CUKIT_TRY_ASSIGN(const auto guard, store::lock(session.home, "tree-" + id.hex(),
                                                 FileLock::Mode::exclusive, session.stop, told));
  const auto path = session.home.trees() / id.hex();
  auto standing = assemble::open_tree(path);
  if (standing) {
    return Built{std::move(*standing), true};
  }
  if (is_kept_folder(path) &&
      is_kept_folder(path / ".cukit")) { // nobody else builds it now: it is damaged
    return tl::unexpected<Error>(std::move(standing.error()));
  }
  if (is_kept_folder(path)) { // a removal in place that was killed
    CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(session.home));
    CUKIT_TRY(store::move_out(path, staging.path() / "rest"));
  }
  log_decision("store", "builds tree {}", id.hex());
  CUKIT_TRY_ASSIGN(auto tree, build_in_home(session, lock, *part, path));
  return Built{std::move(tree), true};
}

Result<void> rebuild_tree(Session& session, const lock::Lock& lock) {
  CUKIT_TRY_ASSIGN(const auto* part, part_of(session, lock));
  const auto id = lock::tree_id(lock, *part);
  const auto path = session.home.trees() / id.hex();
  CUKIT_TRY_ASSIGN(const auto guard, store::lock(session.home, "tree-" + id.hex(),
                                                 FileLock::Mode::exclusive, session.stop));
  CUKIT_TRY_ASSIGN(const auto staging, store::Staging::create(session.home));
  const auto folder = staging.path() / "tree";
  CUKIT_TRY(make_directories(folder));
  CUKIT_TRY(build_into(session, lock, *part, folder, assemble::Placement::link));
  if (session.settings.durability == store::Durability::full) {
    CUKIT_TRY(sync_file_system(folder));
  }
  CUKIT_TRY(store::put_in_place(folder, path)); // the damaged one goes with the staging folder
  CUKIT_TRY(assemble::seal_tree(path));
  return sync_directory(path.parent_path());
}

namespace {

/// The tree at the prefix when it is this one, and whole. What of it was changed is said before it
/// is replaced.
Result<std::optional<assemble::Tree>> standing_tree(Session& session, const fs::path& prefix,
                                                    const Sha256& id) {
  auto tree = assemble::open_tree(prefix);
  if (!tree) {
    return std::optional<assemble::Tree>();
  }
  CUKIT_TRY_ASSIGN(const auto problems, assemble::verify(*tree, session.stop));
  if (problems.empty() && tree->id == id) {
    return std::optional<assemble::Tree>(std::move(*tree));
  }
  if (!problems.empty()) {
    session.progress.say(
        fmt::format("note: the tree at {} is not as it was built, and is replaced "
                    "({}{})",
                    printable(prefix.string()), problems.front(),
                    problems.size() == 1 ? "" : fmt::format(" and {} more", problems.size() - 1)));
  }
  return std::optional<assemble::Tree>();
}

} // namespace

Result<Built> ensure_prefix(Session& session, const lock::Lock& lock) {
  CUKIT_TRY_ASSIGN(const auto* part, part_of(session, lock));
  CUKIT_TRY_ASSIGN(const auto prefix, absolute_path(session.settings.prefix));
  const auto target = prefix.has_filename() ? prefix : prefix.parent_path();
  sweep_temporary(target.parent_path());
  CUKIT_TRY(finish_switch(target, session.stop));
  CUKIT_TRY(check_prefix(target));
  CUKIT_TRY_ASSIGN(auto standing, standing_tree(session, target, lock::tree_id(lock, *part)));
  if (standing) {
    home::remember_place(session.home, *standing);
    return Built{std::move(*standing), false};
  }
  CUKIT_TRY(check_switch(target));
  CUKIT_TRY(store::prepare(session.home));
  CUKIT_TRY_ASSIGN(const auto scratch,
                   HeldDirectory::create(target.parent_path(), temporary::k_prefix));
  const auto folder = scratch.path() / "tree";
  CUKIT_TRY(make_directories(folder));
  CUKIT_TRY(build_into(session, lock, *part, folder, assemble::Placement::copy));
  if (session.settings.durability == store::Durability::full) {
    CUKIT_TRY(sync_file_system(folder));
  }
  CUKIT_TRY(switch_prefix(folder, target, session.stop));
  CUKIT_TRY_ASSIGN(auto tree, assemble::open_tree(target));
  home::remember_place(session.home, tree);
  return Built{std::move(tree), true};
}

} // namespace cukit::pipeline

#include "pipeline/up.hpp"

#include "base/temporary.hpp"
#include "base/user_file.hpp"
#include "names/names.hpp"
#include "pipeline/entries.hpp"
#include "pipeline/trees.hpp"

namespace cukit::pipeline {

namespace {

bool is_native(const Session& session) {
  return session.platform() == Platform::host();
}

bool takes_name(const Session& session) {
  return session.settings.prefix.empty() && is_native(session);
}

/// Where the manifest lies, for people; of one that a bundle brought, the bundle.
std::string origin_of(const Session& session, const Locked& locked) {
  const auto& bundle = session.settings.bundle;
  const auto path = absolute_path(bundle.empty() ? fs::path(locked.manifest.file) : bundle);
  return path ? path->string() : std::string();
}

/// Without its report.
names::Generation generation_of(const Session& session, const UpResult& result,
                                const assemble::Tree& tree) {
  names::Generation generation;
  generation.tree = tree.id.hex();
  generation.lock = lock::write(result.locked.lock);
  generation.manifest = origin_of(session, result.locked);
  return generation;
}

/// Says when the name led to the toolkit of another manifest until now: two projects that take one
/// name take it from each other.
void note_a_move(const Session& session, const names::Generation& next, UpResult& result) {
  const auto current = names::current(session.home, result.name);
  if (!current || !*current || (*current)->manifest.empty() || next.manifest.empty() ||
      (*current)->manifest == next.manifest || names::same_toolkit(**current, next)) {
    return;
  }
  const auto& before = (*current)->manifest;
  result.locked.notes.push_back(
      {.text = fmt::format("the name {} was that of {} and is now that of {}{}", result.name,
                           before, next.manifest,
                           path_exists(before) ? "; give one of the two manifests another `name:`, "
                                                 "or use them as `cukit env MANIFEST`"
                                               : ""),
       .source = "names"});
}

/// Step 3 of the list in lib/README.md: everything is there and right, so nothing is opened but
/// small files.
Result<bool> already_done(Session& session, UpResult& result) {
  const auto* part = result.locked.lock.find(session.platform());
  if (part == nullptr || !takes_name(session) || result.locked.changed) {
    return false;
  }
  auto tree = open_standing(session.home, lock::tree_id(result.locked.lock, *part));
  if (!tree) {
    return false; // not there, or damaged: building it says so
  }
  names::Generation wanted = generation_of(session, result, *tree);
  const auto read = names::current(session.home, result.name);
  const auto current = read ? *read : std::nullopt; // one that cannot be read is made anew
  if (!current || !names::same_toolkit(*current, wanted)) {
    return false;
  }
  if (session.settings.validate) {
    CUKIT_TRY_ASSIGN(auto known,
                     known_report(session, tree->content, validation_plan(result.locked)));
    wanted.report = known.key;
    CUKIT_TRY_ASSIGN(const bool is_named, names::has_generation(session.home, result.name, wanted));
    if (!known.report || !is_named) {
      return false;
    }
    result.report = std::move(known.report);
  }
  result.tree = std::move(*tree);
  result.nothing_to_do = true;
  return true;
}

/// What a dead run left is no reason not to go on.
void tidy(Session& session) {
  const auto swept = store::sweep(session.home);
  if (!swept) {
    session.progress.say(fmt::format("note: what a dead run left stays: {}{}",
                                     swept.error().message,
                                     swept.error().hint.empty() ? "" : "; " + swept.error().hint));
  }
}

Outcome<UpResult> start(Session& session, const fs::path& manifest_path) {
  UpResult result;
  CUKIT_TRY_ASSIGN(result.locked, ensure_lock(session, manifest_path));
  // What a killed run left, also one that had finished everything but its own tidying.
  // Looked at first: a run that has nothing to do writes nothing, not even a lock.
  if (const auto left = list_directory(session.home.staging()); left && !left->empty()) {
    tidy(session);
  }
  sweep_temporary(temporary_folder(session.environment));
  result.name = takes_name(session) ? result.locked.manifest.name.value : "";
  if (session.settings.lock_mode == LockMode::locked) {
    CUKIT_TRY(meets_requirements(result.locked.lock, session.platform()));
  }
  return result;
}

} // namespace

ValidationPlan validation_plan(const Locked& locked) {
  ValidationPlan plan;
  plan.gpus = locked.lock.gpus;
  for (const auto& suite : locked.manifest.suites) {
    plan.suites.push_back(suite.value);
  }
  if (plan.suites.empty()) {
    plan.suites = {"core"};
  }
  if (locked.manifest.host_compiler) {
    plan.host_compiler = locked.manifest.host_compiler->value;
  }
  return plan;
}

Outcome<UpResult> up(Session& session, const fs::path& manifest_path) {
  CUKIT_TRY_ASSIGN(auto result, start(session, manifest_path));
  if (session.settings.dry_run) {
    return result;
  }
  CUKIT_TRY_ASSIGN(const bool done, already_done(session, result));
  if (done) {
    return result;
  }
  const auto plan = validation_plan(result.locked);
  const bool validates = session.settings.validate && is_native(session);
  if (validates) {
    CUKIT_TRY(check_host_compiler(session, plan)); // before anything is downloaded
  }
  CUKIT_TRY_ASSIGN(auto built, session.settings.prefix.empty()
                                   ? ensure_tree(session, result.locked.lock)
                                   : ensure_prefix(session, result.locked.lock));
  result.tree = std::move(built.tree);
  result.nothing_to_do = !built.made && !takes_name(session) && !validates;
  Known known;
  if (validates) {
    CUKIT_TRY_ASSIGN(known, known_report(session, result.tree->content, plan));
    if (!known.report) {
      CUKIT_TRY_ASSIGN(known.report, validate_tree(session, *result.tree, plan,
                                                   takes_name(session) ? known.key : ""));
    }
    result.report = std::move(known.report);
    if (result.report->has_failure()) {
      return result;
    }
  }
  if (takes_name(session)) {
    auto next = generation_of(session, result, *result.tree);
    next.report = known.key;
    note_a_move(session, next, result);
    CUKIT_TRY_ASSIGN(result.switched, names::switch_to(session.home, result.name, next,
                                                       session.settings.durability));
  }
  return result;
}

Outcome<Locked> fetch(Session& session, const fs::path& manifest_path) {
  CUKIT_TRY_ASSIGN(auto result, start(session, manifest_path));
  const auto* part = result.locked.lock.find(session.platform());
  if (part == nullptr) {
    return tl::unexpected<Failure>(Failure(
        Error{.code = ErrorCode::expected_no,
              .message = fmt::format("the lock is not for {}", session.platform().text())}));
  }
  if (!session.settings.dry_run) {
    CUKIT_TRY(store::prepare(session.home));
    CUKIT_TRY(obtain_entries(session, *part));
  }
  return std::move(result.locked);
}

Outcome<UpResult> build(Session& session, const fs::path& manifest_path) {
  CUKIT_TRY_ASSIGN(auto result, start(session, manifest_path));
  CUKIT_TRY_ASSIGN(auto built, session.settings.prefix.empty()
                                   ? ensure_tree(session, result.locked.lock)
                                   : ensure_prefix(session, result.locked.lock));
  result.name.clear();
  result.tree = std::move(built.tree);
  result.nothing_to_do = !built.made;
  return result;
}

} // namespace cukit::pipeline

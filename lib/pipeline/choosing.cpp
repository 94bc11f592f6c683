#include "pipeline/choosing.hpp"

#include "pipeline/offers.hpp"
#include "resolve/cutoff.hpp"
#include "resolve/likely.hpp"

#include <algorithm>

namespace cukit::pipeline {

namespace {

/// The catalog as it was at --exclude-newer, and a note of what could not be dated.
Result<void> apply_cutoff(const Session& session, catalog::Catalog& catalog,
                          std::vector<resolve::Note>& notes) {
  if (session.settings.exclude_newer.empty()) {
    return {};
  }
  CUKIT_TRY_ASSIGN(const auto cutoff, resolve::Cutoff::parse(session.settings.exclude_newer));
  const auto has_release = [&] {
    return !catalog.releases.empty() ||
           std::any_of(catalog.manifests.begin(), catalog.manifests.end(),
                       [](const auto& manifest) { return manifest.product == "cuda"; });
  };
  const bool had_release = has_release();
  const auto excluded = resolve::exclude_newer(catalog, cutoff);
  if (excluded.unknown > 0) {
    notes.push_back(
        {.text = fmt::format("{} files were left out because the index states no upload "
                             "time for them",
                             excluded.unknown),
         .source = "--exclude-newer"});
  }
  if (has_release() || (catalog.redist_was_asked && !had_release)) {
    return {};
  }
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::source,
            .message = fmt::format("no release of CUDA that could serve was there by {} UTC",
                                   cutoff.text()),
            .hint = excluded.unknown > 0
                        ? fmt::format("{} files were left out because the index states no upload "
                                      "time for them; ask one that does (--index-url)",
                                      excluded.unknown)
                        : "choose a later moment for --exclude-newer"});
}

Failure no_answer(const manifest::Manifest& manifest, resolve::Conflict conflict) {
  return Failure(Error{.code = ErrorCode::conflict,
                       .message = fmt::format("no toolkit answers all of {}", manifest.file)},
                 std::move(conflict));
}

/// What a choice is made from.
struct Choosing {
  const manifest::Manifest& manifest;
  const resolve::MachineFacts& machine;
  const lock::Lock* earlier;
  resolve::Wanted wanted;
};

/// The answer among the few releases where it is expected; empty: all must be read. A cutoff or a
/// question for reasons is about the others too.
Result<std::optional<resolve::Resolution>> choose_among_few(Session& session,
                                                            const Choosing& choosing) {
  auto wanted = choosing.wanted;
  if (!wanted.wheels || wanted.redist || session.settings.explain ||
      !session.settings.exclude_newer.empty()) {
    return std::optional<resolve::Resolution>();
  }
  CUKIT_TRY_ASSIGN(const auto minors, resolve::likely_minors(choosing.manifest, session.knowledge,
                                                             choosing.machine, choosing.earlier));
  if (minors.empty()) {
    return std::optional<resolve::Resolution>();
  }
  wanted.minors = minors;
  CUKIT_TRY_ASSIGN(const auto catalog, load_catalog(session, wanted));
  auto answer = resolve::resolve(choosing.manifest, session.knowledge, catalog, choosing.machine,
                                 choosing.earlier);
  if (!answer || std::holds_alternative<resolve::Conflict>(*answer)) {
    return std::optional<resolve::Resolution>();
  }
  return std::optional(std::get<resolve::Resolution>(*std::move(answer)));
}

Outcome<resolve::Resolution> choose_among_all(Session& session, const Choosing& choosing) {
  CUKIT_TRY_ASSIGN(auto catalog, load_catalog(session, choosing.wanted));
  std::vector<resolve::Note> cutoff_notes;
  CUKIT_TRY(apply_cutoff(session, catalog, cutoff_notes));
  const auto choose = [&] {
    return resolve::resolve(choosing.manifest, session.knowledge, catalog, choosing.machine,
                            choosing.earlier);
  };
  CUKIT_TRY_ASSIGN(auto answer, choose());
  if (std::holds_alternative<resolve::Conflict>(answer)) {
    CUKIT_TRY_ASSIGN(const bool has_more, add_redist(session, choosing.wanted, catalog));
    if (has_more) {
      CUKIT_TRY(apply_cutoff(session, catalog, cutoff_notes));
      CUKIT_TRY_ASSIGN(answer, choose());
    }
  }
  if (auto* conflict = std::get_if<resolve::Conflict>(&answer)) {
    return tl::unexpected<Failure>(no_answer(choosing.manifest, std::move(*conflict)));
  }
  auto resolution = std::get<resolve::Resolution>(std::move(answer));
  resolution.notes.insert(resolution.notes.end(), cutoff_notes.begin(), cutoff_notes.end());
  return resolution;
}

} // namespace

Outcome<resolve::Resolution> resolve_online(Session& session, const manifest::Manifest& manifest,
                                            const resolve::MachineFacts& machine,
                                            const lock::Lock* earlier) {
  Choosing choosing{.manifest = manifest, .machine = machine, .earlier = earlier, .wanted = {}};
  CUKIT_TRY_ASSIGN(choosing.wanted, resolve::wanted(manifest, session.knowledge));
  CUKIT_TRY_ASSIGN(auto likely, choose_among_few(session, choosing));
  resolve::Resolution resolution;
  if (likely) {
    resolution = *std::move(likely);
  } else {
    CUKIT_TRY_ASSIGN(resolution, choose_among_all(session, choosing));
  }
  for (const auto& unfinished : resolution.needs_record) {
    CUKIT_TRY(session.check_stop());
    auto& artifact = resolution.lock.platforms[unfinished.platform].artifacts[unfinished.artifact];
    CUKIT_TRY_ASSIGN(auto* index, session.index());
    CUKIT_TRY_ASSIGN(const auto remote, index->inspect(unfinished.wheel, session.stop));
    artifact.record = remote.record;
  }
  return resolution;
}

} // namespace cukit::pipeline

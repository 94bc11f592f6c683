#include "base/limits.hpp"
#include "base/strings.hpp"
#include "base/temporary.hpp"
#include "commands/summary.hpp"
#include "pipeline/bundle.hpp"
#include "pipeline/entries.hpp"

#include <algorithm>
#include <chrono>

namespace cukit::cmd {

namespace {

struct UpOptions {
  SettingsOptions settings;
  std::vector<std::string> manifests; ///< with a bundle: names in it, none meaning all
  bool require_run = false;
};

struct One {
  text::Json json;
  std::string talk; ///< for the terminal
  int code = 0;
  std::optional<pipeline::Failure> failure;
};

text::Json lock_notes(const pipeline::Locked& locked) {
  auto notes = text::Json::list();
  for (const auto& note : locked.notes) {
    notes.add(text::Json::object().set("text", note.text).set("source", note.source));
  }
  return notes;
}

std::string dry_run_text(const pipeline::Session& session, const pipeline::UpResult& result) {
  const auto* part = result.locked.lock.find(session.platform());
  std::uint64_t bytes = 0;
  std::string list;
  for (const auto& missing : part == nullptr ? std::vector<pipeline::Missing>{}
                                             : pipeline::missing_entries(session, *part)) {
    bytes += missing.bytes;
    list += fmt::format("  {}  {}\n", missing.file,
                        missing.ranged ? "headers only, by ranges" : human_bytes(missing.bytes));
  }
  // Modelled on a line of 100 Mbit/s and the unpacking rate of two processors; said so, never
  // measured.
  const double seconds = static_cast<double>(bytes) / 12.5e6 + static_cast<double>(bytes) / 80e6;
  return fmt::format("{}: CUDA {}; would download {} (about {:.0f} s at 100 Mbit/s)\n{}",
                     result.locked.manifest.name.value, result.locked.lock.release.text(),
                     human_bytes(bytes), seconds, list);
}

One succeeded(Invocation& invocation, const pipeline::Session& session,
              const pipeline::UpResult& result, double seconds, bool require_run) {
  One one;
  const bool failed = result.report && result.report->has_failure();
  const bool unproven =
      require_run && (!result.report || result.report->count(validate::State::not_run) > 0);
  const char* status = failed                     ? "failed"
                       : session.settings.dry_run ? "dry_run"
                       : result.nothing_to_do     ? "nothing_to_do"
                                                  : "ready";
  one.json = text::Json::object();
  one.json.set("status", status).set("error", text::Json());
  if (result.tree) {
    one.json.set("tree", tree_json(*result.tree, result.name));
  }
  one.json.set("lock", result.locked.path.string())
      .set("release", result.locked.lock.release.text());
  one.json.set("validation", result.report ? validation_json(*result.report) : text::Json());
  one.json.set("notes", lock_notes(result.locked));
  one.json.set("downloaded_bytes", session.downloaded_bytes).set("seconds", seconds);
  one.code = failed || unproven ? 1 : 0;
  one.talk = session.settings.dry_run ? dry_run_text(session, result) : up_text(invocation, result);
  for (const auto& note : result.locked.notes) {
    one.talk += fmt::format("  {} {} [{}]\n", invocation.output().paint(ui::Style::warn, "note"),
                            printable(note.text), printable(note.source));
  }
  if (session.downloaded_bytes > 0) {
    one.talk +=
        fmt::format("  {} downloaded, {:.1f} s\n", human_bytes(session.downloaded_bytes), seconds);
  }
  return one;
}

One up_one(Invocation& invocation, const UpOptions& options, const pipeline::Settings& settings,
           const std::string& manifest) {
  const auto began = std::chrono::steady_clock::now();
  One one;
  auto opened = open_session(invocation, settings);
  if (!opened) {
    one.failure = std::move(opened.error());
  } else {
    auto result = pipeline::up(*opened->session, manifest);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (result) {
      one = succeeded(invocation, *opened->session, *result, seconds, options.require_run);
    } else {
      one.failure = std::move(result.error());
    }
  }
  if (one.failure) {
    one.code = static_cast<int>(one.failure->error.code);
    one.json = text::Json::object()
                   .set("status", "error")
                   .set("error", one.failure->conflict ? conflict_json(*one.failure->conflict)
                                                       : error_json(one.failure->error));
  }
  return one;
}

/// The manifests of a bundle, put into `folder` with their locks. One that also lies where the user
/// names it must be the same: else its lock would be of something else.
Result<std::vector<std::string>> bundled_manifests(const UpOptions& options,
                                                   const fs::path& folder) {
  CUKIT_TRY_ASSIGN(const auto bundle, pipeline::Bundle::open(options.settings.bundle));
  std::vector<std::string> result;
  for (const auto& wanted : options.manifests.empty() ? bundle.manifests() : options.manifests) {
    const auto name = fs::path(wanted).filename().string();
    const auto known = bundle.manifests();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      Error error{.code = ErrorCode::usage, .message = {}, .where = options.settings.bundle};
      error.message = fmt::format("the bundle has no manifest {}", name);
      error.hint = "it has " + join(known, ", ");
      return tl::unexpected<Error>(std::move(error));
    }
    CUKIT_TRY_ASSIGN(const auto path, bundle.extract(name, folder));
    if (path_exists(wanted)) {
      CUKIT_TRY_ASSIGN(const auto theirs, read_file(wanted, limits::k_manifest_bytes));
      CUKIT_TRY_ASSIGN(const auto ours, read_file(path, limits::k_manifest_bytes));
      if (theirs != ours) {
        Error error{.code = ErrorCode::expected_no, .message = {}, .where = wanted};
        error.message = "the manifest is not the one that the bundle was made from";
        error.hint = "make the bundle again, or leave the manifest out to take the bundle's own";
        return tl::unexpected<Error>(std::move(error));
      }
    }
    result.push_back(path.string());
  }
  return result;
}

text::Json with_name(const std::string& manifest, const text::Json& result) {
  auto json = text::Json::object().set("manifest", manifest);
  for (const auto& [key, value] : result.members()) {
    json.set(key, value);
  }
  return json;
}

int run_up(Invocation& invocation, UpOptions options) {
  auto settings = options.settings.settings();
  if (!settings) {
    return report(invocation, settings.error());
  }
  std::optional<HeldDirectory> unpacked;
  if (!options.settings.bundle.empty()) {
    auto folder =
        HeldDirectory::create(temporary_folder(invocation.environment), temporary::k_manifests);
    auto names = folder ? bundled_manifests(options, folder->path())
                        : Result<std::vector<std::string>>(tl::unexpected<Error>(folder.error()));
    if (!names) {
      return report(invocation, names.error());
    }
    unpacked.emplace(*std::move(folder));
    options.manifests = *std::move(names);
    if (settings->lock_mode == pipeline::LockMode::normal) {
      settings->lock_mode = pipeline::LockMode::frozen;
    }
  }
  auto named = given_or_nearest(invocation, options.manifests);
  if (!named) {
    return report(invocation, named.error());
  }
  options.manifests = *std::move(named);
  if (!settings->prefix.empty() && options.manifests.size() > 1) {
    return report(invocation, Error{.code = ErrorCode::usage,
                                    .message = "--prefix takes one manifest at a time"});
  }
  auto results = text::Json::list();
  int code = 0;
  bool is_idle = true;
  for (const auto& manifest : options.manifests) {
    auto one = up_one(invocation, options, *settings, manifest);
    const auto status = one.json.text_of("status");
    is_idle = is_idle && (status == "nothing_to_do" || status == "dry_run");
    results.add(with_name(manifest, one.json));
    if (!invocation.options.json) {
      if (one.failure) {
        report(invocation, *one.failure);
      }
      ui::print(one.talk);
    }
    code = code == 0 ? one.code : code;
    if (invocation.stop.stop_requested()) {
      break;
    }
  }
  const auto all = text::Json::object().set("schema", "cukit.up/1").set("results", results);
  if (!is_idle) {
    invocation.outcome = all;
  }
  if (invocation.options.json) {
    print_json(all);
  }
  return code;
}

} // namespace

void register_up(Commands& commands) {
  auto options = std::make_shared<UpOptions>();
  auto* app = commands.add(
      "up", "From a manifest to a validated toolkit: lock, fetch, build, validate, name",
      [options](Invocation& invocation) { return run_up(invocation, *options); });
  app->add_option("MANIFEST", options->manifests,
                  "Manifests (YAML); a bundle brings its own; else cukit.yaml here or above");
  app->add_option("--bundle", options->settings.bundle,
                  "Take everything from this file of `cukit bundle` and ask nobody")
      ->type_name("FILE");
  options->settings.add_lock_options(*app);
  options->settings.add_tree_options(*app);
  app->add_flag("--no-validate", options->settings.no_validate,
                "Leave validation out; the result says so");
  app->add_flag("--require-run", options->require_run,
                "Fail when a kernel could not be run for want of a GPU");
  app->add_flag("--dry-run", options->settings.dry_run, "Only say what would be downloaded");
}

} // namespace cukit::cmd

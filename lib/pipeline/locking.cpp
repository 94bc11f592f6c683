#include "pipeline/locking.hpp"

#include "base/log.hpp"
#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "machine/machine.hpp"
#include "model/shell_command.hpp"
#include "pipeline/choosing.hpp"
#include "pipeline/kept.hpp"
#include "python/venv.hpp"
#include "resolve/hand_edits.hpp"
#include "resolve/requirements.hpp"

#include <algorithm>

namespace cukit::pipeline {

namespace {

Outcome<Locked> locked_as_it_is(Locked result, Session& session) {
  CUKIT_TRY(resolve::check_pins(result.lock, session.knowledge));
  return result;
}

tl::unexpected<Failure> stale_error(const Locked& result) {
  return tl::unexpected<Failure>(Failure(Error{
      .code = ErrorCode::expected_no,
      .message = fmt::format("the lock {} does not hold: {}", result.path.string(), result.why),
      .where = result.manifest.file,
      .hint = fmt::format("run `{}` and commit the result",
                          ShellCommand({"cukit", "lock", result.manifest.file}).text())}));
}

/// The text of a lock; of a link that leads to nothing, as of an empty file, there is none.
Result<std::string> read_existing_lock(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error) && !error) {
    return std::string();
  }
  return read_file(path, limits::k_lock_bytes);
}

const std::string k_edited = "it was changed by hand, or by another version of cukit: ";

/// A frozen lock is taken as it is, but not in silence. What this machine lacks to judge it is no
/// matter here.
void tell_edits(Session& session, const Locked& result, std::string_view text) {
  auto manifest = result.manifest;
  const auto machine = machine_facts(session, manifest, &*result.before);
  if (!machine || result.lock.manifest != manifest.digest) {
    return;
  }
  const auto edit =
      resolve::changed_by_hand(result.lock, text, manifest, session.knowledge, *machine);
  if (edit && !edit->empty()) {
    session.progress.say(fmt::format("note: the lock {} is taken as it is, but {}{}",
                                     result.path.string(), k_edited, *edit));
  }
}

/// Fills `why` with the reason the existing lock does not hold; empty when it does.
Result<Locked> read_existing(Session& session, const fs::path& manifest_path,
                             resolve::MachineFacts& machine) {
  Locked result;
  CUKIT_TRY_ASSIGN(result.manifest, manifest::load(manifest_path, session.knowledge));
  result.path = lock::lock_path(manifest_path);
  std::string text;
  if (path_exists(result.path)) {
    CUKIT_TRY_ASSIGN(text, read_existing_lock(result.path));
  }
  if (!trim(text).empty()) {
    CUKIT_TRY_ASSIGN(result.lock, lock::read(text, result.path.string()));
    result.before = result.lock;
  }
  if (session.settings.lock_mode == LockMode::frozen && result.before) {
    tell_edits(session, result, text);
    return result;
  }
  CUKIT_TRY_ASSIGN(
      machine, machine_facts(session, result.manifest, result.before ? &*result.before : nullptr));
  if (!result.before) {
    result.why = path_exists(result.path) ? "there is nothing in it" : "there is none yet";
    log_decision("lock", "{} is made: {}", result.path.string(), result.why);
    return result;
  }
  CUKIT_TRY_ASSIGN(result.why,
                   resolve::stale(result.lock, result.manifest, session.knowledge, machine));
  if (result.why.empty()) {
    CUKIT_TRY_ASSIGN(const auto edit, resolve::changed_by_hand(result.lock, text, result.manifest,
                                                               session.knowledge, machine));
    result.why = edit.empty() ? "" : k_edited + edit;
  }
  log_decision("lock", "{}: {}", result.path.string(),
               result.why.empty() ? "serves as it is" : "is made again: " + result.why);
  return result;
}

tl::unexpected<Error> not_seen(const manifest::Manifest& manifest, text::Position at,
                               std::string_view what, const std::string& why, std::string hint) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::usage,
            .message = fmt::format("`{}: native`, but no {} is seen here: {}",
                                   what == "GPU" ? "gpus" : "driver", what, why),
            .where = text::place(manifest.file, at),
            .hint = std::move(hint)});
}

Result<void> assume_gpus(const Session& session, const manifest::Manifest& manifest,
                         resolve::MachineFacts& facts) {
  const auto& texts = session.settings.assume_gpus;
  if (!texts.empty() && !manifest.native_gpus) {
    return fail(ErrorCode::usage, "--assume-gpu stands for `gpus: native`, which {} does not say",
                manifest.file);
  }
  for (const auto& text : texts) {
    CUKIT_TRY_ASSIGN(const auto target, knowledge::find_gpu(session.knowledge, text));
    facts.gpus.push_back(
        {.index = static_cast<int>(facts.gpus.size()), .name = text, .uuid = {}, .target = target});
  }
  facts.assumed_gpus = !texts.empty();
  return {};
}

Result<void> assume_driver(const Session& session, const manifest::Manifest& manifest,
                           resolve::MachineFacts& facts) {
  const auto& text = session.settings.assume_driver;
  if (text.empty()) {
    return {};
  }
  if (!manifest.native_driver) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("--assume-driver stands for `driver: native`, which {} does "
                                     "not say",
                                     manifest.file),
              .hint = fmt::format("write `driver: native`, or the driver itself: `driver: "
                                  "\">={}\"`",
                                  text)});
  }
  CUKIT_TRY_ASSIGN(const auto version, Version::parse(text));
  facts.driver = machine::Driver{.version = version, .cuda = {}};
  facts.assumed_driver = true;
  return {};
}

/// What the machine shows of the native wishes that nobody assumed; where it shows nothing, what
/// the earlier lock assumed stays.
Result<void> look_at_devices(const Session& session, const manifest::Manifest& manifest,
                             const lock::Lock* earlier, resolve::MachineFacts& facts) {
  const bool needs_gpus = manifest.native_gpus && !facts.assumed_gpus;
  const bool needs_driver = manifest.native_driver && !facts.assumed_driver;
  if (!needs_gpus && !needs_driver) {
    return {};
  }
  const auto devices = machine::devices(session.stop);
  if (needs_gpus) {
    facts.gpus = devices.gpus;
    if (facts.gpus.empty() && earlier != nullptr && earlier->assumed_gpus) {
      facts.assumed_gpus = true;
      for (const auto& target : earlier->gpus) {
        facts.gpus.push_back({.index = 0, .name = target.sm(), .uuid = {}, .target = target});
      }
    }
    if (facts.gpus.empty()) {
      return not_seen(manifest, manifest.native_gpus_at, "GPU", devices.why_none,
                      "name the GPUs instead (`gpus: [sm_90]`), or say --assume-gpu sm_90");
    }
  }
  if (needs_driver) {
    facts.driver = devices.driver;
    if (!facts.driver && earlier != nullptr && earlier->assumed_driver) {
      CUKIT_TRY_ASSIGN(const auto version, Version::parse(earlier->driver));
      facts.driver = machine::Driver{.version = version, .cuda = {}};
      facts.assumed_driver = true;
    }
    if (!facts.driver) {
      return not_seen(manifest, manifest.native_driver_at, "driver", devices.why_none,
                      "name the oldest driver instead (`driver: \">=580\"`), or say "
                      "--assume-driver 580");
    }
  }
  return {};
}

/// What of a venv does not belong to its torch, whatever toolkit is chosen.
Result<void> add_venv_notes(const manifest::Manifest& manifest, std::vector<resolve::Note>& notes) {
  if (!manifest.pytorch_venv || !manifest.pytorch_cuda) {
    return {};
  }
  const auto& folder = manifest.pytorch_venv->value;
  CUKIT_TRY_ASSIGN(
      const auto venv,
      python::read_venv(folder, text::place(manifest.file, manifest.pytorch_venv->at)));
  for (auto& text : python::drift_of(venv, manifest.pytorch_cuda->value)) {
    notes.push_back({.text = std::move(text), .source = folder});
  }
  return {};
}

/// An upgrade of single components that changed nothing.
Result<resolve::Note> why_it_stays(const lock::Lock& lock, const std::vector<std::string>& names,
                                   const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto* recipes, knowledge.components());
  std::vector<std::string> texts;
  for (const auto& name : names) {
    const auto carrier = comes_with(lock, name, *recipes);
    if (carrier.empty()) {
      texts.push_back(fmt::format("{} stays: CUDA {} goes with it, or nothing newer is offered; "
                                  "--upgrade=cuda lets the release go",
                                  name, lock.release.text()));
    } else {
      texts.push_back(fmt::format("{0} stays: it is {1}'s own and goes with it (--upgrade={1})",
                                  name, carrier));
      texts.back() += name == "ptxas" ? "; a newer one is taken where the manifest asks for it "
                                        "(toolkit: {ptxas: \">=VERSION\"})"
                                      : "";
    }
  }
  return resolve::Note{.text = join(texts, "; "), .source = "--upgrade"};
}

/// What of a lock nobody but a source can confirm.
resolve::Note not_compared(const lock::Lock& lock) {
  std::size_t unknown = 0;
  for (const auto& platform : lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      unknown += artifact.trust_first_lock ? 1 : 0;
    }
  }
  auto text = std::string("only a source knows the sizes");
  if (unknown > 0) {
    text += fmt::format(", and the digests of {} {} that this cukit has no pin of", unknown,
                        unknown == 1 ? "file" : "files");
  }
  return {.text = text + ": these are compared when the files are fetched", .source = "--check"};
}

} // namespace

Result<resolve::MachineFacts> machine_facts(Session& session, manifest::Manifest& manifest,
                                            const lock::Lock* earlier) {
  resolve::MachineFacts facts;
  facts.glibc = machine::glibc_version();
  if (manifest.host_compiler) {
    CUKIT_TRY_ASSIGN(
        facts.compiler,
        machine::host_compiler(session.environment, manifest.host_compiler->value, session.stop));
  }
  CUKIT_TRY(assume_gpus(session, manifest, facts));
  CUKIT_TRY(assume_driver(session, manifest, facts));
  CUKIT_TRY(look_at_devices(session, manifest, earlier, facts));
  if (manifest.pytorch_venv) {
    const auto& wish = *manifest.pytorch_venv;
    const auto where = text::place(manifest.file, wish.at);
    CUKIT_TRY_ASSIGN(const auto venv, python::read_venv(wish.value, where));
    CUKIT_TRY_ASSIGN(const auto torch, python::torch_of(venv, wish.value, where));
    manifest.pytorch_cuda =
        manifest::Wish<Version>{.value = torch.cuda, .text = wish.text, .at = wish.at};
    manifest.pytorch_build = fit::TorchName::parse(torch.version);
  }
  return facts;
}

Outcome<Locked> ensure_lock(Session& session, const fs::path& manifest_path) {
  resolve::MachineFacts machine;
  CUKIT_TRY_ASSIGN(auto result, read_existing(session, manifest_path, machine));
  const auto& settings = session.settings;
  const bool must_choose = settings.lock_mode == LockMode::upgrade || settings.explain ||
                           !settings.exclude_newer.empty() || !settings.assume_gpus.empty() ||
                           !settings.assume_driver.empty();
  if (result.why.empty() && !must_choose) {
    return locked_as_it_is(std::move(result), session);
  }
  if (settings.lock_mode == LockMode::locked || settings.lock_mode == LockMode::frozen) {
    return stale_error(result);
  }
  auto earlier = result.before;
  if (settings.lock_mode == LockMode::upgrade) {
    CUKIT_TRY_ASSIGN(earlier, kept_choices(result.before, settings.upgrade, session.knowledge));
  }
  CUKIT_TRY_ASSIGN(auto resolution, resolve_online(session, result.manifest, machine,
                                                   earlier ? &*earlier : nullptr));
  CUKIT_TRY(resolve::check_pins(resolution.lock, session.knowledge));
  result.choices = std::move(resolution.choices);
  result.notes = std::move(resolution.notes);
  CUKIT_TRY(add_venv_notes(result.manifest, result.notes));
  result.passed_over = std::move(resolution.passed_over);
  const auto text = lock::write(resolution.lock);
  result.changed = !result.before || read_file(result.path, limits::k_lock_bytes) != text;
  result.lock = std::move(resolution.lock);
  if (!result.changed && !settings.upgrade.empty()) {
    CUKIT_TRY_ASSIGN(auto note, why_it_stays(result.lock, settings.upgrade, session.knowledge));
    result.notes.push_back(std::move(note));
  }
  if (result.changed && !settings.dry_run) {
    CUKIT_TRY(write_user_file(result.path, text));
  }
  return result;
}

Outcome<Locked> check_lock(Session& session, const fs::path& manifest_path) {
  resolve::MachineFacts machine;
  CUKIT_TRY_ASSIGN(auto result, read_existing(session, manifest_path, machine));
  if (!result.why.empty()) {
    return stale_error(result);
  }
  result.notes.push_back(not_compared(result.lock));
  return locked_as_it_is(std::move(result), session);
}

Result<void> meets_requirements(const lock::Lock& lock, Platform platform) {
  const auto* part = lock.find(platform);
  if (part == nullptr || platform != Platform::host()) {
    return {};
  }
  const auto quick = machine::quick_look();
  resolve::Node node{.glibc = machine::glibc_version(), .driver = quick.driver, .gpus = {}};
  if (quick.gpu_count > 0) {
    node.gpus = machine::devices().gpus;
  }
  auto differences = resolve::unmet(lock, *part, node);
  if (differences.empty()) {
    return {};
  }
  const bool is_one = differences.size() == 1;
  Error error{.code = ErrorCode::expected_no,
              .message = is_one ? differences.front() : "this machine does not meet the lock"};
  if (!is_one) {
    error.causes = std::move(differences);
  }
  error.hint = "use a machine that meets it, or change the manifest and lock again";
  return tl::unexpected(std::move(error));
}

} // namespace cukit::pipeline

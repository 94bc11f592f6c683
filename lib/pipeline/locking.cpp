#include "pipeline/locking.hpp"

#include "base/strings.hpp"
#include "host/machine.hpp"

#include <algorithm>
#include <regex>

namespace cukit::pipeline {

namespace {

/// The CUDA that a venv's torch was built for, from torch/version.py; nothing of the venv is
/// executed.
Result<Version> venv_cuda(const fs::path& venv, const std::string& manifest_file,
                          text::Position at) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto* lib : {"lib", "lib64"}) {
    for (fs::directory_iterator it(venv / lib, ignored), end; !ignored && it != end;
         it.increment(ignored)) {
      const auto version = it->path() / "site-packages/torch/version.py";
      if (it->path().filename().string().starts_with("python") && path_exists(version)) {
        std::error_code same;
        const bool twice = std::any_of(found.begin(), found.end(), [&](const fs::path& other) {
          return fs::equivalent(other, version, same);
        });
        if (!twice) {
          found.push_back(version);
        }
      }
    }
    ignored.clear();
  }
  const auto where = text::place(manifest_file, at);
  if (found.size() != 1) {
    return tl::unexpected<Error>(Error{
        .code = ErrorCode::usage,
        .message = found.empty()
                       ? fmt::format("{} holds no torch", venv.string())
                       : fmt::format("{} holds {} copies of torch", venv.string(), found.size()),
        .where = where,
        .hint = "name the folder of a virtual environment with torch in it, or write the tag "
                "(`pytorch: cu130`)"});
  }
  CUKIT_TRY_ASSIGN(const auto text, read_file(found.front(), limits::k_manifest_bytes));
  static const std::regex pattern(R"re(^cuda(?:\s*:[^=]*)?\s*=\s*['"]([0-9]+\.[0-9]+)['"])re",
                                  std::regex::ECMAScript | std::regex::multiline);
  std::smatch match;
  if (!std::regex_search(text, match, pattern)) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("the torch in {} was built without CUDA", venv.string()),
              .where = where,
              .hint = "install a CUDA build of torch there, or write the tag (`pytorch: cu130`)"});
  }
  return Version::parse(match[1].str());
}

Outcome<resolve::Resolution> resolve_online(Session& session, const manifest::Manifest& manifest,
                                            const resolve::MachineFacts& machine,
                                            const lock::Lock* earlier) {
  CUKIT_TRY_ASSIGN(const auto wanted, resolve::wanted(manifest, session.knowledge));
  CUKIT_TRY_ASSIGN(auto* index, session.index());
  CUKIT_TRY_ASSIGN(const auto* sources, session.sources());
  if (!sources->indexes.empty()) {
    session.progress.say(fmt::format("reading the index {} ({})",
                                     redact_url(sources->indexes.front().location),
                                     sources->indexes.front().origin));
  }
  const auto wants = [&](const Version& version) {
    return std::find(wanted.minors.begin(), wanted.minors.end(), version.major_minor()) !=
           wanted.minors.end();
  };
  CUKIT_TRY_ASSIGN(const auto catalog,
                   index->load(wanted.projects, wants, session.stop, wanted.prereleases));
  CUKIT_TRY_ASSIGN(auto answer,
                   resolve::resolve(manifest, session.knowledge, catalog, machine, earlier));
  if (auto* conflict = std::get_if<resolve::Conflict>(&answer)) {
    return tl::unexpected<Failure>(
        Failure(Error{.code = ErrorCode::conflict,
                      .message = fmt::format("no toolkit answers all of {}", manifest.file)},
                std::move(*conflict)));
  }
  auto resolution = std::get<resolve::Resolution>(std::move(answer));
  for (const auto& unfinished : resolution.needs_record) {
    CUKIT_TRY(session.check_stop());
    auto& artifact = resolution.lock.platforms[unfinished.platform].artifacts[unfinished.artifact];
    CUKIT_TRY_ASSIGN(const auto remote, index->inspect(unfinished.wheel, session.stop));
    artifact.record = remote.record;
  }
  return resolution;
}

Outcome<Locked> locked_as_it_is(Locked result, Session& session) {
  CUKIT_TRY(resolve::check_pins(result.lock, session.knowledge));
  return result;
}

tl::unexpected<Failure> stale_error(const Locked& result) {
  return tl::unexpected<Failure>(Failure(Error{
      .code = ErrorCode::expected_no,
      .message = fmt::format("the lock {} does not hold: {}", result.path.string(), result.why),
      .where = result.manifest.file,
      .hint = fmt::format("run `cukit lock {}` and commit the result", result.manifest.file)}));
}

/// Fills `why` with the reason the existing lock does not hold; empty when it does.
Result<Locked> read_existing(Session& session, const fs::path& manifest_path,
                             resolve::MachineFacts& machine, std::optional<lock::Lock>& earlier) {
  Locked result;
  CUKIT_TRY_ASSIGN(result.manifest, manifest::load(manifest_path, session.knowledge));
  result.path = lock::lock_path(manifest_path);
  const bool exists = path_exists(result.path);
  if (exists) {
    CUKIT_TRY_ASSIGN(result.lock, lock::load(result.path));
    earlier = result.lock;
  }
  if (session.settings.lock_mode == LockMode::frozen && exists) {
    return result;
  }
  CUKIT_TRY_ASSIGN(machine, machine_facts(session, result.manifest));
  if (!exists) {
    result.why = "there is none yet";
  } else {
    CUKIT_TRY_ASSIGN(result.why,
                     resolve::stale(result.lock, result.manifest, session.knowledge, machine));
  }
  return result;
}

} // namespace

Result<resolve::MachineFacts> machine_facts(Session& session, manifest::Manifest& manifest) {
  resolve::MachineFacts facts;
  facts.glibc = host::glibc_version();
  if (manifest.host_compiler) {
    CUKIT_TRY_ASSIGN(
        facts.compiler,
        host::host_compiler(session.environment, manifest.host_compiler->value, session.stop));
  }
  if (manifest.native_gpus || manifest.native_driver) {
    const auto devices = host::devices(session.stop);
    if (manifest.native_gpus && devices.gpus.empty()) {
      return tl::unexpected<Error>(Error{
          .code = ErrorCode::usage,
          .message = fmt::format("`gpus: native`, but no GPU is seen here: {}", devices.why_none),
          .where = text::place(manifest.file, manifest.native_gpus_at),
          .hint = "name the GPUs instead, for example `gpus: [sm_90]`"});
    }
    if (manifest.native_driver && !devices.driver) {
      return tl::unexpected<Error>(
          Error{.code = ErrorCode::usage,
                .message = fmt::format("`driver: native`, but no driver is seen here: {}",
                                       devices.why_none),
                .where = text::place(manifest.file, manifest.native_driver_at),
                .hint = "name the oldest driver instead, for example `driver: \">=580\"`"});
    }
    facts.gpus = devices.gpus;
    facts.driver = devices.driver;
  }
  if (manifest.pytorch_venv) {
    CUKIT_TRY_ASSIGN(const auto cuda, venv_cuda(manifest.pytorch_venv->value, manifest.file,
                                                manifest.pytorch_venv->at));
    manifest.pytorch_cuda = manifest::Wish<Version>{
        .value = cuda, .text = manifest.pytorch_venv->text, .at = manifest.pytorch_venv->at};
  }
  return facts;
}

Outcome<Locked> ensure_lock(Session& session, const fs::path& manifest_path) {
  resolve::MachineFacts machine;
  std::optional<lock::Lock> earlier;
  CUKIT_TRY_ASSIGN(auto result, read_existing(session, manifest_path, machine, earlier));
  const auto mode = session.settings.lock_mode;
  if (result.why.empty() && mode != LockMode::upgrade && !session.settings.explain) {
    return locked_as_it_is(std::move(result), session);
  }
  if (mode == LockMode::locked || mode == LockMode::frozen) {
    return stale_error(result);
  }
  if (mode == LockMode::upgrade) {
    earlier.reset();
  }
  CUKIT_TRY_ASSIGN(auto resolution, resolve_online(session, result.manifest, machine,
                                                   earlier ? &*earlier : nullptr));
  CUKIT_TRY(resolve::check_pins(resolution.lock, session.knowledge));
  result.choices = std::move(resolution.choices);
  result.notes = std::move(resolution.notes);
  const auto text = lock::write(resolution.lock);
  result.changed = !path_exists(result.path) || lock::write(result.lock) != text;
  result.lock = std::move(resolution.lock);
  if (result.changed && !session.settings.dry_run) {
    CUKIT_TRY(write_file_atomic(result.path, text));
  }
  return result;
}

Outcome<Locked> check_lock(Session& session, const fs::path& manifest_path) {
  resolve::MachineFacts machine;
  std::optional<lock::Lock> earlier;
  CUKIT_TRY_ASSIGN(auto result, read_existing(session, manifest_path, machine, earlier));
  if (!result.why.empty()) {
    return stale_error(result);
  }
  return locked_as_it_is(std::move(result), session);
}

Result<void> meets_requirements(const lock::Lock& lock, Platform platform) {
  const auto* part = lock.find(platform);
  if (part != nullptr && !part->glibc.empty() && platform == Platform::host()) {
    CUKIT_TRY_ASSIGN(const auto needed, Version::parse(part->glibc));
    if (host::glibc_version() < needed) {
      return fail(ErrorCode::expected_no, "the lock needs glibc {}, this machine has {}",
                  part->glibc, host::glibc_version().text());
    }
  }
  const auto driver = host::quick_look().driver;
  if (!lock.driver.empty() && driver) {
    CUKIT_TRY_ASSIGN(const auto needed, Version::parse(lock.driver));
    if (*driver < needed) {
      return fail(ErrorCode::expected_no, "the lock needs driver {} or newer, this machine has {}",
                  lock.driver, host::driver_text(*driver));
    }
  }
  return {};
}

} // namespace cukit::pipeline

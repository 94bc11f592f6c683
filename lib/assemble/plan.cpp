#include "assemble/artifact_files.hpp"
#include "assemble/normalise.hpp"
#include "assemble/redist_layout.hpp"

namespace cukit::assemble {

namespace {

std::string describe(const lock::Artifact& artifact) {
  return fmt::format("{} {}", artifact.component, artifact.version.text());
}

/// Two versions of one component may have licences that differ: then the later one gets a folder of
/// its own, because a licence must never be the reason for a conflict, nor be lost.
Result<void> add_licence(Claims& claims, const lock::Artifact& artifact, TreeFile file) {
  const auto* taken = claims.find(file.path.text());
  if (taken != nullptr && taken->sha256 != file.sha256) {
    const auto name =
        file.path.text().substr(fmt::format("LICENSES/{}/", artifact.component).size());
    CUKIT_TRY_ASSIGN(file.path,
                     RelativePath::parse(fmt::format("LICENSES/{}-{}/{}", artifact.component,
                                                     artifact.version.text(), name)));
  }
  return claims.add(std::move(file), describe(artifact));
}

Result<void> add_artifact(Claims& claims, const lock::Artifact& artifact, const lock::Lock& lock,
                          Platform platform, const std::map<std::string, store::Entry>& entries) {
  const auto entry = entries.find(lock::store_key(artifact));
  if (entry == entries.end()) {
    return fail(ErrorCode::host, "the content of {} is not in the store", artifact.file);
  }
  CUKIT_TRY_ASSIGN(auto files, artifact_files(artifact, entry->second, lock.release, platform));
  for (auto& file : files.content) {
    CUKIT_TRY(claims.add(std::move(file), describe(artifact)));
  }
  for (auto& file : files.licences) {
    CUKIT_TRY(add_licence(claims, artifact, std::move(file)));
  }
  return {};
}

Result<void> add_links(Claims& claims, const lock::Artifact& artifact) {
  for (const auto& [name, target] : artifact.link) {
    TreeFile file;
    CUKIT_TRY_ASSIGN(file.path, RelativePath::parse(name));
    CUKIT_TRY_ASSIGN(const auto to, resolve_link(file.path, target));
    if (!claims.has(to.text()) && !claims.is_folder(to.text())) {
      return fail(ErrorCode::integrity, "{} links {} to {}, which is not in the tree",
                  describe(artifact), name, target);
    }
    file.link = target;
    file.owner = artifact.component;
    CUKIT_TRY(claims.add(std::move(file), describe(artifact)));
  }
  return {};
}

} // namespace

Result<std::vector<TreeFile>> plan(const lock::Lock& lock, const lock::PlatformLock& platform,
                                   const std::map<std::string, store::Entry>& entries) {
  if (lock.assembly != 1) {
    auto error = Error{
        .code = ErrorCode::usage,
        .message = fmt::format("the lock asks for assembly {}, this cukit knows 1", lock.assembly)};
    error.hint = "use the newer cukit that wrote the lock";
    return tl::unexpected<Error>(std::move(error));
  }
  Claims claims;
  for (const auto& artifact : platform.artifacts) {
    CUKIT_TRY(add_artifact(claims, artifact, lock, platform.platform, entries));
  }
  for (const auto& artifact : platform.artifacts) { // after all files: a link may lead to another's
    CUKIT_TRY(add_links(claims, artifact));
  }
  CUKIT_TRY(place_required(claims, platform));
  CUKIT_TRY(normalise(claims, lock, platform));
  CUKIT_TRY(check_required(claims, platform));
  return std::move(claims).finish();
}

} // namespace cukit::assemble

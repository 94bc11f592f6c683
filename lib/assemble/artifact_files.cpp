#include "assemble/artifact_files.hpp"

#include "assemble/redist_layout.hpp"
#include "lock/placement.hpp"

namespace cukit::assemble {

namespace {

tl::unexpected<Error> lies_outside(const lock::Artifact& artifact, const RelativePath& path) {
  auto error = Error{.code = ErrorCode::integrity,
                     .message = fmt::format("{} holds {}, which lies outside its root {}/",
                                            artifact.file, path.text(), artifact.root)};
  error.hint = fmt::format("the recipe of {} does not fit this version", artifact.component);
  return tl::unexpected<Error>(std::move(error));
}

Result<TreeFile> tree_file(const lock::Artifact& artifact, const store::Entry& entry,
                           const store::EntryFile& file, const std::string& path) {
  TreeFile result;
  CUKIT_TRY_ASSIGN(result.path, RelativePath::parse(path));
  if (result.path.text() == ".cukit" || result.path.is_inside(".cukit")) {
    return fail(ErrorCode::integrity, "{} brings {}: .cukit/ belongs to cukit alone", artifact.file,
                result.path.text());
  }
  result.executable = file.executable;
  result.size = file.size;
  result.sha256 = file.sha256;
  result.from = entry.files / file.path.text();
  result.link = file.link;
  if (!result.link.empty()) {
    result.from.clear();
  }
  result.owner = artifact.component;
  return result;
}

/// A file of an archive, which has no root and no packaging of its own.
Result<void> add_archive_file(const lock::Artifact& artifact, const store::Entry& entry,
                              const store::EntryFile& file, const Version& release,
                              Platform platform, ArtifactFiles& result) {
  if (lock::is_licence(file.path.text())) { // every archive has one at its top
    CUKIT_TRY_ASSIGN(auto placed, tree_file(artifact, entry, file,
                                            fmt::format("LICENSES/{}/{}", artifact.component,
                                                        file.path.text())));
    result.licences.push_back(std::move(placed));
    return {};
  }
  auto path = redist_path_in_tree(file.path.text(), release, platform);
  if (path.empty()) {
    return {};
  }
  path = lock::moved(artifact, std::move(path));
  if (lock::choice(artifact, path) != lock::Choice::taken) {
    return {};
  }
  CUKIT_TRY_ASSIGN(auto placed, tree_file(artifact, entry, file, path));
  if (!placed.link.empty()) {
    CUKIT_TRY_ASSIGN(placed.link,
                     redist_link_in_tree(file.path, file.link, placed.path, release, platform));
  }
  result.content.push_back(std::move(placed));
  return {};
}

} // namespace

Result<ArtifactFiles> artifact_files(const lock::Artifact& artifact, const store::Entry& entry,
                                     const Version& release, Platform platform) {
  ArtifactFiles result;
  if (artifact.source == "redist") {
    for (const auto& file : entry.list) {
      CUKIT_TRY(add_archive_file(artifact, entry, file, release, platform, result));
    }
    return result;
  }
  using Kind = lock::Member::Kind;
  const std::string licences = "LICENSES/" + artifact.component + "/";
  for (const auto& file : entry.list) {
    const auto member = lock::wheel_member(artifact, file.path);
    if (member.kind == Kind::unknown) {
      return lies_outside(artifact, file.path);
    }
    if (member.kind == Kind::licence) {
      CUKIT_TRY_ASSIGN(auto placed, tree_file(artifact, entry, file, licences + member.path));
      result.licences.push_back(std::move(placed));
    } else if (member.kind == Kind::content) {
      CUKIT_TRY_ASSIGN(auto placed, tree_file(artifact, entry, file, member.path));
      result.content.push_back(std::move(placed));
    }
  }
  return result;
}

} // namespace cukit::assemble

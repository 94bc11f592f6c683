#include "assemble/artifact_files.hpp"

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
  result.owner = artifact.component;
  return result;
}

} // namespace

Result<ArtifactFiles> artifact_files(const lock::Artifact& artifact, const store::Entry& entry) {
  ArtifactFiles result;
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

#include "assemble/artifact_files.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::assemble {

namespace {

/// `entry` is a path, or a folder when it ends with a slash.
bool covers(const std::string& entry, std::string_view path) {
  return entry.ends_with('/') ? path.starts_with(entry) : path == entry;
}

bool any_covers(const std::vector<std::string>& entries, std::string_view path) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const std::string& entry) { return covers(entry, path); });
}

/// Moves are applied one after the other: a later one may start where an earlier one ended.
std::string moved(const lock::Artifact& artifact, std::string path) {
  for (const auto& [from, to] : artifact.move) {
    if (covers(from, path)) {
      path = to + path.substr(from.size());
    }
  }
  return path;
}

/// The path below the artifact's root, or empty when it lies outside.
std::string_view below_root(const lock::Artifact& artifact, const RelativePath& path) {
  if (artifact.root.empty()) {
    return path.text();
  }
  return path.is_inside(artifact.root)
             ? std::string_view(path.text()).substr(artifact.root.size() + 1)
             : std::string_view();
}

enum class Outside { licence, packaging, unknown };

struct OutsideFile {
  Outside kind = Outside::unknown;
  std::string_view name; ///< of a licence, below the folder of licences
};

OutsideFile classify_outside(const RelativePath& path) {
  const std::string_view text = path.text();
  const auto slash = text.find('/');
  if (slash != std::string_view::npos && text.substr(0, slash).ends_with(".dist-info")) {
    const std::string_view rest = text.substr(slash + 1);
    constexpr std::string_view folder = "licenses/";
    if (rest.starts_with(folder)) {
      return {Outside::licence, rest.substr(folder.size())};
    }
    if (rest.starts_with("LICENSE")) {
      return {Outside::licence, rest};
    }
    return {Outside::packaging, {}};
  }
  return {path.name() == "__init__.py" ? Outside::packaging : Outside::unknown, {}};
}

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
  const std::string licences = "LICENSES/" + artifact.component + "/";
  for (const auto& file : entry.list) {
    const auto below = below_root(artifact, file.path);
    if (below.empty()) {
      const auto outside = classify_outside(file.path);
      if (outside.kind == Outside::unknown) {
        return lies_outside(artifact, file.path);
      }
      if (outside.kind == Outside::licence) {
        CUKIT_TRY_ASSIGN(auto placed,
                         tree_file(artifact, entry, file, licences + std::string(outside.name)));
        result.licences.push_back(std::move(placed));
      }
      continue;
    }
    std::string path = moved(artifact, std::string(below));
    if ((!artifact.take.empty() && !any_covers(artifact.take, path)) ||
        any_covers(artifact.leave, path)) {
      continue;
    }
    const bool licence =
        path.find('/') == std::string::npos && path.starts_with("LICENSE") && path != "LICENSES";
    CUKIT_TRY_ASSIGN(auto placed,
                     tree_file(artifact, entry, file, licence ? licences + path : path));
    (licence ? result.licences : result.content).push_back(std::move(placed));
  }
  return result;
}

} // namespace cukit::assemble

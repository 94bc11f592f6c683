#include "home/owner.hpp"

#include "assemble/artifact_files.hpp"

#include <algorithm>

namespace cukit::home {

namespace {

constexpr int k_most_links = 40;

/// The first part of `path` that is a link in the tree, with its target.
struct Step {
  RelativePath link;
  std::string target;
  std::string rest; ///< what follows the link, without leading /
};
std::optional<Step> first_link(const fs::path& tree, const RelativePath& path) {
  const auto& text = path.text();
  for (std::size_t end = text.find('/');; end = text.find('/', end + 1)) {
    const auto begin = text.substr(0, end);
    std::error_code error;
    const auto target = fs::read_symlink(tree / begin, error);
    if (!error) {
      auto link = RelativePath::parse(begin);
      return link
                 ? std::optional(Step{.link = *std::move(link),
                                      .target = target.string(),
                                      .rest = end == std::string::npos ? "" : text.substr(end + 1)})
                 : std::nullopt;
    }
    if (end == std::string::npos) {
      return std::nullopt;
    }
  }
}

Result<RelativePath> follow(const fs::path& tree, RelativePath path,
                            std::vector<std::string>& links) {
  for (int i = 0; i < k_most_links; ++i) {
    const auto step = first_link(tree, path);
    if (!step) {
      return path;
    }
    links.push_back(fmt::format("{} -> {}", step->link.text(), step->target));
    CUKIT_TRY_ASSIGN(const auto end, resolve_link(step->link, step->target));
    const bool is_end = step->rest.empty() || end.empty();
    const auto next = is_end ? (end.empty() ? step->rest : end.text())
                             : fmt::format("{}/{}", end.text(), step->rest);
    if (next.empty()) {
      return RelativePath();
    }
    CUKIT_TRY_ASSIGN(path, RelativePath::parse(next));
  }
  return fail(ErrorCode::usage, "{} is a circle of links", path.text());
}

bool holds(const std::vector<assemble::TreeFile>& files, const RelativePath& path) {
  return std::any_of(files.begin(), files.end(),
                     [&](const assemble::TreeFile& file) { return file.path == path; });
}

} // namespace

Result<Owner> owner_of(const store::Home& home, const lock::Lock& lock,
                       const lock::PlatformLock& platform, const fs::path& tree,
                       const RelativePath& path) {
  Owner owner;
  CUKIT_TRY_ASSIGN(owner.path, follow(tree, path, owner.links));
  if (!path_exists(tree / owner.path.text())) {
    return fail(ErrorCode::usage, "{} is not in the tree {}", path.text(), tree.string());
  }
  const store::Store store(home);
  std::string absent;
  for (const auto& artifact : platform.artifacts) {
    const auto key = lock::store_key(artifact);
    if (!store.has(key)) {
      absent = artifact.file;
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto entry, store.read(key));
    CUKIT_TRY_ASSIGN(const auto files,
                     assemble::artifact_files(artifact, entry, lock.release, platform.platform));
    if (holds(files.content, owner.path) || holds(files.licences, owner.path)) {
      owner.artifact = &artifact;
      return owner;
    }
  }
  if (!absent.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::expected_no,
              .message = fmt::format("whose file {} is cannot be told: the store no longer has {}",
                                     owner.path.text(), absent),
              .hint = "`cukit fetch MANIFEST` brings it back"});
  }
  return owner;
}

} // namespace cukit::home

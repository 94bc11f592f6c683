#include "lock/placement.hpp"

#include "model/tree_layout.hpp"

#include <algorithm>

namespace cukit::lock {

namespace {

/// `entry` is a path, or a folder when it ends with a slash.
bool covers(const std::string& entry, std::string_view path) {
  return entry.ends_with('/') ? path.starts_with(entry) : path == entry;
}

bool any_covers(const std::vector<std::string>& entries, std::string_view path) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const std::string& entry) { return covers(entry, path); });
}

/// The path below the artifact's root, or empty when it lies outside.
std::string_view below_root(const Artifact& artifact, const RelativePath& path) {
  if (artifact.root.empty()) {
    return path.text();
  }
  return path.is_inside(artifact.root)
             ? std::string_view(path.text()).substr(artifact.root.size() + 1)
             : std::string_view();
}

Member outside_root(const RelativePath& path) {
  using Kind = Member::Kind;
  const std::string_view text = path.text();
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || !text.substr(0, slash).ends_with(".dist-info")) {
    return {path.name() == "__init__.py" ? Kind::packaging : Kind::unknown, {}};
  }
  const std::string_view rest = text.substr(slash + 1);
  constexpr std::string_view k_folder = "licenses/";
  if (rest.starts_with(k_folder)) {
    return {Kind::licence, std::string(rest.substr(k_folder.size()))};
  }
  return {rest.starts_with("LICENSE") ? Kind::licence : Kind::packaging, std::string(rest)};
}

} // namespace

std::string moved(const Artifact& artifact, std::string path) {
  for (const auto& [from, to] : artifact.move) {
    if (covers(from, path)) {
      path = to + path.substr(from.size());
    }
  }
  return path;
}

Choice choice(const Artifact& artifact, std::string_view path) {
  if (!artifact.take.empty() && !any_covers(artifact.take, path)) {
    return Choice::not_taken;
  }
  return any_covers(artifact.leave, path) ? Choice::left : Choice::taken;
}

bool is_licence(std::string_view path) {
  return path.find('/') == std::string_view::npos && path.starts_with("LICENSE") &&
         path != "LICENSES";
}

Member wheel_member(const Artifact& artifact, const RelativePath& path) {
  const auto below = below_root(artifact, path);
  if (below.empty()) {
    return outside_root(path);
  }
  auto in_tree = moved(artifact, std::string(below));
  const auto kind = [&] {
    switch (choice(artifact, in_tree)) {
    case Choice::left:
      return Member::Kind::left;
    case Choice::not_taken:
      return is_licence(in_tree) ? Member::Kind::licence : Member::Kind::not_taken;
    case Choice::taken:
      break;
    }
    return is_licence(in_tree) ? Member::Kind::licence : Member::Kind::content;
  }();
  return {kind, std::move(in_tree)};
}

bool belongs_to_part(const Artifact& artifact, const RelativePath& path) {
  const auto kind = wheel_member(artifact, path).kind;
  return kind == Member::Kind::content || kind == Member::Kind::licence ||
         kind == Member::Kind::left;
}

bool takes_ptxas(const std::vector<std::string>& take) {
  return std::find(take.begin(), take.end(), layout::k_ptxas) != take.end();
}

} // namespace cukit::lock

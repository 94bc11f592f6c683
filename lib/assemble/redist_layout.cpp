#include "assemble/redist_layout.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::assemble {

namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// lib/12/x and lib/13/x are one library for two CUDA majors.
std::string in_lib(std::string_view rest, const Version& release) {
  const auto slash = rest.find('/');
  const auto folder = rest.substr(0, slash);
  if (slash == std::string_view::npos || !is_number(folder)) {
    return "lib/" + std::string(rest);
  }
  const bool is_ours =
      folder == fmt::format("{}", release.major()) || folder == release.major_minor();
  return is_ours ? "lib/" + std::string(rest.substr(slash + 1)) : std::string();
}

/// How many of the last parts of two paths are equal.
std::size_t common_parts(std::string_view a, std::string_view b) {
  const auto left = split(a, '/');
  const auto right = split(b, '/');
  std::size_t count = 0;
  while (count < left.size() && count < right.size() &&
         left[left.size() - 1 - count] == right[right.size() - 1 - count]) {
    ++count;
  }
  return count;
}

/// The path that ends most like `wanted`; several equally good ones are none.
std::string best_match(const Claims& claims, const std::string& wanted) {
  std::string best;
  std::size_t best_count = 0;
  bool is_tie = false;
  for (const auto& path : claims.all()) {
    const auto count = common_parts(path, wanted);
    if (count > best_count) {
      best = path;
      best_count = count;
      is_tie = false;
    } else if (count > 0 && count == best_count) {
      is_tie = true;
    }
  }
  return is_tie ? std::string() : best;
}

std::string way(const std::string& from_file, const std::string& to) {
  return fs::path(to).lexically_relative(fs::path(from_file).parent_path()).string();
}

/// libnvvm.so where the archive has libnvvm.so.4 alone.
std::string versioned_sibling(const Claims& claims, const std::string& path) {
  if (!path.ends_with(".so")) {
    return {};
  }
  for (const auto& other : claims.in_folder(fs::path(path).parent_path().string())) {
    if (other.starts_with(path + ".")) {
      return other;
    }
  }
  return {};
}

} // namespace

std::string redist_path_in_tree(std::string_view path, const Version& release, Platform platform) {
  take_prefix(path, fmt::format("targets/{}/", platform.triple()));
  constexpr std::string_view cupti = "extras/CUPTI/";
  if (path.starts_with(cupti)) {
    const auto rest = path.substr(cupti.size());
    if (rest.starts_with("include/") || rest.starts_with("lib")) {
      path = rest;
    }
  }
  for (const std::string_view folder :
       {"pkg-config/", "pkgconfig/", "lib/pkg-config/", "lib64/pkgconfig/", "share/pkgconfig/"}) {
    if (take_prefix(path, folder)) {
      return "lib/pkgconfig/" + std::string(path);
    }
  }
  if (take_prefix(path, "lib64/") || take_prefix(path, "lib/")) {
    return in_lib(path, release);
  }
  return std::string(path);
}

Result<std::string> redist_link_in_tree(const RelativePath& old_path, std::string_view target,
                                        const RelativePath& new_path, const Version& release,
                                        Platform platform) {
  if (target.find('/') == std::string_view::npos) {
    return std::string(target);
  }
  CUKIT_TRY_ASSIGN(const auto old_end, resolve_link(old_path, target));
  const auto end = redist_path_in_tree(old_end.text(), release, platform);
  return end.empty() ? std::string(target) : way(new_path.text(), end);
}

Result<void> place_required(Claims& claims, const lock::PlatformLock& platform) {
  for (const auto& artifact : platform.artifacts) {
    for (const auto& path : artifact.require) {
      if (claims.has(path) || (path.starts_with("lib/") && path.ends_with(".so"))) {
        continue; // such names are made from SONAMEs
      }
      if (const auto sibling = versioned_sibling(claims, path); !sibling.empty()) {
        CUKIT_TRY(claims.add_link(path, way(path, sibling)));
        continue;
      }
      const auto found = best_match(claims, path);
      if (found.empty()) {
        continue; // check_required() tells
      }
      TreeFile file = *claims.find(found);
      if (!file.link.empty()) {
        CUKIT_TRY(claims.add_link(path, way(path, found)));
        continue;
      }
      CUKIT_TRY_ASSIGN(file.path, RelativePath::parse(path));
      CUKIT_TRY(claims.add(std::move(file), artifact.component));
    }
  }
  return {};
}

Result<void> check_required(const Claims& claims, const lock::PlatformLock& platform) {
  Error error{.code = ErrorCode::integrity, .message = {}};
  std::vector<std::string> components;
  for (const auto& artifact : platform.artifacts) {
    std::vector<std::string> missing;
    std::copy_if(artifact.require.begin(), artifact.require.end(), std::back_inserter(missing),
                 [&](const std::string& path) { return !claims.has(path); });
    if (!missing.empty()) {
      components.push_back(artifact.component);
      error.causes.push_back(fmt::format("{} has no {}", artifact.file, join(missing, ", ")));
    }
  }
  if (components.empty()) {
    return {};
  }
  error.message =
      fmt::format("what the archives of {} must bring is nowhere in them", join(components, ", "));
  error.hint = "the recipe does not fit this version: report it, or take wheels where there are "
               "any (`sources: [wheels]`)";
  return tl::unexpected<Error>(std::move(error));
}

} // namespace cukit::assemble

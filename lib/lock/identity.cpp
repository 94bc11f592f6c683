#include "base/limits.hpp"
#include "lock/lock.hpp"

#include <algorithm>

namespace cukit::lock {

namespace {

/// Bytes that two different inputs cannot share: every field carries its length, every list its
/// count.
class Canonical {
public:
  explicit Canonical(std::string_view kind) { field(kind); }
  void field(std::string_view text) {
    bytes_ += fmt::format("{}:", text.size());
    bytes_ += text;
    bytes_ += ',';
  }
  void list(std::vector<std::string> items) {
    std::sort(items.begin(), items.end());
    field(fmt::format("{}", items.size()));
    for (const auto& item : items) {
      field(item);
    }
  }
  /// Moves keep their order, because a later one may start where an earlier one ended.
  void pairs(const std::vector<std::pair<std::string, std::string>>& items) {
    field(fmt::format("{}", items.size()));
    for (const auto& [from, to] : items) {
      field(from);
      field(to);
    }
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
  std::string bytes_;
};

std::string record_text(const Artifact& artifact) {
  return artifact.record ? artifact.record->text() : std::string();
}

} // namespace

const PlatformLock* Lock::find(Platform platform) const {
  const auto found =
      std::find_if(platforms.begin(), platforms.end(),
                   [&](const PlatformLock& entry) { return entry.platform == platform; });
  return found == platforms.end() ? nullptr : &*found;
}

void sort(Lock& lock) {
  std::sort(lock.gpus.begin(), lock.gpus.end());
  std::sort(lock.platforms.begin(), lock.platforms.end(),
            [](const PlatformLock& a, const PlatformLock& b) { return a.platform < b.platform; });
  for (auto& platform : lock.platforms) {
    std::sort(platform.artifacts.begin(), platform.artifacts.end(),
              [](const Artifact& a, const Artifact& b) {
                if (a.component != b.component) {
                  return a.component < b.component;
                }
                return a.version != b.version ? a.version < b.version : a.file < b.file;
              });
    for (auto& artifact : platform.artifacts) {
      std::sort(artifact.take.begin(), artifact.take.end());
      std::sort(artifact.leave.begin(), artifact.leave.end());
      std::sort(artifact.link.begin(), artifact.link.end());
      std::sort(artifact.require.begin(), artifact.require.end());
    }
  }
}

fs::path lock_path(const fs::path& manifest) {
  fs::path path = manifest;
  const auto extension = path.extension();
  if (extension == ".yaml" || extension == ".yml") {
    path.replace_extension();
  }
  path += ".lock.yaml";
  return path;
}

Result<Lock> load(const fs::path& path) {
  CUKIT_TRY_ASSIGN(const auto text, read_file(path, limits::k_lock_bytes));
  return read(text, path.string());
}

std::string store_key(const Artifact& artifact) {
  if (!artifact.record) {
    return artifact.sha256.hex();
  }
  Canonical canonical("cukit ranged part 1");
  canonical.field(record_text(artifact));
  canonical.field(artifact.root);
  canonical.list(artifact.take);
  if (!artifact.move.empty()) { // `take` names paths after the moves
    canonical.pairs(artifact.move);
  }
  return sha256_of(canonical.bytes()).hex();
}

Sha256 tree_id(const Lock& lock, const PlatformLock& platform) {
  std::vector<std::string> parts;
  for (const auto& artifact : platform.artifacts) {
    Canonical part("artifact");
    part.field(artifact.component); // names its folder below LICENSES/ and its line in version.json
    part.field(artifact.version.text());
    part.field(artifact.sha256.text());
    part.field(record_text(artifact));
    part.field(artifact.root);
    part.list(artifact.take);
    part.list(artifact.leave);
    part.pairs(artifact.move);
    auto links = artifact.link;
    std::sort(links.begin(), links.end());
    part.pairs(links);
    if (!artifact.require.empty()) { // ids of trees of wheels stay what they were
      part.list(artifact.require);
    }
    parts.push_back(part.bytes());
  }
  Canonical canonical("cukit tree 1");
  canonical.field(fmt::format("{}", lock.assembly));
  canonical.field(lock.release.text()); // version.txt
  canonical.field(platform.platform.text());
  canonical.list(std::move(parts));
  return sha256_of(canonical.bytes());
}

} // namespace cukit::lock

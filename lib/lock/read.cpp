#include "base/limits.hpp"
#include "base/number.hpp"
#include "base/strings.hpp"
#include "lock/head.hpp"
#include "lock/strict_fields.hpp"
#include "model/relative_path.hpp"

#include <algorithm>
#include <map>

namespace cukit::lock {

namespace {

using Need = StrictFields::Need;
using text::Mistakes;
using text::Node;
using text::Position;

/// A path in the tree; `folder` allows one trailing /. Nothing of an artifact may stand below
/// .cukit/.
bool is_tree_path(std::string_view text, bool folder) {
  if (folder && text.ends_with('/')) {
    text.remove_suffix(1);
  }
  const auto path = RelativePath::parse(text);
  return path && path->text() != ".cukit" && !path->is_inside(".cukit");
}

bool is_file_name(std::string_view text) {
  return RelativePath::parse(text) && text.find('/') == std::string_view::npos;
}

std::vector<std::string> read_paths(StrictFields& fields, std::string_view key) {
  std::vector<std::string> paths;
  for (auto& [path, at] : fields.list(key)) {
    if (!is_tree_path(path, true)) {
      fields.mistake(
          at, fmt::format("`{}` is no path inside the tree", printable(path.substr(0, 100))));
      continue;
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<std::string> read_files(StrictFields& fields, std::string_view key) {
  std::vector<std::string> paths;
  for (auto& [path, at] : fields.list(key)) {
    if (!is_tree_path(path, false)) {
      fields.mistake(
          at, fmt::format("`{}` is no file inside the tree", printable(path.substr(0, 100))));
      continue;
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

/// "FROM -> TO" entries; `is_valid` decides on the two sides.
std::vector<std::pair<std::string, std::string>>
read_arrows(StrictFields& fields, std::string_view key,
            bool (*is_valid)(const std::string&, const std::string&)) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [text, at] : fields.list(key)) {
    const auto arrow = text.find(" -> ");
    const std::string from = text.substr(0, arrow);
    const std::string to = arrow == std::string::npos ? "" : text.substr(arrow + 4);
    if (to.empty() || !is_valid(from, to)) {
      fields.mistake(
          at,
          fmt::format("`{}` in `{}` must be \"FROM -> TO\" with paths that stay inside the tree",
                      printable(text.substr(0, 200)), key));
      continue;
    }
    const bool is_known = std::any_of(pairs.begin(), pairs.end(),
                                      [&](const auto& pair) { return pair.first == from; });
    if (is_known) {
      fields.mistake(at, fmt::format("`{}` names `{}` twice", key, printable(from.substr(0, 100))));
    }
    pairs.emplace_back(from, to);
  }
  return pairs;
}

bool is_move(const std::string& from, const std::string& to) {
  return is_tree_path(from, true) && is_tree_path(to, true) &&
         from.ends_with('/') == to.ends_with('/');
}

bool is_link(const std::string& name, const std::string& target) {
  if (!is_tree_path(name, false)) {
    return false;
  }
  const auto end = resolve_link(*RelativePath::parse(name), target);
  return end && !end->empty() && is_tree_path(end->text(), false);
}

/// What the fields say of each other.
void check_together(StrictFields& fields, const Artifact& artifact) {
  if (artifact.record && artifact.source == "redist") {
    fields.mistake(fields.at(), "an archive has no `record`: it always comes whole");
  }
  if (artifact.record && artifact.take.empty()) {
    fields.mistake(
        fields.at(),
        "an artifact with `record` comes by ranges and must say in `take` what is wanted");
  }
  for (const auto& entry : artifact.leave) {
    if (std::find(artifact.take.begin(), artifact.take.end(), entry) != artifact.take.end()) {
      fields.mistake(fields.at(),
                     fmt::format("`{}` is in `take` and in `leave`", printable(entry)));
    }
  }
}

std::string read_word(StrictFields& fields, std::string_view key, Need need) {
  const auto* node = fields.node(key, need);
  if (node == nullptr) {
    return {};
  }
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789-_+.";
  if (!node->is_scalar() || node->scalar.empty() || node->scalar.size() > 100 ||
      node->scalar.find_first_not_of(allowed) != std::string::npos) {
    fields.mistake(node->at,
                   fmt::format("`{}` must be a name of lower-case letters, digits and -_+.", key));
    return {};
  }
  return node->scalar;
}

void read_source(StrictFields& fields, Artifact& artifact) {
  const auto* node = fields.node("source", Need::required);
  if (node == nullptr) {
    return;
  }
  artifact.source = node->scalar;
  if (artifact.source != "wheels" && artifact.source != "redist") {
    fields.mistake(node->at,
                   fmt::format("the source `{}` is not one this cukit knows (redist, wheels)",
                               printable(node->scalar.substr(0, 100))));
  }
}

void read_file(StrictFields& fields, Artifact& artifact) {
  const auto* node = fields.node("file", Need::required);
  if (node != nullptr && (!node->is_scalar() || !is_file_name(node->scalar))) {
    fields.mistake(node->at, "`file` must be a file name without folders");
  } else if (node != nullptr) {
    artifact.file = node->scalar;
  }
}

/// PRODUCT/redist/..., of what may stand in a URL without meaning anything else there.
bool is_redist_path(const std::string& text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+.~/";
  const auto slash = text.find('/');
  return slash != std::string::npos && text.compare(slash, 8, "/redist/") == 0 &&
         RelativePath::parse(text) && text.find_first_not_of(allowed) == std::string::npos;
}

/// Only an archive has one, and its last part is the file.
void read_path(StrictFields& fields, Artifact& artifact) {
  const bool is_archive = artifact.source == "redist";
  const auto* node = fields.node("path", is_archive ? Need::required : Need::optional);
  if (node == nullptr) {
    return;
  }
  artifact.path = node->scalar;
  if (!is_archive) {
    fields.mistake(node->at, "`path` is for the source redist alone");
  } else if (!node->is_scalar() || !is_redist_path(node->scalar) ||
             !node->scalar.ends_with("/" + artifact.file)) {
    fields.mistake(node->at, "`path` must be PRODUCT/redist/... and end in `file`");
  }
}

void read_trust(StrictFields& fields, Artifact& artifact) {
  const auto* node = fields.node("trust", Need::optional);
  if (node == nullptr) {
    return;
  }
  artifact.trust_first_lock = node->scalar == "first-lock";
  if (!artifact.trust_first_lock) {
    fields.mistake(node->at, "`trust` must be `first-lock` or absent");
  }
}

void read_root(StrictFields& fields, Artifact& artifact) {
  const auto* node = fields.node("root", Need::optional);
  if (node == nullptr) {
    return;
  }
  artifact.root = node->scalar;
  if (!node->is_scalar() || !RelativePath::parse(node->scalar)) {
    fields.mistake(node->at, "`root` must be a folder inside the artifact, or absent");
  }
}

Artifact read_artifact(const Node& node, Mistakes& mistakes) {
  StrictFields fields(node, "an artifact", mistakes);
  Artifact artifact;
  artifact.component = read_word(fields, "component", Need::required);
  artifact.version = fields.version("version", Need::required).value_or(Version());
  artifact.why = fields.text("why", Need::required);
  read_source(fields, artifact);
  read_file(fields, artifact);
  read_path(fields, artifact);
  artifact.size = fields.number("size");
  artifact.sha256 = fields.digest("sha256", Need::required).value_or(Sha256());
  artifact.record = fields.digest("record", Need::optional);
  artifact.licence = fields.text("licence", Need::optional);
  read_trust(fields, artifact);
  read_root(fields, artifact);
  artifact.take = read_paths(fields, "take");
  artifact.leave = read_paths(fields, "leave");
  artifact.move = read_arrows(fields, "move", is_move);
  artifact.link = read_arrows(fields, "link", is_link);
  artifact.require = read_files(fields, "require");
  check_together(fields, artifact);
  fields.finish();
  return artifact;
}

std::vector<Artifact> read_artifacts(const Node& list, Mistakes& mistakes) {
  std::vector<Artifact> artifacts;
  if (!list.is_list() || list.items.empty()) {
    mistakes.add(list.at, "`artifacts` must be a list with at least one entry");
    return artifacts;
  }
  std::map<std::string, Position> files;
  for (const auto& node : list.items) {
    artifacts.push_back(read_artifact(node, mistakes));
    const auto& artifact = artifacts.back();
    const auto [first, is_new] = files.emplace(artifact.file, node.at);
    if (!is_new && !artifact.file.empty()) {
      mistakes.add(node.at, fmt::format("`{}` is listed twice, first in line {}", artifact.file,
                                        first->second.line));
    }
    const bool is_repeated =
        std::any_of(artifacts.begin(), artifacts.end() - 1, [&](const Artifact& other) {
          return other.component == artifact.component && other.version == artifact.version &&
                 other.file != artifact.file;
        });
    if (is_repeated && !artifact.component.empty()) {
      mistakes.add(node.at, fmt::format("{} {} is listed twice", artifact.component,
                                        artifact.version.text()));
    }
  }
  return artifacts;
}

void read_platforms(StrictFields& top, Lock& lock) {
  const auto* node = top.node("platforms", Need::required);
  if (node == nullptr) {
    return;
  }
  if (!node->is_map() || node->members.empty()) {
    top.mistake(node->at, "`platforms` must be a map with at least one platform");
    return;
  }
  for (const auto& [key, value] : node->members) {
    const auto platform = Platform::parse(key.scalar);
    if (!platform || platform->text() != key.scalar) {
      top.mistake(key.at, fmt::format("`{}` is no platform", printable(key.scalar.substr(0, 100))));
      continue;
    }
    StrictFields fields(value, std::string(platform->text()), top.mistakes());
    PlatformLock entry{.platform = *platform, .glibc = {}, .artifacts = {}};
    if (const auto glibc = fields.version("glibc", Need::optional)) {
      entry.glibc = glibc->text();
    }
    if (const auto* artifacts = fields.node("artifacts", Need::required)) {
      entry.artifacts = read_artifacts(*artifacts, top.mistakes());
    }
    fields.finish();
    lock.platforms.push_back(std::move(entry));
  }
}

void read_requires(StrictFields& top, Lock& lock) {
  const auto* node = top.node("requires", Need::optional);
  if (node == nullptr) {
    return;
  }
  StrictFields fields(*node, "`requires`", top.mistakes());
  if (const auto driver = fields.version("driver", Need::optional)) {
    lock.driver = driver->text();
  }
  for (const auto& [text, at] : fields.list("gpus")) {
    const auto gpu = GpuTarget::parse(text);
    if (!gpu || gpu->sm() != text) {
      fields.mistake(at,
                     fmt::format("`{}` is no target as a lock spells it (sm_90, sm_90a, sm_120f)",
                                 printable(text.substr(0, 100))));
      continue;
    }
    lock.gpus.push_back(*gpu);
  }
  for (const auto& [text, at] : fields.list("observed")) {
    if (text != "gpus" || lock.gpus.empty()) {
      fields.mistake(at, "`observed` may name only `gpus`, and only where `gpus` stands");
    }
    lock.observed_gpus = true;
  }
  for (const auto& [text, at] : fields.list("assumed")) {
    const bool is_driver = text == "driver" && !lock.driver.empty();
    const bool is_gpus = text == "gpus" && !lock.gpus.empty() && !lock.observed_gpus;
    if (!is_driver && !is_gpus) {
      fields.mistake(at, "`assumed` may name `driver` and `gpus`, only where they stand, and not "
                         "what is `observed`");
    }
    lock.assumed_driver = lock.assumed_driver || is_driver;
    lock.assumed_gpus = lock.assumed_gpus || is_gpus;
  }
  if (node->is_map() && node->members.empty()) {
    fields.mistake(node->at, "`requires` is empty; leave it out");
  }
  fields.finish();
}

void read_pins(StrictFields& top, Lock& lock) {
  const auto* node = top.node("pins", Need::optional);
  if (node == nullptr) {
    return;
  }
  if (!node->is_map() || node->members.empty()) {
    top.mistake(node->at, "`pins` must be a map from file names to digests");
    return;
  }
  for (const auto& [key, value] : node->members) {
    if (!is_file_name(key.scalar) && !is_redist_path(key.scalar)) {
      top.mistake(key.at,
                  "a pin's key must be a file name without folders, or PRODUCT/redist/FILE");
    }
    if (const auto digest = read_digest(value, key.scalar, top.mistakes())) {
      lock.pins.emplace(key.scalar, *digest);
    }
  }
}

/// A lock of another format is refused by name before anything else of it is judged.
Result<void> check_format(const Node& root, const std::string& file) {
  const auto* format = root.find("cukit-lock");
  const auto at = format != nullptr ? format->at : root.at;
  const auto refuse = [&](std::string message, std::string hint) {
    return tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                       .message = std::move(message),
                                       .where = text::place(file, at),
                                       .hint = std::move(hint)});
  };
  if (format == nullptr || !format->is_scalar()) {
    return refuse("this is no lock of cukit: `cukit-lock` is missing",
                  "make it anew with `cukit lock`");
  }
  const auto& text = format->scalar;
  if (text == std::to_string(k_format)) {
    return {};
  }
  const bool is_number = !text.empty() &&
                         text.find_first_not_of("0123456789") == std::string::npos &&
                         text.front() != '0';
  if (is_number) {
    return refuse(
        fmt::format("the lock has format {}, written by a newer cukit; this one reads format {}",
                    printable(text.substr(0, 20)), k_format),
        "install the newer cukit, or make the lock anew with `cukit lock`");
  }
  return refuse(
      fmt::format("`cukit-lock` must be {}, not `{}`", k_format, printable(text.substr(0, 100))),
      "make the lock anew with `cukit lock`");
}

void read_assembly(StrictFields& top, Lock& lock) {
  const auto* node = top.node("assembly", Need::required);
  if (node == nullptr) {
    return;
  }
  const auto& text = node->scalar;
  const int value = whole_number<int>(text).value_or(0);
  if (value < 1 || text.front() == '0') {
    top.mistake(node->at, "`assembly` must be a whole number above 0");
  } else if (value > k_assembly) {
    top.mistake(node->at,
                fmt::format("assembly {} was written by a newer cukit; this one knows up to {}",
                            value, k_assembly));
  }
  lock.assembly = value;
}

Result<Lock> read_text(std::string_view text, const std::string& file, bool has_platforms) {
  if (text.size() > limits::k_lock_bytes) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("a lock of {} is too large", human_bytes(text.size())),
              .where = file});
  }
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, file));
  CUKIT_TRY(check_format(root, file));
  Mistakes mistakes(file);
  StrictFields top(root, "the lock", mistakes);
  Lock lock;
  top.node("cukit-lock", Need::required);
  lock.manifest = top.digest("manifest", Need::required).value_or(Sha256());
  read_assembly(top, lock);
  lock.release = top.version("release", Need::required).value_or(Version());
  read_requires(top, lock);
  read_pins(top, lock);
  if (has_platforms) {
    read_platforms(top, lock);
  }
  top.finish();
  if (!mistakes.empty()) {
    auto error = std::move(mistakes).error();
    if (error.hint.empty()) {
      error.hint = "make the lock anew with `cukit lock`; it is not meant to be edited";
    }
    return tl::unexpected(std::move(error));
  }
  sort(lock);
  return lock;
}

} // namespace

Result<Lock> read(std::string_view text, const std::string& file) {
  return read_text(text, file, true);
}

Result<Lock> read_head(std::string_view text, const std::string& file) {
  const auto end = text.find("\nplatforms:");
  return end == std::string_view::npos ? read_text(text, file, true)
                                       : read_text(text.substr(0, end + 1), file, false);
}

} // namespace cukit::lock

#include "pipeline/export_tree.hpp"

#include "base/strings.hpp"
#include "base/temporary.hpp"
#include "base/user_file.hpp"
#include "exports/distributable.hpp"
#include "exports/sbom.hpp"
#include "exports/variable_files.hpp"
#include "pipeline/entries.hpp"
#include "pipeline/trees.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <sys/stat.h>

namespace cukit::pipeline {

namespace {

constexpr const char* k_own_layer = "cukit";
constexpr std::uint64_t k_record_bytes = 64U << 20U;

/// How many versions a component had in the releases of this major: a measure of how often its
/// layer will change. Unknown ones count as changing with every release.
class ChangeCounts {
public:
  static Result<ChangeCounts> of(const knowledge::Knowledge& knowledge, const Version& release) {
    ChangeCounts counts(release);
    CUKIT_TRY_ASSIGN(counts.tables_, knowledge.tables());
    CUKIT_TRY_ASSIGN(counts.components_, knowledge.components());
    return counts;
  }
  [[nodiscard]] std::size_t count(const std::string& component) const {
    const auto* known = knowledge::find_component(*components_, component);
    std::size_t most = 0;
    if (known != nullptr) {
      auto names = known->redist.names;
      names.push_back(known->project_of(release_));
      for (const char* source : {"redist", "wheels"}) {
        most = std::max(most, versions(source, names));
      }
    }
    return most == 0 ? std::numeric_limits<std::size_t>::max() : most;
  }

private:
  explicit ChangeCounts(Version release) : release_(std::move(release)) {}
  [[nodiscard]] std::size_t versions(std::string_view source,
                                     const std::vector<std::string>& names) const {
    std::set<Version> seen;
    for (const auto& table : *tables_) {
      if (table.source != source || table.release.major() != release_.major()) {
        continue;
      }
      for (const auto& name : names) {
        if (const auto found = table.components.find(name); found != table.components.end()) {
          seen.insert(found->second);
        }
      }
    }
    return seen.size();
  }

  Version release_;
  const std::vector<knowledge::ReleaseTable>* tables_ = nullptr;
  const std::vector<knowledge::Component>* components_ = nullptr;
};

Result<void> check_whole(const assemble::Tree& tree, const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(const auto differences, assemble::verify(tree, stop));
  if (differences.empty()) {
    return {};
  }
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::integrity,
            .message = fmt::format("the tree is not what was built, and is not exported: {}{}",
                                   printable(differences.front()),
                                   differences.size() == 1
                                       ? std::string()
                                       : fmt::format(" and {} more", differences.size() - 1)),
            .where = tree.path.string(),
            .hint = "`cukit verify --repair` mends it"});
}

/// Component of each path, as the plan of the tree has it.
Result<std::map<std::string, std::string>> owners(Session& session, const lock::Lock& lock,
                                                  const lock::PlatformLock& part) {
  CUKIT_TRY_ASSIGN(const auto entries, obtain_entries(session, part));
  CUKIT_TRY_ASSIGN(const auto files, assemble::plan(lock, part, entries));
  std::map<std::string, std::string> result;
  for (const auto& file : files) {
    result.emplace(file.path.text(), file.owner);
  }
  return result;
}

image::Item item_of(const std::string& root, const assemble::TreeFile& file) {
  return {.path = root + "/" + std::string(file.path.text()),
          .is_executable = file.executable,
          .link = file.link,
          .size = file.size,
          .sha256 = file.sha256,
          .from = file.from};
}

Result<void> add_records(const assemble::Tree& tree, const lock::Lock& lock,
                         const std::string& root, bool is_whole, std::vector<image::Item>& items) {
  for (const char* name : {"content", "files", "input"}) {
    if (!is_whole) {
      break;
    }
    CUKIT_TRY_ASSIGN(auto text, read_file(tree.path / ".cukit" / name, k_record_bytes));
    items.push_back({.path = root + "/.cukit/" + name, .link = {}, .content = std::move(text)});
  }
  items.push_back({.path = root + ".lock.yaml", .link = {}, .content = lock::write(lock)});
  return {};
}

/// Takes what may not be passed on out of the list, and returns its paths. Licences stay, and so do
/// links by which a library that stays is found.
Result<std::vector<std::string>> leave_out(std::vector<assemble::TreeFile>& files,
                                           const assemble::Tree& tree) {
  CUKIT_TRY_ASSIGN(const auto listed, exports::distributable_files(tree));
  if (listed.empty()) {
    return fail(ErrorCode::expected_no,
                "no licence below {} lists what may be passed on, so nothing can be",
                printable((tree.path / "LICENSES").string()));
  }
  std::vector<std::string> out;
  const auto goes = [&](const assemble::TreeFile& file) {
    const auto& path = file.path.text();
    const bool is_way_to_libraries = !file.link.empty() && path == "lib64";
    const bool stays = path.starts_with("LICENSES/") || is_way_to_libraries ||
                       exports::is_distributable(path, listed);
    if (!stays) {
      out.push_back(path);
    }
    return !stays;
  };
  files.erase(std::remove_if(files.begin(), files.end(), goes), files.end());
  return out;
}

/// "/opt/cuda" -> "opt/cuda"
Result<std::string> root_of(const fs::path& place) {
  const auto text = place.lexically_normal().string();
  const auto end = text.find_last_not_of('/');
  if (!place.is_absolute() || end == std::string::npos || text.find("..") != std::string::npos) {
    return fail(ErrorCode::usage, "{} is no place for a toolkit: say a path from / on",
                printable(place.string()));
  }
  return text.substr(1, end);
}

std::map<std::string, std::string> variables_of(const image::BaseImage* base) {
  std::map<std::string, std::string> result;
  const auto* config = base == nullptr ? nullptr : base->config.find("config");
  const auto* list = config == nullptr ? nullptr : config->find("Env");
  for (const auto& one : list == nullptr ? std::vector<text::Json>() : list->items()) {
    const auto equals = one.text().find('=');
    if (equals != std::string::npos) {
      result[one.text().substr(0, equals)] = one.text().substr(equals + 1);
    }
  }
  return result;
}

Result<exports::ToolkitEnvironment> environment_at(const Session& session, const lock::Lock& lock,
                                                   const assemble::Tree& tree,
                                                   const fs::path& place) {
  return exports::environment({.tree = place,
                               .seen_at = tree.path,
                               .id = tree.id.hex(),
                               .gpus = lock.gpus,
                               .jit = session.home.jit(tree.id.hex())},
                              session.knowledge);
}

Result<image::Compression> compression_of(const fs::path& file) {
  const auto name = file.filename().string();
  for (const auto& [end, compression] :
       {std::pair(".tar", image::Compression::none), std::pair(".tar.gz", image::Compression::gzip),
        std::pair(".tgz", image::Compression::gzip),
        std::pair(".tar.zst", image::Compression::zstd)}) {
    if (name.ends_with(end)) {
      return compression;
    }
  }
  return fail(
      ErrorCode::usage,
      "{} does not say how to pack it: use a name with .tar, .tar.gz or .tar.zst at its end",
      printable(file.string()));
}

Result<void> check_empty(const fs::path& folder) {
  if (!path_exists(folder)) {
    return {};
  }
  const auto names = list_directory(folder);
  if (names && names->empty()) {
    return {};
  }
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::usage,
            .message = names ? "the folder is not empty" : "there is something that is no folder",
            .where = folder.string(),
            .hint = "an image is put into a folder of its own"});
}

} // namespace

Result<ExportedTree> export_tree(Session& session, const lock::Lock& lock, const ExportWish& wish) {
  CUKIT_TRY_ASSIGN(const auto root, root_of(wish.place));
  CUKIT_TRY_ASSIGN(const auto* part, part_of(session, lock));
  CUKIT_TRY_ASSIGN(auto built, ensure_tree(session, lock));
  CUKIT_TRY(check_whole(built.tree, session.stop));
  CUKIT_TRY_ASSIGN(const auto owner_of, owners(session, lock, *part));
  CUKIT_TRY_ASSIGN(auto files, assemble::list_files(built.tree));
  ExportedTree result{.tree = std::move(built.tree), .layers = {}, .left_out = {}};
  if (wish.distributable_only) {
    CUKIT_TRY_ASSIGN(result.left_out, leave_out(files, result.tree));
  }
  std::map<std::string, std::vector<image::Item>> by_owner;
  for (const auto& file : files) {
    const auto owner = owner_of.find(std::string(file.path.text()));
    by_owner[owner == owner_of.end() ? k_own_layer : owner->second].push_back(item_of(root, file));
  }
  CUKIT_TRY(add_records(result.tree, lock, root, !wish.distributable_only, by_owner[k_own_layer]));
  CUKIT_TRY_ASSIGN(const auto counts, ChangeCounts::of(session.knowledge, lock.release));
  std::vector<std::tuple<bool, std::size_t, std::string>> order;
  for (const auto& [name, items] : by_owner) {
    order.emplace_back(name == k_own_layer, counts.count(name), name);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [own, count, name] : order) {
    const auto version = result.tree.components.find(name);
    auto items = std::move(by_owner[name]);
    std::sort(items.begin(), items.end(),
              [](const image::Item& a, const image::Item& b) { return a.path < b.path; });
    result.layers.push_back(
        {.title = version == result.tree.components.end() ? name : name + " " + version->second,
         .items = std::move(items)});
  }
  return result;
}

std::map<std::string, std::string> image_labels(const lock::Lock& lock,
                                                const assemble::Tree& tree) {
  std::set<std::string> licences;
  for (const auto& row : exports::licences(lock)) {
    if (!row.licence.empty()) {
      licences.insert(row.licence);
    }
  }
  return {{"org.opencontainers.image.title", "cuda-toolkit"},
          {"org.opencontainers.image.version", lock.release.text()},
          {"org.opencontainers.image.licenses",
           join(std::vector<std::string>(licences.begin(), licences.end()), " AND ")},
          {"cukit.lock", sha256_of(lock::write(lock)).text()},
          {"cukit.tree", tree.content.text()},
          {"cukit.redistribution", std::string(exports::k_redistribution)}};
}

Result<ExportedImage> export_image(Session& session, const lock::Lock& lock, const ImageWish& wish,
                                   const fs::path& folder) {
  CUKIT_TRY_ASSIGN(const auto target, absolute_path(folder));
  CUKIT_TRY(check_empty(target));
  std::optional<image::BaseImage> base;
  if (!wish.base.empty()) {
    CUKIT_TRY_ASSIGN(base, image::read_base(wish.base, session.platform()));
  }
  CUKIT_TRY_ASSIGN(auto exported, export_tree(session, lock, wish.tree));
  CUKIT_TRY_ASSIGN(const auto environment,
                   environment_at(session, lock, exported.tree, wish.tree.place));
  const auto* below = base ? &*base : nullptr;
  image::Image image{.platform = session.platform(),
                     .layers = std::move(exported.layers),
                     .variables = exports::image_variables(environment, variables_of(below)),
                     .labels = image_labels(lock, exported.tree),
                     .created = wish.created,
                     .compression = wish.compression,
                     .base = below};
  if (below != nullptr) {
    image.labels["org.opencontainers.image.base.digest"] = below->digest.text();
  }
  CUKIT_TRY_ASSIGN(const auto held,
                   HeldDirectory::create(target.parent_path(), temporary::k_export));
  const auto made = held.path() / "image";
  CUKIT_TRY(make_directories(made));
  ThreadPool pool;
  CUKIT_TRY_ASSIGN(auto written, image::write_layout(image, made, pool, session.stop));
  CUKIT_TRY(sync_file_system(made));
  if (path_exists(target) && ::rmdir(target.c_str()) != 0) {
    return fail_errno(errno, "cannot put the image at {}", printable(target.string()));
  }
  CUKIT_TRY(rename_path(made, target));
  return ExportedImage{.image = std::move(written), .left_out = std::move(exported.left_out)};
}

Result<ExportedArchive> export_archive(Session& session, const lock::Lock& lock,
                                       const ExportWish& wish, const fs::path& file) {
  CUKIT_TRY_ASSIGN(const auto compression, compression_of(file));
  CUKIT_TRY_ASSIGN(const auto target, absolute_path(file));
  CUKIT_TRY_ASSIGN(const auto real, replaceable_file(target));
  CUKIT_TRY_ASSIGN(auto exported, export_tree(session, lock, wish));
  std::vector<image::Item> all;
  for (auto& layer : exported.layers) {
    std::move(layer.items.begin(), layer.items.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end(),
            [](const image::Item& a, const image::Item& b) { return a.path < b.path; });
  CUKIT_TRY_ASSIGN(const auto held, HeldDirectory::create(real.parent_path(), temporary::k_export));
  const auto made = held.path() / "archive";
  ThreadPool pool;
  CUKIT_TRY_ASSIGN(auto packed, image::PackedFile::create(made, compression, pool));
  CUKIT_TRY(image::write_tar(packed, all, session.stop));
  CUKIT_TRY_ASSIGN(const auto done, packed.finish());
  CUKIT_TRY(sync_file(made));
  CUKIT_TRY(rename_path(made, real));
  return ExportedArchive{.packed = done, .left_out = std::move(exported.left_out)};
}

} // namespace cukit::pipeline

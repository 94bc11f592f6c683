#include "venv/inventory.hpp"

#include "archive/wheel.hpp"
#include "base/limits.hpp"
#include "base/strings.hpp"
#include "catalog/catalog.hpp"
#include "model/project_name.hpp"
#include "venv/owners.hpp"

#include <algorithm>
#include <set>

namespace cukit::venv {

namespace {

constexpr std::string_view k_info = ".dist-info";

Dist read_dist(const Place& place, const fs::path& site, const std::string& folder) {
  const auto dash = folder.find('-');
  const auto stem = folder.size() - k_info.size();
  Dist dist{.name = normalised_project(folder.substr(0, std::min(dash, stem))),
            .version = dash < stem ? folder.substr(dash + 1, stem - dash - 1) : std::string(),
            .site = site,
            .info = site / folder};
  if (const auto installer = read_file(dist.info / "INSTALLER", limits::k_manifest_bytes)) {
    dist.installer = trim(*installer);
  }
  if (const auto metadata = read_file(dist.info / "METADATA", limits::k_metadata_bytes)) {
    dist.requirements = archive::metadata_values(*metadata, "Requires-Dist");
  }
  const auto record = read_file(dist.info / "RECORD", limits::k_metadata_bytes);
  dist.has_record = record.has_value();
  if (!record) {
    return dist;
  }
  const auto prefix = place.prefix.lexically_normal().string();
  for_each_row(
      *record,
      [](std::string_view path) {
        return path.starts_with("nvidia/") || path.starts_with('/') ||
               path.find("..") != std::string_view::npos;
      },
      [&](RecordRow row) {
        const bool is_plain = !row.path.starts_with('/') && !row.path.starts_with('.') &&
                              row.path.find("/.") == std::string::npos &&
                              row.path.find("//") == std::string::npos;
        auto normal =
            is_plain ? row.path : fs::path(row.path).lexically_normal().string(); // the slow way
        if (normal.starts_with("nvidia/")) {
          row.path = std::move(normal);
          dist.files.push_back(std::move(row));
        } else if (place.kind != Kind::target && leads_out(row.path, prefix)) {
          dist.outside.push_back(std::move(row.path));
        }
      });
  return dist;
}

/// Every demand of anybody on a distribution of CUDA's, also through an extra of another
/// (cuda-toolkit[cudart]).
class Pins {
public:
  explicit Pins(Inventory& inventory) : inventory_(inventory) {}

  void collect() {
    for (const auto& dist : inventory_.dists) {
      follow(dist, "", "");
    }
  }

private:
  void follow(const Dist& dist, const std::string& extra, const std::string& because) {
    if (!seen_.emplace(dist.name, extra).second) {
      return;
    }
    for (const auto& text : dist.requirements) {
      const auto requirement = catalog::Requirement::parse(text);
      if (!requirement || !requirement->applies(Platform::host(), extra) ||
          (!extra.empty() && requirement->applies(Platform::host(), ""))) {
        continue;
      }
      const auto* wanted = inventory_.find(requirement->project);
      add(dist, extra, because, *requirement, wanted);
      for (const auto& inner : requirement->extras) {
        if (wanted != nullptr) {
          follow(*wanted, inner, because.empty() ? dist.name : because);
        }
      }
    }
  }

  void add(const Dist& by, const std::string& extra, const std::string& because,
           const catalog::Requirement& requirement, const Dist* wanted) {
    const auto& project = requirement.project;
    const bool concerns_cuda =
        wanted != nullptr ? is_of_cuda(*wanted) : project.starts_with("nvidia-");
    if (!concerns_cuda || requirement.range.is_any()) {
      return;
    }
    const auto version =
        wanted == nullptr ? tl::unexpected<Error>(Error{}) : Version::parse(wanted->version);
    inventory_.pins.push_back(
        {.by = extra.empty() ? by.name : fmt::format("{}[{}]", by.name, extra),
         .because = because,
         .text = project + requirement.range.text(),
         .project = project,
         .range = requirement.range,
         .installed = wanted == nullptr ? std::string() : wanted->version,
         .holds = version && requirement.range.contains(*version, true)});
  }

  Inventory& inventory_;
  std::set<std::pair<std::string, std::string>> seen_;
};

Result<void> read_site(const fs::path& site, Inventory& inventory) {
  CUKIT_TRY_ASSIGN(const auto names, list_directory(site));
  for (const auto& name : names) {
    if (name.ends_with(k_info)) {
      inventory.dists.push_back(read_dist(inventory.place, site, name));
    } else if (name.starts_with('~') && name.size() > 1) {
      inventory.notes.push_back(
          fmt::format("{} is what an interrupted `pip install` left; it can be removed",
                      (site / name).string()));
    }
  }
  return {};
}

} // namespace

std::string_view name_of(FileState state) {
  switch (state) {
  case FileState::own:
    return "own";
  case FileState::shared:
    return "shared";
  case FileState::clobbered:
    return "clobbered";
  case FileState::missing:
    return "missing";
  case FileState::stale:
    return "stale";
  case FileState::foreign:
    return "foreign";
  }
  return "";
}

const Dist* Inventory::find(std::string_view project) const {
  const auto found = std::find_if(dists.begin(), dists.end(),
                                  [&](const Dist& dist) { return dist.name == project; });
  return found == dists.end() ? nullptr : &*found;
}

bool is_of_cuda(const Dist& dist) {
  return !dist.files.empty() || dist.name.starts_with("nvidia-") || dist.name == "cuda-toolkit";
}

Result<Inventory> take_inventory(const Place& place, Depth depth, const std::stop_token& stop) {
  Inventory result{.place = place, .dists = {}, .folders = {}, .pins = {}, .notes = place.notes};
  for (const auto& site : place.sites) {
    CUKIT_TRY(read_site(site, result));
  }
  std::sort(result.dists.begin(), result.dists.end(), [](const Dist& a, const Dist& b) {
    return a.name != b.name ? a.name < b.name : a.info < b.info;
  });
  Pins(result).collect();
  for (const auto& site : place.sites) {
    CUKIT_TRY(look_at_folders(site, depth, result, stop));
  }
  return result;
}

} // namespace cukit::venv

#include "commands/venv_text.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::cmd {

namespace {

using venv::FileState;

constexpr std::size_t k_shown_files = 8; ///< of each state, for people; --json has all

std::size_t count_of(const venv::CudaFolder& folder, FileState state) {
  const auto found = folder.count.find(state);
  return found == folder.count.end() ? 0 : found->second;
}

std::string some_files(const venv::CudaFolder& folder, FileState state) {
  std::string out;
  std::size_t shown = 0;
  for (const auto& file : folder.odd) {
    if (file.state != state) {
      continue;
    }
    if (++shown > k_shown_files) {
      out += fmt::format("      and {} more\n", count_of(folder, state) - k_shown_files);
      break;
    }
    const auto owners = join(file.owners, ", ");
    out += fmt::format("      {}{}{}\n", printable(file.path),
                       owners.empty() ? "" : " (" + owners + ")",
                       file.bytes_of.empty() ? "" : ": the bytes are those of " + file.bytes_of);
  }
  return out;
}

std::string files_text(const venv::CudaFolder& folder) {
  std::string out;
  std::size_t total = 0;
  std::vector<std::string> states;
  for (const auto& [state, count] : folder.count) {
    total += state == FileState::missing ? 0 : count;
    states.push_back(fmt::format("{} {}", count, name_of(state)));
  }
  out += fmt::format("{}: {} files, {} ({})\n", printable(folder.name), total,
                     human_bytes(folder.bytes), join(states, ", "));
  if (folder.hard_linked > 0) {
    out += fmt::format("  {} of them have further names elsewhere, most likely in uv's cache: they "
                       "are never written into\n",
                       folder.hard_linked);
  }
  return out;
}

std::string odd_text(const venv::CudaFolder& folder) {
  std::string out;
  for (const auto& [state, what] :
       {std::pair{FileState::clobbered, "clobbered (other bytes than an owner brought)"},
        {FileState::missing, "missing (in RECORD, and not there)"},
        {FileState::stale, "stale (CUDA's, and in nobody's RECORD)"},
        {FileState::foreign, "foreign (nobody's)"}}) {
    if (count_of(folder, state) > 0) {
      out += fmt::format("    {}:\n{}", what, some_files(folder, state));
    }
  }
  return out;
}

std::string folder_text(const ui::Terminal& terminal, const venv::Inventory& inventory,
                        const venv::CudaFolder& folder) {
  auto out = files_text(folder);
  ui::Table parts;
  for (const auto& part : parts_of(inventory, folder)) {
    parts.row({part.name, part.version.empty() ? "unknown" : part.version, part.read_in});
  }
  out += parts.print(terminal, "    ");
  ui::Table owners;
  for (const auto& [owner, files] : folder.files_of) {
    const auto* dist = inventory.find(owner);
    owners.row({owner, dist == nullptr ? "" : dist->version, fmt::format("{} files", files),
                dist == nullptr || dist->installer.empty() ? "" : "by " + dist->installer});
  }
  return out + "  files of\n" + owners.print(terminal, "    ") + odd_text(folder);
}

std::string pins_text(const ui::Terminal& terminal, const venv::Inventory& inventory) {
  if (inventory.pins.empty()) {
    return "pins: nobody asks for a version of a package of CUDA's\n";
  }
  ui::Table table;
  for (const auto& pin : inventory.pins) {
    table.row({pin.because.empty() ? pin.by : fmt::format("{} by {}", pin.because, pin.by),
               pin.text, pin.installed.empty() ? "not installed" : pin.installed,
               pin.holds ? "holds" : "BROKEN"});
  }
  return "pins\n" + table.print(terminal, "    ");
}

text::Json folder_json(const venv::Inventory& inventory, const venv::CudaFolder& folder) {
  auto counts = text::Json::object();
  for (const auto& [state, count] : folder.count) {
    counts.set(std::string(name_of(state)), static_cast<std::uint64_t>(count));
  }
  auto owners = text::Json::object();
  for (const auto& [owner, files] : folder.files_of) {
    owners.set(owner, static_cast<std::uint64_t>(files));
  }
  auto odd = text::Json::list();
  for (const auto& file : folder.odd) {
    odd.add(text::Json::object()
                .set("path", file.path)
                .set("state", name_of(file.state))
                .set("owners", text::Json::list(file.owners))
                .set("bytes_of", file.bytes_of));
  }
  auto parts = text::Json::list();
  for (const auto& part : parts_of(inventory, folder)) {
    parts.add(text::Json::object()
                  .set("name", part.name)
                  .set("version", part.version)
                  .set("read_in", part.read_in));
  }
  return text::Json::object()
      .set("name", folder.name)
      .set("path", folder.path.string())
      .set("bytes", folder.bytes)
      .set("hard_linked", static_cast<std::uint64_t>(folder.hard_linked))
      .set("counts", counts)
      .set("files_of", owners)
      .set("parts", parts)
      .set("files", odd);
}

text::Json wiring_json(const std::optional<venv::Wiring>& wiring) {
  if (!wiring) {
    return {};
  }
  auto files = text::Json::list();
  for (const auto& file : wiring->files) {
    files.add(file.string());
  }
  return text::Json::object()
      .set("tree", wiring->tree.string())
      .set("is_there", wiring->is_there)
      .set("always", wiring->always)
      .set("files", files);
}

} // namespace

text::Json troubles_json(const std::vector<venv::Trouble>& troubles) {
  auto out = text::Json::list();
  for (const auto& trouble : troubles) {
    out.add(text::Json::object()
                .set("id", trouble.id)
                .set("text", trouble.text)
                .set("next", trouble.next));
  }
  return out;
}

std::string troubles_text(const std::vector<venv::Trouble>& troubles) {
  std::string out;
  for (const auto& trouble : troubles) {
    out += fmt::format("{}\n  next: {}\n", printable(trouble.text), printable(trouble.next));
  }
  return out;
}

text::Json venv_show_json(const VenvView& view) {
  const auto& inventory = view.inventory;
  auto sites = text::Json::list();
  for (const auto& site : inventory.place.sites) {
    sites.add(site.string());
  }
  auto dists = text::Json::list();
  for (const auto& dist : inventory.dists) {
    if (is_of_cuda(dist)) {
      dists.add(text::Json::object()
                    .set("name", dist.name)
                    .set("version", dist.version)
                    .set("installer", dist.installer)
                    .set("files", static_cast<std::uint64_t>(dist.files.size()))
                    .set("requires", text::Json::list(dist.requirements)));
    }
  }
  auto folders = text::Json::list();
  for (const auto& folder : inventory.folders) {
    folders.add(folder_json(inventory, folder));
  }
  auto pins = text::Json::list();
  for (const auto& pin : inventory.pins) {
    pins.add(text::Json::object()
                 .set("by", pin.by)
                 .set("because", pin.because)
                 .set("requirement", pin.text)
                 .set("project", pin.project)
                 .set("installed", pin.installed)
                 .set("holds", pin.holds));
  }
  return text::Json::object()
      .set("schema", "cukit.venv-show/1")
      .set("path", inventory.place.prefix.string())
      .set("kind", name_of(inventory.place.kind))
      .set("site_packages", sites)
      .set("distributions", dists)
      .set("folders", folders)
      .set("pins", pins)
      .set("troubles", troubles_json(view.troubles))
      .set("wired", wiring_json(view.wiring))
      .set("notes", text::Json::list(inventory.notes));
}

std::string venv_show_text(const ui::Terminal& terminal, const VenvView& view) {
  const auto& inventory = view.inventory;
  auto out = fmt::format("{} ({})\n", printable(inventory.place.prefix.string()),
                         name_of(inventory.place.kind));
  for (const auto& note : inventory.notes) {
    out += fmt::format("note: {}\n", printable(note));
  }
  if (view.wiring) {
    out += fmt::format("wired to {}{}{}\n", printable(view.wiring->tree.string()),
                       view.wiring->is_there ? "" : ", which is gone",
                       view.wiring->always ? ", also without activation" : "");
  }
  if (inventory.folders.empty()) {
    out += "no package of CUDA's is installed there\n";
  }
  for (const auto& folder : inventory.folders) {
    if (folder.name != "nvidia" || !folder.odd.empty()) {
      out += "\n" + folder_text(terminal, inventory, folder);
    }
  }
  out += "\n" + pins_text(terminal, inventory);
  out += view.troubles.empty() ? std::string("\nnothing is wrong with it\n")
                               : "\n" + troubles_text(view.troubles);
  return out;
}

text::Json written_json(const std::vector<venv::Written>& files) {
  auto out = text::Json::list();
  for (const auto& file : files) {
    out.add(text::Json::object().set("path", file.path.string()).set("changed", file.changed));
  }
  return out;
}

std::string written_text(const std::vector<venv::Written>& files, std::string_view verb) {
  std::string out;
  for (const auto& file : files) {
    out +=
        fmt::format("{} {}\n", file.changed ? verb : "as it was:", printable(file.path.string()));
  }
  return out.empty() ? "nothing to do\n" : out;
}

text::Json wheels_json(const venv::WheelSet& set) {
  auto wheels = text::Json::list();
  for (const auto& wheel : set.wheels) {
    wheels.add(text::Json::object()
                   .set("project", wheel.project)
                   .set("version", wheel.version.text())
                   .set("installed", wheel.installed)
                   .set("why", wheel.why));
  }
  return text::Json::object()
      .set("schema", "cukit.venv-pin/1")
      .set("release", set.release.text())
      .set("because", set.because)
      .set("wheels", wheels);
}

} // namespace cukit::cmd

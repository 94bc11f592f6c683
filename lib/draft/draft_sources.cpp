// What a venv, a lock or a toolkit folder says of the manifest that would lead to it.
#include "base/limits.hpp"
#include "base/number.hpp"
#include "base/strings.hpp"
#include "draft/draft.hpp"
#include "draft/scan.hpp"
#include "lock/placement.hpp"
#include "text/json.hpp"
#include "text/yaml_write.hpp"

#include <algorithm>
#include <set>

namespace cukit::draft {

namespace {

constexpr std::size_t k_most_header_bytes = 4U << 20U;

} // namespace

Result<void> add_venv(Draft& draft, const python::Venv& venv, const fs::path& folder,
                      const std::string& written, const knowledge::Knowledge& knowledge) {
  std::set<std::string> consumers;
  std::vector<std::string> because;
  CUKIT_TRY_ASSIGN(const auto* known, knowledge.consumers());
  auto installed = venv.installed;
  if (!venv.torches.empty()) {
    CUKIT_TRY_ASSIGN(const auto torch, python::torch_of(venv, folder, folder.string()));
    draft.add({.key = "pytorch",
               .value = fmt::format("{{venv: {}}}", text::yaml_quoted(written)),
               .comment = fmt::format("torch {} there was built with CUDA {}", torch.version,
                                      torch.cuda.text())});
    installed.emplace("torch", torch.version);
    for (auto& remark : python::drift_of(venv, torch.cuda)) {
      draft.remarks.push_back(std::move(remark));
    }
  }
  for (const auto& [project, version] : installed) {
    for (const auto& consumer : *known) {
      if (!consumer.discovery.only_asked && knowledge::brings(consumer.discovery, project) &&
          consumers.insert(consumer.name).second) {
        because.push_back(fmt::format("{} {}", project, printable(version)));
      }
    }
  }
  if (!consumers.empty()) {
    draft.add({.key = "consumers",
               .value = list_text({consumers.begin(), consumers.end()}),
               .comment = "what must be able to use it; installed: " + join(because, ", ")});
  }
  return {};
}

namespace {

/// Wishes for components, read back from the reasons in a lock.
struct Wishes {
  std::set<std::string> components;
  std::set<std::string> consumers;
};
Wishes wishes_of(const lock::Lock& lock, const std::vector<std::string>& known_consumers) {
  Wishes result;
  for (const auto& platform : lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      const auto& why = artifact.why;
      const auto argument = why.substr(std::min(why.size(), why.find(' ') + 1));
      if (why.starts_with("group ")) {
        result.components.insert(argument);
      } else if (why == "manifest components") {
        result.components.insert(artifact.component);
      } else if (why.starts_with(lock::k_needed_by) &&
                 std::find(known_consumers.begin(), known_consumers.end(), argument) !=
                     known_consumers.end()) {
        result.consumers.insert(argument);
      }
    }
  }
  return result;
}

const lock::Artifact* find(const lock::Lock& lock, std::string_view component, bool is_part) {
  for (const auto& platform : lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      if (artifact.component == component && lock::takes_ptxas(artifact.take) == is_part) {
        return &artifact;
      }
    }
  }
  return nullptr;
}

} // namespace

Result<void> add_lock(Draft& draft, const lock::Lock& lock, const std::string& file,
                      const knowledge::Knowledge& knowledge) {
  std::set<std::string> gpus;
  std::set<std::string> platforms;
  for (const auto& gpu : lock.gpus) {
    gpus.insert(gpu.sm());
  }
  for (const auto& platform : lock.platforms) {
    platforms.insert(std::string(platform.platform.text()));
  }
  if (!gpus.empty()) {
    draft.add({.key = "gpus",
               .value = list_text({gpus.begin(), gpus.end()}),
               .comment = "the targets of " + file});
  }
  if (!lock.driver.empty()) {
    draft.add({.key = "driver",
               .value = fmt::format("\">={}\"", lock.driver),
               .comment = "the lock asks for it"});
  }
  draft.add({.key = "toolkit.nvcc",
             .value = fmt::format("\"{}\"", lock.release.text()),
             .comment = fmt::format("the release of the lock; {} alone would let its patch release "
                                    "move",
                                    lock.release.major_minor())});
  if (const auto* part = find(lock, "nvcc", true)) {
    draft.add({.key = "toolkit.ptxas",
               .value = fmt::format("\"{}\"", part->version.text()),
               .comment = "a newer one stands in for nvcc's own"});
  }
  CUKIT_TRY_ASSIGN(const auto known, knowledge.consumer_names());
  const auto wishes = wishes_of(lock, known);
  if (!wishes.components.empty()) {
    draft.add({.key = "components",
               .value = list_text({wishes.components.begin(), wishes.components.end()}),
               .comment = "those that nothing else brings"});
  }
  if (!wishes.consumers.empty()) {
    draft.add({.key = "consumers",
               .value = list_text({wishes.consumers.begin(), wishes.consumers.end()}),
               .comment = "what components were needed by"});
  }
  draft.add({.key = "platforms",
             .value = list_text({platforms.begin(), platforms.end()}),
             .comment = "those of the lock"});
  return {};
}

namespace {

struct Seen {
  std::string release;
  std::string from; ///< the file that says so
  std::map<std::string, std::string> parts;
};

Result<std::optional<Seen>> from_json(const fs::path& folder) {
  const auto file = folder / "version.json";
  if (!path_exists(file)) {
    return std::optional<Seen>();
  }
  CUKIT_TRY_ASSIGN(const auto bytes, read_file(file, limits::k_manifest_bytes));
  CUKIT_TRY_ASSIGN(const auto json, text::Json::parse(bytes, file.string()));
  Seen seen;
  for (const auto& [key, value] : json.members()) {
    seen.parts[key] = std::string(value.text_of("version"));
  }
  seen.release = seen.parts["cuda"];
  seen.from = file.string();
  return seen.release.empty() ? std::optional<Seen>() : std::optional(std::move(seen));
}

/// `find`: the release in the text of that file; empty where it says none.
Result<std::optional<Seen>> from_text(const fs::path& folder, const char* name,
                                      std::string (*find)(std::string_view)) {
  const auto file = folder / name;
  if (!path_exists(file)) {
    return std::optional<Seen>();
  }
  CUKIT_TRY_ASSIGN(const auto bytes, read_file(file, k_most_header_bytes));
  auto release = find(bytes);
  return release.empty() ? std::optional<Seen>()
                         : std::optional(Seen{
                               .release = std::move(release), .from = file.string(), .parts = {}});
}

/// 12.8.1 of `CUDA Version 12.8.1`.
std::string version_in(std::string_view text) {
  std::string result;
  each_after(text, "CUDA Version ", [&](std::string_view, std::string_view behind) {
    result = dotted_numbers(behind, 2, 3);
    return !result.empty();
  });
  return result;
}

/// 13.2 of `#define CUDART_VERSION 13020`.
std::string macro_in(std::string_view text) {
  constexpr std::size_t digits = 5;
  static constexpr std::string_view white = " \t\n\v\f\r";
  const auto is_white = [](char c) { return white.find(c) != std::string_view::npos; };
  std::string result;
  each_after(text, "CUDART_VERSION", [&](std::string_view before, std::string_view behind) {
    const auto defined = before.find_last_not_of(white);
    const auto space = run_of(behind, is_white);
    const auto number = run_of(behind.substr(space.size()), is_digit).substr(0, digits);
    if (defined != std::string_view::npos && defined + 1 < before.size() &&
        before.substr(0, defined + 1).ends_with("#define") && !space.empty() &&
        number.size() == digits) {
      const auto value = whole_number(number).value_or(0);
      result = fmt::format("{}.{}", value / 1000, value % 1000 / 10);
    }
    return !result.empty();
  });
  return result;
}

Result<Seen> look_at_tree(const fs::path& folder) {
  CUKIT_TRY_ASSIGN(auto seen, from_json(folder));
  if (!seen) {
    CUKIT_TRY_ASSIGN(seen, from_text(folder, "version.txt", version_in));
  }
  CUKIT_TRY_ASSIGN(auto header, from_text(folder, "include/cuda_runtime_api.h", macro_in));
  if (!seen && header) {
    return *std::move(header);
  }
  if (!seen) {
    return tl::unexpected<Error>(Error{
        .code = ErrorCode::usage,
        .message = fmt::format("{} is no CUDA toolkit", folder.string()),
        .hint = "name a folder with version.json, version.txt or include/cuda_runtime_api.h"});
  }
  if (header) {
    seen->parts["CUDART_VERSION"] = header->release;
  }
  return *std::move(seen);
}

/// The recipes' components among the names that NVIDIA's own files use.
std::set<std::string> components_of(const Seen& seen,
                                    const std::vector<knowledge::Component>& components,
                                    const std::vector<std::string>& core) {
  std::set<std::string> result{"core"};
  for (const auto& component : components) {
    const auto& names = component.redist.names;
    const bool is_there = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return seen.parts.contains(name);
    });
    if (is_there && std::find(core.begin(), core.end(), component.name) == core.end()) {
      result.insert(component.name);
    }
  }
  return result;
}

} // namespace

Result<void> add_tree(Draft& draft, const fs::path& folder, const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto seen, look_at_tree(folder));
  CUKIT_TRY_ASSIGN(const auto release, Version::parse(seen.release));
  const auto macro = seen.parts.find("CUDART_VERSION");
  if (macro != seen.parts.end() && macro->second != release.major_minor()) {
    draft.remarks.push_back(
        fmt::format("{} says CUDA {}, but its headers are of {}: the toolkit is "
                    "mixed",
                    seen.from, release.text(), macro->second));
  }
  const auto nvcc = seen.parts.find("cuda_nvcc");
  draft.add({.key = "toolkit.nvcc",
             .value = fmt::format("\"{}\"", release.text()),
             .comment = fmt::format("{}{}", seen.from,
                                    nvcc == seen.parts.end() ? "" : ": nvcc " + nvcc->second)});
  CUKIT_TRY_ASSIGN(const auto* components, knowledge.components());
  CUKIT_TRY_ASSIGN(const auto* groups, knowledge.groups());
  const auto core = groups->find("core");
  const auto wanted = components_of(
      seen, *components, core == groups->end() ? std::vector<std::string>() : core->second);
  if (wanted.size() > 1) {
    draft.add({.key = "components",
               .value = list_text({wanted.begin(), wanted.end()}),
               .comment = "what stands there; leave out what nobody uses"});
  }
  return {};
}

} // namespace cukit::draft

#include "explain/why.hpp"

#include "base/strings.hpp"
#include "explain/diff.hpp"
#include "lock/placement.hpp"
#include "model/tree_layout.hpp"
#include "resolve/facts.hpp"
#include "resolve/rules.hpp"

#include <algorithm>
#include <set>

namespace cukit::explain {

namespace rules = resolve::rules;
using resolve::Facts;

namespace {

constexpr std::string_view k_group = "group ";
constexpr std::string_view k_manifest = "manifest ";

class Explainer {
public:
  Explainer(const Question& question, const Facts& facts)
      : question_(question), lock_(question.lock), facts_(facts) {}

  Explanation artifact(const lock::Artifact& artifact) {
    const auto name = part_name(artifact, *facts_.components);
    Explanation result{.subject = fmt::format("{} {}", name, artifact.version.text())};
    lines_ = &result.lines;
    const auto* component = knowledge::find_component(*facts_.components, artifact.component);
    if (component != nullptr) {
      add("what it is", component->summary);
    }
    seen_ = {artifact.component};
    chain("here because", artifact.why);
    if (component != nullptr) {
      others(*component);
      version(artifact, *component);
    }
    content(artifact);
    origin(artifact);
    return result;
  }

  Explanation release() {
    Explanation result{.subject = fmt::format("CUDA {}", lock_.release.text())};
    lines_ = &result.lines;
    const auto* manifest = question_.manifest;
    if (manifest != nullptr && manifest->nvcc) {
      wish("this release because", "toolkit.nvcc", *manifest->nvcc);
    } else if (manifest != nullptr && manifest->pytorch_cuda) {
      const auto& torch = *manifest->pytorch_cuda;
      wish("this release because", "pytorch", torch);
      add("",
          lock_.release.same_minor(torch.value)
              ? "it is PyTorch's own minor, and that serves every GPU, consumer and driver"
              : "PyTorch's own minor does not serve everything; this is the nearest that does",
          rules::k_pytorch_minor.source);
    } else {
      add("this release because",
          "nothing in the manifest narrows it: the newest that every rule allowed when the lock "
          "was made, kept since");
    }
    add("see also", "`cukit lock --explain MANIFEST` lists the releases that were passed over");
    for (const auto& [file, digest] : lock_.pins) {
      add("rests on", fmt::format("{} ({}...)", file, digest.text().substr(0, 19)));
    }
    if (const auto* facts = knowledge::find_release(*facts_.releases, lock_.release)) {
      add("PTX",
          fmt::format("{}; PTX alone needs a driver of branch {} or newer", facts->ptx.text(),
                      facts->driver_branch),
          rules::k_ptx_of_driver.source);
      add("driver", fmt::format("branch {} or newer", facts->driver_floor),
          rules::k_driver_floor.source);
    }
    return result;
  }

private:
  void add(std::string label, std::string text, std::string_view source = {}) {
    lines_->push_back(
        {.label = std::move(label), .text = std::move(text), .source = std::string(source)});
  }
  template <typename T>
  void wish(std::string label, std::string_view key, const manifest::Wish<T>& wished) {
    add(std::move(label), fmt::format("the manifest says {}: {}", key, wished.text),
        text::place(question_.manifest->file, wished.at));
  }

  /// From the lock's `why` back to a wish: at each step what brought the one before.
  void chain(std::string label, const std::string& why) {
    if (why.starts_with(k_group)) {
      group(std::move(label), why.substr(k_group.size()));
    } else if (why.starts_with(lock::k_needed_by)) {
      needed_by(std::move(label), why.substr(lock::k_needed_by.size()));
    } else if (why.starts_with(k_manifest)) {
      from_manifest(std::move(label), why.substr(k_manifest.size()));
    } else {
      add(std::move(label), why);
    }
  }

  void group(std::string label, const std::string& name) {
    const auto members = facts_.groups->find(name);
    const auto list = members == facts_.groups->end() ? "" : join(members->second, ", ");
    add(std::move(label), fmt::format("group {} brings it ({})", name, list));
    if (question_.manifest == nullptr) {
      return;
    }
    for (const auto& wished : question_.manifest->components) {
      if (wished.value == name) {
        wish("", "components", wished);
        return;
      }
    }
    add("", fmt::format("the manifest names no components, so {} is taken", name),
        question_.manifest->file);
  }

  void needed_by(std::string label, const std::string& name) {
    if (const auto* consumer = facts_.consumer(name)) {
      add(std::move(label), fmt::format("consumer {} needs it ({})", name, consumer->summary),
          consumer->why);
      for (const auto& wished : manifest_consumers()) {
        if (wished.value == name) {
          wish("", "consumers", wished);
        }
      }
      return;
    }
    add(std::move(label), fmt::format("{} needs it", name));
    if (!seen_.insert(name).second) {
      return;
    }
    for (const auto& platform : lock_.platforms) {
      for (const auto& other : platform.artifacts) {
        if (other.component == name) {
          chain(fmt::format("and {} because", name), other.why);
          return;
        }
      }
    }
  }

  void from_manifest(std::string label, const std::string& key) {
    const auto* manifest = question_.manifest;
    const std::pair<std::string_view, const std::optional<manifest::Wish<VersionRange>>*> ranges[] =
        {{"toolkit.nvcc", manifest == nullptr ? nullptr : &manifest->nvcc},
         {"toolkit.ptxas", manifest == nullptr ? nullptr : &manifest->ptxas},
         {"toolkit.headers", manifest == nullptr ? nullptr : &manifest->headers},
         {"toolkit.cccl", manifest == nullptr ? nullptr : &manifest->cccl}};
    for (const auto& [name, range] : ranges) {
      if (name == key && range != nullptr && *range) {
        wish(std::move(label), key, **range);
        return;
      }
    }
    if (key == "components" && manifest != nullptr) {
      for (const auto& wished : manifest->components) {
        if (seen_.contains(wished.value)) {
          wish(std::move(label), key, wished);
          return;
        }
      }
    }
    add(std::move(label), fmt::format("the manifest asks for it ({})", key));
  }

  std::vector<manifest::Wish<std::string>> manifest_consumers() const {
    return question_.manifest == nullptr ? std::vector<manifest::Wish<std::string>>()
                                         : question_.manifest->consumers;
  }

  bool is_locked(const std::string& component) const {
    return std::any_of(lock_.platforms.begin(), lock_.platforms.end(), [&](const auto& platform) {
      return std::any_of(
          platform.artifacts.begin(), platform.artifacts.end(),
          [&](const lock::Artifact& artifact) { return artifact.component == component; });
    });
  }

  /// Who else would miss it.
  void others(const knowledge::Component& component) {
    std::vector<std::string> names;
    for (const auto& other : *facts_.components) {
      const bool needs =
          std::find(other.needs.begin(), other.needs.end(), component.name) != other.needs.end();
      if (needs && is_locked(other.name)) {
        names.push_back(other.name);
      }
    }
    for (const auto& wished : manifest_consumers()) {
      const auto* consumer = facts_.consumer(wished.value);
      if (consumer != nullptr && needs(*consumer, component.name)) {
        names.push_back(consumer->name);
      }
    }
    if (!names.empty()) {
      add("needed by", join(names, ", "));
    }
  }
  bool needs(const knowledge::Consumer& consumer, const std::string& component) const {
    const auto is_it = [&](const std::string& need) {
      const auto group = facts_.groups->find(need);
      return need == component ||
             (group != facts_.groups->end() && std::find(group->second.begin(), group->second.end(),
                                                         component) != group->second.end());
    };
    return std::any_of(consumer.needs.begin(), consumer.needs.end(), is_it) ||
           std::any_of(consumer.headers.begin(), consumer.headers.end(), is_it);
  }

  void version(const lock::Artifact& artifact, const knowledge::Component& component) {
    const auto release = lock_.release.text();
    const bool is_part = part_name(artifact, *facts_.components) != artifact.component;
    const std::string label = "this version because";
    if (is_part) {
      add(label, "it stands in for nvcc's own ptxas, and nvlink comes with it",
          rules::k_ptxas_pair.source);
    } else if (component.follows == "core") {
      add(label,
          fmt::format("nvcc, crt, nvvm and nvptxcompiler carry one full version, that of CUDA {}",
                      release),
          rules::k_compiler_core.source);
    } else if (component.follows == "binutils") {
      add(label,
          "it reads what its own and older minors wrote, so nvcc's minor or a newer one fits",
          rules::k_binary_utilities.source);
    } else if (component.name == resolve::k_cccl) {
      cccl_version(artifact, label);
    } else if (component.name == resolve::k_nvjitlink) {
      add(label, fmt::format("nvJitLink has nvcc's minor; it is the one of CUDA {}", release),
          rules::k_jit_linker.source);
    } else if (component.has_minor_of_nvcc) {
      add(label,
          fmt::format("headers and libraries have nvcc's minor; it is the one of CUDA {}", release),
          rules::k_runtime_minor.source);
    } else {
      add(label, fmt::format("CUDA {} is released with it", release));
    }
  }

  void cccl_version(const lock::Artifact& artifact, const std::string& label) {
    const auto own = rules::cccl_of_package(artifact.version, *facts_.releases);
    const auto* release = knowledge::find_release(*facts_.releases, lock_.release);
    const bool is_newer =
        release != nullptr && release->cccl < own && !release->cccl.same_minor(own);
    add(label,
        is_newer ? fmt::format("CCCL {} is newer than CUDA {}'s own line {}, as the manifest asks",
                               own.text(), lock_.release.text(), release->cccl.text())
                 : fmt::format("CCCL {} is the line of CUDA {}", own.text(), lock_.release.text()),
        rules::k_cccl.source);
  }

  void content(const lock::Artifact& artifact) {
    if (is_headers_only(artifact, *facts_.components)) {
      add("taken", "its headers only: nothing here needs the libraries");
    } else if (!artifact.take.empty()) {
      add("taken", join(artifact.take, ", "));
    }
    if (lock::takes_ptxas(artifact.leave)) {
      add("left out", fmt::format("{} and {}: newer ones stand in for them", layout::k_ptxas,
                                  layout::k_nvlink));
    }
  }

  void origin(const lock::Artifact& artifact) {
    add("from",
        fmt::format("{} ({}, {})", artifact.file, artifact.source, human_bytes(artifact.size)));
    const bool is_pinned = facts_.pins->contains(artifact.file);
    add("trust", is_pinned                   ? "its digest is part of this cukit"
                 : artifact.trust_first_lock ? "its digest was taken over when it was first locked"
                                             : "this cukit has the digest of the manifest that "
                                               "lists it with its own");
  }

  const Question& question_;
  const lock::Lock& lock_;
  const Facts& facts_;
  std::vector<Because>* lines_ = nullptr;
  std::set<std::string> seen_;
};

/// The names under which a component can be asked for besides its own.
bool provides(const knowledge::Component& component, const std::string& word) {
  return component.parts.contains(word) ||
         std::any_of(component.provides.begin(), component.provides.end(),
                     [&](const std::string& path) {
                       return fs::path(path).filename() == word || path == word;
                     });
}

/// Members of nvcc that a part may stand in for: the part is meant where there is one.
bool is_member_of_part(const knowledge::Component& component, const std::string& word) {
  return std::any_of(component.parts.begin(), component.parts.end(), [&](const auto& part) {
    return part.first == word ||
           std::any_of(part.second.begin(), part.second.end(),
                       [&](const std::string& path) { return fs::path(path).filename() == word; });
  });
}

/// Before 13.0 an archive holds other components as well: the artifact that brings this one.
const lock::Artifact* carrier_of(const lock::Lock& lock, const knowledge::Component& component) {
  const auto& recipe = component.redist;
  if (!recipe.is_older(lock.release) || recipe.older->within.empty()) {
    return nullptr;
  }
  for (const auto& platform : lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      if (artifact.component == recipe.older->within && artifact.source == "redist") {
        return &artifact;
      }
    }
  }
  return nullptr;
}

Explanation absent(const knowledge::Component& component, const Question& question,
                   const Facts& facts) {
  Explanation result{.subject = component.name, .holds = false};
  result.lines.push_back({.label = "what it is", .text = component.summary, .source = {}});
  result.lines.push_back({.label = "not here because",
                          .text = "nothing in the manifest brings it",
                          .source = question.manifest != nullptr ? question.manifest->file : ""});
  std::vector<std::string> groups;
  for (const auto& [name, members] : *facts.groups) {
    if (std::find(members.begin(), members.end(), component.name) != members.end()) {
      groups.push_back(name);
    }
  }
  result.lines.push_back(
      {.label = "to have it",
       .text = fmt::format("components: [{}]{}", component.name,
                           groups.empty() ? ""
                                          : fmt::format(", or the group {}", join(groups, " or "))),
       .source = {}});
  return result;
}

} // namespace

Result<Explanation> why_artifact(const Question& question, const lock::Artifact& artifact) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load(question.knowledge));
  return Explainer(question, facts).artifact(artifact);
}

Result<std::vector<Explanation>> why_component(const Question& question, const std::string& word) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load(question.knowledge));
  if (lower(word) == "cuda") {
    return std::vector<Explanation>{Explainer(question, facts).release()};
  }
  const auto* component = knowledge::find_component(*facts.components, word);
  std::vector<std::string> known{"cuda"};
  for (const auto& candidate : *facts.components) {
    known.push_back(candidate.name);
    if (component == nullptr && provides(candidate, word)) {
      component = &candidate;
    }
  }
  if (component == nullptr) {
    const auto near = did_you_mean(word, known);
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("the recipes know no component `{}`", printable(word)),
              .hint = near.empty() ? "components are: " + join(known, ", ")
                                   : fmt::format("did you mean `{}`?", near)});
  }
  std::vector<Explanation> result;
  std::set<std::string> seen;
  const bool is_member = component->name != word && is_member_of_part(*component, word);
  for (const auto& platform : question.lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      const bool leaves =
          std::any_of(artifact.leave.begin(), artifact.leave.end(),
                      [&](const std::string& path) { return fs::path(path).filename() == word; });
      const auto key = part_name(artifact, *facts.components) + " " + artifact.version.text();
      const bool is_other_part = is_member && leaves;
      if (artifact.component == component->name && !is_other_part && seen.insert(key).second) {
        result.push_back(Explainer(question, facts).artifact(artifact));
      }
    }
  }
  if (const auto* carrier = carrier_of(question.lock, *component);
      result.empty() && carrier != nullptr) {
    result.push_back(Explainer(question, facts).artifact(*carrier));
    result.back().subject = fmt::format("{} in {}", component->name, result.back().subject);
    result.back().lines.insert(
        result.back().lines.begin(),
        {.label = "where",
         .text = fmt::format("before CUDA {} it has no archive of its own and lies in {}'s",
                             component->redist.older->before.major_minor(), carrier->component),
         .source = {}});
  }
  if (result.empty()) {
    result.push_back(absent(*component, question, facts));
  }
  return result;
}

} // namespace cukit::explain

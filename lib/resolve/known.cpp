#include "resolve/known.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

using knowledge::Component;
using knowledge::ReleaseTable;

const Version* find(const ReleaseTable& table, const std::string& name) {
  const auto found = table.components.find(name);
  return found == table.components.end() ? nullptr : &found->second;
}

/// The version of a component in a table; nullptr: it is not in that release.
const Version* version_in(const ReleaseTable& table, const Component& component,
                          const Facts& facts) {
  if (table.source == k_wheels) {
    return find(table, component.project_of(table.release));
  }
  const auto& recipe = component.redist;
  if (recipe.is_older(table.release) && !recipe.older->within.empty()) {
    const auto* carrier = knowledge::find_component(*facts.components, recipe.older->within);
    return carrier == nullptr ? nullptr : version_in(table, *carrier, facts);
  }
  for (const auto& name : recipe.names) {
    if (const auto* version = find(table, name)) {
      return version;
    }
  }
  return nullptr;
}

bool is_in_source(const ReleaseTable& table, const Component& component) {
  return table.source == k_wheels ? !component.project.empty() : !component.redist.names.empty();
}

/// A metapackage may state a range for a project (nvJitLink, from 13.2.1 on); then its table has no
/// version of it, though an earlier one has.
bool is_listed_before(const Facts& facts, const Version& release, const std::string& project) {
  return std::any_of(facts.tables->begin(), facts.tables->end(), [&](const ReleaseTable& table) {
    return table.source == k_wheels && table.release < release && find(table, project) != nullptr;
  });
}

/// Whether a table that lacks such a component says by it that there is none.
bool is_told(const ReleaseTable& table, const Component& component, const Facts& facts) {
  if (table.evidence == "uncertain" || component.follows == "own") {
    return false;
  }
  return table.source == k_wheels
             ? !is_listed_before(facts, table.release, component.project_of(table.release))
             : component.redist.product == "cuda";
}

Toolkit::Place place(const ReleaseTable& table, const Component& component, Platform platform,
                     const Facts& facts, const Version& nvcc) {
  Toolkit::Place result;
  const auto& allowed = component.platforms;
  result.is_not_made =
      !allowed.empty() && std::find(allowed.begin(), allowed.end(), platform) == allowed.end();
  if (result.is_not_made) {
    result.why_not = fmt::format("{} is not made for {}", component.name, platform.text());
    return result;
  }
  if (const auto* version = version_in(table, component, facts)) {
    result.version = *version;
    return result;
  }
  // Binary utilities may be a newer release's; NCCL may come from wheels beside archives.
  const bool is_elsewhere = component.follows == "binutils" || component.follows == "own";
  if ((is_in_source(table, component) && (is_elsewhere || !is_told(table, component, facts))) ||
      (component.follows == "own" && !component.project.empty())) {
    result.version = nvcc;
    return result;
  }
  result.why_not =
      fmt::format("CUDA {} has no {} in {}", table.release.text(), component.name, table.source);
  return result;
}

std::optional<Candidate> candidate(const ReleaseTable& table, const Facts& facts) {
  const auto* release = knowledge::find_release(*facts.releases, table.release);
  const auto version = [&](std::string_view name) {
    const auto* component = knowledge::find_component(*facts.components, name);
    return component == nullptr ? nullptr : version_in(table, *component, facts);
  };
  const auto* cudart = version(k_cudart);
  const auto* nvcc = version(k_nvcc) != nullptr ? version(k_nvcc) : cudart;
  if (release == nullptr || nvcc == nullptr || cudart == nullptr) {
    return std::nullopt;
  }
  Candidate result;
  auto& toolkit = result.toolkit;
  toolkit.source = table.source;
  toolkit.release = table.release;
  toolkit.facts = release;
  toolkit.nvcc = *nvcc;
  toolkit.ptxas = *nvcc;
  toolkit.ptxas_release = table.release;
  toolkit.cudart = *cudart;
  const auto* cccl = version(k_cccl);
  toolkit.cccl_package = cccl == nullptr ? *cudart : *cccl;
  toolkit.cccl = cccl == nullptr ? release->cccl : rules::cccl_of_package(*cccl, *facts.releases);
  toolkit.place = [&table, &facts, nvcc](const Component& component, Platform platform) {
    return place(table, component, platform, facts, *nvcc);
  };
  return result;
}

/// The wish that brings a part, in the manifest's words.
std::string asked_by(const manifest::Manifest& manifest, const Part& part) {
  const auto words = [&](std::string_view key, const manifest::Wish<std::string>& wish) {
    return fmt::format("{}: {}, {}", key, wish.text, text::place(manifest.file, wish.at));
  };
  for (const auto& bringer : part.bringers) {
    switch (bringer.kind) {
    case Bringer::Kind::component:
    case Bringer::Kind::group:
      return words("components", manifest.components[bringer.index]);
    case Bringer::Kind::consumer:
      return words("consumers", manifest.consumers[bringer.index]);
    default:
      break;
    }
  }
  return part.why;
}

/// What no wheel holds of that which is asked for, each with who asked; else that the wheels of the
/// releases that could serve hold no compiler.
std::string why_no_wheels(const manifest::Manifest& manifest, const std::vector<Part>& parts) {
  std::vector<std::string> texts;
  for (const auto& part : parts) {
    if (part.component->project.empty()) {
      texts.push_back(
          fmt::format("{} is in no wheel ({})", part.component->name, asked_by(manifest, part)));
    }
  }
  return texts.empty() ? "the Python wheels of CUDA 12 hold no nvcc" : join(texts, ", ");
}

} // namespace

std::vector<Candidate> known_candidates(const manifest::Manifest& manifest, const Facts& facts) {
  CUKIT_ENSURE(facts.tables != nullptr, "the tables were loaded with the facts");
  std::vector<Candidate> result;
  for (const auto& table : *facts.tables) {
    if (auto one = candidate(table, facts)) {
      result.push_back(*std::move(one));
    }
  }
  std::optional<Version> torch;
  if (manifest.pytorch_cuda) {
    torch = manifest.pytorch_cuda->value;
  }
  std::stable_sort(result.begin(), result.end(), [&](const Candidate& a, const Candidate& b) {
    const auto& left = a.toolkit.release;
    const auto& right = b.toolkit.release;
    const int order = compare_preference(left, right, torch);
    return order != 0 ? order < 0 : left > right;
  });
  return result;
}

Result<SourcePlan> plan_sources(const manifest::Manifest& manifest, const Facts& facts) {
  SourcePlan plan;
  for (const auto& wish : manifest.sources) {
    plan.order.push_back(wish.value);
  }
  plan.is_stated = !plan.order.empty();
  // A newer ptxas or CCCL comes from another release; what this machine shows narrows nothing here.
  auto lenient = manifest;
  lenient.sources.clear();
  lenient.ptxas.reset();
  lenient.cccl.reset();
  const bool borrows = manifest.ptxas || manifest.cccl;
  CUKIT_TRY_ASSIGN(const auto problem, make_problem(lenient, facts, MachineFacts{}, false));
  bool wheels_could = false;
  for (const auto& one : known_candidates(lenient, facts)) {
    const auto& toolkit = one.toolkit;
    const bool is_allowed = first_allowed(problem, {one}).has_value();
    const auto minor = toolkit.release.major_minor();
    if (toolkit.source == k_redist && (is_allowed || borrows) &&
        std::find(plan.minors.begin(), plan.minors.end(), minor) == plan.minors.end()) {
      plan.minors.push_back(minor);
    }
    if (is_allowed) {
      wheels_could = wheels_could || toolkit.source == k_wheels;
      plan.may_ask_redist = plan.may_ask_redist || toolkit.source == k_redist;
      const auto major = static_cast<int>(toolkit.release.major());
      if (std::find(plan.majors.begin(), plan.majors.end(), major) == plan.majors.end()) {
        plan.majors.push_back(major);
      }
    }
  }
  if (plan.minors.empty()) { // nothing that is known fits: a source may have what is not known yet
    for (const auto& release : *facts.releases) {
      plan.minors.push_back(release.minor.major_minor());
    }
  }
  plan.may_ask_redist = plan.may_ask_redist || plan.majors.empty();
  if (plan.is_stated) {
    const auto has = [&](std::string_view source) {
      return std::find(plan.order.begin(), plan.order.end(), source) != plan.order.end();
    };
    plan.ask_wheels = has(k_wheels);
    plan.ask_redist = has(k_redist);
    plan.may_ask_redist = false;
    return plan;
  }
  plan.order = {std::string(k_wheels), std::string(k_redist)};
  plan.ask_redist = !wheels_could && !plan.majors.empty();
  plan.why_redist = plan.ask_redist ? why_no_wheels(manifest, problem.parts) : std::string();
  const bool needs_wheels =
      std::any_of(problem.parts.begin(), problem.parts.end(),
                  [](const Part& part) { return part.component->redist.names.empty(); });
  plan.ask_wheels = wheels_could || !plan.ask_redist || needs_wheels;
  return plan;
}

} // namespace cukit::resolve

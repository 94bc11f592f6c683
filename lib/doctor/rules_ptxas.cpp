// Consumers that run a ptxas themselves: which one they really take, and whether it serves the
// GPUs.
#include "base/strings.hpp"
#include "doctor/context.hpp"
#include "fit/targets.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

bool assembles(const Context& context, const Version& ptxas, const GpuTarget& target) {
  return !fit::assembles_for(context.architectures, target, ptxas).is_refused();
}

/// The first of the GPUs that a ptxas does not know; an unreadable version is taken to know all.
std::optional<GpuTarget> unknown_target(const Context& context, const std::string& ptxas,
                                        int least_major = 0) {
  const auto version = Version::parse(ptxas);
  for (const auto& target : context.gpus) {
    if (version && target.major >= least_major && !assembles(context, *version, target)) {
      return target;
    }
  }
  return std::nullopt;
}

/// Which releases know a target.
std::string known_to(const Context& context, const GpuTarget& target) {
  const auto* architecture = knowledge::find_architecture(context.architectures, target);
  if (architecture == nullptr) {
    return {};
  }
  const auto last = architecture->last_cuda;
  return fmt::format(": CUDA {} is the first{} that does", architecture->first_cuda.text(),
                     last ? " and " + last->text() + " the last" : std::string());
}

bool accepts(const Found* found, const Version& ptxas) {
  return found == nullptr || !fit::accepts_ptxas(*found->recipe, ptxas).is_refused();
}

/// A toolkit here whose ptxas knows the GPU, and which the consumer accepts; nullptr: none.
const survey::Toolkit* tree_with_ptxas_for(const Context& context, const Found* found,
                                           const GpuTarget& target) {
  for (const auto& kit : context.snapshot.toolkits) {
    const auto ptxas = kit.tools.find("ptxas");
    const auto version = ptxas == kit.tools.end() ? tl::unexpected<Error>(Error{})
                                                  : Version::parse(ptxas->second.version);
    if (version && assembles(context, *version, target) && accepts(found, *version)) {
      return &kit;
    }
  }
  return nullptr;
}

/// Whether some release has a ptxas that knows the GPU and that the consumer accepts.
bool is_served_by_any(const Context& context, const Found& found, const GpuTarget& target) {
  return std::any_of(context.releases.begin(), context.releases.end(), [&](const auto& release) {
    return assembles(context, release.minor, target) && accepts(&found, release.minor);
  });
}

/// A name that no shell can export.
bool is_beyond_shells(const std::string& name) {
  return name.find('-') != std::string::npos;
}

Fix start_with(const std::string& name, const std::string& path, std::string effect) {
  return by_hand(fmt::format("start it with env {}={}", name, shell_word(path)), std::move(effect));
}

/// All variables that tell the consumer of a ptxas, each release's own and those of later ones.
Fix point_at(const Found& found, const survey::Toolkit& kit) {
  const auto& path = kit.tools.at("ptxas").path;
  const auto* effect = "a ptxas that knows the GPU";
  if (found.ptxas_variable.empty()) {
    return by_command(put_first("PATH", kit.root + "/bin"), effect);
  }
  if (is_beyond_shells(found.ptxas_variable)) {
    return start_with(found.ptxas_variable, path,
                      "a ptxas that knows the GPU; no shell can export a variable of this name");
  }
  std::vector<ShellVariable> variables{{.name = found.ptxas_variable, .value = path}};
  for (const auto& variable : found.recipe->environment) {
    if (knowledge::names_ptxas(variable) && variable.name != found.ptxas_variable &&
        !is_beyond_shells(variable.name)) {
      variables.push_back({.name = variable.name, .value = path});
    }
  }
  return by_command(export_variables(variables), effect);
}

/// A variable that names the ptxas which is taken, and what happens without it.
void offer_own(const Context& context, const Found& found, Finding& finding) {
  const auto& name = found.ptxas_variable;
  if (name.empty() || variable(context.snapshot, name) != found.ptxas) {
    return;
  }
  finding.evidence.push_back({name, found.ptxas});
  const auto* effect = "it takes the ptxas of its own wheel";
  finding.fix.push_back(is_beyond_shells(name) ? by_hand("start it without " + name, effect)
                                               : by_command(unset_variables({name}), effect));
}

/// The variable for older GPUs is set, and the one that counts is not.
bool is_other_variable(const Context& context, const Found& found) {
  return found.is_second_ptxas && !found.first_ptxas_variable.empty() &&
         !variable(context.snapshot, found.first_ptxas_variable).empty() &&
         variable(context.snapshot, found.ptxas_variable).empty();
}

void ptxas_of_consumers(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const int least_major = found.is_second_ptxas ? knowledge::k_second_ptxas_major : 0;
    const auto target = found.compiles == "ptxas"
                            ? unknown_target(context, found.ptxas_version, least_major)
                            : std::nullopt;
    if (!target) {
      continue;
    }
    const bool is_variable = is_other_variable(context, found);
    auto& finding =
        findings.add(is_variable ? RuleId::triton_variable : RuleId::ptxas_too_old, found.consumer);
    finding.consumers = {found.consumer};
    finding.cause = fmt::format("{}{} runs {} ({}), which does not know {}{}", found.consumer,
                                found.version.empty() ? "" : " " + found.version, found.ptxas,
                                found.ptxas_version, target->sm(), known_to(context, *target));
    finding.evidence = {{found.ptxas, "ptxas " + found.ptxas_version}, {"GPU", target->sm()}};
    if (is_variable) {
      const auto set = variable(context.snapshot, found.first_ptxas_variable);
      const auto* named = tool_at(context.snapshot, set);
      finding.evidence.push_back(
          {found.first_ptxas_variable,
           set + (named == nullptr ? "" : ", ptxas " + named->version) + ": not looked at"});
      const auto* effect = "the variable for compute capability 10 and newer";
      finding.fix.push_back(is_beyond_shells(found.ptxas_variable)
                                ? start_with(found.ptxas_variable, set, effect)
                                : by_command(set_variable(found.ptxas_variable, set), effect));
    } else {
      if (!found.own_ptxas.empty() && found.own_ptxas != found.ptxas &&
          !unknown_target(context, found.own_ptxas_version, least_major)) {
        offer_own(context, found, finding);
      }
      if (const auto* kit = tree_with_ptxas_for(context, &found, *target)) {
        const auto& ptxas = kit->tools.at("ptxas");
        finding.evidence.push_back({ptxas.path, "ptxas " + ptxas.version + ", not taken"});
        finding.fix.push_back(point_at(found, *kit));
      }
    }
    if (is_served_by_any(context, found, *target)) {
      finding.fix.push_back(cukit_fix(context, {found.consumer}));
    } else {
      finding.fix.push_back(
          by_hand(fmt::format("install a newer {}, with what belongs to it", found.consumer),
                  "this one accepts no ptxas that knows the GPU"));
    }
  }
}

/// A ptxas that the consumer's own table of versions ends before.
void refused_ptxas(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const auto version = Version::parse(found.ptxas_version);
    if (found.compiles != "ptxas" || !version || accepts(&found, *version)) {
      continue;
    }
    auto& finding = findings.add(RuleId::ptxas_refused, found.consumer);
    finding.consumers = {found.consumer};
    finding.cause =
        fmt::format("{}{} takes a ptxas {}, and {} is {}", found.consumer,
                    found.version.empty() ? "" : " " + found.version,
                    found.recipe->takes_ptxas->text(), found.ptxas, found.ptxas_version);
    finding.evidence = {{found.ptxas, "ptxas " + found.ptxas_version}};
    offer_own(context, found, finding);
    finding.fix.push_back(cukit_fix(context, {found.consumer}));
  }
}

/// ptxas in PATH that is too old, for those who take it from there.
void ptxas_in_path(const Context& context, Findings& findings) {
  if (context.snapshot.path_ptxas.empty() || !context.found.empty()) {
    return;
  }
  const auto path = context.snapshot.path_ptxas.front();
  const auto* tool = tool_at(context.snapshot, path);
  const auto target = tool == nullptr ? std::nullopt : unknown_target(context, tool->version);
  if (!target) {
    return;
  }
  auto& finding = findings.add(RuleId::ptxas_too_old, "PATH");
  finding.cause =
      fmt::format("ptxas in PATH is {}, which does not know {}", tool->version, target->sm());
  finding.evidence = {{path, "ptxas " + tool->version}, {"GPU", target->sm()}};
  if (const auto* kit = tree_with_ptxas_for(context, nullptr, *target)) {
    finding.fix.push_back(
        by_command(put_first("PATH", kit->root + "/bin"), "a ptxas that knows the GPU"));
  }
  finding.fix.push_back(cukit_fix(context, {}));
}

} // namespace

const std::vector<Rule>& ptxas_rules() {
  static const std::vector<Rule> rules = {ptxas_of_consumers, ptxas_in_path, refused_ptxas};
  return rules;
}

} // namespace cukit::doctor

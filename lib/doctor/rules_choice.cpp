// Which toolkit is taken: too old for the GPU, of another major than torch, two of them in one
// build, none at all.
#include "base/strings.hpp"
#include "doctor/context.hpp"
#include "fit/parts.hpp"
#include "fit/targets.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

std::vector<std::string> sorted_unique(std::vector<std::string> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

/// The targets a consumer has to compile for: its own list, else the GPUs.
std::vector<GpuTarget> targets_of(const Context& context, const Found& found) {
  std::vector<GpuTarget> result;
  for (const auto& [name, value] : found.arch_lists) {
    std::string text = value;
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == ';' || c == ','; }, ' ');
    for (auto word : split_words(text)) {
      word = word.substr(0, word.find_first_of("+-")); // 9.0+PTX, 90-real
      if (const auto target = GpuTarget::parse(word)) {
        result.push_back(*target);
      }
    }
  }
  return result.empty() ? context.gpus : result;
}

struct Need {
  Version version;
  std::string why;
};

/// The newest release that any of the targets, or the consumer's own limits, ask for.
std::optional<Need> needed_nvcc(const Context& context, const Found& found) {
  std::optional<Need> need;
  const auto raise = [&](const std::optional<Version>& version, std::string why) {
    if (version && (!need || need->version < *version)) {
      need = Need{*version, std::move(why)};
    }
  };
  const auto& recipe = context.recipe(found);
  for (const auto& target : targets_of(context, found)) {
    raise(first_release(context, target),
          fmt::format("{} is first compiled by CUDA {}", target.sm(),
                      first_release(context, target).value_or(Version()).text()));
    const auto own = fit::least_nvcc(recipe, target);
    raise(own, fmt::format("{} wants CUDA {} for {}", found.consumer,
                           own.value_or(Version()).text(), target.sm()));
  }
  return need;
}

/// Whether the parts of a tree fit each other, so that it can be recommended.
bool is_sound(const survey::Toolkit& kit) {
  const auto version = [&](const char* name) {
    const auto found = kit.tools.find(name);
    return found == kit.tools.end() ? std::string() : found->second.version;
  };
  return !kit.include.empty() && !is_refused(fit::minor_part, version("nvcc"), kit.cudart) &&
         !is_refused(fit::reads_ptx, version("cicc"), version("ptxas"));
}

const survey::Toolkit* newer_tree(const Context& context, const Version& least, int major) {
  const survey::Toolkit* best = nullptr;
  for (const auto& tree : trees_with_nvcc(context)) {
    const auto version = Version::parse(tree.nvcc->version);
    if (!version || *version < least || !is_sound(*tree.kit)) {
      continue;
    }
    // of torch's major where there is one, then the one that needs least
    const bool fits = major == 0 || version->major() == major;
    if (fits && (best == nullptr || is_older(tree.nvcc->version, best->tools.at("nvcc").version))) {
      best = tree.kit;
    }
  }
  return best;
}

int torch_major(const Context& context) {
  for (const auto& python : context.snapshot.pythons) {
    if (!python.torch_cuda.empty()) {
      return major_of(python.torch_cuda);
    }
  }
  return 0;
}

void too_old(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const auto need = needed_nvcc(context, found);
    if (found.compiles != "nvcc" || !need || found.nvcc_version.empty() ||
        !is_older(found.nvcc_version, need->version.text())) {
      continue;
    }
    const auto* newer = newer_tree(context, need->version, torch_major(context));
    auto& finding = findings.add(
        newer != nullptr ? RuleId::older_toolkit_first : RuleId::nvcc_too_old, found.nvcc);
    finding.consumers.push_back(found.consumer);
    if (!finding.evidence.empty()) {
      continue;
    }
    finding.cause = fmt::format("{} takes {} ({}), but {}", found.consumer, found.nvcc,
                                found.nvcc_version, need->why);
    finding.evidence.push_back({found.nvcc, "nvcc " + found.nvcc_version});
    for (const auto& look : found.looked) {
      if (look.outcome == "taken") {
        finding.evidence.push_back({look.where, look.value + ", taken"});
      }
    }
    for (const auto& gpu : context.gpus) {
      finding.evidence.push_back({"GPU", gpu.sm()});
      break;
    }
    if (newer != nullptr) {
      finding.evidence.push_back({newer->tools.at("nvcc").path,
                                  "nvcc " + newer->tools.at("nvcc").version + ", not taken"});
      finding.fix.push_back(
          by_command(use_tree(newer->root), "the newer toolkit goes first for everybody"));
    } else {
      finding.fix.push_back(cukit_fix(context, finding.consumers));
      finding.fix.push_back(by_hand(fmt::format("install CUDA {} or newer", need->version.text()),
                                    "as a system toolkit, then set CUDA_HOME to it"));
    }
  }
}

void removed(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    for (const auto& target : targets_of(context, found)) {
      const auto* architecture = knowledge::find_architecture(context.architectures, target);
      const auto nvcc = Version::parse(minor_of(found.nvcc_version));
      if (found.compiles != "nvcc" || architecture == nullptr || !nvcc ||
          !fit::still_known(*architecture, *nvcc).is_refused()) {
        continue;
      }
      auto& finding = findings.add(RuleId::architecture_removed, target.sm());
      finding.cause = fmt::format("{} is compiled by CUDA up to {}, nvcc is {}", target.sm(),
                                  architecture->last_cuda->text(), found.nvcc_version);
      if (finding.evidence.empty()) {
        finding.evidence.push_back({found.nvcc, "nvcc " + found.nvcc_version});
        for (const auto& [name, value] : found.arch_lists) {
          finding.evidence.push_back({name, value});
        }
        finding.fix.push_back(
            by_hand(fmt::format("install CUDA {}", architecture->last_cuda->text()),
                    "the last one for this GPU; or leave the target out"));
      }
      finding.consumers.push_back(found.consumer);
    }
  }
}

void torch_differs(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const auto* python = found.python;
    if (!context.recipe(found).discovery.has_torch_major || python == nullptr ||
        python->torch_cuda.empty() || found.nvcc_version.empty()) {
      continue;
    }
    const auto torch_cuda = Version::parse(python->torch_cuda).value_or(Version());
    const auto nvcc = Version::parse(found.nvcc_version).value_or(Version());
    if (fit::goes_with_torch(torch_cuda, nvcc).is_refused()) {
      auto& finding = findings.add(RuleId::torch_major_differs, python->prefix);
      finding.consumers.push_back(found.consumer);
      if (!finding.evidence.empty()) {
        continue;
      }
      finding.cause = fmt::format("torch {} was built with CUDA {}, nvcc is {}", python->torch,
                                  python->torch_cuda, found.nvcc_version);
      finding.evidence = {{python->prefix, "torch " + python->torch},
                          {found.nvcc, "nvcc " + found.nvcc_version}};
      if (const auto* fitting = newer_tree(context, torch_cuda, major_of(python->torch_cuda))) {
        finding.evidence.push_back({fitting->tools.at("nvcc").path,
                                    "nvcc " + fitting->tools.at("nvcc").version + ", not taken"});
        finding.fix.push_back(by_command(use_tree(fitting->root), "a toolkit of torch's major"));
      }
      finding.fix.push_back(cukit_fix(context, finding.consumers));
      if (const auto build = torch_of_major(context, *python, major_of(found.nvcc_version))) {
        finding.fix.push_back(
            by_command(install_torch(context, python->prefix, *build),
                       fmt::format("torch {}: of the toolkit's major instead", build->text())));
      }
    } else if (is_refused(fit::minor_part, python->torch_cuda, found.nvcc_version)) {
      auto& finding = findings.add(RuleId::torch_minor_differs, python->prefix);
      finding.consumers.push_back(found.consumer);
      finding.cause =
          fmt::format("torch was built with CUDA {}, nvcc is {}: torch warns and goes on",
                      python->torch_cuda, found.nvcc_version);
      if (finding.evidence.empty()) {
        finding.evidence = {{python->prefix, "torch " + python->torch},
                            {found.nvcc, "nvcc " + found.nvcc_version}};
      }
    }
  }
}

/// CMake's compiler against the root of the others, and conda's headers against nvcc of the system.
void two_toolkits(const Context& context, Findings& findings) {
  const Found* cmake = nullptr;
  for (const auto& found : context.found) {
    cmake = is_any_build(found) ? &found : cmake;
  }
  if (cmake == nullptr || cmake->compiler == nullptr) {
    return;
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CONDA_PREFIX"}) {
    const auto value = variable(context.snapshot, name);
    const auto* other = value.empty() ? nullptr : survey::toolkit_of(context.snapshot, value);
    if (other == nullptr || other == cmake->compiler) {
      continue;
    }
    const auto other_version =
        other->tools.contains("nvcc") ? other->tools.at("nvcc").version : other->cudart;
    if (!differ(other_version, cmake->nvcc_version)) {
      continue;
    }
    auto& finding = findings.add(RuleId::two_toolkits);
    if (!finding.evidence.empty()) {
      continue;
    }
    finding.cause = fmt::format("nvcc of {} is CUDA {}, {} names a toolkit of {}", cmake->nvcc,
                                cmake->nvcc_version, name, other_version);
    finding.evidence = {{cmake->nvcc, "nvcc " + cmake->nvcc_version},
                        {value_or(name, ""), value + ", CUDA " + other_version}};
    if (other->tools.contains("nvcc")) {
      finding.fix.push_back(by_command(use_tree(other->root), "one toolkit for everybody"));
    }
    finding.fix.push_back(
        by_command(use_tree(cmake->compiler->root), "or the other one for everybody"));
    finding.consumers = {cmake->consumer};
    for (const auto& found : context.found) {
      if (found.compiler == other || found.kit == other) {
        finding.consumers.push_back(found.consumer);
      }
    }
  }
}

void gates(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const auto& recipe = context.recipe(found);
    if (recipe.discovery.gate.empty() || !context.snapshot.path_nvcc.empty() ||
        found.nvcc.empty() || is_needless(found) ||
        !variable(context.snapshot, recipe.discovery.gate_variable).empty()) {
      continue;
    }
    auto& finding = findings.add(RuleId::nvcc_not_in_path, found.consumer);
    finding.consumers = {found.consumer};
    finding.cause =
        fmt::format("{} looks for nvcc in PATH alone; it is {}", found.consumer, found.nvcc);
    finding.evidence = {
        {found.nvcc, "nvcc " + value_or(found.nvcc_version, "of an unknown version")},
        {"PATH", "no nvcc in it"}};
    finding.fix = {by_command(put_first("PATH", found.root + "/bin"), "nvcc is found")};
    if (!recipe.discovery.gate_variable.empty()) {
      finding.fix.push_back(by_command(set_variable(recipe.discovery.gate_variable, "1"),
                                       "where compiled kernels are installed"));
    }
  }
}

/// The places that these consumers looked at, each once.
std::vector<std::string> places_of(const Context& context, const std::vector<std::string>& names) {
  std::vector<std::string> places;
  for (const auto& found : context.found) {
    if (std::find(names.begin(), names.end(), found.consumer) == names.end()) {
      continue;
    }
    for (const auto& look : found.looked) {
      if (std::find(places.begin(), places.end(), look.where) == places.end()) {
        places.push_back(look.where);
      }
    }
  }
  return places;
}

void say_where_it_is(const Context& context, const survey::Toolkit& kit, Finding& finding) {
  finding.cause =
      fmt::format("{} looks at {}, and the toolkit is {}", join(finding.consumers, ", "),
                  join(places_of(context, finding.consumers), ", "), kit.root);
  finding.evidence = {
      {kit.tools.at("nvcc").path, "nvcc " + kit.tools.at("nvcc").version},
      {"CUDA_HOME", value_or(variable(context.snapshot, "CUDA_HOME"), "not set")},
      {"PATH", context.snapshot.path_nvcc.empty() ? "no nvcc in it" : "has an nvcc"}};
  finding.fix = {by_command(use_tree(kit.root), "everybody finds it")};
  offer_own_toolkits(context, finding);
}

/// Kernels that others have compiled, of every consumer that is there and has such.
void offer_prebuilt(const Context& context, const Found& found, Finding& finding) {
  for (const auto& recipe : context.recipes) {
    if (recipe.prebuilt.empty() || found.python == nullptr) {
      continue;
    }
    const auto& all = found.python->distributions;
    if (std::any_of(all.begin(), all.end(), [&](const auto& distribution) {
          return knowledge::brings(recipe.discovery, distribution.name);
        })) {
      finding.fix.push_back(
          by_command(pip_install(context, found.python->prefix, recipe.prebuilt),
                     fmt::format("{}'s compiled kernels, of its own version: no compiler is needed",
                                 recipe.title)));
    }
  }
}

void say_there_is_none(const Context& context, const Found& found, Finding& finding) {
  finding.cause =
      fmt::format("{} compiles when it is used, and there is no nvcc in any place that it "
                  "looks at",
                  join(finding.consumers, ", "));
  finding.evidence.clear();
  for (const auto& look : found.looked) {
    finding.evidence.push_back(
        {look.where, look.outcome + (look.value.empty() ? "" : ": " + look.value)});
  }
  finding.fix = {};
  offer_own_toolkits(context, finding);
  finding.fix.push_back(cukit_fix(context, finding.consumers));
  offer_prebuilt(context, found, finding);
}

void no_nvcc(const Context& context, Findings& findings) {
  std::vector<const Found*> lacking;
  for (const auto& found : context.found) {
    const bool is_misled = !found.root.empty() && (findings.has(RuleId::variable_wrong_folder) ||
                                                   findings.has(RuleId::variable_malformed));
    if (found.compiles == "nvcc" && found.nvcc.empty() &&
        (compiles_when_used(found) || (found.is_asked && !is_needless(found))) && !is_misled) {
      lacking.push_back(&found);
    }
  }
  if (lacking.empty()) {
    return;
  }
  const auto trees = trees_with_nvcc(context);
  auto& finding = findings.add(trees.empty() ? RuleId::no_nvcc : RuleId::toolkit_not_found);
  for (const auto* found : lacking) {
    finding.consumers.push_back(found->consumer);
  }
  finding.consumers = sorted_unique(finding.consumers);
  if (trees.empty()) {
    say_there_is_none(context, *lacking.front(), finding);
  } else {
    say_where_it_is(context, *trees.front().kit, finding);
  }
}

/// A toolkit that nobody takes, where nobody else serves: a package without its link.
void unlinked(const Context& context, Findings& findings) {
  if (!context.question.consumers.empty() || findings.has(RuleId::toolkit_not_found)) {
    return;
  }
  const auto trees = trees_with_nvcc(context);
  const bool is_any_used =
      std::any_of(trees.begin(), trees.end(), [](const auto& tree) { return !tree.users.empty(); });
  const bool has_wish =
      std::any_of(context.found.begin(), context.found.end(), [](const auto& found) {
        return found.compiles == "nvcc" && !is_any_build(found);
      });
  if (trees.empty() || is_any_used || !has_wish || findings.has(RuleId::variable_wrong_folder) ||
      findings.has(RuleId::variable_malformed)) {
    return;
  }
  auto& finding = findings.add(RuleId::toolkit_not_found);
  for (const auto& found : context.found) {
    if (found.compiles == "nvcc" && found.nvcc.empty()) {
      finding.consumers.push_back(found.consumer);
    }
  }
  finding.severity = Severity::warning;
  say_where_it_is(context, *trees.front().kit, finding);
}

void inactive_conda(const Context& context, Findings& findings) {
  if (!variable(context.snapshot, "CONDA_PREFIX").empty()) {
    return;
  }
  std::vector<std::string> misled; // those that find the activated environment alone
  for (const auto& recipe : context.recipes) {
    if (recipe.discovery.needs_activation) {
      misled.push_back(recipe.name);
    }
  }
  const auto brings_one = [&](const std::string& package) {
    return std::any_of(context.recipes.begin(), context.recipes.end(), [&](const auto& recipe) {
      return recipe.discovery.needs_activation && knowledge::brings(recipe.discovery, package);
    });
  };
  for (const auto& python : context.snapshot.pythons) {
    const bool has_cuda = std::any_of(
        python.conda_packages.begin(), python.conda_packages.end(), [&](const auto& package) {
          return brings_one(package.first) || package.first.starts_with("cuda-nvcc") ||
                 package.first.starts_with("cuda-nvrtc") || package.first == "cudatoolkit";
        });
    const bool is_in_path =
        std::find(python.found_by.begin(), python.found_by.end(), "PATH") != python.found_by.end();
    if (python.is_conda && has_cuda && is_in_path) {
      auto& finding = findings.add(RuleId::conda_not_activated, python.prefix);
      finding.cause =
          fmt::format("python of {} is in PATH, CONDA_PREFIX is not set", python.prefix);
      finding.evidence = {{python.prefix, "a conda environment with CUDA packages"},
                          {"CONDA_PREFIX", "not set"}};
      finding.fix = {by_command(ShellCommand({"conda", "activate", python.prefix}),
                                "sets CONDA_PREFIX and runs the activation scripts")};
      finding.consumers = misled;
    }
  }
}

} // namespace

const std::vector<Rule>& choice_rules() {
  static const std::vector<Rule> rules = {too_old, removed, torch_differs, two_toolkits,
                                          gates,   no_nvcc, unlinked,      inactive_conda};
  return rules;
}

} // namespace cukit::doctor

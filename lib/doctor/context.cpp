#include "doctor/context.hpp"

#include "base/strings.hpp"
#include "catalog/requirement.hpp"
#include "fit/parts.hpp"
#include "fit/targets.hpp"
#include "model/tree_layout.hpp"

#include <algorithm>

namespace cukit::doctor {

Finding& Findings::add(std::string_view id, const std::string& subject) {
  for (auto& known : list_) {
    if (known.id == id && known.subject == subject) {
      return known;
    }
  }
  const auto rule = std::find_if(catalogue_.begin(), catalogue_.end(),
                                 [&](const auto& text) { return text.id == id; });
  CUKIT_ENSURE(rule != catalogue_.end(), "every rule is in the catalogue");
  list_.push_back({.id = std::string(id),
                   .severity = rule->severity,
                   .title = rule->title,
                   .cause = {},
                   .evidence = {},
                   .fix = {},
                   .consumers = {},
                   .source = rule->source,
                   .consequences = {},
                   .log_line = 0,
                   .concerns_builds = rule->concerns_builds,
                   .is_latent = false,
                   .subject = subject});
  return list_.back();
}

bool Findings::has(std::string_view id) const {
  return std::any_of(list_.begin(), list_.end(),
                     [&](const auto& finding) { return finding.id == id; });
}

std::vector<Finding> Findings::take() {
  for (auto& finding : list_) {
    std::erase_if(finding.fix, [](const Fix& fix) { return fix.text().empty(); });
  }
  return std::move(list_);
}

Finding* Findings::find(std::string_view id) {
  const auto found = std::find_if(list_.begin(), list_.end(),
                                  [&](const auto& finding) { return finding.id == id; });
  return found == list_.end() ? nullptr : &*found;
}

std::string minor_of(std::string_view version) {
  const auto parsed = Version::parse(version);
  return parsed && version.find('.') != std::string_view::npos ? parsed->major_minor()
                                                               : std::string();
}

int major_of(std::string_view version) {
  const auto parsed = Version::parse(version);
  return parsed ? static_cast<int>(std::min<std::int64_t>(parsed->major(), 100'000)) : 0;
}

bool differ(std::string_view a, std::string_view b) {
  const auto first = minor_of(a);
  const auto second = minor_of(b);
  return !first.empty() && !second.empty() && first != second;
}

bool is_older(std::string_view a, std::string_view b) {
  const auto first = minor_of(a);
  const auto second = minor_of(b);
  if (first.empty() || second.empty()) {
    return false;
  }
  return Version::parse(first).value_or(Version()) < Version::parse(second).value_or(Version());
}

bool is_refused(fit::Fit (*rule)(const Version&, const Version&), std::string_view first,
                std::string_view second) {
  const auto a = Version::parse(minor_of(first));
  const auto b = Version::parse(minor_of(second));
  return a && b && rule(*a, *b).is_refused();
}

const knowledge::Release* release_of(const Context& context, std::string_view version) {
  const auto parsed = Version::parse(version);
  return parsed ? knowledge::find_release(context.releases, *parsed) : nullptr;
}

std::string wheel_for(std::string_view project, std::string_view cuda) {
  return fmt::format("{}{}", project, major_of(cuda) == 12 ? "-cu12" : "");
}

std::string value_or(std::string_view text, std::string_view otherwise) {
  return std::string(text.empty() ? otherwise : text);
}

std::vector<UsedTree> trees_with_nvcc(const Context& context) {
  std::vector<UsedTree> result;
  for (const auto& kit : context.snapshot.toolkits) {
    const auto nvcc = kit.tools.find("nvcc");
    if (nvcc == kit.tools.end() || compiler_of(context.snapshot, nvcc->second) != &kit) {
      continue; // a wrapper's own folder has no parts
    }
    UsedTree tree{.kit = &kit, .nvcc = &nvcc->second, .users = {}};
    for (const auto& found : context.found) {
      if (found.compiler == &kit) {
        tree.users.push_back(found.consumer);
      }
    }
    result.push_back(std::move(tree));
  }
  return result;
}

void weigh(Finding& finding, const std::vector<std::string>& users) {
  finding.consumers = users;
  if (users.empty() && finding.severity == Severity::error) {
    finding.severity = Severity::warning;
  }
}

namespace {

bool is_for_any_build(const knowledge::Consumer& recipe) {
  return recipe.discovery.present.empty() && !recipe.discovery.only_asked;
}

} // namespace

bool is_any_build(const Found& found) {
  return is_for_any_build(*found.recipe);
}

std::vector<std::string> any_builds(const Context& context) {
  std::vector<std::string> names;
  for (const auto& recipe : context.recipes) {
    if (is_for_any_build(recipe)) {
      names.push_back(recipe.name);
    }
  }
  return names;
}

bool is_any_build(const Context& context, std::string_view consumer) {
  return std::any_of(context.found.begin(), context.found.end(), [&](const auto& found) {
    return found.consumer == consumer && is_any_build(found);
  });
}

const survey::PythonEnvironment* python_of(const survey::Snapshot& snapshot,
                                           std::string_view prefix) {
  const auto found = std::find_if(snapshot.pythons.begin(), snapshot.pythons.end(),
                                  [&](const auto& python) { return python.prefix == prefix; });
  return found == snapshot.pythons.end() ? nullptr : &*found;
}

Action Action::then(const Action& next) const {
  Action result{command.empty() ? next.command : command.then(next.command)};
  if (command.empty() || (!effects.empty() && !next.effects.empty())) {
    result.effects = effects;
    result.effects.insert(result.effects.end(), next.effects.begin(), next.effects.end());
  }
  return result;
}

Fix by_command(Action action, std::string effect) {
  return {.command = std::move(action.command),
          .effect = std::move(effect),
          .effects = std::move(action.effects)};
}

Fix by_hand(std::string advice, std::string effect) {
  return {.advice = std::move(advice), .effect = std::move(effect)};
}

Action export_variables(const std::vector<ShellVariable>& variables) {
  std::vector<Effect> effects;
  for (const auto& [name, value, is_prepended] : variables) {
    effects.emplace_back(SetsVariable{name, value, is_prepended});
  }
  return {ShellCommand::exports(variables), std::move(effects)};
}

Action unset_variables(const std::vector<std::string>& names) {
  std::vector<Effect> effects;
  for (const auto& name : names) {
    effects.emplace_back(UnsetsVariable{name});
  }
  return {ShellCommand::unsets(names), std::move(effects)};
}

Action set_variable(const std::string& name, const std::string& value) {
  return export_variables({{.name = name, .value = value}});
}

Action put_first(const std::string& name, const std::string& folder) {
  return export_variables({{.name = name, .value = folder, .is_prepended = true}});
}

Action add_link(const std::string& target, const std::string& path) {
  return {ShellCommand({"ln", "-s", target, path}), {AddsLink{path, target}}};
}

Action use_compiler(const std::string& path) {
  // nvcc splits its flags at white space and reads quotes in them; NVCC_CCBIN is one path, whatever
  // is in it
  return path.find_first_of(" \t\r\n\"'\\") == std::string::npos
             ? set_variable("NVCC_PREPEND_FLAGS", "-ccbin " + path)
             : set_variable("NVCC_CCBIN", path);
}

namespace {

/// `uv pip VERB --python PREFIX` or `PREFIX/bin/python -m pip VERB`, as the environment has it.
std::vector<std::string> pip_words(const Context& context, const std::string& prefix,
                                   const std::string& verb) {
  const auto* python = python_of(context.snapshot, prefix);
  if (python != nullptr && survey::find_distribution(*python, "pip") == nullptr) {
    return {"uv", "pip", verb, "--python", prefix + "/bin/python"};
  }
  if (prefix.empty()) {
    return {"pip", verb};
  }
  return {prefix + "/bin/python", "-m", "pip", verb};
}

} // namespace

Action pip_install(const Context& context, const std::string& prefix,
                   const std::vector<std::string>& packages,
                   const std::vector<std::string>& options) {
  if (!std::all_of(packages.begin(), packages.end(), [](const std::string& package) {
        return catalog::Requirement::parse(package).has_value();
      })) {
    return {};
  }
  auto words = pip_words(context, prefix, "install");
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), packages.begin(), packages.end());
  return {ShellCommand(words), {InstallsWheels{prefix, packages}}};
}

Action pip_uninstall(const Context& context, const std::string& prefix,
                     const std::string& package) {
  if (!catalog::Requirement::parse(package)) {
    return {};
  }
  auto words = pip_words(context, prefix, "uninstall");
  if (words.front() != "uv") {
    words.emplace_back("-y");
  }
  words.push_back(package);
  return {ShellCommand(words), {RemovesWheel{prefix, package}}};
}

namespace {

/// The release of cuda-toolkit that an installed package asks for, torch before others, or that is
/// installed; empty: nothing of this minor.
std::string pinned_toolkit(const survey::PythonEnvironment* python, const std::string& minor) {
  std::string pinned;
  const std::vector<survey::Distribution> none;
  for (const auto& dist : python == nullptr ? none : python->distributions) {
    for (const auto& text : dist.requirements) {
      const auto requirement = catalog::Requirement::parse(text);
      const auto range = requirement ? requirement->range.text() : std::string();
      if (requirement && requirement->project == "cuda-toolkit" && range.starts_with("==") &&
          minor_of(range.substr(2)) == minor && range.find(',') == std::string::npos &&
          (pinned.empty() || dist.name == "torch")) {
        pinned = range.substr(2);
      }
    }
  }
  const auto* installed =
      python == nullptr ? nullptr : survey::find_distribution(*python, "cuda-toolkit");
  return pinned.empty() && installed != nullptr && minor_of(installed->version) == minor
             ? installed->version
             : pinned;
}

} // namespace

std::string metapackage(const Context& context, const std::string& prefix, const std::string& minor,
                        const std::string& extras) {
  const bool has_own_wheels =
      !fit::compiler_in_wheels(Version::parse(minor).value_or(Version()), context.limits)
           .is_refused();
  std::vector<std::string> parts;
  for (const auto part : split(extras, ',')) {
    // before nvcc itself came in wheels, both did in nvcc's own
    if (has_own_wheels || (part != "crt" && part != "nvvm")) {
      parts.emplace_back(part);
    }
  }
  const auto version = pinned_toolkit(python_of(context.snapshot, prefix), minor);
  return fmt::format("cuda-toolkit[{}]=={}", join(parts, ","), value_or(version, minor + ".*"));
}

Action use_tree(const std::string& root) {
  return export_variables({{.name = "CUDA_HOME", .value = root},
                           {.name = "CUDA_PATH", .value = root},
                           {.name = "CUDACXX", .value = fmt::format("{}/{}", root, layout::k_nvcc)},
                           {.name = "PATH", .value = root + "/bin", .is_prepended = true}});
}

bool is_wheel_tree(const survey::Toolkit& kit) {
  return std::find(kit.found_by.begin(), kit.found_by.end(), "wheels") != kit.found_by.end();
}

std::optional<Version> first_release(const Context& context, const GpuTarget& target) {
  const auto* architecture = knowledge::find_architecture(context.architectures, target);
  if (architecture == nullptr) {
    return std::nullopt;
  }
  return fit::first_cuda(*architecture, target);
}

} // namespace cukit::doctor

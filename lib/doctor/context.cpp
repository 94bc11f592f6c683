#include "doctor/context.hpp"

#include "base/strings.hpp"
#include "catalog/requirement.hpp"
#include "text/yaml_write.hpp"

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

bool is_any_build(const Found& found) {
  return found.recipe->discovery.present.empty() && !found.recipe->discovery.only_asked;
}

bool is_any_build(const Context& context, std::string_view consumer) {
  return std::any_of(context.found.begin(), context.found.end(), [&](const auto& found) {
    return found.consumer == consumer && is_any_build(found);
  });
}

const host::PythonEnvironment* python_of(const host::Snapshot& snapshot, std::string_view prefix) {
  const auto found = std::find_if(snapshot.pythons.begin(), snapshot.pythons.end(),
                                  [&](const auto& python) { return python.prefix == prefix; });
  return found == snapshot.pythons.end() ? nullptr : &*found;
}

Fix by_command(ShellCommand command, std::string effect) {
  return {.command = std::move(command), .effect = std::move(effect)};
}

Fix by_hand(std::string advice, std::string effect) {
  return {.advice = std::move(advice), .effect = std::move(effect)};
}

Fix install_gxx() {
  return by_command(
      ShellCommand({"apt-get", "install", "--no-install-recommends", "g++", "libc6-dev"}),
      "Debian and Ubuntu");
}

ShellCommand set_variable(const std::string& name, const std::string& value) {
  return ShellCommand::exports({{.name = name, .value = value}});
}

ShellCommand put_first(const std::string& name, const std::string& folder) {
  return ShellCommand::exports({{.name = name, .value = folder, .is_prepended = true}});
}

namespace {

/// `uv pip VERB --python PREFIX` or `PREFIX/bin/python -m pip VERB`, as the environment has it.
std::vector<std::string> pip_words(const Context& context, const std::string& prefix,
                                   const std::string& verb) {
  const auto* python = python_of(context.snapshot, prefix);
  if (python != nullptr && host::find_distribution(*python, "pip") == nullptr) {
    return {"uv", "pip", verb, "--python", prefix + "/bin/python"};
  }
  if (prefix.empty()) {
    return {"pip", verb};
  }
  return {prefix + "/bin/python", "-m", "pip", verb};
}

} // namespace

ShellCommand pip_install(const Context& context, const std::string& prefix,
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
  return ShellCommand(words);
}

ShellCommand pip_uninstall(const Context& context, const std::string& prefix,
                           const std::string& package) {
  if (!catalog::Requirement::parse(package)) {
    return {};
  }
  auto words = pip_words(context, prefix, "uninstall");
  if (words.front() != "uv") {
    words.emplace_back("-y");
  }
  words.push_back(package);
  return ShellCommand(words);
}

std::string metapackage(const Context& context, const std::string& prefix, const std::string& minor,
                        const std::string& extras) {
  const auto* python = python_of(context.snapshot, prefix);
  const auto* installed =
      python == nullptr ? nullptr : host::find_distribution(*python, "cuda-toolkit");
  if (installed != nullptr && minor_of(installed->version) == minor) {
    return fmt::format("cuda-toolkit[{}]=={}", extras, installed->version);
  }
  return fmt::format("cuda-toolkit[{}]=={}.*", extras, minor);
}

namespace {

/// The GPUs that are asked for or there, else those of the consumers' own lists.
std::vector<std::string> manifest_gpus(const Context& context) {
  std::vector<std::string> gpus;
  const auto add = [&](const GpuTarget& gpu) {
    if (std::find(gpus.begin(), gpus.end(), gpu.sm()) == gpus.end()) {
      gpus.push_back(gpu.sm());
    }
  };
  std::for_each(context.gpus.begin(), context.gpus.end(), add);
  for (const auto& found : context.found) {
    for (const auto& [name, value] : found.arch_lists) {
      std::string text = value;
      std::replace(text.begin(), text.end(), ';', ' ');
      for (const auto word : split_words(text)) {
        const auto target = GpuTarget::parse(word.substr(0, word.find('+')));
        if (target && context.gpus.empty()) {
          add(*target);
        }
      }
    }
  }
  return gpus;
}

/// The lines of a manifest that serves these consumers.
std::vector<std::string> manifest_lines(const Context& context,
                                        const std::vector<std::string>& consumers) {
  const auto gpus = manifest_gpus(context);
  std::vector<std::string> lines{
      "cukit: 1",
      fmt::format("gpus: [{}]", gpus.empty() ? "native" : join(gpus, ", ")),
  };
  const auto& pythons = context.snapshot.pythons;
  const auto with_torch = std::find_if(pythons.begin(), pythons.end(), [](const auto& python) {
    return !python.torch.empty() && is_utf8(python.prefix); // else YAML cannot hold it
  });
  if (with_torch != pythons.end()) {
    lines.push_back(fmt::format("pytorch: {{venv: {}}}", text::yaml_item(with_torch->prefix)));
  }
  std::vector<std::string> named;
  std::copy_if(consumers.begin(), consumers.end(), std::back_inserter(named),
               [&](const auto& name) { return !is_any_build(context, name); });
  if (!named.empty()) {
    lines.push_back("consumers: " + text::yaml_list(named));
  }
  return lines;
}

} // namespace

Fix cukit_fix(const Context& context, const std::vector<std::string>& consumers) {
  const std::string file = "cukit.yaml";
  const auto lines = manifest_lines(context, consumers);
  std::vector<std::string> words{"printf", "%s\\n"};
  words.insert(words.end(), lines.begin(), lines.end());
  Fix fix;
  fix.manifest = join(lines, "\n") + "\n";
  // a manifest that is there is somebody's work
  fix.command = ShellCommand({"test", "!", "-e", file})
                    .then(ShellCommand(words).into(file))
                    .then(ShellCommand({"cukit", "up", file}))
                    .then(ShellCommand::evaluates(ShellCommand({"cukit", "env", "./" + file})));
  fix.effect = "builds a toolkit whose parts belong together, beside everything that is here, and "
               "points the consumers at it";
  return fix;
}

ShellCommand use_tree(const std::string& root) {
  return ShellCommand::exports({{.name = "CUDA_HOME", .value = root},
                                {.name = "CUDA_PATH", .value = root},
                                {.name = "CUDACXX", .value = root + "/bin/nvcc"},
                                {.name = "PATH", .value = root + "/bin", .is_prepended = true}});
}

bool is_wheel_tree(const host::Toolkit& kit) {
  return std::find(kit.found_by.begin(), kit.found_by.end(), "wheels") != kit.found_by.end();
}

std::optional<Version> first_release(const Context& context, const GpuTarget& target) {
  const auto* architecture = knowledge::find_architecture(context.architectures, target);
  if (architecture == nullptr) {
    return std::nullopt;
  }
  if (target.suffix == 'a') {
    return architecture->a_since ? architecture->a_since : architecture->first_cuda;
  }
  if (target.suffix == 'f') {
    return architecture->f_since ? architecture->f_since : architecture->first_cuda;
  }
  return architecture->first_cuda;
}

} // namespace cukit::doctor

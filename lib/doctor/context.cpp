#include "doctor/context.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::doctor {

const knowledge::Consumer& Context::recipe(const Found& consumer) const {
  return *std::find_if(recipes.begin(), recipes.end(),
                       [&](const auto& recipe) { return recipe.name == consumer.consumer; });
}

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
                   .is_latent = false,
                   .subject = subject});
  return list_.back();
}

bool Findings::has(std::string_view id) const {
  return std::any_of(list_.begin(), list_.end(),
                     [&](const auto& finding) { return finding.id == id; });
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

const host::PythonEnvironment* python_of(const host::Snapshot& snapshot, std::string_view prefix) {
  const auto found = std::find_if(snapshot.pythons.begin(), snapshot.pythons.end(),
                                  [&](const auto& python) { return python.prefix == prefix; });
  return found == snapshot.pythons.end() ? nullptr : &*found;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-=:@%,";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string result = "'";
  for (const char c : word) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

std::string pip_install(const Context& context, const std::string& prefix,
                        const std::string& arguments) {
  const auto* python = python_of(context.snapshot, prefix);
  if (python != nullptr && host::find_distribution(*python, "pip") == nullptr) {
    return fmt::format("uv pip install --python {} {}", shell_word(prefix + "/bin/python"),
                       arguments);
  }
  return prefix.empty()
             ? "pip install " + arguments
             : fmt::format("{} -m pip install {}", shell_word(prefix + "/bin/python"), arguments);
}

std::string metapackage(const Context& context, const std::string& prefix, const std::string& minor,
                        const std::string& extras) {
  const auto* python = python_of(context.snapshot, prefix);
  const auto* installed =
      python == nullptr ? nullptr : host::find_distribution(*python, "cuda-toolkit");
  if (installed != nullptr && minor_of(installed->version) == minor) {
    return fmt::format("'cuda-toolkit[{}]=={}'", extras, installed->version);
  }
  return fmt::format("'cuda-toolkit[{}]=={}.*'", extras, minor);
}

Fix cukit_fix(const Context& context, const std::vector<std::string>& consumers) {
  std::vector<std::string> gpus;
  for (const auto& gpu : context.gpus) {
    if (std::find(gpus.begin(), gpus.end(), gpu.sm()) == gpus.end()) {
      gpus.push_back(gpu.sm());
    }
  }
  for (const auto& found : context.found) {
    for (const auto& [name, value] : found.arch_lists) {
      std::string text = value;
      std::replace(text.begin(), text.end(), ';', ' ');
      for (const auto word : split_words(text)) {
        const auto target = GpuTarget::parse(word.substr(0, word.find('+')));
        if (target && context.gpus.empty() &&
            std::find(gpus.begin(), gpus.end(), target->sm()) == gpus.end()) {
          gpus.push_back(target->sm());
        }
      }
    }
  }
  std::string torch;
  for (const auto& python : context.snapshot.pythons) {
    if (torch.empty() && !python.torch.empty()) {
      torch = fmt::format("pytorch: {{venv: {}}}\n", python.prefix);
    }
  }
  // a folder's name must not become YAML or shell of its own
  if (torch.find_first_of("'\"\\%`$#[],&*!|>") != std::string::npos) {
    torch.clear();
  }
  std::vector<std::string> named;
  std::copy_if(consumers.begin(), consumers.end(), std::back_inserter(named),
               [](const auto& name) { return name != "cmake"; });
  Fix fix;
  fix.manifest =
      fmt::format("cukit: 1\ngpus: [{}]\n{}{}", gpus.empty() ? "native" : join(gpus, ", "), torch,
                  named.empty() ? "" : fmt::format("consumers: [{}]\n", join(named, ", ")));
  std::string escaped;
  for (const char c : fix.manifest) {
    escaped += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  fix.command = fmt::format("printf '{}' > cukit.yaml && cukit up cukit.yaml && eval \"$(cukit env "
                            "cukit)\"",
                            escaped);
  fix.effect = "builds a toolkit whose parts belong together, beside everything that is here, and "
               "points the consumers at it";
  return fix;
}

std::string use_tree(const std::string& root) {
  return fmt::format("export CUDA_HOME={0} CUDA_PATH={0} CUDACXX={1} PATH={2}:$PATH",
                     shell_word(root), shell_word(root + "/bin/nvcc"), shell_word(root + "/bin"));
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

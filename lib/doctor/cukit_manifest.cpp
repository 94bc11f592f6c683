// The manifest that a finding is mended with: never one that cukit itself would refuse.
#include "base/strings.hpp"
#include "doctor/context.hpp"
#include "fit/targets.hpp"
#include "model/toolkit_name.hpp"
#include "text/yaml_write.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

/// 9.0a of 9.0+PTX, 90-real, sm_90a, compute_90
std::optional<GpuTarget> target_of(std::string_view word) {
  word = word.substr(0, word.find_first_of("+-"));
  auto target = GpuTarget::parse(word);
  if (!target && !word.empty() &&
      word.find_first_not_of("0123456789af") == std::string_view::npos) {
    target = GpuTarget::parse("sm_" + std::string(word));
  }
  return target ? std::optional(*target) : std::nullopt;
}

class Targets {
public:
  explicit Targets(const Context& context) : context_(context) {}
  /// One that exists, whoever names it.
  void add(GpuTarget target) {
    const auto* known = knowledge::find_architecture(context_.architectures, target);
    if (known == nullptr) {
      return;
    }
    if ((target.suffix == 'a' && !known->a_since) || (target.suffix == 'f' && !known->f_since)) {
      target = target.plain();
    }
    if (std::find(all.begin(), all.end(), target) == all.end()) {
      all.push_back(target);
    }
  }
  void add_list(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == ';' || c == ','; }, ' ');
    for (const auto word : split_words(text)) {
      if (const auto target = target_of(word)) {
        add(*target);
      }
    }
  }
  std::vector<GpuTarget> all;

private:
  const Context& context_;
};

} // namespace

std::vector<GpuTarget> targets_in_list(const Context& context, const std::string& text) {
  Targets targets(context);
  targets.add_list(text);
  return targets.all;
}

namespace {

/// What the build is for: the GPUs that are here or were asked for; else what the log and the
/// variables name.
std::vector<GpuTarget> wished_targets(const Context& context) {
  Targets targets(context);
  for (const auto& gpu : context.gpus) {
    targets.add(gpu);
  }
  if (!targets.all.empty()) {
    return targets.all;
  }
  for (const auto& found : context.found) {
    for (const auto& [name, value] : found.arch_lists) {
      targets.add_list(value);
    }
  }
  for (const auto& list : context.log.facts.target_lists) {
    targets.add_list(list.value);
  }
  for (const auto& command : context.log.facts.commands) {
    for (const auto& word : command.targets) {
      targets.add_list(word);
    }
  }
  return targets.all;
}

/// Whether one release of nvcc compiles for all of them.
bool have_one_release(const Context& context, const std::vector<GpuTarget>& targets) {
  return std::any_of(context.releases.begin(), context.releases.end(), [&](const auto& release) {
    return std::all_of(targets.begin(), targets.end(), [&](const GpuTarget& target) {
      const auto* known = knowledge::find_architecture(context.architectures, target);
      return known != nullptr && !fit::compiles_for(*known, target, release.minor).is_refused();
    });
  });
}

bool may_have_code(const Context& context, const survey::PythonEnvironment& python,
                   const GpuTarget& target) {
  const auto platform = Platform::parse(context.snapshot.platform).value_or(Platform::host());
  auto torch = fit::TorchName::parse(python.torch);
  if (const auto cuda = Version::parse(python.torch_cuda); torch.tag.empty() && cuda) {
    torch.tag = fmt::format("cu{}{}", cuda->major(), cuda->minor());
  }
  return fit::torch_has_code(context.torches, torch, target, platform, context.architectures) !=
         fit::Answer::no;
}

/// The environment whose torch the toolkit has to fit; nullptr: none.
const survey::PythonEnvironment* torch_environment(const Context& context) {
  const auto& pythons = context.snapshot.pythons;
  const auto found = std::find_if(pythons.begin(), pythons.end(), [](const auto& python) {
    return !python.torch_cuda.empty() && is_utf8(python.prefix); // else YAML cannot hold it
  });
  return found == pythons.end() ? nullptr : &*found;
}

/// cukit knows no toolkit for a torch of an older CUDA.
bool is_known_release(const Context& context, const std::string& cuda) {
  const auto version = Version::parse(cuda);
  return version && knowledge::find_release(context.releases, *version) != nullptr;
}

/// What is in most data centres, among those that torch has code for.
GpuTarget usual_target(const Context& context, const survey::PythonEnvironment* python) {
  for (const char* name : {"sm_90", "sm_80", "sm_75"}) {
    const auto target = GpuTarget::parse(name).value_or(GpuTarget());
    if (python == nullptr || may_have_code(context, *python, target)) {
      return target;
    }
  }
  return GpuTarget::parse("sm_90").value_or(GpuTarget());
}

struct Wish {
  std::vector<std::string> lines = {}; ///< none: cukit has nothing for this machine
  bool is_filled_in = true;            ///< with GPUs that somebody named
};

Wish manifest_of(const Context& context, const std::vector<std::string>& consumers) {
  std::vector<std::string> named;
  std::copy_if(consumers.begin(), consumers.end(), std::back_inserter(named),
               [&](const auto& name) { return !is_any_build(context, name); });
  auto targets = wished_targets(context);
  const bool are_here = !context.gpus.empty();
  const auto* python = torch_environment(context);
  if (python != nullptr && !is_known_release(context, python->torch_cuda)) {
    return {};
  }
  if (python != nullptr) {
    const auto is_lost = [&](const GpuTarget& target) {
      return !may_have_code(context, *python, target);
    };
    if (are_here && std::any_of(targets.begin(), targets.end(), is_lost)) {
      return {}; // another torch is what it takes
    }
    std::erase_if(targets, is_lost);
  }
  if (!targets.empty() && !have_one_release(context, targets)) {
    return {};
  }
  Wish wish{.lines = {"cukit: 1"}};
  if (!targets.empty()) {
    std::vector<std::string> names;
    std::transform(targets.begin(), targets.end(), std::back_inserter(names),
                   [](const GpuTarget& target) { return target.sm(); });
    wish.lines.push_back(fmt::format("gpus: [{}]", join(names, ", ")));
  } else if (!context.snapshot.gpus.empty()) {
    wish.lines.emplace_back("gpus: [native]"); // here, and of a product that is not known
  } else {
    wish.is_filled_in = false;
    wish.lines.push_back(fmt::format("gpus: [{}] # no GPU is known here: name those it must run on",
                                     usual_target(context, python).sm()));
  }
  if (python != nullptr) {
    wish.lines.push_back(fmt::format("pytorch: {{venv: {}}}", text::yaml_item(python->prefix)));
  }
  if (!named.empty()) {
    wish.lines.push_back("consumers: " + text::yaml_list(named));
  }
  return wish;
}

} // namespace

void offer_own_toolkits(const Context& context, Finding& finding) {
  constexpr std::size_t k_most_own = 3;
  for (const auto& name : context.question.own_toolkits) {
    if (finding.fix.size() < k_most_own) {
      finding.evidence.push_back({name, "a toolkit that cukit has built here"});
      finding.fix.push_back(
          by_command(ShellCommand::evaluates(ShellCommand({"cukit", "env", name})),
                     "points the consumers at it; `cukit list` says what it is for"));
    }
  }
}

Fix cukit_fix(const Context& context, const std::vector<std::string>& consumers) {
  const std::string file = k_usual_manifest;
  const auto wish = manifest_of(context, consumers);
  if (wish.lines.empty()) {
    return {};
  }
  std::vector<std::string> words{"printf", "%s\\n"};
  words.insert(words.end(), wish.lines.begin(), wish.lines.end());
  Fix fix;
  fix.manifest = join(wish.lines, "\n") + "\n";
  // a manifest that is there is somebody's work
  fix.command = ShellCommand({"test", "!", "-e", file})
                    .then(ShellCommand(words).into(file))
                    .then(ShellCommand({"cukit", "up", file}))
                    .then(ShellCommand::evaluates(ShellCommand({"cukit", "env", "./" + file})));
  fix.effect = "builds a toolkit whose parts belong together, beside everything that is here, and "
               "points the consumers at it";
  if (!wish.is_filled_in) {
    fix.effect += "; put in the GPUs that it must run on: none is known here";
  }
  return fix;
}

} // namespace cukit::doctor

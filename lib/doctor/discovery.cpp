#include "doctor/discovery.hpp"

#include "base/strings.hpp"
#include "survey/root_view.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

using Kind = knowledge::DiscoveryStep::Kind;

std::string parent(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string step_text(const knowledge::DiscoveryStep& step) {
  switch (step.kind) {
  case Kind::variable:
    return step.argument;
  case Kind::which:
    return step.argument + " in PATH";
  case Kind::folder:
    return step.argument;
  case Kind::wheel:
    return "site-packages/" + step.argument;
  case Kind::conda:
    return "CONDA_PREFIX";
  case Kind::include:
  case Kind::flag:
    return step.argument;
  }
  return {};
}

const survey::Toolkit* kit_at(const survey::Snapshot& snapshot, std::string_view root) {
  const auto& kits = snapshot.toolkits;
  const auto found = std::find_if(kits.begin(), kits.end(),
                                  [&](const auto& kit) { return survey::is_root_of(kit, root); });
  return found == kits.end() ? nullptr : &*found;
}

/// The value that a step finds, before anybody looks whether it is any good.
std::string value_of(const survey::Snapshot& snapshot, const knowledge::DiscoveryStep& step,
                     const survey::PythonEnvironment* python) {
  switch (step.kind) {
  case Kind::variable:
  case Kind::include:
    return variable(snapshot, step.argument);
  case Kind::which: {
    const auto& list = step.argument == "ptxas" ? snapshot.path_ptxas : snapshot.path_nvcc;
    return list.empty() ? std::string() : list.front();
  }
  case Kind::folder:
    return kit_at(snapshot, step.argument) != nullptr ? step.argument : std::string();
  case Kind::wheel:
    for (const auto& site :
         python == nullptr ? std::vector<std::string>() : python->site_packages) {
      if (const auto path = site + "/" + step.argument; kit_at(snapshot, path) != nullptr) {
        return path;
      }
    }
    return {};
  case Kind::conda:
    return variable(snapshot, "CONDA_PREFIX");
  case Kind::flag: {
    const auto flags = variable(snapshot, step.argument);
    std::string value; // the last one counts
    for (const auto word : split_words(flags)) {
      if (word.starts_with(step.option)) {
        value = word.substr(step.option.size());
      }
    }
    return value;
  }
  }
  return {};
}

/// What makes a root good enough for a consumer that checks it.
bool serves(const survey::Toolkit* kit, const knowledge::Discovery& discovery) {
  if (kit == nullptr) {
    return false;
  }
  if (discovery.compiles == "nvrtc") {
    return kit->headers.contains("cuda_runtime.h");
  }
  return kit->tools.contains("nvcc");
}

class Simulation {
public:
  /// `newest` is the consumer's recipe without regard to its version.
  Simulation(const survey::Snapshot& snapshot, const knowledge::Consumer& consumer,
             const knowledge::Consumer& newest, const survey::PythonEnvironment* python)
      : snapshot_(snapshot), recipe_(consumer.discovery), bundle_(bundle_of(python, consumer)),
        second_ptxas_(steps_of_second(consumer.discovery, newest.discovery, bundle_)) {
    found_.consumer = consumer.name;
    found_.recipe = &consumer;
    found_.compiles = recipe_.compiles;
    found_.is_runtime = recipe_.is_runtime;
    found_.python = python;
    for (const auto& list : consumer.arch_variables) {
      if (auto value = variable(snapshot, list.name); !value.empty()) {
        found_.arch_lists.emplace_back(list.name, std::move(value));
      }
    }
  }

  Found run(bool wants_blackwell) {
    take_root();
    if (recipe_.compiles == "nvcc") {
      take_nvcc();
    } else if (recipe_.compiles == "ptxas") {
      found_.is_second_ptxas = wants_blackwell && !second_ptxas_.empty();
      found_.first_ptxas_variable = variable_of(recipe_.ptxas);
      const auto& steps = found_.is_second_ptxas ? second_ptxas_ : recipe_.ptxas;
      found_.ptxas_variable = variable_of(steps);
      take_ptxas(steps);
    } else if (found_.kit != nullptr) {
      take_headers(*found_.kit);
    }
    take_libraries();
    return std::move(found_);
  }

private:
  using Steps = std::vector<knowledge::DiscoveryStep>;

  /// Which ptxas a wheel has, its files tell better than its version: nightly builds of one version
  /// differ.
  static const Steps& steps_of_second(const knowledge::Discovery& own,
                                      const knowledge::Discovery& newest,
                                      const survey::BundledParts* bundle) {
    static const Steps none;
    if (bundle == nullptr || bundle->tools.empty()) {
      return own.ptxas_blackwell;
    }
    const bool has_second = std::any_of(
        newest.ptxas_blackwell.begin(), newest.ptxas_blackwell.end(), [&](const auto& step) {
          return step.kind == Kind::wheel &&
                 bundle->tools.contains(std::string(survey::name_of(step.argument)));
        });
    return !has_second                   ? none
           : own.ptxas_blackwell.empty() ? newest.ptxas_blackwell
                                         : own.ptxas_blackwell;
  }

  static std::string variable_of(const Steps& steps) {
    const auto step = std::find_if(steps.begin(), steps.end(),
                                   [](const auto& one) { return one.kind == Kind::variable; });
    return step == steps.end() ? std::string() : step->argument;
  }

  void note(const knowledge::DiscoveryStep& step, const std::string& value, const char* outcome) {
    found_.looked.push_back({.where = step_text(step), .value = value, .outcome = outcome});
  }

  void take_root() {
    for (const auto& step : recipe_.root) {
      const auto value = value_of(snapshot_, step, found_.python);
      if (value.empty()) {
        note(step, value,
             step.kind == Kind::variable || step.kind == Kind::include ? "not set" : "not there");
        continue;
      }
      const auto root = step.kind == Kind::which     ? parent(parent(value))
                        : step.kind == Kind::include ? parent(value)
                                                     : value;
      const auto* kit = kit_at(snapshot_, root);
      const bool is_free = step.kind == Kind::variable || step.kind == Kind::flag;
      if ((recipe_.is_checked || recipe_.compiles == "nvrtc" || !is_free) &&
          !serves(kit, recipe_) && step.kind != Kind::which && recipe_.compiles != "ptxas") {
        note(step, value, "passed over");
        continue;
      }
      note(step, value, "taken");
      found_.root = root;
      found_.kit = kit;
      return;
    }
  }

  /// Of `ccache /opt/cuda/bin/nvcc` the last word; a bare name is looked up in PATH.
  std::string program_of(const std::string& value) const {
    const auto words = split_words(value);
    const auto last = words.empty() ? std::string() : std::string(words.back());
    return last == "nvcc" && !snapshot_.path_nvcc.empty() ? snapshot_.path_nvcc.front() : last;
  }

  bool take_program(const std::vector<knowledge::DiscoveryStep>& steps) {
    for (const auto& step : steps) {
      const auto value = program_of(value_of(snapshot_, step, found_.python));
      const auto* tool = value.empty() ? nullptr : tool_at(snapshot_, value);
      if (value.empty() || (tool == nullptr && step.kind != Kind::variable)) {
        note(step, value, step.kind == Kind::variable ? "not set" : "not there");
        continue;
      }
      note(step, value, "taken");
      found_.nvcc = value;
      found_.nvcc_version = tool != nullptr ? tool->version : std::string();
      found_.compiler = tool != nullptr ? compiler_of(snapshot_, *tool) : nullptr;
      return true;
    }
    return false;
  }

  void take_nvcc() {
    // a variable that names a compiler goes before the root's own
    if (!take_program(recipe_.nvcc) && !found_.root.empty()) {
      const auto* tool = found_.kit == nullptr || !found_.kit->tools.contains("nvcc")
                             ? nullptr
                             : &found_.kit->tools.at("nvcc");
      if (tool != nullptr) {
        found_.nvcc = tool->path;
        found_.nvcc_version = tool->version;
        found_.compiler = compiler_of(snapshot_, *tool);
      }
    }
    // CMake takes what belongs to its compiler; others link from the root whatever compiles
    const bool follows = recipe_.libraries.empty() && recipe_.tools.empty();
    if (found_.compiler != nullptr && (found_.kit == nullptr || follows)) {
      found_.kit = found_.compiler;
      found_.root = found_.kit->root;
    }
    if (found_.compiler != nullptr) {
      take_headers(*found_.compiler);
      if (const auto ptxas = found_.compiler->tools.find("ptxas");
          ptxas != found_.compiler->tools.end()) {
        found_.ptxas = ptxas->second.path;
        found_.ptxas_version = ptxas->second.version;
      } else if (!snapshot_.path_ptxas.empty()) {
        found_.ptxas = snapshot_.path_ptxas.front(); // nvcc asks PATH for what its tree lacks
        const auto* tool = tool_at(snapshot_, found_.ptxas);
        found_.ptxas_version = tool == nullptr ? std::string() : tool->version;
      }
    }
  }

  /// The program inside the consumer's own wheel that a step leads to.
  const survey::Tool* own_tool(const knowledge::DiscoveryStep& step) const {
    if (step.kind != Kind::wheel || bundle_ == nullptr ||
        !step.argument.starts_with(found_.recipe->bundle + "/")) {
      return nullptr;
    }
    const auto own = bundle_->tools.find(std::string(survey::name_of(step.argument)));
    return own == bundle_->tools.end() ? nullptr : &own->second;
  }

  void take_ptxas(const std::vector<knowledge::DiscoveryStep>& steps) {
    for (const auto& step : steps) {
      if (const auto* own = own_tool(step)) {
        found_.own_ptxas = own->path;
        found_.own_ptxas_version = own->version;
      }
    }
    for (const auto& step : steps) {
      std::string path = value_of(snapshot_, step, found_.python);
      const survey::Tool* tool = nullptr;
      if (const auto* own = own_tool(step)) {
        tool = own;
      }
      if (tool == nullptr && !path.empty()) {
        const auto* kit = kit_at(snapshot_, path);
        tool = kit != nullptr && kit->tools.contains("ptxas") ? &kit->tools.at("ptxas")
                                                              : tool_at(snapshot_, path);
      }
      if (tool == nullptr) {
        note(step, path, path.empty() ? "not set" : "passed over");
        continue;
      }
      note(step, tool->path, "taken");
      found_.ptxas = tool->path;
      found_.ptxas_version = tool->version;
      return;
    }
  }

  void take_headers(const survey::Toolkit& kit) {
    found_.headers = kit.include;
    found_.headers_version = kit.cudart;
  }

  void take_libraries() {
    if (found_.kit == nullptr || recipe_.libraries.empty()) {
      return;
    }
    const auto has = [&](const std::string& folder) {
      const auto& all = found_.kit->library_folders;
      return std::find(all.begin(), all.end(), folder) != all.end();
    };
    if (has(recipe_.libraries.front())) {
      found_.libraries = found_.root + "/" + recipe_.libraries.front();
    } else if (!recipe_.libraries_else.empty() && has(recipe_.libraries_else)) {
      found_.libraries = found_.root + "/" + recipe_.libraries_else;
    }
  }

  const survey::Snapshot& snapshot_;
  const knowledge::Discovery& recipe_;
  const survey::BundledParts* bundle_;
  const Steps& second_ptxas_;
  Found found_;
};

struct Provider {
  const survey::PythonEnvironment* python = nullptr;
  std::string version = {};
};

/// The environment with the consumer in it; the first one counts, as it is the active one.
Provider provider(const survey::Snapshot& snapshot, const knowledge::Discovery& discovery) {
  for (const auto& python : snapshot.pythons) {
    for (const auto& dist : python.distributions) {
      if (knowledge::brings(discovery, dist.name)) {
        return {&python, dist.version};
      }
    }
    for (const auto& [name, version] : python.conda_packages) {
      if (knowledge::brings(discovery, name)) {
        return {&python, version};
      }
    }
  }
  return {};
}

} // namespace

const survey::BundledParts* bundle_of(const survey::PythonEnvironment* python,
                                      const knowledge::Consumer& consumer) {
  if (python == nullptr || consumer.bundle.empty()) {
    return nullptr;
  }
  const auto& all = python->bundles;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& parts) {
    return parts.root.ends_with("/" + consumer.bundle);
  });
  return found == all.end() ? nullptr : &*found;
}

std::optional<Version> known_version(std::string_view text) {
  auto version = Version::parse(text);
  return version ? std::optional(*std::move(version)) : std::nullopt;
}

std::string variable(const survey::Snapshot& snapshot, std::string_view name) {
  const auto found = snapshot.environment.find(std::string(name));
  return found == snapshot.environment.end() ? std::string() : found->second;
}

const survey::Tool* tool_at(const survey::Snapshot& snapshot, std::string_view path) {
  const survey::Tool* by_real = nullptr;
  for (const auto& kit : snapshot.toolkits) {
    for (const auto& [name, tool] : kit.tools) {
      if (tool.path == path) {
        return &tool;
      }
      if (tool.real == path) {
        by_real = &tool;
      }
    }
  }
  return by_real;
}

const survey::Toolkit* compiler_of(const survey::Snapshot& snapshot, const survey::Tool& nvcc) {
  if (!nvcc.wraps.empty()) {
    const auto* inner = tool_at(snapshot, nvcc.wraps);
    return inner != nullptr && inner->wraps.empty() ? compiler_of(snapshot, *inner)
                                                    : survey::toolkit_of(snapshot, nvcc.wraps);
  }
  const auto* own = survey::toolkit_of(snapshot, nvcc.path);
  if (nvcc.is_link) {
    return own; // nvcc looks for its profile beside the name it was called by
  }
  const auto* real = survey::toolkit_of(snapshot, nvcc.real);
  return real != nullptr ? real : own;
}

std::vector<Found> discover(const survey::Snapshot& snapshot, const Question& question,
                            const std::vector<knowledge::Consumer>& consumers) {
  std::vector<GpuTarget> gpus = question.gpus;
  for (const auto& gpu : snapshot.gpus) {
    if (const auto target = GpuTarget::parse(gpu.target)) {
      gpus.push_back(*target);
    }
  }
  const bool wants_blackwell = std::any_of(gpus.begin(), gpus.end(), [](const auto& gpu) {
    return gpu.major >= knowledge::k_second_ptxas_major;
  });
  const bool has_nvcc = std::any_of(snapshot.toolkits.begin(), snapshot.toolkits.end(),
                                    [](const auto& kit) { return kit.tools.contains("nvcc"); });
  std::vector<Found> result;
  for (const auto& consumer : consumers) {
    const auto& asked = question.consumers;
    const bool is_asked = std::find(asked.begin(), asked.end(), consumer.name) != asked.end();
    const auto provided = provider(snapshot, consumer.discovery);
    const auto* python = provided.python;
    const bool is_there = !consumer.discovery.only_asked &&
                          (consumer.discovery.present.empty() ? has_nvcc : python != nullptr);
    if (asked.empty() ? !is_there : !is_asked) {
      continue;
    }
    if (python == nullptr && !snapshot.pythons.empty()) {
      python = &snapshot.pythons.front();
    }
    const auto& recipe = knowledge::at_version(consumer, known_version(provided.version));
    auto found = Simulation(snapshot, recipe, consumer, python).run(wants_blackwell);
    found.version = provided.version;
    found.is_asked = is_asked;
    result.push_back(std::move(found));
  }
  return result;
}

} // namespace cukit::doctor

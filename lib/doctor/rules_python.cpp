// Python environments: wheels that overwrite each other, pins that conflict, extensions of another
// CUDA, libraries that LD_LIBRARY_PATH hides.
#include "base/strings.hpp"
#include "catalog/requirement.hpp"
#include "doctor/packages.hpp"

#include <algorithm>
#include <set>

namespace cukit::doctor {

namespace {

/// cu12 of nvidia-cublas-cu12; 13 of nvidia-cuda-runtime 13.0.96
int family_of(const survey::Distribution& dist) {
  if (!dist.name.starts_with("nvidia-")) {
    return 0;
  }
  // CUDA itself, not what was built for it: cuDNN, NCCL and CUTLASS bring several on purpose
  static constexpr const char* parts[] = {"nvidia-cuda-",    "nvidia-nvjitlink", "nvidia-cublas",
                                          "nvidia-cufft",    "nvidia-curand",    "nvidia-cusolver",
                                          "nvidia-cusparse-"};
  const bool is_part = std::any_of(std::begin(parts), std::end(parts), [&](const char* prefix) {
    return dist.name.starts_with(prefix);
  });
  if (dist.name.ends_with("-cu12")) {
    return is_part ? 12 : 0;
  }
  const bool is_cuda = dist.name.starts_with("nvidia-cuda-") || dist.name == "nvidia-nvvm" ||
                       dist.name == "nvidia-nvjitlink";
  return is_cuda && dist.version.starts_with("13.") ? 13 : 0;
}

void stub_distributions(const Context& context, Findings& findings) {
  for (const auto& python : context.snapshot.pythons) {
    for (const auto& dist : python.distributions) {
      if (!dist.name.starts_with("nvidia-") || !dist.name.ends_with("-cu13") ||
          !dist.version.starts_with("0.0.")) {
        continue;
      }
      auto& finding = findings.add(RuleId::stub_distribution, python.prefix);
      const auto real = dist.name.substr(0, dist.name.size() - 5);
      finding.cause = fmt::format("{} {} is a placeholder; the package is called {}", dist.name,
                                  dist.version, real);
      finding.evidence.push_back({dist.path, dist.version});
      finding.fix.push_back(by_command(pip_uninstall(context, python.prefix, dist.name)
                                           .then(pip_install(context, python.prefix, {real})),
                                       "the real package"));
    }
  }
}

/// Who of several owners stays: whom torch asks for, else the one with the newest version.
const survey::Distribution* keeper_of(const survey::PythonEnvironment& python,
                                      const std::set<std::string>& owners) {
  const auto* torch = survey::find_distribution(python, "torch");
  const survey::Distribution* best = nullptr;
  for (const auto& name : owners) {
    const auto* dist = survey::find_distribution(python, name);
    const bool is_asked_for =
        dist != nullptr && torch != nullptr &&
        std::any_of(torch->requirements.begin(), torch->requirements.end(), [&](const auto& text) {
          const auto requirement = catalog::Requirement::parse(text);
          return requirement && requirement->project == name;
        });
    if (is_asked_for) {
      return dist;
    }
    if (dist != nullptr && (best == nullptr || is_older(best->version, dist->version))) {
      best = dist;
    }
  }
  return best;
}

/// The files as one wheel brings them. Removing another owner alone would take them away.
Fix give_back(const Context& context, const survey::PythonEnvironment& python,
              const std::set<std::string>& owners) {
  const auto* keeper = keeper_of(python, owners);
  if (keeper == nullptr) {
    return by_hand("install the wheels anew", "the files as the wheels bring them");
  }
  const auto install = pip_install(context, python.prefix, {keeper->name + "==" + keeper->version},
                                   {"--force-reinstall", "--no-deps"});
  Action action;
  for (const auto& name : owners) {
    if (name != keeper->name) {
      action = action.then(pip_uninstall(context, python.prefix, name));
    }
  }
  return by_command(action.then(install),
                    owners.size() > 1 ? fmt::format("the files are then {}'s alone", keeper->name)
                                      : "the files as the wheel brings them");
}

void clobbers(const Context& context, Findings& findings) {
  for (const auto& python : context.snapshot.pythons) {
    for (const auto& clobber : python.clobbers) {
      const bool is_gone = clobber.state == "gone";
      auto& finding = findings.add(
          is_gone ? RuleId::wheel_files_gone : RuleId::wheel_files_overwritten, python.prefix);
      if (finding.evidence.size() < 6) {
        finding.evidence.push_back(
            {clobber.path, fmt::format("{}: of {}", clobber.state, join(clobber.owners, " and "))});
      }
      std::set<std::string> owners(clobber.owners.begin(), clobber.owners.end());
      finding.cause =
          is_gone ? fmt::format("files of {} are not there", *owners.begin())
          : owners.size() > 1
              ? fmt::format("{} write the same files, and what lies there fits only one",
                            join({owners.begin(), owners.end()}, " and "))
              : fmt::format("files of {} are not as it brought them", *owners.begin());
      if (finding.fix.empty()) {
        finding.fix.push_back(give_back(context, python, owners));
      }
    }
  }
}

void extensions(const Context& context, Findings& findings) {
  for (const auto& python : context.snapshot.pythons) {
    for (const auto& extension : python.extensions) {
      for (const auto& name : extension.needed) {
        if (!name.starts_with("libcudart.so.") || python.torch_cuda.empty()) {
          continue;
        }
        const int wanted = major_of(name.substr(13));
        if (wanted == 0 || wanted == major_of(python.torch_cuda)) {
          continue;
        }
        auto& finding = findings.add(RuleId::extension_cuda_differs, python.prefix);
        finding.cause = fmt::format("{} needs {}, torch {} brings CUDA {}", extension.distribution,
                                    name, python.torch, python.torch_cuda);
        if (finding.evidence.empty()) {
          finding.evidence = {{extension.path, "needs " + name},
                              {python.prefix, "torch " + python.torch}};
          finding.fix = {
              by_hand(fmt::format("install the {} that was built for CUDA {}: its own index, or a "
                                  "name or version that ends in cu{}",
                                  extension.distribution, major_of(python.torch_cuda),
                                  major_of(python.torch_cuda)),
                      "extension and torch are of one major"),
              by_command(pip_install(context, python.prefix, {extension.distribution},
                                     {"--no-deps", "--no-build-isolation", "--no-binary",
                                      extension.distribution, "--force-reinstall"})
                             .command,
                         fmt::format("or built here, with a toolkit of CUDA {}",
                                     major_of(python.torch_cuda)))};
        }
      }
    }
  }
}

void shadows(const Context& context, Findings& findings) {
  std::set<std::string> taken; // by the first folder that has them
  for (const auto& folder : context.snapshot.library_path) {
    for (const auto& [name, real] : folder.libraries) {
      if (!name.starts_with("libnvJitLink.so.") || !taken.insert(name).second) {
        continue;
      }
      for (const auto& kit : context.snapshot.toolkits) {
        const auto own = kit.libraries.find(name);
        if (!is_wheel_tree(kit) || own == kit.libraries.end() || own->second == real) {
          continue;
        }
        const auto* python = python_of(context.snapshot, kit.environment);
        const auto* dist = python == nullptr
                               ? nullptr
                               : survey::find_distribution(*python, "nvidia-nvjitlink-cu12");
        if (dist == nullptr && python != nullptr) {
          dist = survey::find_distribution(*python, "nvidia-nvjitlink");
        }
        const auto wheel = !kit.nvjitlink.empty() ? kit.nvjitlink
                           : dist != nullptr      ? minor_of(dist->version)
                                                  : std::string();
        // a library without a single versioned symbol serves nobody
        if (!wheel.empty() && !folder.nvjitlink.empty() && !is_older(folder.nvjitlink, wheel)) {
          continue;
        }
        auto& finding = findings.add(RuleId::library_path_shadows, folder.path);
        finding.cause = fmt::format(
            "LD_LIBRARY_PATH names {}, whose {} ({}) comes before the wheel's ({})", folder.path,
            name, value_or(folder.nvjitlink, "no versioned symbols"), value_or(wheel, "newer"));
        finding.evidence = {{folder.path + "/" + name,
                             value_or(folder.nvjitlink, "exports no versioned nvJitLink symbol")},
                            {own->second, value_or(wheel, "of the wheel")}};
        finding.fix = {
            by_command(unset_variables({"LD_LIBRARY_PATH"}),
                       "torch's wheels find their own libraries"),
            by_command(put_first("LD_LIBRARY_PATH", own->second.substr(0, own->second.rfind('/'))),
                       "where something else needs the variable")};
      }
    }
  }
}

bool is_asked_for(const survey::PythonEnvironment& python, const std::string& name) {
  return std::any_of(python.distributions.begin(), python.distributions.end(),
                     [&](const auto& dist) {
                       return std::any_of(dist.requirements.begin(), dist.requirements.end(),
                                          [&](const auto& text) {
                                            const auto wanted = catalog::Requirement::parse(text);
                                            return wanted && wanted->project == name;
                                          });
                     });
}

/// What is not of torch's own major goes, as far as nobody asks for it.
void add_family_fix(const Context& context, const survey::PythonEnvironment& python,
                    Finding& finding) {
  const int own = major_of(python.torch_cuda);
  Action action;
  bool is_wanted = own == 0;
  for (const auto& dist : python.distributions) {
    const int family = family_of(dist);
    if (family == 0 || family == own) {
      continue;
    }
    is_wanted = is_wanted || is_asked_for(python, dist.name);
    action = action.then(pip_uninstall(context, python.prefix, dist.name));
  }
  if (!is_wanted) {
    finding.fix.push_back(by_command(
        action, fmt::format("nothing that is installed asks for them; torch is of CUDA {}", own)));
  }
  if (const auto build = own == 12 ? torch_of_major(context, python, 13) : std::nullopt) {
    auto move = install_torch(context, python.prefix, *build);
    for (const auto& dist : python.distributions) {
      if (family_of(dist) == own) {
        move = move.then(pip_uninstall(context, python.prefix, dist.name));
      }
    }
    finding.fix.push_back(
        by_command(move, fmt::format("or torch {}, and all of CUDA 13", build->text())));
  }
  finding.fix.push_back(by_hand("give what asks for the other CUDA a Python environment of its own",
                                "each then has the libraries of one major"));
}

void families(const Context& context, Findings& findings) {
  for (const auto& python : context.snapshot.pythons) {
    const survey::Distribution* old_one = nullptr;
    const survey::Distribution* new_one = nullptr;
    for (const auto& dist : python.distributions) {
      const int family = family_of(dist);
      old_one = family == 12 ? &dist : old_one;
      new_one = family == 13 ? &dist : new_one;
    }
    if (old_one == nullptr || new_one == nullptr) {
      continue;
    }
    auto& finding = findings.add(RuleId::two_cuda_families, python.prefix);
    finding.cause = fmt::format("{} and {} are both installed", old_one->name, new_one->name);
    finding.evidence = {{old_one->path, old_one->version}, {new_one->path, new_one->version}};
    if (!python.torch.empty()) {
      finding.evidence.push_back({python.prefix, "torch " + python.torch});
    }
    add_family_fix(context, python, finding);
  }
}

void companions(const Context& context, Findings& findings) {
  for (const auto& recipe : context.recipes) {
    for (const auto& python : context.snapshot.pythons) {
      const auto* main = recipe.discovery.versions_of.empty()
                             ? nullptr
                             : survey::find_distribution(python, recipe.discovery.versions_of);
      for (const auto& name : recipe.discovery.companions) {
        const auto* other = main == nullptr ? nullptr : survey::find_distribution(python, name);
        // 0.6.12+cu130 of a companion is 0.6.12
        if (other == nullptr || other->version.substr(0, other->version.find('+')) ==
                                    main->version.substr(0, main->version.find('+'))) {
          continue;
        }
        auto& finding = findings.add(RuleId::companion_differs, python.prefix);
        finding.cause = fmt::format("{} is {}, {} is {}", main->name, main->version, other->name,
                                    other->version);
        finding.evidence = {{main->path, main->version}, {other->path, other->version}};
        finding.consumers = {recipe.name};
        finding.fix = {
            by_command(pip_install(context, python.prefix, {other->name + "==" + main->version}),
                       "the companion of the installed version")};
      }
    }
  }
}

/// A requirement that concerns this machine; extras are those of torch's own CUDA.
struct Pin {
  const survey::Distribution* by = nullptr;
  catalog::Requirement requirement;
  std::string text;
};

std::vector<Pin> pins_of(const survey::PythonEnvironment& python) {
  std::vector<Pin> pins;
  const auto extra =
      python.torch_cuda.empty() ? std::string() : fmt::format("cu{}", major_of(python.torch_cuda));
  for (const auto& dist : python.distributions) {
    for (const auto& text : dist.requirements) {
      auto requirement = catalog::Requirement::parse(text);
      if (!requirement) {
        continue;
      }
      const bool applies = requirement->applies(Platform::host(), "") ||
                           (!extra.empty() && requirement->applies(Platform::host(), extra));
      if (applies && !requirement->range.is_any()) {
        pins.push_back({&dist, *std::move(requirement), text});
      }
    }
  }
  return pins;
}

void pins(const Context& context, Findings& findings) {
  for (const auto& python : context.snapshot.pythons) {
    for (const auto& pin : pins_of(python)) {
      const auto* installed = survey::find_distribution(python, pin.requirement.project);
      const auto version = installed == nullptr ? tl::unexpected<Error>(Error{})
                                                : Version::parse(installed->version);
      const auto needs =
          fmt::format("needs {}{}", pin.requirement.project, pin.requirement.range.text());
      const bool is_compiler = pin.requirement.project == "nvidia-cuda-nvcc" ||
                               pin.requirement.project == "nvidia-nvvm" ||
                               pin.requirement.project == "nvidia-cuda-tileiras" ||
                               pin.requirement.project == "nvidia-cuda-crt";
      if (is_compiler && version && !python.torch_cuda.empty() &&
          differ(installed->version, python.torch_cuda) && pin.by->name != "nvidia-cuda-nvcc") {
        auto& finding = findings.add(RuleId::nvcc_pinned_away, python.prefix);
        finding.cause =
            fmt::format("{} {}, torch is of CUDA {}", pin.by->name, needs, python.torch_cuda);
        finding.evidence.push_back({pin.by->path, pin.text});
        finding.evidence.push_back({installed->path, installed->version});
        finding.fix = {
            by_command(
                pip_install(context, python.prefix,
                            {metapackage(context, python.prefix, minor_of(python.torch_cuda),
                                         "nvcc,crt,nvvm,cccl")}),
                "torch's own release for the compiler; give it as a constraint to later installs"),
            cukit_fix(context, {})};
      }
      if (!version || pin.requirement.range.contains(*version, true)) {
        continue;
      }
      auto& finding = findings.add(RuleId::pins_conflict, python.prefix);
      finding.cause =
          fmt::format("{} {}, installed is {}", pin.by->name, needs, installed->version);
      if (finding.evidence.size() < 8) {
        finding.evidence.push_back({pin.by->path, pin.text});
        finding.evidence.push_back({installed->path, installed->version});
      }
      if (finding.fix.empty()) {
        finding.fix = {by_command(
            pip_install(context, python.prefix,
                        {pin.requirement.project + pin.requirement.range.text()}),
            "what is asked for; where two packages ask for different versions, one of them has to "
            "go")};
      }
    }
  }
}

void conda_drift(const Context& context, Findings& findings) {
  for (const auto& python : context.snapshot.pythons) {
    const std::pair<std::string, std::string>* reference = nullptr;
    for (const auto& package : python.conda_packages) {
      if (package.first == "cuda-version" ||
          (reference == nullptr && package.first == "cudatoolkit")) {
        reference = &package;
      }
    }
    for (const auto& package : python.conda_packages) {
      const bool is_compiler =
          package.first.starts_with("cuda-nvcc") || package.first.starts_with("nvcc_linux") ||
          package.first.starts_with("cuda-cudart") || package.first == "cuda-nvrtc" ||
          package.first.starts_with("cuda-crt") || package.first.starts_with("cuda-nvvm");
      if (reference == nullptr || !is_compiler || !differ(reference->second, package.second)) {
        continue;
      }
      auto& finding = findings.add(RuleId::conda_versions_drift, python.prefix);
      finding.cause = fmt::format("{} is {}, {} is {}", package.first, package.second,
                                  reference->first, reference->second);
      finding.evidence.push_back(
          {python.prefix + "/conda-meta", package.first + " " + package.second});
      finding.evidence.push_back(
          {python.prefix + "/conda-meta", reference->first + " " + reference->second});
      const auto minor = minor_of(reference->second);
      finding.fix = {conda_install(python.prefix, {"cuda-version=" + minor, "cuda-nvcc=" + minor},
                                   "one release for all of CUDA's packages")};
    }
  }
}

} // namespace

const std::vector<Rule>& python_rules() {
  static const std::vector<Rule> rules = {stub_distributions, clobbers,   extensions, shadows,
                                          families,           companions, pins,       conda_drift};
  return rules;
}

} // namespace cukit::doctor

// Variables: malformed values, folders without nvcc, flags that reach into another toolkit, lists
// of targets in the wrong form.
#include "base/strings.hpp"
#include "doctor/packages.hpp"
#include "knowledge/arch_list.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

constexpr const char* k_roots[] = {"CUDA_HOME", "CUDA_PATH"};

bool is_used_root(const Context& context, std::string_view name) {
  return std::any_of(context.found.begin(), context.found.end(), [&](const auto& found) {
    return std::any_of(found.looked.begin(), found.looked.end(), [&](const auto& look) {
      return look.where == name && look.outcome == "taken";
    });
  });
}

std::vector<std::string> users_of(const Context& context, std::string_view name) {
  std::vector<std::string> users;
  for (const auto& found : context.found) {
    for (const auto& look : found.looked) {
      if (look.where == name && look.outcome == "taken") {
        users.push_back(found.consumer);
      }
    }
  }
  return users;
}

std::string stripped(std::string value) {
  const auto is_junk = [](char c) { return c == ':' || c == '"' || c == '\'' || c == ' '; };
  while (!value.empty() && is_junk(value.front())) {
    value.erase(0, 1);
  }
  value = value.substr(0, value.find_first_of(":\"' "));
  if (value.ends_with("/bin") || value.ends_with("/bin/")) {
    value.erase(value.rfind("/bin"));
  }
  return value;
}

std::string what_is_wrong(const std::string& value) {
  if (value.find_first_of("\"'") != std::string::npos) {
    return "has quotes inside its value; nobody strips them";
  }
  if (value.find(':') != std::string::npos) {
    return "has a colon: it is taken as one path, not as a list";
  }
  if (value.starts_with(' ') || value.ends_with(' ')) {
    return "has a space at its end";
  }
  if (value.ends_with("/bin") || value.ends_with("/bin/")) {
    return "names the bin folder; consumers append /bin/nvcc themselves";
  }
  if (value.starts_with('~')) {
    return "begins with ~, which only a shell replaces, and not inside quotes";
  }
  if (!value.starts_with('/')) {
    return "is a relative path, which means another place in every build folder";
  }
  return {};
}

const survey::Toolkit* best_tree(const Context& context) {
  const survey::Toolkit* best = nullptr;
  for (const auto& tree : trees_with_nvcc(context)) {
    if (best == nullptr || is_older(best->tools.at("nvcc").version, tree.nvcc->version)) {
      best = tree.kit;
    }
  }
  return best;
}

void malformed(const Context& context, Findings& findings) {
  for (const char* name : k_roots) {
    const auto value = variable(context.snapshot, name);
    const auto wrong = value.empty() ? std::string() : what_is_wrong(value);
    if (wrong.empty()) {
      continue;
    }
    auto& finding = findings.add(RuleId::variable_malformed, name);
    finding.cause = fmt::format("{} {}", name, wrong);
    finding.evidence.push_back({name, "`" + value + "`"});
    finding.consumers = users_of(context, name);
    const auto good = stripped(value);
    finding.fix.push_back(by_command(set_variable(name, good.empty() ? "/usr/local/cuda" : good),
                                     "a plain absolute path of the toolkit's root"));
  }
  if (const auto value = variable(context.snapshot, "CUDACXX");
      value.find_first_of(":\"'") != std::string::npos) {
    auto& finding = findings.add(RuleId::variable_malformed, "CUDACXX");
    finding.cause = "CUDACXX " + what_is_wrong(value);
    finding.evidence.push_back({"CUDACXX", "`" + value + "`"});
    finding.consumers = users_of(context, "CUDACXX");
    finding.fix.push_back(
        by_command(set_variable("CUDACXX", stripped(value)), "the path of nvcc alone"));
  }
}

void wrong_folder(const Context& context, Findings& findings) {
  for (const char* name : k_roots) {
    const auto value = variable(context.snapshot, name);
    if (value.empty() || !what_is_wrong(value).empty()) {
      continue;
    }
    const auto* kit = survey::toolkit_of(context.snapshot, value);
    const bool is_root = kit != nullptr && survey::is_root_of(*kit, value);
    if ((is_root && kit->tools.contains("nvcc")) || !is_used_root(context, name)) {
      continue;
    }
    auto& finding = findings.add(RuleId::variable_wrong_folder, name);
    finding.cause = fmt::format("{} is {}, where there is no bin/nvcc{}", name, value,
                                is_root ? "" : " and no other part of a toolkit");
    finding.evidence.push_back({name, value});
    finding.consumers = users_of(context, name);
    if (const auto* best = best_tree(context)) {
      finding.evidence.push_back(
          {best->tools.at("nvcc").path,
           "nvcc " + value_or(best->tools.at("nvcc").version, "of an unknown "
                                                              "version")});
      finding.fix.push_back(by_command(use_tree(best->root), "the toolkit that is there"));
    } else if (is_root && is_wheel_tree(*kit)) {
      const auto minor = minor_of(kit->cudart);
      finding.fix.push_back(by_command(
          pip_install(context, kit->environment,
                      {metapackage(context, kit->environment, minor, "nvcc,crt,nvvm,cccl")}),
          "the compiler of the release that the headers are of"));
    }
    finding.fix.push_back(cukit_fix(context, finding.consumers));
  }
}

void disagree(const Context& context, Findings& findings) {
  const auto home = variable(context.snapshot, "CUDA_HOME");
  const auto path = variable(context.snapshot, "CUDA_PATH");
  const auto* first = survey::toolkit_of(context.snapshot, home);
  const auto* second = survey::toolkit_of(context.snapshot, path);
  if (home.empty() || path.empty() || first == nullptr || second == nullptr || first == second) {
    return;
  }
  auto& finding = findings.add(RuleId::variables_disagree);
  finding.cause = "CUDA_HOME and CUDA_PATH name two toolkits";
  finding.evidence = {{"CUDA_HOME", home}, {"CUDA_PATH", path}};
  finding.fix.push_back(by_command(set_variable("CUDA_PATH", home), "the same for everybody"));
}

/// Include folders that a variable adds: of -I, -isystem in flags, or of a list.
std::vector<std::string> added_includes(const std::string& name, const std::string& value) {
  std::vector<std::string> result;
  if (name.find("FLAGS") == std::string::npos) {
    for (const auto part : split(value, ':')) {
      if (!part.empty()) {
        result.emplace_back(part);
      }
    }
    return result;
  }
  bool is_next = false;
  for (const auto word : split_words(value)) {
    if (is_next) {
      result.emplace_back(word);
    }
    is_next = word == "-I" || word == "-isystem";
    if (word.size() > 2 && word.starts_with("-I")) {
      result.emplace_back(word.substr(2));
    }
  }
  return result;
}

/// The consumer whose own wheel brings this folder of headers; nullptr: none.
const knowledge::Consumer* bundler_of(const Context& context, const std::string& folder) {
  for (const auto& python : context.snapshot.pythons) {
    for (const auto& recipe : context.recipes) {
      const auto* bundle = bundle_of(&python, recipe);
      if (bundle != nullptr && !bundle->include.empty() && bundle->include == folder) {
        return &recipe;
      }
    }
  }
  return nullptr;
}

void foreign_flags(const Context& context, Findings& findings) {
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH", "CUDA_INC_PATH"}) {
    for (const auto& folder : added_includes(name, variable(context.snapshot, name))) {
      const auto* other = survey::toolkit_of(context.snapshot, folder);
      const auto* bundler = bundler_of(context, folder);
      for (const auto& found : context.found) {
        if (found.compiles != "nvcc" || found.compiler == nullptr ||
            (bundler == nullptr && (other == nullptr || other == found.compiler ||
                                    !differ(other->cudart, found.nvcc_version)))) {
          continue;
        }
        auto& finding = findings.add(RuleId::flags_reach_another_toolkit, name);
        finding.cause = fmt::format("{} adds {} to every compile, while nvcc is {}", name, folder,
                                    value_or(found.nvcc_version, "of an unknown version"));
        if (finding.evidence.empty()) {
          finding.evidence = {{name, variable(context.snapshot, name)},
                              {folder, bundler != nullptr
                                           ? fmt::format("headers of {}'s wheel", bundler->title)
                                           : "CUDART_VERSION " + other->cudart},
                              {found.nvcc, "nvcc " + found.nvcc_version}};
          finding.fix.push_back(by_command(unset_variables({name}), "nvcc finds its own headers"));
        }
        finding.consumers.push_back(found.consumer);
      }
    }
  }
}

/// A compiler that a variable names, beside the root that gives headers and libraries.
void foreign_compiler(const Context& context, Findings& findings) {
  for (const auto& found : context.found) {
    const auto& steps = found.recipe->discovery.nvcc;
    const auto step = std::find_if(steps.begin(), steps.end(), [&](const auto& one) {
      return one.kind == knowledge::DiscoveryStep::Kind::variable &&
             !variable(context.snapshot, one.argument).empty();
    });
    if (step == steps.end() || found.compiler == nullptr || found.kit == nullptr ||
        found.compiler == found.kit || !differ(found.kit->cudart, found.nvcc_version)) {
      continue;
    }
    auto& finding = findings.add(RuleId::nvcc_of_another_toolkit, step->argument);
    finding.cause =
        fmt::format("{} names nvcc of CUDA {}, while headers and libraries come from {}",
                    step->argument, found.nvcc_version, found.root);
    finding.evidence = {{step->argument, variable(context.snapshot, step->argument)},
                        {found.nvcc, "nvcc " + found.nvcc_version},
                        {found.root, "CUDART_VERSION " + found.kit->cudart}};
    finding.fix = {
        by_command(unset_variables({step->argument}), "the compiler of the same toolkit is taken")};
    finding.consumers.push_back(found.consumer);
  }
}

void empty_ccbin(const Context& context, Findings& findings) {
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
    const auto value = variable(context.snapshot, name);
    for (auto word : split_words(value)) {
      std::string text(word);
      std::erase_if(text, [](char c) { return c == '"' || c == '\''; });
      if (text == "-ccbin=" || text == "--compiler-bindir=") {
        auto& finding = findings.add(RuleId::ccbin_empty);
        finding.cause =
            fmt::format("{} is `{}`: nvcc is given a host compiler without a name", name, value);
        finding.evidence = {{name, value},
                            {"CXX", value_or(variable(context.snapshot, "CXX"), "not set")}};
        finding.fix = {by_command(unset_variables({name}), "nvcc takes g++ of PATH"),
                       conda_install(variable(context.snapshot, "CONDA_PREFIX"), {"gxx_linux-64"},
                                     "the activation then sets CXX")};
      }
    }
  }
}

/// What is wrong with a list for consumers that split at single spaces.
std::string wrong_family_list(const std::string& value) {
  if (value.find_first_of(";,") != std::string::npos) {
    return "targets are parted by one space, not by ; or ,";
  }
  for (const auto item : split(value, ' ')) {
    const auto dot = item.find('.');
    if (item.empty()) {
      return "has two spaces in a row, or one at an end";
    }
    if (dot == std::string_view::npos || item.find('.', dot + 1) != std::string_view::npos) {
      return fmt::format("`{}` has no dot: it must be x.y with its letter", item);
    }
    if (item.find("+PTX") != std::string_view::npos) {
      return "+PTX is torch's spelling";
    }
  }
  return {};
}

std::string wrong_torch_list(const std::string& value) {
  std::string text = value;
  std::replace(text.begin(), text.end(), ';', ' ');
  for (const auto item : split_words(text)) {
    if (item.ends_with('f') && item.find('.') != std::string_view::npos) {
      return fmt::format("`{}` has a family letter, which torch refuses", item);
    }
    if (item.find(',') != std::string_view::npos) {
      return "targets are parted by ; or spaces";
    }
  }
  return {};
}

/// CMake's and the like: 90;120, perhaps with a letter or -real behind.
std::string wrong_number_list(const std::string& value) {
  for (const auto item : split(value, ';')) {
    if (item.find('.') != std::string_view::npos) {
      return fmt::format("`{}` has a dot: it must be a number such as 90", item);
    }
    if (item.find_first_of(", ") != std::string_view::npos) {
      return "targets are parted by ;";
    }
  }
  return {};
}

struct Spelling {
  std::string (*what_is_wrong)(const std::string&);
  const char* example;
};
Spelling spelling_of(const std::string& style) {
  return style == "family"  ? Spelling{wrong_family_list, "9.0a 12.0f"}
         : style == "plain" ? Spelling{wrong_torch_list, "9.0;12.0"}
                            : Spelling{wrong_number_list, "90;120"};
}

void architecture_lists(const Context& context, Findings& findings) {
  for (const auto& recipe : context.recipes) {
    for (const auto& list : recipe.arch_variables) {
      const auto value = variable(context.snapshot, list.name);
      const auto spelling = spelling_of(list.style);
      const auto wrong = value.empty() ? std::string() : spelling.what_is_wrong(value);
      if (wrong.empty()) {
        continue;
      }
      auto& finding = findings.add(RuleId::architecture_list, list.name);
      finding.cause = fmt::format("{} is `{}`: {}", list.name, value, wrong);
      if (finding.evidence.empty()) {
        finding.evidence.push_back({list.name, value});
        const auto targets = targets_in_list(context, value);
        finding.fix.push_back(by_command(
            set_variable(list.name, targets.empty() ? std::string(spelling.example)
                                                    : knowledge::architecture_list(list, targets)),
            targets.empty() ? "the form that it takes: put in the GPUs that it must run on"
                            : "the same targets, in the form that it takes"));
        finding.fix.push_back(
            by_command(unset_variables({list.name}), "it then takes the GPUs that it sees"));
      }
      finding.consumers.push_back(recipe.name);
    }
  }
}

} // namespace

const std::vector<Rule>& environment_rules() {
  static const std::vector<Rule> rules = {malformed,         wrong_folder,     disagree,
                                          foreign_flags,     foreign_compiler, empty_ccbin,
                                          architecture_lists};
  return rules;
}

} // namespace cukit::doctor

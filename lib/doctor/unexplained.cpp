// A log that shows a failure and is not explained: what is known of everything in it. And the
// consumers that a failing log is about.
#include "base/strings.hpp"
#include "doctor/explain.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

using buildlog::Failure;
constexpr std::size_t k_most_facts = 14;

const Failure* first_of(const buildlog::Facts& facts) {
  if (facts.first != SIZE_MAX) {
    return &facts.failures[facts.first];
  }
  const auto ending = std::find_if(facts.endings.begin(), facts.endings.end(),
                                   [](const auto& one) { return !one.is_superseded; });
  return ending == facts.endings.end() ? nullptr : &*ending;
}

class Known {
public:
  explicit Known(Finding& finding) : finding_(finding) {}
  void add(std::string path, std::string fact) {
    const bool is_there =
        std::any_of(finding_.evidence.begin(), finding_.evidence.end(),
                    [&](const auto& item) { return item.path == path && item.fact == fact; });
    if (!is_there && finding_.evidence.size() < k_most_facts) {
      finding_.evidence.push_back({std::move(path), std::move(fact)});
    }
  }

private:
  Finding& finding_;
};

std::string about(const survey::Toolkit& kit) {
  const auto nvcc = kit.tools.find("nvcc");
  return fmt::format("CUDA {}{}", value_or(kit.cudart, "without headers"),
                     nvcc == kit.tools.end() ? ", no nvcc" : ", nvcc " + nvcc->second.version);
}

void tell_command(const Context& context, const buildlog::Command& command, Known& known) {
  known.add(fmt::format("log:{}", command.line), "the command: " + command.text.substr(0, 400));
  if (const auto* kit = survey::toolkit_of(context.snapshot, command.program)) {
    known.add(kit->root, about(*kit));
  }
  for (const auto* list : {&command.includes, &command.system_includes, &command.library_folders}) {
    for (const auto& folder : *list) {
      if (const auto* kit = survey::toolkit_of(context.snapshot, folder)) {
        known.add(folder, "of " + kit->root + ": " + about(*kit));
      }
    }
  }
  if (!command.targets.empty()) {
    known.add("targets", join(command.targets, " "));
  }
}

void tell_name(const Context& context, const Failure& failure, Known& known) {
  if (failure.name.empty()) {
    return;
  }
  for (const auto& kit : context.snapshot.toolkits) {
    if (const auto tool = kit.tools.find(failure.name); tool != kit.tools.end()) {
      known.add(tool->second.path, value_or(tool->second.version, "is here"));
    }
    if (const auto library = kit.libraries.find(failure.name); library != kit.libraries.end()) {
      known.add(library->second, "is here");
    }
    if (kit.headers.contains(failure.name)) {
      known.add(kit.include + "/" + failure.name, "is here");
    }
  }
  if (const auto component = component_of(failure.name); !component.empty()) {
    known.add(failure.name, fmt::format("by its name of {}", component));
  }
}

/// Whose lines name the CUDA compiler and toolkit, in small letters.
constexpr const char* k_builder = "cmake";

std::string lowered_text(const buildlog::Facts& facts) {
  std::string text;
  const auto add = [&](const std::string& more) { text += lower(more) + "\n"; };
  for (const auto* list : {&facts.failures, &facts.endings}) {
    for (const auto& failure : *list) {
      add(failure.text);
      add(failure.file);
      add(failure.tool);
    }
  }
  for (const auto& command : facts.commands) {
    add(command.text);
    for (const auto& folder : command.includes) {
      add(folder);
    }
  }
  for (const auto& package : facts.packages) {
    add(package);
  }
  for (const auto& phrase : facts.phrases) {
    add(phrase.text);
  }
  for (const auto& version : facts.versions) {
    add(version.what == "CUDA compiler" || version.what == "CUDA toolkit" ? k_builder
                                                                          : version.what);
  }
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

} // namespace

void tell_unexplained(const Context& context, Findings& findings) {
  const auto& facts = context.log.facts;
  const auto* first = first_of(facts);
  auto& finding = findings.add(RuleId::log_not_explained);
  Known known(finding);
  if (first == nullptr) {
    finding.cause = "the command failed, and what it printed does not say why";
  } else {
    finding.cause = fmt::format("{} said: {}", value_or(first->tool, "the build"), first->text);
    finding.log_line = first->line;
    known.add(fmt::format("log:{}", first->line), first->text);
    if (const auto* command = command_of(context, *first)) {
      tell_command(context, *command, known);
    }
    tell_name(context, *first, known);
  }
  for (const auto& version : facts.versions) {
    known.add(
        fmt::format("log:{}", version.line),
        std::string(trim(fmt::format("{} {} {}", version.what, version.version, version.path))));
  }
  const auto nvcc = nvcc_in_use(context);
  if (!nvcc.path.empty()) {
    known.add(nvcc.path, "nvcc " + value_or(nvcc.version, "of unknown version"));
  }
  finding.fix = {by_command(
      ShellCommand({"cukit", "snapshot"}).into("machine.json"),
      fmt::format("for a report: attach it with the log's lines around {}",
                  finding.log_line == 0 ? "its end" : std::to_string(finding.log_line)))};
}

void doubt_involved(const Context& context, std::vector<Found>& consumers) {
  const auto text = lowered_text(context.log.facts);
  const auto is_involved = [&](const Found& found) {
    const auto& present = context.recipe(found).discovery.present;
    if (is_any_build(found)) {
      return text.find(k_builder) != std::string::npos || text.find("make[") != std::string::npos;
    }
    auto names = present;
    names.push_back(found.consumer);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return text.find(lower(name)) != std::string::npos;
    });
  };
  const bool is_any = std::any_of(consumers.begin(), consumers.end(), is_involved);
  for (auto& found : consumers) {
    if (found.verdict == Verdict::works && (!is_any || is_involved(found))) {
      found.verdict = Verdict::unknown;
      found.why = "the log shows a build that failed";
    }
  }
}

} // namespace cukit::doctor

// `discovery:` of consumers/*.yaml
#include "base/strings.hpp"
#include "knowledge/parse.hpp"

#include <algorithm>

namespace cukit::knowledge {

namespace {

std::vector<DiscoveryStep> read_steps(text::Fields& fields, std::string_view key) {
  using Kind = DiscoveryStep::Kind;
  std::vector<DiscoveryStep> steps;
  for (const auto* node : fields.texts(key)) {
    const std::string_view text = node->scalar;
    const auto space = text.find(' ');
    const auto word = text.substr(0, space);
    DiscoveryStep step;
    if (space != std::string_view::npos) {
      step.argument = text.substr(space + 1);
    }
    if (word == "env") {
      step.kind = Kind::variable;
    } else if (word == "which") {
      step.kind = Kind::which;
    } else if (word == "folder") {
      step.kind = Kind::folder;
    } else if (word == "wheel") {
      step.kind = Kind::wheel;
    } else if (word == "include") {
      step.kind = Kind::include;
    } else if (word == "conda") {
      step.kind = Kind::conda;
    } else if (word == "flag") {
      step.kind = Kind::flag;
      const auto next = std::min(step.argument.find(' '), step.argument.size());
      step.option = step.argument.substr(std::min(next + 1, step.argument.size()));
      step.argument.erase(next);
    } else {
      fields.mistakes().add(node->at, fmt::format("`{}` is no place to look at", printable(text)),
                            "env NAME, include NAME, which PROGRAM, folder DIR, wheel PATH, conda "
                            "or flag NAME OPTION=");
      continue;
    }
    if (step.argument.empty() != (step.kind == Kind::conda) ||
        step.option.empty() != (step.kind != Kind::flag)) {
      fields.mistakes().add(node->at,
                            fmt::format("`{}` has {} word", printable(text),
                                        step.kind == Kind::conda ? "a needless" : "too few"));
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

} // namespace

Discovery read_discovery(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields fields(node, mistakes, "`discovery`");
  Discovery result;
  result.present = fields.strings("present");
  result.only_asked = fields.flag("only_asked");
  if (const auto* compiles = fields.text("compiles")) {
    result.compiles = compiles->scalar;
    if (result.compiles != "nvcc" && result.compiles != "nvrtc" && result.compiles != "ptxas") {
      mistakes.add(compiles->at, "`compiles` must be nvcc, nvrtc or ptxas");
    }
  }
  result.root = read_steps(fields, "root");
  result.nvcc = read_steps(fields, "nvcc");
  result.nvcc_last = read_steps(fields, "nvcc_last");
  result.ptxas = read_steps(fields, "ptxas");
  result.ptxas_blackwell = read_steps(fields, "ptxas_blackwell");
  result.libraries = fields.strings("libraries");
  result.libraries_else = fields.text_or_empty("libraries_else");
  result.links = fields.strings("links");
  result.tools = fields.strings("tools");
  result.gate = fields.text_or_empty("gate");
  result.gate_variable = fields.text_or_empty("gate_variable");
  result.is_checked = fields.flag("checked");
  result.is_runtime = fields.flag("runtime");
  result.needs_activation = fields.flag("activation");
  result.needs_libdevice = fields.flag("libdevice");
  result.has_torch_major = fields.flag("torch_major");
  result.includes_cccl = fields.flag("cccl");
  result.replaced_by = fields.text_or_empty("replaced_by");
  result.companions = fields.strings("companions");
  result.versions_of = fields.text_or_empty("versions_of");
  return result;
}

bool brings(const Discovery& discovery, std::string_view distribution) {
  return std::any_of(discovery.present.begin(), discovery.present.end(), [&](std::string_view one) {
    return one.ends_with('*') ? distribution.starts_with(one.substr(0, one.size() - 1))
                              : distribution == one;
  });
}

} // namespace cukit::knowledge

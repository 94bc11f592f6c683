// `discovery:` of consumers/*.yaml
#include "base/strings.hpp"
#include "knowledge/parse.hpp"

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
    } else if (word == "conda") {
      step.kind = Kind::conda;
    } else if (word == "flag") {
      step.kind = Kind::flag;
    } else {
      fields.mistakes().add(node->at, fmt::format("`{}` is no place to look at", printable(text)),
                            "env NAME, which PROGRAM, folder DIR, wheel PATH, conda or flag NAME=");
      continue;
    }
    if (step.argument.empty() != (step.kind == Kind::conda)) {
      fields.mistakes().add(node->at,
                            fmt::format("`{}` has {} word", printable(text),
                                        step.argument.empty() ? "too few" : "a needless"));
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
  result.is_checked = fields.flag("checked");
  result.is_runtime = fields.flag("runtime");
  result.needs_libdevice = fields.flag("libdevice");
  result.has_torch_major = fields.flag("torch_major");
  result.includes_cccl = fields.flag("cccl");
  result.replaced_by = fields.text_or_empty("replaced_by");
  result.companions = fields.strings("companions");
  result.versions_of = fields.text_or_empty("versions_of");
  return result;
}

} // namespace cukit::knowledge

// knowledge/variables.yaml, and the same keys of consumers/*.yaml
#include "base/strings.hpp"
#include "knowledge/parse.hpp"
#include "model/tree_layout.hpp"

#include <algorithm>

namespace cukit::knowledge {

namespace {

using Joins = SetVariable::Joins;

/// A program may look for a variable that no shell can name (Triton 3.3 does); `=` ends a name.
void check_name(text::Mistakes& mistakes, text::Position at, std::string_view name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (name.empty() || !is_plain || std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
    mistakes.add(at, fmt::format("`{}` is no name of a variable", printable(name)));
  }
}

/// What `cukit env` fills in; another name in braces would reach the variable as it stands.
void check_value(text::Mistakes& mistakes, text::Position at, std::string_view value) {
  static const std::vector<std::string> known{"tree", "id", "jit"};
  for (auto open = value.find('{'); open != std::string_view::npos;
       open = value.find('{', open + 1)) {
    const auto close = std::min(value.find('}', open), value.size());
    const std::string name(value.substr(open + 1, close - open - 1));
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto near = text::suggestion(name, known);
      mistakes.add(at, fmt::format("nothing is put in for `{{{}}}`", printable(name)),
                   near.empty() ? "{tree}, {id} and {jit} are filled in" : near);
    }
  }
}

std::vector<std::string> names(text::Fields& fields, std::string_view key) {
  std::vector<std::string> result;
  for (const auto* node : fields.texts(key)) {
    check_name(fields.mistakes(), node->at, node->scalar);
    result.push_back(node->scalar);
  }
  return result;
}

SetVariable read_set(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields fields(node, mistakes, "a variable");
  SetVariable variable{.name = fields.required_text("name"),
                       .value = fields.required_text("value")};
  check_name(mistakes, node.at, variable.name);
  if (const auto* value = node.find("value")) {
    check_value(mistakes, value->at, variable.value);
  }
  const auto joins = fields.text_or_empty("joins");
  if (joins == "before") {
    variable.joins = Joins::before;
  } else if (joins == "after") {
    variable.joins = Joins::after;
  } else if (!joins.empty()) {
    mistakes.add(node.at, "`joins` must be before or after");
  }
  return variable;
}

} // namespace

bool names_ptxas(const SetVariable& variable) {
  return variable.value == fmt::format("{{tree}}/{}", layout::k_ptxas);
}

std::vector<SetVariable> read_environment(text::Fields& fields) {
  std::vector<SetVariable> result;
  for (const auto& [key, joins] :
       {std::pair{"environment", Joins::nothing}, std::pair{"appends", Joins::after}}) {
    for (auto& [name, value] : fields.pairs(key)) {
      const auto* node = fields.take(key);
      const auto* text = node->find(name);
      const auto at = text == nullptr ? node->at : text->at;
      check_name(fields.mistakes(), at, name);
      check_value(fields.mistakes(), at, value);
      result.push_back({.name = std::move(name), .value = std::move(value), .joins = joins});
    }
  }
  return result;
}

Reach read_reach(text::Fields& fields) {
  const auto* node = fields.take("reach");
  if (node == nullptr) {
    return {};
  }
  text::Fields inner(*node, fields.mistakes(), "`reach`");
  return {.roots = names(inner, "roots"),
          .programs = names(inner, "programs"),
          .folders = names(inner, "folders"),
          .flags = names(inner, "flags")};
}

Result<CommonVariables> parse_variables(std::string_view text, const std::string& name) {
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, name));
  text::Mistakes mistakes(name);
  CommonVariables result;
  {
    text::Fields fields(root, mistakes, "the file");
    if (const auto* list = fields.require("set"); list != nullptr && list->is_list()) {
      for (const auto& node : list->items) {
        result.set.push_back(read_set(node, mistakes));
      }
    } else if (list != nullptr) {
      mistakes.add(list->at, "`set` must be a list");
    }
    result.reach = read_reach(fields);
    result.host_compiler = names(fields, "host_compiler");
    result.c_compiler = names(fields, "c_compiler");
    result.others = fields.strings("others");
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return result;
}

} // namespace cukit::knowledge

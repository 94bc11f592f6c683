// recipes/kernels/NAME/kernel.yaml -> Kernel
#include "base/limits.hpp"
#include "base/strings.hpp"
#include "knowledge/suites.hpp"
#include "model/relative_path.hpp"
#include "text/fields.hpp"
#include "validate/number.hpp"
#include "validate/validate.hpp"

#include <algorithm>
#include <cmath>

namespace cukit::validate {

namespace {

constexpr std::string_view k_folder = "kernels/";
constexpr std::string_view k_description = "/kernel.yaml";

std::optional<double> read_number(text::Mistakes& mistakes, const text::Node& node) {
  const auto value = node.is_scalar() ? parse_number(node.scalar) : std::nullopt;
  if (!value || !std::isfinite(*value)) {
    mistakes.add(node.at, fmt::format("`{}` is no number", printable(node.scalar)));
    return std::nullopt;
  }
  return value;
}

/// `sum: 12`, or `sum: {value: 0.5, tolerance: 1e-6}`
Expected read_expected(text::Mistakes& mistakes, const text::Node& node) {
  if (!node.is_map()) {
    return Expected{.value = read_number(mistakes, node).value_or(0)};
  }
  text::Fields fields(node, mistakes, "an expected number");
  Expected expected;
  if (const auto* value = fields.require("value")) {
    expected.value = read_number(mistakes, *value).value_or(0);
  }
  if (const auto* tolerance = fields.require("tolerance")) {
    expected.tolerance = read_number(mistakes, *tolerance).value_or(0);
    if (expected.tolerance < 0) {
      mistakes.add(tolerance->at, "a tolerance is not negative");
    }
  }
  return expected;
}

void read_numbers(text::Fields& fields, Kernel& kernel) {
  const auto* node = fields.require("numbers");
  if (node == nullptr) {
    return;
  }
  if (!node->is_map() || node->members.empty()) {
    fields.mistakes().add(
        node->at,
        "`numbers` is a map with at least one number: a program that proves nothing is no test");
    return;
  }
  for (const auto& [name, value] : node->members) {
    kernel.numbers.emplace(name.scalar, read_expected(fields.mistakes(), value));
  }
}

void read_sources(text::Fields& fields, Kernel& kernel) {
  for (const auto* node : fields.texts("sources")) {
    if (std::find(kernel.files.begin(), kernel.files.end(), node->scalar) == kernel.files.end()) {
      fields.mistakes().add(node->at, fmt::format("there is no file `{}` beside kernel.yaml",
                                                  printable(node->scalar)));
    }
    kernel.sources.push_back(node->scalar);
  }
  if (kernel.sources.empty()) {
    kernel.sources.emplace_back("kernel.cu");
  }
}

void read_targets(text::Fields& fields, Kernel& kernel) {
  kernel.targets = fields.required_text("targets");
  if (!kernel.targets.empty() && kernel.targets != "plain" && kernel.targets != "specific") {
    fields.mistakes().add(fields.text("targets")->at, "`targets` must be plain or specific");
  }
  for (const auto* node : fields.texts("only")) {
    const auto target = fields.parse_node(*node, GpuTarget::parse);
    if (target && *target != target->plain()) {
      fields.mistakes().add(node->at, "`only` names plain targets, such as sm_90");
    }
    kernel.only.push_back(target ? target->sm() : node->scalar);
  }
}

void read_libraries(text::Fields& fields, Kernel& kernel) {
  for (const auto* node : fields.texts("libraries")) {
    std::string_view path = node->scalar;
    if (path.ends_with('*')) {
      path.remove_suffix(1);
    }
    const auto parsed = RelativePath::parse(path);
    if (!parsed || path.find('*') != std::string_view::npos || parsed->parent().text() != "lib") {
      fields.mistakes().add(node->at,
                            fmt::format("`{}` is no file in lib/", printable(node->scalar)));
    }
    kernel.libraries.push_back(node->scalar);
  }
}

Result<Kernel> read_kernel(std::string_view text, const std::string& file, std::string name,
                           std::vector<std::string> files) {
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, file));
  text::Mistakes mistakes(file);
  Kernel kernel;
  kernel.name = std::move(name);
  kernel.files = std::move(files);
  {
    text::Fields fields(root, mistakes, "the kernel");
    kernel.summary = fields.required_text("summary");
    kernel.suites = fields.strings("suites");
    read_sources(fields, kernel);
    kernel.flags = fields.strings("flags");
    kernel.needs = fields.strings("needs");
    read_targets(fields, kernel);
    read_libraries(fields, kernel);
    kernel.emits = fields.flag("emits");
    read_numbers(fields, kernel);
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return kernel;
}

/// Files of each folder below kernels/ that holds a kernel.yaml, without that one.
std::map<std::string, std::vector<std::string>>
group_by_kernel(const std::vector<std::string>& paths) {
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& path : paths) {
    const auto inside = std::string_view(path).substr(k_folder.size());
    const auto slash = inside.find('/');
    if (slash != std::string_view::npos) {
      all[std::string(inside.substr(0, slash))].emplace_back(inside.substr(slash + 1));
    }
  }
  for (auto entry = all.begin(); entry != all.end();) {
    const bool is_kernel = std::erase(entry->second, std::string(k_description.substr(1))) > 0;
    entry = is_kernel ? std::next(entry) : all.erase(entry); // common/ is none
  }
  return all;
}

Result<void> check_suites(const knowledge::Knowledge& knowledge,
                          const std::vector<std::string>& suites) {
  if (suites.empty()) {
    return {};
  }
  CUKIT_TRY_ASSIGN(const auto known, knowledge::suite_names(knowledge));
  for (const auto& suite : suites) {
    if (std::find(known.begin(), known.end(), suite) == known.end()) {
      auto error =
          Error{.code = ErrorCode::usage,
                .message = fmt::format("there is no suite `{}` of kernels", printable(suite))};
      error.hint = "the suites are: " + join(known, ", ");
      return tl::unexpected<Error>(std::move(error));
    }
  }
  return {};
}

} // namespace

std::string_view state_text(State state) {
  switch (state) {
  case State::passed:
    return "passed";
  case State::failed:
    return "failed";
  case State::not_run:
    return "not_run";
  case State::not_applicable:
    return "not_applicable";
  }
  return "failed";
}

Result<std::vector<Kernel>> load_kernels(const knowledge::Knowledge& knowledge,
                                         const std::vector<std::string>& suites) {
  CUKIT_TRY_ASSIGN(const auto paths,
                   knowledge.list(std::string(k_folder.substr(0, k_folder.size() - 1))));
  std::vector<Kernel> kernels;
  for (auto& [name, files] : group_by_kernel(paths)) {
    const std::string path = std::string(k_folder) + name + std::string(k_description);
    CUKIT_TRY_ASSIGN(const auto text, knowledge.read(path));
    CUKIT_TRY_ASSIGN(auto kernel,
                     read_kernel(text, knowledge.display(path), name, std::move(files)));
    kernels.push_back(std::move(kernel));
  }
  CUKIT_TRY(check_suites(knowledge, suites));
  std::erase_if(kernels, [&](const Kernel& kernel) {
    return !suites.empty() && std::none_of(suites.begin(), suites.end(), [&](const auto& suite) {
      return std::find(kernel.suites.begin(), kernel.suites.end(), suite) != kernel.suites.end();
    });
  });
  return kernels;
}

} // namespace cukit::validate

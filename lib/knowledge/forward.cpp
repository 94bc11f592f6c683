#include "knowledge/forward.hpp"

#include "base/strings.hpp"
#include "text/fields.hpp"
#include "text/yaml_source.hpp"

#include <algorithm>

namespace cukit::knowledge {

bool ForwardCompatibility::allows(const GpuTarget& target, std::string_view name) const {
  if (std::find(targets.begin(), targets.end(), target.plain()) != targets.end()) {
    return true;
  }
  // "NVIDIA L4", "Tesla T4": the product is the last word.
  const auto words = split_words(name);
  return !words.empty() && std::any_of(products.begin(), products.end(), [&](const auto& product) {
    return lower(product) == lower(words.back());
  });
}

Result<ForwardCompatibility> forward_compatibility(const Knowledge& knowledge) {
  const std::string file = "knowledge/forward.yaml";
  CUKIT_TRY_ASSIGN(const auto text, knowledge.read(file));
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, knowledge.display(file)));
  CUKIT_TRY_ASSIGN(const auto* architectures, knowledge.architectures());
  text::Mistakes mistakes(knowledge.display(file));
  ForwardCompatibility result;
  {
    text::Fields fields(root, mistakes, "the file");
    result.evidence = fields.required_text("evidence");
    for (const auto* node : fields.texts("targets")) {
      if (const auto target = fields.parse_node(
              *node, [](const std::string& value) { return GpuTarget::parse(value); })) {
        if (find_architecture(*architectures, *target) == nullptr) {
          mistakes.add(node->at, fmt::format("there is no GPU of compute capability `{}`",
                                             printable(node->scalar)));
        }
        result.targets.push_back(*target);
      }
    }
    result.products = fields.strings("products");
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return result;
}

} // namespace cukit::knowledge

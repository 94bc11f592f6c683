#include "knowledge/suites.hpp"

#include "text/node.hpp"

#include <set>

namespace cukit::knowledge {

Result<std::vector<std::string>> suite_names(const Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto paths, knowledge.list("kernels"));
  std::set<std::string> suites;
  for (const auto& path : paths) {
    if (!path.ends_with("/kernel.yaml")) {
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto text, knowledge.read(path));
    CUKIT_TRY_ASSIGN(const auto kernel, text::parse_yaml(text, knowledge.display(path)));
    const auto* node = kernel.find("suites");
    if (node != nullptr && node->is_scalar()) {
      suites.insert(node->scalar);
    } else if (node != nullptr) {
      for (const auto& suite : node->items) {
        suites.insert(suite.scalar);
      }
    }
  }
  return std::vector<std::string>(suites.begin(), suites.end());
}

} // namespace cukit::knowledge

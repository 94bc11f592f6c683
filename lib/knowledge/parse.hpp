// Recipe files to values. Every function reports all mistakes of its file at once.
#pragma once

#include "knowledge/knowledge.hpp"
#include "text/fields.hpp"

namespace cukit::knowledge {

using Groups = std::map<std::string, std::vector<std::string>>;

/// `name` is what messages call the file.
Result<std::vector<Release>> parse_releases(std::string_view text, const std::string& name);
Result<std::vector<Architecture>> parse_architectures(std::string_view text,
                                                      const std::string& name);
Result<std::vector<Product>> parse_products(std::string_view text, const std::string& name);
Result<std::vector<PyTorch>> parse_pytorch(std::string_view text, const std::string& name);
Result<std::map<std::string, Sha256>> parse_pins(std::string_view text, const std::string& name);
Result<std::vector<ReleaseTable>> parse_tables(std::string_view text, const std::string& name);
Result<std::vector<TorchRelease>> parse_torch_releases(std::string_view text,
                                                       const std::string& name);
Result<std::vector<LeastGlibc>> parse_least_glibc(std::string_view text, const std::string& name);
Result<Limits> parse_limits(std::string_view text, const std::string& name);
Result<CommonVariables> parse_variables(std::string_view text, const std::string& name);
/// `components` are the names that there are: a group, a component or a consumer that speaks of
/// another one is a mistake.
Result<Groups> parse_groups(std::string_view text, const std::string& name,
                            const std::vector<std::string>& components);
/// `id` is the component's or consumer's name: the file's, without .yaml.
Result<Component> parse_component(std::string_view text, const std::string& name, std::string id,
                                  const std::vector<std::string>& components);
Result<Consumer> parse_consumer(std::string_view text, const std::string& name, std::string id,
                                const Groups& groups, const std::vector<std::string>& components);

/// A mistake where `node` names none of `known`; `what` is what they are: "component".
void check_known(text::Mistakes& mistakes, const text::Node& node, std::string_view what,
                 const std::vector<std::string>& known);

/// `environment` and `appends` of a consumer.
std::vector<SetVariable> read_environment(text::Fields& fields);
/// `reach`, in a consumer or in variables.yaml.
Reach read_reach(text::Fields& fields);
/// `discovery` of a consumer.
Discovery read_discovery(const text::Node& node, text::Mistakes& mistakes);

/// For keys that hold versions and numbers; 0 and a mistake when they do not.
Version required_version(text::Fields& fields, std::string_view key);
int required_number(text::Fields& fields, std::string_view key);
/// documented, tested, derived or uncertain.
std::string required_evidence(text::Fields& fields);

/// Items of the list `key` of a file, each read by `read`.
template <typename T, typename Read>
Result<std::vector<T>> read_list(std::string_view text, const std::string& name,
                                 std::string_view key, const Read& read) {
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, name));
  text::Mistakes mistakes(name);
  std::vector<T> result;
  {
    text::Fields fields(root, mistakes, "the file");
    const auto* list = fields.require(key);
    if (list != nullptr && !list->is_list()) {
      mistakes.add(list->at, fmt::format("`{}` must be a list", key));
    } else if (list != nullptr) {
      for (const auto& item : list->items) {
        result.push_back(read(item, mistakes));
      }
    }
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return result;
}

} // namespace cukit::knowledge

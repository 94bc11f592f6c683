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
Result<Groups> parse_groups(std::string_view text, const std::string& name);
/// `id` is the component's or consumer's name: the file's, without .yaml.
Result<Component> parse_component(std::string_view text, const std::string& name, std::string id);
Result<Consumer> parse_consumer(std::string_view text, const std::string& name, std::string id,
                                const Groups& groups);

/// `discovery` of a consumer.
Discovery read_discovery(const text::Node& node, text::Mistakes& mistakes);

/// For keys that hold versions and numbers; 0 and a mistake when they do not.
Version required_version(text::Fields& fields, std::string_view key);
int required_number(text::Fields& fields, std::string_view key);
/// documented, tested, derived or uncertain.
std::string required_evidence(text::Fields& fields);

} // namespace cukit::knowledge

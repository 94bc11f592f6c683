// components/*.yaml, consumers/*.yaml and groups.yaml
#include "base/strings.hpp"
#include "knowledge/parse.hpp"
#include "model/relative_path.hpp"

#include <algorithm>

namespace cukit::knowledge {

namespace {

/// Paths of a recipe reach the lock and the tree: they must be as good as those of an archive. A
/// trailing / stands for a folder.
void check_path(text::Mistakes& mistakes, text::Position at, std::string_view path) {
  if (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  if (const auto parsed = RelativePath::parse(path); !parsed || parsed->empty()) {
    mistakes.add(at, fmt::format("`{}` is no path inside a tree", printable(path)));
  }
}

std::vector<std::string> paths(text::Fields& fields, std::string_view key) {
  std::vector<std::string> result;
  for (const auto* node : fields.texts(key)) {
    check_path(fields.mistakes(), node->at, node->scalar);
    result.push_back(node->scalar);
  }
  return result;
}

void check_follows(text::Fields& fields, const std::string& follows) {
  if (!follows.empty() && follows != "core" && follows != "release" && follows != "binutils" &&
      follows != "own") {
    fields.mistakes().add(fields.text("follows")->at,
                          "`follows` must be core, release, binutils or own");
  }
}

void check_moves(text::Fields& fields,
                 const std::vector<std::pair<std::string, std::string>>& moves) {
  for (const auto& [from, to] : moves) {
    const auto at = fields.take("move")->at;
    check_path(fields.mistakes(), at, from);
    check_path(fields.mistakes(), at, to);
    if (from.ends_with('/') != to.ends_with('/')) {
      fields.mistakes().add(
          at, fmt::format("`{} -> {}` moves a folder to a file or a file to a folder", from, to));
    }
  }
}

RedistRecipe::Older read_older(const text::Node& node, text::Mistakes& mistakes,
                               const std::vector<std::string>& components) {
  text::Fields fields(node, mistakes, "`older`");
  RedistRecipe::Older older;
  older.before = required_version(fields, "before");
  if (const auto* within = fields.text("within")) {
    check_known(mistakes, *within, "component", components);
    older.within = within->scalar;
  }
  older.files = paths(fields, "files");
  older.provides = paths(fields, "provides");
  if (older.within.empty() != older.files.empty()) {
    mistakes.add(node.at, "`within` and `files` go together");
  }
  return older;
}

/// What is not said is as in the wheel.
RedistRecipe read_redist(text::Fields& component_fields, const Component& component,
                         const std::vector<std::string>& components) {
  RedistRecipe redist;
  redist.headers = component.headers;
  redist.provides = component.provides;
  const auto* node = component_fields.take("redist");
  if (node == nullptr) {
    return redist;
  }
  text::Fields fields(*node, component_fields.mistakes(), "`redist`");
  if (const auto product = fields.text_or_empty("product"); !product.empty()) {
    redist.product = product;
  }
  redist.names = fields.strings("names");
  redist.evidence = required_evidence(fields);
  if (auto headers = paths(fields, "headers"); !headers.empty()) {
    redist.headers = std::move(headers);
  }
  redist.leave = paths(fields, "leave");
  redist.move = fields.pairs("move");
  check_moves(fields, redist.move);
  if (auto provides = paths(fields, "provides"); !provides.empty()) {
    redist.provides = std::move(provides);
  }
  if (const auto* older = fields.take("older")) {
    redist.older = read_older(*older, fields.mistakes(), components);
  }
  return redist;
}

std::map<std::string, std::vector<std::string>> read_parts(text::Fields& fields) {
  std::map<std::string, std::vector<std::string>> parts;
  const auto* map = fields.take("parts");
  if (map != nullptr) {
    text::Fields inner(*map, fields.mistakes(), "`parts`");
    for (const auto& [name, list] : map->members) {
      parts.emplace(name.scalar, paths(inner, name.scalar));
    }
  }
  return parts;
}

Component read_component(text::Fields& fields, std::string id,
                         const std::vector<std::string>& components) {
  Component component;
  component.summary = fields.required_text("summary");
  component.project = fields.text_or_empty("project");
  component.extra = fields.text_or_empty("extra");
  component.follows = fields.required_text("follows");
  check_follows(fields, component.follows);
  component.has_minor_of_nvcc = fields.flag("same_minor");
  for (const auto* need : fields.texts("needs")) {
    check_known(fields.mistakes(), *need, "component", components);
    component.needs.push_back(need->scalar);
  }
  for (const auto* node : fields.texts("platforms")) {
    if (const auto platform = fields.parse_node(*node, Platform::parse)) {
      component.platforms.push_back(*platform);
    }
  }
  component.headers = paths(fields, "headers");
  component.leave = paths(fields, "leave");
  component.provides = paths(fields, "provides");
  component.parts = read_parts(fields);
  component.move = fields.pairs("move");
  component.link = fields.pairs("link");
  if (const auto licence = fields.text_or_empty("licence"); !licence.empty()) {
    component.licence = licence;
  }
  if (const auto root = fields.text_or_empty("root"); !root.empty()) {
    component.root = root;
  }
  if (component.extra.empty()) {
    component.extra = id;
  }
  component.redist = read_redist(fields, component, components);
  if (component.project.empty() && component.redist.names.empty()) {
    component.project = fields.required_text("project"); // some source must have it
  }
  component.name = std::move(id);
  return component;
}

void check_moves_and_links(text::Fields& fields, const Component& component) {
  check_moves(fields, component.move);
  for (const auto& [name, target] : component.link) {
    const auto at = fields.take("link")->at;
    const auto path = RelativePath::parse(name);
    if (!path || !resolve_link(*path, target)) {
      fields.mistakes().add(at, fmt::format("`{} -> {}` is no link inside a tree", printable(name),
                                            printable(target)));
    }
  }
}

ArchVariable read_arch_variable(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields inner(node, mistakes, "`architectures`");
  ArchVariable result{.name = inner.required_text("variable"),
                      .style = inner.required_text("style"),
                      .separator = inner.required_text("separator")};
  if (result.style != "family" && result.style != "plain" && result.style != "number" &&
      result.style != "major") {
    mistakes.add(node.at, "`style` must be family, plain, number or major");
  }
  return result;
}

/// One, or a list of them.
std::vector<const text::Node*> items_of(const text::Node& node) {
  if (!node.is_list()) {
    return {&node};
  }
  std::vector<const text::Node*> result;
  for (const auto& item : node.items) {
    result.push_back(&item);
  }
  return result;
}

CachePlace read_cache(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields fields(node, mistakes, "a cache");
  CachePlace cache{.variable = fields.text_or_empty("variable"),
                   .usual = fields.text_or_empty("usual"),
                   .below = fields.text_or_empty("below"),
                   .entries = fields.strings("entries")};
  const auto holds = fields.required_text("holds");
  if (holds != "builds" && holds != "kernels") {
    mistakes.add(node.at, "`holds` must be builds or kernels");
  }
  cache.holds_kernels = holds == "kernels";
  // what is at no fixed depth below a place of its own must never be taken for a cache
  if (cache.entries.empty() || (cache.usual.empty() && cache.below.empty())) {
    mistakes.add(node.at, "a cache needs `entries`, and `usual` or `below`");
  }
  for (const auto* part : {&cache.usual, &cache.below}) {
    if (!part->empty()) {
      check_path(mistakes, node.at, *part);
    }
  }
  for (const auto& entry : cache.entries) {
    check_path(mistakes, node.at, entry);
  }
  return cache;
}

/// Components, and those of groups, each once.
std::vector<std::string> read_needs(text::Fields& fields, const Groups& groups,
                                    const std::vector<std::string>& components) {
  auto known = components;
  for (const auto& [name, members] : groups) {
    known.push_back(name);
  }
  std::vector<std::string> result;
  for (const auto* node : fields.texts("needs")) {
    check_known(fields.mistakes(), *node, "component or group", known);
    const auto group = groups.find(node->scalar);
    for (const auto& member :
         group == groups.end() ? std::vector<std::string>{node->scalar} : group->second) {
      if (std::find(result.begin(), result.end(), member) == result.end()) {
        result.push_back(member);
      }
    }
  }
  return result;
}

/// any, 12.x or 12.0: other patterns would never match, and nobody would notice.
bool is_target_pattern(const std::string& pattern) {
  const auto target = GpuTarget::parse(
      pattern.ends_with(".x") ? pattern.substr(0, pattern.size() - 1) + "0" : pattern);
  return pattern == "any" || (target && (pattern == target->plain().dotted() ||
                                         pattern == fmt::format("{}.x", target->major)));
}

std::map<std::string, std::string> read_minimum(text::Fields& fields) {
  std::map<std::string, std::string> result;
  const auto* node = fields.take("minimum");
  for (auto& [target, nvcc] : fields.pairs("minimum")) {
    const auto* value = node->find(target);
    const auto at = value == nullptr ? node->at : value->at;
    if (const auto version = Version::parse(nvcc); !version) {
      fields.mistakes().add(at, version.error().message);
    }
    if (!is_target_pattern(target)) {
      fields.mistakes().add(at, fmt::format("`{}` stands for no targets", printable(target)),
                            R"("12.0", "12.x" or any)");
    }
    result.emplace(std::move(target), std::move(nvcc));
  }
  return result;
}

Consumer read_consumer(text::Fields& fields, std::string id, const Groups& groups,
                       const std::vector<std::string>& components) {
  Consumer consumer;
  consumer.name = std::move(id);
  consumer.title = fields.text_or_empty("title");
  if (consumer.title.empty()) {
    consumer.title = consumer.name;
  }
  consumer.summary = fields.required_text("summary");
  consumer.needs = read_needs(fields, groups, components);
  for (const auto* node : fields.texts("headers")) {
    check_known(fields.mistakes(), *node, "component", components);
    consumer.headers.push_back(node->scalar);
  }
  consumer.minimum = read_minimum(fields);
  consumer.prebuilt = fields.strings("prebuilt");
  if (const auto* bundle = fields.text("bundle")) {
    check_path(fields.mistakes(), bundle->at, bundle->scalar);
    consumer.bundle = bundle->scalar;
  }
  consumer.why = fields.required_text("why");
  consumer.environment = read_environment(fields);
  consumer.reach = read_reach(fields);
  consumer.variables = fields.strings("variables");
  if (const auto* caches = fields.take("caches")) {
    for (const auto* node : items_of(*caches)) {
      consumer.caches.push_back(read_cache(*node, fields.mistakes()));
    }
  }
  if (const auto* takes = fields.take("takes")) {
    text::Fields inner(*takes, fields.mistakes(), "`takes`");
    consumer.takes_ptxas = inner.parsed("ptxas", VersionRange::parse);
  }
  if (const auto* architectures = fields.take("architectures")) {
    for (const auto* node : items_of(*architectures)) {
      consumer.arch_variables.push_back(read_arch_variable(*node, fields.mistakes()));
    }
  }
  if (const auto* discovery = fields.take("discovery")) {
    consumer.discovery = read_discovery(*discovery, fields.mistakes());
  }
  return consumer;
}

} // namespace

void check_known(text::Mistakes& mistakes, const text::Node& node, std::string_view what,
                 const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), node.scalar) == known.end()) {
    mistakes.add(node.at, fmt::format("there is no {} `{}`", what, printable(node.scalar)),
                 text::suggestion(node.scalar, known));
  }
}

Result<Groups> parse_groups(std::string_view text, const std::string& name,
                            const std::vector<std::string>& components) {
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, name));
  text::Mistakes mistakes(name);
  Groups groups;
  {
    text::Fields fields(root, mistakes, "the file");
    if (const auto* map = fields.require("groups")) {
      text::Fields inner(*map, mistakes, "`groups`");
      for (const auto& [group, list] : map->members) {
        auto& members = groups[group.scalar];
        for (const auto* member : inner.texts(group.scalar)) {
          check_known(mistakes, *member, "component", components);
          members.push_back(member->scalar);
        }
      }
    }
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return groups;
}

Result<Component> parse_component(std::string_view text, const std::string& name, std::string id,
                                  const std::vector<std::string>& components) {
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, name));
  text::Mistakes mistakes(name);
  Component component;
  {
    text::Fields fields(root, mistakes, "a component");
    component = read_component(fields, std::move(id), components);
    check_moves_and_links(fields, component);
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return component;
}

namespace {

/// What an older version does not say is as in the newest; of `discovery` each key by itself.
text::Node merged(const text::Node& newest, const text::Node& older) {
  text::Node result = newest;
  std::erase_if(result.members, [&](const auto& member) {
    return member.first.scalar == "versions" ||
           (older.find(member.first.scalar) != nullptr && member.first.scalar != "discovery");
  });
  for (const auto& member : older.members) { // clang 14 lets no lambda have a binding
    const auto& key = member.first;
    const auto& value = member.second;
    const auto same = std::find_if(result.members.begin(), result.members.end(),
                                   [&](const auto& one) { return one.first.scalar == key.scalar; });
    if (same != result.members.end() && value.is_map()) {
      same->second = merged(same->second, value);
    } else if (key.scalar != "when") {
      result.members.emplace_back(key, value);
    }
  }
  return result;
}

void read_versions(Consumer& consumer, const text::Node& versions, const text::Node& root,
                   text::Mistakes& mistakes, const Groups& groups,
                   const std::vector<std::string>& components) {
  for (const auto* node : items_of(versions)) {
    const auto* when = node->find("when");
    const auto range = when == nullptr || !when->is_scalar() ? tl::unexpected<Error>(Error{})
                                                             : VersionRange::parse(when->scalar);
    if (!node->is_map() || !range) {
      mistakes.add(node->at, "an item of `versions` needs `when` with a range of versions",
                   R"(when: "<3.5")");
      continue;
    }
    const auto whole = merged(root, *node);
    text::Fields fields(whole, mistakes, "an item of `versions`");
    consumer.versions.push_back(read_consumer(fields, consumer.name, groups, components));
    consumer.versions.back().when = *range;
  }
}

} // namespace

Result<Consumer> parse_consumer(std::string_view text, const std::string& name, std::string id,
                                const Groups& groups, const std::vector<std::string>& components) {
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, name));
  text::Mistakes mistakes(name);
  Consumer consumer;
  const text::Node* versions = nullptr;
  {
    text::Fields fields(root, mistakes, "a consumer");
    consumer = read_consumer(fields, std::move(id), groups, components);
    versions = fields.take("versions");
  }
  if (versions != nullptr && mistakes.empty()) {
    read_versions(consumer, *versions, root, mistakes, groups, components);
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return consumer;
}

} // namespace cukit::knowledge

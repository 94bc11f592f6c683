#include "exports/environment.hpp"

#include "base/strings.hpp"
#include "fit/targets.hpp"
#include "knowledge/arch_list.hpp"

#include <algorithm>

namespace cukit::exports {

namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

class Builder {
public:
  explicit Builder(const Request& request) : request_(request) {
    result_.tree = request.tree;
    result_.jit = request.jit;
  }

  void add(const Variable& variable) {
    constexpr std::string_view inside = "{tree}/";
    // A tool that this tree does not hold is not pointed at.
    if (is_set(variable.name) ||
        (variable.value.starts_with(inside) &&
         !path_exists((request_.seen_at.empty() ? request_.tree : request_.seen_at) /
                      variable.value.substr(inside.size())))) {
      return;
    }
    auto filled = variable;
    replace_all(filled.value, "{tree}", request_.tree.string());
    replace_all(filled.value, "{id}", request_.id);
    replace_all(filled.value, "{jit}", request_.jit.string());
    result_.set.push_back(std::move(filled));
  }
  void add(const knowledge::Reach& reach) {
    add(reach.roots, result_.reach.roots);
    add(reach.programs, result_.reach.programs);
    add(reach.folders, result_.reach.folders);
    add(reach.flags, result_.reach.flags);
  }
  void add(const knowledge::Consumer& newest) {
    const auto known = request_.versions.find(newest.name);
    const auto& consumer = knowledge::at_version(
        newest, known == request_.versions.end() ? std::nullopt : std::optional(known->second));
    const bool takes_ptxas =
        !request_.ptxas || !fit::accepts_ptxas(consumer, *request_.ptxas).is_refused();
    for (const auto& variable : consumer.environment) {
      if ((variable.joins == Joins::nothing || contains(request_.named, consumer.name)) &&
          (takes_ptxas || !knowledge::names_ptxas(variable))) {
        add(variable);
      }
    }
    for (const auto& list : consumer.arch_variables) {
      if (!request_.gpus.empty()) {
        add(Variable{.name = list.name,
                     .value = knowledge::architecture_list(list, request_.gpus)});
      }
    }
  }
  void add_host_compiler(const knowledge::CommonVariables& common) {
    if (request_.host_compiler.empty()) {
      return;
    }
    result_.pins_host_compiler = true;
    for (const auto& name : common.host_compiler) {
      add(Variable{.name = name, .value = request_.host_compiler});
    }
    if (const auto c = c_compiler_beside(request_.host_compiler); !c.empty()) {
      for (const auto& name : common.c_compiler) {
        add(Variable{.name = name, .value = c});
      }
    }
  }
  ToolkitEnvironment take() { return std::move(result_); }

private:
  [[nodiscard]] bool is_set(const std::string& name) const {
    return std::any_of(result_.set.begin(), result_.set.end(),
                       [&](const Variable& v) { return v.name == name; });
  }
  static void add(const std::vector<std::string>& names, std::vector<std::string>& to) {
    for (const auto& name : names) {
      if (!contains(to, name)) {
        to.push_back(name);
      }
    }
  }
  /// g++-13 -> gcc-13, clang++ -> clang, where it stands in the same folder.
  static std::string c_compiler_beside(const fs::path& cxx) {
    auto name = cxx.filename().string();
    for (const auto& [of_cxx, of_c] :
         {std::pair{"clang++", "clang"}, std::pair{"g++", "gcc"}, std::pair{"c++", "cc"}}) {
      if (const auto at = name.rfind(of_cxx); at != std::string::npos) {
        name.replace(at, std::string_view(of_cxx).size(), of_c);
        const auto c = cxx.parent_path() / name;
        return path_exists(c) ? c.string() : std::string();
      }
    }
    return {};
  }

  const Request& request_;
  ToolkitEnvironment result_;
};

/// The tree's folders in a list with colons go, the others stay in their order.
std::string without_folder(const std::string& list, const std::string& folder) {
  std::vector<std::string> kept;
  for (const auto item : split(list, ':')) {
    if (item != folder) {
      kept.emplace_back(item);
    }
  }
  return join(kept, ":");
}

} // namespace

std::string why_unnameable(const fs::path& folder) {
  const auto& text = folder.string();
  return text.find(':') == std::string::npos
             ? std::string()
             : "its path holds a colon, at which PATH, LD_LIBRARY_PATH and their like part folders";
}

Result<ToolkitEnvironment> environment(const Request& request,
                                       const knowledge::Knowledge& knowledge) {
  if (const auto why = why_unnameable(request.tree); !why.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = "no variable can name this toolkit: " + why,
              .where = request.tree.string(),
              .hint = "a toolkit can be moved: rename the folder, or point CUKIT_HOME at another"});
  }
  CUKIT_TRY_ASSIGN(const auto* common, knowledge.variables());
  CUKIT_TRY_ASSIGN(const auto* consumers, knowledge.consumers());
  Builder builder(request);
  for (const auto& variable : common->set) {
    builder.add(variable);
  }
  builder.add_host_compiler(*common);
  builder.add(common->reach);
  for (const auto& consumer : *consumers) {
    builder.add(consumer.reach); // what leads elsewhere does so whoever was asked for
    if (request.consumers.empty() || contains(request.consumers, consumer.name)) {
      builder.add(consumer);
    }
  }
  return builder.take();
}

Environment apply(const ToolkitEnvironment& environment, Environment base) {
  base = take_back(std::move(base));
  std::vector<std::string> names;
  const auto change = [&](const std::string& name, const std::optional<std::string>& value) {
    const auto old = base.values().find(name);
    if (!contains(names, name) && name != "PATH") {
      names.push_back(name);
      if (old != base.values().end()) {
        base.set(k_old_prefix + name, old->second);
      }
    }
    if (value) {
      base.set(name, *value);
    } else {
      base.unset(name);
    }
  };
  for (const auto& removal : removals(environment, base)) {
    change(removal.name, removal.rest);
  }
  for (const auto& variable : environment.set) {
    const auto before = variable.joins == Joins::nothing ? std::nullopt : base.get(variable.name);
    change(variable.name, !before                           ? variable.value
                          : variable.joins == Joins::before ? variable.value + ":" + *before
                                                            : *before + " " + variable.value);
  }
  base.set(k_tree_variable, environment.tree.string());
  base.set(k_names_variable, join(names, " "));
  return base;
}

Environment take_back(Environment base) {
  const auto tree = base.get(k_tree_variable);
  const auto names = base.get(k_names_variable);
  if (names) {
    for (const auto word : split_words(*names)) {
      const auto name = std::string(word);
      const auto old = base.values().find(k_old_prefix + name);
      if (old == base.values().end()) {
        base.unset(name);
      } else {
        base.set(name, old->second);
        base.unset(k_old_prefix + name);
      }
    }
  }
  if (const auto path = base.get("PATH"); tree && path) {
    base.set("PATH", without_folder(*path, *tree + "/bin"));
  }
  base.unset(k_tree_variable);
  base.unset(k_names_variable);
  return base;
}

} // namespace cukit::exports

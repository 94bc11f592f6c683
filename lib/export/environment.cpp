#include "export/environment.hpp"

#include "base/strings.hpp"
#include "text/json.hpp"

#include <algorithm>

namespace cukit::exports {

namespace {

// Set by a user or an image for another toolkit, these reach into every build (README, "A torch
// venv").
constexpr const char* k_foreign[] = {
    "CPATH",           "CUDA_INC_PATH",     "CUDA_LIB_PATH",      "DG_JIT_NVCC_COMPILER",
    "FLASHINFER_NVCC", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "LIBRARY_PATH"};

std::string architecture_list(const knowledge::ArchVariable& variable,
                              const std::vector<GpuTarget>& gpus) {
  std::vector<std::string> items;
  for (GpuTarget gpu : gpus) {
    if (variable.style == "family" && gpu.suffix == 0) {
      // As FlashInfer names them itself: 9.0 and later need their own features; sm_120 has the
      // family form.
      if (gpu.major == 12 && gpu.minor == 0) {
        gpu.suffix = 'f';
      } else if (gpu.major >= 9) {
        gpu.suffix = 'a';
      }
    } else if (variable.style == "plain") {
      gpu.suffix = 0;
    }
    const auto text = gpu.dotted();
    if (std::find(items.begin(), items.end(), text) == items.end()) {
      items.push_back(text);
    }
  }
  return join(items, variable.separator.empty() ? " " : variable.separator);
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

void add_consumer(ToolkitEnvironment& result, const knowledge::Consumer& consumer,
                  const Request& request) {
  const auto known = [&](const std::string& name) {
    return std::any_of(result.set.begin(), result.set.end(),
                       [&](const Variable& v) { return v.name == name; });
  };
  for (const auto& [name, value_template] : consumer.environment) {
    // XLA_FLAGS and its like hold a user's own flags too: set only for a consumer that was named.
    if (request.consumers.empty() && name.ends_with("_FLAGS")) {
      continue;
    }
    // A tool that this tree does not hold is not pointed at.
    if (value_template.starts_with("{tree}/") &&
        !path_exists(request.tree / value_template.substr(std::string_view("{tree}/").size()))) {
      continue;
    }
    std::string value = value_template;
    replace_all(value, "{tree}", request.tree.string());
    replace_all(value, "{jit}", request.jit.string());
    if (!known(name)) {
      result.set.push_back(
          Variable{.name = name, .value = value, .prepend = false, .why = consumer.name});
    }
  }
  for (const auto& variable : consumer.arch_variables) {
    if (!request.gpus.empty() && !known(variable.name)) {
      result.set.push_back(Variable{.name = variable.name,
                                    .value = architecture_list(variable, request.gpus),
                                    .prepend = false,
                                    .why = consumer.name});
    }
  }
}

/// A value is foreign when it names a toolkit and not this tree.
bool points_elsewhere(const std::string& value, const fs::path& tree) {
  const auto text = lower(value);
  const bool names_toolkit = text.find("cuda") != std::string::npos ||
                             text.find("nvidia") != std::string::npos ||
                             text.find("nvcc") != std::string::npos;
  return names_toolkit && value.find(tree.string()) == std::string::npos;
}

std::string quoted_sh(std::string_view value) {
  std::string result = "'";
  for (const char c : value) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

std::string quoted_fish(std::string_view value) {
  std::string result = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + "'";
}

std::string expanded(const Variable& variable, const Environment& current) {
  const auto before = variable.prepend ? current.get(variable.name) : std::nullopt;
  return before ? variable.value + ":" + *before : variable.value;
}

std::vector<std::string> foreign_in(const ToolkitEnvironment& environment,
                                    const Environment& current) {
  std::vector<std::string> names;
  const fs::path tree =
      environment.set.empty() ? fs::path() : fs::path(environment.set.front().value);
  for (const auto& name : environment.unset) {
    const auto value = current.get(name);
    if (value && points_elsewhere(*value, tree)) {
      names.push_back(name);
    }
  }
  return names;
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
  const std::string tree = request.tree.string();
  if (const auto why = why_unnameable(request.tree); !why.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = "no variable can name this toolkit: " + why,
              .where = tree,
              .hint = "a toolkit can be moved: rename the folder, or point CUKIT_HOME at another"});
  }
  ToolkitEnvironment result;
  result.set = {
      {"CUDA_HOME", tree, false, "torch, FlashInfer, tvm-ffi, DeepGEMM"},
      {"CUDA_PATH", tree, false, "cuda-pathfinder, CuPy, CMake; always equal to CUDA_HOME"},
      {"CUDAToolkit_ROOT", tree, false, "CMake's FindCUDAToolkit"},
      {"CUDACXX", tree + "/bin/nvcc", false, "CMake's CUDA language"},
      {"PATH", tree + "/bin", true, "vLLM's gate, CMake, XLA"},
  };
  result.unset.assign(std::begin(k_foreign), std::end(k_foreign));
  CUKIT_TRY_ASSIGN(const auto* consumers, knowledge.consumers());
  for (const auto& consumer : *consumers) {
    const bool wanted =
        request.consumers.empty() || std::find(request.consumers.begin(), request.consumers.end(),
                                               consumer.name) != request.consumers.end();
    if (wanted) {
      add_consumer(result, consumer, request);
    }
  }
  return result;
}

std::string why_no_line(const ToolkitEnvironment& environment, const Environment& current) {
  for (const auto& variable : environment.set) {
    if (expanded(variable, current).find_first_of("\r\n") != std::string::npos) {
      return fmt::format("{} holds a line end, which a line NAME=VALUE cannot hold", variable.name);
    }
  }
  return {};
}

Result<Shell> parse_shell(std::string_view name) {
  if (name == "sh" || name == "bash" || name == "zsh") {
    return Shell::sh;
  }
  if (name == "fish") {
    return Shell::fish;
  }
  if (name == "json") {
    return Shell::json;
  }
  if (name == "plain") {
    return Shell::plain;
  }
  auto error = Error{.code = ErrorCode::usage,
                     .message = fmt::format("`{}` is no shell that `cukit env` writes for", name)};
  error.hint = "use sh, bash, zsh, fish, json or plain";
  return tl::unexpected<Error>(std::move(error));
}

std::string print(const ToolkitEnvironment& environment, Shell shell, const Environment& current) {
  const auto foreign = foreign_in(environment, current);
  std::string out;
  if (shell == Shell::json) {
    auto set = text::Json::object();
    for (const auto& variable : environment.set) {
      set.set(variable.name, expanded(variable, current));
    }
    auto unset = text::Json::list();
    for (const auto& name : foreign) {
      unset.add(name);
    }
    return text::Json::object()
               .set("schema", "cukit.env/1")
               .set("set", set)
               .set("unset", unset)
               .dump() +
           "\n";
  }
  for (const auto& name : foreign) {
    if (shell == Shell::sh) {
      out += fmt::format("unset {}\n", name);
    } else if (shell == Shell::fish) {
      out += fmt::format("set -e {}\n", name);
    }
  }
  for (const auto& variable : environment.set) {
    switch (shell) {
    case Shell::sh:
      out += variable.prepend
                 ? fmt::format("export {0}={1}\"${{{0}:+:${0}}}\"\n", variable.name,
                               quoted_sh(variable.value))
                 : fmt::format("export {}={}\n", variable.name, quoted_sh(variable.value));
      break;
    case Shell::fish:
      out += variable.prepend
                 ? fmt::format("set -gx {0} {1} ${0}\n", variable.name, quoted_fish(variable.value))
                 : fmt::format("set -gx {} {}\n", variable.name, quoted_fish(variable.value));
      break;
    default:
      out += fmt::format("{}={}\n", variable.name, expanded(variable, current));
      break;
    }
  }
  return out;
}

Environment apply(const ToolkitEnvironment& environment, Environment base) {
  for (const auto& name : foreign_in(environment, base)) {
    base.unset(name);
  }
  for (const auto& variable : environment.set) {
    base.set(variable.name, expanded(variable, base));
  }
  return base;
}

} // namespace cukit::exports

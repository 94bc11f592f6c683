// Which of a caller's variables lead into another toolkit, and what of them is the caller's own.
#include "base/strings.hpp"
#include "exports/environment.hpp"
#include "model/tree_layout.hpp"

#include <algorithm>
#include <array>

namespace cukit::exports {

namespace {

constexpr int k_most_levels = 5; ///< targets/x86_64-linux/include/cccl/cuda is below a root

bool is_inside(const fs::path& path, const fs::path& folder) {
  const auto relative = path.lexically_normal().lexically_relative(folder);
  return !relative.empty() && relative.begin()->string() != "..";
}

bool is_toolkit(const fs::path& root) {
  static constexpr std::array<std::string_view, 6> signs = {
      layout::k_nvcc,  layout::k_runtime_header, layout::k_driver_header,
      layout::k_ptxas, layout::k_libdevice,      ".cukit/input"};
  // what a distribution puts among everybody's files is no other toolkit, but the system
  static constexpr std::array systems = {"/", "/usr", "/usr/local"};
  return std::none_of(systems.begin(), systems.end(), [&](const char* s) { return root == s; }) &&
         std::any_of(signs.begin(), signs.end(),
                     [&](std::string_view sign) { return path_exists(root / sign); });
}

bool is_called_like_one(std::string_view path) {
  const auto text = lower(path);
  return text.find("cuda") != std::string::npos || text.find("nvidia") != std::string::npos ||
         text.find("nvcc") != std::string::npos;
}

class Look {
public:
  Look(const ToolkitEnvironment& environment, const Environment& current)
      : environment_(environment), current_(current) {}

  std::vector<Removal> take() {
    for (const auto& name : environment_.reach.roots) {
      look(name, [&](const std::string& value) { return of_root(value); });
    }
    for (const auto& name : environment_.reach.programs) {
      look(name, [&](const std::string& value) { return of_program(value); });
    }
    for (const auto& name : environment_.reach.folders) {
      look(name, [&](const std::string& value) { return of_folders(value); });
    }
    for (const auto& name : environment_.reach.flags) {
      look(name, [&](const std::string& value) { return of_flags(value); });
    }
    return std::move(list_);
  }

private:
  struct Part {
    std::string rest;
    std::string led_to; ///< empty: nothing leads elsewhere
  };

  template <typename Read> void look(const std::string& name, const Read& read) {
    const auto value = current_.get(name);
    const bool is_replaced =
        std::any_of(environment_.set.begin(), environment_.set.end(),
                    [&](const Variable& v) { return v.name == name && v.joins == Joins::nothing; });
    if (!value || is_replaced) {
      return;
    }
    Part part = read(*value);
    if (!part.led_to.empty()) {
      list_.push_back({.name = name,
                       .rest = part.rest.empty() ? std::nullopt : std::optional(part.rest),
                       .led_to = std::move(part.led_to)});
    }
  }

  /// Whether a path belongs to a toolkit, and not to this one.
  [[nodiscard]] bool leads_elsewhere(const fs::path& path) const {
    if (!path.is_absolute() || is_inside(path, environment_.tree)) {
      return false;
    }
    std::error_code error;
    const auto real = fs::weakly_canonical(path, error);
    if (!error && is_inside(real, environment_.tree)) {
      return false;
    }
    if (!path_exists(path)) {
      return is_called_like_one(path.string());
    }
    for (auto root : {path.lexically_normal(), error ? path : real}) {
      for (int level = 0; level < k_most_levels && root.has_relative_path(); ++level) {
        if (is_toolkit(root)) {
          return true;
        }
        root = root.parent_path();
      }
    }
    return false;
  }

  /// It is there to name a toolkit: whatever is not this tree is another one.
  [[nodiscard]] Part of_root(const std::string& value) const {
    std::error_code error;
    const auto real = fs::weakly_canonical(value, error);
    return is_inside(value, environment_.tree) || (!error && is_inside(real, environment_.tree))
               ? Part{.rest = value, .led_to = {}}
               : Part{.rest = {}, .led_to = value};
  }

  /// `ccache nvcc` takes what PATH has; `/opt/cuda/bin/nvcc` does not.
  [[nodiscard]] Part of_program(const std::string& value) const {
    const auto words = split_words(value);
    for (const auto word : words) {
      const fs::path path(
          word.find('=') == std::string_view::npos ? word : word.substr(word.find('=') + 1));
      const bool is_tool = words.size() == 1 || is_called_like_one(path.filename().string());
      if (path.is_absolute() && is_tool && !is_inside(path, environment_.tree) &&
          (leads_elsewhere(path) || is_called_like_one(path.filename().string()))) {
        return {.rest = {}, .led_to = path.string()};
      }
    }
    return {.rest = value, .led_to = {}};
  }

  [[nodiscard]] Part of_folders(const std::string& value) const {
    Part part;
    std::vector<std::string> kept;
    for (const auto folder : split(value, ':')) {
      if (leads_elsewhere(folder)) {
        part.led_to = folder;
      } else {
        kept.emplace_back(folder);
      }
    }
    // an empty item means the working folder to some: none is made
    const bool has_own =
        std::any_of(kept.begin(), kept.end(), [](const auto& item) { return !item.empty(); });
    part.rest = has_own ? join(kept, ":") : std::string();
    return part;
  }

  /// `-I/x`, `-isystem /x`, `-Wl,-rpath,/x`, `--cuda-path=/x`. A text with quotes is kept or goes
  /// as a whole. The compiler that -ccbin names is no part of a toolkit, wherever it lies.
  [[nodiscard]] Part of_flags(const std::string& value) const {
    const bool is_quoted = value.find_first_of("'\"\\") != std::string::npos;
    const auto words = split_words(value);
    Part part;
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::vector<std::string_view> group{words[i]};
      if (takes_next(words[i]) && i + 1 < words.size()) {
        group.push_back(words[++i]);
      }
      const bool is_compiler = names_compiler(group.front());
      const auto slash = group.back().find('/');
      if (is_compiler ? environment_.pins_host_compiler
                      : slash != std::string_view::npos &&
                            leads_elsewhere(unquoted(group.back().substr(slash)))) {
        part.led_to = group.back();
      } else {
        kept.insert(kept.end(), group.begin(), group.end());
      }
    }
    if (part.led_to.empty()) {
      part.rest = value;
    } else if (!is_quoted) {
      part.rest = join(kept, " ");
    }
    return part;
  }

  static bool takes_next(std::string_view word) {
    static constexpr std::array options = {
        "-I",       "-L",        "-isystem",    "-iquote",  "-idirafter", "-ccbin",           "-B",
        "-Xlinker", "--sysroot", "--cuda-path", "-include", "-F",         "--compiler-bindir"};
    return std::find(options.begin(), options.end(), word) != options.end();
  }
  static bool names_compiler(std::string_view word) {
    return word.starts_with("-ccbin") || word.starts_with("--compiler-bindir");
  }
  static std::string unquoted(std::string_view word) {
    return std::string(word.substr(0, word.find_first_of("'\"")));
  }

  const ToolkitEnvironment& environment_;
  const Environment& current_;
  std::vector<Removal> list_ = {};
};

} // namespace

std::vector<Removal> removals(const ToolkitEnvironment& environment, const Environment& current) {
  return Look(environment, current).take();
}

} // namespace cukit::exports

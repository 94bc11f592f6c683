#include "venv/pin.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "venv/marked.hpp"

#include <algorithm>

namespace cukit::venv {

namespace {

constexpr Marks k_marks{"pin"};
constexpr const char* k_file = "cukit-constraints.txt";

std::string requirement_of(const Wheel& wheel) {
  return fmt::format("{}=={}", wheel.project, wheel.version.text());
}

std::string print_constraints(const WheelSet& set) {
  auto out = fmt::format("# CUDA {}: {}\n", set.release.text(), set.because);
  for (const auto& wheel : set.wheels) {
    out += requirement_of(wheel) + "\n";
  }
  return out;
}

std::string uv_list(const WheelSet& set) {
  std::string out = "constraint-dependencies = [\n";
  for (const auto& wheel : set.wheels) {
    out += fmt::format("  \"{}\",\n", requirement_of(wheel));
  }
  return out + "]\n";
}

/// conda's packages of one release stand below the number in cuda-version.
std::string print_conda(const WheelSet& set) {
  const auto minor = set.release.major_minor();
  return fmt::format("cuda-version {0}.*\ncuda-nvcc {0}.*\n", minor);
}

Result<std::string> read_or_empty(const fs::path& file) {
  return path_exists(file) ? read_file(file, limits::k_manifest_bytes)
                           : Result<std::string>(std::string());
}

tl::unexpected<Error> own_setting(const fs::path& file, std::string_view key, std::string add) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::host,
            .message =
                fmt::format("{} has a `{}` of its own, which is left as it is", file.string(), key),
            .where = file.string(),
            .hint = std::move(add)});
}

struct Setting {
  std::string_view section; ///< with its brackets
  std::string_view key;
  std::string lines;
  std::string to_add; ///< what a person has to do where the key is taken
};

/// The offset behind the head of a section, npos without one, and whether the key is in it.
struct Section {
  std::size_t body = std::string::npos;
  bool has_key = false;
};
Section find_section(std::string_view text, const Setting& setting) {
  Section result;
  bool is_inside = false;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = trim(text.substr(at, end - at));
    at = std::min(end + 1, text.size());
    if (line.starts_with('[')) {
      const auto head = line.substr(0, line.find(']') + 1);
      is_inside = head == setting.section;
      result.body = is_inside ? at : result.body;
    } else if (is_inside && line.starts_with(setting.key)) {
      const auto rest = trim(line.substr(setting.key.size()));
      result.has_key = result.has_key || rest.starts_with('=') || rest.starts_with(':');
    }
  }
  return result;
}

/// `text` with the setting in its section, which is made at the end where there is none.
Result<std::string> with_setting(const std::string& text, const Setting& setting,
                                 const fs::path& file) {
  CUKIT_TRY_ASSIGN(auto bare, without_marked(text, k_marks, file.string()));
  const auto section = find_section(bare, setting);
  if (section.has_key) {
    return own_setting(file, setting.key, setting.to_add);
  }
  if (section.body == std::string::npos) {
    return with_marked_at_end(bare, fmt::format("{}\n{}", setting.section, setting.lines), k_marks);
  }
  if (!bare.substr(0, section.body).ends_with('\n')) { // the head is the last line, without an end
    return with_marked_at_end(bare, setting.lines, k_marks);
  }
  return bare.insert(section.body, marked(setting.lines, k_marks));
}

struct FileChange {
  fs::path path;
  std::string bytes;
};

class Pinner {
public:
  Pinner(const Place& place, const WheelSet& set) : place_(place), set_(set) {}

  Result<std::vector<Written>> write() {
    if (place_.kind == Kind::conda) {
      CUKIT_TRY(add_conda());
    } else {
      CUKIT_TRY(add_pip());
    }
    CUKIT_TRY(add_project());
    std::vector<Written> result;
    for (const auto& change : changes_) {
      CUKIT_TRY_ASSIGN(const auto before, read_or_empty(change.path));
      if (before != change.bytes) {
        CUKIT_TRY(write_user_file(change.path, change.bytes));
      }
      result.push_back({change.path, before != change.bytes});
    }
    return result;
  }

private:
  Result<void> add_pip() {
    CUKIT_TRY(check_changeable(place_, place_.prefix));
    const auto file = place_.prefix / k_file;
    changes_.push_back({file, print_constraints(set_)});
    if (place_.kind != Kind::venv) {
      return {}; // no pip.conf is its own
    }
    const auto conf = place_.prefix / "pip.conf";
    CUKIT_TRY_ASSIGN(const auto text, read_or_empty(conf));
    const Setting setting{.section = "[install]",
                          .key = "constraint",
                          .lines = fmt::format("constraint = {}\n", file.string()),
                          .to_add =
                              fmt::format("add {} to it, on a line of its own", file.string())};
    CUKIT_TRY_ASSIGN(auto bytes, with_setting(text, setting, conf));
    changes_.push_back({conf, std::move(bytes)});
    return {};
  }

  Result<void> add_conda() {
    const auto file = place_.prefix / "conda-meta/pinned";
    CUKIT_TRY(check_changeable(place_, file.parent_path()));
    CUKIT_TRY_ASSIGN(const auto text, read_or_empty(file));
    CUKIT_TRY_ASSIGN(const auto bare, without_marked(text, k_marks, file.string()));
    changes_.push_back({file, with_marked_at_end(bare, print_conda(set_), k_marks)});
    return {};
  }

  /// The project that the environment lies in as `.venv` or the like.
  Result<void> add_project() {
    const auto file = place_.prefix.parent_path() / "pyproject.toml";
    if (place_.kind != Kind::venv || !path_exists(file)) {
      return {};
    }
    CUKIT_TRY_ASSIGN(const auto text, read_or_empty(file));
    const Setting setting{.section = "[tool.uv]",
                          .key = "constraint-dependencies",
                          .lines = uv_list(set_),
                          .to_add =
                              fmt::format("add what `cukit venv pin {} --format uv` prints to it",
                                          place_.prefix.string())};
    CUKIT_TRY_ASSIGN(auto bytes, with_setting(text, setting, file));
    changes_.push_back({file, std::move(bytes)});
    return {};
  }

  const Place& place_;
  const WheelSet& set_;
  std::vector<FileChange> changes_;
};

} // namespace

Result<PinFormat> parse_pin_format(std::string_view name) {
  if (name == "constraints") {
    return PinFormat::constraints;
  }
  if (name == "uv") {
    return PinFormat::uv;
  }
  if (name == "conda") {
    return PinFormat::conda;
  }
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::usage,
            .message = fmt::format("`{}` is no format of pins", printable(name)),
            .hint = "use constraints, uv or conda"});
}

std::string print(const WheelSet& set, PinFormat format) {
  switch (format) {
  case PinFormat::constraints:
    return print_constraints(set);
  case PinFormat::uv:
    return "[tool.uv]\n" + uv_list(set);
  case PinFormat::conda:
    return print_conda(set);
  }
  return {};
}

Result<std::vector<Written>> write_pins(const Place& place, const WheelSet& set) {
  return Pinner(place, set).write();
}

} // namespace cukit::venv

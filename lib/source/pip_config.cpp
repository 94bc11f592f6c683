#include "source/pip_config.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"
#include "source/ini.hpp"

namespace cukit::source {

namespace {

struct PipValue {
  std::string text;
  std::string file;
  int line = 0;
  [[nodiscard]] std::string where() const { return fmt::format("{}:{}", file, line); }
};

/// "install" and "global" of all files, later files over earlier ones. An empty value is none, as
/// in pip.
class PipValues {
public:
  void add(const Ini& ini, const std::string& file) {
    for (const auto* section : {"global", "install"}) {
      const auto found = ini.find(section);
      if (found == ini.end()) {
        continue;
      }
      for (const auto& [key, value] : found->second) {
        values_[std::string(section) + "." + key] = PipValue{value.text, file, value.line};
      }
    }
  }

  [[nodiscard]] const PipValue* find(const std::string& key) const {
    for (const auto* section : {"install.", "global."}) {
      const auto found = values_.find(section + key);
      if (found != values_.end() && !found->second.text.empty()) {
        return &found->second;
      }
    }
    return nullptr;
  }

private:
  std::map<std::string, PipValue> values_;
};

Result<std::vector<Address>> addresses(const PipValue* value) {
  std::vector<Address> result;
  if (value == nullptr) {
    return result;
  }
  for (const auto word : split_words(value->text)) {
    // pip takes relative paths from where it runs
    CUKIT_TRY_ASSIGN(auto one, address(word, value->where(), working_folder()));
    result.push_back(std::move(one));
  }
  return result;
}

Result<Stated> stated(const PipValues& values) {
  Stated result;
  if (const auto* index = values.find("index-url")) {
    CUKIT_TRY_ASSIGN(result.index, address(index->text, index->where(), working_folder()));
  }
  CUKIT_TRY_ASSIGN(result.extra, addresses(values.find("extra-index-url")));
  CUKIT_TRY_ASSIGN(result.find_links, addresses(values.find("find-links")));
  if (const auto* none = values.find("no-index")) {
    result.no_index = truth(none->text);
    if (!result.no_index) {
      Error error{.code = ErrorCode::source,
                  .message = fmt::format("no-index: `{}` is neither true nor false",
                                         printable(none->text.substr(0, 60)))};
      error.where = none->where();
      return tl::unexpected<Error>(std::move(error));
    }
    result.no_index_by = none->where();
  }
  return result;
}

} // namespace

std::vector<fs::path> pip_config_files(const Environment& environment, const fs::path& root) {
  std::vector<fs::path> files;
  const auto own = environment.get("PIP_CONFIG_FILE");
  if (own == "/dev/null") {
    return files;
  }
  const auto system = environment.get("XDG_CONFIG_DIRS").value_or("/etc/xdg");
  for (const auto folder : split(system, ':')) {
    if (folder.starts_with('/')) {
      files.push_back(below(root, folder) / "pip/pip.conf");
    }
  }
  files.push_back(root / "etc/pip.conf");
  const auto home = environment.get("HOME").value_or("");
  if (!own || !path_exists(below(root, *own))) {
    if (home.starts_with('/')) {
      files.push_back(below(root, home) / ".pip/pip.conf");
    }
    const auto config = environment.get("XDG_CONFIG_HOME").value_or("");
    if (config.starts_with('/')) {
      files.push_back(below(root, config) / "pip/pip.conf");
    } else if (home.starts_with('/')) {
      files.push_back(below(root, home) / ".config/pip/pip.conf");
    }
  }
  if (const auto venv = environment.get("VIRTUAL_ENV"); venv && venv->starts_with('/')) {
    files.push_back(below(root, *venv) / "pip.conf");
  } else if (root == "/") {
    if (const fs::path python = environment.find_program("python3"); !python.empty()) {
      files.push_back(python.parent_path().parent_path() / "pip.conf");
    }
  }
  if (own) {
    files.push_back(root == "/" ? working_folder() / *own : below(root, *own));
  }
  return files;
}

Result<Stated> read_pip_config(const Environment& environment, const fs::path& root) {
  PipValues values;
  for (const auto& file : pip_config_files(environment, root)) {
    if (!path_exists(file)) {
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto text, read_file(file, limits::k_manifest_bytes));
    CUKIT_TRY_ASSIGN(const auto ini, parse_ini(text, file.string()));
    values.add(ini, file.string());
  }
  return stated(values);
}

Result<Stated> stated_by_pip_config(std::string_view text, const std::string& file) {
  PipValues values;
  CUKIT_TRY_ASSIGN(const auto ini, parse_ini(text, file));
  values.add(ini, file);
  return stated(values);
}

} // namespace cukit::source

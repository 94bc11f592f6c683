#include "source/uv_config.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"
#include "source/toml.hpp"

#include <algorithm>

namespace cukit::source {

namespace {

class UvReader {
public:
  explicit UvReader(const std::string& file) : file_(file), base_(fs::path(file).parent_path()) {}

  Result<Stated> read(const TomlValue& root) {
    static const TomlValue nothing;
    const auto* pip = root.find("pip");
    pip_ = pip != nullptr ? pip : &nothing;
    root_ = &root;
    CUKIT_TRY(check_keys(root));
    CUKIT_TRY(check_keys(*pip_));
    if (const auto* index = setting("index-url")) {
      CUKIT_TRY_ASSIGN(result_.index, one_address(*index, "index-url"));
    }
    CUKIT_TRY(list("extra-index-url", result_.extra));
    CUKIT_TRY(list("find-links", result_.find_links));
    if (const auto* none = setting("no-index")) {
      CUKIT_TRY_ASSIGN(result_.no_index, boolean(*none, "no-index"));
      result_.no_index_by = where(*none);
    }
    CUKIT_TRY(indexes());
    return std::move(result_);
  }

private:
  [[nodiscard]] std::string where(const TomlValue& value) const {
    return fmt::format("{}:{}", file_, value.line);
  }

  tl::unexpected<Error> wrong(const TomlValue& value, std::string message) const {
    Error error{.code = ErrorCode::source, .message = std::move(message), .where = where(value)};
    error.hint = "uv refuses this file too; mend it, or name the index with --index-url";
    return tl::unexpected<Error>(std::move(error));
  }

  /// uv has some seventy keys and grows more, so an unknown one is only refused when it is plainly
  /// a slip of one that matters here.
  Result<void> check_keys(const TomlValue& table) const {
    static const std::vector<std::string> ours = {"index", "index-url", "extra-index-url",
                                                  "find-links", "no-index"};
    if (table.kind != TomlValue::Kind::table) {
      return wrong(table, "`pip` is no table");
    }
    for (const auto& [key, value] : table.members) {
      const auto near = did_you_mean(key, ours);
      const auto shorter = std::min(key.size(), near.size());
      if (!near.empty() && near != key && std::max(key.size(), near.size()) - shorter <= 1 &&
          key.substr(0, shorter - 2) == near.substr(0, shorter - 2)) {
        return wrong(value,
                     fmt::format("unknown key `{}`: did you mean `{}`?", printable(key), near));
      }
    }
    return {};
  }

  [[nodiscard]] const TomlValue* setting(std::string_view key) const {
    const auto* in_pip = pip_->find(key);
    return in_pip != nullptr ? in_pip : root_->find(key);
  }

  Result<std::string> text(const TomlValue& value, std::string_view key) const {
    if (value.kind != TomlValue::Kind::text) {
      return wrong(value, fmt::format("`{}` must be a text in quotes", key));
    }
    return value.text;
  }

  Result<bool> boolean(const TomlValue& value, std::string_view key) const {
    if (value.kind != TomlValue::Kind::bare || (value.text != "true" && value.text != "false")) {
      return wrong(value, fmt::format("`{}` must be true or false", key));
    }
    return value.text == "true";
  }

  Result<bool> flag(const TomlValue& table, std::string_view key) const {
    const auto* value = table.find(key);
    return value == nullptr ? Result<bool>(false) : boolean(*value, key);
  }

  Result<Address> one_address(const TomlValue& value, std::string_view key) const {
    CUKIT_TRY_ASSIGN(const auto location, text(value, key));
    return address(location, where(value), base_);
  }

  Result<void> list(std::string_view key, std::vector<Address>& into) const {
    const auto* value = setting(key);
    if (value == nullptr) {
      return {};
    }
    if (value->kind != TomlValue::Kind::list) {
      return wrong(*value, fmt::format("`{}` must be a list", key));
    }
    for (const auto& item : value->items) {
      CUKIT_TRY_ASSIGN(auto one, one_address(item, key));
      into.push_back(std::move(one));
    }
    return {};
  }

  Result<void> indexes() {
    const auto* all = root_->find("index");
    if (all == nullptr) {
      return {};
    }
    if (all->kind != TomlValue::Kind::list) {
      return wrong(*all, "`index` must be a list of tables");
    }
    bool has_default = false;
    for (const auto& item : all->items) {
      CUKIT_TRY(index(item, has_default));
    }
    return {};
  }

  Result<void> index(const TomlValue& item, bool& has_default) {
    const auto* url = item.find("url");
    if (item.kind != TomlValue::Kind::table || url == nullptr) {
      return wrong(item, "an index has no `url`");
    }
    if (const auto* name = item.find("name")) {
      CUKIT_TRY_ASSIGN(const auto word, text(*name, "name"));
      const bool valid = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
      });
      if (!valid) {
        return wrong(*name, fmt::format("`{}` is no name of an index", printable(word)));
      }
    }
    CUKIT_TRY_ASSIGN(auto location, one_address(*url, "url"));
    CUKIT_TRY_ASSIGN(const bool is_default, flag(item, "default"));
    CUKIT_TRY_ASSIGN(const bool is_explicit, flag(item, "explicit"));
    const auto* format = item.find("format");
    if (is_explicit) {
      return {}; // only for packages that a project ties to it
    }
    if (format != nullptr && format->text == "flat") {
      result_.find_links.push_back(std::move(location));
    } else if (is_default && has_default) {
      result_.notes.push_back(
          fmt::format("{}: a second default index is passed over", where(item)));
    } else if (is_default) {
      has_default = true;
      result_.index = std::move(location);
    } else {
      result_.extra.push_back(std::move(location));
    }
    return {};
  }

  const std::string& file_;
  fs::path base_;
  const TomlValue* root_ = nullptr;
  const TomlValue* pip_ = nullptr;
  Stated result_;
};

void merge(Stated& into, Stated&& from) {
  if (!into.index) {
    into.index = std::move(from.index);
  }
  if (!into.no_index) {
    into.no_index = from.no_index;
    into.no_index_by = std::move(from.no_index_by);
  }
  std::move(from.extra.begin(), from.extra.end(), std::back_inserter(into.extra));
  std::move(from.find_links.begin(), from.find_links.end(), std::back_inserter(into.find_links));
  std::move(from.notes.begin(), from.notes.end(), std::back_inserter(into.notes));
}

} // namespace

std::vector<fs::path> uv_config_files(const Environment& environment, const fs::path& root) {
  if (const auto off = environment.get("UV_NO_CONFIG"); off && truth(*off).value_or(true)) {
    return {};
  }
  if (const auto own = environment.get("UV_CONFIG_FILE")) {
    return {root == "/" ? working_folder() / *own : below(root, *own)};
  }
  std::vector<fs::path> files;
  const auto config = environment.get("XDG_CONFIG_HOME").value_or("");
  const auto home = environment.get("HOME").value_or("");
  if (config.starts_with('/')) {
    files.push_back(below(root, config) / "uv/uv.toml");
  } else if (home.starts_with('/')) {
    files.push_back(below(root, home) / ".config/uv/uv.toml");
  }
  const auto system = environment.get("XDG_CONFIG_DIRS").value_or("/etc/xdg");
  for (const auto folder : split(system, ':')) {
    if (folder.starts_with('/') && path_exists(below(root, folder) / "uv/uv.toml")) {
      files.push_back(below(root, folder) / "uv/uv.toml");
      return files; // uv reads one system file
    }
  }
  files.push_back(root / "etc/uv/uv.toml");
  return files;
}

Result<Stated> read_uv_config(const Environment& environment, const fs::path& root) {
  Stated result;
  for (const auto& file : uv_config_files(environment, root)) {
    if (!path_exists(file)) {
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto text, read_file(file, limits::k_manifest_bytes));
    CUKIT_TRY_ASSIGN(auto one, stated_by_uv_config(text, file.string()));
    merge(result, std::move(one));
  }
  return result;
}

Result<Stated> stated_by_uv_config(std::string_view text, const std::string& file) {
  CUKIT_TRY_ASSIGN(const auto root, parse_toml(text, file));
  return UvReader(file).read(root);
}

} // namespace cukit::source

#include "names/folder.hpp"

#include "base/kept_file.hpp"
#include "base/limits.hpp"
#include "base/number.hpp"
#include "base/stale.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::names {

namespace {

constexpr std::uint64_t k_id_bytes = 256;
constexpr std::uint64_t k_path_bytes = 4100; // PATH_MAX and a line feed
constexpr const char* k_way_out =
    "`cukit verify --repair` removes the generation; `cukit up` makes a new one";

/// Ids and keys are digests; anything else would be a path of somebody's choosing.
bool is_id(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_');
  });
}

Result<std::string> read_id(const fs::path& file) {
  CUKIT_TRY_ASSIGN(const auto text, read_kept(file, k_id_bytes));
  const auto id = trim(text);
  if (is_id(id)) {
    return std::string(id);
  }
  return tl::unexpected<Error>(Error{.code = ErrorCode::integrity,
                                     .message = fmt::format("`{}` is no id", printable(id)),
                                     .where = file.string()});
}

Result<Generation> read_files(const fs::path& place) {
  Generation generation;
  if (!is_kept_folder(place)) {
    return tl::unexpected<Error>(other_kind(place, "a folder"));
  }
  CUKIT_TRY_ASSIGN(generation.tree, read_id(place / "tree"));
  CUKIT_TRY_ASSIGN(generation.lock, read_kept(place / "lock", limits::k_lock_bytes));
  CUKIT_TRY_ASSIGN(generation.report, read_id(place / "report"));
  return generation;
}

bool is_empty_file(const fs::path& file) {
  struct stat info {};
  return ::lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

} // namespace

Result<void> check_name(std::string_view name) {
  if (is_toolkit_name(name)) {
    return {};
  }
  auto error = Error{.code = ErrorCode::usage,
                     .message = fmt::format("`{}` cannot be a name", printable(name))};
  error.hint = fmt::format("use {}", k_toolkit_name_rule);
  return tl::unexpected<Error>(std::move(error));
}

int number_of(std::string_view text) {
  return std::max(0, whole_number<int>(text).value_or(0));
}

Result<void> check_place(const fs::path& folder) {
  CUKIT_TRY(check_kept_folder(folder));
  return check_kept_folder(folder / "gen");
}

Result<std::vector<int>> numbers(const fs::path& folder) {
  std::vector<int> result;
  CUKIT_TRY(check_place(folder));
  if (folder_exists(folder / "gen")) {
    CUKIT_TRY_ASSIGN(const auto texts, list_directory(folder / "gen"));
    for (const auto& text : texts) {
      if (const int number = number_of(text); number > 0) {
        result.push_back(number);
      }
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

Result<int> current_number(const fs::path& folder) {
  CUKIT_TRY(check_place(folder));
  std::array<char, 64> target{};
  const fs::path link = folder / "current";
  const ssize_t size =
      look_twice([&] { return ::readlink(link.c_str(), target.data(), target.size()); });
  if (size < 0) {
    const int number = errno;
    if (number == ENOENT || number == ENOTDIR) {
      return 0;
    }
    if (number == EINVAL) {
      auto error = other_kind(link, "a link to a generation");
      error.code = ErrorCode::integrity;
      error.hint = "`cukit switch` and `cukit up` make the link again";
      return tl::unexpected<Error>(std::move(error));
    }
    return fail_errno(number, "cannot read the link {}", link.string());
  }
  std::string_view text(target.data(), static_cast<std::size_t>(size));
  const int number = text.starts_with("gen/") ? number_of(text.substr(4)) : 0;
  if (number == 0) {
    auto error =
        Error{.code = ErrorCode::integrity,
              .message = fmt::format("`current` leads to `{}`, not to gen/<n>", printable(text)),
              .where = link.string()};
    error.hint = "remove the link; the next `cukit up` makes it again";
    return tl::unexpected<Error>(std::move(error));
  }
  return number;
}

Result<Generation> read_generation(const fs::path& folder, int number) {
  const fs::path place = folder / "gen" / std::to_string(number);
  auto read = read_files(place);
  if (!read) {
    auto error = std::move(read).error();
    error.hint = k_way_out;
    return tl::unexpected<Error>(std::move(error));
  }
  auto generation = *std::move(read);
  generation.number = number;
  if (generation.tree.empty() || generation.lock.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::integrity,
              .message = fmt::format("generation {} was cut off while it was written", number),
              .where = place.string(),
              .hint = k_way_out});
  }
  struct stat info {};
  if (look_twice([&] { return ::stat(place.c_str(), &info); }) != 0) {
    return fail_errno(errno, "cannot look at {}", place.string());
  }
  if (auto manifest = read_kept(place / "manifest", k_path_bytes)) { // for people: may be missing
    generation.manifest = manifest->substr(0, manifest->rfind('\n'));
  }
  generation.made = info.st_mtime;
  return generation;
}

bool is_cut_off(const fs::path& folder, int number) {
  const fs::path place = folder / "gen" / std::to_string(number);
  return is_kept_folder(place) && (is_empty_file(place / "tree") || is_empty_file(place / "lock"));
}

Result<FileLock> lock_name(const store::Home& home, const std::string& name) {
  return store::lock(home, "name-" + name, FileLock::Mode::exclusive, {});
}

Result<void> point_at(const fs::path& folder, int number, const fs::path& scratch, bool durable) {
  const fs::path link = scratch / "current";
  if (::symlink(fmt::format("gen/{}", number).c_str(), link.c_str()) != 0) {
    return fail_errno(errno, "cannot make the link {}", link.string());
  }
  const fs::path current = folder / "current";
  if (is_kept_folder(current)) { // no link of ours: it would not make room for one
    CUKIT_TRY(rename_path(current, scratch / "barrier"));
  }
  CUKIT_TRY(rename_path(link, current)); // the switch
  return durable ? sync_directory(folder) : Result<void>();
}

} // namespace cukit::names

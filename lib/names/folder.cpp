#include "names/folder.hpp"

#include "base/limits.hpp"
#include "base/stale.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::names {

namespace {

constexpr std::uint64_t k_id_bytes = 256;
constexpr std::uint64_t k_path_bytes = 4100; // PATH_MAX and a line feed

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
  int number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size() && number > 0 ? number : 0;
}

Result<std::vector<int>> numbers(const fs::path& folder) {
  std::vector<int> result;
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
  std::array<char, 64> target{};
  const fs::path link = folder / "current";
  const ssize_t size =
      look_twice([&] { return ::readlink(link.c_str(), target.data(), target.size()); });
  if (size < 0) {
    const int number = errno;
    if (number == ENOENT || number == ENOTDIR) {
      return 0;
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
  Generation generation;
  generation.number = number;
  CUKIT_TRY_ASSIGN(const auto tree, read_file(place / "tree", k_id_bytes));
  CUKIT_TRY_ASSIGN(generation.lock, read_file(place / "lock", limits::k_lock_bytes));
  CUKIT_TRY_ASSIGN(const auto report, read_file(place / "report", k_id_bytes));
  if (trim(tree).empty() || generation.lock.empty()) { // only a power cut leaves it so
    auto error =
        Error{.code = ErrorCode::integrity,
              .message = fmt::format("generation {} was cut off while it was written", number),
              .where = place.string()};
    error.hint = "remove the folder; `cukit up` makes a new generation";
    return tl::unexpected<Error>(std::move(error));
  }
  struct stat info {};
  if (look_twice([&] { return ::stat(place.c_str(), &info); }) != 0) {
    return fail_errno(errno, "cannot look at {}", place.string());
  }
  if (auto manifest = read_file(place / "manifest", k_path_bytes)) { // for people: may be missing
    generation.manifest = manifest->substr(0, manifest->rfind('\n'));
  }
  generation.made = info.st_mtime;
  generation.tree = trim(tree);
  generation.report = trim(report);
  return generation;
}

Result<FileLock> lock_name(const store::Home& home, const std::string& name) {
  return store::lock(home, "name-" + name, FileLock::Mode::exclusive, {});
}

Result<void> point_at(const fs::path& folder, int number, const fs::path& scratch, bool durable) {
  const fs::path link = scratch / "current";
  if (::symlink(fmt::format("gen/{}", number).c_str(), link.c_str()) != 0) {
    return fail_errno(errno, "cannot make the link {}", link.string());
  }
  CUKIT_TRY(rename_path(link, folder / "current")); // the switch
  return durable ? sync_directory(folder) : Result<void>();
}

} // namespace cukit::names

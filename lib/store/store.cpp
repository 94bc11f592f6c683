#include "store/store.hpp"

#include "base/kept_file.hpp"
#include "store/folder_check.hpp"
#include "store/index.hpp"
#include "store/system_store.hpp"

#include <algorithm>
#include <cctype>

namespace cukit::store {

namespace {

// All names of an archive may have 64 MiB, and a line has a hundred bytes more, 200,000 times.
constexpr std::uint64_t k_index_bytes = 96U << 20U;

/// Keys come from digests; anything else would be a path of somebody's choosing.
Result<void> check_key(std::string_view key) {
  const bool plain =
      !key.empty() && key.size() <= 200 && std::all_of(key.begin(), key.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_';
      });
  return plain ? Result<void>()
               : fail(ErrorCode::integrity, "`{}` is no key of a store entry", key);
}

} // namespace

fs::path Store::find(const std::string& key) const {
  const fs::path own = folder(key);
  if (home_.system.empty() || is_kept_file(own / "index")) {
    return own;
  }
  return home_.system / "store" / key;
}

bool Store::has(const std::string& key) const {
  const auto place = find(key);
  return is_kept_folder(place) && is_kept_file(place / "index");
}

Result<Entry> Store::read(const std::string& key) const {
  CUKIT_TRY(check_key(key));
  const fs::path place = find(key);
  CUKIT_TRY_ASSIGN(auto hold, FolderHold::shared(place));
  if (!hold) {
    return fail(ErrorCode::expected_no, "the store has no entry {}", key);
  }
  CUKIT_TRY(check_use(home_, place));
  const fs::path index = place / "index";
  CUKIT_TRY_ASSIGN(const std::string text, read_kept(index, k_index_bytes));
  if (!is_kept_folder(place / "files")) {
    return tl::unexpected<Error>(other_kind(place / "files", "a folder"));
  }
  CUKIT_TRY_ASSIGN(auto list, read_index(text, index.string()));
  return Entry{key, place / "files", std::move(list),
               std::make_shared<const FolderHold>(std::move(*hold))};
}

Result<void> Store::prepare(const Staging& staged, std::vector<EntryFile>& list) const {
  std::sort(list.begin(), list.end(),
            [](const EntryFile& a, const EntryFile& b) { return a.path < b.path; });
  // Only what lies in this folder moves: the staging folder's own lock file stays behind.
  const fs::path entry = staged.path() / "entry";
  CUKIT_TRY(make_directories(entry));
  CUKIT_TRY(rename_path(staged.path() / "files", entry / "files"));
  return create_file(entry / "index", write_index(list), 0444);
}

Result<Entry> Store::publish(const Staging& staged, const std::string& key,
                             std::vector<EntryFile> list) {
  CUKIT_TRY(check_key(key));
  // Held before anybody can see it, so that no gc comes between.
  CUKIT_TRY_ASSIGN(auto hold, FolderHold::shared(staged.path() / "entry"));
  CUKIT_TRY_ASSIGN(bool ours, rename_no_replace(staged.path() / "entry", folder(key)));
  if (!ours && !has(key)) { // no entry, but something that bars its place
    CUKIT_TRY(move_out(folder(key), staged.path() / "barrier"));
    CUKIT_TRY_ASSIGN(ours, rename_no_replace(staged.path() / "entry", folder(key)));
  }
  if (ours && hold) {
    return Entry{key, folder(key) / "files", std::move(list),
                 std::make_shared<const FolderHold>(std::move(*hold))};
  }
  CUKIT_TRY_ASSIGN(auto theirs, read(key));
  if (theirs.list != list) {
    auto error = Error{.code = ErrorCode::integrity,
                       .message = "the store holds another content for the same artifact",
                       .where = folder(key).string()};
    error.hint = "run `cukit verify`, or remove this folder; the next run fetches it again";
    return tl::unexpected<Error>(std::move(error));
  }
  return theirs;
}

Result<Entry> Store::commit(const Staging& staged, const std::string& key,
                            std::vector<EntryFile> list, Durability durability) {
  CUKIT_TRY(check_key(key));
  CUKIT_TRY(prepare(staged, list));
  if (durability == Durability::full) {
    CUKIT_TRY(sync_file_system(staged.path()));
  }
  CUKIT_TRY_ASSIGN(auto entry, publish(staged, key, std::move(list)));
  if (durability == Durability::full) {
    CUKIT_TRY(sync_directory(home_.store()));
  }
  return entry;
}

namespace {

std::vector<ExpectedPath> expected_paths(const std::vector<EntryFile>& list) {
  std::vector<ExpectedPath> expected;
  expected.reserve(list.size());
  for (const auto& file : list) {
    expected.push_back(
        {file.path, file.executable ? 0555U : 0444U, file.size, file.sha256, file.link});
  }
  return expected;
}

} // namespace

Result<std::vector<Difference>> Store::differences(const std::string& key, DigestMemory& memory,
                                                   const std::stop_token& stop) const {
  CUKIT_TRY_ASSIGN(const auto entry, read(key));
  return compare_folder(entry.files, expected_paths(entry.list), {}, stop, memory);
}

Result<std::vector<std::string>> Store::verify(const std::string& key) const {
  CUKIT_TRY_ASSIGN(const auto entry, read(key));
  return check_folder(entry.files, expected_paths(entry.list), {}, {});
}

} // namespace cukit::store

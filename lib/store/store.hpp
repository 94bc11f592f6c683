// Unpacked artifacts by content: store/<key>/{files/,index}, complete or absent, never opened for
// writing again. The index is written last, and the folder appears by one rename after everything
// in it is durable.
#pragma once

#include "store/folder_check.hpp"
#include "store/hold.hpp"
#include "store/layout.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace cukit::store {

struct EntryFile {
  RelativePath path;
  std::uint64_t size = 0;
  Sha256 sha256 = {};
  bool executable = false;
  std::string link = {}; ///< target of a symbolic link, which has none of the above; empty: a file
  bool operator==(const EntryFile&) const = default;
};

struct Entry {
  std::string key;
  fs::path files;                              ///< the folder with the content
  std::vector<EntryFile> list;                 ///< sorted by path
  std::shared_ptr<const FolderHold> hold = {}; ///< keeps gc away while the value lives
};

/// full: syncfs before every rename; normal: leaves it to the kernel
enum class Durability { normal, full };

class Store {
public:
  explicit Store(Home home) : home_(std::move(home)) {}
  [[nodiscard]] const Home& home() const { return home_; }
  /// Here, or in the system store below this one.
  [[nodiscard]] bool has(const std::string& key) const;
  /// Looks in the same places. Expected_no when the entry is in neither.
  Result<Entry> read(const std::string& key) const;

  /// Makes `staged`/files (already filled) the entry `key`: writes the index, syncs, renames.
  /// Somebody else's equal entry wins; one that differs is an error.
  Result<Entry> commit(const Staging& staged, const std::string& key, std::vector<EntryFile> list,
                       Durability durability);

  /// commit() in two steps, for a batch with one sync between them: prepare() sorts `list` and
  /// writes the index beside the files, publish() renames. Whoever calls them syncs.
  Result<void> prepare(const Staging& staged, std::vector<EntryFile>& list) const;
  Result<Entry> publish(const Staging& staged, const std::string& key, std::vector<EntryFile> list);

  /// Re-hashes every file; what differs, is missing or is extra is named. Empty: all well.
  Result<std::vector<std::string>> verify(const std::string& key) const;
  /// The same in parts. Expected_no when there is no such entry, another error when its index is
  /// damaged.
  Result<std::vector<Difference>> differences(const std::string& key, DigestMemory& memory,
                                              const std::stop_token& stop) const;

private:
  [[nodiscard]] fs::path folder(const std::string& key) const { return home_.store() / key; }
  [[nodiscard]] fs::path find(const std::string& key) const;
  Home home_;
};

} // namespace cukit::store

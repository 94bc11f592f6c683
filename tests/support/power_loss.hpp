// A disk that loses its power. From the folder as it was before a run and the journal of the run
// (support/faulty_fs.h) it rebuilds what the folder may hold when the power goes after any step:
// everything that a sync made safe, and of the rest what the given way keeps.
//
// What is safe, as strictly as POSIX allows: fsync of a file keeps its content and mode, not its
// name; fsync of a folder keeps the names in it, not what they lead to; syncfs keeps everything. A
// rename is one step, kept when either of its folders is synced.
#pragma once

#include "base/files.hpp"

#include <map>
#include <memory>
#include <random>
#include <set>

namespace cukit::test {

class PowerLoss {
public:
  /// What is kept of the changes that no sync made safe.
  enum class Kept {
    everything, ///< a test of this model: the folder as the run left it
    nothing,
    names,    ///< names and modes, no content: files of no length
    in_order, ///< up to a random step, as a journal of the disk writes them back
    random    ///< each change by the fall of a coin
  };

  /// `root` is looked at now, before the run.
  explicit PowerLoss(fs::path root);
  /// Throws when the journal does not fit to what was there.
  void read_journal(const fs::path& file);
  [[nodiscard]] std::size_t steps() const { return changes_.size(); }
  /// Replaces what is in the root.
  void rebuild(std::size_t cut, Kept kept, unsigned seed) const;

private:
  using Node = std::size_t; ///< a number in nodes_
  struct File {
    char kind = 'f'; ///< f, d, l
    unsigned mode = 0;
    std::string content; ///< target of a link
    std::map<std::string, Node> names;
  };
  struct Name {
    Node folder = 0;
    std::string name;
  };
  enum class What { add, remove, move, write, truncate, chmod, sync, sync_all };
  struct Change {
    What what = What::add;
    Node node = 0; ///< what the change is about
    Name from = {};
    Name to = {};
    std::uint64_t offset = 0; ///< or size, or mode
    std::string bytes = {};
  };
  struct Record;

  Node scan(const fs::path& path);
  [[nodiscard]] Name resolve(const std::vector<File>& files, const std::string& path) const;
  Node node_of_inode(std::uint64_t inode) const;
  Node new_node(char kind, unsigned mode, std::uint64_t inode, std::string content);
  Change change_of(const Record& record);
  Change name_change_of(const Record& record);
  static void apply(std::vector<File>& files, const Change& change);
  [[nodiscard]] std::set<std::size_t> safe_before(std::size_t cut) const;
  void write_out(const std::vector<File>& files, Node node, const fs::path& path,
                 std::map<Node, fs::path>& written) const;

  fs::path root_;
  std::vector<File> before_; ///< as scanned; nodes that the run makes are empty there
  std::vector<File> now_;    ///< while the journal is read
  std::map<std::uint64_t, Node> inodes_;
  std::vector<Change> changes_;
};

} // namespace cukit::test

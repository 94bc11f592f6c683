// A folder looked at as if it were `/`: every link is followed inside it, absolute ones too, so
// that an image's /etc/alternatives leads to the image's files and never to this machine's. `/`
// itself is the live machine. Reads only; nothing is executed. Paths that go in and come out are
// absolute inside the root. Regular files alone are opened, and never waited for. What a look may
// cost is bounded: behind the budget nothing is found any more, and is_spent() says so. For one
// thread: what was resolved is remembered.
#pragma once

#include "base/files.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::survey {

struct Budget {
  std::uint64_t bytes = SIZE_MAX; ///< read, and a little for each name that is looked up
  std::chrono::milliseconds time = std::chrono::hours(1);
  std::stop_token stop = {}; ///< a stop spends it at once
};

class RootView {
public:
  struct Entry {
    std::string real = {}; ///< without links, dots and doubled slashes
    bool is_folder = false;
    bool is_regular = false;
    bool is_executable = false; ///< a regular file with an x bit; owners are not looked at
    std::uint64_t size = 0;
  };

  explicit RootView(fs::path root, Budget budget = {});

  [[nodiscard]] bool is_live() const { return root_.empty(); }
  /// What the path leads to; nothing when it does not exist or its links go round.
  [[nodiscard]] std::optional<Entry> find(std::string_view path) const;
  [[nodiscard]] bool is_file(std::string_view path) const;
  [[nodiscard]] bool is_folder(std::string_view path) const;
  [[nodiscard]] bool is_program(std::string_view path) const;
  /// Whether the path itself (its last name) is a link.
  [[nodiscard]] bool is_link(std::string_view path) const;
  /// The bytes; nothing when it is no regular file that can be read or has more than `limit`.
  [[nodiscard]] std::optional<std::string> read(std::string_view path, std::uint64_t limit) const;
  /// The first `count` bytes, fewer when there are no more.
  [[nodiscard]] std::string head(std::string_view path, std::size_t count) const;
  /// Sorted names; none when it is no folder.
  [[nodiscard]] std::vector<std::string> list(std::string_view path) const;
  /// For reading; nothing when it is no regular file.
  [[nodiscard]] std::optional<Fd> open(std::string_view path) const;
  /// Counts what a reader of open() reads; false when there is no budget left.
  bool spend(std::uint64_t bytes) const;
  [[nodiscard]] bool is_spent() const { return is_spent_; }
  /// Room for what a reader found out, by a name of its own: one file is reached in several ways.
  [[nodiscard]] std::optional<std::string>& remembered(const std::string& name) const {
    return remembered_[name];
  }

private:
  /// Where a path of find() lies on this machine.
  [[nodiscard]] fs::path on_host(std::string_view real) const;
  std::optional<Entry> follow(std::string_view path, int depth) const;
  [[nodiscard]] std::optional<Entry> look(const std::string& path, int depth) const;

  std::string root_; ///< without a trailing slash; empty: live
  Budget budget_;
  std::chrono::steady_clock::time_point end_;
  mutable std::uint64_t spent_ = 0;
  mutable bool is_spent_ = false;
  mutable std::map<std::string, std::optional<std::string>> remembered_;
  mutable std::map<std::string, std::optional<std::string>, std::less<>>
      folders_; ///< folder as asked for -> real
};

/// `a` and `b` with one slash between them.
[[nodiscard]] std::string join_path(std::string_view a, std::string_view b);
/// The folder a path lies in; "/" above everything.
[[nodiscard]] std::string parent_of(std::string_view path);
/// The last name of a path.
[[nodiscard]] std::string_view name_of(std::string_view path);

} // namespace cukit::survey

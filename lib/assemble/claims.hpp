// Who owns each path of a tree while it is planned.
#pragma once

#include "assemble/assemble.hpp"

namespace cukit::assemble {

class Claims {
public:
  /// `by` names the claimant for people. Equal files (bytes and mode) and equal links are shared;
  /// two owners of a path that differ are an error which names both.
  Result<void> add(TreeFile file, const std::string& by);
  /// A link made by the assembly itself.
  Result<void> add_link(const std::string& path, std::string target);
  /// A file made by the assembly itself.
  Result<void> add_content(const std::string& path, std::string content);
  /// Gives a claimed file other bytes; its owner stays.
  void replace_content(const std::string& path, std::string content);

  [[nodiscard]] const TreeFile* find(const std::string& path) const;
  [[nodiscard]] bool has(const std::string& path) const { return find(path) != nullptr; }
  [[nodiscard]] bool is_folder(const std::string& path) const; ///< something is claimed below it
  /// The paths directly in `folder`, sorted.
  [[nodiscard]] std::vector<std::string> in_folder(const std::string& folder) const;
  [[nodiscard]] std::vector<std::string> all() const;

  /// The plan, sorted by path; an error when a path is both a file and a folder.
  Result<std::vector<TreeFile>> finish() &&;

private:
  struct Claim {
    TreeFile file;
    std::string by;
  };
  std::map<std::string, Claim> by_path_;
};

} // namespace cukit::assemble

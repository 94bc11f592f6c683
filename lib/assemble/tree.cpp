#include "assemble/record.hpp"
#include "base/kept_file.hpp"
#include "base/strings.hpp"

#include <sys/stat.h>

namespace cukit::assemble {

namespace {

// A tree of every component there is has 6,000 paths of 150 bytes; this is seventy times that.
constexpr std::uint64_t k_record_bytes = 64U << 20U;

tl::unexpected<Error> no_tree(const fs::path& path) {
  auto error = Error{.code = ErrorCode::host,
                     .message = fmt::format("{} is no tree that cukit built", path.string())};
  error.hint = "`cukit list` shows the trees there are";
  return tl::unexpected<Error>(std::move(error));
}

tl::unexpected<Error> damaged(Error why, const fs::path& file) {
  why.code = ErrorCode::integrity;
  why.where = file.string();
  why.hint = "`cukit verify --repair` builds the tree again";
  return tl::unexpected<Error>(std::move(why));
}

} // namespace

bool Tree::has(std::string_view path_in_tree) const {
  return path_exists(path / path_in_tree);
}

Result<void> seal_tree(const fs::path& path) {
  if (::chmod(path.c_str(), 0555) != 0) {
    return fail_errno(errno, "cannot make the tree {} read-only", path.string());
  }
  return {};
}

Result<Tree> open_tree(const fs::path& path) {
  const fs::path record = path / ".cukit";
  CUKIT_TRY_ASSIGN(auto hold, store::FolderHold::shared(path));
  if (!hold || !is_kept_folder(record)) {
    return path_exists(path) && !is_kept_folder(path)
               ? Result<Tree>(tl::unexpected<Error>(other_kind(path, "a folder")))
               : no_tree(path);
  }
  CUKIT_TRY_ASSIGN(const auto input, read_kept(record / "input", k_record_bytes));
  CUKIT_TRY_ASSIGN(const auto content, read_kept(record / "content", 256));
  auto read = read_input(input, (record / "input").string());
  const auto digest = Sha256::parse(trim(content));
  if (!read || !digest) {
    return damaged(read ? digest.error() : read.error(), record / (read ? "content" : "input"));
  }
  auto tree = *std::move(read);
  tree.content = *digest;
  tree.path = path;
  tree.hold = std::make_shared<const store::FolderHold>(std::move(*hold));
  return tree;
}

Result<std::vector<TreeFile>> list_files(const Tree& tree) {
  const fs::path path = tree.path / ".cukit/files";
  CUKIT_TRY_ASSIGN(const auto text, read_kept(path, k_record_bytes));
  if (sha256_of(text) != tree.content) {
    auto error = Error{.code = ErrorCode::integrity,
                       .message = "the list of the tree's files does not fit its content digest",
                       .where = path.string()};
    error.hint = "`cukit verify --repair` builds the tree again";
    return tl::unexpected<Error>(std::move(error));
  }
  CUKIT_TRY_ASSIGN(auto files, read_files(text, path.string()));
  for (auto& file : files) {
    file.from = tree.path / file.path.text();
  }
  return files;
}

Result<std::vector<store::Difference>> differences(const Tree& tree, store::DigestMemory& memory,
                                                   const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(const auto files, list_files(tree));
  std::vector<store::ExpectedPath> expected;
  expected.reserve(files.size());
  for (const auto& file : files) {
    expected.push_back(
        {file.path, file.executable ? 0555U : 0444U, file.size, file.sha256, file.link});
  }
  CUKIT_TRY_ASSIGN(auto found,
                   store::compare_folder(tree.path, expected, {".cukit"}, stop, memory));
  CUKIT_TRY_ASSIGN(const auto records, list_directory(tree.path / ".cukit"));
  for (const auto& name : records) {
    if (name != "content" && name != "files" && name != "input") {
      found.push_back({store::Difference::Kind::extra, ".cukit/" + name, ""});
    }
  }
  return found;
}

Result<std::vector<std::string>> verify(const Tree& tree, const std::stop_token& stop) {
  store::DigestMemory memory;
  CUKIT_TRY_ASSIGN(const auto found, differences(tree, memory, stop));
  std::vector<std::string> lines;
  for (const auto& difference : found) {
    lines.push_back(store::text_of(difference));
  }
  return lines;
}

} // namespace cukit::assemble

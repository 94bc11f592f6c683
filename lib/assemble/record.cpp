// .cukit/ of a tree. All three are UTF-8 with LF at the end of every line; fields are separated by
// one tab.
//
// .cukit/input: what the tree was made from. The artifacts' lines are what the tree's id is the
// digest of, in a form for people.
//     cukit-tree <TAB> 1
//     id, assembly, release, platform          one line each, with one value
//     component <TAB> NAME <TAB> VERSION       sorted
//     artifact <TAB> FILE <TAB> SHA256         in the lock's order, each followed by its own
//     record, root, take, leave                with one value; move, link with two
//     end <TAB> SHA256                         of all bytes before this line; older trees have none
// .cukit/files: what it holds outside .cukit/, sorted by path. A mode is 0444 or 0555, and the size
// stands for people.
//     cukit-files <TAB> 1
//     MODE <TAB> SIZE <TAB> SHA256 <TAB> PATH
//     link <TAB> 0 <TAB> TARGET <TAB> PATH
// .cukit/content: sha256:HEX of the bytes of .cukit/files, the tree's content digest.
#include "assemble/record.hpp"

#include "assemble/normalise.hpp"
#include "base/number.hpp"
#include "base/strings.hpp"

namespace cukit::assemble {

namespace {

constexpr std::string_view k_input_head = "cukit-tree\t1";
constexpr std::string_view k_files_head = "cukit-files\t1";

tl::unexpected<Error> damaged(const std::string& file, std::string_view why) {
  auto error = Error{.code = ErrorCode::integrity,
                     .message = fmt::format("the record of a tree is damaged: {}", why),
                     .where = file};
  error.hint = "`cukit verify --repair` builds the tree again";
  return tl::unexpected<Error>(std::move(error));
}

/// The lines after the head; an error when the head is not `head` or the text is cut off.
Result<std::vector<std::string_view>> lines_after(std::string_view head, std::string_view text,
                                                  const std::string& file) {
  if (!text.ends_with('\n')) {
    return damaged(file, "it is cut off");
  }
  text.remove_suffix(1);
  auto lines = split(text, '\n');
  if (lines.front() != head) {
    return damaged(file, fmt::format("it does not begin with `{}`", head));
  }
  lines.erase(lines.begin());
  return lines;
}

std::string artifact_lines(const lock::Artifact& artifact) {
  std::string text = fmt::format("artifact\t{}\t{}\n", artifact.file, artifact.sha256.hex());
  if (artifact.record) {
    text += fmt::format("record\t{}\n", artifact.record->hex());
  }
  text += fmt::format("root\t{}\n", artifact.root);
  for (const auto& path : artifact.take) {
    text += fmt::format("take\t{}\n", path);
  }
  for (const auto& path : artifact.leave) {
    text += fmt::format("leave\t{}\n", path);
  }
  for (const auto& [from, to] : artifact.move) {
    text += fmt::format("move\t{}\t{}\n", from, to);
  }
  for (const auto& [name, target] : artifact.link) {
    text += fmt::format("link\t{}\t{}\n", name, target);
  }
  return text;
}

Result<TreeFile> read_file_line(std::string_view line, const std::string& file) {
  const auto fields = split(line, '\t');
  if (fields.size() != 4) {
    return damaged(file, "a line has not four fields");
  }
  TreeFile result;
  CUKIT_TRY_ASSIGN(result.path, RelativePath::parse(fields[3]));
  if (fields[0] == "link") {
    result.link = fields[2];
    return result.link.empty() ? damaged(file, "a link leads nowhere") : Result<TreeFile>(result);
  }
  if (fields[0] != "0444" && fields[0] != "0555") {
    return damaged(file, "a line is no file");
  }
  result.executable = fields[0] == "0555";
  const auto size = whole_number(fields[1]);
  if (!size) {
    return damaged(file, "a size is no number");
  }
  result.size = *size;
  CUKIT_TRY_ASSIGN(result.sha256, Sha256::parse(fields[2]));
  return result;
}

} // namespace

std::string write_input(const lock::Lock& lock, const lock::PlatformLock& platform) {
  std::string text = fmt::format("{}\nid\t{}\nassembly\t{}\nrelease\t{}\nplatform\t{}\n",
                                 k_input_head, lock::tree_id(lock, platform).hex(), lock.assembly,
                                 lock.release.text(), platform.platform.text());
  for (const auto& [name, version] : component_versions(platform)) {
    text += fmt::format("component\t{}\t{}\n", name, version);
  }
  for (const auto& artifact : platform.artifacts) {
    text += artifact_lines(artifact);
  }
  return text + fmt::format("end\t{}\n", sha256_of(text).hex());
}

namespace {

/// The text without the line that ends it, once that has shown that nothing was changed.
Result<std::string_view> without_end(std::string_view text, const std::string& file) {
  const auto at = text.rfind("\nend\t");
  if (at == std::string_view::npos) {
    return text;
  }
  const auto body = text.substr(0, at + 1);
  const auto digest = Sha256::parse(trim(text.substr(at + 5)));
  return digest && *digest == sha256_of(body) ? Result<std::string_view>(body)
                                              : damaged(file, "it was changed, its digest differs");
}

} // namespace

Result<Tree> read_input(std::string_view text, const std::string& file) {
  CUKIT_TRY_ASSIGN(text, without_end(text, file));
  CUKIT_TRY_ASSIGN(const auto lines, lines_after(k_input_head, text, file));
  Tree tree;
  int seen = 0;
  for (const auto line : lines) {
    const auto fields = split(line, '\t');
    if (fields[0] == "component" && fields.size() == 3) {
      tree.components.emplace(fields[1], fields[2]);
    } else if (fields.size() != 2) {
      continue; // artifacts and their moves are for people
    } else if (fields[0] == "id") {
      CUKIT_TRY_ASSIGN(tree.id, Sha256::parse(fields[1]));
      ++seen;
    } else if (fields[0] == "release") {
      CUKIT_TRY_ASSIGN(tree.release, Version::parse(fields[1]));
      ++seen;
    } else if (fields[0] == "platform") {
      CUKIT_TRY_ASSIGN(tree.platform, Platform::parse(fields[1]));
      ++seen;
    }
  }
  return seen == 3 ? Result<Tree>(std::move(tree))
                   : damaged(file, "id, release or platform is missing");
}

std::string write_files(const std::vector<TreeFile>& files) {
  std::string text(k_files_head);
  text += '\n';
  for (const auto& file : files) {
    text += file.link.empty() ? fmt::format("{}\t{}\t{}\t{}\n", file.executable ? "0555" : "0444",
                                            file.size, file.sha256.hex(), file.path.text())
                              : fmt::format("link\t0\t{}\t{}\n", file.link, file.path.text());
  }
  return text;
}

Result<std::vector<TreeFile>> read_files(std::string_view text, const std::string& file) {
  CUKIT_TRY_ASSIGN(const auto lines, lines_after(k_files_head, text, file));
  std::vector<TreeFile> files;
  files.reserve(lines.size());
  for (const auto line : lines) {
    CUKIT_TRY_ASSIGN(auto entry, read_file_line(line, file));
    if (!files.empty() && files.back().path >= entry.path) {
      return damaged(file, "its paths are not sorted");
    }
    files.push_back(std::move(entry));
  }
  return files;
}

} // namespace cukit::assemble

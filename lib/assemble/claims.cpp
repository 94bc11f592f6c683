#include "assemble/claims.hpp"

namespace cukit::assemble {

namespace {

constexpr const char* k_ourselves = "cukit";

bool same(const TreeFile& a, const TreeFile& b) {
  return a.link == b.link &&
         (!a.link.empty() || (a.sha256 == b.sha256 && a.executable == b.executable));
}

std::string describe(const TreeFile& file) {
  return file.link.empty() ? file.sha256.text() : "a link to " + file.link;
}

} // namespace

Result<void> Claims::add(TreeFile file, const std::string& by) {
  const std::string path = file.path.text();
  const auto it = by_path_.find(path);
  if (it == by_path_.end()) {
    by_path_.emplace(path, Claim{std::move(file), by});
    return {};
  }
  if (same(it->second.file, file)) {
    return {};
  }
  auto error = Error{.code = ErrorCode::integrity,
                     .message = fmt::format("{} and {} both bring {}, with different content",
                                            it->second.by, by, path)};
  error.causes = {fmt::format("{}: {}", it->second.by, describe(it->second.file)),
                  fmt::format("{}: {}", by, describe(file))};
  error.hint = "choose versions of one release, or leave the path out of one of the two";
  return tl::unexpected<Error>(std::move(error));
}

Result<void> Claims::add_link(const std::string& path, std::string target) {
  TreeFile file;
  CUKIT_TRY_ASSIGN(file.path, RelativePath::parse(path));
  file.link = std::move(target);
  file.owner = k_ourselves;
  return add(std::move(file), k_ourselves);
}

Result<void> Claims::add_content(const std::string& path, std::string content) {
  TreeFile file;
  CUKIT_TRY_ASSIGN(file.path, RelativePath::parse(path));
  file.executable = content.starts_with("\x7f"
                                        "ELF");
  file.size = content.size();
  file.sha256 = sha256_of(content);
  file.content = std::move(content);
  file.owner = k_ourselves;
  return add(std::move(file), k_ourselves);
}

void Claims::replace_content(const std::string& path, std::string content) {
  auto& file = by_path_.at(path).file;
  file.from.clear();
  file.size = content.size();
  file.sha256 = sha256_of(content);
  file.content = std::move(content);
}

const TreeFile* Claims::find(const std::string& path) const {
  const auto it = by_path_.find(path);
  return it == by_path_.end() ? nullptr : &it->second.file;
}

bool Claims::is_folder(const std::string& path) const {
  const auto it = by_path_.lower_bound(path + "/");
  return it != by_path_.end() && it->first.starts_with(path + "/");
}

std::vector<std::string> Claims::in_folder(const std::string& folder) const {
  const std::string prefix = folder + "/";
  std::vector<std::string> paths;
  for (auto it = by_path_.lower_bound(prefix);
       it != by_path_.end() && it->first.starts_with(prefix); ++it) {
    if (it->first.find('/', prefix.size()) == std::string::npos) {
      paths.push_back(it->first);
    }
  }
  return paths;
}

std::vector<std::string> Claims::all() const {
  std::vector<std::string> paths;
  paths.reserve(by_path_.size());
  for (const auto& [path, claim] : by_path_) {
    paths.push_back(path);
  }
  return paths;
}

Result<std::vector<TreeFile>> Claims::finish() && {
  for (const auto& [path, claim] : by_path_) {
    if (!is_folder(path)) {
      continue;
    }
    const auto& below = by_path_.lower_bound(path + "/")->second;
    auto error = Error{.code = ErrorCode::integrity,
                       .message = fmt::format("{} is {} of {} and a folder of {}", path,
                                              claim.file.link.empty() ? "a file" : "a link",
                                              claim.by, below.by)};
    error.causes = {fmt::format("{} brings {}", below.by, below.file.path.text())};
    error.hint = "the component's recipe has to move one of the two";
    return tl::unexpected<Error>(std::move(error));
  }
  std::vector<TreeFile> files;
  files.reserve(by_path_.size());
  for (auto& [path, claim] : by_path_) {
    files.push_back(std::move(claim.file));
  }
  return files;
}

} // namespace cukit::assemble

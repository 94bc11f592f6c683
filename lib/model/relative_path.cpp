#include "model/relative_path.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"

namespace cukit {

namespace {

tl::unexpected<Error> refuse(std::string_view text, std::string_view why) {
  return fail(ErrorCode::integrity, "the path `{}` {}", printable(text.substr(0, 200)), why);
}

} // namespace

Result<RelativePath> RelativePath::parse(std::string_view text) {
  if (text.empty()) {
    return refuse(text, "is empty");
  }
  if (text.size() > limits::k_path_bytes) {
    return refuse(text, "is too long");
  }
  if (text.front() == '/') {
    return refuse(text, "is absolute");
  }
  if (!is_utf8(text)) {
    return refuse(text, "is not UTF-8");
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') {
      return refuse(text, "holds a control character or a backslash");
    }
  }
  std::size_t depth = 0;
  for (const auto part : split(text, '/')) {
    if (part.empty() || part == "." || part == "..") {
      return refuse(text, "has an empty, `.` or `..` part");
    }
    if (part.size() > limits::k_name_bytes) {
      return refuse(text, "has a part that is too long");
    }
    if (++depth > limits::k_path_depth) {
      return refuse(text, "is too deep");
    }
  }
  return RelativePath(std::string(text));
}

std::string_view RelativePath::name() const {
  const auto slash = text_.rfind('/');
  return slash == std::string::npos ? std::string_view(text_)
                                    : std::string_view(text_).substr(slash + 1);
}

RelativePath RelativePath::parent() const {
  const auto slash = text_.rfind('/');
  return slash == std::string::npos ? RelativePath() : RelativePath(text_.substr(0, slash));
}

bool RelativePath::is_inside(std::string_view folder) const {
  while (folder.ends_with('/')) {
    folder.remove_suffix(1);
  }
  return folder.empty() ? !text_.empty()
                        : text_.size() > folder.size() && text_.starts_with(folder) &&
                              text_[folder.size()] == '/';
}

Result<RelativePath> resolve_link(const RelativePath& link, std::string_view target) {
  if (target.empty() || target.front() == '/') {
    return refuse(target, "is no relative link target");
  }
  std::vector<std::string> parts;
  const auto folder = link.parent();
  if (!folder.empty()) {
    for (const auto part : split(folder.text(), '/')) {
      parts.emplace_back(part);
    }
  }
  for (const auto part : split(target, '/')) {
    if (part.empty() || part == ".") {
      continue;
    }
    if (part == "..") {
      if (parts.empty()) {
        return refuse(target, fmt::format("leads out of the tree from {}", link.text()));
      }
      parts.pop_back();
    } else {
      parts.emplace_back(part);
    }
  }
  if (parts.empty()) {
    return RelativePath();
  }
  return RelativePath::parse(join(parts, "/"));
}

} // namespace cukit

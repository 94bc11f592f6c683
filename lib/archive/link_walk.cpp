#include "archive/link_walk.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"

namespace cukit::archive {

std::string LinkWalk::follow(const std::string& path, const std::string& target) {
  const auto parts = split(target, '/');
  rest_.assign(parts.begin(), parts.end());
  at_.clear();
  hops_ = 0;
  if (const auto slash = path.rfind('/'); slash != std::string::npos) {
    const auto folder = split(std::string_view(path).substr(0, slash), '/');
    at_.assign(folder.begin(), folder.end());
  }
  while (!rest_.empty()) {
    if (++steps_ > limits::k_link_steps || at_.size() > limits::k_path_depth) {
      return "takes too many steps";
    }
    const auto part = rest_.front();
    rest_.pop_front();
    if (auto wrong = step(part); !wrong.empty()) {
      return wrong;
    }
  }
  return {};
}

std::string LinkWalk::step(const std::string& part) {
  if (part.empty() || part == ".") {
    return {};
  }
  if (part == "..") {
    if (at_.empty()) {
      return "leads out of the archive";
    }
    at_.pop_back();
    return {};
  }
  at_.push_back(part);
  const auto* target = link_at_(join(at_, "/"));
  if (target == nullptr) {
    return {};
  }
  if (++hops_ > limits::k_link_hops) {
    return "goes in a circle";
  }
  at_.pop_back();
  const auto parts = split(*target, '/');
  rest_.insert(rest_.begin(), parts.begin(), parts.end());
  return {};
}

} // namespace cukit::archive

// Where the symbolic links of an archive really lead. Private to archive/.
#pragma once

#include "base/result.hpp"

#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace cukit::archive {

/// Each link alone may look well and two of them lead out: `a -> .` and `b -> a/..`. So the parts
/// of a target are walked one by one, through the other links, as the kernel would.
class LinkWalk {
public:
  /// The target of the link at a path; null when there is none.
  using LinkAt = std::function<const std::string*(const std::string& path)>;
  explicit LinkWalk(LinkAt link_at) : link_at_(std::move(link_at)) {}

  /// Empty when the walk stays in the archive; it may end at a place where nothing is. Else what is
  /// wrong. The work of all calls together is bounded.
  std::string follow(const std::string& path, const std::string& target);

private:
  /// One part of a path; empty when all is well.
  std::string step(const std::string& part);

  LinkAt link_at_;
  std::vector<std::string> at_;
  std::deque<std::string> rest_;
  int hops_ = 0;
  std::size_t steps_ = 0; ///< of all calls
};

} // namespace cukit::archive

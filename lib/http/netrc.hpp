// Which hosts a netrc file names. libcurl reads the logins; it cannot be told that the file's
// `default`, which is for any host, is not for hosts that only a page or a redirect names.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace cukit::http {

class Netrc {
public:
  Netrc() = default;
  explicit Netrc(std::string_view text);
  /// Whether the file has an entry for this very host, before a `default` that would be taken
  /// instead.
  [[nodiscard]] bool names(const std::string& host) const;

private:
  std::set<std::string> machines_; ///< lower case
};

} // namespace cukit::http

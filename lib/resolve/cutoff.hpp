// `--exclude-newer`: an index as it was at a moment.
#pragma once

#include "catalog/catalog.hpp"

namespace cukit::resolve {

/// A moment in UTC. A date alone means the end of that day.
class Cutoff {
public:
  /// 2026-05-01, or 2026-05-01T12:00:00Z (RFC 3339, UTC only).
  static Result<Cutoff> parse(std::string_view text);
  /// As ISO 8601 in UTC, seconds.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// `upload_time` as an index states it (ISO 8601 in UTC, fractions allowed); false for a text
  /// that is none.
  [[nodiscard]] bool allows(std::string_view upload_time) const;
  /// The same for a release's day (2025-10-09), as redistrib manifests have it.
  [[nodiscard]] bool allows_day(std::string_view day) const;

private:
  std::string text_;
};

struct Excluded {
  int newer = 0;   ///< files uploaded after the moment
  int unknown = 0; ///< files for which the index states no time; they are left out too
};

/// Leaves out of the catalog what is newer than the moment or of unknown age.
Excluded exclude_newer(catalog::Catalog& catalog, const Cutoff& cutoff);

} // namespace cukit::resolve

// Moments as text.
#pragma once

#include <cstdint>
#include <string>

namespace cukit {

/// "2026-03-18T09:05:00Z" of seconds since 1970, as RFC 3339 has it.
[[nodiscard]] std::string utc_text(std::int64_t seconds);

} // namespace cukit

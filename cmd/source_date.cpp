#include "source_date.hpp"

#include "base/strings.hpp"
#include "image/layout.hpp"

#include <charconv>

namespace cukit::cmd {

Result<std::string> creation_time(const Environment& environment) {
  constexpr std::int64_t k_last_year = 253402300799; // RFC 3339 has four digits for a year
  const auto text = environment.get("SOURCE_DATE_EPOCH").value_or("0");
  std::int64_t seconds = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, seconds);
  if (parsed.ec != std::errc() || parsed.ptr != end || seconds < 0 || seconds > k_last_year) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("SOURCE_DATE_EPOCH is `{}`, which is no number of seconds",
                                     printable(text)),
              .hint = "for example: export SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)"});
  }
  return image::time_text(seconds);
}

} // namespace cukit::cmd

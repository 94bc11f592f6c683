#include "source_date.hpp"

#include "base/number.hpp"
#include "base/strings.hpp"
#include "base/utc.hpp"

namespace cukit::cmd {

Result<std::string> creation_time(const Environment& environment) {
  constexpr std::int64_t k_last_year = 253402300799; // RFC 3339 has four digits for a year
  const auto text = environment.get("SOURCE_DATE_EPOCH").value_or("0");
  const auto seconds = whole_number<std::int64_t>(text).value_or(-1);
  if (seconds < 0 || seconds > k_last_year) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("SOURCE_DATE_EPOCH is `{}`, which is no number of seconds",
                                     printable(text)),
              .hint = "for example: export SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)"});
  }
  return utc_text(seconds);
}

} // namespace cukit::cmd

#include "resolve/cutoff.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <charconv>

namespace cukit::resolve {

namespace {

constexpr std::string_view k_shape = "dddd-dd-ddTdd:dd:dd";
constexpr std::size_t k_date = 10;

bool has_shape(std::string_view text, std::string_view shape) {
  return text.size() == shape.size() &&
         std::equal(text.begin(), text.end(), shape.begin(), [](char c, char wanted) {
           return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted;
         });
}

int number(std::string_view text, std::size_t at) {
  int value = 0;
  std::from_chars(text.data() + at, text.data() + at + 2, value);
  return value;
}

bool is_moment(std::string_view text) {
  if (!has_shape(text, k_shape)) {
    return false;
  }
  static constexpr int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int month = number(text, 5);
  const int day = number(text, 8);
  return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] &&
         number(text, 11) <= 23 && number(text, 14) <= 59 && number(text, 17) <= 60;
}

/// Seconds of a moment in UTC; empty for anything else.
std::string in_seconds(std::string_view text) {
  text = trim(text);
  if (!text.ends_with('Z') && !text.ends_with("+00:00")) {
    return {};
  }
  text.remove_suffix(text.ends_with('Z') ? 1 : 6);
  auto fraction = text.substr(std::min(text.size(), k_shape.size()));
  const bool has_fraction = fraction.size() > 1 && fraction.front() == '.' &&
                            fraction.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (!fraction.empty() && !has_fraction) {
    return {};
  }
  text = text.substr(0, k_shape.size());
  return is_moment(text) ? std::string(text) : std::string();
}

} // namespace

Result<Cutoff> Cutoff::parse(std::string_view text) {
  Cutoff result;
  const auto end_of_day = std::string(text) + "T23:59:59";
  if (text.size() == k_date && is_moment(end_of_day)) {
    result.text_ = end_of_day;
    return result;
  }
  result.text_ = in_seconds(text);
  if (result.text_.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("`{}` is no date", printable(text.substr(0, 100))),
              .hint = "write 2026-05-01 (the end of that day in UTC) or 2026-05-01T12:00:00Z"});
  }
  return result;
}

bool Cutoff::allows(std::string_view upload_time) const {
  const auto moment = in_seconds(upload_time);
  return !moment.empty() && moment <= text_;
}

bool Cutoff::allows_day(std::string_view day) const {
  return is_moment(fmt::format("{}T00:00:00", day)) && day <= text_.substr(0, k_date);
}

Excluded exclude_newer(catalog::Catalog& catalog, const Cutoff& cutoff) {
  Excluded result;
  const auto is_out = [&](const catalog::WheelFile& file) {
    if (cutoff.allows(file.upload_time)) {
      return false;
    }
    ++(in_seconds(file.upload_time).empty() ? result.unknown : result.newer);
    return true;
  };
  for (auto& [project, files] : catalog.projects) {
    std::erase_if(files, is_out);
  }
  // They are on the pages too, where they were counted.
  std::erase_if(catalog.releases, [&](const catalog::MetaRelease& release) {
    return !cutoff.allows(release.file.upload_time);
  });
  std::erase_if(catalog.manifests, [&](const catalog::RedistManifest& manifest) {
    if (cutoff.allows_day(manifest.date)) {
      return false;
    }
    ++(manifest.date.empty() ? result.unknown : result.newer);
    return true;
  });
  return result;
}

} // namespace cukit::resolve

#include "archive/zip_format.hpp"
#include "base/strings.hpp"

namespace cukit::archive::zip {

namespace {

constexpr std::uint16_t k_zip64_id = 0x0001;
constexpr std::uint16_t k_unicode_path_id = 0x7075;

} // namespace

Result<Extra> parse_extra(const RandomAccess& file, Bytes extra, std::string_view name) {
  Extra result;
  while (!extra.empty()) {
    if (extra.size() < 4 || u16(extra, 2) > extra.size() - 4) {
      return refuse(file, "an extra field of `{}` runs past its area", printable(name));
    }
    const auto id = u16(extra, 0);
    const Bytes value = extra.subspan(4, u16(extra, 2));
    if (id == k_zip64_id && result.zip64) {
      return refuse(file, "`{}` has two zip64 extra fields", printable(name));
    }
    if (id == k_zip64_id) {
      result.zip64 = value;
    }
    // version, CRC of the other name, then a name that some readers prefer to the header's
    if (id == k_unicode_path_id && (value.size() < 5 || text(value.subspan(5)) != name)) {
      return refuse(file, "`{}` has a second name in a unicode path extra field", printable(name));
    }
    extra = extra.subspan(4 + value.size());
  }
  return result;
}

Result<void> resolve_zip64(const RandomAccess& file, const Extra& extra, std::string_view name,
                           std::initializer_list<std::uint64_t*> values) {
  Bytes rest = extra.zip64.value_or(Bytes());
  for (auto* value : values) {
    if (*value != k_sentinel32) {
      continue;
    }
    if (rest.size() < 8) {
      return refuse(file, "the zip64 extra field of `{}` lacks a value", printable(name));
    }
    *value = u64(rest, 0);
    rest = rest.subspan(8);
  }
  if (!rest.empty()) {
    return refuse(file, "the zip64 extra field of `{}` holds values that no field calls for",
                  printable(name));
  }
  return {};
}

} // namespace cukit::archive::zip

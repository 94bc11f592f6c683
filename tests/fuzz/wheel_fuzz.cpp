// Bytes as a wheel, and the same bytes as RECORD: no crash, and an accepted wheel has a digest for
// every member but RECORD and its signatures.
#include "archive/record.hpp"
#include "archive/wheel.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace cukit;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void check(const archive::Wheel& wheel) {
  const std::string record = wheel.dist_info + "/RECORD";
  for (const auto& member : wheel.members) {
    const auto& path = member.zip.path.text();
    require(member.sha256 || path == record || path == record + ".jws" || path == record + ".p7s");
  }
  require(std::is_sorted(wheel.members.begin(), wheel.members.end(),
                         [](const auto& a, const auto& b) { return a.zip.path < b.zip.path; }));
  require(archive::metadata_values(wheel.metadata, "Name").size() == 1);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(archive::parse_record(bytes));
  const auto file = in_memory(bytes, "fuzz.whl");
  const auto whole = archive::open_wheel(*file, archive::Audit::whole);
  const auto ranged = archive::open_wheel(*file, archive::Audit::ranged);
  require(ranged || !whole);
  if (whole) {
    check(*whole);
  }
  return 0;
}

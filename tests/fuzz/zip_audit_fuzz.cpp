// Whatever the bytes are: no crash, bounded memory, and what the audit promises holds.
#include "archive/zip.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace cukit;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

constexpr std::uint64_t k_read_limit = 8U << 20U; // more would only be slow

Result<std::uint64_t> read_size(const RandomAccess& file, const archive::ZipMember& member) {
  std::uint64_t size = 0;
  CUKIT_TRY(archive::read_member(file, member, [&size](std::span<const std::uint8_t> bytes) {
    size += bytes.size();
    return Result<void>();
  }));
  return size;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file =
      in_memory(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.zip");
  const auto whole = archive::audit_zip(*file, archive::Audit::whole);
  const auto ranged = archive::audit_zip(*file, archive::Audit::ranged);
  require(ranged || !whole); // the whole audit refuses whatever the ranged one does
  if (!ranged) {
    return 0;
  }
  std::uint64_t claimed = 0;
  std::uint64_t budget = k_read_limit;
  for (std::size_t i = 0; i < ranged->size(); ++i) {
    const auto& member = (*ranged)[i];
    claimed += member.end_offset - member.header_offset;
    if (member.size > budget) {
      continue;
    }
    budget -= member.size;
    const auto late = read_size(*file, member);
    require(!late || *late == member.size);
    if (whole) {
      require((*whole)[i].path == member.path);
      const auto early = read_size(*file, (*whole)[i]);
      require(early.has_value() == late.has_value());
    }
  }
  require(claimed <= size);
  return 0;
}

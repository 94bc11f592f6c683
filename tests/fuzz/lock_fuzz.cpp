// Any bytes as a lock: reading never crashes, and what is accepted is written in one spelling only.
#include "lock/lock.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto lock = cukit::lock::read(text, "fuzz");
  if (!lock) {
    return 0;
  }
  const auto once = cukit::lock::write(*lock);
  const auto again = cukit::lock::read(once, "again");
  if (!again || *again != *lock || cukit::lock::write(*again) != once) {
    std::abort();
  }
  for (const auto& platform : lock->platforms) {
    static_cast<void>(cukit::lock::tree_id(*lock, platform));
    for (const auto& artifact : platform.artifacts) {
      static_cast<void>(cukit::lock::store_key(artifact));
    }
  }
  return 0;
}

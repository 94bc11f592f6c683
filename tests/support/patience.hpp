// How long a test waits for what is to happen at once.
#pragma once

#include <chrono>

namespace cukit::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Sanitized programs start slowly, and on a busy machine more so.
inline constexpr std::chrono::seconds k_soon{10};
#else
inline constexpr std::chrono::seconds k_soon{1};
#endif

} // namespace cukit::test

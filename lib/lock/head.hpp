// What a lock says before it comes to its platforms, for those who look at many locks.
#pragma once

#include "lock/lock.hpp"

namespace cukit::lock {

/// The lock without `platforms`, which are most of its text and are not looked at; everything else
/// is checked as by read().
Result<Lock> read_head(std::string_view text, const std::string& file);

} // namespace cukit::lock

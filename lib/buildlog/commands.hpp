// Compile and link commands out of a line. Private.
#pragma once

#include "buildlog/buildlog.hpp"

#include <optional>

namespace cukit::buildlog {

/// The words of a shell's line, without its quotes; at most `most` of them.
std::vector<std::string> shell_words(std::string_view line, std::size_t most = 20'000);
/// The compile or link command of a line; nothing when it has none.
std::optional<Command> command_of(std::string_view line);
/// Equal for commands that search the same places for the same targets.
std::string signature_of(const Command& command);

} // namespace cukit::buildlog

// What is done to the command line around CLI11: words that people try, whose a word is, and what a
// mistake is answered with.
#pragma once

#include "cli.hpp"

#include <string>
#include <vector>

namespace cukit::cmd {

/// The arguments as the parser of `app` must see them, in order.
/// - `help`, `help COMMAND` and `version` are spelled as options.
/// - Everything behind the toolkit of `run`, and behind `doctor --watch`, belongs to the command
///   there: `--` says so to the parser, which otherwise takes `-j` of `make -j` for its own.
/// A word in the place of a command that is none is an error.
Result<std::vector<std::string>> understood(const CLI::App& app,
                                            std::vector<std::string> arguments);

/// An option or operand that was given without a value (`--prefix ""`, from a variable that is not
/// set) is a mistake rather than a wish for the default. A command that is run may have any words.
Result<void> refuse_empty_values(const CLI::App& app);

/// The mistake that the parser found in the command line of `app`.
Error mistake(const CLI::App& app, const CLI::ParseError& error);

/// For the name of what a command writes: text that a report of it can hold.
CLI::Validator text_name();

} // namespace cukit::cmd

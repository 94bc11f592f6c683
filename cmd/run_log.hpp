// logs/runs.jsonl of a home: what the last runs changed, or why they failed, one JSON object a
// line: time, version, command, exit_code, outcome (what --json prints). A run that changed nothing
// leaves no line. Errors and addresses come without logins; arguments are not written.
#pragma once

#include "cli.hpp"

namespace cukit::cmd {

/// At the end of a run that has something to tell (invocation.outcome) about a home that is there.
/// A full file becomes runs.old.jsonl, so the folder never has more than two of them. A log that
/// cannot be written is no failure.
void log_run(const Invocation& invocation, int exit_code);

} // namespace cukit::cmd

// How a result reads on the terminal and in JSON; used by `up`, `build` and `validate`.
#pragma once

#include "cli.hpp"
#include "pipeline/up.hpp"

namespace cukit::cmd {

/// What could not be read while the rest was listed.
text::Json errors_json(const std::vector<Error>& errors);
/// Prints each; the exit code of the first, 0 when there is none. With --json only the code: the
/// object that was printed holds them.
int report_damaged(Invocation& invocation, const std::vector<Error>& errors);

text::Json tree_json(const assemble::Tree& tree, const std::string& name);
text::Json validation_json(const validate::Report& report);
std::string up_text(const Invocation& invocation, const pipeline::UpResult& result);
/// Kernels x targets, with what ran where.
std::string report_text(const ui::Terminal& terminal, const validate::Report& report);

} // namespace cukit::cmd

// How a result reads on the terminal and in JSON; used by `up`, `build` and `validate`.
#pragma once

#include "cli.hpp"
#include "pipeline/up.hpp"

namespace cukit::cmd {

text::Json tree_json(const assemble::Tree& tree, const std::string& name);
text::Json validation_json(const validate::Report& report);
std::string up_text(const ui::Terminal& terminal, const pipeline::UpResult& result);
/// Kernels x targets, with what ran where.
std::string report_text(const ui::Terminal& terminal, const validate::Report& report);

} // namespace cukit::cmd

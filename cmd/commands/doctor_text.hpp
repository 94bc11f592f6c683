// How a diagnosis reads on a terminal.
#pragma once

#include "doctor/doctor.hpp"
#include "ui/terminal.hpp"

namespace cukit::cmd {

std::string diagnosis_text(const ui::Terminal& terminal, const doctor::Diagnosis& diagnosis,
                           bool is_verbose, const std::vector<std::string>& own_toolkits);
std::string rules_text(const ui::Terminal& terminal, const std::vector<doctor::RuleText>& rules);
std::string explain_text(const ui::Terminal& terminal, const std::vector<doctor::RuleText>& rules,
                         const std::string& id);

/// What a fix says, behind `indent` columns that are there already: a command on lines that a shell
/// joins again, so that what is copied runs; advice as prose.
std::string fix_lines(const ui::Terminal& terminal, const doctor::Fix& fix, std::size_t indent);
/// Prose in lines of the terminal's width, each after `indent` spaces.
std::string prose(const ui::Terminal& terminal, const std::string& text, std::size_t indent);

} // namespace cukit::cmd

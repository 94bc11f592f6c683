// How a diagnosis reads on a terminal.
#pragma once

#include "doctor/doctor.hpp"
#include "ui/terminal.hpp"

namespace cukit::cmd {

std::string diagnosis_text(const ui::Terminal& terminal, const doctor::Diagnosis& diagnosis,
                           bool is_verbose);
std::string rules_text(const ui::Terminal& terminal, const std::vector<doctor::RuleText>& rules);
std::string explain_text(const ui::Terminal& terminal, const std::vector<doctor::RuleText>& rules,
                         const std::string& id);

} // namespace cukit::cmd

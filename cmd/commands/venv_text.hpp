// What `cukit venv` prints: tables for people, objects for programs.
#pragma once

#include "cli.hpp"
#include "venv/judge.hpp"
#include "venv/wire.hpp"

namespace cukit::cmd {

struct VenvView {
  const venv::Inventory& inventory;
  const std::vector<venv::Trouble>& troubles;
  const std::optional<venv::Wiring>& wiring;
};
text::Json venv_show_json(const VenvView& view);
std::string venv_show_text(const ui::Terminal& terminal, const VenvView& view);
text::Json troubles_json(const std::vector<venv::Trouble>& troubles);
std::string troubles_text(const std::vector<venv::Trouble>& troubles);
text::Json written_json(const std::vector<venv::Written>& files);
std::string written_text(const std::vector<venv::Written>& files, std::string_view verb);
text::Json wheels_json(const venv::WheelSet& set);

} // namespace cukit::cmd

// The coherent set as constraints, so that the next install does not undo it.
#pragma once

#include "venv/wheels.hpp"

namespace cukit::venv {

enum class PinFormat {
  constraints, ///< constraints.txt of pip, also for `uv pip install -c`
  uv,          ///< [tool.uv] of pyproject.toml
  conda,       ///< conda-meta/pinned
};
Result<PinFormat> parse_pin_format(std::string_view name);
std::string print(const WheelSet& set, PinFormat format);

/// Files that `pin --write` wrote or left as they were.
struct Written {
  fs::path path;
  bool changed = false;
};
/// Writes constraints beside the environment's configuration and names them there: in pip.conf of a
/// venv, in the project's pyproject.toml ([tool.uv]) where the environment lies in a project, in
/// conda-meta/pinned of conda. What a person wrote there stays; a setting of the same name of
/// theirs is an error (code host) that says what to add. Twice is once.
Result<std::vector<Written>> write_pins(const Place& place, const WheelSet& set);

} // namespace cukit::venv

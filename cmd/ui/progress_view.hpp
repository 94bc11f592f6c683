// Progress as a person sees it: bars that are redrawn on a terminal, one line per finished piece
// elsewhere.
#pragma once

#include "base/progress.hpp"
#include "ui/terminal.hpp"

#include <memory>

namespace cukit::ui {

/// `mode`: auto, bars, lines or none. `terminal` must outlive it.
std::unique_ptr<Progress> make_progress(const Terminal& terminal, const std::string& mode);

} // namespace cukit::ui

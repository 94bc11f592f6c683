// Fixes are rehearsed: each is applied to a copy of the snapshot, which is diagnosed again, and
// stays only when what it is to mend is gone. Private to doctor.
#pragma once

#include "doctor/doctor.hpp"

#include <functional>

namespace cukit::doctor {

/// Takes out the fixes that do not mend their finding, or that break something else where another
/// one does not. What a fix does has to be known for that (Fix::effects), and the finding must be
/// one of the snapshot, not of a log alone. `examine` diagnoses a snapshot without the log and
/// without rehearsing.
void rehearse(std::vector<Finding>& findings, const survey::Snapshot& snapshot, const Parts& parts,
              const std::function<std::vector<Finding>(const survey::Snapshot&)>& examine);

} // namespace cukit::doctor

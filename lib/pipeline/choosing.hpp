// The choice of one matched set from what the sources offer.
#pragma once

#include "pipeline/session.hpp"
#include "resolve/resolve.hpp"

namespace cukit::pipeline {

/// Asks the sources and resolves; the RECORDs of chosen wheels are read. A conflict is a Failure
/// that holds it. What the earlier lock has stays, where it can.
Outcome<resolve::Resolution> resolve_online(Session& session, const manifest::Manifest& manifest,
                                            const resolve::MachineFacts& machine,
                                            const lock::Lock* earlier);

} // namespace cukit::pipeline

// What the sources offer for a manifest: the index, NVIDIA's redistributables, or both.
#pragma once

#include "pipeline/session.hpp"

namespace cukit::pipeline {

/// The catalog of the sources that `wanted` asks for at once.
Result<catalog::Catalog> load_catalog(Session& session, const resolve::Wanted& wanted);

/// Adds the manifests of redistributables to a catalog of wheels that gave no answer. False: it
/// would change nothing, since they could not serve or nobody named a place for them.
Result<bool> add_redist(Session& session, const resolve::Wanted& wanted, catalog::Catalog& catalog);

} // namespace cukit::pipeline

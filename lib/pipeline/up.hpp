// The whole way for one manifest: lock, entries, tree, validation, name. Every step is re-entered
// by looking for what it makes, so a run that was killed is simply run again.
#pragma once

#include "pipeline/locking.hpp"
#include "pipeline/validation.hpp"

namespace cukit::pipeline {

struct UpResult {
  Locked locked;
  std::optional<assemble::Tree> tree;
  std::optional<validate::Report> report;
  std::string name; ///< empty with --prefix or another platform
  bool nothing_to_do = false;
  bool switched = false; ///< the name points at another generation now
};

/// A validation that failed is a result too: `report` has the failures and the name was left alone.
Outcome<UpResult> up(Session& session, const fs::path& manifest_path);

/// Lock and store only (`fetch`), or the tree without validation and name (`build`).
Outcome<Locked> fetch(Session& session, const fs::path& manifest_path);
Outcome<UpResult> build(Session& session, const fs::path& manifest_path);

ValidationPlan validation_plan(const Locked& locked);

} // namespace cukit::pipeline

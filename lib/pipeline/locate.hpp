// Where the bytes of locked artifacts are, place after place: mirrors, then the sources of their
// kind. A place is asked only when those before it do not have a file or did not give it.
#pragma once

#include "lock/lock.hpp"
#include "pipeline/session.hpp"

namespace cukit::pipeline {

/// The way of one artifact through its places.
struct Located {
  const lock::Artifact* artifact = nullptr;
  std::vector<std::string> locations = {}; ///< of the place that is next; empty: none is left
  std::vector<Error> errors = {};          ///< of places that did not give the locked bytes
  catalog::Search search = {};             ///< of a wheel
  bool is_asked = false;                   ///< of an archive: all its places are known at once
};

class Locator {
public:
  /// `session` must outlive it.
  static Result<Locator> create(Session& session);

  /// Goes on to the next place of each; one round of requests for all. A mirror that cannot be read
  /// is told and passed over. An error is an interruption, or a lock whose files have no sense.
  Result<void> next(const std::vector<Located*>& all);

private:
  explicit Locator(Session& session) : session_(session) {}
  Result<void> next_archive(Located& located);
  Session& session_;
  std::map<std::string, Sha256> pins_;
  source::Sources redist_; ///< mirrors are bases of redistributables too
  std::vector<std::string> told_;
};

/// Why nobody gave the bytes: the gravest of the errors, with the others as causes.
Error nobody_gave(Located located);

/// By ranges over http, directly for a path.
Result<std::unique_ptr<RandomAccess>> open_location(http::Client& client,
                                                    const std::string& location, std::uint64_t size,
                                                    const std::stop_token& stop);

} // namespace cukit::pipeline

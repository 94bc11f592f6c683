#include "pipeline/session.hpp"

#include <algorithm>

namespace cukit::pipeline {

Result<const source::Sources*> Session::sources() {
  if (!sources_) {
    source::Places places;
    places.environment = environment;
    places.index_url = settings.index_url;
    places.redist_url = settings.redist_url;
    places.mirrors = settings.mirrors;
    CUKIT_TRY_ASSIGN(sources_, source::discover(places, stop));
  }
  return &*sources_;
}

http::Options Session::http_options() const {
  http::Options options;
  options.environment = environment;
  // An address that the user wrote down himself may be a plain http mirror; everything else is
  // https.
  const auto is_named = [](const source::Address& a) { return a.named_by_user; };
  options.allow_plain_http =
      sources_ && (std::any_of(sources_->indexes.begin(), sources_->indexes.end(), is_named) ||
                   std::any_of(sources_->mirrors.begin(), sources_->mirrors.end(), is_named) ||
                   std::any_of(sources_->redist.begin(), sources_->redist.end(), is_named));
  options.netrc = settings.netrc || environment.get("CUKIT_NETRC") == "1";
  return options;
}

Result<http::Client*> Session::client() {
  if (!client_) {
    CUKIT_TRY(sources());
    CUKIT_TRY_ASSIGN(client_, http::Client::create(http_options()));
  }
  return client_.get();
}

Result<catalog::PythonIndex*> Session::index() {
  if (!index_) {
    CUKIT_TRY_ASSIGN(const auto* found, sources());
    CUKIT_TRY_ASSIGN(auto* transport, client());
    index_.emplace(*transport, *found);
  }
  return &*index_;
}

Result<void> Session::check_stop() const {
  if (stop.stop_requested()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::interrupted,
              .message = "interrupted",
              .hint = "run the same command again: it goes on where it stopped"});
  }
  return {};
}

} // namespace cukit::pipeline

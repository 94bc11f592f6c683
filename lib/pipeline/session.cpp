#include "pipeline/session.hpp"

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
  const auto name_all = [&](const std::vector<source::Address>& addresses) {
    for (const auto& address : addresses) {
      if (address.named_by_user && !address.is_folder()) {
        options.named.push_back(address.location);
      }
    }
  };
  if (sources_) {
    name_all(sources_->mirrors);
    name_all(sources_->find_links);
    name_all(sources_->indexes);
    name_all(sources_->redist);
  }
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
    CUKIT_TRY_ASSIGN(const auto* pins, knowledge.pins());
    index_.emplace(*transport, *found, pins);
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

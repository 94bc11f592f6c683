#include "pipeline/locate.hpp"

#include "catalog/redist_index.hpp"

#include <algorithm>

namespace cukit::pipeline {

Result<Locator> Locator::create(Session& session) {
  Locator locator(session);
  CUKIT_TRY_ASSIGN(const auto* sources, session.sources());
  locator.redist_.redist = sources->mirrors;
  locator.redist_.redist.insert(locator.redist_.redist.end(), sources->redist.begin(),
                                sources->redist.end());
  CUKIT_TRY_ASSIGN(const auto* pins, session.knowledge.pins());
  locator.pins_ = *pins;
  return locator;
}

Result<void> Locator::next_archive(Located& located) {
  located.locations.clear();
  if (std::exchange(located.is_asked, true)) {
    return {};
  }
  CUKIT_TRY_ASSIGN(auto* client, session_.client());
  catalog::RedistIndex index(*client, redist_, pins_);
  auto found = index.locate(located.artifact->path);
  if (found) {
    located.locations = std::move(*found);
    return {};
  }
  located.errors.push_back(std::move(found).error());
  return {};
}

Result<void> Locator::next(const std::vector<Located*>& all) {
  std::vector<catalog::Search*> searches;
  for (auto* located : all) {
    if (located->artifact->source == "redist") {
      CUKIT_TRY(next_archive(*located));
      continue;
    }
    located->search.file = located->artifact->file;
    located->search.sha256 = located->artifact->sha256;
    searches.push_back(&located->search);
  }
  if (searches.empty()) {
    return {};
  }
  CUKIT_TRY_ASSIGN(auto* index, session_.index());
  CUKIT_TRY_ASSIGN(const auto notes, index->search(std::move(searches), session_.stop));
  for (const auto& note : notes) {
    if (std::find(told_.begin(), told_.end(), note) == told_.end()) {
      session_.progress.say("note: " + note);
      told_.push_back(note);
    }
  }
  for (auto* located : all) {
    if (located->artifact->source != "redist") {
      located->locations = located->search.locations;
    }
  }
  return {};
}

Error nobody_gave(Located located) {
  auto& errors = located.errors;
  if (errors.empty()) {
    return catalog::PythonIndex::not_found(located.search);
  }
  // Wrong bytes are graver news than a server that was down.
  const auto worst = std::find_if(errors.begin(), errors.end(), [](const Error& error) {
    return error.code == ErrorCode::integrity;
  });
  Error result = worst == errors.end() ? errors.back() : *worst;
  for (const auto& error : errors) {
    if (error.message != result.message) {
      result.causes.push_back(
          error.where.empty() ? error.message : fmt::format("{} ({})", error.message, error.where));
    }
  }
  return result;
}

Result<std::unique_ptr<RandomAccess>> open_location(http::Client& client,
                                                    const std::string& location, std::uint64_t size,
                                                    const std::stop_token& stop) {
  if (location.starts_with('/')) {
    return open_local_file(location);
  }
  return http::open_range_file(client, location, size, stop);
}

} // namespace cukit::pipeline

#include "pipeline/offers.hpp"

#include "base/strings.hpp"
#include "catalog/redist_index.hpp"

#include <algorithm>

namespace cukit::pipeline {

namespace {

constexpr const char* k_cuda = "cuda";

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

Result<catalog::Catalog> load_wheels(Session& session, const resolve::Wanted& wanted) {
  CUKIT_TRY_ASSIGN(auto* index, session.index());
  CUKIT_TRY_ASSIGN(const auto* sources, session.sources());
  if (!sources->indexes.empty()) {
    session.progress.say(fmt::format("reading the index {} ({})",
                                     redact_url(sources->indexes.front().location),
                                     sources->indexes.front().origin));
  }
  const auto wants = [&](const Version& version) {
    return contains(wanted.minors, version.major_minor());
  };
  return index->load(wanted.projects, wants, session.stop, wanted.prereleases);
}

Result<void> load_redist(Session& session, const resolve::Wanted& wanted,
                         catalog::Catalog& catalog) {
  CUKIT_TRY_ASSIGN(auto* client, session.client());
  CUKIT_TRY_ASSIGN(const auto* sources, session.sources());
  CUKIT_TRY_ASSIGN(const auto* pins, session.knowledge.pins());
  session.progress.say(fmt::format("reading the manifests of redistributables at {} ({})",
                                   sources->redist.front().shown(),
                                   sources->redist.front().origin));
  std::vector<catalog::RedistWanted> products;
  for (const auto& product : wanted.products) {
    catalog::RedistWanted one{.product = product, .wants = {}};
    if (product == k_cuda) {
      one.wants = [&wanted](const Version& label) {
        return contains(wanted.redist_minors, label.major_minor());
      };
    }
    products.push_back(std::move(one));
  }
  catalog::RedistIndex index(*client, *sources, *pins);
  auto loaded = index.load(products, session.stop);
  if (loaded && loaded->manifests.empty()) { // so that a conflict can say what there is
    for (auto& product : products) {
      product.wants = {};
    }
    loaded = index.load(products, session.stop);
  }
  if (!loaded) {
    auto error = std::move(loaded).error();
    if (error.code == ErrorCode::source && !wanted.why_redist.empty()) {
      error = std::move(error).under("this toolkit is to be had from NVIDIA's redistributables "
                                     "alone: " +
                                     wanted.why_redist);
    }
    return tl::unexpected<Error>(std::move(error));
  }
  catalog.manifests = std::move(loaded->manifests);
  catalog.redist_was_asked = true;
  for (auto& note : loaded->notes) {
    session.progress.say("note: " + note);
    catalog.notes.push_back(std::move(note));
  }
  return {};
}

} // namespace

Result<catalog::Catalog> load_catalog(Session& session, const resolve::Wanted& wanted) {
  catalog::Catalog catalog;
  if (wanted.wheels) {
    CUKIT_TRY_ASSIGN(catalog, load_wheels(session, wanted));
  }
  if (wanted.redist) {
    CUKIT_TRY(load_redist(session, wanted, catalog));
    if (wanted.wheels_later &&
        catalog.manifests.empty()) { // so that a conflict can say what there is
      CUKIT_TRY_ASSIGN(auto wheels, load_wheels(session, wanted));
      wheels.redist_was_asked = true;
      return wheels;
    }
  }
  return catalog;
}

Result<bool> add_redist(Session& session, const resolve::Wanted& wanted,
                        catalog::Catalog& catalog) {
  CUKIT_TRY_ASSIGN(const auto* sources, session.sources());
  // Without a place that the user named himself a conflict would wait for NVIDIA's host.
  if (!wanted.redist_later || !sources->redist.front().named_by_user) {
    return false;
  }
  CUKIT_TRY(load_redist(session, wanted, catalog));
  return true;
}

} // namespace cukit::pipeline

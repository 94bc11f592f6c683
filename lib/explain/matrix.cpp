#include "explain/matrix.hpp"

#include "fit/machine.hpp"
#include "resolve/facts.hpp"
#include "resolve/rules.hpp"

#include <algorithm>

namespace cukit::explain {

namespace rules = resolve::rules;
using resolve::Facts;

namespace {

ServiceMatrix::Release column(const knowledge::Release& release, const Facts& facts,
                              const std::optional<Version>& driver) {
  ServiceMatrix::Release result{.minor = release.minor,
                                .ptx = release.ptx,
                                .driver_floor = release.driver_floor,
                                .driver_branch = release.driver_branch};
  if (driver) {
    const auto* own = fit::cuda_of_driver(*facts.releases, *driver);
    result.starts = !rules::driver_floor(release, *driver);
    result.takes_ptx = result.starts && own != nullptr && !rules::ptx_of_driver(release, *own);
  }
  return result;
}

ServiceMatrix::Cell cell(const knowledge::Architecture& architecture, const Version& cuda) {
  const auto compiles = [&](char suffix) {
    auto target = architecture.target;
    target.suffix = suffix;
    return !rules::gpu_range(architecture, target, cuda);
  };
  ServiceMatrix::Cell result{.compiles = compiles(0)};
  result.has_a = result.compiles && architecture.a_since && compiles('a');
  result.has_f = result.compiles && architecture.f_since && compiles('f');
  return result;
}

} // namespace

Result<ServiceMatrix> service_matrix(const knowledge::Knowledge& knowledge,
                                     const std::vector<GpuTarget>& gpus,
                                     const std::optional<Version>& driver, int major) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load(knowledge));
  CUKIT_TRY_ASSIGN(const auto* products, knowledge.products());
  ServiceMatrix result;
  for (const auto& release : *facts.releases) {
    if (major == 0 || release.minor.major() == major) {
      result.releases.push_back(column(release, facts, driver));
    }
  }
  for (const auto& architecture : *facts.architectures) {
    const auto& target = architecture.target;
    if (!gpus.empty() && std::find(gpus.begin(), gpus.end(), target) == gpus.end()) {
      continue;
    }
    ServiceMatrix::Row row{
        .target = target, .architecture = architecture.name, .products = {}, .cells = {}};
    for (const auto& product : *products) {
      if (product.target == target) {
        row.products.push_back(product.name);
      }
    }
    for (const auto& release : result.releases) {
      row.cells.push_back(cell(architecture, release.minor));
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

} // namespace cukit::explain

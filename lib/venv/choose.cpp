#include "venv/choose.hpp"

#include "base/temporary.hpp"
#include "pipeline/locking.hpp"

#include <algorithm>

namespace cukit::venv {

namespace {

/// What leads the resolver to the wheels of one nvcc. The GPU is any that every release of CUDA 13
/// serves: wheels do not differ by it.
std::string manifest_for(const WheelSet& set) {
  const auto nvcc = std::find_if(set.wheels.begin(), set.wheels.end(),
                                 [](const Wheel& wheel) { return wheel.component == "nvcc"; });
  CUKIT_ENSURE(nvcc != set.wheels.end(), "a coherent set has a compiler");
  return fmt::format("cukit: 1\nname: venv\ngpus: [sm_90]\ntoolkit: {{nvcc: \"=={}\"}}\n"
                     "components: [core]\nsources: [wheels]\n",
                     nvcc->version.text());
}

pipeline::Outcome<Chosen> of_manifest(pipeline::Session& session, const fs::path& manifest) {
  auto locked = pipeline::ensure_lock(session, manifest);
  if (!locked) {
    return tl::unexpected(std::move(locked.error()));
  }
  Chosen chosen{.lock = std::move(locked->lock), .wheels = {}};
  const auto found =
      std::find_if(chosen.lock.platforms.begin(), chosen.lock.platforms.end(),
                   [&](const auto& one) { return one.platform == session.platform(); });
  if (found == chosen.lock.platforms.end()) {
    return tl::unexpected<pipeline::Failure>(
        Error{.code = ErrorCode::expected_no,
              .message = fmt::format("the lock of {} has nothing for {}", manifest.string(),
                                     session.platform().text()),
              .hint = "add the platform to the manifest"});
  }
  chosen.wheels = *found;
  return chosen;
}

} // namespace

pipeline::Outcome<Chosen> choose(pipeline::Session& session, const Inventory& inventory,
                                 const fs::path& manifest) {
  if (!manifest.empty()) {
    return of_manifest(session, manifest);
  }
  const auto set = coherent_set(inventory, session.knowledge);
  auto folder = set ? TempDirectory::create(temporary_folder(session.environment), "cukit-venv-")
                    : tl::unexpected(set.error());
  if (!folder) {
    return tl::unexpected<pipeline::Failure>(std::move(folder.error()));
  }
  const auto file = folder->path() / "venv.yaml";
  if (auto written = create_file(file, manifest_for(*set)); !written) {
    return tl::unexpected<pipeline::Failure>(std::move(written.error()));
  }
  return of_manifest(session, file);
}

} // namespace cukit::venv

#include "base/strings.hpp"
#include "fit/machine.hpp"
#include "resolve/compose.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

Note note(const rules::Rule& rule, std::string text) {
  return {.text = std::move(text), .source = std::string(rule.source)};
}

void add_pytorch(std::vector<Note>& list, const manifest::Manifest& manifest,
                 const Toolkit& toolkit) {
  if (!manifest.pytorch_cuda || manifest.pytorch_cuda->value.same_minor(toolkit.release)) {
    return;
  }
  const auto& torch = manifest.pytorch_cuda->value;
  const auto toolkit_minor = toolkit.release.major_minor();
  if (toolkit.release > torch) {
    list.push_back(
        note(rules::k_pytorch_minor,
             fmt::format("CUDA {} is newer than PyTorch's {}: code that is built with it may call "
                         "functions that PyTorch's own "
                         "libcudart {} lacks, and its PTX needs a driver of CUDA {}",
                         toolkit_minor, torch.major_minor(), torch.major_minor(), toolkit_minor)));
  } else {
    list.push_back(note(
        rules::k_pytorch_minor,
        fmt::format(
            "CUDA {} is older than PyTorch's {}: headers of PyTorch may ask for more than it has",
            toolkit_minor, torch.major_minor())));
  }
}

void add_driver(std::vector<Note>& list, const Inputs& inputs, const Toolkit& toolkit,
                const MachineFacts& machine) {
  if (!inputs.manifest.driver && !inputs.manifest.native_driver) {
    list.push_back(note(
        rules::k_driver_floor,
        fmt::format(
            "the manifest names no driver, so none was checked; CUDA {} needs branch {} or newer",
            toolkit.release.major_minor(), toolkit.facts->driver_floor)));
    return;
  }
  const auto* own = fit::cuda_of_driver(*inputs.facts.releases, inputs.problem.oldest_driver);
  if (inputs.manifest.native_driver && machine.driver && machine.driver->cuda) {
    const auto* said = knowledge::find_release(*inputs.facts.releases, *machine.driver->cuda);
    own = said != nullptr ? said : own;
  }
  const auto verdict =
      own == nullptr ? rules::Verdict() : rules::ptx_of_driver(*toolkit.facts, *own);
  if (verdict) {
    list.push_back(
        note(*verdict->rule,
             verdict->reason +
                 ": every GPU gets machine code, and a target that is PTX alone would fail there"));
  }
}

/// The machine's compiler binds only where the manifest names it: a lock must not depend on where
/// it was made.
void add_host(std::vector<Note>& list, const Inputs& inputs, const Toolkit& toolkit,
              const MachineFacts& machine) {
  if (inputs.manifest.host_compiler) {
    return;
  }
  for (const auto& verdict :
       {machine.compiler ? rules::host_compiler(*toolkit.facts, *machine.compiler)
                         : rules::Verdict(),
        machine.glibc ? rules::c_library(*inputs.facts.limits, toolkit.release, *machine.glibc)
                      : rules::Verdict()}) {
    if (verdict) {
      list.push_back(note(*verdict->rule, verdict->reason));
    }
  }
}

/// Why a toolkit comes from archives although the manifest does not ask for that.
void add_source(std::vector<Note>& list, const Inputs& inputs, const Candidate& chosen) {
  const auto wheels = rules::compiler_wheels(*inputs.facts.limits, chosen.toolkit.release);
  const bool is_unasked = inputs.manifest.sources.empty() && chosen.release->redist != nullptr;
  if (is_unasked && wheels) {
    list.push_back(
        note(*wheels->rule, fmt::format("CUDA {} comes from NVIDIA's archives: {}",
                                        chosen.toolkit.release.major_minor(), wheels->reason)));
  }
}

/// Archives do not say which C library they need, as wheels do.
void add_archives_glibc(std::vector<Note>& list, const Inputs& inputs, const Candidate& chosen) {
  const auto* nvcc = knowledge::find_component(*inputs.facts.components, k_nvcc);
  const auto& release = chosen.toolkit.release;
  for (const auto platform : inputs.problem.platforms) {
    const auto& pick = inputs.offer.pick(*nvcc, platform, *chosen.release);
    if (pick.file == nullptr || pick.file->source != k_redist) {
      continue;
    }
    const auto* known = knowledge::find_least_glibc(*inputs.facts.least_glibc, platform, release);
    list.push_back(
        {.text = known == nullptr
                     ? fmt::format("which C library CUDA {} needs on {} is not known, so the lock "
                                   "does not say",
                                   release.major_minor(), platform.text())
                     : fmt::format("{} needs glibc {} or newer, that of {}, the oldest system "
                                   "supported for CUDA {}",
                                   platform.text(), known->least.text(), known->system,
                                   release.major_minor()),
         .source = known == nullptr ? "no source states it"
                                    : "CUDA installation guide; " + known->evidence});
  }
}

void add_absent(std::vector<Note>& list, const Inputs& inputs, const Candidate& chosen) {
  for (const auto& part : inputs.problem.parts) {
    for (const auto platform : inputs.problem.platforms) {
      const auto place = chosen.toolkit.place(*part.component, platform);
      if (!place.version) {
        list.push_back(
            note(rules::k_availability, fmt::format("{} is left out ({}): {}", part.component->name,
                                                    part.why, place.why_not)));
      }
    }
  }
}

/// What was not taken although it is newer than what was, where the newest was wanted.
void add_left_out(std::vector<Note>& list, const Inputs& inputs, const Candidate& chosen) {
  const bool wants_newest = !inputs.manifest.pytorch_cuda && !inputs.manifest.nvcc;
  const auto& taken = chosen.release->version;
  std::vector<std::string> unread[2]; // without and with a digest that is known
  for (const auto& left_out : inputs.offer.left_out()) {
    if (left_out.version <= taken || (!wants_newest && !left_out.version.same_minor(taken))) {
      continue;
    }
    if (left_out.is_unread) {
      unread[left_out.has_digest ? 1 : 0].push_back(left_out.version.text());
    } else {
      list.push_back(note(*left_out.rule, left_out.text));
    }
  }
  for (const bool has_digest : {true, false}) {
    const auto& releases = unread[has_digest ? 1 : 0];
    if (!releases.empty()) {
      list.push_back(note(
          rules::k_availability,
          fmt::format("CUDA {} {} newer, but no source of redistributables has the manifest{}{}",
                      join_with_and(releases), releases.size() == 1 ? "is" : "are",
                      releases.size() == 1 ? "" : "s",
                      has_digest ? "" : ": manifest not known to this build")));
    }
  }
}

} // namespace

std::vector<Note> notes(const Inputs& inputs, const Candidate& chosen,
                        const MachineFacts& machine) {
  std::vector<Note> list;
  const auto& toolkit = chosen.toolkit;
  add_pytorch(list, inputs.manifest, toolkit);
  add_driver(list, inputs, toolkit, machine);
  add_host(list, inputs, toolkit, machine);
  if (!toolkit.has_own_ptxas()) {
    list.push_back(
        note(rules::k_ptxas_pair,
             fmt::format("ptxas {} brings nvlink {} along: nvlink refuses objects of a newer ptxas",
                         toolkit.ptxas.text(), toolkit.ptxas.text())));
  }
  add_source(list, inputs, chosen);
  add_archives_glibc(list, inputs, chosen);
  add_absent(list, inputs, chosen);
  add_left_out(list, inputs, chosen);
  return list;
}

} // namespace cukit::resolve

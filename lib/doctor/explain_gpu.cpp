// What the GPU refuses, or what was not built for it: torch, NVRTC, the size of a kernel, memory.
#include "doctor/explain.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

using buildlog::Failure;
using buildlog::State;
using buildlog::Thing;

Finding* torch_without_code(const Context& context, const Failure& failure, Findings& findings) {
  const bool is_for_cpu = failure.name == "CUDA";
  auto& finding = findings.add(RuleId::torch_has_no_code);
  if (!finding.cause.empty()) {
    return &finding;
  }
  finding.cause = is_for_cpu
                      ? std::string("this torch was built without CUDA: it is a build for CPUs")
                      : fmt::format("this torch was built without code for {}", failure.name);
  for (const auto& python : context.snapshot.pythons) {
    if (!python.torch.empty()) {
      finding.evidence.push_back({python.prefix, "torch " + python.torch});
    }
  }
  finding.fix = {by_hand(is_for_cpu ? "take a build of torch with a +cu tag: uv pip install "
                                      "--reinstall-package torch --torch-backend=auto torch"
                                    : "take a build of torch that has the GPU's target (another "
                                      "+cu tag, or a newer release)",
                         "`cukit lock` with `pytorch:` says which there are")};
  return &finding;
}

/// NVRTC compiles for the GPUs of its own release: it is too old for this one, or too new.
Finding* nvrtc_without_target(const Context& context, const Failure& failure, Findings& findings) {
  auto& finding = findings.add(RuleId::nvrtc_lacks_target);
  if (!finding.cause.empty()) {
    return &finding;
  }
  std::string gpus;
  std::string range;
  for (const auto& gpu : context.gpus) {
    const auto* known = knowledge::find_architecture(context.architectures, gpu);
    gpus += (gpus.empty() ? "" : ", ") + gpu.sm();
    if (known != nullptr) {
      range +=
          fmt::format("; {} is served from CUDA {}{}", gpu.sm(), known->first_cuda.major_minor(),
                      known->last_cuda ? " to " + known->last_cuda->major_minor() : "");
    }
  }
  finding.cause = fmt::format("the NVRTC that is loaded does not compile for {}{}",
                              gpus.empty() ? "the GPU" : gpus, range);
  for (const auto& kit : context.snapshot.toolkits) {
    for (const auto& [name, path] : kit.libraries) {
      if (name.starts_with("libnvrtc.so")) {
        finding.evidence.push_back({path, "of CUDA " + value_or(kit.cudart, "?")});
      }
    }
  }
  finding.fix = {
      by_hand("for a newer GPU: a newer nvidia-cuda-nvrtc of the same CUDA major, or the "
              "package's build for a newer CUDA",
              "it then knows the target"),
      by_hand("for an older GPU: the package's build for the last CUDA that serves it "
              "(CUDA 13 begins with compute capability 7.5)",
              "newer releases have left it out")};
  if (failure.tool == "NVRTC" && !context.snapshot.toolkits.empty()) {
    finding.fix.push_back(cukit_fix(context, {}));
  }
  return &finding;
}

Finding* too_large(const Failure& failure, Findings& findings) {
  auto& finding = findings.add(RuleId::gpu_limit_exceeded);
  if (finding.cause.empty()) {
    finding.cause =
        fmt::format("{} wants {} of {}, and the target allows {}",
                    value_or(failure.file, "a kernel"), failure.have, failure.name, failure.demand);
    finding.fix = {
        by_hand("take smaller blocks or fewer stages for this GPU (its configuration in the "
                "autotuner's list), or a release of the package that has one for it",
                "GPUs of one generation differ: 100 KB a block on consumer cards, 227 KB on "
                "those of data centers"),
        by_hand("static shared memory ends at 48 KB: ask for more at launch "
                "(cudaFuncAttributeMaxDynamicSharedMemorySize)",
                "the code's own")};
  }
  return &finding;
}

Finding* gpu_memory(Findings& findings) {
  return &say(
      findings, RuleId::cuda_call_failed,
      "error 2 (cudaErrorMemoryAllocation): the GPU's memory is full; no toolkit changes "
      "that",
      {by_hand("see what else is on the GPU (nvidia-smi), and ask for less: a smaller batch "
               "or context, a lower memory fraction of the serving engine",
               "what is asked for then fits")});
}

} // namespace

Finding* refused_by_gpu(const Context& context, const Failure& failure, Findings& findings) {
  if (failure.thing == Thing::memory) {
    return gpu_memory(findings);
  }
  if (failure.state == State::exhausted) {
    return too_large(failure, findings);
  }
  if (failure.tool == "torch") {
    return torch_without_code(context, failure, findings);
  }
  if (failure.tool == "NVRTC") {
    return nvrtc_without_target(context, failure, findings);
  }
  return nullptr;
}

} // namespace cukit::doctor

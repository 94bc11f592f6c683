// What torch's own wheel can do, whatever toolkit stands beside it.
#include "doctor/context.hpp"
#include "fit/machine.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

/// The GPUs that are here or were asked for; targets in a log or a variable are wishes.
std::vector<GpuTarget> gpus_here(const Context& context) {
  auto result = context.question.gpus;
  for (const auto& gpu : context.snapshot.gpus) {
    const auto target = GpuTarget::parse(gpu.target);
    if (target && std::find(result.begin(), result.end(), *target) == result.end()) {
      result.push_back(*target);
    }
  }
  return result;
}

/// The build as its version says it, else by the CUDA that it names.
fit::TorchName build_of(const survey::PythonEnvironment& python) {
  auto name = fit::TorchName::parse(python.torch);
  if (const auto cuda = Version::parse(python.torch_cuda); name.tag.empty() && cuda) {
    name.tag = fmt::format("cu{}{}", cuda->major(), cuda->minor());
  }
  return name;
}

bool driver_runs(const Context& context, const Version& cuda) {
  const auto* release = knowledge::find_release(context.releases, cuda);
  return !context.driver || release == nullptr ||
         !fit::runs_on_driver(*release, *context.driver).is_refused();
}

/// Not older than what is there, so that what is built on it has a chance to go on working.
bool is_step_forward(const fit::TorchName& from, const fit::TorchName& to) {
  return from.version && to.version && !(*to.version < *from.version);
}

/// Builds that have code for the GPU and run on the driver, nearest first.
void offer_builds(const Context& context, const survey::PythonEnvironment& python,
                  const fit::TorchName& torch, const GpuTarget& gpu, Platform platform,
                  Finding& finding) {
  constexpr std::size_t k_most = 2;
  auto builds =
      fit::nearest_torches(context.torches, torch, {gpu}, {platform}, context.architectures);
  std::stable_partition(builds.begin(), builds.end(),
                        [&](const fit::TorchName& name) { return is_step_forward(torch, name); });
  for (const auto& build : builds) {
    const auto cuda = fit::cuda_of_tag(build.tag);
    if (finding.fix.size() >= k_most || !cuda || !driver_runs(context, *cuda)) {
      continue;
    }
    finding.fix.push_back(
        by_command(install_torch(context, python.prefix, build),
                   fmt::format("torch {} has code for {}", build.text(), gpu.plain().sm())));
  }
  if (finding.fix.empty()) {
    finding.fix.push_back(
        by_hand(fmt::format("build PyTorch for {} from its source", gpu.plain().sm()),
                "no published build that runs on this driver has code for this GPU"));
  }
}

void code_for_gpus(const Context& context, Findings& findings) {
  const auto platform = Platform::parse(context.snapshot.platform).value_or(Platform::host());
  for (const auto& python : context.snapshot.pythons) {
    const auto torch = build_of(python);
    for (const auto& gpu : gpus_here(context)) {
      if (python.torch.empty() || fit::torch_has_code(context.torches, torch, gpu, platform,
                                                      context.architectures) != fit::Answer::no) {
        continue;
      }
      auto& finding = findings.add(RuleId::torch_has_no_code, python.prefix);
      finding.cause =
          fmt::format("torch {} was built for {}; the GPU is {}", torch.text(),
                      fit::torch_code_text(context.torches, torch, platform), gpu.plain().sm());
      finding.evidence.push_back({python.prefix, "torch " + python.torch});
      finding.evidence.push_back({"GPU", gpu.plain().sm()});
      for (const auto& found : context.found) {
        if (found.python == &python) {
          finding.consumers.push_back(found.consumer);
        }
      }
      offer_builds(context, python, torch, gpu, platform, finding);
    }
  }
}

} // namespace

Action install_torch(const Context& context, const std::string& prefix,
                     const fit::TorchName& build) {
  if (!build.version) {
    return {};
  }
  const auto* release = fit::find_torch(context.torches, *build.version);
  const auto wanted = "torch==" + build.version->text();
  const std::vector<Effect> effects{
      InstallsWheels{prefix, {fmt::format("torch=={}+{}", build.version->text(), build.tag)}}};
  if (release != nullptr && release->default_tag == build.tag) {
    return {pip_install(context, prefix, {wanted}).command, effects};
  }
  // other builds than the default one have indexes of their own, which uv knows
  return {ShellCommand({"uv", "pip", "install", "--python", prefix + "/bin/python",
                        "--reinstall-package", "torch", "--torch-backend=" + build.tag, wanted}),
          effects};
}

std::optional<fit::TorchName> torch_of_major(const Context& context,
                                             const survey::PythonEnvironment& python, int major) {
  const auto platform = Platform::parse(context.snapshot.platform).value_or(Platform::host());
  for (const auto& build :
       fit::nearest_torches(context.torches, fit::TorchName::parse(python.torch), context.gpus,
                            {platform}, context.architectures)) {
    const auto cuda = fit::cuda_of_tag(build.tag);
    if (build.version && cuda && cuda->major() == major) {
      return build;
    }
  }
  return std::nullopt;
}

const std::vector<Rule>& torch_rules() {
  static const std::vector<Rule> rules{code_for_gpus};
  return rules;
}

} // namespace cukit::doctor

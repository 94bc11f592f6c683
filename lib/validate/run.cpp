#include "validate/run.hpp"

#include "base/strings.hpp"
#include "base/thread_pool.hpp"
#include "base/user_file.hpp"
#include "validate/outcome.hpp"

#include <algorithm>

namespace cukit::validate {

namespace {

std::string label(const machine::Gpu& gpu) {
  return fmt::format("{}: {}", gpu.index, gpu.name);
}

/// Nothing of the caller's environment but where the driver was found. CUDA_CACHE_DISABLE: nothing
/// is written into a home.
Environment run_environment(const machine::Devices& devices, const machine::Gpu& gpu) {
  Environment environment;
  environment.set("PATH", "/usr/bin:/bin");
  environment.set("LANG", "C");
  environment.set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  environment.set("CUDA_VISIBLE_DEVICES", gpu.uuid.empty() ? std::to_string(gpu.index) : gpu.uuid);
  environment.set("CUDA_CACHE_DISABLE", "1");
  if (devices.driver && fs::path(devices.driver->library).is_absolute()) {
    environment.set("LD_LIBRARY_PATH", fs::path(devices.driver->library).parent_path().string());
  }
  return environment;
}

RunResult result_for(const Program& program) {
  return RunResult{.kernel = program.kernel,
                   .target = program.target.sm(),
                   .gpu = {},
                   .gpu_uuid = {},
                   .state = State::not_run,
                   .reason = {},
                   .numbers = {}};
}

/// What all turns share.
struct Stage {
  const fs::path& folder;
  const Bundle& bundle;
  const machine::Devices& devices;
  const RunLimits& limits;
  const std::stop_token& stop;
};

RunResult run_program(const Stage& stage, const Program& program, const machine::Gpu& gpu) {
  RunResult result = result_for(program);
  result.gpu = label(gpu);
  result.gpu_uuid = gpu.uuid;
  const auto finished =
      run_command({.arguments = {(stage.folder / program.file.path.text()).string()},
                   .environment = run_environment(stage.devices, gpu),
                   .directory = stage.folder.string(),
                   .time_limit = stage.limits.time,
                   .output_limit = stage.limits.output_bytes},
                  stage.stop);
  if (!finished) {
    result.state = State::failed;
    result.reason = finished.error().message;
    return result;
  }
  auto printed = read_output(finished->output);
  auto outcome = judge(*finished, printed, program, stage.bundle.libraries, stage.limits.time);
  result.state = outcome.state;
  result.reason = std::move(outcome.reason);
  result.numbers = std::move(printed.numbers);
  return result;
}

/// Why no GPU of this machine runs the target.
std::string why_not_run(const machine::Devices& devices, const GpuTarget& target) {
  if (devices.gpus.empty()) {
    return devices.why_none.empty() ? "there is no GPU" : devices.why_none;
  }
  std::vector<std::string> here;
  for (const auto& gpu : devices.gpus) {
    auto text = fmt::format("{} is {}", gpu.name, gpu.target.sm());
    if (std::find(here.begin(), here.end(), text) == here.end()) {
      here.push_back(std::move(text));
    }
  }
  return fmt::format("no GPU here runs {}: {}", target.sm(), join(here, ", "));
}

struct Turn {
  const Program* program;
  const machine::Gpu* gpu; ///< nullptr: no GPU here can
  RunResult result;
};

std::vector<Turn> plan_turns(const Bundle& bundle, const machine::Devices& devices) {
  std::vector<Turn> turns;
  for (const auto& program : bundle.programs) {
    const auto before = turns.size();
    for (const auto& gpu : devices.gpus) {
      if (program.target.runs_on(gpu.target)) {
        turns.push_back({&program, &gpu, {}});
      }
    }
    if (turns.size() == before) {
      auto result = result_for(program);
      result.reason = why_not_run(devices, program.target);
      turns.push_back({&program, nullptr, std::move(result)});
    }
  }
  return turns;
}

/// GPUs work side by side, the programs of one GPU one after another: none is slowed or starved by
/// its neighbour.
void take_turns(const Stage& stage, std::vector<Turn>& turns, Progress& progress) {
  const auto total = std::count_if(turns.begin(), turns.end(),
                                   [](const Turn& turn) { return turn.gpu != nullptr; });
  if (total == 0) {
    return;
  }
  const int work = progress.begin("running kernels", static_cast<std::uint64_t>(total), "programs");
  {
    ThreadPool pool(static_cast<unsigned>(stage.devices.gpus.size()));
    for (const auto& gpu : stage.devices.gpus) {
      pool.submit([&stage, &turns, &progress, work, mine = &gpu] {
        for (auto& turn : turns) { // each is written by the worker of its GPU alone
          if (turn.gpu == mine && !stage.stop.stop_requested()) {
            turn.result = run_program(stage, *turn.program, *mine);
            progress.advance(work, 1);
          }
        }
      });
    }
  }
  progress.end(work);
}

std::string driver_text(const machine::Devices& devices) {
  if (!devices.driver) {
    return {};
  }
  const auto& driver = *devices.driver;
  return machine::driver_text(driver.version) +
         (driver.cuda ? fmt::format(" (CUDA {})", driver.cuda->text()) : "");
}

} // namespace

Result<Report> run(const fs::path& folder, const machine::Devices& devices, Progress& progress,
                   const std::stop_token& stop) {
  return run_limited(folder, devices, RunLimits{}, progress, stop);
}

Result<Report> run_limited(const fs::path& folder, const machine::Devices& devices,
                           const RunLimits& limits, Progress& progress,
                           const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(const auto root, absolute_path(folder));
  CUKIT_TRY_ASSIGN(const auto bundle, load_bundle(root));
  CUKIT_TRY(check_files(bundle, root));
  auto turns = plan_turns(bundle, devices);
  take_turns({root, bundle, devices, limits, stop}, turns, progress);
  if (stop.stop_requested()) {
    return fail(ErrorCode::interrupted, "interrupted while kernels ran");
  }
  Report report = bundle.report;
  report.driver = driver_text(devices);
  for (const auto& gpu : devices.gpus) {
    report.gpus.push_back(label(gpu));
    report.gpu_uuids.push_back(gpu.uuid);
  }
  for (auto& turn : turns) {
    report.runs.push_back(std::move(turn.result));
  }
  return report;
}

} // namespace cukit::validate

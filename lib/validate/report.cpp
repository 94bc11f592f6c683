// Report <-> cukit.validate/1
#include "base/strings.hpp"
#include "validate/bundle.hpp"

#include <algorithm>
#include <cmath>

namespace cukit::validate {

namespace {

constexpr std::string_view k_report_schema = "cukit.validate/1";
constexpr State k_states[] = {State::passed, State::failed, State::not_run, State::not_applicable};

text::Json build_json(const BuildResult& build) {
  return text::Json::object()
      .set("kernel", build.kernel)
      .set("target", build.target)
      .set("state", state_text(build.state))
      .set("reason", build.reason)
      .set("seconds", std::round(build.seconds * 1000) / 1000);
}

text::Json run_json(const RunResult& run) {
  text::Json numbers = text::Json::object();
  for (const auto& [name, value] : run.numbers) {
    if (std::isfinite(value)) { // JSON has no others; the reason tells them
      numbers.set(name, value);
    }
  }
  return text::Json::object()
      .set("kernel", run.kernel)
      .set("target", run.target)
      .set("gpu", run.gpu)
      .set("gpu_uuid", run.gpu_uuid)
      .set("state", state_text(run.state))
      .set("reason", run.reason)
      .set("numbers", std::move(numbers));
}

std::vector<std::string> texts(const text::Json& json, std::string_view key) {
  std::vector<std::string> result;
  if (const auto* list = json.find(key)) {
    for (const auto& item : list->items()) {
      result.push_back(item.text());
    }
  }
  return result;
}

BuildResult read_build(const text::Json& json) {
  const auto* seconds = json.find("seconds");
  return BuildResult{.kernel = std::string(json.text_of("kernel")),
                     .target = std::string(json.text_of("target")),
                     .state = parse_state(json.text_of("state")),
                     .reason = std::string(json.text_of("reason")),
                     .seconds = seconds != nullptr ? seconds->real() : 0};
}

RunResult read_run(const text::Json& json) {
  RunResult run{.kernel = std::string(json.text_of("kernel")),
                .target = std::string(json.text_of("target")),
                .gpu = std::string(json.text_of("gpu")),
                .gpu_uuid = std::string(json.text_of("gpu_uuid")),
                .state = parse_state(json.text_of("state")),
                .reason = std::string(json.text_of("reason")),
                .numbers = {}};
  if (const auto* numbers = json.find("numbers")) {
    for (const auto& [name, value] : numbers->members()) {
      run.numbers.emplace(name, value.real());
    }
  }
  return run;
}

} // namespace

State parse_state(std::string_view text) {
  for (const State state : k_states) {
    if (text == state_text(state)) {
      return state;
    }
  }
  return State::failed;
}

int Report::count(State state) const {
  const auto is = [&](const auto& result) { return result.state == state; };
  return static_cast<int>(std::count_if(builds.begin(), builds.end(), is) +
                          std::count_if(runs.begin(), runs.end(), is));
}

bool Report::covers(const machine::Gpu& gpu) const {
  return std::all_of(builds.begin(), builds.end(), [&](const BuildResult& build) {
    const auto target = GpuTarget::parse(build.target);
    if (build.state != State::passed || !target || !target->runs_on(gpu.target)) {
      return true;
    }
    return std::any_of(runs.begin(), runs.end(), [&](const RunResult& run) {
      return run.kernel == build.kernel && run.target == build.target && run.gpu_uuid == gpu.uuid &&
             run.state != State::not_run;
    });
  });
}

text::Json Report::json() const {
  text::Json counts = text::Json::object();
  for (const State state : k_states) {
    counts.set(std::string(state_text(state)), count(state));
  }
  text::Json build_list = text::Json::list();
  for (const auto& build : builds) {
    build_list.add(build_json(build));
  }
  text::Json run_list = text::Json::list();
  for (const auto& run : runs) {
    run_list.add(run_json(run));
  }
  return text::Json::object()
      .set("schema", k_report_schema)
      .set("tree", tree_content)
      .set("release", release)
      .set("host_compiler", host_compiler)
      .set("driver", driver)
      .set("gpus", text::Json::list(gpus))
      .set("gpu_uuids", text::Json::list(gpu_uuids))
      .set("counts", std::move(counts))
      .set("builds", std::move(build_list))
      .set("runs", std::move(run_list));
}

Result<Report> Report::from_json(const text::Json& json) {
  if (json.text_of("schema") != k_report_schema) {
    return fail(ErrorCode::integrity, "the report's schema is `{}`, and this cukit reads {}",
                printable(json.text_of("schema")), k_report_schema);
  }
  Report report;
  report.tree_content = json.text_of("tree");
  report.release = json.text_of("release");
  report.host_compiler = json.text_of("host_compiler");
  report.driver = json.text_of("driver");
  report.gpus = texts(json, "gpus");
  report.gpu_uuids = texts(json, "gpu_uuids");
  CUKIT_TRY_ASSIGN(const auto builds, objects(json, "builds"));
  for (const auto* build : builds) {
    report.builds.push_back(read_build(*build));
  }
  CUKIT_TRY_ASSIGN(const auto runs, objects(json, "runs"));
  for (const auto* run : runs) {
    report.runs.push_back(read_run(*run));
  }
  return report;
}

} // namespace cukit::validate

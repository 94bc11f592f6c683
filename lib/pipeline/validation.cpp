#include "pipeline/validation.hpp"

#include "base/kept_file.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "base/temporary.hpp"
#include "machine/compiler.hpp"

#include <algorithm>

namespace cukit::pipeline {

namespace {

/// The first libcuda.so.1 on LD_LIBRARY_PATH, as it is really called, when it is not the kernel
/// module's own (cuda-compat, a stub, another driver's).
std::string named_driver_library(const Environment& environment,
                                 const std::optional<Version>& module) {
  const auto folders = environment.get("LD_LIBRARY_PATH").value_or("");
  for (const auto folder : split(folders, ':')) {
    std::error_code error;
    const auto real = fs::canonical(fs::path(folder) / "libcuda.so.1", error);
    if (folder.empty() || error) {
      continue;
    }
    const bool is_own =
        module && real.filename().string() == "libcuda.so." + machine::driver_text(*module);
    return is_own ? std::string() : real.string();
  }
  return {};
}

/// The GPUs of the machine, one a line, in an order that says nothing.
std::vector<std::string> gpu_lines(const machine::QuickGpus& gpus) {
  std::vector<std::string> lines;
  for (const auto& gpu : gpus.listed) {
    lines.push_back(fmt::format("gpu {} {}", gpu.uuid, gpu.model));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Where /proc lists no GPU though there may be one, and until somebody has used one that it lists,
/// only the driver knows the UUID; the question is such a use.
void ask_for_uuids(machine::QuickGpus& gpus, const AskDevices& ask) {
  const auto is_unknown = [](const machine::QuickGpu& gpu) { return gpu.uuid.empty(); };
  auto& listed = gpus.listed;
  if (!gpus.may_be_more && std::none_of(listed.begin(), listed.end(), is_unknown)) {
    return;
  }
  const auto devices = ask();
  std::erase_if(listed, is_unknown);
  for (const auto& gpu : devices.gpus) {
    if (std::none_of(listed.begin(), listed.end(),
                     [&](const machine::QuickGpu& other) { return other.uuid == gpu.uuid; })) {
      listed.push_back({.model = gpu.name, .uuid = gpu.uuid});
    }
  }
  gpus.may_be_more = true;
}

std::optional<validate::Report> stored_report(const Session& session, const std::string& key) {
  const auto text = read_kept(session.home.reports() / (key + ".json"), limits::k_lock_bytes);
  if (!text) {
    return std::nullopt;
  }
  const auto json = text::Json::parse(*text, key);
  auto report = json ? validate::Report::from_json(*json)
                     : Result<validate::Report>(tl::unexpected<Error>(json.error()));
  return report ? std::optional<validate::Report>(std::move(*report)) : std::nullopt;
}

} // namespace

Result<void> check_host_compiler(const Session& session, const ValidationPlan& plan) {
  auto compiler = machine::host_compiler(session.environment, plan.host_compiler, session.stop);
  if (compiler) {
    return {};
  }
  auto error = std::move(compiler.error())
                   .under("nvcc needs a C++ compiler on this machine, and there is none");
  error.code = ErrorCode::host;
  error.hint = "install one (Debian, Ubuntu: `apt-get install g++`), or leave validation out with "
               "`--no-validate`";
  return tl::unexpected<Error>(std::move(error));
}

Surroundings surroundings(const Environment& environment, const ValidationPlan& plan,
                          const AskDevices& ask, const fs::path& root) {
  Surroundings around{.driver = machine::quick_look(root).driver,
                      .gpus = machine::quick_gpus(root),
                      .host_compiler =
                          machine::host_compiler_identity(environment, plan.host_compiler),
                      .driver_library = {},
                      .glibc = machine::glibc_version()};
  around.driver_library = named_driver_library(environment, around.driver);
  ask_for_uuids(around.gpus, ask);
  return around;
}

Result<std::string> report_key(const knowledge::Knowledge& knowledge, const Sha256& content,
                               const ValidationPlan& plan, const Surroundings& around) {
  Sha256Stream stream;
  const auto add = [&](const std::string& line) {
    stream.update(line);
    stream.update(std::string_view("\n"));
  };
  add("cukit report 2");
  add(content.text());
  CUKIT_TRY_ASSIGN(const auto kernels, knowledge.list("kernels"));
  for (const auto& path : kernels) {
    CUKIT_TRY_ASSIGN(const auto text, knowledge.read(path));
    add(path + " " + sha256_of(text).hex());
  }
  for (const auto& gpu : plan.gpus) {
    add(gpu.sm());
  }
  for (const auto& suite : plan.suites) {
    add("suite " + suite);
  }
  add("compiler " + around.host_compiler);
  add("C library " + around.glibc.text());
  add("driver " + (around.driver ? around.driver->text() : "none"));
  add("driver library " + around.driver_library);
  for (const auto& line : gpu_lines(around.gpus)) {
    add(line);
  }
  return stream.finish().hex();
}

bool holds(const validate::Report& report, const machine::QuickGpus& here, const AskDevices& ask) {
  if (report.has_failure()) {
    return false;
  }
  const auto was_there = [&](const machine::QuickGpu& gpu) {
    const auto& known = report.gpu_uuids;
    return std::find(known.begin(), known.end(), gpu.uuid) != known.end();
  };
  if (!here.may_be_more && std::all_of(here.listed.begin(), here.listed.end(), was_there)) {
    return true;
  }
  const auto devices = ask();
  return std::all_of(devices.gpus.begin(), devices.gpus.end(),
                     [&](const machine::Gpu& gpu) { return report.covers(gpu); });
}

Result<Known> known_report(const Session& session, const Sha256& content,
                           const ValidationPlan& plan) {
  std::optional<machine::Devices> asked; // at most once
  const auto ask = [&] {
    if (!asked) {
      asked = machine::devices(session.stop);
    }
    return *asked;
  };
  const auto around = surroundings(session.environment, plan, ask);
  Known known;
  CUKIT_TRY_ASSIGN(known.key, report_key(session.knowledge, content, plan, around));
  known.report = stored_report(session, known.key);
  if (known.report && !holds(*known.report, around.gpus, ask)) {
    log_decision("validate",
                 "the report {} does not hold: a kernel failed, or a GPU that is here "
                 "was not run",
                 known.key);
    known.report.reset();
  }
  log_decision("validate", "{} report {} for driver {}, compiler {}, C library {}",
               known.report ? "holds:" : "there is no", known.key,
               around.driver ? around.driver->text() : "none", around.host_compiler,
               around.glibc.text());
  return known;
}

namespace {

/// The folder may be gone since the tree was built, and something else may stand in the way.
Result<void> store_report(const Session& session, const std::string& key,
                          const validate::Report& report) {
  CUKIT_TRY(store::prepare(session.home));
  const auto file = session.home.reports() / (key + ".json");
  if (is_kept_folder(file)) {
    CUKIT_TRY(remove_tree(file));
  }
  return write_file_atomic(file, report.json().dump() + "\n");
}

} // namespace

Result<validate::Report> validate_tree(Session& session, const assemble::Tree& tree,
                                       const ValidationPlan& plan, const std::string& key) {
  CUKIT_TRY_ASSIGN(const auto scratch, HeldDirectory::create(temporary_folder(session.environment),
                                                             temporary::k_validation));
  validate::BuildOptions options;
  options.gpus = plan.gpus;
  options.suites = plan.suites;
  options.environment = session.environment;
  options.host_compiler = plan.host_compiler;
  const auto out = scratch.path() / "kernels";
  CUKIT_TRY_ASSIGN(auto report, validate::build(tree, session.knowledge, options, out,
                                                session.progress, session.stop));
  CUKIT_TRY(session.check_stop());
  CUKIT_TRY_ASSIGN(
      report, validate::run(out, machine::devices(session.stop), session.progress, session.stop));
  CUKIT_TRY(session.check_stop());
  if (!key.empty()) {
    CUKIT_TRY(store_report(session, key, report));
  }
  return report;
}

} // namespace cukit::pipeline

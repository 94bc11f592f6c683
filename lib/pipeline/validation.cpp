#include "pipeline/validation.hpp"

#include "host/compiler.hpp"

#include <sys/stat.h>

namespace cukit::pipeline {

namespace {

/// What identifies the compiler without running it: its real path, size and time of change.
std::string compiler_identity(const Session& session, const std::string& wanted) {
  const auto path = host::find_host_compiler(session.environment, wanted);
  std::error_code error;
  const auto real = fs::canonical(path.value_or(""), error);
  struct stat info {};
  if (error || ::stat(real.c_str(), &info) != 0) {
    return "none";
  }
  return fmt::format("{} {} {}", real.string(), info.st_size, info.st_mtime);
}

} // namespace

Result<void> check_host_compiler(const Session& session, const ValidationPlan& plan) {
  auto compiler = host::host_compiler(session.environment, plan.host_compiler, session.stop);
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

Result<std::string> report_key(const Session& session, const Sha256& content,
                               const ValidationPlan& plan) {
  Sha256Stream stream;
  const auto add = [&](const std::string& line) {
    stream.update(line);
    stream.update(std::string_view("\n"));
  };
  add("cukit report 1");
  add(content.text());
  CUKIT_TRY_ASSIGN(const auto kernels, session.knowledge.list("kernels"));
  for (const auto& path : kernels) {
    CUKIT_TRY_ASSIGN(const auto text, session.knowledge.read(path));
    add(path + " " + sha256_of(text).hex());
  }
  for (const auto& gpu : plan.gpus) {
    add(gpu.sm());
  }
  for (const auto& suite : plan.suites) {
    add("suite " + suite);
  }
  add(compiler_identity(session, plan.host_compiler));
  const auto look = host::quick_look();
  add(fmt::format("driver {} gpus {}", look.driver ? look.driver->text() : "none", look.gpu_count));
  return stream.finish().hex();
}

std::optional<validate::Report> stored_report(const Session& session, const std::string& key) {
  const auto text = read_file(session.home.reports() / (key + ".json"), limits::k_lock_bytes);
  if (!text) {
    return std::nullopt;
  }
  const auto json = text::Json::parse(*text, key);
  auto report = json ? validate::Report::from_json(*json)
                     : Result<validate::Report>(tl::unexpected<Error>(json.error()));
  return report ? std::optional<validate::Report>(std::move(*report)) : std::nullopt;
}

Result<validate::Report> validate_tree(Session& session, const assemble::Tree& tree,
                                       const ValidationPlan& plan, const std::string& key) {
  const auto temporary = session.environment.get("TMPDIR").value_or("/tmp");
  CUKIT_TRY_ASSIGN(const auto scratch, TempDirectory::create(temporary, "cukit-validate-"));
  validate::BuildOptions options;
  options.gpus = plan.gpus;
  options.suites = plan.suites;
  options.environment = session.environment;
  options.host_compiler = plan.host_compiler;
  const auto out = scratch.path() / "kernels";
  CUKIT_TRY_ASSIGN(auto report, validate::build(tree, session.knowledge, options, out,
                                                session.progress, session.stop));
  CUKIT_TRY(session.check_stop());
  CUKIT_TRY_ASSIGN(report,
                   validate::run(out, host::devices(session.stop), session.progress, session.stop));
  CUKIT_TRY(session.check_stop());
  if (!key.empty()) {
    CUKIT_TRY(
        write_file_atomic(session.home.reports() / (key + ".json"), report.json().dump() + "\n"));
  }
  return report;
}

} // namespace cukit::pipeline

#include "command_line.hpp"
#include "commands/summary.hpp"

namespace cukit::cmd {

namespace {

struct ValidateOptions {
  std::string toolkit;
  std::vector<std::string> gpus;
  std::vector<std::string> suites;
  std::string host_compiler;
  std::string out;
  std::string run_folder;
  bool build_only = false;
  bool require_run = false;
};

int finish(Invocation& invocation, const ValidateOptions& options, const validate::Report& result) {
  if (invocation.options.json) {
    print_json(result.json());
  } else {
    ui::print(report_text(invocation.output(), result));
  }
  const bool unproven = options.require_run && result.count(validate::State::not_run) > 0;
  return result.has_failure() || unproven ? static_cast<int>(ErrorCode::expected_no) : 0;
}

Result<std::vector<GpuTarget>> targets(const ValidateOptions& options,
                                       const TreeReference& reference,
                                       const knowledge::Knowledge& knowledge) {
  if (options.gpus.empty() && !reference.gpus.empty()) {
    return reference.gpus;
  }
  std::vector<GpuTarget> result;
  for (const auto& text : options.gpus) {
    CUKIT_TRY_ASSIGN(const auto gpu, knowledge::find_gpu(knowledge, text));
    result.push_back(gpu);
  }
  if (result.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = "this tree was named by its path, so its GPUs are not known",
              .hint = "name them: `--gpu sm_90`"});
  }
  return result;
}

Result<int> build_and_run(Invocation& invocation, const ValidateOptions& options) {
  CUKIT_TRY_ASSIGN(const auto home, invocation.home());
  CUKIT_TRY_ASSIGN(const auto reference,
                   find_tree(invocation, home, given_or_nearest(invocation, options.toolkit)));
  pipeline::Session session(invocation.environment, home, invocation.knowledge(), {},
                            *invocation.progress, invocation.stop);
  pipeline::ValidationPlan plan;
  CUKIT_TRY_ASSIGN(plan.gpus, targets(options, reference, session.knowledge));
  plan.suites = options.suites.empty() ? std::vector<std::string>{"core"} : options.suites;
  plan.host_compiler = options.host_compiler;
  CUKIT_TRY(pipeline::check_host_compiler(session, plan));
  if (!options.build_only) {
    CUKIT_TRY_ASSIGN(const auto result, pipeline::validate_tree(session, reference.tree, plan, ""));
    return finish(invocation, options, result);
  }
  validate::BuildOptions build;
  build.gpus = plan.gpus;
  build.suites = plan.suites;
  build.environment = invocation.environment;
  build.host_compiler = plan.host_compiler;
  CUKIT_TRY_ASSIGN(const auto result,
                   validate::build(reference.tree, session.knowledge, build, options.out,
                                   *invocation.progress, invocation.stop));
  return finish(invocation, options, result);
}

Result<int> run_folder(Invocation& invocation, const ValidateOptions& options) {
  CUKIT_TRY_ASSIGN(const auto result,
                   validate::run(options.run_folder, machine::devices(invocation.stop),
                                 *invocation.progress, invocation.stop));
  return finish(invocation, options, result);
}

int run_validate(Invocation& invocation, const ValidateOptions& options) {
  if (options.build_only && options.out.empty()) {
    return report(
        invocation,
        Error{
            .code = ErrorCode::usage,
            .message = "--build-only needs a folder for the programs",
            .hint =
                "add `--out DIR`, copy DIR to the node and run `cukit validate --run DIR` there"});
  }
  const auto code = options.run_folder.empty() ? build_and_run(invocation, options)
                                               : run_folder(invocation, options);
  return code ? *code : report(invocation, code.error());
}

} // namespace

void register_validate(Commands& commands) {
  auto options = std::make_shared<ValidateOptions>();
  auto* app = commands.add(
      "validate", "Compile the kernels with a toolkit and run them on the GPUs that are here",
      [options](Invocation& invocation) { return run_validate(invocation, *options); });
  app->add_option("TOOLKIT", options->toolkit,
                  "Name, manifest, path or id of a tree; default: of cukit.yaml here or above, "
                  "else the only one");
  app->add_option("--gpu", options->gpus, "Compile for these instead of the manifest's GPUs")
      ->type_name("GPU");
  app->add_option("--suite", options->suites, "Kernels of these suites (default: core)")
      ->type_name("NAME");
  app->add_option("--host-compiler", options->host_compiler, "gcc, clang or a path")
      ->type_name("CXX");
  auto* build_only =
      app->add_flag("--build-only", options->build_only, "Only compile, into the folder of --out");
  app->add_option("--out", options->out, "Folder for the programs, their libraries and bundle.json")
      ->check(text_name())
      ->type_name("DIR")
      ->needs(build_only);
  app->add_option("--run", options->run_folder,
                  "Run what --build-only left in this folder; needs a driver and nothing else")
      ->type_name("DIR")
      ->excludes(build_only);
  app->add_flag("--require-run", options->require_run, "A kernel that was not run is exit 1");
}

} // namespace cukit::cmd

// `cukit init`: a commented manifest from this machine, a venv, a lock, a toolkit or a log.
#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "command_line.hpp"
#include "commands/locks.hpp"
#include "doctor/doctor.hpp"
#include "draft/draft.hpp"
#include "model/shell_command.hpp"
#include "model/toolkit_name.hpp"

namespace cukit::cmd {

namespace {

struct InitOptions {
  std::string output = k_usual_manifest;
  std::string name;
  std::string venv;
  std::string from_lock;
  std::string like;
  std::string log;
  std::vector<std::string> gpus;
  bool force = false;
};

constexpr std::size_t k_most_log_bytes = 64U << 20U;

/// The path of the venv as the manifest needs it: relative to the manifest's folder where it lies
/// below it, so that both can move together.
Result<std::string> written_path(const fs::path& venv, const std::string& output) {
  CUKIT_TRY_ASSIGN(const auto full, absolute_path(venv));
  CUKIT_TRY_ASSIGN(const auto folder, absolute_path(output == "-" ? "." : output));
  const auto base = output == "-" ? folder : folder.parent_path();
  const auto relative = full.lexically_relative(base).string();
  return relative.empty() || relative.starts_with("..") ? full.string() : relative;
}

/// A name as near to the text as the rule allows; empty when nothing of it is left.
std::string as_name(std::string text) {
  for (char& c : text) {
    c = is_toolkit_name(std::string("x") + c) ? c : '-';
  }
  text.erase(0, std::min(text.find_first_not_of(".-"), text.size()));
  while (!text.empty() && !is_toolkit_name(text)) { // too long, or it ends like a file's name
    text.pop_back();
  }
  return text;
}

/// The file's name, or the folder's where the file has the name that all have: two projects on one
/// machine must not take each other's toolkit.
std::string draft_name(const InitOptions& options) {
  if (!options.name.empty()) {
    return options.name;
  }
  const auto file = absolute_path(options.output == "-" ? k_usual_manifest : options.output)
                        .value_or(k_usual_manifest); // a working folder that is gone has no name
  auto name = as_name(file.filename() == k_usual_manifest ? file.parent_path().filename().string()
                                                          : file.stem().string());
  return name.empty() ? "cukit" : name;
}

constexpr std::size_t k_most_findings = 5;

/// What the log names, and what the doctor makes of its messages.
Result<void> add_log(const InitOptions& options, const knowledge::Knowledge& knowledge,
                     draft::Draft& draft) {
  CUKIT_TRY_ASSIGN(const auto text, read_file(options.log, k_most_log_bytes));
  CUKIT_TRY_ASSIGN(auto facts, doctor::read_log(text, knowledge));
  CUKIT_TRY_ASSIGN(const auto diagnosis,
                   doctor::diagnose({}, {.log = std::move(facts)}, knowledge));
  std::size_t shown = 0;
  for (const auto& finding : diagnosis.findings) {
    const bool is_known = finding.log_line > 0 && finding.id != "log-not-explained";
    if (is_known && shown++ < k_most_findings) {
      draft.remarks.push_back(fmt::format("{}:{}: {}: {}", options.log, finding.log_line,
                                          finding.title, finding.cause));
    }
  }
  auto added = draft::add_log(draft, text, options.log, knowledge);
  const bool is_any_known = shown > 0; // a failure that is known is enough to begin with
  return !added && is_any_known && added.error().code == ErrorCode::usage ? Result<void>() : added;
}

Result<void> add_sources(const InitOptions& options, const knowledge::Knowledge& knowledge,
                         const Invocation& invocation, draft::Draft& draft) {
  std::vector<std::string> origins;
  if (!options.from_lock.empty()) {
    CUKIT_TRY_ASSIGN(const auto found, find_lock(invocation, options.from_lock));
    CUKIT_TRY(draft::add_lock(draft, found.lock, found.name, knowledge));
    origins.push_back("the lock " + found.name);
  }
  if (!options.log.empty()) {
    CUKIT_TRY(add_log(options, knowledge, draft));
    origins.push_back("the log " + options.log);
  }
  if (!options.like.empty()) {
    CUKIT_TRY(draft::add_tree(draft, options.like, knowledge));
    origins.push_back("the toolkit " + options.like);
  }
  if (!options.venv.empty()) {
    CUKIT_TRY_ASSIGN(const auto venv, python::read_venv(options.venv, options.venv));
    CUKIT_TRY_ASSIGN(const auto path, written_path(options.venv, options.output));
    CUKIT_TRY(draft::add_venv(draft, venv, options.venv, path, knowledge));
    origins.push_back("the venv " + options.venv);
  }
  origins.emplace_back("this machine");
  draft.origin = join(origins, " and ");
  return {};
}

Result<draft::Draft> make_draft(const InitOptions& options, const Invocation& invocation) {
  const auto knowledge = invocation.knowledge();
  draft::Draft draft{.name = draft_name(options), .origin = {}, .remarks = {}, .fields = {}};
  if (!is_toolkit_name(draft.name)) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = fmt::format("`{}` cannot be the name of a toolkit", printable(draft.name)),
              .hint = fmt::format("use {}", k_toolkit_name_rule)});
  }
  if (!options.gpus.empty()) {
    std::vector<std::string> targets;
    for (const auto& text : options.gpus) {
      CUKIT_TRY_ASSIGN(const auto gpu, knowledge::find_gpu(knowledge, text));
      targets.push_back(gpu.sm());
    }
    draft.add({.key = "gpus",
               .value = "[" + join(targets, ", ") + "]",
               .comment = "as the command line said"});
  }
  CUKIT_TRY(add_sources(options, knowledge, invocation, draft));
  const auto devices = machine::devices(invocation.stop);
  auto compiler = machine::host_compiler(invocation.environment, "", invocation.stop);
  draft::add_machine(draft, devices, compiler ? std::optional(*std::move(compiler)) : std::nullopt);
  return draft;
}

Result<int> run_init(Invocation& invocation, const InitOptions& options) {
  const bool to_screen = options.output == "-";
  if (!to_screen && path_exists(options.output) && !options.force) {
    return tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                       .message = fmt::format("{} exists", options.output),
                                       .hint = "name another file with -o, or say --force"});
  }
  CUKIT_TRY_ASSIGN(const auto draft, make_draft(options, invocation));
  const auto text = draft::write(draft);
  CUKIT_TRY(manifest::parse(text, to_screen ? "the draft" : options.output,
                            invocation.knowledge())); // whatever was seen, it must be a manifest
  if (!to_screen) {
    CUKIT_TRY(write_user_file(options.output, text));
  }
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.init/1")
                   .set("path", to_screen ? "" : options.output)
                   .set("manifest", text));
  } else if (to_screen) {
    ui::print_data(text);
  } else {
    ui::print(fmt::format("{}: written; look at it, then `{}`\n", options.output,
                          ShellCommand({"cukit", "up", options.output}).text()));
  }
  return 0;
}

} // namespace

void register_init(Commands& commands) {
  auto options = std::make_shared<InitOptions>();
  auto* app = commands.add("init", "Write a commented manifest from what is seen",
                           [options](Invocation& invocation) {
                             const auto code = run_init(invocation, *options);
                             return code ? *code : report(invocation, code.error());
                           });
  app->add_option("-o,--output", options->output, "Where to; - prints it")
      ->check(text_name())
      ->type_name("FILE")
      ->capture_default_str();
  app->add_option("--name", options->name, "Of the toolkit; default: the file's, or the folder's")
      ->type_name("NAME");
  app->add_option("--venv", options->venv, "For the torch and the packages of this environment")
      ->type_name("DIR");
  auto* lock = app->add_option("--from-lock", options->from_lock,
                               "Leading to this lock (a lock, a manifest or a toolkit)")
                   ->type_name("LOCK");
  app->add_option("--like", options->like, "With the versions of this toolkit, as /usr/local/cuda")
      ->type_name("DIR")
      ->excludes(lock);
  app->add_option("--log", options->log, "For what the log of a failed build names")
      ->type_name("FILE")
      ->excludes(lock);
  app->add_option("--gpu", options->gpus, "For these GPUs instead of those of this machine")
      ->type_name("GPU")
      ->allow_extra_args(false);
  app->add_flag("--force", options->force, "Write over an existing file");
}

} // namespace cukit::cmd

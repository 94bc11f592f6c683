#include "doctor/doctor.hpp"

#include "base/strings.hpp"
#include "cli.hpp"
#include "commands/doctor_fix.hpp"
#include "commands/doctor_text.hpp"
#include "commands/doctor_watch.hpp"
#include "image/root.hpp"
#include "names/names.hpp"
#include "survey/wanted.hpp"

#include <algorithm>
#include <unistd.h>

namespace cukit::cmd {

namespace {

constexpr std::uint64_t k_snapshot_bytes = 64U << 20U;
constexpr std::uint64_t k_environment_bytes = 1U << 20U;

struct DoctorOptions {
  std::string root;
  std::string env;
  std::vector<std::string> venvs;
  std::vector<std::string> toolkits;
  std::string log;
  std::vector<std::string> gpus;
  std::string driver;
  std::vector<std::string> consumers;
  std::string from;
  bool rules = false;
  std::string explain;
  bool verbose = false;
  bool fix = false;
  bool yes = false;
  bool no_validate = false;
  bool watch = false;
  std::vector<std::string> command;
};

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto result = fs::absolute(path, error);
  return error ? path : result.lexically_normal().string();
}

/// KEY=VALUE lines, as `env` and an image's configuration have them.
Result<Environment> read_environment(const std::string& path) {
  CUKIT_TRY_ASSIGN(const auto text, read_file(path, k_environment_bytes));
  Environment environment;
  int number = 0;
  for (auto line : split(text, '\n')) {
    ++number;
    while (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    const auto equals = line.find('=');
    if (trim(line).empty() || line.starts_with('#')) {
      continue;
    }
    if (equals == std::string_view::npos || equals == 0) {
      return tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                         .message = "a line is not NAME=VALUE",
                                         .where = fmt::format("{}:{}", path, number)});
    }
    environment.set(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
  }
  return environment;
}

/// What a root gets when nothing is said: an image's shell.
Environment default_environment() {
  Environment environment;
  environment.set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  return environment;
}

/// What a log misses, to be looked for.
std::vector<std::string> missing_headers(const std::optional<buildlog::Facts>& log) {
  constexpr std::size_t most = 20;
  std::vector<std::string> names;
  for (const auto& failure : log ? log->failures : std::vector<buildlog::Failure>()) {
    if (failure.thing == buildlog::Thing::header && names.size() < most) {
      names.push_back(failure.name);
    }
  }
  return names;
}

Result<survey::Snapshot> make_snapshot(const Invocation& invocation, const DoctorOptions& options,
                                       const Environment& environment, bool ask_devices = true,
                                       const std::vector<std::string>& headers = {}) {
  if (!options.from.empty()) {
    CUKIT_TRY_ASSIGN(const auto bytes, read_file(options.from, k_snapshot_bytes));
    CUKIT_TRY_ASSIGN(const auto json, text::Json::parse(bytes, options.from));
    return survey::snapshot_from_json(json, options.from);
  }
  survey::SnapshotRequest request;
  CUKIT_TRY_ASSIGN(request.clues, doctor::clues(invocation.knowledge()));
  request.environment = environment;
  request.ask_devices = ask_devices;
  request.headers = headers;
  std::optional<image::Root> image; // lives as long as it is looked at
  if (!options.root.empty()) {
    request.root = options.root;
    request.environment = default_environment();
    if (image::is_image(options.root)) {
      CUKIT_TRY_ASSIGN(image,
                       image::open_image(options.root, temporary_folder(invocation.environment),
                                         survey::reads_bytes_of));
      for (const auto& note : image->notes) {
        invocation.progress->say(note);
      }
      request.root = image->root();
      request.environment = image->environment;
    } else if (!folder_exists(options.root)) {
      return fail(ErrorCode::usage, "{} is no folder and no image", options.root);
    }
  }
  if (!options.env.empty()) {
    CUKIT_TRY_ASSIGN(request.environment, read_environment(options.env));
    if (!request.environment.get("PATH")) {
      request.environment.set("PATH", default_environment().get("PATH").value_or(""));
    }
  }
  for (const auto& venv : options.venvs) {
    request.venvs.push_back(options.root.empty() ? absolute(venv) : venv);
  }
  for (const auto& toolkit : options.toolkits) {
    request.toolkits.push_back(options.root.empty() ? absolute(toolkit) : toolkit);
  }
  auto snapshot = survey::take_snapshot(request, invocation.stop);
  if (invocation.stop.stop_requested()) {
    return fail(ErrorCode::interrupted, "interrupted");
  }
  return snapshot;
}

bool is_of_this_machine(const DoctorOptions& options) {
  return options.from.empty() && options.root.empty() && options.env.empty();
}

/// A home that cannot be read has nothing to offer.
std::vector<std::string> own_toolkits(const Invocation& invocation) {
  const auto home = invocation.home();
  const auto names = home ? names::list(*home) : Result<std::vector<std::string>>();
  return names ? *names : std::vector<std::string>();
}

Result<doctor::Question> make_question(const Invocation& invocation, const DoctorOptions& options) {
  doctor::Question question;
  const auto knowledge = invocation.knowledge();
  for (const auto& gpu : options.gpus) {
    CUKIT_TRY_ASSIGN(const auto target, knowledge::find_gpu(knowledge, gpu));
    question.gpus.push_back(target);
  }
  if (!options.driver.empty()) {
    CUKIT_TRY_ASSIGN(question.driver, Version::parse(options.driver));
  }
  question.consumers = options.consumers;
  if (is_of_this_machine(options)) {
    question.own_toolkits = own_toolkits(invocation);
  }
  if (!options.log.empty()) {
    CUKIT_TRY_ASSIGN(auto phrases, doctor::log_phrases(knowledge));
    CUKIT_TRY_ASSIGN(question.log,
                     buildlog::read_file(options.log, std::move(phrases), invocation.stop));
  }
  return question;
}

text::Json rule_json(const doctor::RuleText& rule) {
  return text::Json::object()
      .set("id", rule.id)
      .set("severity", doctor::text_of(rule.severity))
      .set("title", rule.title)
      .set("about", rule.about)
      .set("source", rule.source);
}

int show_rules(Invocation& invocation, const DoctorOptions& options) {
  const auto all = doctor::rules(invocation.knowledge());
  if (!all) {
    return report(invocation, all.error());
  }
  std::vector<std::string> ids;
  auto list = text::Json::list();
  for (const auto& rule : *all) {
    ids.push_back(rule.id);
    if (options.explain.empty() || rule.id == options.explain) {
      list.add(rule_json(rule));
    }
  }
  if (list.items().empty()) {
    const auto near = did_you_mean(options.explain, ids);
    return report(invocation,
                  {.code = ErrorCode::usage,
                   .message = fmt::format("there is no rule `{}`", printable(options.explain)),
                   .hint = near.empty() ? "`cukit doctor --rules` lists them"
                                        : fmt::format("did you mean `{}`?", near)});
  }
  if (invocation.options.json) {
    print_json(text::Json::object().set("schema", "cukit.rules/1").set("rules", list));
    return 0;
  }
  const ui::Terminal terminal(invocation.environment, invocation.options.color, STDOUT_FILENO);
  ui::print(options.explain.empty() ? rules_text(terminal, *all)
                                    : explain_text(terminal, *all, options.explain));
  return 0;
}

void show(Invocation& invocation, const DoctorOptions& options, const doctor::Question& question,
          const doctor::Diagnosis& diagnosis) {
  if (invocation.options.json) {
    print_json(doctor::to_json(diagnosis));
    return;
  }
  const ui::Terminal terminal(invocation.environment, invocation.options.color, STDOUT_FILENO);
  ui::print(diagnosis_text(terminal, diagnosis, options.verbose, question.own_toolkits));
  if (options.fix) {
    ui::print("\n" + plan_text(terminal, diagnosis, is_of_this_machine(options)));
  }
}

/// The errors that are left, seen again where the new variables are set. What a log alone has shown
/// cannot be seen again: it is left when the plan had nothing for it.
Result<std::vector<std::string>>
what_is_left(const Invocation& invocation, const DoctorOptions& options,
             const survey::Snapshot& before, doctor::Question question,
             const doctor::Diagnosis& diagnosis, const Applied& applied) {
  CUKIT_TRY_ASSIGN(auto after, make_snapshot(invocation, options, applied.environment, false));
  after.gpus = before.gpus;
  after.gpus_found_by = before.gpus_found_by;
  after.gpus_why = before.gpus_why;
  after.driver = before.driver;
  after.driver_cuda = before.driver_cuda;
  question.log.reset();
  CUKIT_TRY_ASSIGN(const auto again, doctor::diagnose(after, question, invocation.knowledge()));
  // of the tree that was just brought up its own validation is the judge
  std::error_code error;
  const auto brought = applied.has_toolkit
                           ? fs::canonical(applied.environment.get("CUDA_HOME").value_or(""), error)
                           : fs::path();
  std::vector<std::string> left;
  const auto add = [&](const doctor::Finding& finding) {
    const auto text = fmt::format("{}  [{}]", finding.title, finding.id);
    if (finding.severity == doctor::Severity::error &&
        std::find(left.begin(), left.end(), text) == left.end()) {
      left.push_back(text);
    }
  };
  for (const auto& finding : again.findings) {
    if (brought.empty() || finding.subject != brought.string()) {
      add(finding);
    }
  }
  for (const auto& finding : diagnosis.findings) {
    if (finding.log_line != 0 && !is_mended_by_plan(finding)) {
      add(finding);
    }
  }
  return left;
}

/// What may be done without a person, where the diagnosis is this machine's.
int mend(Invocation& invocation, const DoctorOptions& options, const doctor::Question& question,
         const survey::Snapshot& snapshot, const doctor::Diagnosis& diagnosis) {
  if (!is_of_this_machine(options)) {
    return report(invocation,
                  {.code = ErrorCode::usage,
                   .message = "--yes mends this machine, and this is the plan of another",
                   .hint = "run `cukit doctor --fix --yes` there"});
  }
  const auto applied = apply_plan(invocation, diagnosis,
                                  options.no_validate ? std::vector<std::string>{"--no-validate"}
                                                      : std::vector<std::string>{});
  if (!applied) {
    return report(invocation, applied.error());
  }
  if (applied->exit_code != 0) {
    return applied->exit_code;
  }
  const auto left = what_is_left(invocation, options, snapshot, question, diagnosis, *applied);
  if (!left) {
    return report(invocation, left.error());
  }
  for (const auto& text : *left) {
    ui::say("left for you: " + printable(text) + "\n");
  }
  return left->empty() ? 0 : static_cast<int>(ErrorCode::expected_no);
}

int run_doctor(Invocation& invocation, const DoctorOptions& options) {
  if (options.rules || !options.explain.empty()) {
    return show_rules(invocation, options);
  }
  auto question = make_question(invocation, options);
  if (!question) {
    return report(invocation, question.error());
  }
  if (options.watch) {
    if (options.command.empty()) {
      return report(invocation, {.code = ErrorCode::usage, .message = "--watch needs a command"});
    }
    auto watched = watch(options.command, invocation.stop);
    if (!watched) {
      return report(invocation, watched.error());
    }
    if (watched->exit_code == 0) {
      return 0;
    }
    if (invocation.stop.stop_requested()) {
      return static_cast<int>(ErrorCode::interrupted);
    }
    auto log = doctor::read_log(watched->log, invocation.knowledge());
    if (!log) {
      return report(invocation, log.error());
    }
    question->log = *std::move(log);
    question->log->is_failed = true; // the exit code says so, whatever was printed
  }
  const auto snapshot = make_snapshot(invocation, options, invocation.environment, true,
                                      missing_headers(question->log));
  if (!snapshot) {
    return report(invocation, snapshot.error());
  }
  const auto diagnosis = doctor::diagnose(*snapshot, *question, invocation.knowledge());
  if (!diagnosis) {
    return report(invocation, diagnosis.error());
  }
  show(invocation, options, *question, *diagnosis);
  if (options.yes) {
    return mend(invocation, options, *question, *snapshot, *diagnosis);
  }
  return diagnosis->has_error() || options.watch ? static_cast<int>(ErrorCode::expected_no) : 0;
}

int run_snapshot(Invocation& invocation, const DoctorOptions& options) {
  const auto snapshot = make_snapshot(invocation, options, invocation.environment);
  if (!snapshot) {
    return report(invocation, snapshot.error());
  }
  print_json(survey::to_json(*snapshot));
  return 0;
}

void add_places(CLI::App& app, DoctorOptions& options) {
  app.add_option(
         "--root", options.root,
         "Look at this folder as if it were /; also an OCI layout, or what `docker save` wrote")
      ->type_name("DIR");
  app.add_option("--env", options.env,
                 "NAME=VALUE lines that are the environment instead of this one")
      ->type_name("FILE");
  app.add_option("--venv", options.venvs, "A Python environment to look at as well")
      ->type_name("DIR");
  app.add_option("--toolkit", options.toolkits, "A toolkit's root to look at as well")
      ->type_name("DIR");
}

} // namespace

void register_doctor(Commands& commands) {
  auto options = std::make_shared<DoctorOptions>();
  auto* app =
      commands.add("doctor", "Why CUDA does not build here, and what to do",
                   [options](Invocation& invocation) { return run_doctor(invocation, *options); });
  add_places(*app, *options);
  app->add_option("--from", options->from, "Diagnose a snapshot of another machine")
      ->type_name("FILE");
  app->add_option("--log", options->log, "What a failed build printed; - is standard input")
      ->type_name("FILE");
  app->add_option("--gpu", options->gpus, "A GPU that must work: sm_120, 12.0, a product's name")
      ->type_name("GPU");
  app->add_option("--driver", options->driver, "The driver, instead of the one that is here")
      ->type_name("VERSION");
  app->add_option("--consumer", options->consumers,
                  "Only this consumer, also where it is not installed")
      ->type_name("NAME");
  app->add_flag("--rules", options->rules, "List what the doctor knows");
  app->add_option("--explain", options->explain, "Explain one rule")->type_name("ID");
  auto* fix = app->add_flag("--fix", options->fix, "Print a plan that mends what is broken");
  app->add_flag("--yes", options->yes,
                "With --fix: remove stale caches, write cukit.yaml, run `cukit up`, write the "
                "variables to "
                "cukit.env.sh; nothing of the system")
      ->needs(fix);
  app->add_flag("--no-validate", options->no_validate, "With --fix --yes: passed on to `cukit up`")
      ->needs(fix);
  app->add_flag("--watch", options->watch, "Run COMMAND and diagnose its failure");
  app->add_option("command", options->command, "With --watch; everything behind it is the build's")
      ->type_name("COMMAND");
  app->add_flag("-v,--verbose", options->verbose, "Show where each consumer looked");
  auto* snapshot = commands.add(
      "snapshot", "Everything the doctor looks at, as JSON for a bug report",
      [options](Invocation& invocation) { return run_snapshot(invocation, *options); });
  add_places(*snapshot, *options);
}

} // namespace cukit::cmd

// switch and rollback: the name points at another of its generations.
#include "base/strings.hpp"
#include "commands/summary.hpp"
#include "home/reference.hpp"
#include "names/mend.hpp"

#include <algorithm>

namespace cukit::cmd {

namespace {

struct Options {
  std::string name;
  int number = 0;
};

int tell(Invocation& invocation, const store::Home& home, const std::string& name,
         const Result<names::Switched>& switched) {
  invocation.worked_on = home;
  if (!switched) {
    return report(invocation, switched.error());
  }
  const auto path = home.tree(switched->to.tree).string();
  const bool changed = switched->from != switched->to.number;
  const auto lock = lock::read(switched->to.lock, "the lock of " + name);
  const auto release = lock ? lock->release.text() : ""; // of a newer cukit's lock nothing is known
  const auto json = text::Json::object()
                        .set("schema", "cukit.switch/1")
                        .set("name", name)
                        .set("from", switched->from)
                        .set("to", switched->to.number)
                        .set("changed", changed)
                        .set("release", release)
                        .set("tree", path);
  if (changed) {
    invocation.outcome = json;
  }
  if (invocation.options.json) {
    print_json(json);
  } else {
    ui::print(fmt::format("{} {} generation {}{}: {}\n", name,
                          changed ? "points at" : "points already at", switched->to.number,
                          release.empty() ? "" : ", CUDA " + release, path));
  }
  return 0;
}

/// The newest generation of the manifest's name that was made from the lock beside it.
Result<names::Generation> generation_of(const store::Home& home, const home::Reference& reference,
                                        const std::string& name) {
  CUKIT_TRY_ASSIGN(const auto lock, home::lock_of(home, reference));
  const auto text = lock::write(lock);
  std::vector<Error> damaged; // `list` and `verify` name it
  const auto all = names::readable_generations(home, name, damaged);
  const auto found =
      std::find_if(all.rbegin(), all.rend(), [&](const auto& one) { return one.lock == text; });
  if (found == all.rend()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::expected_no,
              .message = fmt::format("no generation of {} was made from the lock of {}", name,
                                     printable(reference.text)),
              .hint = fmt::format("run `cukit up {}`", printable(reference.text))});
  }
  return *found;
}

Result<void> find_by_manifest(const Invocation& invocation, const store::Home& home,
                              Options& options) {
  CUKIT_TRY_ASSIGN(const auto reference, home::find_reference(home, options.name));
  if (reference.kind != home::Reference::Kind::manifest) {
    return {}; // a name; what is none is refused below
  }
  CUKIT_TRY_ASSIGN(const auto manifest, manifest::load(reference.path, invocation.knowledge()));
  options.name = manifest.name.value;
  if (options.number == 0) {
    CUKIT_TRY_ASSIGN(const auto generation, generation_of(home, reference, options.name));
    options.number = generation.number;
  }
  return {};
}

int run_switch(Invocation& invocation, Options options) {
  const auto home = invocation.home();
  if (!home) {
    return report(invocation, home.error());
  }
  if (home::is_path(options.name)) {
    if (const auto found = find_by_manifest(invocation, *home, options); !found) {
      return report(invocation, found.error());
    }
  }
  return tell(invocation, *home, options.name,
              names::make_current(*home, options.name, options.number));
}

int run_rollback(Invocation& invocation, const Options& options) {
  const auto home = invocation.home();
  if (!home) {
    return report(invocation, home.error());
  }
  return tell(invocation, *home, options.name, names::roll_back(*home, options.name));
}

} // namespace

void register_switch(Commands& commands) {
  auto options = std::make_shared<Options>();
  auto* app = commands.add(
      "switch", "Let a name point at another of its generations (the newest, or --to N)",
      [options](Invocation& invocation) { return run_switch(invocation, *options); });
  app->add_option("NAME", options->name,
                  "A name that `cukit list` shows, or a manifest: its name, and the generation of "
                  "its lock")
      ->required();
  app->add_option("--to", options->number, "Number of the generation")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  auto back = std::make_shared<Options>();
  auto* rollback =
      commands.add("rollback", "Let a name point at the generation before the current one",
                   [back](Invocation& invocation) { return run_rollback(invocation, *back); });
  rollback->add_option("NAME", back->name, "A name that `cukit list` shows")->required();
}

} // namespace cukit::cmd

// switch and rollback: the name points at another of its generations.
#include "commands/summary.hpp"
#include "lock/lock.hpp"
#include "names/names.hpp"

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

int run_switch(Invocation& invocation, const Options& options) {
  const auto home = invocation.home();
  if (!home) {
    return report(invocation, home.error());
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
  app->add_option("NAME", options->name, "A name that `cukit list` shows")->required();
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

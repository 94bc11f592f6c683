#include "commands/venv_change.hpp"

#include "base/strings.hpp"
#include "pipeline/entries.hpp"
#include "venv/choose.hpp"
#include "venv/layout.hpp"
#include "venv/stage.hpp"
#include "venv/users.hpp"

namespace cukit::cmd {

namespace {

using pipeline::Outcome;

/// A plan with what it was made of.
struct Planned {
  venv::Inventory inventory;
  venv::Chosen chosen;
  venv::Plan plan;
};

tl::unexpected<pipeline::Failure> failed(Error error) {
  return tl::unexpected<pipeline::Failure>(std::move(error));
}

Outcome<Planned> make_plan(pipeline::Session& session, const venv::Place& place,
                           const VenvChange& options) {
  Planned result;
  auto inventory = venv::take_inventory(place, venv::Depth::sizes, session.stop);
  if (!inventory) {
    return failed(std::move(inventory.error()));
  }
  result.inventory = *std::move(inventory);
  auto chosen = venv::choose(session, result.inventory, options.manifest);
  if (!chosen) {
    return tl::unexpected(std::move(chosen.error()));
  }
  result.chosen = *std::move(chosen);
  auto plan =
      venv::plan(result.inventory, session.knowledge, result.chosen.lock, result.chosen.wheels);
  if (!plan) {
    return failed(std::move(plan.error()));
  }
  result.plan = *std::move(plan);
  // the store needs no more than what comes
  result.chosen.wheels.artifacts.clear();
  for (const auto& change : result.plan.changes) {
    result.chosen.wheels.artifacts.push_back(change.artifact);
  }
  return result;
}

std::uint64_t to_download(const pipeline::Session& session, const Planned& planned) {
  std::uint64_t bytes = 0;
  for (const auto& missing : pipeline::missing_entries(session, planned.chosen.wheels)) {
    bytes += missing.bytes;
  }
  return bytes;
}

text::Json plan_json(const venv::Place& place, const Planned& planned, std::uint64_t download) {
  auto changes = text::Json::list();
  for (const auto& change : planned.plan.changes) {
    changes.add(text::Json::object()
                    .set("project", change.project)
                    .set("from", change.from)
                    .set("to", change.to.text())
                    .set("why", change.why)
                    .set("file", change.artifact.file)
                    .set("bytes", change.artifact.size));
  }
  auto kept = text::Json::list();
  for (const auto& one : planned.plan.kept) {
    kept.add(text::Json::object()
                 .set("project", one.project)
                 .set("version", one.version)
                 .set("why", one.why));
  }
  return text::Json::object()
      .set("schema", "cukit.venv-plan/1")
      .set("path", place.prefix.string())
      .set("release", planned.plan.release.text())
      .set("changes", changes)
      .set("kept", kept)
      .set("layout", planned.plan.makes_layout)
      .set("download_bytes", download);
}

std::string plan_text(const ui::Terminal& terminal, const Planned& planned,
                      std::uint64_t download) {
  if (planned.plan.is_empty()) {
    return fmt::format("nothing to do: it has the compiler, headers and CCCL of CUDA {}\n",
                       planned.plan.release.text());
  }
  ui::Table table;
  for (const auto& change : planned.plan.changes) {
    table.row({change.project, change.from.empty() ? "new" : change.from, "->", change.to.text(),
               human_bytes(change.artifact.size), change.why});
  }
  for (const auto& one : planned.plan.kept) {
    table.row({one.project, one.version, "", "stays", "", one.why});
  }
  if (planned.plan.makes_layout) {
    table.row({venv::k_layout_project, "", "->", planned.plan.release.text(), "",
               "what wheels lack: lib64, plain names of libraries, a libcuda to link with"});
  }
  return fmt::format("CUDA {} in {}\n{}{} to download\n", planned.plan.release.text(),
                     printable(planned.plan.site.string()), table.print(terminal),
                     human_bytes(download));
}

void say_recovered(const Invocation& invocation, const venv::HeldPlace& held) {
  for (const auto& sentence : held.recovered) {
    if (!invocation.options.quiet) {
      ui::say(fmt::format("note: {}\n", sentence));
    }
  }
}

void say_users(const Invocation& invocation, const venv::Plan& plan) {
  const auto users = venv::users_of(plan.site / plan.root);
  if (!users.empty() && !invocation.options.quiet) {
    ui::say(fmt::format("note: files of it are in use by {}: what runs keeps what it has until it "
                        "is started again\n",
                        join(users, ", ")));
  }
}

/// Wheels into the environment, all or nothing.
Outcome<venv::Journal> apply(pipeline::Session& session, const venv::Place& place,
                             const Planned& planned) {
  if (auto prepared = store::prepare(session.home); !prepared) {
    return failed(std::move(prepared.error()));
  }
  const auto entries = pipeline::obtain_entries(session, planned.chosen.wheels);
  auto journal = entries ? venv::begin(place, planned.plan.site) : tl::unexpected(entries.error());
  if (!journal) {
    return failed(std::move(journal.error()));
  }
  if (auto staged = venv::stage(planned.inventory, planned.plan, *entries, *journal); !staged) {
    static_cast<void>(venv::abandon(*journal));
    return failed(std::move(staged.error())
                      .under(fmt::format("{} was left as it was", place.prefix.string())));
  }
  if (auto stopped = session.check_stop(); !stopped) {
    static_cast<void>(venv::abandon(*journal));
    return failed(std::move(stopped.error()));
  }
  if (auto done = venv::commit(*journal); !done) {
    return failed(
        std::move(done.error()).under(fmt::format("{} was left as it was", place.prefix.string())));
  }
  return *std::move(journal);
}

Result<venv::Place> place_to_change(const VenvChange& options) {
  CUKIT_TRY_ASSIGN(auto place, venv::find_place(options.path));
  CUKIT_TRY(venv::check_changeable(place, place.prefix));
  for (const auto& site : place.sites) {
    CUKIT_TRY(venv::check_changeable(place, site));
  }
  return place;
}

Result<OpenSession> open(Invocation& invocation, const VenvChange& options, bool dry_run) {
  CUKIT_TRY_ASSIGN(auto settings, options.settings.settings());
  settings.dry_run = dry_run;
  return open_session(invocation, settings);
}

} // namespace

int run_venv_plan(Invocation& invocation, const VenvChange& options) {
  const auto place = venv::find_place(options.path);
  auto opened = place ? open(invocation, options, true) : tl::unexpected(place.error());
  if (!opened) {
    return report(invocation, opened.error());
  }
  const auto planned = make_plan(*opened->session, *place, options);
  if (!planned) {
    return report(invocation, planned.error());
  }
  const auto download = to_download(*opened->session, *planned);
  if (invocation.options.json) {
    print_json(plan_json(*place, *planned, download));
  } else {
    ui::print(plan_text(invocation.output(), *planned, download));
  }
  return 0;
}

int run_venv_apply(Invocation& invocation, const VenvChange& options) {
  const auto place = place_to_change(options);
  auto opened = place ? open(invocation, options, false) : tl::unexpected(place.error());
  const auto held = opened ? venv::hold(*place) : tl::unexpected(opened.error());
  if (!held) {
    return report(invocation, held.error());
  }
  say_recovered(invocation, *held);
  const auto planned = make_plan(*opened->session, *place, options);
  if (!planned) {
    return report(invocation, planned.error());
  }
  const auto download = to_download(*opened->session, *planned);
  int number = 0;
  if (!planned->plan.is_empty()) {
    say_users(invocation, planned->plan);
    const auto journal = apply(*opened->session, *place, *planned);
    if (!journal) {
      return report(invocation, journal.error());
    }
    number = journal->number;
  }
  if (invocation.options.json) {
    print_json(plan_json(*place, *planned, download).set("change", number));
    return 0;
  }
  ui::print(plan_text(invocation.output(), *planned, download));
  if (number > 0) {
    ui::print(fmt::format("done, as change {}; `cukit venv restore {}` takes it back\n", number,
                          printable(place->prefix.string())));
  }
  return 0;
}

int run_venv_history(Invocation& invocation, const VenvChange& options) {
  const auto place = venv::find_place(options.path);
  const auto journals = place ? venv::list_journals(*place) : tl::unexpected(place.error());
  if (!journals) {
    return report(invocation, journals.error());
  }
  auto json = text::Json::list();
  std::string out;
  for (const auto& journal : *journals) {
    json.add(text::Json::object()
                 .set("number", journal.number)
                 .set("time", journal.time)
                 .set("what", journal.what)
                 .set("files", static_cast<std::uint64_t>(journal.rows.size())));
    out += fmt::format("{}  {}  {}\n", journal.number, journal.time, printable(journal.what));
  }
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.venv-history/1")
                   .set("path", place->prefix.string())
                   .set("changes", json));
  } else {
    ui::print(out.empty() ? "cukit has changed nothing there\n" : out);
  }
  return 0;
}

namespace {

struct Restored {
  std::vector<int> taken_back;
  std::vector<std::string> left;
};

Result<Restored> restore(const venv::Place& place, const venv::HeldPlace& held, int to) {
  CUKIT_TRY_ASSIGN(auto journals, venv::list_journals(place));
  Restored result{.taken_back = held.taken_back, .left = {}};
  if (to < 0 && !held.taken_back.empty()) {
    return result; // it was this very command that had been stopped
  }
  const auto keeps = to >= 0 ? to : journals.empty() ? 0 : journals.back().number - 1;
  while (!journals.empty() && journals.back().number > keeps && result.left.empty()) {
    CUKIT_TRY_ASSIGN(result.left, venv::undo(journals.back()));
    result.taken_back.push_back(journals.back().number);
    journals.pop_back();
  }
  return result;
}

} // namespace

int run_venv_restore(Invocation& invocation, const VenvChange& options) {
  const auto place = place_to_change(options);
  const auto held = place ? venv::hold(*place) : tl::unexpected(place.error());
  if (!held) {
    return report(invocation, held.error());
  }
  say_recovered(invocation, *held);
  const auto restored = restore(*place, *held, options.to);
  if (!restored) {
    return report(invocation, restored.error());
  }
  auto numbers = text::Json::list();
  auto left = text::Json::list();
  std::string out = restored->taken_back.empty() ? "nothing to take back\n" : "";
  for (const auto number : restored->taken_back) {
    numbers.add(number);
    out += fmt::format("change {} is taken back{}\n", number,
                       restored->left.empty() ? "" : ", but for what others changed since");
  }
  for (const auto& why : restored->left) {
    left.add(why);
    out += fmt::format("  {}\n", printable(why));
  }
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.venv-restore/1")
                   .set("path", place->prefix.string())
                   .set("taken_back", numbers)
                   .set("left", left));
  } else {
    ui::print(out);
  }
  return restored->left.empty() ? 0 : static_cast<int>(ErrorCode::expected_no);
}

} // namespace cukit::cmd

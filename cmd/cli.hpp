// The frame of every command: options that all of them take, and how a command is registered. CLI11
// appears only under cmd/.
#pragma once

#include "base/temporary.hpp"
#include "pipeline/session.hpp"
#include "text/json.hpp"
#include "ui/output.hpp"
#include "ui/terminal.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cukit::cmd {

/// Options before or after the name of a command.
struct GlobalOptions {
  bool json = false;
  bool quiet = false;
  int verbose = 0; ///< how often -v was given
  std::string color = "auto";
  std::string progress = "auto"; ///< auto, bars, lines, none
  std::string recipes;
  bool system = false;  ///< the system store instead of the user's own
  bool no_lock = false; ///< go on where the file system keeps no locks
};

/// What a command works with. Lives as long as the program.
struct Invocation {
  GlobalOptions options;
  Environment environment;
  std::stop_token stop;
  std::unique_ptr<ui::Terminal> terminal; ///< where the talk goes: standard error
  std::unique_ptr<Progress> progress;
  std::string command; ///< its name: "up"
  // For the log of runs: the home that was worked on, and what was changed or why it failed.
  std::optional<store::Home> worked_on;
  std::optional<text::Json> outcome;

  [[nodiscard]] knowledge::Knowledge knowledge() const;
  /// What a shell finds this program by, for commands that are printed: its name where PATH leads
  /// to it, else its path.
  [[nodiscard]] std::string own_name() const;
  /// Where data goes: standard output, which may be a file while the talk is seen on a terminal.
  [[nodiscard]] ui::Terminal output() const;
  /// The user's home, or with --system the system store.
  [[nodiscard]] Result<store::Home> home() const;
};

using Action = std::function<int(Invocation&)>;

/// Registers one command: `action` runs after the command line was read.
class Commands {
public:
  explicit Commands(CLI::App& app) : app_(app) {}
  CLI::App* add(const std::string& name, const std::string& summary, Action action);
  [[nodiscard]] const Action& chosen() const { return chosen_; }

private:
  CLI::App& app_;
  Action chosen_;
};

void register_up(Commands& commands);
void register_lock(Commands& commands);
void register_fetch_and_build(Commands& commands);
void register_validate(Commands& commands);
void register_env(Commands& commands);
void register_run(Commands& commands);
void register_shell(Commands& commands);
void register_list(Commands& commands);
void register_verify(Commands& commands);
void register_switch(Commands& commands); ///< switch and rollback
void register_gc(Commands& commands);     ///< gc and du
void register_sbom(Commands& commands);   ///< sbom and licences
void register_export(Commands& commands);
void register_mirror(Commands& commands);
void register_bundle(Commands& commands);
void register_releases(Commands& commands);
void register_gpus(Commands& commands);
void register_matrix(Commands& commands);
void register_diff(Commands& commands);
void register_why(Commands& commands);
void register_init(Commands& commands);
void register_doctor(Commands& commands); ///< doctor and snapshot
void register_venv(Commands& commands);

/// Options that several commands share: --index-url, --redist-url, --locked, --frozen, --platform,
/// --prefix,
/// --durability.
struct SettingsOptions {
  bool locked = false;
  bool frozen = false;
  std::string index_url;
  std::string redist_url;
  std::vector<std::string> mirrors;
  std::string bundle;
  bool netrc = false;
  std::string platform;
  std::string prefix;
  std::string durability = "full";
  bool dry_run = false;
  bool no_validate = false;

  void add_source_options(CLI::App& app);
  void add_lock_options(CLI::App& app);
  void add_tree_options(CLI::App& app);
  [[nodiscard]] Result<pipeline::Settings> settings() const;
};

/// `--platform`, which may be repeated; parse_platforms() reads what came.
void add_platforms_option(CLI::App& app, std::vector<std::string>& names);
Result<std::vector<Platform>> parse_platforms(const std::vector<std::string>& names);

/// A session in CUKIT_HOME or the XDG folders. With a prefix and no CUKIT_HOME the store lies in a
/// temporary folder beside the prefix and is gone when the session is: nothing but the prefix is
/// left.
struct OpenSession {
  std::optional<HeldDirectory> temporary_home;
  std::unique_ptr<pipeline::Session> session;
};
Result<OpenSession> open_session(Invocation& invocation, const pipeline::Settings& settings);
Result<OpenSession> open_session(Invocation& invocation, const SettingsOptions& options);

/// Prints an error (or its JSON) and returns its exit code.
int report(Invocation& invocation, const Error& error);
int report(Invocation& invocation, const pipeline::Failure& failure);
text::Json error_json(const Error& error);
std::string error_text(const ui::Terminal& terminal, const Error& error);
text::Json conflict_json(const resolve::Conflict& conflict);
std::string conflict_text(const ui::Terminal& terminal, const Error& error,
                          const resolve::Conflict& conflict);
void print_json(const text::Json& json);
/// A sentence with the logins of the URLs in it left out: people paste them anywhere.
std::string without_logins(std::string_view text);

/// A tree as home/reference.hpp finds it, with what its lock knows. A manifest that says more
/// than its lock does is remarked upon (standard error).
struct TreeReference {
  assemble::Tree tree;
  std::string name;            ///< empty when it was not given by its name
  std::vector<GpuTarget> gpus; ///< of the lock; none when it was given by path or id
};
Result<TreeReference> find_tree(const Invocation& invocation, const store::Home& home,
                                const std::string& text);

/// The word that was given, else the cukit.yaml of the project around the working folder
/// (pipeline/nearest.hpp; named on standard error), else nothing. Never for what takes away or
/// switches.
std::string given_or_nearest(const Invocation& invocation, const std::string& given);
/// The same for manifests; an error of code usage where there is none at all.
Result<std::vector<std::string>> given_or_nearest(const Invocation& invocation,
                                                  const std::vector<std::string>& given);

} // namespace cukit::cmd

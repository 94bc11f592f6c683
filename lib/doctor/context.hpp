// What rules work with, and how they say what they found. Private to doctor.
#pragma once

#include "doctor/discovery.hpp"
#include "doctor/log.hpp"
#include "doctor/rule_id.hpp"
#include "fit/torch.hpp"
#include "knowledge/limits.hpp"
#include "knowledge/names.hpp"

#include <functional>

namespace cukit::doctor {

struct Context {
  const survey::Snapshot& snapshot;
  const Question& question;
  const std::vector<knowledge::Release>& releases;
  const std::vector<knowledge::Architecture>& architectures;
  const knowledge::Limits& limits;
  const std::vector<knowledge::Consumer>& recipes;
  const std::vector<Found>& found;
  std::vector<GpuTarget> gpus = {}; ///< asked for and there
  std::optional<Version> driver;
  const LogFacts& log;
  /// PyTorch's builds; empty when no environment here has torch.
  const std::vector<knowledge::TorchRelease>& torches;
  /// What came and went with CUDA's releases; nullptr without a log that failed.
  const knowledge::Names* names = nullptr;

  [[nodiscard]] static const knowledge::Consumer& recipe(const Found& consumer) {
    return *consumer.recipe;
  }
};

/// Collects findings; title, severity and source come from the catalogue.
class Findings {
public:
  explicit Findings(const std::vector<RuleText>& catalogue) : catalogue_(catalogue) {}
  /// A new finding, or the one of this rule about this subject that is there already.
  Finding& add(RuleId id, const std::string& subject = {}) { return add(text_of(id), subject); }
  /// Of a message's causes, which are checked against the catalogue when they are read.
  Finding& add(std::string_view id, const std::string& subject = {});
  [[nodiscard]] bool has(RuleId id) const { return has(text_of(id)); }
  [[nodiscard]] bool has(std::string_view id) const;
  [[nodiscard]] Finding* find(std::string_view id);
  /// Without fixes that turned out to be neither a command nor advice.
  [[nodiscard]] std::vector<Finding> take();
  [[nodiscard]] const std::vector<Finding>& list() const { return list_; }

private:
  const std::vector<RuleText>& catalogue_;
  std::vector<Finding> list_ = {};
};

using Rule = void (*)(const Context&, Findings&);
const std::vector<Rule>& environment_rules();
const std::vector<Rule>& choice_rules();
const std::vector<Rule>& tree_rules();
const std::vector<Rule>& layout_rules();
const std::vector<Rule>& system_rules();
const std::vector<Rule>& python_rules();
const std::vector<Rule>& cache_rules();
const std::vector<Rule>& ptxas_rules();
const std::vector<Rule>& torch_rules();
const std::vector<Rule>& loader_rules();
const std::vector<Rule>& nvrtc_rules();
/// Turns what a log said into findings, with what the environment rules found already.
void explain_log(const Context& context, Findings& findings);
/// What concerns builds is no reason to call a machine broken on which nothing is built.
void weigh_for_builders(const Context& context, std::vector<Finding>& findings);
/// Whether it compiles when it is used: not one whose kernels were installed with it.
bool compiles_when_used(const Found& found);
/// Whether a distribution is here with which it compiles nothing.
bool is_needless(const Found& found);
/// A consumer that the log shows failing does not work, whatever else is found.
void doubt_involved(const Context& context, std::vector<Found>& consumers);
/// A finding of the log's failure by what it is about; nullptr: nothing is known of it.
Finding* explain_failure(const Context& context, const buildlog::Failure& failure,
                         Findings& findings);
/// Findings from what the log's commands and versions say of each other and of the machine.
void compare_log(const Context& context, Findings& findings);
/// Cause, evidence and fix of a finding that only the log knows.
void fill_from_log(const Context& context, const Hit& hit, Finding& finding);

/// "13.0" of "13.0.88"; empty of what is no version.
std::string minor_of(std::string_view version);
int major_of(std::string_view version); ///< 0: unknown
/// NVIDIA's wheel of a part for a CUDA: nvidia-nvjitlink-cu12 of 12.8, nvidia-nvjitlink of 13.0.
std::string wheel_for(std::string_view project, std::string_view cuda);
bool differ(std::string_view a, std::string_view b);   ///< both known, another minor
bool is_older(std::string_view a, std::string_view b); ///< both known, a's minor below b's
/// Whether lib/fit's rule refuses the second beside the first; not where one has no minor.
bool is_refused(fit::Fit (*rule)(const Version&, const Version&), std::string_view first,
                std::string_view second);
/// The release that a version is of; nullptr: none that is known.
const knowledge::Release* release_of(const Context& context, std::string_view version);
std::string value_or(std::string_view text, std::string_view otherwise);

/// A tree whose nvcc somebody uses; trees that nobody uses come with no users.
struct UsedTree {
  const survey::Toolkit* kit = nullptr;
  const survey::Tool* nvcc = nullptr;
  std::vector<std::string> users = {};
};
/// The targets that exist among those that a list names, however it is written.
std::vector<GpuTarget> targets_in_list(const Context& context, const std::string& text);
std::vector<UsedTree> trees_with_nvcc(const Context& context);
/// Lets a finding about a tree that nobody uses count less.
void weigh(Finding& finding, const std::vector<std::string>& users);

/// A command, and what it does where that can be told.
struct Action {
  Action() = default;
  Action(ShellCommand words) : command(std::move(words)) {}
  Action(ShellCommand words, std::vector<Effect> what)
      : command(std::move(words)), effects(std::move(what)) {}
  /// Both; what one of two does alone says nothing of the other.
  [[nodiscard]] Action then(const Action& next) const;

  ShellCommand command = {};
  std::vector<Effect> effects = {};
};

Fix by_command(Action action, std::string effect);
Fix by_hand(std::string advice, std::string effect);
/// `uv pip install --python PREFIX ...` or `PREFIX/bin/python -m pip install ...`, as the
/// environment has it. None when a package is not called as packages are: it would be an option, or
/// an address.
Action pip_install(const Context& context, const std::string& prefix,
                   const std::vector<std::string>& packages,
                   const std::vector<std::string>& options = {});
/// The same for `pip uninstall`.
Action pip_uninstall(const Context& context, const std::string& prefix, const std::string& package);
/// A build of PyTorch, from the index that has it.
Action install_torch(const Context& context, const std::string& prefix,
                     const fit::TorchName& build);
/// The nearest build of torch that was made with this CUDA major.
std::optional<fit::TorchName> torch_of_major(const Context& context,
                                             const survey::PythonEnvironment& python, int major);
/// The metapackage that pins parts of one release: cuda-toolkit[nvcc,crt]==13.0.2.
std::string metapackage(const Context& context, const std::string& prefix, const std::string& minor,
                        const std::string& extras);
/// The toolkits that cukit has built here already: nobody finds them before their variables are
/// set.
void offer_own_toolkits(const Context& context, Finding& finding);
/// How to get a matched tree from cukit, for these consumers.
Fix cukit_fix(const Context& context, const std::vector<std::string>& consumers);
/// export CUDA_HOME=T CUDA_PATH=T PATH=T/bin:"$PATH"
Action use_tree(const std::string& root);
/// The host compiler for nvcc.
Action use_compiler(const std::string& path);
/// export NAME=VALUE
Action set_variable(const std::string& name, const std::string& value);
Action export_variables(const std::vector<ShellVariable>& variables);
Action unset_variables(const std::vector<std::string>& names);
/// export NAME=FOLDER:"$NAME"
Action put_first(const std::string& name, const std::string& folder);
/// ln -s TARGET PATH
Action add_link(const std::string& target, const std::string& path);

bool is_wheel_tree(const survey::Toolkit& kit);
/// A consumer that no package brings: whatever builds with the compiler that it finds.
bool is_any_build(const Found& found);
bool is_any_build(const Context& context, std::string_view consumer);
/// Their names, whether a compiler is here or not.
std::vector<std::string> any_builds(const Context& context);
const survey::PythonEnvironment* python_of(const survey::Snapshot& snapshot,
                                           std::string_view prefix);
/// Least nvcc release that compiles for a target, with its suffix; nothing for unknown ones.
std::optional<Version> first_release(const Context& context, const GpuTarget& target);

} // namespace cukit::doctor

// Snapshot -> Diagnosis: what each consumer of CUDA would find on that machine, what is wrong with
// it, why, and what to do. Pure: reads no file and runs nothing; the same snapshot gives the same
// diagnosis anywhere. What the snapshot does not know is said as unknown, never guessed.
#pragma once

#include "buildlog/buildlog.hpp"
#include "doctor/effect.hpp"
#include "knowledge/knowledge.hpp"
#include "model/shell_command.hpp"
#include "survey/snapshot.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cukit::doctor {

enum class Severity { error, warning, note };

struct Evidence {
  std::string path = {}; ///< a file, a variable, or log:LINE
  std::string fact = {};
};

/// A command, or advice where no command can do it.
struct Fix {
  ShellCommand command = {};
  std::string advice = {}; ///< prose; empty beside a command
  std::string effect = {};
  std::string manifest = {};             ///< what `cukit up` would be given
  std::vector<std::string> removes = {}; ///< folders of caches that the command deletes
  std::vector<Effect> effects = {};      ///< of the command; none: they cannot be told beforehand
  [[nodiscard]] std::string text() const { return command.empty() ? advice : command.text(); }
};

struct Finding {
  std::string id = {}; ///< of the catalogue, recipes/doctor/rules.yaml
  Severity severity = Severity::error;
  std::string title = {};
  std::string cause = {};
  std::vector<Evidence> evidence = {};
  std::vector<Fix> fix = {}; ///< best first
  std::vector<std::string> consumers = {};
  std::string source = {};
  std::vector<std::string> consequences = {}; ///< what else fails because of this
  std::size_t log_line = 0;                   ///< where a log shows it; 0: nowhere
  bool concerns_builds = false;               ///< nobody is harmed who builds nothing
  bool is_latent = false;                     ///< and nobody is known to build anything here
  std::string subject = {}; ///< the tree or environment it is about; empty: the machine
};

enum class Verdict { works, fails, unknown };

/// One look of the simulated discovery.
struct Look {
  std::string where = {};   ///< env CUDA_HOME
  std::string value = {};   ///< what stood there
  std::string outcome = {}; ///< taken, not set, not there, passed over
};

/// What one consumer would use.
struct Found {
  std::string consumer = {};
  std::string version = {}; ///< of the consumer; empty: not known
  const knowledge::Consumer* recipe =
      nullptr;               ///< for that version, while it is diagnosed; then null
  std::string compiles = {}; ///< nvcc, nvrtc, ptxas
  std::vector<Look> looked = {};
  std::string root = {};                     ///< taken root, as it stood
  const survey::Toolkit* kit = nullptr;      ///< the toolkit there; points into the snapshot
  std::string nvcc = {};                     ///< path
  std::string nvcc_version = {};             ///< empty: not known
  const survey::Toolkit* compiler = nullptr; ///< the toolkit whose parts nvcc really uses
  std::string headers = {};                  ///< include folder whose CUDART_VERSION counts
  std::string headers_version = {};
  std::string ptxas = {};
  std::string ptxas_version = {};
  bool is_second_ptxas = false;          ///< it is the one for compute capability 10 and newer
  std::string ptxas_variable = {};       ///< that would name it; empty: none does
  std::string first_ptxas_variable = {}; ///< the one for older GPUs
  std::string own_ptxas = {};            ///< of its own wheel, whatever is taken; empty: none
  std::string own_ptxas_version = {};
  std::string libraries = {}; ///< first existing folder for -L, or empty
  std::vector<std::pair<std::string, std::string>> arch_lists = {}; ///< variable and value
  bool is_asked = false;                                            ///< named by --consumer
  bool is_runtime = false;                                          ///< compiles when it is used
  const survey::PythonEnvironment* python = nullptr; ///< the environment that brings it
  Verdict verdict = Verdict::unknown;
  std::string why = {};
};

struct Question {
  std::vector<GpuTarget> gpus = {};        ///< further targets that must work
  std::optional<Version> driver = {};      ///< instead of the snapshot's
  std::vector<std::string> consumers = {}; ///< only these; empty: all that are there
  /// Names of toolkits that cukit itself has built for this user.
  std::vector<std::string> own_toolkits = {};
  /// What a build printed, read with log_phrases().
  std::optional<buildlog::Facts> log = {};
};

/// What the log said as a whole.
struct LogState {
  bool is_read = false;
  bool is_failed = false;    ///< the build failed in the end
  bool is_explained = false; ///< and a finding says why
};

struct Diagnosis {
  std::vector<Finding> findings = {}; ///< causes first
  LogState log = {};
  std::vector<Found> consumers = {};
  [[nodiscard]] bool has_error() const;
};

/// The known messages, as buildlog looks for them.
Result<std::vector<buildlog::Phrase>> log_phrases(const knowledge::Knowledge& knowledge);
/// A log that is in memory.
Result<buildlog::Facts> read_log(std::string_view text, const knowledge::Knowledge& knowledge);
/// What a snapshot must be taken with, so that everything the recipes speak of is in it.
Result<survey::Clues> clues(const knowledge::Knowledge& knowledge);

/// Errors are those of the recipes, and consumers that do not exist (code usage).
Result<Diagnosis> diagnose(const survey::Snapshot& snapshot, const Question& question,
                           const knowledge::Knowledge& knowledge);

/// A rule as `--rules` and `--explain` show it.
struct RuleText {
  std::string id = {};
  Severity severity = Severity::error;
  std::string title = {};
  std::string about = {}; ///< what it means and how it comes about
  std::string source = {};
  std::vector<std::string> explained_by = {}; ///< findings that make this one a consequence
  bool concerns_builds = false;               ///< a warning where nothing is built
};
/// In causal order: the rule that explains others comes first.
Result<std::vector<RuleText>> rules(const knowledge::Knowledge& knowledge);

std::string_view text_of(Severity severity);
std::string_view text_of(Verdict verdict);
/// schema cukit.doctor/1
text::Json to_json(const Diagnosis& diagnosis);

} // namespace cukit::doctor

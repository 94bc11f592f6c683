// Caches of compiled kernels and of compilers.
#include "base/strings.hpp"
#include "doctor/context.hpp"

#include <algorithm>
#include <map>

namespace cukit::doctor {

namespace {

/// A compiler cache that cannot tell two trees apart: their files have one time, and an nvcc may be
/// the same file in both.
void compiler_caches(const Context& context, Findings& findings) {
  for (const auto& tree : trees_with_nvcc(context)) {
    if (tree.kit->tree_id.empty() || tree.users.empty()) {
      continue;
    }
    for (const auto& program : context.snapshot.compiler_caches) {
      const bool is_sccache = program.ends_with("/sccache");
      const auto* name = is_sccache ? "SCCACHE_C_CUSTOM_CACHE_BUSTER" : "CCACHE_EXTRAFILES";
      const auto value = variable(context.snapshot, name);
      if (value.find(is_sccache ? tree.kit->tree_id : tree.kit->real + "/.cukit/") !=
              std::string::npos ||
          value.find(tree.kit->root + "/.cukit/") != std::string::npos ||
          value.find("(left out)") != std::string::npos) {
        continue; // a snapshot does not tell everything that a variable holds
      }
      auto& finding = findings.add(RuleId::compiler_cache_mixes_trees, tree.kit->real);
      weigh(finding, tree.users);
      finding.cause = fmt::format("{} is here, and {} does not name the tree {}", program, name,
                                  tree.kit->root);
      finding.evidence.push_back({program, "knows nvcc again by its file alone"});
      finding.evidence.push_back({name, value_or(value, "not set")});
      finding.fix = {
          by_command(ShellCommand::evaluates(ShellCommand({"cukit", "env", tree.kit->root})),
                     "sets it, so that no object of another tree is taken for this one's")};
    }
  }
}

const Found* consumer_of(const Context& context, std::string_view name) {
  const auto found = std::find_if(context.found.begin(), context.found.end(),
                                  [&](const auto& one) { return one.consumer == name; });
  return found == context.found.end() ? nullptr : &*found;
}

/// Why an entry is not what its consumer would build now; nothing when it is, or cannot be judged.
struct Staleness {
  std::string home;          ///< the toolkit that filled it
  std::string wrong_library; ///< of CUDA, of another major
  std::string now;           ///< the CUDA that counts
  bool is_gone = false;      ///< the toolkit is not there any more
  bool is_stale = false;     ///< else it only comes from another toolkit
};

std::optional<Staleness> staleness_of(const Context& context, const survey::CacheEntry& entry,
                                      const Found* found) {
  const auto nvcc = found == nullptr ? std::string() : found->nvcc_version;
  const auto runtime =
      found != nullptr && found->python != nullptr ? found->python->torch_cuda : std::string();
  Staleness result;
  result.home = value_or(entry.cuda_home, entry.nvcc);
  result.now = value_or(runtime, nvcc);
  const int wanted = major_of(result.now);
  for (const auto& name : entry.needed) {
    if (name.starts_with("libcudart.so.") && wanted != 0 && major_of(name.substr(13)) != wanted) {
      result.wrong_library = name;
    }
  }
  const auto* then = survey::toolkit_of(context.snapshot, result.home);
  const bool is_other =
      !result.home.empty() && found != nullptr && found->kit != nullptr && then != found->kit;
  if (result.wrong_library.empty() && !is_other) {
    return std::nullopt;
  }
  result.is_gone = then == nullptr;
  result.is_stale = !result.wrong_library.empty() || result.is_gone ||
                    (then->tools.contains("nvcc") && differ(then->tools.at("nvcc").version, nvcc));
  return result;
}

std::string cause_of(const Staleness& stale, const std::string& consumer, const Found* found) {
  if (!stale.wrong_library.empty()) {
    return fmt::format("cached kernels need {}, CUDA is {} now", stale.wrong_library, stale.now);
  }
  return fmt::format("the cache was filled with {}{}, {} now takes {}", stale.home,
                     stale.is_gone ? " (which is not there any more)" : "", consumer,
                     found == nullptr ? "" : found->nvcc);
}

/// Of each folder no more than what its consumer wrote: the variables of caches may name a folder
/// with other things in it.
void add_cache_fixes(Finding& finding, const std::vector<std::string>& generated,
                     const std::vector<std::string>& mixed) {
  if (!generated.empty()) {
    std::vector<std::string> words{"rm", "-rf"};
    words.insert(words.end(), generated.begin(), generated.end());
    std::vector<Effect> effects;
    for (const auto& folder : generated) {
      effects.emplace_back(RemovesFolder{folder});
    }
    finding.fix.push_back({.command = ShellCommand(words),
                           .effect = "what was in there is compiled anew when it is needed",
                           .removes = generated,
                           .effects = std::move(effects)});
  }
  if (!mixed.empty()) {
    finding.fix.push_back(
        by_hand(fmt::format("remove what {} has compiled in {}", finding.consumers.front(),
                            join(mixed, " and ")),
                "other files are there too, so that the folder cannot go as a whole"));
  }
  finding.fix.push_back(
      by_command(ShellCommand({"cukit", "env"}), "gives every toolkit caches of its own"));
}

void caches(const Context& context, Findings& findings) {
  struct Folders {
    std::vector<std::string> generated;
    std::vector<std::string> mixed;
  };
  std::map<std::pair<RuleId, std::string>, Folders> all;
  for (const auto& entry : context.snapshot.caches) {
    const auto* found = consumer_of(context, entry.consumer);
    const auto stale = staleness_of(context, entry, found);
    if (!stale) {
      continue;
    }
    const auto id = stale->is_stale ? RuleId::cache_stale : RuleId::cache_of_another_toolkit;
    auto& finding = findings.add(id, entry.consumer);
    finding.consumers = {entry.consumer};
    if (finding.evidence.size() < 6) {
      finding.evidence.push_back({entry.path, stale->wrong_library.empty()
                                                  ? "built with " + stale->home
                                                  : "needs " + stale->wrong_library});
    }
    if (finding.cause.empty()) {
      finding.cause = cause_of(*stale, entry.consumer, found);
    }
    auto& folders = all[{id, entry.consumer}];
    (entry.is_generated ? folders.generated : folders.mixed).push_back(entry.path);
  }
  for (const auto& [key, folders] : all) {
    add_cache_fixes(findings.add(key.first, key.second), folders.generated, folders.mixed);
  }
}

} // namespace

const std::vector<Rule>& cache_rules() {
  static const std::vector<Rule> rules = {caches, compiler_caches};
  return rules;
}

} // namespace cukit::doctor

#include "base/strings.hpp"
#include "explain/why.hpp"
#include "fit/targets.hpp"
#include "resolve/facts.hpp"
#include "resolve/rules.hpp"

#include <algorithm>
#include <set>

namespace cukit::explain {

namespace rules = resolve::rules;
using resolve::Facts;

namespace {

class GpuExplainer {
public:
  GpuExplainer(const Question& question, const Facts& facts)
      : question_(question), lock_(question.lock), facts_(facts) {}

  Explanation run(const GpuTarget& gpu) {
    result_.subject = gpu.sm();
    const auto* architecture = knowledge::find_architecture(*facts_.architectures, gpu.plain());
    if (architecture == nullptr) {
      result_.holds = false;
      add("not here because", "the recipes know no such GPU");
      return std::move(result_);
    }
    result_.subject = fmt::format("{} ({})", gpu.sm(), architecture->name);
    result_.holds = asked_for(gpu) && compiles(*architecture, gpu);
    consumers(gpu, result_.holds);
    if (const auto* facts = knowledge::find_release(*facts_.releases, lock_.release)) {
      add("driver",
          fmt::format("branch {} or newer starts its programs; PTX instead of machine code "
                      "needs {} or newer",
                      lock_.driver.empty() ? std::to_string(facts->driver_floor) : lock_.driver,
                      facts->driver_branch),
          rules::k_driver_floor.source);
    }
    return std::move(result_);
  }

private:
  void add(std::string label, std::string text, std::string_view source = {}) {
    result_.lines.push_back(
        {.label = std::move(label), .text = std::move(text), .source = std::string(source)});
  }

  bool asked_for(const GpuTarget& gpu) {
    std::vector<std::string> serving;
    for (const auto& target : lock_.gpus) {
      if (target.runs_on(gpu.plain())) {
        serving.push_back(target.sm());
      }
    }
    if (serving.empty()) {
      add("not here because", "no target of the lock makes machine code that runs on it");
      return false;
    }
    add("served by", join(serving, ", "), "CUDA programming guide: binary compatibility");
    if (question_.manifest != nullptr) {
      for (const auto& wished : question_.manifest->gpus) {
        if (wished.value.runs_on(gpu.plain())) {
          add("here because", fmt::format("the manifest says gpus: {}", wished.text),
              text::place(question_.manifest->file, wished.at));
        }
      }
    }
    if (lock_.observed_gpus) {
      add("here because", "the manifest says `gpus: native`, and the machine had it");
    }
    return true;
  }

  bool compiles(const knowledge::Architecture& architecture, const GpuTarget& gpu) {
    const auto verdict = rules::gpu_range(architecture, gpu, lock_.release);
    if (verdict) {
      add("not here because", verdict->reason, verdict->rule->source);
      return false;
    }
    std::string text =
        fmt::format("CUDA {} compiles for it; {} began with CUDA {}", lock_.release.text(),
                    architecture.target.sm(), architecture.first_cuda.major_minor());
    if (architecture.a_since) {
      text += fmt::format(", {}a with {}", architecture.target.sm(),
                          architecture.a_since->major_minor());
    }
    if (architecture.f_since) {
      text += fmt::format(", {}f with {}", architecture.target.sm(),
                          architecture.f_since->major_minor());
    }
    add("compiler", text, rules::k_gpu_range.source);
    return true;
  }

  /// Those of the manifest, or all that a component of the lock is needed by.
  void consumers(const GpuTarget& gpu, bool& holds) {
    std::set<std::string> names;
    if (question_.manifest != nullptr) {
      for (const auto& wished : question_.manifest->consumers) {
        names.insert(wished.value);
      }
    }
    for (const auto& platform : lock_.platforms) {
      for (const auto& artifact : platform.artifacts) {
        if (artifact.why.starts_with(lock::k_needed_by)) {
          names.insert(artifact.why.substr(lock::k_needed_by.size()));
        }
      }
    }
    for (const auto& name : names) {
      const auto* consumer = facts_.consumer(name);
      const auto least = consumer == nullptr ? std::nullopt : fit::least_nvcc(*consumer, gpu);
      if (least) {
        const bool fits = !rules::consumer_minimum(*consumer, gpu, lock_.release);
        holds = holds && fits;
        add(name,
            fmt::format("needs nvcc {} or newer for it{}", least->text(),
                        fits ? "" : fmt::format("; CUDA {} is here", lock_.release.text())),
            consumer->why);
      }
    }
  }

  const Question& question_;
  const lock::Lock& lock_;
  const Facts& facts_;
  Explanation result_;
};

} // namespace

Result<Explanation> why_gpu(const Question& question, const GpuTarget& gpu) {
  CUKIT_TRY_ASSIGN(const auto facts, Facts::load(question.knowledge));
  return GpuExplainer(question, facts).run(gpu);
}

} // namespace cukit::explain

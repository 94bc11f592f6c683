// A log's messages put together with the environment: each becomes evidence of the finding that
// explains it, or a finding of its own when the environment shows nothing.
#include "base/strings.hpp"
#include "doctor/explain.hpp"
#include "fit/targets.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

std::string capture(const Hit& hit, std::size_t index) {
  return index < hit.captures.size() ? hit.captures[index] : std::string();
}

bool is_anywhere(const Context& context, std::string_view library) {
  return std::any_of(context.snapshot.toolkits.begin(), context.snapshot.toolkits.end(),
                     [&](const auto& kit) { return kit.libraries.contains(std::string(library)); });
}

/// Whether nvcc does not compile for it any more, rather than not yet: where its version is not
/// known, what every known release either compiled for or has dropped was there before.
bool is_gone(const Context& context, const knowledge::Architecture& architecture) {
  const auto nvcc = Version::parse(nvcc_in_use(context).version);
  const auto& releases = context.releases;
  return (nvcc && fit::still_known(architecture, *nvcc).is_refused()) ||
         (architecture.last_cuda && !releases.empty() &&
          fit::compare_minor(architecture.first_cuda, releases.front().minor) < 0);
}

/// Where the message alone leaves several causes open, its captures and the environment decide.
std::string refined(const Context& context, const Hit& hit, const Findings& findings,
                    std::string id) {
  if (id == "nvcc-too-old") {
    const auto target = GpuTarget::parse(capture(hit, 0));
    const auto* known =
        target ? knowledge::find_architecture(context.architectures, *target) : nullptr;
    for (const auto rule : {RuleId::native_without_gpu, RuleId::target_unknown}) {
      if (findings.has(rule) && known == nullptr) {
        return text_of(rule);
      }
    }
    return known != nullptr && is_gone(context, *known) ? "architecture-removed" : id;
  }
  if (id == "no-nvcc" && !context.snapshot.path_nvcc.empty()) {
    return text_of(RuleId::build_environment_differs);
  }
  if (id == "variable-wrong-folder") {
    for (const auto& text : hit.captures) {
      if (text.find_first_of(":\"'") != std::string::npos && text.find('/') != std::string::npos) {
        return "variable-malformed";
      }
    }
  }
  if (id == "cccl-missing" && !findings.has("cccl-missing")) {
    for (const auto& kit : context.snapshot.toolkits) {
      if (kit.headers.contains("cccl/nv/target") &&
          hit.text.find("cooperative_groups") == std::string::npos) {
        return "cccl-moved";
      }
    }
  }
  if (id == "torch-major-differs" && !findings.has("torch-major-differs")) {
    const bool is_installed = std::any_of(
        context.snapshot.pythons.begin(), context.snapshot.pythons.end(), [&](const auto& python) {
          return !python.torch_cuda.empty() &&
                 major_of(python.torch_cuda) == major_of(capture(hit, 0));
        });
    return is_installed || context.log.facts.is_isolated_build ? "nvcc-in-pip-build-environment"
                                                               : id;
  }
  if (id == "library-not-found" && hit.text.find("libcudart.so.") != std::string::npos &&
      !is_anywhere(context, "libcudart.so." + capture(hit, 0))) {
    return "extension-cuda-differs";
  }
  return id;
}

std::string default_fix_subject(const std::string& id) {
  return id == "headers-differ" || id == "cicc-differs" || id == "crt-differs" ? "log" : "";
}

void attach(const Context& context, const Hit& hit, Findings& findings) {
  Finding* known = nullptr;
  for (const auto& id : hit.message->causes) {
    known = known == nullptr ? findings.find(id) : known;
  }
  const auto id = refined(context, hit, findings, hit.message->causes.back());
  if (known == nullptr ||
      (id != hit.message->causes.back() && known->id == hit.message->causes.back())) {
    known = findings.find(id);
  }
  if (known == nullptr && id == text_of(RuleId::build_environment_differs)) {
    known = &build_environment_differs(context, findings);
  } else if (known == nullptr) {
    known = &findings.add(id, default_fix_subject(id));
    fill_from_log(context, hit, *known);
  }
  if (known->id != "host-scan-of-cuda-source") { // the one message that means nothing
    known->severity = Severity::error;           // it is what broke the build
    known->is_latent = false;
  }
  if (known->log_line == 0) {
    known->log_line = hit.line;
  }
  const auto place = fmt::format("log:{}", hit.line);
  if (std::any_of(known->evidence.begin(), known->evidence.end(),
                  [&](const auto& item) { return item.path == place; })) {
    return; // what it is about was said already
  }
  auto fact = fmt::format("{} said: {}", hit.message->tool, hit.text);
  if (hit.count > 1) {
    fact += fmt::format(" ({} times)", hit.count);
  }
  known->evidence.push_back({fmt::format("log:{}", hit.line), std::move(fact)});
  if (known->cause != hit.message->means) {
    known->evidence.push_back({fmt::format("log:{}", hit.line), "means: " + hit.message->means});
  }
}

/// Whether a finding has this line of the log among its evidence.
bool has_line(const Findings& findings, std::size_t line) {
  const auto place = fmt::format("log:{}", line);
  return std::any_of(findings.list().begin(), findings.list().end(), [&](const auto& finding) {
    return std::any_of(finding.evidence.begin(), finding.evidence.end(),
                       [&](const auto& item) { return item.path == place; });
  });
}

} // namespace

void explain_log(const Context& context, Findings& findings) {
  const auto& facts = context.log.facts;
  compare_log(context, findings);
  for (const auto& failure : facts.failures) { // a list of targets is the cause of what nvcc says
    if (!failure.is_superseded && failure.thing == buildlog::Thing::target) {
      explain_failure(context, failure, findings);
    }
  }
  const auto& hits = context.log.hits;
  std::size_t next = 0;
  const auto is_superseded = [&](std::size_t line) {
    return std::any_of(facts.failures.begin(), facts.failures.end(), [&](const auto& failure) {
      return failure.line == line && failure.is_superseded;
    });
  };
  // nvcc looks into CCCL by itself: what it misses there is in no CCCL that is here
  const auto is_misnamed = [&](const buildlog::Failure& failure) {
    const bool is_cuda_source = failure.file.ends_with(".cu") || failure.file.ends_with(".cuh");
    return failure.thing == buildlog::Thing::header && is_cuda_source &&
           component_of(failure.name) == "cccl" && !findings.has(RuleId::cccl_missing) &&
           std::any_of(
               context.snapshot.toolkits.begin(), context.snapshot.toolkits.end(),
               [&](const auto& kit) { return !kit.cccl.empty() && kit.tools.contains("nvcc"); });
  };
  const auto is_of_misnamed = [&](std::size_t line) {
    return std::any_of(facts.failures.begin(), facts.failures.end(), [&](const auto& failure) {
      return failure.line == line && is_misnamed(failure);
    });
  };
  const auto attach_until = [&](std::size_t line) {
    for (; next < hits.size() && hits[next].line <= line; ++next) {
      if (!is_superseded(hits[next].line) && !is_of_misnamed(hits[next].line)) {
        attach(context, hits[next], findings);
      }
    }
  };
  bool is_explained = facts.first == SIZE_MAX && !hits.empty();
  for (std::size_t i = 0; i < facts.failures.size(); ++i) { // in the log's order: causes first
    const auto& failure = facts.failures[i];
    if (failure.is_superseded) {
      continue;
    }
    attach_until(failure.line);
    const bool is_of_a_message =
        !is_misnamed(failure) && std::any_of(hits.begin(), hits.end(), [&](const auto& hit) {
          return hit.line == failure.line;
        });
    const bool is_here = is_of_a_message || failure.thing == buildlog::Thing::target
                             ? has_line(findings, failure.line)
                             : explain_failure(context, failure, findings) != nullptr;
    is_explained = is_explained || (i == facts.first && is_here);
  }
  attach_until(SIZE_MAX);
  const bool is_mixed =
      findings.has(RuleId::foreign_include_path) || findings.has(RuleId::build_mixes_toolkits);
  if (facts.is_failed && !is_explained && !is_mixed && context.log.hits.empty()) {
    tell_unexplained(context, findings);
  }
}

std::vector<GpuTarget> targets_in(const LogFacts& log) {
  std::vector<GpuTarget> result;
  for (const auto& hit : log.hits) {
    for (const auto& text : hit.captures) {
      if (!text.starts_with("sm_") && !text.starts_with("compute_")) {
        continue;
      }
      if (const auto target = GpuTarget::parse(text);
          target && std::find(result.begin(), result.end(), *target) == result.end()) {
        result.push_back(*target);
      }
    }
  }
  return result;
}

} // namespace cukit::doctor

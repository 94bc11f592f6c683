// A log's messages put together with the environment: each becomes evidence of the finding that
// explains it, or a finding of its own when the environment shows nothing.
#include "base/strings.hpp"
#include "doctor/context.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

std::string capture(const Hit& hit, std::size_t index) {
  return index < hit.captures.size() ? hit.captures[index] : std::string();
}

/// A -I of the build's own that leads into another toolkit than nvcc's, or into Triton's wheel.
void foreign_includes(const Context& context, Findings& findings) {
  for (const auto& call : context.log.calls) {
    const auto* own = host::toolkit_of(context.snapshot, call.program);
    const auto own_root =
        call.program.substr(0, std::max<std::size_t>(call.program.rfind("/bin/"), 1));
    for (const auto& folder : call.includes) {
      const bool is_triton = folder.find("triton/backends/nvidia/include") != std::string::npos;
      const auto* other = host::toolkit_of(context.snapshot, folder);
      const bool is_wheel = folder.find("/nvidia/cu1") != std::string::npos &&
                            folder.find(own_root) == std::string::npos;
      const bool is_root = folder.ends_with("cuda/include") &&
                           call.program.find('/') != std::string::npos &&
                           !folder.starts_with(own_root + "/") && (own == nullptr || other != own);
      const bool is_other =
          own != nullptr && other != nullptr && other != own && !other->cudart.empty();
      if (!is_triton && !is_wheel && !is_root && !is_other) {
        continue;
      }
      auto& finding = findings.add("foreign-include-path");
      if (!finding.evidence.empty()) {
        continue;
      }
      finding.cause = fmt::format("the build calls {} with headers of {}", call.program, folder);
      finding.evidence = {
          {fmt::format("log:{}", call.line), fmt::format("{} ... -I{}", call.program, folder)}};
      for (const auto* kit : {own, other}) {
        if (kit != nullptr) {
          finding.evidence.push_back({kit->root, "CUDA " + value_or(kit->cudart, "unknown")});
        }
      }
      finding.fix = {by_hand(fmt::format("remove -I{} from the build", folder),
                             "nvcc finds the headers of its own release")};
      if (own != nullptr) {
        finding.fix.push_back(
            by_command(use_tree(own->root), "if the build takes the folder from CUDA_HOME"));
      }
    }
  }
}

bool is_anywhere(const Context& context, std::string_view library) {
  return std::any_of(context.snapshot.toolkits.begin(), context.snapshot.toolkits.end(),
                     [&](const auto& kit) { return kit.libraries.contains(std::string(library)); });
}

/// Where the message alone leaves several causes open, its captures and the environment decide.
std::string refined(const Context& context, const Hit& hit, const Findings& findings,
                    std::string id) {
  if (id == "nvcc-too-old") {
    const auto target = GpuTarget::parse(capture(hit, 0));
    const auto* known =
        target ? knowledge::find_architecture(context.architectures, *target) : nullptr;
    return known != nullptr && known->last_cuda && target->number() < 75 ? "architecture-removed"
                                                                         : id;
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
    return is_installed || context.log.is_pip_build ? "nvcc-in-pip-build-environment" : id;
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
  if (known == nullptr) {
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
  auto fact = fmt::format("{} said: {}", hit.message->tool, hit.text);
  if (hit.count > 1) {
    fact += fmt::format(" ({} times)", hit.count);
  }
  known->evidence.push_back({fmt::format("log:{}", hit.line), std::move(fact)});
  if (known->cause != hit.message->means) {
    known->evidence.push_back({fmt::format("log:{}", hit.line), "means: " + hit.message->means});
  }
}

} // namespace

void explain_log(const Context& context, Findings& findings) {
  const bool is_about_headers =
      std::any_of(context.log.hits.begin(), context.log.hits.end(), [](const auto& hit) {
        const auto& causes = hit.message->causes;
        return std::find(causes.begin(), causes.end(), "foreign-include-path") != causes.end();
      });
  if (is_about_headers) {
    foreign_includes(context, findings);
  }
  for (const auto& hit : context.log.hits) {
    attach(context, hit, findings);
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

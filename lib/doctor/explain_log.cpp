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
      finding.fix = {{fmt::format("remove -I{} from the build", folder),
                      "nvcc finds the headers of its own release"}};
      if (own != nullptr) {
        finding.fix.push_back(
            {use_tree(own->root), "if the build takes the folder from CUDA_HOME"});
      }
    }
  }
}

/// "120a" of compute_120a, as the targets of a log
void mention_library(const Context& context, const Hit& hit, Finding& finding) {
  const auto at = hit.text.find("lib");
  const auto end = hit.text.find(": cannot open");
  const auto name =
      at == std::string::npos || end == std::string::npos || end < at
          ? std::string()
          : hit.text.substr(hit.text.rfind("lib", end), end - hit.text.rfind("lib", end));
  finding.cause = fmt::format("{} is wanted, and the loader does not find it",
                              value_or(name, "a library of CUDA"));
  for (const auto& kit : context.snapshot.toolkits) {
    if (const auto found = kit.libraries.find(name); found != kit.libraries.end()) {
      finding.evidence.push_back({found->second, "is there, but not in the loader's path"});
      const auto folder = found->second.substr(0, found->second.rfind('/'));
      finding.fix.push_back({fmt::format("export LD_LIBRARY_PATH={}", shell_word(folder)),
                             "for the program that needs it"});
      break;
    }
  }
  if (finding.fix.empty()) {
    finding.cause += "; no toolkit or wheel here has it";
    const auto dot = name.rfind(".so.");
    const auto major = dot == std::string::npos ? std::string() : name.substr(dot + 4);
    finding.fix = {
        {fmt::format(
             "install the wheel of the package that was built for this CUDA, or CUDA {} beside it",
             major),
         "the major that it was linked to"}};
  }
  for (const auto& python : context.snapshot.pythons) {
    if (!python.torch.empty()) {
      finding.evidence.push_back({python.prefix, "torch " + python.torch});
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

/// Cause and fix of a finding that only the log knows.
void fill(const Context& context, const Hit& hit, Finding& finding) {
  const auto& id = finding.id;
  const auto* first_tree =
      trees_with_nvcc(context).empty() ? nullptr : trees_with_nvcc(context).front().kit;
  finding.cause = hit.message->means;
  if (id == "library-not-found" || id == "extension-cuda-differs") {
    mention_library(context, hit, finding);
  } else if (id == "cccl-moved") {
    for (const auto& kit : context.snapshot.toolkits) {
      if (kit.headers.contains("cccl/nv/target")) {
        finding.evidence.push_back({kit.include + "/cccl", "holds CCCL " + kit.cccl});
        finding.fix.push_back(
            {"export CPLUS_INCLUDE_PATH=" + shell_word(kit.include + "/cccl"),
             "g++ finds what nvcc finds by itself; or add -I{}/cccl to the build"});
        finding.fix.back().effect = fmt::format(
            "g++ finds what nvcc finds by itself; or add -I{}/cccl to the build", kit.include);
        break;
      }
    }
  } else if (id == "nvcc-in-pip-build-environment") {
    finding.fix = {
        {"pip install --no-build-isolation PACKAGE", "the build uses the torch that is installed"}};
    for (const auto& python : context.snapshot.pythons) {
      if (!python.torch.empty()) {
        finding.evidence.push_back(
            {python.prefix, "torch " + python.torch + " is what is installed"});
      }
    }
  } else if (id == "incomplete-import") {
    finding.fix = {
        {"import torch.utils.cpp_extension", "in the script, before it uses the module"}};
  } else if (id == "stub-distribution") {
    const auto name = capture(hit, 0);
    finding.cause = fmt::format("{} is a placeholder", name);
    finding.fix = {
        {"pip install " + name.substr(0, name.rfind("-cu")), "the real package has no suffix"}};
  } else if (id == "host-scan-of-cuda-source") {
    finding.fix = {{"-DCCCL_DISABLE_CTK_COMPATIBILITY_CHECK",
                    "for the scan alone (CCCL 3.2 and newer); the compile itself is right"}};
  } else if (id == "cccl-too-old-for-code") {
    if (first_tree != nullptr) {
      finding.evidence.push_back(
          {first_tree->cccl_include, "CCCL " + value_or(first_tree->cccl, "unknown")});
    }
    finding.fix = {{"put the project's own CCCL on -I, before everything else",
                    "it is newer than the toolkit's"},
                   cukit_fix(context, {})};
  } else if (id == "driver-older-than-ptx") {
    finding.evidence.push_back({"driver", context.driver ? context.driver->text() : "not known"});
    finding.fix = {{"compile SASS for the GPU (-gencode arch=compute_XX,code=sm_XX), or take a "
                    "toolkit no newer than the driver's CUDA",
                    "nvidia-smi shows the driver's CUDA"}};
  } else if (id == "cccl-mixed") {
    if (!context.log.cccl_namespace.empty()) {
      finding.evidence.push_back(
          {"namespace _V_ in the log", "CCCL " + context.log.cccl_namespace + " was compiled"});
    }
    for (const auto& kit : context.snapshot.toolkits) {
      if (!kit.cccl.empty()) {
        finding.evidence.push_back({kit.cccl_include, "CCCL " + kit.cccl});
      }
    }
    finding.fix = {{"keep one CCCL on the include path: the project's own with -I before the "
                    "toolkit's, or the toolkit's alone",
                    "cuda, cub, thrust and nv of one release"},
                   cukit_fix(context, {})};
  } else if (id == "variable-malformed" || id == "variable-wrong-folder") {
    finding.evidence.push_back({"CUDA_HOME", value_or(variable(context.snapshot, "CUDA_HOME"),
                                                      "as the message shows it")});
    finding.fix = {
        {first_tree != nullptr ? use_tree(first_tree->root) : "export CUDA_HOME=/usr/local/cuda",
         "a plain absolute path of a folder with bin/nvcc"}};
  } else if (id == "host-compiler-missing") {
    finding.fix = {{"apt-get install --no-install-recommends g++ libc6-dev", "Debian and Ubuntu"}};
  } else if (id == "library-name-missing" || id == "library-folder-missing") {
    const auto dash = hit.text.find("-l");
    auto name = dash == std::string::npos ? std::string("cudart") : hit.text.substr(dash + 2);
    name = name.substr(0, name.find_first_of(": '\""));
    for (const auto& kit : context.snapshot.toolkits) {
      const auto& folders = kit.library_folders;
      const auto has = [&](const char* folder) {
        return std::find(folders.begin(), folders.end(), folder) != folders.end();
      };
      if (id == "library-folder-missing" && kit.tools.contains("nvcc") && has("lib") &&
          !has("lib64")) {
        finding.evidence.push_back({kit.root + "/lib64", "not there"});
        finding.fix.push_back(
            {"ln -s lib " + shell_word(kit.root + "/lib64"), "the name that is looked for"});
      }
      for (const auto& [file, path] : kit.libraries) {
        if (file.starts_with("lib" + name + ".so.") && finding.evidence.empty()) {
          finding.evidence.push_back({path, "the only name"});
          finding.fix.push_back(
              {fmt::format("ln -s {} {}", shell_word(file),
                           shell_word(path.substr(0, path.rfind('/')) + "/lib" + name + ".so")),
               "the name that ld looks for"});
        }
      }
    }
    finding.fix.push_back(cukit_fix(context, {}));
  } else {
    finding.fix.push_back(cukit_fix(context, {}));
  }
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
    fill(context, hit, *known);
  }
  if (known->id != "host-scan-of-cuda-source") { // the one message that means nothing
    known->severity = Severity::error;           // it is what broke the build
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

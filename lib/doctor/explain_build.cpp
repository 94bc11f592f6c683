// GPU targets, options, memory and calls of CUDA that a log shows failing.
#include "base/strings.hpp"
#include "doctor/explain.hpp"
#include "fit/targets.hpp"
#include "machine/machine.hpp"

#include <algorithm>
#include <array>

namespace cukit::doctor {

namespace {

using buildlog::Failure;

/// 90 of sm_90, compute_90a, 9.0+PTX, 90-real; 0: no target.
int number_of(std::string_view token) {
  token = token.substr(0, token.find_first_of("+-"));
  const auto target = GpuTarget::parse(token);
  if (target) {
    return target->number();
  }
  const auto digits = token.find_first_not_of("0123456789");
  const auto number = token.substr(0, digits);
  if (number.size() < 2 || number.size() > 3) {
    return 0;
  }
  const auto again = GpuTarget::parse("sm_" + std::string(token));
  return again ? again->number() : 0;
}

struct List {
  std::string variable;
  std::string value;
  std::string separator;
  std::vector<std::string> tokens;
};

List list_of(const std::string& variable, const std::string& value) {
  List list{.variable = variable, .value = value, .separator = " ", .tokens = {}};
  std::string word;
  for (const char c : value + " ") {
    if (c == ' ' || c == ';' || c == ',') {
      if (!word.empty()) {
        list.tokens.push_back(std::exchange(word, {}));
      }
      if (c != ' ' || list.separator == " ") {
        list.separator = c == ' ' ? list.separator : std::string(1, c);
      }
    } else {
      word.push_back(c);
    }
  }
  return list;
}

/// Every list of targets that a variable of the environment or a definition of the log carries.
std::vector<List> lists(const Context& context) {
  std::vector<List> result;
  for (const auto& [name, value] : context.snapshot.environment) {
    if (name.find("ARCH") != std::string::npos && !value.empty()) {
      result.push_back(list_of(name, value));
    }
  }
  for (const auto& line : context.log.facts.target_lists) {
    result.push_back(list_of(line.variable, line.value));
  }
  return result;
}

bool is_served(const Context& context, int number, const std::string& nvcc) {
  const auto version = Version::parse(nvcc);
  const auto known = std::find_if(context.architectures.begin(), context.architectures.end(),
                                  [&](const auto& one) { return one.target.number() == number; });
  if (known == context.architectures.end()) {
    return false;
  }
  if (!version) {
    return true;
  }
  return !fit::compiles_for(*known, known->target, *version).is_refused();
}

/// The list without what nobody here can use: the GPUs' own, else what nvcc compiles for.
std::string mended(const Context& context, const List& list, int refused, const std::string& nvcc) {
  std::vector<std::string> kept;
  for (const auto& token : list.tokens) {
    const int number = number_of(token);
    const bool is_here = context.gpus.empty() ||
                         std::any_of(context.gpus.begin(), context.gpus.end(),
                                     [&](const auto& gpu) { return gpu.number() == number; });
    if (number != 0 && number != refused && is_here && is_served(context, number, nvcc)) {
      kept.push_back(token);
    }
  }
  if (kept.empty() && !context.gpus.empty()) {
    const bool is_dotted =
        !list.tokens.empty() && list.tokens.front().find('.') != std::string::npos;
    const int number = context.gpus.front().number();
    kept.push_back(is_dotted ? fmt::format("{}.{}", number / 10, number % 10)
                             : fmt::format("{}", number));
  }
  return join(kept, list.separator);
}

Finding& native_without_gpu(const Context& context, Findings& findings) {
  auto& finding = findings.add(RuleId::native_without_gpu);
  if (!finding.cause.empty()) { // said already
    return finding;
  }
  finding.cause = "`native` asks the GPU that is here for its target, and where it is built there "
                  "is none";
  finding.evidence.push_back({"GPUs", value_or(context.snapshot.gpus_why, "none is here")});
  for (const auto& line : context.log.facts.target_lists) {
    if (line.value.find("native") != std::string::npos || line.variable.ends_with("NATIVE")) {
      finding.evidence.push_back(
          {fmt::format("log:{}", line.line), line.variable + "=" + line.value});
    }
  }
  const auto nvcc = nvcc_in_use(context).version;
  const int number = !context.gpus.empty()          ? context.gpus.front().number()
                     : is_served(context, 90, nvcc) ? 90
                                                    : 80;
  finding.fix = {
      by_hand(fmt::format("configure with -DCMAKE_CUDA_ARCHITECTURES={}", number),
              "the numbers of the GPUs that it must run on, with semicolons between them"),
      by_command(set_variable("CUDAARCHS", std::to_string(number)),
                 "the same for a project that sets nothing itself")};
  return finding;
}

/// The variable that names the target which a tool refused.
Finding* by_list(const Context& context, const Failure& failure, const std::string& nvcc,
                 Findings& findings) {
  const int refused = number_of(failure.name);
  if (refused == 0) {
    return nullptr;
  }
  for (const auto& list : lists(context)) {
    const auto token = std::find_if(list.tokens.begin(), list.tokens.end(),
                                    [&](const auto& one) { return number_of(one) == refused; });
    if (token == list.tokens.end()) {
      continue;
    }
    const bool is_wanted = std::any_of(context.gpus.begin(), context.gpus.end(),
                                       [&](const auto& gpu) { return gpu.number() == refused; });
    const bool is_torch = failure.text.find("CUDA arch") != std::string::npos;
    if (is_wanted && !is_torch) {
      return nullptr; // the GPU is here: nvcc is what has to change
    }
    const auto python =
        std::find_if(context.snapshot.pythons.begin(), context.snapshot.pythons.end(),
                     [](const auto& one) { return !one.torch.empty(); });
    const auto who = !is_torch                                  ? "nvcc " + value_or(nvcc, "here")
                     : python == context.snapshot.pythons.end() ? std::string("this torch")
                                                                : "torch " + python->torch;
    auto& finding = findings.add(RuleId::target_list_not_served);
    if (!finding.cause.empty()) { // said already
      return &finding;
    }
    finding.cause = fmt::format("{} names {}, which {} does not know", list.variable, *token, who);
    finding.evidence.push_back({list.variable, list.value});
    if (is_torch && python != context.snapshot.pythons.end()) {
      finding.evidence.push_back({python->prefix, who});
    }
    const auto value = mended(context, list, refused, nvcc);
    const auto* effect = context.gpus.empty() ? "the list without it" : "the GPUs that are here";
    const bool is_variable = context.snapshot.environment.contains(list.variable);
    if (!value.empty()) {
      finding.fix.push_back(is_variable ? by_command(set_variable(list.variable, value), effect)
                                        : by_hand(fmt::format("configure with -D{}={}",
                                                              list.variable, shell_word(value)),
                                                  effect));
    }
    if (is_variable) {
      finding.fix.push_back(by_command(unset_variables({list.variable}),
                                       "the builder then takes the GPUs that it sees"));
    }
    return &finding;
  }
  return nullptr;
}

struct Call {
  int number;
  RuleId rule;
  const char* means;
  const char* mends;
};

constexpr std::array k_calls = {
    Call{3, RuleId::cuda_call_failed,
         "the driver could not be initialised: no device file, a fork after CUDA was used, or a "
         "driver that is being replaced",
         "run nvidia-smi as the same user; in a container give it the GPUs (--gpus all)"},
    Call{34, RuleId::cuda_call_failed,
         "a stub of libcuda, which is there for linking only, was loaded instead of the driver's",
         "take the stubs folder out of LD_LIBRARY_PATH and of RUNPATH"},
    Call{35, RuleId::driver_too_old,
         "the driver is older than the CUDA that the program was built with",
         "take a program that was built for the driver's CUDA, or a newer driver"},
    Call{36, RuleId::driver_too_old, "the driver does not have this call yet",
         "take a newer driver"},
    Call{46, RuleId::cuda_call_failed, "another process has the GPU for itself, or it is in use",
         "look at nvidia-smi: compute mode and processes"},
    Call{100, RuleId::cuda_call_failed, "CUDA sees no GPU",
         "look at CUDA_VISIBLE_DEVICES, /dev/nvidia* and, in a container, --gpus all"},
    Call{101, RuleId::cuda_call_failed, "a GPU of a number is asked for that is not visible",
         "look at CUDA_VISIBLE_DEVICES"},
    Call{200, RuleId::cuda_call_failed,
         "the kernels in the program are not readable for the driver",
         "build anew; a cache of kernels may be broken"},
    Call{209, RuleId::cuda_call_failed, "the program holds no code for this GPU",
         "take a build that has the GPU's target, or build it with the GPU in the list of targets"},
    Call{218, RuleId::driver_older_than_ptx, "the driver could not compile the program's PTX",
         "build for the GPU's own target"},
    Call{221, RuleId::cuda_call_failed, "libnvidia-ptxjitcompiler of the driver is not there",
         "install the driver's compute libraries as a whole"},
    Call{222, RuleId::driver_older_than_ptx, "the program's PTX is newer than the driver's CUDA",
         "build for the GPU's own target, or with a CUDA no newer than the driver's"},
    Call{300, RuleId::cuda_call_failed,
         "the kernels in the program are not readable for the driver", "build anew"},
    Call{303, RuleId::cuda_call_failed,
         "libcuda is there and could not be set up: of another driver than the kernel module's, or "
         "without its device files",
         "run nvidia-smi as the same user; load the driver's own libcuda.so.1, and in a container "
         "give it the GPUs (--gpus all)"},
    Call{802, RuleId::cuda_call_failed,
         "the GPUs are joined by NVSwitch, and the fabric manager has not set them up",
         "start nvidia-fabricmanager of the driver's own version"},
    Call{
        803, RuleId::driver_mismatch,
        "libcuda and the kernel module are of different drivers, or a cuda-compat that this driver "
        "does not take is loaded",
        "load the driver's own libcuda.so.1: take compat folders out of the loader's path; after "
        "an upgrade restart the machine"},
    Call{804, RuleId::driver_mismatch,
         "cuda-compat is loaded on a GPU for which forward compatibility is not there",
         "take the compat folder out of LD_LIBRARY_PATH and ld.so.conf.d"},
    Call{999, RuleId::cuda_call_failed, "the driver is in a state that it cannot tell",
         "reload the driver's modules or restart the machine; dmesg says why"}};

} // namespace

bool blames_the_driver(const Failure& failure) {
  constexpr std::array k_of_the_driver = {3, 34, 100, 209, 221, 303, 999};
  const auto call = std::find_if(k_calls.begin(), k_calls.end(), [&](const auto& one) {
    return std::to_string(one.number) == failure.name;
  });
  return failure.thing == buildlog::Thing::driver ||
         (failure.thing == buildlog::Thing::cuda && call != k_calls.end() &&
          (call->rule != RuleId::cuda_call_failed ||
           std::find(k_of_the_driver.begin(), k_of_the_driver.end(), call->number) !=
               k_of_the_driver.end()));
}

Finding* refused_target(const Context& context, const Failure& failure, Findings& findings) {
  const bool is_native = failure.name.find("No CUDA devices") != std::string::npos ||
                         failure.name == "native" ||
                         failure.text.find("no GPU") != std::string::npos;
  if (is_native && context.snapshot.gpus.empty()) {
    return &native_without_gpu(context, findings);
  }
  const auto nvcc = nvcc_in_use(context).version;
  if (failure.state == buildlog::State::missing) {
    auto& finding = findings.add(RuleId::target_list_not_served);
    if (!finding.cause.empty()) { // said already
      return &finding;
    }
    finding.cause = "the list of GPU targets is empty";
    finding.fix = {
        by_hand("configure with -DCMAKE_CUDA_ARCHITECTURES=90; where torch's CMake files "
                "or its builder make the list: TORCH_CUDA_ARCH_LIST=9.0",
                "the numbers of the GPUs that it must run on")};
    return &finding;
  }
  if (auto* finding = by_list(context, failure, nvcc, findings)) {
    return finding;
  }
  if (failure.tool == "ptxas" && !failure.demand.empty() && number_of(failure.demand) != 0 &&
      number_of(failure.name) == 0) {
    auto& finding = findings.add(RuleId::target_lacks_feature);
    if (!finding.cause.empty()) { // said already
      return &finding;
    }
    finding.cause =
        fmt::format("the code uses {}, which {} does not have{}", failure.name, failure.demand,
                    failure.text.find("or higher") != std::string::npos ? " before it" : "");
    finding.fix = {by_hand("compile for the target that the code was written for (with its letter: "
                           "sm_100a, sm_90a), or take code for this one",
                           "features of one architecture are on no other")};
    return &finding;
  }
  const int number = number_of(failure.name);
  const bool is_known = std::any_of(context.architectures.begin(), context.architectures.end(),
                                    [&](const auto& one) { return one.target.number() == number; });
  if (number == 0 || is_known) {
    return nullptr;
  }
  auto& finding = findings.add(RuleId::target_unknown);
  if (!finding.cause.empty()) { // said already
    return &finding;
  }
  finding.cause = fmt::format("no CUDA that is known has the target {}", failure.name);
  finding.fix = {by_hand("name the GPU's own target; `cukit gpus` lists them",
                         "nvcc compiles for targets that exist")};
  return &finding;
}

/// Options that nvcc has and no C++ compiler.
bool is_of_nvcc(std::string_view option) {
  constexpr std::array<std::string_view, 20> k_options = {"-arch=",
                                                          "--gpu-architecture",
                                                          "-gencode",
                                                          "--generate-code",
                                                          "--expt-",
                                                          "-expt-",
                                                          "-Xptxas",
                                                          "-Xcudafe",
                                                          "-Xcompiler",
                                                          "-Xfatbin",
                                                          "-rdc",
                                                          "--relocatable-dev",
                                                          "-lineinfo",
                                                          "--use_fast_math",
                                                          "-use_fast_math",
                                                          "-ccbin",
                                                          "--ptxas-options",
                                                          "-maxrregcount",
                                                          "--compiler-options",
                                                          "--extended-lambda"};
  return std::any_of(k_options.begin(), k_options.end(),
                     [&](std::string_view begins) { return option.starts_with(begins); });
}

Finding* unknown_option(const Context& context, const Failure& failure, Findings& findings) {
  if (failure.name.empty()) {
    return nullptr;
  }
  const bool is_host = failure.tool == "gcc" || failure.tool == "g++" || failure.tool == "c++" ||
                       failure.tool == "cc" || failure.tool.starts_with("clang") ||
                       failure.tool.starts_with("cc1");
  if (is_host && is_of_nvcc(failure.name)) {
    auto& finding = findings.add(RuleId::option_unknown);
    if (finding.cause.empty()) {
      finding.cause =
          fmt::format("{} is an option of nvcc, and {} was given it", failure.name, failure.tool);
      finding.fix = {
          by_hand("give it to CUDA sources alone: $<$<COMPILE_LANGUAGE:CUDA>:...> in CMake, "
                  "NVCCFLAGS instead of CXXFLAGS in a Makefile, extra_compile_args={'nvcc': [...]} "
                  "in setup.py",
                  "the C++ compiler then gets its own options"),
          by_hand("or let nvcc compile the file: name it .cu, or add -x cu", "where it is CUDA")};
    }
    return &finding;
  }
  if (auto* finding = option_of_other_release(context, failure, findings)) {
    return finding;
  }
  const auto nvcc = nvcc_in_use(context);
  const auto who = failure.tool == "nvcc" && !nvcc.version.empty() ? "nvcc " + nvcc.version
                   : failure.tool.empty()                          ? std::string("the tool")
                                                                   : failure.tool;
  auto& finding = findings.add(RuleId::option_unknown);
  if (!finding.cause.empty()) { // said already
    return &finding;
  }
  finding.cause = fmt::format("{} does not know {}{}", who, failure.name,
                              failure.demand.empty() ? "" : " of " + failure.demand);
  if (!nvcc.version.empty()) {
    finding.evidence.push_back({nvcc.path, "nvcc " + nvcc.version});
  }
  finding.fix = {by_hand(fmt::format("take {} out of the build, or take a {} that knows it",
                                     failure.name, value_or(failure.tool, "tool")),
                         "an option belongs to the releases that have it")};
  return &finding;
}

Finding* out_of_memory(const Context& context, const Failure& failure, Findings& findings) {
  constexpr double each = 5.0; // GB that one thread of nvcc may take
  auto& finding = findings.add(RuleId::compiler_killed);
  if (!finding.cause.empty()) { // said already
    return &finding;
  }
  const auto who = failure.name.empty() ? std::string("a program of the build") : failure.name;
  finding.cause =
      fmt::format("{} was ended by the system because memory ran out: too many compilers "
                  "ran at once",
                  who);
  const auto gigabytes = context.snapshot.memory_mb / 1000.0;
  const int jobs = gigabytes > 0 ? std::max(1, static_cast<int>(gigabytes / each)) : 4;
  if (gigabytes > 0) {
    finding.evidence.push_back({"memory", fmt::format("{:.0f} GB", gigabytes)});
  }
  for (const auto& command : context.log.facts.commands) {
    if (!command.threads.empty() && command.threads != "1") {
      finding.evidence.push_back({fmt::format("log:{}", command.line),
                                  fmt::format("each nvcc runs {} threads", command.threads)});
      break;
    }
  }
  finding.fix = {
      by_command(
          export_variables({{.name = "MAX_JOBS", .value = std::to_string(jobs)},
                            {.name = "NVCC_THREADS", .value = "1"},
                            {.name = "CMAKE_BUILD_PARALLEL_LEVEL", .value = std::to_string(jobs)}}),
          fmt::format("fewer compilers at once; each takes some {:.0f} GB", each)),
      by_hand("give the build more memory or swap (a container's limit counts, too)",
              "every compiler then has room")};
  return &finding;
}

Finding* failed_call(const Context& context, const Failure& failure, Findings& findings) {
  const auto call = std::find_if(k_calls.begin(), k_calls.end(), [&](const auto& one) {
    return std::to_string(one.number) == failure.name;
  });
  if (call == k_calls.end()) {
    return nullptr; // a program's own mistake, as an illegal address
  }
  auto& finding = findings.add(call->rule);
  if (!finding.cause.empty()) { // said already
    return &finding;
  }
  if (finding.cause.empty()) {
    finding.cause = fmt::format("error {} ({}): {}", failure.name, failure.demand, call->means);
    finding.fix = {by_hand(call->mends, "what the error means")};
  }
  if (context.driver) {
    finding.evidence.push_back({"driver", machine::driver_text(*context.driver)});
  }
  return &finding;
}

} // namespace cukit::doctor

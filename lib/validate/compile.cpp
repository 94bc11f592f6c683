#include "validate/compile.hpp"

#include "base/strings.hpp"
#include "model/tree_layout.hpp"

#include <algorithm>

namespace cukit::validate {

namespace {

constexpr std::chrono::seconds k_compile_limit = std::chrono::minutes(10);
constexpr std::chrono::seconds k_emit_limit = std::chrono::minutes(2);
constexpr std::uint64_t k_cubin_bytes = 256U << 20U;
constexpr const char* k_program = "program";
constexpr const char* k_keep = "keep";
constexpr const char* k_emitted = "emitted.cubin";
constexpr std::string_view k_sources = "../../sources/"; // from the folder of a compilation

bool is_lto(const Kernel& kernel) {
  return std::find(kernel.flags.begin(), kernel.flags.end(), "-dlto") != kernel.flags.end();
}

Environment clean_environment(const Toolchain& toolchain, const fs::path& folder) {
  Environment environment;
  const std::string compiler = fs::path(toolchain.compiler.path).parent_path().string();
  environment.set("PATH",
                  fmt::format("{}:{}:/usr/bin:/bin", (toolchain.tree / "bin").string(), compiler));
  environment.set("TMPDIR", folder.string());
  environment.set("LANG", "C");
  return environment;
}

/// The line of nvcc's output that says what is wrong: the first error, else the last line.
std::string decisive_line(const Finished& finished) {
  const std::string all = finished.errors + "\n" + finished.output;
  std::string_view last;
  for (const auto line : split(all, '\n')) {
    const auto text = trim(line);
    if (text.find("error") != std::string_view::npos ||
        text.find("fatal") != std::string_view::npos) {
      return printable(text.substr(text.starts_with(k_sources) ? k_sources.size() : 0, 400));
    }
    last = text.empty() ? last : text;
  }
  return printable(last.substr(0, 400));
}

Result<std::string> run_nvcc(const Toolchain& toolchain, const Kernel& kernel,
                             const GpuTarget& target, const fs::path& folder,
                             const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(const auto finished,
                   run_command({.arguments = nvcc_arguments(toolchain, kernel, target),
                                .environment = clean_environment(toolchain, folder),
                                .directory = folder.string(),
                                .time_limit = k_compile_limit},
                               stop));
  if (finished.timed_out) {
    return fmt::format("nvcc did not end within {} s", k_compile_limit.count());
  }
  if (finished.exit_code != 0) {
    return fmt::format("nvcc ended with code {}: {}", finished.exit_code, decisive_line(finished));
  }
  return std::string();
}

std::string check_cubin(const fs::path& path, const GpuTarget& target) {
  const auto bytes = read_file(path, k_cubin_bytes);
  const auto found =
      bytes ? sass_target(*bytes) : Result<std::string>(tl::unexpected<Error>(bytes.error()));
  if (!found) {
    return fmt::format("{}: {}", path.filename().string(), found.error().message);
  }
  if (*found != target.sm()) {
    return fmt::format("{} holds machine code for {}, wanted {}", path.filename().string(), *found,
                       target.sm());
  }
  return {};
}

/// Lets the program write what it compiles at run time, which needs no device, and checks that too.
Result<std::string> check_emitted(const fs::path& folder, const Program& program,
                                  const fs::path& out, const std::vector<BundleFile>& libraries,
                                  const std::stop_token& stop) {
  Environment environment;
  environment.set("PATH", "/usr/bin:/bin");
  environment.set("LANG", "C");
  const fs::path path = out / program.file.path.text();
  CUKIT_TRY_ASSIGN(const auto finished, run_command({.arguments = {path.string(), "--emit",
                                                                   (folder / k_emitted).string()},
                                                     .environment = environment,
                                                     .directory = folder.string(),
                                                     .time_limit = k_emit_limit},
                                                    stop));
  std::string reason = failure_of(finished, k_emit_limit);
  if (reason.empty()) {
    reason = compare_libraries(read_output(finished.output), program, libraries);
  }
  if (reason.empty()) {
    reason = check_cubin(folder / k_emitted, program.target);
  }
  return reason.empty() ? reason : "compiling at run time: " + reason;
}

Result<Program> keep_program(const Toolchain& toolchain, const Kernel& kernel,
                             const GpuTarget& target, const fs::path& folder,
                             const std::vector<BundleFile>& libraries) {
  Program program{.kernel = kernel.name,
                  .target = target,
                  .file = {},
                  .libraries = {},
                  .numbers = kernel.numbers};
  CUKIT_TRY_ASSIGN(program.file.path,
                   RelativePath::parse(fmt::format("bin/{}.{}", kernel.name, target.sm())));
  CUKIT_TRY(rename_path(folder / k_program, toolchain.out / program.file.path.text()));
  CUKIT_TRY_ASSIGN(program.file.sha256, sha256_of_file(toolchain.out / program.file.path.text()));
  for (const auto& library : libraries) {
    program.libraries.emplace_back(library.path.name());
  }
  return program;
}

} // namespace

GpuTarget target_for(const Kernel& kernel, const GpuTarget& gpu) {
  if (is_lto(kernel) && gpu.suffix == 'f') {
    return gpu.plain();
  }
  if (kernel.targets != "specific" || gpu.suffix != 0 || gpu.major < 9 ||
      (gpu.major == 9 && gpu.minor != 0)) {
    return gpu;
  }
  return {gpu.major, gpu.minor, gpu.major == 9 ? 'a' : 'f'};
}

std::vector<std::string> nvcc_arguments(const Toolchain& toolchain, const Kernel& kernel,
                                        const GpuTarget& target) {
  std::vector<std::string> arguments{(toolchain.tree / layout::k_nvcc).string(), "-ccbin",
                                     toolchain.compiler.path};
  if (is_lto(kernel)) { // refuses code=sm_XX; the linker makes machine code for this one
    arguments.push_back("-arch=" + target.sm());
  } else { // no PTX: nothing that a driver could compile in place of wrong machine code
    arguments.push_back("-gencode");
    arguments.push_back(fmt::format("arch={},code={}", target.compute(), target.sm()));
  }
  arguments.insert(arguments.end(),
                   {"--keep", "--keep-dir", k_keep, fmt::format("-I{}common", k_sources),
                    "-DPROBE_TARGET=" + target.sm()});
  for (const auto& source : kernel.sources) {
    arguments.push_back(fmt::format("{}{}/{}", k_sources, kernel.name, source));
  }
  arguments.insert(arguments.end(), kernel.flags.begin(), kernel.flags.end());
  // DT_RPATH, which LD_LIBRARY_PATH does not override; nvcc quotes the dollar for its shell itself
  for (const char* option : {"--disable-new-dtags", "-s", "-rpath", "$ORIGIN/../lib"}) {
    arguments.emplace_back("-Xlinker");
    arguments.emplace_back(option);
  }
  if (toolchain.has_static_cxx) {
    arguments.insert(arguments.end(), {"-Xcompiler", "-static-libstdc++,-static-libgcc"});
  }
  arguments.insert(arguments.end(), {"-o", k_program});
  return arguments;
}

std::string check_cubins(const fs::path& folder, const GpuTarget& target) {
  const auto names = list_directory(folder);
  if (!names) {
    return names.error().message;
  }
  int count = 0;
  for (const auto& name : *names) {
    if (!name.ends_with(".cubin")) {
      continue;
    }
    ++count;
    if (auto reason = check_cubin(folder / name, target); !reason.empty()) {
      return reason;
    }
  }
  return count == 0 ? "nvcc left no machine code to check" : "";
}

Result<Compilation> compile(const Toolchain& toolchain, const Kernel& kernel,
                            const GpuTarget& target, const std::vector<BundleFile>& libraries,
                            const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  const fs::path folder = toolchain.scratch / (kernel.name + "." + target.sm());
  CUKIT_TRY(make_directories(folder / k_keep));
  CUKIT_TRY_ASSIGN(std::string reason, run_nvcc(toolchain, kernel, target, folder, stop));
  if (reason.empty()) {
    reason = check_cubins(folder / k_keep, target);
  }
  Compilation compilation;
  if (reason.empty()) {
    CUKIT_TRY_ASSIGN(compilation.program,
                     keep_program(toolchain, kernel, target, folder, libraries));
    if (kernel.emits) {
      CUKIT_TRY_ASSIGN(reason,
                       check_emitted(folder, *compilation.program, toolchain.out, libraries, stop));
    }
  }
  CUKIT_TRY(remove_tree(folder)); // what nvcc keeps of forty compilations is a gigabyte
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  compilation.result = BuildResult{.kernel = kernel.name,
                                   .target = target.sm(),
                                   .state = reason.empty() ? State::passed : State::failed,
                                   .reason = reason,
                                   .seconds = seconds.count()};
  if (!reason.empty() && compilation.program) {
    CUKIT_TRY(remove_tree(toolchain.out / compilation.program->file.path.text()));
    compilation.program.reset();
  }
  return compilation;
}

} // namespace cukit::validate

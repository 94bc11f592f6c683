#include "base/strings.hpp"
#include "base/temporary.hpp"
#include "base/thread_pool.hpp"
#include "base/user_file.hpp"
#include "validate/compile.hpp"
#include "validate/libraries.hpp"

#include <algorithm>
#include <mutex>
#include <set>

namespace cukit::validate {

namespace {

struct Job {
  const Kernel* kernel = nullptr;
  GpuTarget target;
  std::string not_applicable; ///< why it is not compiled; empty: it is
  std::vector<BundleFile> libraries;
  Compilation compilation;
};

// Stands in the folder from the first write to the last: a folder without a list is ours still.
constexpr const char* k_begun = ".cukit-begun";

tl::unexpected<Error> not_ours(const fs::path& out, std::string message) {
  return tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                     .message = std::move(message),
                                     .where = out.string(),
                                     .hint = "name one that does not exist yet"});
}

/// Whether all that a new bundle replaces is of the earlier one.
Result<void> check_earlier(const fs::path& out) {
  const auto earlier = load_bundle(out);
  if (!earlier) {
    return not_ours(
        out, fmt::format("the folder for the kernels has a {} that is not cukit's", k_bundle_file));
  }
  std::set<std::string> known;
  for (const auto& program : earlier->programs) {
    known.insert(program.file.path.text());
  }
  for (const auto& library : earlier->libraries) {
    known.insert(library.path.text());
  }
  for (const std::string folder : {"bin/", "lib/"}) {
    if (!folder_exists(out / folder)) {
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto names, list_directory(out / folder));
    for (const auto& name : names) {
      if (!known.contains(folder + name)) {
        return not_ours(out,
                        fmt::format("the folder for the kernels holds {}{}, which cukit did not "
                                    "put there",
                                    folder, printable(name)));
      }
    }
  }
  return {};
}

/// Makes `out`, or empties it when it holds an earlier bundle, or what a killed run made of one;
/// somebody's own folder and files are left alone.
Result<void> prepare_folder(const fs::path& out) {
  CUKIT_TRY(make_directories(out));
  sweep_temporary(out);
  CUKIT_TRY_ASSIGN(const auto names, list_directory(out));
  const bool was_begun = path_exists(out / k_begun);
  if (!was_begun && path_exists(out / k_bundle_file)) {
    CUKIT_TRY(check_earlier(out));
  } else if (!was_begun && !names.empty()) {
    return not_ours(out, "the folder for the kernels is not empty");
  }
  if (!was_begun) {
    CUKIT_TRY(create_file(out / k_begun, ""));
  }
  for (const char* name :
       {k_bundle_file, "bin", "lib"}) { // the list goes first: half a bundle is none
    CUKIT_TRY(remove_tree(out / name));
  }
  return make_directories(out / "bin");
}

Result<void> write_sources(const knowledge::Knowledge& knowledge,
                           const std::vector<Kernel>& kernels, const fs::path& folder) {
  CUKIT_TRY_ASSIGN(auto paths, knowledge.list("kernels/common"));
  for (const auto& kernel : kernels) {
    for (const auto& file : kernel.files) {
      paths.push_back("kernels/" + kernel.name + "/" + file);
    }
  }
  for (const auto& path : paths) {
    CUKIT_TRY_ASSIGN(const auto text, knowledge.read(path));
    const fs::path file = folder / fs::path(path).lexically_relative("kernels");
    CUKIT_TRY(make_directories(file.parent_path()));
    CUKIT_TRY(create_file(file, text));
  }
  return {};
}

std::string why_not(const assemble::Tree& tree, const Kernel& kernel, const GpuTarget& gpu) {
  if (!kernel.only.empty() &&
      std::find(kernel.only.begin(), kernel.only.end(), gpu.plain().sm()) == kernel.only.end()) {
    return "it is for " + join(kernel.only, ", ");
  }
  for (const auto& component : kernel.needs) {
    if (!tree.components.contains(component)) {
      return fmt::format("the toolkit has no {}", component);
    }
  }
  return {};
}

std::vector<Job> plan_jobs(const assemble::Tree& tree, const std::vector<Kernel>& kernels,
                           const std::vector<GpuTarget>& gpus) {
  std::vector<Job> jobs;
  for (const auto& kernel : kernels) {
    for (const auto& gpu : gpus) {
      const auto target = target_for(kernel, gpu);
      const bool is_known = std::any_of(jobs.begin(), jobs.end(), [&](const Job& job) {
        return job.kernel == &kernel && job.target == target;
      });
      if (!is_known) { // sm_90 and sm_90a wanted both: the specific form is the same
        jobs.push_back(Job{.kernel = &kernel,
                           .target = target,
                           .not_applicable = why_not(tree, kernel, gpu),
                           .libraries = {},
                           .compilation = {}});
      }
    }
  }
  return jobs;
}

/// What the job's program loads goes into the bundle first; a library that is missing fails the
/// build.
Result<void> bring_libraries(const assemble::Tree& tree, const fs::path& out, Job& job,
                             Bundle& bundle) {
  for (const auto& pattern : job.kernel->libraries) {
    CUKIT_TRY_ASSIGN(const auto files, copy_libraries(tree.path, pattern, out));
    for (const auto& file : files) {
      job.libraries.push_back(file);
      const bool is_known = std::any_of(bundle.libraries.begin(), bundle.libraries.end(),
                                        [&](const auto& other) { return other.path == file.path; });
      if (!is_known) {
        bundle.libraries.push_back(file);
      }
    }
  }
  return {};
}

/// Settles what needs no compiler: true when the job is done.
bool settle(const assemble::Tree& tree, const fs::path& out, Job& job, Bundle& bundle) {
  auto& result = job.compilation.result;
  result.kernel = job.kernel->name;
  result.target = job.target.sm();
  if (!job.not_applicable.empty()) {
    result.state = State::not_applicable;
    result.reason = job.not_applicable;
    return true;
  }
  if (const auto brought = bring_libraries(tree, out, job, bundle); !brought) {
    result.state = State::failed;
    result.reason = brought.error().message;
    return true;
  }
  return false;
}

/// Compiles all that is left, several at once; the first error of the machine (not of a kernel) is
/// returned.
Result<void> compile_all(const Toolchain& toolchain, const std::vector<Job*>& jobs,
                         unsigned threads, Progress& progress, const std::stop_token& stop) {
  const int work = progress.begin("compiling kernels", jobs.size(), "programs");
  std::mutex mutex; // guards `first`
  std::optional<Error> first;
  {
    ThreadPool pool(threads);
    for (Job* job : jobs) {
      const std::uint64_t weight =
          job->kernel->needs.size() + job->kernel->sources.size(); // the longest first, roughly
      pool.submit(
          [&, job] {
            auto compilation =
                stop.stop_requested()
                    ? Result<Compilation>(fail(ErrorCode::interrupted, "interrupted"))
                    : compile(toolchain, *job->kernel, job->target, job->libraries, stop);
            if (compilation) {
              job->compilation = *std::move(compilation);
              progress.advance(work, 1);
              return;
            }
            const std::scoped_lock lock(mutex);
            if (!first) {
              first = std::move(compilation).error();
            }
          },
          weight);
    }
  }
  progress.end(work);
  return first ? Result<void>(tl::unexpected<Error>(*std::move(first))) : Result<void>();
}

/// Some distributions keep libstdc++.a in a package of its own: the compiler answers with a bare
/// name when it is not there.
bool has_static_cxx(const machine::Compiler& compiler, const std::stop_token& stop) {
  Environment environment;
  environment.set("PATH", "/usr/bin:/bin");
  environment.set("LANG", "C");
  const auto finished = run_command({.arguments = {compiler.path, "-print-file-name=libstdc++.a"},
                                     .environment = environment,
                                     .time_limit = std::chrono::seconds(20)},
                                    stop);
  return finished && finished->exit_code == 0 && finished->output.starts_with('/');
}

std::string compiler_text(const machine::Compiler& compiler) {
  return fmt::format("{} {} ({})", compiler.kind, compiler.version.text(), compiler.path);
}

} // namespace

Result<Report> build(const assemble::Tree& tree, const knowledge::Knowledge& knowledge,
                     const BuildOptions& options, const fs::path& out, Progress& progress,
                     const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(const auto kernels, load_kernels(knowledge, options.suites));
  CUKIT_TRY_ASSIGN(const auto compiler,
                   machine::host_compiler(options.environment, options.host_compiler, stop));
  CUKIT_TRY_ASSIGN(const auto folder, absolute_path(out));
  CUKIT_TRY_ASSIGN(const auto root, absolute_path(tree.path));
  CUKIT_TRY(prepare_folder(folder));
  CUKIT_TRY_ASSIGN(const auto scratch, HeldDirectory::create(folder, temporary::k_build));
  const Toolchain toolchain{.tree = root,
                            .compiler = compiler,
                            .has_static_cxx = has_static_cxx(compiler, stop),
                            .sources = scratch.path() / "sources",
                            .scratch = scratch.path() / "work",
                            .out = folder};
  CUKIT_TRY(write_sources(knowledge, kernels, toolchain.sources));

  Bundle bundle;
  auto jobs = plan_jobs(tree, kernels, options.gpus);
  std::vector<Job*> open;
  for (auto& job : jobs) {
    if (!settle(tree, folder, job, bundle)) {
      open.push_back(&job);
    }
  }
  CUKIT_TRY(compile_all(toolchain, open, options.jobs, progress, stop));
  bundle.report.tree_content = tree.content.text();
  bundle.report.release = tree.release.text();
  bundle.report.host_compiler = compiler_text(toolchain.compiler);
  for (auto& job : jobs) {
    bundle.report.builds.push_back(std::move(job.compilation.result));
    if (job.compilation.program) {
      bundle.programs.push_back(*std::move(job.compilation.program));
    }
  }
  CUKIT_TRY(write_file_atomic(folder / k_bundle_file, bundle.json().dump() + "\n"));
  CUKIT_TRY(remove_tree(folder / k_begun));
  return bundle.report;
}

} // namespace cukit::validate

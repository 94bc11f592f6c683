#include "commands/env_toolkit.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"
#include "fit/targets.hpp"
#include "home/jit_caches.hpp"
#include "lock/lock.hpp"
#include "machine/compiler.hpp"
#include "manifest/manifest.hpp"
#include "names/names.hpp"
#include "python/venv.hpp"
#include "ui/output.hpp"

#include <algorithm>

namespace cukit::cmd {

namespace {

std::string real_path(const std::string& path) {
  std::error_code error;
  const auto real = fs::canonical(path, error);
  return error ? std::string() : real.string();
}

/// The compiler of the report of the name's generation: its text ends in (PATH).
std::string validated_compiler(const store::Home& home,
                               const std::optional<names::Generation>& generation) {
  if (!generation || generation->report.empty()) {
    return {};
  }
  const auto bytes =
      read_file(home.reports() / (generation->report + ".json"), limits::k_lock_bytes);
  const auto json = bytes ? text::Json::parse(*bytes, "report") : tl::unexpected<Error>(Error{});
  const auto text = json ? std::string(json->text_of("host_compiler")) : std::string();
  const auto open = text.rfind(" (");
  return open == std::string::npos || !text.ends_with(')')
             ? std::string()
             : text.substr(open + 2, text.size() - open - 3);
}

/// /usr/bin/gcc-13 -> /usr/bin/g++-13: the C++ compiler that belongs to a C compiler.
std::string cxx_of(std::string path) {
  const auto name = path.rfind('/') + 1; // 0 where there is no slash
  for (const auto& [c, cxx] : {std::pair{"clang", "clang++"}, std::pair{"gcc", "g++"}}) {
    const auto at = path.find(c, name);
    if (at != std::string::npos && path.find(cxx, name) == std::string::npos) {
      return path.replace(at, std::string_view(c).size(), cxx);
    }
  }
  return path;
}

/// What a variable that names a compiler leads to: `ccache /opt/gcc/bin/g++` -> the latter. Empty:
/// to nothing that is here.
std::string compiler_named_by(const std::string& value, const Environment& environment) {
  for (const auto word : split_words(value)) {
    auto found = machine::find_host_compiler(environment, cxx_of(std::string(word)));
    const auto name = fs::path(std::string(word)).filename().string();
    if (found && name.find("cache") == std::string::npos && name != "distcc" && name != "icecc") {
      return real_path(*found);
    }
  }
  return {};
}

/// The words after -ccbin in the flags that nvcc reads.
std::vector<std::pair<std::string, std::string>>
compilers_in_flags(const Environment& environment) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CUDAFLAGS"}) {
    const auto value = environment.get(name).value_or("");
    const auto words = split_words(value);
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (const std::string_view option : {"-ccbin", "--compiler-bindir"}) {
        if (words[i] == option && i + 1 < words.size()) {
          result.emplace_back(name, words[i + 1]);
        } else if (words[i].starts_with(std::string(option) + "=")) {
          result.emplace_back(name, words[i].substr(option.size() + 1));
        }
      }
    }
  }
  return result;
}

class HostCompiler {
public:
  HostCompiler(const Environment& environment, const knowledge::CommonVariables& variables)
      : environment_(environment), variables_(variables) {}

  /// The compiler that nvcc must be given; empty: the one that it takes by itself.
  std::string choose(const std::string& pinned, const std::string& validated) {
    if (!pinned.empty()) {
      const auto found = machine::find_host_compiler(environment_, pinned);
      if (found) {
        return *found;
      }
      notes.push_back(fmt::format("the manifest asks for the host compiler {}, which is not here; "
                                  "nvcc takes another one",
                                  printable(pinned)));
      return {};
    }
    if (validated.empty()) {
      return {};
    }
    const auto real = real_path(validated);
    if (real.empty()) {
      notes.push_back(fmt::format("the toolkit was validated with {}, which is gone; `cukit up` "
                                  "validates it with the compiler that is here",
                                  printable(validated)));
      return {};
    }
    if (callers_own_differ(validated, real)) {
      return {};
    }
    const auto usual = machine::find_host_compiler(environment_, "");
    return usual && real_path(*usual) == real ? std::string() : validated;
  }
  std::vector<std::string> notes = {};

private:
  bool callers_own_differ(const std::string& validated, const std::string& real) {
    bool differs = false;
    const auto compare = [&](const std::string& name, const std::string& value) {
      const auto own = compiler_named_by(value, environment_);
      if (own != real) {
        differs = true;
        notes.push_back(fmt::format(
            "{} is {}, and the toolkit was validated with {}: unset it, or write host: {{compiler: "
            "{}}} into the manifest",
            name, printable(value), printable(validated), printable(validated)));
      }
    };
    for (const auto* list : {&variables_.host_compiler, &variables_.c_compiler}) {
      for (const auto& name : *list) {
        if (const auto value = environment_.get(name)) {
          compare(name, *value);
        }
      }
    }
    for (const auto& [name, value] : compilers_in_flags(environment_)) {
      compare(name, value);
    }
    return differs;
  }

  const Environment& environment_;
  const knowledge::CommonVariables& variables_;
};

/// What the manifest adds, where the toolkit was named by one.
struct OfManifest {
  std::vector<std::string> consumers;
  std::string host_compiler;
  std::string venv;
};
OfManifest what_it_says(const manifest::Manifest& manifest) {
  OfManifest result;
  for (const auto& consumer : manifest.consumers) {
    result.consumers.push_back(consumer.value);
  }
  result.host_compiler = manifest.host_compiler ? manifest.host_compiler->value : "";
  result.venv = manifest.pytorch_venv ? manifest.pytorch_venv->value : "";
  return result;
}

/// Of the manifest that was named, else of the one that the name's generation was made for, as long
/// as that says what it said then.
Result<OfManifest> of_manifest(const std::string& word,
                               const std::optional<names::Generation>& generation,
                               const knowledge::Knowledge& knowledge) {
  if ((word.ends_with(".yaml") || word.ends_with(".yml")) && !word.ends_with(".lock.yaml")) {
    CUKIT_TRY_ASSIGN(const auto manifest, manifest::load(word, knowledge));
    return what_it_says(manifest);
  }
  if (generation && !generation->manifest.empty()) {
    const auto manifest = manifest::load(generation->manifest, knowledge);
    const auto lock = lock::read(generation->lock, "the lock of the generation");
    if (manifest && lock && manifest->digest == lock->manifest) {
      return what_it_says(*manifest);
    }
  }
  return OfManifest{};
}

/// Consumers that are installed, with their versions: in the folder that was asked for, else in the
/// manifest's or the active environment.
Result<void> add_installed(exports::Request& request, const std::string& asked,
                           const std::string& of_manifest, const Environment& environment,
                           const std::vector<knowledge::Consumer>& consumers) {
  std::string folder = asked.empty() ? of_manifest : asked;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    folder = folder.empty() ? environment.get(name).value_or("") : folder;
  }
  if (folder.empty()) {
    return {};
  }
  const auto venv = python::read_venv(folder, folder);
  if (!venv) {
    return asked.empty() ? Result<void>() : tl::unexpected<Error>(venv.error());
  }
  for (const auto& [project, text] : venv->installed) {
    for (const auto& consumer : consumers) {
      if (knowledge::brings(consumer.discovery, project)) {
        request.named.push_back(consumer.name);
        if (const auto version = Version::parse(text)) {
          request.versions.emplace(consumer.name, *version);
        }
      }
    }
  }
  return {};
}

/// Consumers that keep a ptxas of their own because they do not know this tree's.
std::vector<std::string> notes_about_ptxas(const exports::Request& request,
                                           const std::vector<knowledge::Consumer>& consumers) {
  std::vector<std::string> notes;
  for (const auto& consumer : consumers) {
    const auto known = request.versions.find(consumer.name);
    if (known == request.versions.end()) {
      continue;
    }
    const auto& recipe = knowledge::at_version(consumer, known->second);
    if (request.ptxas && fit::accepts_ptxas(recipe, *request.ptxas).is_refused()) {
      notes.push_back(fmt::format("{} {} takes a ptxas {}, and this one is {}: it keeps its own",
                                  consumer.name, known->second.text(), recipe.takes_ptxas->text(),
                                  request.ptxas->text()));
    }
  }
  return notes;
}

} // namespace

Result<ToolkitVariables> toolkit_variables(const Invocation& invocation,
                                           const EnvironmentWish& wish) {
  const auto knowledge = invocation.knowledge();
  CUKIT_TRY_ASSIGN(const auto home, invocation.home());
  const auto word = given_or_nearest(invocation, wish.toolkit);
  CUKIT_TRY_ASSIGN(auto reference, find_tree(invocation, home, word));
  home::remember_place(home, reference.tree);
  exports::Request request{.tree = reference.tree.path,
                           .id = reference.tree.id.hex(),
                           .gpus = reference.gpus,
                           .consumers = wish.consumers,
                           .named = wish.consumers,
                           .jit = home.jit(reference.tree.id.hex())};
  if (!wish.gpus.empty()) {
    request.gpus.clear();
  }
  for (const auto& text : wish.gpus) {
    CUKIT_TRY_ASSIGN(const auto gpu, knowledge::find_gpu(knowledge, text));
    request.gpus.push_back(gpu);
  }
  const auto generation = reference.name.empty()
                              ? std::nullopt
                              : names::current(home, reference.name).value_or(std::nullopt);
  CUKIT_TRY_ASSIGN(const auto said, of_manifest(word, generation, knowledge));
  request.named.insert(request.named.end(), said.consumers.begin(), said.consumers.end());
  CUKIT_TRY_ASSIGN(const auto* consumers, knowledge.consumers());
  CUKIT_TRY_ASSIGN(const auto* common, knowledge.variables());
  const auto before = exports::take_back(invocation.environment);
  CUKIT_TRY(add_installed(request, wish.venv, said.venv, before, *consumers));
  for (const char* part : {"nvcc", "ptxas"}) { // ptxas of its own is a component beside nvcc
    const auto found = reference.tree.components.find(part);
    const auto version = found == reference.tree.components.end() ? tl::unexpected<Error>(Error{})
                                                                  : Version::parse(found->second);
    request.ptxas = version ? std::optional(*version) : request.ptxas;
  }
  HostCompiler host(before, *common);
  request.host_compiler = host.choose(said.host_compiler, validated_compiler(home, generation));
  CUKIT_TRY_ASSIGN(auto environment, exports::environment(request, knowledge));
  auto notes = std::move(host.notes);
  for (auto& note : notes_about_ptxas(request, *consumers)) {
    notes.push_back(std::move(note));
  }
  std::vector<std::string> on_caller;
  for (const auto& removal : exports::removals(environment, before)) {
    on_caller.push_back(fmt::format("{} led to {}{}", removal.name, printable(removal.led_to),
                                    removal.rest ? "; that part is taken out" : "; it is unset"));
  }
  // what runs needs it too, so it is not changed; torch's own wheels break by less
  exports::ToolkitEnvironment loader;
  loader.tree = request.tree;
  loader.reach.folders = {"LD_LIBRARY_PATH"};
  for (const auto& removal : exports::removals(loader, before)) {
    on_caller.push_back(fmt::format("LD_LIBRARY_PATH leads to {}: what is built here loads the "
                                    "libraries there when it runs",
                                    printable(removal.led_to)));
  }
  return ToolkitVariables{.tree = std::move(reference.tree),
                          .environment = std::move(environment),
                          .gpus = std::move(request.gpus),
                          .host_compiler = std::move(request.host_compiler),
                          .notes = std::move(notes),
                          .notes_on_caller = std::move(on_caller)};
}

void say_notes(const Invocation& invocation, const std::vector<std::string>& notes) {
  if (!invocation.options.quiet) {
    for (const auto& note : notes) {
      ui::say(fmt::format("note: {}\n", note));
    }
  }
}

} // namespace cukit::cmd

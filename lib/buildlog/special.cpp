#include "buildlog/special.hpp"

#include "base/strings.hpp"
#include "buildlog/forms.hpp"
#include "buildlog/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace cukit::buildlog {

namespace {

using std::string_view;

struct Errno {
  const char* text;
  Thing thing; ///< Thing::file: what its name looks like
  State state;
};

constexpr std::array k_errnos = {
    Errno{"No such file or directory", Thing::file, State::missing},
    Errno{"Not a directory", Thing::file, State::missing},
    Errno{"Permission denied", Thing::permission, State::refused},
    Errno{"Operation not permitted", Thing::permission, State::refused},
    Errno{"Read-only file system", Thing::permission, State::refused},
    Errno{"No space left on device", Thing::disk, State::exhausted},
    Errno{"Disk quota exceeded", Thing::disk, State::exhausted},
    Errno{"File too large", Thing::disk, State::exhausted},
    Errno{"Cannot allocate memory", Thing::memory, State::exhausted},
    Errno{"Exec format error", Thing::tool, State::incompatible},
    Errno{"Too many open files", Thing::other, State::exhausted},
    Errno{"Argument list too long", Thing::other, State::exhausted},
    Errno{"Connection refused", Thing::network, State::refused},
    Errno{"Connection reset by peer", Thing::network, State::failed},
    Errno{"Network is unreachable", Thing::network, State::refused},
    Errno{"No route to host", Thing::network, State::refused}};

/// What a name is that a program, a compiler or a script did not find.
Thing missing_thing(const Head& head, string_view name) {
  const auto shape = shape_of(name);
  if (shape == Thing::library || is_linker(head.tool)) {
    return shape;
  }
  if (head.has_place && head.is_fatal) { // an #include
    return Thing::header;
  }
  const auto last = name.substr(name.rfind('/') + 1);
  const bool is_program_name =
      last.find('.') == k_none || name.find("/bin/") != k_none || tool_of(last) != last;
  if (starts_programs(head.tool) && (is_program_name || name.find('/') == k_none)) {
    return Thing::tool;
  }
  const bool is_python_spawn = head.tool == "Python" && is_program_name &&
                               (name.find('/') == k_none || name.find("/bin/") != k_none);
  return is_python_spawn ? Thing::tool : shape;
}

/// `NAME` of `... NAME: ERRNO` or of `ERRNO: 'NAME'`
string_view name_beside(string_view text, std::size_t at, std::size_t length) {
  const auto behind = text.substr(at + length);
  if (behind.starts_with(": ")) {
    const auto rest = behind.substr(2, 300);
    if (rest.starts_with('\'')) {
      return rest.substr(1, rest.find('\'', 1) - 1);
    }
  }
  auto before = text.substr(0, at);
  while (before.ends_with(' ') || before.ends_with(':') || before.ends_with('\'')) {
    before.remove_suffix(1);
  }
  if (before.ends_with(']')) { // [Errno 2]
    return {};
  }
  const auto from = std::max(before.rfind(": ") == k_none ? 0 : before.rfind(": ") + 2,
                             before.rfind(" '") == k_none ? 0 : before.rfind(" '") + 2);
  auto name = before.substr(from);
  for (const auto verb : {"open ", "run command ", "create ", "find ", "execute ", "reading ",
                          "writing to ", "spawn ", "output file ", "file ", "write "}) {
    if (const auto found = name.rfind(verb); found != k_none) {
      name = name.substr(found + string_view(verb).size());
    }
  }
  name = bare(name.substr(0, 300));
  if (name == "open" || name == "write" || name == "read") { // FILE: write: ERRNO
    const auto rest = bare(before.substr(0, from));
    name = bare(rest.substr(rest.rfind(": ") == k_none ? 0 : rest.rfind(": ") + 2));
  }
  if (const auto space = name.rfind(' '); space != k_none) { // ... section .text of FILE
    const auto slash = name.find('/', space);
    name = slash == k_none ? string_view() : name.substr(space + 1);
  }
  return name;
}

std::string first_word(string_view text) {
  return std::string(text.substr(0, text.find_first_of(" \t,;")));
}

} // namespace

const std::vector<std::string>& errno_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> list;
    for (const auto& one : k_errnos) {
      list.emplace_back(one.text);
    }
    return list;
  }();
  return words;
}

std::optional<Failure> errno_failure(const Head& head, string_view line) {
  const bool is_said =
      head.severity == Severity::error || (head.severity == Severity::none && !head.tool.empty());
  if (!is_said) {
    return std::nullopt;
  }
  for (const auto& [text, thing, state] : k_errnos) {
    const auto at = find_in(line, text);
    if (at == k_none) {
      continue;
    }
    Failure failure{.tool = head.tool, .thing = thing, .state = state, .file = head.file};
    const auto start = static_cast<std::size_t>(head.text.data() - line.data());
    if (at == start) { // `gcc-19: No such file or directory`: the program itself
      const auto before = bare(line.substr(0, start));
      const bool is_program = head.severity == Severity::none;
      failure.name =
          is_program ? std::string(before)
                     : std::string(name_beside(head.text, at - start, string_view(text).size()));
      failure.tool = is_program ? "" : head.tool;
      failure.thing = thing == Thing::file && is_program ? Thing::tool : thing;
    } else if (at > start) {
      failure.name = name_beside(head.text, at - start, string_view(text).size());
    }
    if (failure.thing == Thing::file) {
      failure.thing = missing_thing(head, failure.name);
    }
    if ((failure.tool.empty() && head.has_place) || failure.tool.starts_with("cc1")) {
      failure.tool = "gcc";
    }
    if (failure.tool.ends_with(".s")) {
      failure.tool = "as";
    }
    return failure;
  }
  return std::nullopt;
}

namespace {

/// How programs begin to say that a call of CUDA failed.
const std::vector<std::string>& cuda_calls() {
  static const std::vector<std::string> words = {
      "CUDA error",   "CUDA driver error", "CUDA Driver error", "CUDA runtime error",
      "CUDA failure", "Cuda failure",      "cuda failure",      "cuda error",
      "Cuda error",   "CUDA Error"};
  return words;
}

} // namespace

const std::vector<std::string>& cuda_words() {
  static const std::vector<std::string> words = [] {
    auto list = cuda_calls();
    list.insert(list.end(), {"CUDA_ERROR_", "cudaError"});
    for (int number = 1; number < 1000; ++number) {
      const auto* error = cuda_error(number);
      if (error != nullptr && string_view(error->text).size() >= 20) {
        list.emplace_back(error->text);
      }
    }
    return list;
  }();
  return words;
}

namespace {

/// The error of `CUDA failure 802`, `CUDA error code=35(...)`, `CUDA failure at x.cu:14: 101`: the
/// number behind the word, else the last one that is no place in a file.
const CudaError* cuda_error_of_number(string_view line) {
  const auto number_at = [&](std::size_t at) {
    int number = 0;
    for (; at < line.size() && is_digit(line[at]) && number < 10'000; ++at) {
      number = number * 10 + (line[at] - '0');
    }
    return number;
  };
  std::size_t start = k_none;
  for (const auto& word : cuda_calls()) {
    start = std::min(start, find_in(line, word));
  }
  if (start == k_none) {
    return nullptr;
  }
  const CudaError* last = nullptr;
  for (auto at = line.find_first_of("0123456789", start); at != k_none;
       at = line.find_first_of("0123456789", line.find_first_not_of("0123456789", at))) {
    const char before = at == 0 ? ' ' : line[at - 1];
    const bool is_alone = before == ' ' || before == '=' || before == '(';
    const auto* error = is_alone ? cuda_error(number_at(at)) : nullptr;
    const auto words = line.substr(start, at - start);
    const bool is_behind = words.find_first_of(".:/") == k_none;
    if (error != nullptr && is_behind) {
      return error;
    }
    last = error != nullptr ? error : last;
    if (line.find_first_not_of("0123456789", at) == k_none) {
      break;
    }
  }
  return last;
}

} // namespace

std::optional<Failure> cuda_failure(string_view line) {
  const CudaError* error = nullptr;
  for (const auto* prefix : {"cudaError", "CUDA_ERROR_"}) {
    for (auto at = find_in(line, prefix); at != k_none && error == nullptr;
         at = find_in(line, prefix, at + 1)) {
      const auto rest = line.substr(at, 80);
      error = cuda_error(rest.substr(
          0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                    "0123456789")));
    }
  }
  const bool is_cuda = find_in(line, "CUDA") != k_none || find_in(line, "cuda") != k_none ||
                       find_in(line, "GPU") != k_none || find_in(line, "CU_") != k_none;
  if (error == nullptr && is_cuda) {
    std::size_t longest = 0;
    for (int number = 1; number < 1000; ++number) {
      const auto* one = cuda_error(number);
      const string_view text = one == nullptr ? "" : one->text;
      if (text.size() > longest && text.size() >= 12 && find_in(line, text) != k_none) {
        longest = text.size();
        error = one;
      }
    }
  }
  if (error == nullptr) {
    error = cuda_error_of_number(line);
  }
  if (error == nullptr) {
    return std::nullopt;
  }
  return Failure{.tool = "CUDA",
                 .thing = error->number == 2 ? Thing::memory : Thing::cuda,
                 .state = error->number == 2 ? State::exhausted : State::failed,
                 .name = fmt::format("{}", error->number),
                 .demand = error->runtime == nullptr ? error->driver : error->runtime};
}

const std::vector<std::string>& ending_words() {
  static const std::vector<std::string> words = {"build stopped",
                                                 "*** [",
                                                 "Stop.",
                                                 "FAILED: ",
                                                 "Killed",
                                                 "exit code",
                                                 "exit status",
                                                 "returned a non-zero code",
                                                 "failed to solve",
                                                 "incomplete, errors occurred",
                                                 "step failed",
                                                 "Failed building",
                                                 "ailed to build",
                                                 "ould not build wheels",
                                                 "subprocess-exited-with-error",
                                                 "metadata-generation-failed",
                                                 "did not run successfully",
                                                 "core dumped",
                                                 "Segmentation fault",
                                                 "compilation terminated",
                                                 "error generated",
                                                 "errors generated",
                                                 "detected in the compilation",
                                                 "ld returned",
                                                 "linker command failed",
                                                 "died with",
                                                 "did NOT complete",
                                                 "non-zero exit",
                                                 "finished with status 'error'",
                                                 "Error compiling objects",
                                                 "errors detected",
                                                 "aborted due to errors",
                                                 "SIGKILL",
                                                 "building terminated because of errors",
                                                 "build backend returned",
                                                 "Error 137",
                                                 "Aborted"};
  return words;
}

std::optional<Ending> ending_of(const Head& head, string_view line) {
  const auto has = [&](string_view what) { return find_in(line, what) != k_none; };
  const auto make = [](std::string tool, int level) {
    return Ending{.failure = {.tool = std::move(tool), .thing = Thing::other}, .level = level};
  };
  if (has("(ignored)")) {
    return std::nullopt;
  }
  if (line.starts_with("ninja: build stopped")) {
    return make("ninja", 2);
  }
  if (head.tool == "make" && head.text.starts_with("*** [")) {
    auto ending = make("make", 2);
    if (has("Killed") || has("Error 137")) {
      ending.failure.thing = Thing::memory;
      ending.failure.state = State::killed;
    }
    return ending;
  }
  if (line.starts_with("FAILED: ")) {
    auto ending = make("ninja", 1);
    ending.failure.name = first_word(bare(line.substr(8)));
    return ending;
  }
  if (has("incomplete, errors occurred") || has("step failed")) {
    return make("CMake", 2);
  }
  if (has("building terminated because of errors")) {
    return make("SCons", 2);
  }
  const bool is_killed = line == "Killed" || line.ends_with(" Killed") || has("SIGKILL") ||
                         has("code: 137") || has("code 137") || has("status 137") ||
                         has("status: 137") || has("Error 137");
  if (is_killed && !has("Killed signal terminated") && !has("[Killed]")) {
    auto ending = make(head.tool, 1);
    ending.failure.thing = Thing::memory;
    ending.failure.state = State::killed;
    return ending;
  }
  if (line.starts_with("Segmentation fault") || has("(core dumped)")) {
    return make(head.tool, 1);
  }
  for (const auto* words : {"compilation terminated", "ld returned", "linker command failed",
                            "Ptx assembly aborted due to errors", "Error compiling objects"}) {
    if (has(words) && !has("with signal")) {
      return make(head.tool, 1);
    }
  }
  const bool counts_errors = (has("error") && (has(" generated") || has("detected in"))) &&
                             !line.empty() &&
                             std::isdigit(static_cast<unsigned char>(line[0])) != 0;
  if (counts_errors) {
    return make(head.tool, 1);
  }
  for (const auto* words :
       {"ailed to build", "Failed building wheel for", "Failed building editable for"}) {
    if (!has(words)) {
      continue;
    }
    auto ending = make("", 2);
    const auto rest = line.substr(find_in(line, words) + string_view(words).size());
    auto name = bare(rest.substr(0, 200));
    name = name.substr(0, name.find_first_of("=@ <>[`'"));
    ending.package = std::string(bare(name));
    return ending;
  }
  for (const auto* words :
       {"ould not build wheels", "subprocess-exited-with-error", "metadata-generation-failed",
        "did not run successfully", "returned a non-zero code", "failed to solve",
        "did NOT complete", "finished with status 'error'", "build backend returned"}) {
    if (has(words)) {
      return make("", 2);
    }
  }
  const bool is_command = has("non-zero exit") || has("failed with exit code") ||
                          has("failed with exit status") || has("exit code: ") ||
                          has("exit status: ") || has("died with <Signals");
  if (is_command && !has("exit code: 0") && !has("exit status: 0")) {
    auto ending = make(head.tool, 1);
    if (has("SIGKILL")) {
      ending.failure.thing = Thing::memory;
      ending.failure.state = State::killed;
    }
    return ending;
  }
  return std::nullopt;
}

const std::vector<std::string>& success_words() {
  static const std::vector<std::string> words = {"Successfully installed",
                                                 "have been written to",
                                                 "no work to do",
                                                 "[100%] Built target",
                                                 "BUILD SUCCESS",
                                                 "creating ./config.status",
                                                 "] Linking ",
                                                 "Successfully tagged",
                                                 "completed successfully",
                                                 "+ "};
  return words;
}

std::optional<Success> success_of(string_view line) {
  if (line.starts_with("Successfully installed ")) {
    Success success{.level = 2};
    for (const auto word : split_words(line.substr(23, 4000))) {
      success.packages.emplace_back(word.substr(0, word.rfind('-')));
    }
    return success;
  }
  if (line.starts_with("+ ") && line.find("==") != k_none && line.find(' ', 2) == k_none) { // uv
    return Success{.level = 2, .packages = {std::string(line.substr(2, line.find("==") - 2))}};
  }
  if (find_in(line, "Build files have been written to") != k_none ||
      find_in(line, "creating ./config.status") != k_none) {
    return Success{.level = 1};
  }
  if (find_in(line, "ninja: no work to do") != k_none || line.starts_with("BUILD SUCCESS") ||
      line.starts_with("Successfully tagged ") ||
      line.starts_with("Build completed successfully")) {
    return Success{.level = 2};
  }
  if (line.starts_with("[100%] Built target")) {
    return Success{.level = 1, .only_at_end = true};
  }
  if (line.starts_with('[')) { // [7/7] Linking CXX executable x
    const auto slash = line.substr(0, 20).find('/');
    const auto end = line.substr(0, 20).find(']');
    const bool is_last =
        slash != k_none && end != k_none && slash < end &&
        bare(line.substr(1, slash - 1)) == bare(line.substr(slash + 1, end - slash - 1));
    if (is_last) {
      return Success{.level = 1, .only_at_end = true};
    }
  }
  return std::nullopt;
}

} // namespace cukit::buildlog

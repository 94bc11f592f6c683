#include "buildlog/head.hpp"

#include "buildlog/lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace cukit::buildlog {

namespace {

using std::string_view;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

bool is_number(string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

void skip(string_view& text, std::size_t count) {
  text.remove_prefix(std::min(count, text.size()));
  const auto at = text.find_first_not_of(' ');
  text.remove_prefix(at == k_none ? text.size() : at);
}

/// error: / fatal error: / catastrophic error #1696: / fatal   : / ERROR: / E: at the beginning.
bool take_severity(string_view& text, Head& head) {
  struct Word {
    string_view word;
    Severity severity;
    bool is_fatal;
  };
  constexpr std::array<Word, 13> words = {{{"LLVM ERROR", Severity::error, true},
                                           {"fatal error", Severity::error, true},
                                           {"Fatal error", Severity::error, true},
                                           {"catastrophic error", Severity::error, true},
                                           {"internal error", Severity::error, true},
                                           {"internal compiler error", Severity::error, true},
                                           {"fatal", Severity::error, true},
                                           {"error", Severity::error, false},
                                           {"Error", Severity::error, false},
                                           {"ERROR", Severity::error, false},
                                           {"FATAL", Severity::error, true},
                                           {"warning", Severity::warning, false},
                                           {"note", Severity::note, false}}};
  for (const auto& [word, severity, is_fatal] : words) {
    if (!text.starts_with(word)) {
      continue;
    }
    auto rest = text.substr(word.size());
    // between the word and its colon: spaces (nvcc), a number (EDG, MSVC), [E0432] (rustc)
    std::size_t at = 0;
    while (at < rest.size() && at < 24 && rest[at] != ':' &&
           (rest[at] == ' ' || rest[at] == '#' || rest[at] == '[' || rest[at] == ']' ||
            rest[at] == '-' || std::isalnum(static_cast<unsigned char>(rest[at])) != 0)) {
      ++at;
    }
    const bool has_code = at > 0 && rest.substr(0, at).find_first_of("#[0123456789") != k_none;
    const bool is_padding = rest.substr(0, at).find_first_not_of(' ') == k_none;
    if (at >= rest.size() || rest[at] != ':' || !(is_padding || has_code) ||
        rest.substr(at).starts_with("::")) {
      continue;
    }
    head.severity = severity;
    head.is_fatal = is_fatal;
    skip(rest, at + 1);
    text = rest;
    return true;
  }
  return false;
}

/// x.cu(12): and x.cu:12:3: and x.cu:12:
bool take_place(string_view& text, Head& head) {
  const auto window = text.substr(0, 1024);
  std::size_t from = 0;
  while (true) {
    const auto at = window.find_first_of(":(", from);
    if (at == k_none || at == 0) {
      return false;
    }
    std::size_t end = at + 1;
    while (end < window.size() &&
           (is_digit(window[end]) || (window[at] == '(' && window[end] == ','))) {
      ++end;
    }
    const bool has_number = end > at + 1 && end < window.size();
    if (has_number && window[at] == '(' && window.substr(end).starts_with("):")) {
      head.file = window.substr(0, at);
      skip(text, end + 2);
      break;
    }
    if (has_number && window[at] == '(' && window.substr(end).starts_with(") :")) {
      head.file = window.substr(0, at);
      skip(text, end + 3);
      break;
    }
    if (has_number && window[at] == ':' && (window[end] == ':' || window[end] == ',')) {
      head.file = window.substr(0, at);
      std::size_t more = end + 1;
      while (more < window.size() && is_digit(window[more])) {
        ++more;
      }
      const bool has_column = more > end + 1 && more < window.size() && window[more] == ':';
      skip(text, has_column ? more + 1 : end + 1);
      break;
    }
    from = at + 1;
  }
  head.has_place = true;
  return true;
}

/// `nvcc fatal   : `, `ptxas x.ptx, line 9; error   : `, `nvlink error   : ` and their like.
bool take_nvidia(string_view& text, Head& head) {
  const auto space = text.find(' ');
  if (space == k_none || space > 40) {
    return false;
  }
  const auto program = tool_of(text.substr(0, space));
  constexpr std::array<string_view, 9> known = {
      "nvcc", "ptxas", "nvlink", "fatbinary", "cicc", "cudafe++", "bin2c", "cuobjdump", "nvdisasm"};
  const bool is_known = std::find(known.begin(), known.end(), program) != known.end();
  if (!is_known && !program.starts_with("ptxas")) {
    return false;
  }
  auto rest = text.substr(space + 1);
  if (take_severity(rest, head)) {
    head.tool = program;
    text = rest;
    return true;
  }
  if (const auto place = rest.substr(0, 1024).find("; "); place != k_none) {
    auto behind = rest.substr(place + 2);
    if (take_severity(behind, head)) {
      head.tool = program;
      head.file = rest.substr(0, rest.find(','));
      head.has_place = true;
      text = behind;
      return true;
    }
  }
  return false;
}

/// A name as Python's tracebacks write it: torch.cuda.OutOfMemoryError
bool is_exception(string_view name) {
  const auto last = name.substr(name.rfind('.') + 1);
  if (last.size() < 5 || std::isupper(static_cast<unsigned char>(last.front())) == 0 ||
      !std::all_of(name.begin(), name.end(), is_word)) {
    return false;
  }
  return last.ends_with("Error") || last.ends_with("Exception") || last.ends_with("Exit") ||
         last.ends_with("Interrupt") || last == "StopIteration" || last == "BackendFailed";
}

bool take_exception(string_view& text, Head& head) {
  // at the beginning, or behind a logger's words: `ERROR 01-02 03:04:05 [core.py:7] RuntimeError: `
  std::size_t from = 0;
  while (from < text.size() && from < 400) {
    const auto colon = text.find(':', from);
    const auto end = colon == k_none ? text.size() : colon;
    auto begin = end;
    while (begin > 0 && end - begin < 100 && is_word(text[begin - 1])) {
      --begin;
    }
    const auto name = text.substr(begin, end - begin);
    const bool is_alone = begin == 0 || text[begin - 1] == ' ';
    if (is_alone && is_exception(name) && (colon != k_none || begin == 0)) {
      head.exception = name;
      head.tool = head.exception.starts_with("Conda") || head.exception.find("Mamba") != k_none ||
                          head.exception == "PackagesNotFoundError" ||
                          head.exception == "UnsatisfiableError" ||
                          head.exception == "ResolvePackageNotFound"
                      ? "conda"
                      : "Python";
      head.severity = Severity::error;
      text = colon == k_none ? string_view() : text.substr(colon + 1);
      skip(text, 0);
      return true;
    }
    if (colon == k_none) {
      return false;
    }
    from = colon + 1;
  }
  return false;
}

/// `make: `, `bash: line 1: `, `sh: 1: `, `/usr/bin/ld: x.o: `, `g++: `, `nvcc fatal`, `pip: `
bool take_program(string_view& text, Head& head) {
  const auto colon = text.find(':');
  if (colon == k_none || colon == 0 || colon > 200 || colon + 1 >= text.size()) {
    return false;
  }
  auto program = text.substr(0, colon);
  if (text[colon + 1] != ' ' && !is_linker(tool_of(program))) {
    return false;
  }
  if (const auto bracket = program.find('[');
      bracket != k_none && program.ends_with(']') &&
      is_number(program.substr(bracket + 1, program.size() - bracket - 2))) {
    program = program.substr(0, bracket); // make[2]
  }
  if (program.empty() || program.find_first_of(" \t'(),;=<>{}") != k_none) {
    return false;
  }
  if (program == "WARNING" || program == "DEPRECATION" || program == "INFO" || program == "DEBUG" ||
      program.ends_with("Warning")) {
    head.severity = program == "INFO" || program == "DEBUG" ? Severity::note : Severity::warning;
    skip(text, colon + 1);
    return true;
  }
  head.tool = tool_of(program);
  skip(text, colon + 1);
  const auto take_number = [&](string_view word) {
    if (!text.starts_with(word)) {
      return;
    }
    const auto end = text.find(':');
    if (end != k_none && is_number(text.substr(word.size(), end - word.size()))) {
      skip(text, end + 1);
      if (!starts_programs(head.tool)) { // x.sh: line 3:
        head.tool = "sh";
      }
    }
  };
  take_number("line ");
  take_number("");
  for (const string_view inner : {"cd: ", ".: ", "source: "}) { // what the shell does itself
    if (starts_programs(head.tool) && text.starts_with(inner)) {
      head.tool = inner.substr(0, inner.size() - 2);
      skip(text, inner.size());
    }
  }
  return true;
}

} // namespace

std::string tool_of(string_view program) {
  while (program.ends_with('\'')) {
    program.remove_suffix(1);
  }
  auto name = program.substr(program.rfind('/') + 1);
  name.remove_prefix(name.starts_with('-') ? 1 : 0); // -bash
  name.remove_suffix(name.ends_with(".exe") ? 4 : 0);
  auto plain = name;
  if (const auto dash = plain.rfind('-');
      dash != k_none && dash + 1 < plain.size() &&
      plain.substr(dash + 1).find_first_not_of("0123456789.") == k_none) {
    plain = plain.substr(0, dash); // gcc-12
  }
  constexpr std::array<string_view, 24> compilers = {
      "gcc", "g++",    "c++",     "cc",       "clang",   "clang++", "cpp",     "gfortran",
      "ld",  "ld.bfd", "ld.gold", "gold",     "ld.lld",  "lld",     "ld.mold", "mold",
      "as",  "ar",     "nvcc",    "collect2", "cc1plus", "cc1",     "objcopy", "ranlib"};
  for (const auto known : compilers) {
    const bool is_cross = plain.size() > known.size() && plain.ends_with(known) &&
                          plain[plain.size() - known.size() - 1] == '-';
    if (plain != known && !is_cross) {
      continue;
    }
    if (known == "ld.bfd") {
      return "ld";
    }
    return std::string(known == "ld.gold"   ? "gold"
                       : known == "ld.lld"  ? "lld"
                       : known == "ld.mold" ? "mold"
                                            : known);
  }
  constexpr std::array<string_view, 3> families = {"python", "pip", "make"};
  for (const auto family : families) {
    if (plain.starts_with(family) &&
        plain.substr(family.size()).find_first_not_of("0123456789.") == k_none) {
      return std::string(family);
    }
  }
  return std::string(plain == "gmake" ? "make" : name);
}

bool starts_programs(string_view tool) {
  constexpr std::array<string_view, 26> known = {
      "bash",   "sh",      "dash",   "zsh",     "ksh",          "ash",    "fish",
      "make",   "env",     "xargs",  "nice",    "timeout",      "sudo",   "time",
      "nohup",  "exec",    "which",  "ninja",   "stdbuf",       "setsid", "srun",
      "ionice", "taskset", "ccache", "sccache", "entrypoint.sh"};
  return std::find(known.begin(), known.end(), tool) != known.end();
}

bool is_linker(string_view tool) {
  return tool == "ld" || tool == "gold" || tool == "lld" || tool == "mold" || tool == "collect2";
}

bool is_host_compiler(string_view tool) {
  constexpr std::array<string_view, 9> known = {"gcc",     "g++",     "c++", "cc", "clang",
                                                "clang++", "cc1plus", "cc1", "cpp"};
  return std::find(known.begin(), known.end(), tool) != known.end();
}

Head head_of(string_view line) {
  Head head;
  auto text = line;
  if (take_nvidia(text, head) || take_severity(text, head)) {
    head.text = text;
    if (head.tool.empty() && text.size() > 2) { // error: x.cu:1: ... of a wrapper
      return head;
    }
    return head;
  }
  if (text.starts_with("E: ") || text.starts_with("W: ")) {
    head.tool = "apt";
    head.severity = text.front() == 'E' ? Severity::error : Severity::warning;
    head.text = text.substr(3);
    return head;
  }
  if (take_exception(text, head)) {
    head.text = text;
    // an exception that hands on what a compiler said: CompileException: x.cuh(21): error: ...
    auto inner = text;
    Head said{.exception = head.exception};
    if (take_nvidia(inner, said) || (take_place(inner, said) && take_severity(inner, said))) {
      said.text = inner;
      return said;
    }
    return head;
  }
  Head placed = head;
  auto behind = text;
  if (take_place(behind, placed)) {
    // `bash: line 1: ` and `x.sh: 1: ` are no places
    const bool is_place = placed.file.find(": ") == std::string::npos;
    if (is_place && take_severity(behind, placed)) {
      placed.text = behind;
      placed.tool = placed.file.ends_with("meson.build") ? "Meson" : "";
      return placed;
    }
    if (is_place && behind.starts_with("*** ")) {
      placed.tool = "make";
      placed.text = behind;
      return placed;
    }
  }
  if (take_program(text, head)) {
    take_severity(text, head);
    head.text = text;
    return head;
  }
  head.text = line;
  return head;
}

} // namespace cukit::buildlog

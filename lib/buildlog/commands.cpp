#include "buildlog/commands.hpp"

#include "buildlog/forms.hpp"
#include "buildlog/lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace cukit::buildlog {

namespace {

using std::string_view;
constexpr std::size_t k_list = 400; ///< entries kept of each list

bool is_compiler(string_view tool) {
  constexpr std::array<string_view, 14> more = {
      "nvcc", "cicc", "ptxas", "nvlink", "cudafe++", "fatbinary", "nvc++",
      "nvc",  "icpx", "icx",   "hipcc",  "gfortran", "ld",        "clang-cl"};
  return is_host_compiler(tool) || is_linker(tool) ||
         std::find(more.begin(), more.end(), tool) != more.end();
}

bool is_launcher(string_view tool) {
  constexpr std::array<string_view, 12> known = {"ccache",   "sccache",  "distcc", "icecc",
                                                 "env",      "time",     "nice",   "sudo",
                                                 "libtool:", "compile:", "link:",  "exec"};
  return std::find(known.begin(), known.end(), tool) != known.end();
}

bool is_source(string_view word) {
  constexpr std::array<string_view, 12> ends = {".cu", ".cpp", ".cc", ".c",   ".cxx", ".o",
                                                ".C",  ".obj", ".S",  ".cuo", ".ptx", ".ii"};
  return std::any_of(ends.begin(), ends.end(), [&](auto end) { return word.ends_with(end); });
}

bool is_assignment(string_view word) {
  const auto equals = word.find('=');
  return equals != k_none && equals > 0 && !word.starts_with('-') &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
         });
}

void push(std::vector<std::string>& list, string_view value) {
  if (!value.empty() && list.size() < k_list) {
    list.emplace_back(value);
  }
}

/// sm_90 of arch=compute_90,code=[sm_90,compute_90]; each piece that names a target.
void add_targets(std::vector<std::string>& list, string_view value) {
  std::size_t from = 0;
  while (from < value.size()) {
    const auto end = std::min(value.find_first_of(",=[]'\" ", from), value.size());
    const auto part = value.substr(from, end - from);
    const bool is_target = part.starts_with("sm_") || part.starts_with("compute_") ||
                           part.starts_with("lto_") || part == "native" || part == "all" ||
                           part == "all-major";
    if (is_target && std::find(list.begin(), list.end(), part) == list.end()) {
      push(list, part);
    }
    from = end + 1;
  }
}

/// Options whose value is a part of the word or the next word.
struct Options {
  Command& command;

  bool joined(string_view word, string_view flag, std::vector<std::string>& list) {
    if (!word.starts_with(flag) || word.size() == flag.size()) {
      return false;
    }
    auto value = word.substr(flag.size());
    value.remove_prefix(value.starts_with('=') ? 1 : 0);
    push(list, value);
    return true;
  }
  /// The number of words taken: 0 when the word is no such option.
  std::size_t folders(string_view word, string_view next) {
    struct Flag {
      string_view flag;
      std::vector<std::string>& list;
      bool may_join;
    };
    const std::array<Flag, 11> flags = {{{"-I", command.includes, true},
                                         {"--include-path", command.includes, true},
                                         {"-isystem", command.system_includes, true},
                                         {"--system-include", command.system_includes, true},
                                         {"-idirafter", command.system_includes, true},
                                         {"-iquote", command.includes, true},
                                         {"-L", command.library_folders, true},
                                         {"--library-path", command.library_folders, true},
                                         {"-gencode", command.targets, false},
                                         {"--generate-code", command.targets, false},
                                         {"--options-file", command.response_files, true}}};
    for (const auto& [flag, list, may_join] : flags) {
      if (&list == &command.targets) {
        if (word.starts_with(flag)) {
          add_targets(list, word == flag ? next : word.substr(flag.size()));
          return word == flag ? 2 : 1;
        }
        continue;
      }
      if (word == flag) {
        push(list, next);
        return 2;
      }
      if (may_join && joined(word, flag, list)) {
        return 1;
      }
    }
    return 0;
  }
  std::size_t values(string_view word, string_view next) {
    struct Flag {
      string_view flag;
      std::string& value;
    };
    const std::array<Flag, 10> flags = {{{"-ccbin", command.host_compiler},
                                         {"--compiler-bindir", command.host_compiler},
                                         {"--cuda-path", command.cuda_path},
                                         {"-std", command.standard},
                                         {"--std", command.standard},
                                         {"--threads", command.threads},
                                         {"-t", command.threads},
                                         {"--output-file", command.output},
                                         {"-o", command.output},
                                         {"-MF", dropped}}};
    for (const auto& [flag, value] : flags) {
      if (word == flag) {
        value = next.substr(0, 400);
        return 2;
      }
      if (word.size() > flag.size() && word.starts_with(flag) && word[flag.size()] == '=') {
        value = word.substr(flag.size() + 1, 400);
        return 1;
      }
    }
    return 0;
  }
  std::string dropped = {};
};

void read_options(Command& command, const std::vector<std::string>& words, std::size_t from,
                  std::size_t end) {
  Options options{.command = command};
  for (std::size_t i = from; i < end;) {
    const string_view word = words[i];
    const string_view next = i + 1 < end ? string_view(words[i + 1]) : string_view();
    std::size_t taken = 1;
    if (word.starts_with('@')) {
      push(command.response_files, word.substr(1));
    } else if (!word.starts_with('-')) {
      if (is_library(word)) {
        push(command.libraries, word);
      } else if (is_source(word)) {
        push(command.inputs, word);
      }
    } else if (word.starts_with("-arch") || word.starts_with("--gpu-") ||
               word.starts_with("-code") || word.starts_with("--cuda-gpu-arch") ||
               word.starts_with("--offload-arch")) {
      const bool is_alone = word.find('=') == k_none;
      add_targets(command.targets, is_alone ? next : word);
      taken = is_alone ? 2 : 1;
    } else if (word.starts_with("-l") && word.size() > 2 && !word.starts_with("-lineinfo")) {
      push(command.libraries, word);
    } else {
      taken = options.folders(word, next);
      taken = taken == 0 ? options.values(word, next) : taken;
      taken = std::max<std::size_t>(taken, 1);
    }
    i += taken;
  }
}

bool is_separator(string_view word) {
  return word == "&&" || word == ";" || word == "||" || word == "|";
}

/// The command of one segment between && and ;.
std::optional<Command> segment(const std::vector<std::string>& words, std::size_t from,
                               std::size_t end) {
  Command command;
  std::size_t at = from;
  for (; at < end && at < from + 24; ++at) {
    const auto& word = words[at];
    const auto tool = tool_of(word);
    if (is_compiler(tool)) {
      break;
    }
    const bool is_step = word.starts_with('[') || word.ends_with(']') || word.ends_with("%]") ||
                         word == "$" || word == "+" || word == ":" || word == "--" ||
                         word == "FAILED:";
    const bool is_cmake = tool == "cmake" || (at > from && words[from].find("cmake") != k_none);
    if (is_launcher(tool)) {
      command.launcher = tool;
    } else if (!is_step && !is_assignment(word) && !is_cmake && !word.starts_with('-')) {
      return std::nullopt;
    }
  }
  if (at + 1 >= end || !is_compiler(tool_of(words[at]))) {
    return std::nullopt;
  }
  const string_view next = words[at + 1];
  if (!next.starts_with('-') && !next.starts_with('@') && !is_source(next) && !is_library(next)) {
    return std::nullopt; // `nvcc fatal : ...`, `gcc version 12`
  }
  command.program = words[at];
  read_options(command, words, at + 1, end);
  return command;
}

} // namespace

std::vector<std::string> shell_words(string_view line, std::size_t most) {
  std::vector<std::string> words;
  std::string word;
  bool is_open = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size() && words.size() < most; ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (c == '\\' && quote == '"' && i + 1 < line.size() &&
                 (line[i + 1] == '"' || line[i + 1] == '\\')) {
        word.push_back(line[++i]);
      } else {
        word.push_back(c);
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      is_open = true;
    } else if (c == '\\' && i + 1 < line.size()) {
      word.push_back(line[++i]);
      is_open = true;
    } else if (c == ' ' || c == '\t') {
      if (is_open) {
        words.push_back(std::exchange(word, {}));
        is_open = false;
      }
    } else if (c == ';') {
      if (is_open) {
        words.push_back(std::exchange(word, {}));
      }
      words.emplace_back(";");
      is_open = false;
    } else { // a run of letters at once
      const auto end = std::min(line.find_first_of(" \t'\"\\;", i), line.size());
      word.append(line.substr(i, end - i));
      is_open = true;
      i = end - 1;
    }
  }
  if (is_open) {
    words.push_back(std::move(word));
  }
  return words;
}

std::optional<Command> command_of(string_view line) {
  const auto words = shell_words(line);
  std::string directory;
  std::size_t from = 0;
  while (from < words.size()) {
    std::size_t end = from;
    while (end < words.size() && !is_separator(words[end])) {
      ++end;
    }
    if (end > from + 1 && words[end - 2] == "cd") {
      directory = words[end - 1];
    }
    if (auto command = segment(words, from, end)) {
      command->directory = directory;
      return command;
    }
    // sh -c 'COMMAND': what is inside the quotes is one word
    for (std::size_t i = from; i + 2 < end && i < from + 6; ++i) {
      if (words[i + 1] == "-c" && starts_programs(tool_of(words[i])) &&
          words[i + 2].size() < line.size()) {
        if (auto inner = command_of(words[i + 2])) {
          return inner;
        }
      }
    }
    from = end + 1;
  }
  return std::nullopt;
}

std::string signature_of(const Command& command) {
  std::string text = command.program;
  for (const auto* list : {&command.includes, &command.system_includes, &command.library_folders,
                           &command.libraries, &command.targets, &command.response_files}) {
    text.push_back('\n');
    for (const auto& item : *list) {
      text += item;
      text.push_back(' ');
    }
  }
  for (const auto* value :
       {&command.host_compiler, &command.cuda_path, &command.standard, &command.directory}) {
    text.push_back('\n');
    text += *value;
  }
  return text;
}

} // namespace cukit::buildlog

// The functions of the driver library, read off its headers. Three things name one:
//   CUresult CUDAAPI cuMemAlloc(...)                     a declaration, in whatever branch of an
//   #if #define cuMemcpyHtoD __CUDA_API_PTDS(cuMemcpyHtoD_v2) what a call really becomes, with and
//   without per-thread streams typedef CUresult (CUDAAPI *PFN_cuMemcpy_v7000_ptds)   a pointer
//   type; its name holds the version it appeared in
#include "assemble/assemble.hpp"
#include "assemble/driver_headers.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace cukit::assemble {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view skip_space(std::string_view text) {
  const auto at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

/// The identifier that `text` begins with, cut off; may be empty.
std::string_view take_word(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_word);
  const auto length = static_cast<std::size_t>(end - text.begin());
  const auto word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

bool is_function_name(std::string_view word) {
  return word.size() > 2 && word.starts_with("cu") &&
         std::isupper(static_cast<unsigned char>(word[2])) != 0;
}

/// cuMemcpy_v7000_ptds -> cuMemcpy_ptds
std::string without_version(std::string_view name) {
  const auto at = name.rfind("_v");
  if (at == std::string_view::npos) {
    return std::string(name);
  }
  auto end = at + 2;
  while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) {
    ++end;
  }
  // _v2 is part of a name, _v2000 and up are versions of CUDA
  return end - at - 2 < 4 ? std::string(name)
                          : std::string(name.substr(0, at)) + std::string(name.substr(end));
}

void add_declarations(std::string_view text, std::set<std::string>& names) {
  constexpr std::string_view marker = "CUDAAPI";
  for (auto at = text.find(marker); at != std::string_view::npos; at = text.find(marker, at)) {
    at += marker.size();
    auto rest = skip_space(text.substr(at));
    constexpr std::string_view pointer = "*PFN_";
    const bool is_pointer = rest.starts_with(pointer);
    if (is_pointer) {
      rest.remove_prefix(pointer.size());
    }
    const auto word = take_word(rest);
    rest = skip_space(rest);
    if (is_function_name(word) && rest.starts_with(is_pointer ? ')' : '(')) {
      names.insert(is_pointer ? without_version(word) : std::string(word));
    }
  }
}

void add_macro(std::string_view line, std::set<std::string>& names) {
  const auto macro = take_word(line);
  line = skip_space(line);
  const auto word = take_word(line);
  if (!is_function_name(macro)) {
    return;
  }
  if (is_function_name(word)) {
    names.insert(std::string(word));
    return;
  }
  const bool legacy = word == "__CUDA_API_PTDS";
  if ((legacy || word == "__CUDA_API_PTSZ") && line.starts_with('(')) {
    line = skip_space(line.substr(1));
    const std::string function(take_word(line));
    if (is_function_name(function)) {
      names.insert(function);
      names.insert(function + (legacy ? "_ptds" : "_ptsz"));
    }
  }
}

void add_macros(std::string_view text, std::set<std::string>& names) {
  for (auto line : split(text, '\n')) {
    line = skip_space(line);
    if (!line.starts_with('#')) {
      continue;
    }
    line = skip_space(line.substr(1));
    if (take_word(line) == "define") {
      add_macro(skip_space(line), names);
    }
  }
}

} // namespace

const std::vector<std::string>& driver_headers() {
  static const std::vector<std::string> names{"cuda.h",
                                              "cudaGL.h",
                                              "cudaEGL.h",
                                              "cudaVDPAU.h",
                                              "cudaProfiler.h",
                                              "cudaTypedefs.h",
                                              "cudaGLTypedefs.h",
                                              "cudaEGLTypedefs.h",
                                              "cudaVDPAUTypedefs.h",
                                              "cudaProfilerTypedefs.h"};
  return names;
}

std::vector<std::string> driver_symbols(const std::map<std::string, std::string>& headers) {
  std::set<std::string> names;
  for (const auto& [name, text] : headers) {
    add_declarations(text, names);
    add_macros(text, names);
  }
  return {names.begin(), names.end()};
}

} // namespace cukit::assemble

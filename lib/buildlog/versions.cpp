#include "buildlog/versions.hpp"

#include "buildlog/forms.hpp"
#include "buildlog/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace cukit::buildlog {

namespace {

using std::string_view;

/// The number with dots that begins here or later: 12.8.93
string_view number_in(string_view text) {
  const auto begin = text.find_first_of("0123456789");
  if (begin == k_none) {
    return {};
  }
  auto number = text.substr(begin);
  number = number.substr(0, number.find_first_not_of("0123456789."));
  while (number.ends_with('.')) {
    number.remove_suffix(1);
  }
  return number;
}

string_view path_in(string_view text) {
  const auto begin = text.find('/');
  if (begin == k_none) {
    return {};
  }
  const auto path = text.substr(begin);
  return bare(path.substr(0, path.find_first_of(" \t'\";,)(")));
}

/// -- Found CUDAToolkit: /usr/local/cuda/include (found suitable version "12.8.93", ...)
std::optional<VersionLine> found_line(string_view line) {
  const auto found = find_in(line, "Found ");
  const auto colon = line.find(": ", found == k_none ? 0 : found);
  const auto version = find_in(line, "version \"", colon == k_none ? line.size() : colon);
  if (found == k_none || colon == k_none || version == k_none || colon < found + 6) {
    return std::nullopt;
  }
  const auto name = line.substr(found + 6, colon - found - 6);
  if (name.size() > 40 || name.find(' ') != k_none) {
    return std::nullopt;
  }
  return VersionLine{.what = name == "CUDAToolkit" || name == "CUDA" ? "CUDA toolkit"
                                                                     : std::string(name),
                     .version = std::string(number_in(line.substr(version))),
                     .path = std::string(path_in(line.substr(colon, version - colon)))};
}

/// -- The CUDA compiler identification is NVIDIA 11.5.119
std::optional<VersionLine> identification_line(string_view line) {
  constexpr string_view middle = " compiler identification is ";
  const auto at = find_in(line, middle);
  const auto the = line.substr(0, at == k_none ? 0 : at).rfind("The ");
  if (at == k_none || the == k_none) {
    return std::nullopt;
  }
  const auto version = number_in(line.substr(at));
  if (version.empty()) {
    return std::nullopt;
  }
  return VersionLine{.what = std::string(line.substr(the + 4, at - the - 4)) + " compiler",
                     .version = std::string(version)};
}

/// VARIABLE=value, VARIABLE: value, VARIABLE is value, with a path
std::optional<VersionLine> place_line(string_view line) {
  for (const auto* name :
       {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDAToolkit_ROOT", "CUDACXX", "CMAKE_CUDA_COMPILER",
        "CUDA_TOOLKIT_ROOT_DIR", "CUDA nvcc is", "CUDA toolkit directory"}) {
    const auto at = find_in(line, name);
    if (at == k_none) {
      continue;
    }
    const auto rest = line.substr(at + string_view(name).size());
    const auto begin = rest.find_first_not_of(" :='\"");
    if (begin == 0 || begin == k_none || begin > 5 || rest[begin] != '/') {
      continue;
    }
    return VersionLine{.what = name, .version = {}, .path = std::string(path_in(rest))};
  }
  return std::nullopt;
}

/// torch 2.5.1+cu121, torch.version.cuda: 12.4
std::optional<VersionLine> torch_line(string_view line) {
  if (const auto at = find_in(line, "+cu"); at != k_none && at > 0) {
    auto begin = at;
    while (begin > 0 && at - begin < 20 &&
           (std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0 ||
            line[begin - 1] == '.')) {
      --begin;
    }
    const auto tag = line.substr(at + 3);
    const auto digits = std::min(tag.find_first_not_of("0123456789"), tag.size());
    const bool is_torch = find_in(line, "torch") != k_none || find_in(line, "Torch") != k_none;
    if (begin < at && digits == 3 && is_torch) {
      return VersionLine{.what = "torch",
                         .version = std::string(line.substr(begin, at + 3 + digits - begin))};
    }
  }
  for (const auto* name : {"torch.version.cuda", "CUDA used to build PyTorch", "CUDA detected:"}) {
    const auto at = find_in(line, name);
    const auto version = number_in(at == k_none ? string_view() : line.substr(at));
    if (version.find('.') != k_none) {
      const bool is_cmake = string_view(name) == "CUDA detected:";
      return VersionLine{.what = is_cmake ? "CUDA toolkit" : "torch's CUDA",
                         .version = std::string(version)};
    }
  }
  return std::nullopt;
}

/// See also "DIR/CMakeFiles/CMakeOutput.log". and Build files have been written to: DIR
std::optional<VersionLine> build_folder_line(string_view line) {
  constexpr string_view written = "Build files have been written to: ";
  if (const auto at = find_in(line, written); at != k_none) {
    return VersionLine{.what = k_build_folder,
                       .version = {},
                       .path = std::string(bare(line.substr(at + written.size(), 300)))};
  }
  constexpr string_view see = "See also \"";
  const auto at = find_in(line, see);
  const auto end = find_in(line, "/CMakeFiles/", at == k_none ? line.size() : at);
  if (at == k_none || end == k_none) {
    return std::nullopt;
  }
  return VersionLine{.what = k_build_folder,
                     .version = {},
                     .path = std::string(line.substr(at + see.size(), end - at - see.size()))};
}

/// Processing ./zorp (of pip), and zorp @ file:///src/zorp (of uv)
std::optional<VersionLine> source_folder_line(string_view line) {
  constexpr string_view processing = "Processing ";
  constexpr string_view url = " @ file://";
  const auto at = find_in(line, url);
  const bool is_pip = line.starts_with(processing);
  if (!is_pip && at == k_none) {
    return std::nullopt;
  }
  auto path = is_pip ? line.substr(processing.size()) : line.substr(at + url.size());
  path = path.substr(0, path.find_first_of(" `'\")"));
  const bool is_path = path.starts_with('/') || path.starts_with('.');
  const bool is_archive = path.ends_with(".whl") || path.ends_with(".gz") || path.ends_with(".zip");
  return is_path && !is_archive && path.size() < 300
             ? std::optional(
                   VersionLine{.what = k_source_folder, .version = {}, .path = std::string(path)})
             : std::nullopt;
}

bool is_variable(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Whether a variable of this name carries GPU targets: TORCH_CUDA_ARCH_LIST, NVTE_CUDA_ARCHS,
/// CUDAARCHS, CMAKE_CUDA_ARCHITECTURES, GPU_ARCHS, AMGX_CUDA_ARCH ...
bool carries_targets(string_view name) {
  const bool is_list = name.ends_with("ARCH") || name.ends_with("ARCHS") ||
                       name.ends_with("ARCH_LIST") || name.ends_with("ARCHITECTURES") ||
                       name.ends_with("ARCHITECTURES_NATIVE");
  return is_list && (name.find("CUDA") != k_none || name.find("GPU") != k_none ||
                     name.find("NV") != k_none || name == "TORCH_ARCH_LIST");
}

} // namespace

const std::vector<std::string>& version_words() {
  static const std::vector<std::string> words = {"compiler identification is ",
                                                 "version \"",
                                                 "release ",
                                                 "CUDA_HOME",
                                                 "CUDA_PATH",
                                                 "CUDA_ROOT",
                                                 "CUDACXX",
                                                 "CUDAToolkit_ROOT",
                                                 "CMAKE_CUDA_COMPILER",
                                                 "CUDA_TOOLKIT_ROOT_DIR",
                                                 "CUDA nvcc is",
                                                 "CUDA toolkit directory",
                                                 "+cu",
                                                 "torch.version.cuda",
                                                 "CUDA used to build PyTorch",
                                                 "CUDA detected:",
                                                 "See also \"",
                                                 "Processing ",
                                                 " @ file://",
                                                 "have been written to: "};
  return words;
}

std::optional<VersionLine> version_of(string_view line) {
  if (auto found = build_folder_line(line)) {
    return found;
  }
  if (auto found = source_folder_line(line)) {
    return found;
  }
  if (auto found = identification_line(line)) {
    return found;
  }
  if (auto found = found_line(line)) {
    return found;
  }
  if (const auto at = find_in(line, "release "); at != k_none) { // nvcc --version
    const auto full = find_in(line, ", V", at);
    const auto version = number_in(full == k_none ? string_view() : line.substr(full));
    if (find_in(line, "Cuda compilation tools") != k_none && !version.empty()) {
      return VersionLine{.what = "nvcc", .version = std::string(version)};
    }
  }
  if (auto found = place_line(line)) {
    return found;
  }
  return torch_line(line);
}

const std::vector<std::string>& target_words() {
  static const std::vector<std::string> words = {"ARCH", "CUDA architectures: "};
  return words;
}

std::vector<TargetList> target_lists_of(string_view line) {
  std::vector<TargetList> lists;
  if (const auto at = find_in(line, "CUDA architectures: "); at != k_none) {
    lists.push_back({.variable = "CMAKE_CUDA_ARCHITECTURES",
                     .value = std::string(bare(line.substr(at + 20, 200)))});
  }
  for (auto at = find_in(line, "ARCH"); at != k_none && lists.size() < 8;) {
    auto begin = at;
    while (begin > 0 && is_variable(line[begin - 1])) {
      --begin;
    }
    auto end = at;
    while (end < line.size() && is_variable(line[end])) {
      ++end;
    }
    auto equals = end;
    if (line.substr(equals).starts_with(":STRING")) { // -DNAME:STRING=
      equals += 7;
    }
    auto name = line.substr(begin, end - begin);
    if (begin > 0 && line[begin - 1] == '-') {
      name.remove_prefix(name.starts_with('D') ? 1 : 0); // -DNAME
    }
    if (equals < line.size() && line[equals] == '=' && carries_targets(name)) {
      auto value = line.substr(equals + 1, 300);
      const bool is_quoted = value.starts_with('"') || value.starts_with('\'');
      const auto stop = is_quoted                  ? value.find(value.front(), 1)
                        : name.ends_with("NATIVE") ? k_none
                                                   : value.find_first_of(" \t&|");
      value = value.substr(0, stop);
      value.remove_prefix(is_quoted ? 1 : 0);
      lists.push_back({.variable = std::string(name), .value = std::string(value)});
    }
    at = find_in(line, "ARCH", std::max(end, at + 4));
  }
  return lists;
}

const std::vector<std::string>& cccl_words() {
  static const std::vector<std::string> words = {"::_V_", "cub::CUB_", "thrust::THRUST_"};
  return words;
}

/// MMMmmpp, two digits each for minor and patch.
std::string cccl_namespace_of(string_view line) {
  for (const auto& marker : cccl_words()) {
    const auto at = find_in(line, marker);
    const auto rest = at == k_none ? string_view() : line.substr(at + marker.size(), 12);
    const auto digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    if (digits.size() < 5 || digits.size() > 8) {
      continue;
    }
    long number = 0;
    for (const char c : digits) {
      number = number * 10 + (c - '0');
    }
    return fmt::format("{}.{}.{}", number / 100'000, number / 100 % 1000, number % 100);
  }
  return {};
}

} // namespace cukit::buildlog

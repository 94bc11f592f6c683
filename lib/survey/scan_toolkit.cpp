// One toolkit root: which parts are here and what each says of its version, by text alone.
#include "base/strings.hpp"
#include "model/tree_layout.hpp"
#include "survey/elf_facts.hpp"
#include "survey/scan.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace cukit::survey {

namespace {

constexpr std::uint64_t k_header_bytes = 4U << 20U; // cuda.h has 1.2 MB
constexpr std::size_t k_script_bytes = 64U << 10U;
constexpr std::size_t k_library_limit = 400;

struct ToolPlace {
  const char* name;
  std::vector<std::string_view> paths;
};

const std::vector<ToolPlace>& tool_places() {
  static const std::vector<ToolPlace> places = {
      {"nvcc", {layout::k_nvcc}},
      // Debian keeps cicc beside nvcc
      {"cicc", {layout::k_cicc, "bin/cicc"}},
      {"ptxas", {layout::k_ptxas}},
      {"nvlink", {layout::k_nvlink}},
      {"fatbinary", {layout::k_fatbinary}},
      {"cudafe++", {layout::k_cudafe}},
      {"cuobjdump", {"bin/cuobjdump"}},
      {"nvdisasm", {"bin/nvdisasm"}},
  };
  return places;
}

// What consumers include and merged trees are known to lack.
constexpr std::array k_headers = {"cuda.h",
                                  "cuda_runtime.h",
                                  "cuda_runtime_api.h",
                                  "vector_types.h",
                                  "cuda_fp16.h",
                                  "cooperative_groups.h",
                                  "crt/host_config.h",
                                  "crt/host_defines.h",
                                  "crt/host_runtime.h",
                                  "crt/math_functions.h",
                                  "nv/target",
                                  "curand.h",
                                  "curand_kernel.h",
                                  "cublas_v2.h",
                                  "cusparse.h",
                                  "cusolverDn.h",
                                  "cufft.h",
                                  "nvrtc.h",
                                  "nvtx3/nvToolsExt.h",
                                  "cuda_profiler_api.h",
                                  "cccl/nv/target",
                                  "cccl/cuda/std/utility",
                                  "cuda/std/utility",
                                  "cccl/cub/cub.cuh",
                                  "cub/cub.cuh",
                                  "cccl/thrust/version.h",
                                  "thrust/version.h"};

std::optional<long> number_after(std::string_view text, std::string_view marker) {
  const auto at = text.find(marker);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rest = trim(text.substr(at + marker.size(), 40));
  long value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc() || end == rest.data()) {
    return std::nullopt;
  }
  return value;
}

/// 13000 -> 13.0
std::string cuda_number(std::optional<long> number) {
  return number && *number > 0 ? fmt::format("{}.{}", *number / 1000, *number % 1000 / 10)
                               : std::string();
}

std::string first_folder(const RootView& view, const std::vector<std::string>& folders,
                         std::string_view file) {
  for (const auto& folder : folders) {
    if (view.is_file(join_path(folder, file))) {
      return folder;
    }
  }
  return {};
}

std::vector<std::string> targets(const RootView& view, const std::string& root) {
  std::vector<std::string> result;
  for (const auto& name : view.list(join_path(root, "targets"))) {
    result.push_back(join_path(root, "targets/" + name));
  }
  return result;
}

/// Debian's packages spread over /usr; nvcc's own tree is /usr/lib/nvidia-cuda-toolkit.
bool is_debian(const std::string& root) {
  return root == "/usr/lib/nvidia-cuda-toolkit" || root == "/usr/lib/cuda";
}

std::vector<std::string> include_folders(const RootView& view, const std::string& root) {
  std::vector<std::string> result{join_path(root, "include")};
  for (const auto& target : targets(view, root)) {
    result.push_back(join_path(target, "include"));
  }
  if (is_debian(root)) {
    result.emplace_back("/usr/include");
  }
  return result;
}

void scan_cudart(const RootView& view, Toolkit& kit) {
  const auto folders = include_folders(view, kit.root);
  kit.include = first_folder(view, folders, "cuda_runtime_api.h");
  if (kit.include.empty()) {
    kit.include = first_folder(view, folders, "cuda.h");
  }
  if (kit.include.empty()) {
    // crt, CCCL or a maths library alone
    const auto found = std::find_if(folders.begin(), folders.end(), [&](const auto& folder) {
      return view.is_folder(join_path(folder, "crt")) || view.is_folder(join_path(folder, "cccl"));
    });
    kit.include = found == folders.end() ? std::string() : *found;
    return;
  }
  // the defines stand behind the licence and a few includes
  const auto define = [&](const char* file, const char* name) {
    return cuda_number(number_after(view.head(join_path(kit.include, file), 64U << 10U), name));
  };
  kit.cudart = define("cuda_runtime_api.h", "#define CUDART_VERSION");
  kit.cuda_h = define("cuda.h", "#define CUDA_VERSION");
}

void scan_headers(const RootView& view, Toolkit& kit) {
  for (const char* header : k_headers) {
    if (view.is_file(join_path(kit.include, header))) {
      kit.headers.insert(header);
    }
  }
}

std::string cccl_version(const RootView& view, const std::string& folder) {
  const auto dotted = [](long number, long minor, long patch) {
    return fmt::format("{}.{}.{}", number / minor, number % minor / patch, number % patch);
  };
  const auto of_file = [&](const char* file, const char* define) {
    return number_after(view.head(join_path(folder, file), 16U << 10U), define);
  };
  if (const auto cccl = of_file("cuda/std/__cccl/version.h", "#define CCCL_VERSION")) {
    return dotted(*cccl, 1'000'000, 1000);
  }
  if (const auto thrust = of_file("thrust/version.h", "#define THRUST_VERSION")) {
    return dotted(*thrust, 100'000, 100);
  }
  return {};
}

void scan_cccl(const RootView& view, Toolkit& kit) {
  for (const auto& folder : {join_path(kit.include, "cccl"), kit.include}) {
    if (view.is_folder(join_path(folder, "cuda/std")) ||
        view.is_folder(join_path(folder, "thrust"))) {
      kit.cccl_include = folder;
      kit.cccl = cccl_version(view, folder);
      break;
    }
  }
  if (kit.cccl_include != kit.include && view.is_folder(join_path(kit.include, "thrust"))) {
    kit.cccl_outer = cccl_version(view, kit.include);
  }
  const auto outer = view.read(join_path(kit.include, "nv/target"), k_header_bytes);
  const auto inner = view.read(join_path(kit.include, "cccl/nv/target"), k_header_bytes);
  if (outer && inner) {
    kit.nv_target_cccl = *outer == *inner ? "same" : "differs";
  }
  for (const char* name : {"cccl", "cub", "thrust"}) {
    for (const char* folder :
         {"lib/cmake", "lib64/cmake", "cccl/lib/cmake", "cuda_cccl/lib/cmake"}) {
      const auto text = view.head(
          join_path(kit.root, fmt::format("{0}/{1}/{1}-config-version.cmake", folder, name)), 8192);
      std::vector<std::string> parts;
      for (const char* part : {"MAJOR", "MINOR", "PATCH"}) {
        if (const auto value = number_after(text, fmt::format("VERSION_{} ", part))) {
          parts.push_back(fmt::format("{}", *value));
        }
      }
      if (parts.size() == 3) {
        kit.cmake_packages.emplace(name, join(parts, "."));
        break;
      }
    }
  }
}

void scan_crt(const RootView& view, Toolkit& kit) {
  kit.launch_arguments = launch_arguments(view, kit.include);
  const auto config = view.read(join_path(kit.include, "crt/host_config.h"), k_header_bytes);
  if (config) {
    kit.gcc_max = static_cast<int>(number_after(*config, "#if __GNUC__ >").value_or(0));
    if (const auto at = config->find("unsupported clang version"); at != std::string::npos) {
      kit.clang_below = static_cast<int>(
          number_after(std::string_view(*config).substr(at), "must be less than").value_or(0));
    }
  }
  if (const auto math = view.read(join_path(kit.include, "crt/math_functions.h"), k_header_bytes)) {
    const auto agrees = [&](std::string_view name) {
      const auto at = math->find(fmt::format(" {}(double x)", name));
      return at == std::string::npos ||
             math->substr(at + name.size() + 11, 1) != ";"; // nothing but the bare declaration
    };
    kit.cospi_is_ready = agrees("cospi");
    kit.rsqrt_is_ready = agrees("rsqrt");
  }
}

void scan_libraries(const RootView& view, Toolkit& kit) {
  std::vector<std::string> folders{join_path(kit.root, "lib64"), join_path(kit.root, "lib")};
  for (const auto& target : targets(view, kit.root)) {
    folders.push_back(join_path(target, "lib"));
  }
  folders.push_back(join_path(kit.root, "lib64/stubs"));
  folders.push_back(join_path(kit.root, "lib/stubs"));
  folders.push_back(join_path(kit.root, "nvvm/lib64"));
  if (is_debian(kit.root) || kit.root == "/usr") {
    folders.emplace_back("/usr/lib/x86_64-linux-gnu");
    folders.emplace_back("/usr/lib/aarch64-linux-gnu");
  }
  std::set<std::string> seen;
  for (const auto& folder : folders) {
    const auto entry = view.find(folder);
    if (!entry || !entry->is_folder) {
      continue;
    }
    kit.library_folders.push_back(
        folder.starts_with(kit.root + "/") ? folder.substr(kit.root.size() + 1) : folder);
    if (!seen.insert(entry->real).second) {
      continue; // lib64 -> lib
    }
    for (const auto& name : view.list(folder)) {
      if (is_cuda_library(name) && kit.libraries.size() < k_library_limit) {
        kit.libraries.emplace(folder.ends_with("/stubs") ? "stubs/" + name : name,
                              join_path(folder, name));
      }
    }
  }
}

void scan_profile(const RootView& view, Toolkit& kit) {
  const auto nvcc = kit.tools.find("nvcc");
  if (nvcc == kit.tools.end()) {
    return;
  }
  const auto beside = join_path(parent_of(nvcc->second.path), "nvcc.profile");
  kit.has_profile_beside_nvcc = view.is_file(beside);
  const auto text = view.read(beside, k_script_bytes);
  if (!text) {
    return;
  }
  for (const auto line : split(*text, '\n')) {
    if (line.starts_with("LIBRARIES")) {
      kit.profile = line.find("_TARGET_SIZE_") != std::string_view::npos ? "target" : "lib";
    }
  }
}

/// Its own record says which tree of cukit's it is.
std::string tree_id_of(const RootView& view, const std::string& root) {
  const auto record = view.head(join_path(root, ".cukit/input"), 4096);
  for (const auto line : split(record, '\n')) {
    if (line.starts_with("id\t")) {
      const auto id = line.substr(3);
      return id.find_first_not_of("0123456789abcdef") == std::string_view::npos ? std::string(id)
                                                                                : std::string();
    }
  }
  return {};
}

std::string release_of(const RootView& view, const std::string& root) {
  if (const auto text = view.read(join_path(root, "version.json"), k_script_bytes)) {
    if (const auto json = text::Json::parse(*text, "version.json")) {
      if (const auto* cuda = json->find("cuda")) {
        return std::string(cuda->text_of("version"));
      }
    }
  }
  // CUDA Version 11.0.207
  const auto text = view.head(join_path(root, "version.txt"), 200);
  const auto words = split_words(text);
  return words.size() >= 3 && words[0] == "CUDA" ? std::string(words[2]) : std::string();
}

/// The program that a wrapper script ends in: the last absolute path whose name is the tool's.
std::string wrapped_program(std::string_view script, std::string_view tool) {
  std::string result;
  for (const auto line : split(script, '\n')) {
    if (trim(line).starts_with('#')) {
      continue;
    }
    for (auto word : split_words(line)) {
      while (!word.empty() && (word.front() == '"' || word.front() == '\'')) {
        word.remove_prefix(1);
      }
      word = word.substr(0, word.find_first_of("\"';"));
      if (word.starts_with('/') && name_of(word) == tool) {
        result = word;
      }
    }
  }
  return result;
}

} // namespace

int launch_arguments(const RootView& view, const std::string& include) {
  const auto text = view.read(join_path(include, "crt/host_runtime.h"), k_header_bytes);
  if (!text) {
    return 0;
  }
  constexpr std::string_view marker = "#define __cudaLaunch(";
  const auto at = text->find(marker);
  const auto end = at == std::string::npos ? at : text->find(')', at);
  if (end == std::string::npos) {
    return 0;
  }
  return 1 + static_cast<int>(std::count(text->begin() + static_cast<std::ptrdiff_t>(at),
                                         text->begin() + static_cast<std::ptrdiff_t>(end), ','));
}

std::optional<Tool> scan_tool(const RootView& view, const std::string& path, bool reads_version) {
  const auto entry = view.find(path);
  if (!entry || !entry->is_regular) {
    return std::nullopt;
  }
  Tool tool{.path = path, .real = entry->real, .is_link = view.is_link(path)};
  if (!reads_version) {
    return tool;
  }
  const auto head = view.head(path, 4);
  if (head == "\x7f"
              "ELF") {
    tool.version =
        release_in("release " + text_after(view, path, "Cuda compilation tools, release "));
  } else if (head.starts_with("#!")) {
    const auto script = view.head(path, k_script_bytes);
    tool.version = release_in(script);
    tool.wraps = wrapped_program(script, name_of(path));
    if (!tool.wraps.empty() && tool.wraps != entry->real) {
      if (const auto inner = view.find(tool.wraps); inner && inner->real != entry->real) {
        if (tool.version.empty()) {
          tool.version = release_in(
              "release " + text_after(view, tool.wraps, "Cuda compilation tools, release "));
        }
      }
    } else {
      tool.wraps.clear();
    }
  }
  return tool;
}

bool is_cuda_library(std::string_view name) {
  if (!name.starts_with("lib") ||
      (name.find(".so") == std::string_view::npos && !name.ends_with(".a"))) {
    return false;
  }
  static constexpr std::array known = {
      "libcudart",   "libcudadevrt", "libculibos",      "libnvrtc",  "libnvJitLink",
      "libnvvm",     "libcublas",    "libcufft",        "libcurand", "libcusolver",
      "libcusparse", "libcuda.so",   "libnvptxcompiler"};
  return std::any_of(known.begin(), known.end(),
                     [&](const char* prefix) { return name.starts_with(prefix); });
}

std::optional<Toolkit> scan_toolkit(const RootView& view, const Candidate& candidate) {
  const auto root = view.find(candidate.root);
  if (!root || !root->is_folder) {
    return std::nullopt;
  }
  Toolkit kit{.root = candidate.root,
              .real = root->real,
              .found_by = {candidate.found_by},
              .environment = candidate.environment};
  for (const auto& place : tool_places()) {
    for (const auto path : place.paths) {
      if (auto tool = scan_tool(view, join_path(kit.root, path), candidate.reads_programs)) {
        kit.tools.emplace(place.name, *std::move(tool));
        break;
      }
    }
  }
  scan_cudart(view, kit);
  if (!kit.include.empty()) {
    scan_headers(view, kit);
    scan_cccl(view, kit);
    scan_crt(view, kit);
  }
  if (kit.tools.empty() && kit.include.empty() && kit.root == "/usr") {
    return std::nullopt;
  }
  scan_libraries(view, kit);
  if (kit.tools.empty() && kit.include.empty() && kit.libraries.empty()) {
    return std::nullopt;
  }
  if (const auto link =
          kit.libraries.find(fmt::format("libnvJitLink.so.{}", kit.cudart.substr(0, 2)));
      link != kit.libraries.end() && candidate.reads_programs) {
    kit.nvjitlink = read_elf_facts(view, link->second, true).newest_symbol;
  }
  scan_profile(view, kit);
  for (const char* folder : {"nvvm/libdevice", "lib/libdevice", "nvvm-prev/libdevice"}) {
    const auto path = join_path(kit.root, join_path(folder, "libdevice.10.bc"));
    if (kit.libdevice.empty() && view.is_file(path)) {
      kit.libdevice = path;
    }
  }
  kit.release = release_of(view, kit.root);
  kit.tree_id = tree_id_of(view, kit.root);
  return kit;
}

} // namespace cukit::survey

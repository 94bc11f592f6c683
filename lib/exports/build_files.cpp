#include "exports/build_files.hpp"

#include "base/strings.hpp"
#include "exports/quoting.hpp"
#include "model/shell_quote.hpp"
#include "model/tree_layout.hpp"
#include "text/json.hpp"

#include <algorithm>

namespace cukit::exports {

namespace {

using Files = std::map<std::string, std::string>;

constexpr const char* k_toolchain = "cukit-toolchain.cmake";

tl::unexpected<Error> cannot_hold(const BuildFilesRequest& request, std::string_view who,
                                  std::string_view what) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::usage,
            .message = fmt::format("a file for {} cannot hold {} in a path", who, what),
            .where = request.tree.string(),
            .hint = "a toolkit can be moved: rename the folder, or point CUKIT_HOME at another"});
}

Result<void> refuse(const BuildFilesRequest& request, std::string_view who,
                    std::string_view characters, std::string_view what) {
  const bool has_one = request.tree.string().find_first_of(characters) != std::string::npos ||
                       request.host_compiler.find_first_of(characters) != std::string::npos;
  return has_one ? Result<void>(cannot_hold(request, who, what)) : Result<void>();
}

/// Numbers alone, each once: "90;120".
std::string architectures(const std::vector<GpuTarget>& gpus, const char* separator,
                          const std::string& prefix) {
  std::vector<std::string> list;
  for (const auto& gpu : gpus) {
    auto text = fmt::format("{}{}{}", prefix, gpu.major, gpu.minor);
    if (std::find(list.begin(), list.end(), text) == list.end()) {
      list.push_back(std::move(text));
    }
  }
  return join(list, separator);
}

Result<Files> cmake_files(const BuildFilesRequest& request) {
  CUKIT_TRY(refuse(request, "CMake", ";", "a semicolon, at which its lists are parted,"));
  const auto quoted = [](const std::string& text) { return quoted_twice(text, "\\\"$"); };
  const auto nvcc = (request.tree / layout::k_nvcc).string();
  auto toolchain = fmt::format("# {}\n"
                               "set(CMAKE_CUDA_COMPILER {})\n"
                               "set(CUDAToolkit_ROOT {})\n",
                               request.title, quoted(nvcc), quoted(request.tree.string()));
  if (!request.host_compiler.empty()) {
    toolchain += fmt::format("set(CMAKE_CUDA_HOST_COMPILER {})\n", quoted(request.host_compiler));
  }
  if (!request.gpus.empty()) {
    toolchain += fmt::format("if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)\n"
                             "  set(CMAKE_CUDA_ARCHITECTURES \"{}\")\n"
                             "endif()\n",
                             architectures(request.gpus, ";", ""));
  }
  const auto preset =
      text::Json::object()
          .set("version", 4)
          .set("configurePresets",
               text::Json::list().add(
                   text::Json::object()
                       .set("name", "cukit")
                       .set("displayName", request.title)
                       .set("binaryDir", "${sourceDir}/build/cukit")
                       .set("toolchainFile", "${fileDir}/" + std::string(k_toolchain))))
          .set("buildPresets",
               text::Json::list().add(
                   text::Json::object().set("name", "cukit").set("configurePreset", "cukit")));
  return Files{{k_toolchain, toolchain}, {"cukit-presets.json", preset.dump() + "\n"}};
}

/// Meson's dependency('cuda') asks CUDA_PATH alone where the toolkit is, before /usr/local/cuda: no
/// native file can say it.
Result<Files> meson_files(const BuildFilesRequest& request) {
  const auto quoted = [](const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
      result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    return result + "'";
  };
  auto text = fmt::format("# {}\n# dependency('cuda') needs CUDA_PATH too\n"
                          "[binaries]\ncuda = {}\n",
                          request.title, quoted((request.tree / layout::k_nvcc).string()));
  if (!request.host_compiler.empty()) {
    text +=
        fmt::format("\n[built-in options]\ncuda_ccbindir = {}\n", quoted(request.host_compiler));
  }
  return Files{{"cukit-native.ini", text}};
}

/// rules_ml_toolchain (XLA, JAX, TensorFlow) takes a local toolkit by LOCAL_CUDA_PATH.
Result<Files> bazel_files(const BuildFilesRequest& request) {
  const auto quoted = [](const std::string& text) { return quoted_twice(text, "\\\""); };
  auto text = fmt::format("# {}\n", request.title);
  for (const char* name : {"LOCAL_CUDA_PATH", "CUDA_PATH"}) { // the second for rules_cuda
    text += fmt::format("common --repo_env={}\n",
                        quoted(std::string(name) + "=" + request.tree.string()));
  }
  if (!request.gpus.empty()) {
    text += fmt::format("common --repo_env=HERMETIC_CUDA_COMPUTE_CAPABILITIES={}\n",
                        architectures(request.gpus, ",", "sm_"));
  }
  return Files{{"cukit.bazelrc", text}};
}

Result<Files> pkg_config_files(const BuildFilesRequest& request) {
  CUKIT_TRY(refuse(request, "pkg-config", "$\"'`\\#", "a quote, a backslash, $ or #"));
  std::string prefix;
  for (const char c : request.tree.string()) {
    prefix += c == ' ' ? std::string("\\ ") : std::string(1, c);
  }
  CUKIT_TRY_ASSIGN(auto names, list_directory(request.tree / "lib"));
  if (path_exists(request.tree / "lib/stubs/libcuda.so")) {
    names.emplace_back("libcuda.so");
  }
  Files files;
  for (const auto& name : names) {
    if (!name.starts_with("lib") || !name.ends_with(".so")) {
      continue;
    }
    const auto library = name.substr(3, name.size() - 6);
    const auto* folder = library == "cuda" ? "lib/stubs" : "lib";
    files[library + ".pc"] =
        fmt::format("# {}\nprefix={}\n\nName: {}\nDescription: {} of NVIDIA's CUDA {}\n"
                    "Version: {}\nCflags: -I${{prefix}}/include -I${{prefix}}/include/cccl\n"
                    "Libs: -L${{prefix}}/{} -l{}\n",
                    request.title, prefix, library, name, request.release.text(),
                    request.release.text(), folder, library);
  }
  return files;
}

} // namespace

std::optional<BuildSystem> parse_build_system(std::string_view name) {
  if (name == "cmake") {
    return BuildSystem::cmake;
  }
  if (name == "meson") {
    return BuildSystem::meson;
  }
  if (name == "bazel") {
    return BuildSystem::bazel;
  }
  return name == "pkg-config" ? std::optional(BuildSystem::pkg_config) : std::nullopt;
}

Result<Files> build_files(const BuildFilesRequest& request, BuildSystem system) {
  CUKIT_TRY(refuse(request, "a build system", "\r\n", "a line end"));
  switch (system) {
  case BuildSystem::cmake:
    return cmake_files(request);
  case BuildSystem::meson:
    return meson_files(request);
  case BuildSystem::bazel:
    return bazel_files(request);
  case BuildSystem::pkg_config:
    break;
  }
  return pkg_config_files(request);
}

std::string how_to_use(BuildSystem system, const fs::path& tree, const fs::path& folder) {
  const auto quoted = single_quoted(folder.string());
  switch (system) {
  case BuildSystem::cmake:
    return fmt::format("cmake --toolchain {}/{} ..., or include cukit-presets.json in "
                       "CMakePresets.json and say --preset cukit",
                       quoted, k_toolchain);
  case BuildSystem::meson:
    return fmt::format("CUDA_PATH={} meson setup --native-file {}/cukit-native.ini ...",
                       single_quoted(tree.string()), quoted);
  case BuildSystem::bazel:
    return fmt::format("try-import {}/cukit.bazelrc, in .bazelrc", folder.string());
  case BuildSystem::pkg_config:
    break;
  }
  return fmt::format("PKG_CONFIG_PATH={} pkg-config --cflags --libs cudart", quoted);
}

} // namespace cukit::exports

// The system around the toolkits: C library, host compilers, the folders of LD_LIBRARY_PATH.
#include "base/strings.hpp"
#include "machine/machine.hpp"
#include "survey/elf_facts.hpp"
#include "survey/loader.hpp"
#include "survey/scan.hpp"

#include <algorithm>

namespace cukit::survey {

namespace {

constexpr std::size_t k_compilers = 256;

std::string digits_and_dots(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find_first_not_of("0123456789."), text.size())));
}

std::string glibc_of(const RootView& view) {
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
                           "/lib/aarch64-linux-gnu/libc.so.6", "/usr/lib/libc.so.6"}) {
    if (const auto entry = view.find(path); entry && entry->is_regular) {
      auto text = digits_and_dots(text_after(view, path, "stable release version "));
      while (text.ends_with('.')) {
        text.pop_back();
      }
      return text;
    }
  }
  return {};
}

void scan_libm(const RootView& view, Snapshot& snapshot) {
  for (const char* folder : {"/usr/include/x86_64-linux-gnu/bits", "/usr/include/bits",
                             "/usr/include/aarch64-linux-gnu/bits"}) {
    if (const auto text = view.read(join_path(folder, "mathcalls.h"), 1U << 20U)) {
      snapshot.libm_has_cospi = text->find("(cospi") != std::string::npos;
      snapshot.libm_has_rsqrt = text->find("(rsqrt") != std::string::npos;
      return;
    }
  }
}

bool is_wrapper(std::string_view name) {
  return name == "ccache" || name == "distcc" || name == "sccache" || name == "icecc";
}

/// "12" of g++-12 or x86_64-linux-gnu-g++-12
std::string version_in_name(std::string_view name) {
  const auto dash = name.rfind('-');
  auto version =
      dash == std::string_view::npos ? std::string() : digits_and_dots(name.substr(dash + 1));
  return dash != std::string_view::npos && version.size() == name.size() - dash - 1 ? version
                                                                                    : std::string();
}

/// The newest folder name below PREFIX/lib/gcc/TRIPLE/: what the one gcc of a prefix is.
std::string version_beside(const RootView& view, const std::string& real) {
  const auto prefix = parent_of(parent_of(real));
  std::string best;
  for (const char* lib : {"lib/gcc", "libexec/gcc", "lib64/gcc"}) {
    const auto folder = join_path(prefix, lib);
    for (const auto& triple : view.list(folder)) {
      for (const auto& version : view.list(join_path(folder, triple))) {
        const auto parsed = Version::parse(version);
        if (parsed && digits_and_dots(version) == version &&
            (best.empty() || Version::parse(best).value_or(Version()) < *parsed)) {
          best = version;
        }
      }
    }
  }
  return best;
}

/// A script that answers --version by itself: "g++ (GCC) 15.1.0"
std::string version_in_script(std::string_view text) {
  for (const std::string_view marker : {") ", "clang version ", "version "}) {
    for (auto at = text.find(marker); at != std::string_view::npos;
         at = text.find(marker, at + 1)) {
      auto version = digits_and_dots(text.substr(at + marker.size()));
      if (version.find('.') != std::string::npos && version.size() > 2) {
        return version;
      }
    }
  }
  return {};
}

std::optional<HostCompiler> scan_compiler(const RootView& view, const std::string& path,
                                          const std::string& kind) {
  const auto entry = view.find(path);
  if (!entry || !entry->is_executable || is_wrapper(name_of(entry->real))) {
    return std::nullopt;
  }
  HostCompiler result{.path = path, .real = entry->real, .kind = kind, .version = {}};
  const auto head = view.head(path, 8192);
  if (head.starts_with("#!")) {
    result.version = version_in_script(head);
  }
  if (result.version.empty()) {
    result.version = version_in_name(name_of(entry->real));
  }
  if (result.version.empty() && kind == "clang") {
    // /usr/lib/llvm-14/bin/clang
    for (const auto part : split(entry->real, '/')) {
      if (part.starts_with("llvm-")) {
        result.version = digits_and_dots(part.substr(5));
      }
    }
  }
  if (result.version.empty() && kind == "gcc") {
    result.version = version_beside(view, entry->real);
  }
  return result;
}

/// os-release(5): NAME=VALUE, perhaps in quotes. An image may have it in /usr/lib alone.
void scan_release(const RootView& view, Snapshot& snapshot) {
  auto release = view.head("/etc/os-release", 4096);
  if (release.empty()) {
    release = view.head("/usr/lib/os-release", 4096);
  }
  std::string likes;
  for (const auto line : split(release, '\n')) {
    const auto equals = std::min(line.find('='), line.size());
    auto value = trim(line.substr(std::min(equals + 1, line.size())));
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
      value = value.substr(1, value.size() - 2);
    }
    const auto name = line.substr(0, equals);
    if (name == "PRETTY_NAME") {
      snapshot.os = printable(value);
    } else if (name == "ID") {
      snapshot.os_ids.insert(snapshot.os_ids.begin(), printable(value));
    } else if (name == "ID_LIKE") {
      likes = printable(value);
    }
  }
  for (const auto like : split_words(likes)) {
    snapshot.os_ids.emplace_back(like);
  }
}

} // namespace

void scan_system(const RootView& view, Snapshot& snapshot) {
  snapshot.glibc = glibc_of(view);
  scan_libm(view, snapshot);
  scan_release(view, snapshot);
  const auto read = [&](const std::string& path, std::uint64_t limit) {
    return view.read(path, limit);
  };
  if (const auto driver = machine::module_version(read)) {
    snapshot.driver = machine::driver_text(*driver);
  }
  for (const auto& gpu : view.list("/proc/driver/nvidia/gpus")) {
    const auto text = view.head("/proc/driver/nvidia/gpus/" + gpu + "/information", 4096);
    for (const auto line : split(text, '\n')) {
      if (line.starts_with("Model:")) {
        snapshot.gpus.push_back({.name = printable(trim(line.substr(6))), .target = {}});
      }
    }
  }
}

std::vector<HostCompiler> scan_compilers(const RootView& view, const Environment& environment) {
  std::vector<HostCompiler> result;
  const auto add = [&](const std::string& path, const std::string& kind) {
    auto compiler = scan_compiler(view, path, kind);
    const bool is_known =
        compiler && std::any_of(result.begin(), result.end(), [&](const auto& known) {
          return known.real == compiler->real && known.kind == compiler->kind;
        });
    if (compiler && !is_known && result.size() < k_compilers) {
      result.push_back(*std::move(compiler));
    }
  };
  for (const auto& folder : path_folders(environment, "PATH")) {
    for (const auto& [name, kind] : {std::pair{"g++", "gcc"}, std::pair{"clang++", "clang"}}) {
      add(join_path(folder, name), kind);
    }
    // others that -ccbin could name
    for (int version = 9; version <= 20; ++version) {
      add(join_path(folder, fmt::format("g++-{}", version)), "gcc");
    }
  }
  // named by a variable, perhaps outside of PATH; nvcc wants the C++ compiler of the pair
  for (const char* name : {"NVCC_CCBIN", "CUDAHOSTCXX", "CC"}) {
    const auto value = environment.get(name).value_or("");
    std::string base(name_of(value));
    const bool is_clang = base.find("clang") != std::string::npos;
    if (!value.starts_with('/')) {
      continue;
    }
    if (!is_clang && base.starts_with("gcc")) {
      base.replace(0, 3, "g++");
    }
    add(join_path(parent_of(value), base), is_clang ? "clang" : "gcc");
  }
  return result;
}

std::map<std::string, std::string> scan_system_libraries(const RootView& view,
                                                         const Loader& loader) {
  std::map<std::string, std::string> result;
  for (const auto& [folder, led_by] : loader.folders()) { // the first of a name is the one it takes
    for (const auto& name : view.list(folder)) {
      if (is_cuda_library(name)) {
        result.emplace(name, join_path(folder, name));
      }
    }
  }
  return result;
}

std::vector<LibraryFolder> scan_library_path(const RootView& view, const Environment& environment) {
  std::vector<LibraryFolder> result;
  for (const auto& folder : path_folders(environment, "LD_LIBRARY_PATH")) {
    LibraryFolder found{.path = folder};
    for (const auto& name : view.list(folder)) {
      const auto entry = is_cuda_library(name) && name.find(".so.") != std::string::npos
                             ? view.find(join_path(folder, name))
                             : std::nullopt;
      if (!entry) {
        continue;
      }
      found.libraries.emplace(name, entry->real);
      if (name.starts_with("libnvJitLink.so.") && found.nvjitlink.empty()) {
        found.nvjitlink = read_elf_facts(view, join_path(folder, name), true).newest_symbol;
      }
    }
    if (!found.libraries.empty()) {
      result.push_back(std::move(found));
    }
  }
  return result;
}

} // namespace cukit::survey

#include "machine/compiler.hpp"

#include "base/child.hpp"
#include "base/random_access.hpp"
#include "base/sha256.hpp"
#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "machine/machine.hpp"

#include <algorithm>
#include <array>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::machine {

namespace {

constexpr auto k_time_limit = std::chrono::seconds(20);
constexpr std::uint64_t k_end_bytes = 64U << 10U;

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// A wrapper such as ccache is no compiler: it needs a home and settings, which nvcc's environment
/// here does not have.
bool is_wrapper(const fs::path& path) {
  std::error_code error;
  const auto name = fs::canonical(path, error).filename();
  return !error && (name == "ccache" || name == "distcc" || name == "icecc" || name == "sccache");
}

std::string find_on_path(const Environment& environment, const std::string& name) {
  const std::string path = environment.get("PATH").value_or("");
  for (const auto folder : split(path, ':')) {
    const fs::path candidate = fs::path(folder) / name;
    if (folder.starts_with('/') && is_program(candidate) && !is_wrapper(candidate)) {
      return candidate.string();
    }
  }
  return {};
}

/// The compiler that a wrapper of its name leads to; the path itself when it is none, or leads to
/// nothing.
std::string behind_wrapper(const Environment& environment, const fs::path& path) {
  const auto real =
      is_wrapper(path) ? find_on_path(environment, path.filename().string()) : std::string();
  return real.empty() ? path.string() : real;
}

/// gcc-13 -> g++-13, clang -> clang++: nvcc compiles and links C++.
std::string cxx_name(const std::string& name) {
  for (const auto& [c, cxx] : {std::pair{"gcc", "g++"}, std::pair{"clang", "clang++"}}) {
    const std::string_view prefix = c;
    if (name == prefix || name.starts_with(std::string(prefix) + "-")) {
      return cxx + name.substr(prefix.size());
    }
  }
  return name;
}

Result<std::string> locate(const Environment& environment, const std::string& wanted,
                           std::string_view origin) {
  if (wanted.find('/') == std::string::npos) {
    auto found = find_on_path(environment, cxx_name(wanted));
    if (found.empty()) {
      return fail(ErrorCode::host, "the host compiler `{}` ({}) is not on PATH", printable(wanted),
                  origin);
    }
    return found;
  }
  CUKIT_TRY_ASSIGN(const auto path, absolute_path(wanted));
  std::error_code error;
  if (fs::is_directory(path, error)) { // nvcc takes a folder too
    for (const char* name : {"g++", "clang++"}) {
      if (is_program(path / name)) {
        return behind_wrapper(environment, path / name);
      }
    }
  } else if (is_program(path)) {
    return behind_wrapper(environment, path);
  }
  return fail(ErrorCode::host, "the host compiler `{}` ({}) is no program", printable(wanted),
              origin);
}

Result<std::string> ask(const std::string& path, std::vector<std::string> arguments,
                        const Environment& environment, const std::stop_token& stop) {
  arguments.insert(arguments.begin(), path);
  Environment clean;
  clean.set("PATH", environment.get("PATH").value_or("/usr/bin:/bin"));
  clean.set("LANG", "C");
  CUKIT_TRY_ASSIGN(
      auto finished,
      run_command({.arguments = arguments, .environment = clean, .time_limit = k_time_limit},
                  stop));
  if (finished.timed_out || finished.exit_code != 0) {
    return fail(ErrorCode::host, "the host compiler `{}` does not answer `{}`", path,
                join(arguments, " "));
  }
  return finished.output;
}

std::string kind_of(std::string_view banner) {
  if (banner.find("clang version") != std::string_view::npos) {
    return "clang";
  }
  const bool gnu = banner.find("Free Software Foundation") != std::string_view::npos;
  return gnu ? "gcc" : "";
}

} // namespace

Result<std::string> find_host_compiler(const Environment& environment, const std::string& wanted) {
  if (!wanted.empty()) {
    return locate(environment, wanted, "as asked for");
  }
  if (const auto variable = environment.get("NVCC_CCBIN")) {
    return locate(environment, *variable, "from NVCC_CCBIN");
  }
  for (const char* name : {"g++", "clang++"}) {
    if (auto found = find_on_path(environment, name); !found.empty()) {
      return found;
    }
  }
  auto error = Error{.code = ErrorCode::host,
                     .message = "there is no host compiler: neither g++ nor clang++ is on PATH"};
  error.hint = "install one (Debian and Ubuntu: apt-get install g++), or name one in the manifest: "
               "host: {compiler: PATH}";
  return tl::unexpected<Error>(std::move(error));
}

std::string host_compiler_identity(const Environment& environment, const std::string& wanted) {
  const auto path = find_host_compiler(environment, wanted);
  std::error_code error;
  const auto real = path ? fs::canonical(*path, error) : fs::path();
  const auto file = open_local_file(real);
  struct stat info {};
  if (!path || error || !file || ::stat(real.c_str(), &info) != 0) {
    return "none";
  }
  std::vector<std::uint8_t> bytes(std::min<std::uint64_t>((*file)->size(), k_end_bytes));
  Sha256Stream ends;
  for (const auto offset : {std::uint64_t{0}, (*file)->size() - bytes.size()}) {
    if (!(*file)->read_at(offset, bytes)) {
      return "none";
    }
    ends.update(bytes);
  }
  return fmt::format("{} {} {} {}", real.string(), info.st_size, info.st_mtime,
                     ends.finish().hex());
}

Result<Compiler> host_compiler(const Environment& environment, const std::string& wanted,
                               const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(auto path, find_host_compiler(environment, wanted));
  CUKIT_TRY_ASSIGN(const auto banner, ask(path, {"--version"}, environment, stop));
  const std::string kind = kind_of(banner);
  if (kind.empty()) {
    return fail(ErrorCode::host, "`{}` is neither gcc nor clang: it says `{}`", path,
                printable(split(banner, '\n').front().substr(0, 200)));
  }
  // gcc prints the major number alone for -dumpversion on many distributions; clang prints all of
  // it and prints it in full
  const std::vector<std::string> question =
      kind == "gcc" ? std::vector<std::string>{"-dumpfullversion", "-dumpversion"}
                    : std::vector<std::string>{"-dumpversion"};
  CUKIT_TRY_ASSIGN(const auto answer, ask(path, question, environment, stop));
  auto version = Version::parse(trim(split(trim(answer), '\n').front()));
  if (!version) {
    return fail(ErrorCode::host, "`{}` names no version of its own: `{}`", path,
                printable(trim(answer).substr(0, 100)));
  }
  return Compiler{.path = std::move(path), .kind = kind, .version = *std::move(version)};
}

} // namespace cukit::machine

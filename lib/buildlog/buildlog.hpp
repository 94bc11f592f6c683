// What a build printed, as facts: the lines that say a failure, the compile and link commands, the
// versions that tools told of themselves, and whether the build failed in the end. The grammar is
// that of the tools; nothing here knows a cause. Pure: reads no file but the one it is given.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::buildlog {

/// What a failure is about.
enum class Thing {
  header,
  tool,
  library,
  symbol, ///< a function, type or member: of a linker, the loader, a compiler
  option,
  target,  ///< sm_90, compute_120f, 9.0+PTX, native
  version, ///< something is there, in another version than the one that is asked for
  module,  ///< of Python, or a name in one
  package, ///< of CMake, pkg-config, pip, conda, apt
  cmake_target,
  host_compiler, ///< gcc or clang, by its version
  file,
  memory,
  disk,
  permission,
  network,
  certificate,
  digest,
  key,    ///< that signs a package repository
  driver, ///< NVML's words
  cuda,   ///< an error of the CUDA API; name is its number
  code,   ///< a compiler's complaint about a source
  other
};

enum class State {
  missing,
  unknown,
  incompatible,
  duplicate,
  killed,
  exhausted, ///< out of space, out of memory
  refused,
  failed
};

struct Failure {
  std::size_t line = 0;  ///< from 1
  std::string tool = {}; ///< gcc, nvcc, ptxas, ld, CMake, Python, sh ...; empty: not told
  Thing thing = Thing::other;
  State state = State::failed;
  std::string name = {};   ///< cufft.h, -lcudart, libfoo.so.1, sm_70, the option
  std::string demand = {}; ///< the version or scope that is asked for; the option of a value
  std::string have = {};   ///< the version that is there
  std::string file = {};   ///< the source, object or library that it is about
  std::string text = {};   ///< the line, printable, shortened
  std::size_t count = 1;
  std::size_t command = 0;    ///< from 1, into Facts::commands; 0: not known
  bool is_superseded = false; ///< a success came later that makes it a probe or a retry
};

/// A compile or link command. Paths as they stood.
struct Command {
  std::size_t line = 0;
  std::string program = {};
  std::string launcher = {};                     ///< ccache, sccache ...
  std::string directory = {};                    ///< of `cd X &&`
  std::vector<std::string> includes = {};        ///< -I
  std::vector<std::string> system_includes = {}; ///< -isystem, -idirafter
  std::vector<std::string> library_folders = {}; ///< -L
  std::vector<std::string> libraries = {};       ///< -l, and libraries by path
  std::vector<std::string> targets = {};         ///< sm_90, compute_120, native, as they stood
  std::vector<std::string> inputs = {};
  std::vector<std::string> response_files = {}; ///< @file, --options-file
  std::string host_compiler = {};               ///< -ccbin
  std::string cuda_path = {};                   ///< --cuda-path
  std::string standard = {};                    ///< -std
  std::string output = {};
  std::string threads = {}; ///< nvcc --threads
  std::string text = {};    ///< shortened, printable
};

/// VersionLine::what of the folder in which CMake keeps its answers.
inline constexpr const char* k_build_folder = "CMake's build folder";

/// What a tool said of a version.
struct VersionLine {
  std::size_t line = 0;
  std::string what = {};    ///< CUDA compiler, CUDA toolkit, CXX compiler, nvcc, torch ...
  std::string version = {}; ///< may be empty where only a path was told
  std::string path = {};    ///< may be empty
};

/// A list of GPU targets that a variable or a definition gave, as the log shows it.
struct TargetList {
  std::size_t line = 0;
  std::string variable = {};
  std::string value = {};
};

/// A literal text with {} for anything in between, looked for in every line.
struct Phrase {
  std::vector<std::string> pieces = {};
};
struct PhraseHit {
  std::size_t phrase = 0; ///< index
  std::size_t line = 0;
  std::string text = {};
  std::vector<std::string> captures = {};
  std::size_t count = 1;
};

struct Facts {
  std::size_t lines = 0;
  std::uint64_t bytes = 0;
  bool is_failed = false;             ///< the build failed in the end
  std::size_t first = SIZE_MAX;       ///< index of the first failure that counts; SIZE_MAX: none
  std::vector<Failure> failures = {}; ///< in the log's order, equal ones once
  std::vector<Failure> endings = {};  ///< how the build says that it failed: make ***, FAILED:
  std::vector<Command> commands = {}; ///< those that differ in what they search, and the failing
  std::vector<VersionLine> versions = {};
  std::vector<TargetList> target_lists = {};
  std::vector<PhraseHit> phrases = {};     ///< a line is one phrase, the first that fits
  std::vector<std::string> packages = {};  ///< that pip or uv could not build
  std::vector<std::string> variables = {}; ///< of CUDA, that failing lines name: CUDA_ROOT
  std::string cccl_namespace = {};         ///< 3.3.2 of cub::_V_300302_SM_890
  bool is_isolated_build = false;          ///< paths of a build environment of pip or uv
};

std::string_view text_of(Thing thing);
std::string_view text_of(State state);

/// Reads a log piece by piece. One pass; memory does not depend on the log's size; a line of any
/// length is cut in its middle.
class Reader {
public:
  explicit Reader(std::vector<Phrase> phrases = {});
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  void feed(std::string_view piece);
  Facts finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

Facts read(std::string_view log, std::vector<Phrase> phrases = {});
/// Reads a file, a pipe or a device ("-": standard input) to its end. A stop ends it with code
/// interrupted.
Result<Facts> read_file(const std::string& path, std::vector<Phrase> phrases,
                        const std::stop_token& stop);

/// An error of the CUDA runtime and driver, of the official list.
struct CudaError {
  int number = 0;
  const char* runtime = nullptr; ///< cudaErrorNoDevice
  const char* driver = nullptr;  ///< CUDA_ERROR_NO_DEVICE; nullptr: the driver has none
  const char* text = nullptr;
};
const CudaError* cuda_error(int number);
/// By either name; nullptr: no such error.
const CudaError* cuda_error(std::string_view name);
const CudaError* cuda_error_of_text(std::string_view text);

} // namespace cukit::buildlog

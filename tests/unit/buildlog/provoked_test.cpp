// Failures that the tools of this machine are made to print, over names that nobody has written
// down: what the grammar reads out of them is compared with what was provoked. The seed is fixed;
// CUKIT_TEST_SEED gives another, and CUKIT_TEST_NAMES more names. Tools that are not here are named
// and left out.
#include "base/child.hpp"
#include "base/files.hpp"
#include "buildlog/buildlog.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

namespace cukit::buildlog {
namespace {

using enum Thing;

struct Provocation {
  const char* tool;    ///< the program that has to be here
  const char* command; ///< for bash; NAME stands for the name
  Thing thing;
  State state;
  const char* name; ///< as the log has it
};

const Provocation k_provocations[] = {
    // host compilers
    {"g++", "g++ -c h.cpp", header, State::missing, "NAME/NAME.h"},
    {"g++", "g++ -c s.cpp", symbol, State::unknown, "NAME"},
    {"g++", "g++ -c n.cpp", symbol, State::unknown, "NAME"},
    {"g++", "g++ -c --NAME d.cpp", option, State::unknown, "--NAME"},
    {"g++", "g++ -c -std=NAME d.cpp", option, State::unknown, "-std=NAME"},
    {"g++", "g++ -c NAME.cpp", file, State::missing, "NAME.cpp"},
    {"g++", "g++ u.cpp -o u", symbol, State::missing, "NAME(int)"},
    {"g++", "g++ -c d.cpp -o /NAME/d.o", file, State::missing, "/NAME/d.o"},
    {"clang++", "clang++ -c h.cpp", header, State::missing, "NAME/NAME.h"},
    {"clang++", "clang++ -c s.cpp", symbol, State::unknown, "NAME"},
    {"clang++", "clang++ -c n.cpp", symbol, State::unknown, "NAME"},
    {"clang++", "clang++ -c -NAME d.cpp", option, State::unknown, "-NAME"},
    {"clang++", "clang++ -c -std=NAME d.cpp", option, State::unknown, "NAME"},
    {"clang++", "clang++ -c NAME.cpp", file, State::missing, "NAME.cpp"},
    // linkers
    {"ld.bfd", "g++ -fuse-ld=bfd u.cpp", symbol, State::missing, "NAME(int)"},
    {"ld.bfd", "g++ -fuse-ld=bfd d.cpp d2.cpp", symbol, State::duplicate, "NAME(int)"},
    {"ld.bfd", "g++ -fuse-ld=bfd d2.cpp -lNAME", library, State::missing, "-lNAME"},
    {"ld.bfd", "g++ -fuse-ld=bfd d2.cpp /no/libNAME.so.3", library, State::missing,
     "/no/libNAME.so.3"},
    {"ld.bfd", "g++ -fuse-ld=bfd d2.cpp -Wl,--NAME", option, State::unknown, "--NAME"},
    {"ld.gold", "g++ -fuse-ld=gold u.cpp", symbol, State::missing, "NAME(int)"},
    {"ld.gold", "g++ -fuse-ld=gold d.cpp d2.cpp", symbol, State::duplicate, "NAME(int)"},
    {"ld.gold", "g++ -fuse-ld=gold d2.cpp -lNAME", library, State::missing, "-lNAME"},
    {"ld.gold", "g++ -fuse-ld=gold d2.cpp -Wl,--NAME", option, State::unknown, "--NAME"},
    {"ld.lld", "g++ -fuse-ld=lld u.cpp", symbol, State::missing, "NAME(int)"},
    {"ld.lld", "g++ -fuse-ld=lld d.cpp d2.cpp", symbol, State::duplicate, "NAME(int)"},
    {"ld.lld", "g++ -fuse-ld=lld d2.cpp -lNAME", library, State::missing, "-lNAME"},
    {"ld.lld", "g++ -fuse-ld=lld d2.cpp -Wl,--NAME", option, State::unknown, "--NAME"},
    {"mold", "g++ -fuse-ld=mold u.cpp", symbol, State::missing, "NAME(int)"},
    {"mold", "g++ -fuse-ld=mold d.cpp d2.cpp", symbol, State::duplicate, "NAME(int)"},
    {"mold", "g++ -fuse-ld=mold d2.cpp -lNAME", library, State::missing, "-lNAME"},
    {"mold", "g++ -fuse-ld=mold d2.cpp -Wl,--NAME", option, State::unknown, "--NAME"},
    // CUDA's compiler and its parts
    {"nvcc", "nvcc -c h.cu", header, State::missing, "NAME/NAME.h"},
    {"nvcc", "nvcc -c s.cu", symbol, State::unknown, "NAME"},
    {"nvcc", "nvcc -c n.cu", symbol, State::unknown, "NAME"},
    {"nvcc", "nvcc --NAME -c d.cu", option, State::unknown, "--NAME"},
    {"nvcc", "nvcc -std=NAME -c d.cu", option, State::unknown, "NAME"},
    {"nvcc", "nvcc -ccbin NAME-gcc-91 -c d.cu", tool, State::missing, "NAME-gcc-91"},
    {"nvcc", "nvcc --threads NAME -c d.cu", option, State::unknown, "NAME"},
    {"nvcc", "nvcc -gencode arch=compute_70NAME,code=sm_70NAME -c d.cu", target, State::unknown,
     "compute_70NAME"},
    {"nvcc", "nvcc -Xptxas --NAME -c k.cu", option, State::unknown, "-NAME"},
    {"ptxas", "ptxas -arch=sm_NAME k.ptx", target, State::unknown, "sm_NAME"},
    {"ptxas", "ptxas --NAME k.ptx", option, State::unknown, "-NAME"},
    {"ptxas", "ptxas NAME.ptx", file, State::missing, "NAME.ptx"},
    {"ptxas", "ptxas -arch=sm_90 e.ptx", symbol, State::missing, "NAME"},
    {"nvlink", "nvlink --NAME", option, State::unknown, "-NAME"},
    // shells and what starts programs
    {"bash", "bash -c NAME", tool, State::missing, "NAME"},
    {"bash", "bash -c /no/NAME", tool, State::missing, "/no/NAME"},
    {"bash", "bash run.sh", tool, State::missing, "NAME"},
    {"dash", "dash -c NAME", tool, State::missing, "NAME"},
    {"dash", "dash run.sh", tool, State::missing, "NAME"},
    {"sh", "sh -c 'exec NAME'", tool, State::missing, "NAME"},
    {"env", "env NAME", tool, State::missing, "NAME"},
    {"timeout", "timeout 9 NAME", tool, State::missing, "NAME"},
    {"nice", "nice NAME", tool, State::missing, "NAME"},
    {"xargs", "xargs NAME </dev/null", tool, State::missing, "NAME"},
    // make and ninja
    {"make", "make -f program.mk", tool, State::missing, "NAME"},
    {"make", "make -f library.mk", library, State::missing, "/no/libNAME.so"},
    {"make", "make -f library.mk NAME", file, State::missing, "NAME"},
    {"make", "make --NAME", option, State::unknown, "--NAME"},
    {"ninja", "ninja -f program.ninja", tool, State::missing, "NAME"},
    {"ninja", "ninja -f library.ninja", library, State::missing, "/no/libNAME.so"},
    {"ninja", "ninja -f library.ninja NAME", file, State::unknown, "NAME"},
    {"ninja", "ninja --NAME", option, State::unknown, "--NAME"},
    // CMake and Meson
    {"cmake", "cmake --NAME .", option, State::unknown, "--NAME"},
    {"cmake", "cmk 'find_package(NAME REQUIRED)'", package, State::missing, "NAME"},
    {"cmake", "cmk 'find_package(NAME 3.1 CONFIG REQUIRED)'", package, State::missing, "NAME"},
    {"cmake", "cmk 'NAME_do(1)'", symbol, State::unknown, "NAME_do"},
    {"cmake", "cmk 'include(NAME)'", file, State::missing, "NAME"},
    {"cmake", "cmk 'find_path(P NAME.h REQUIRED)'", header, State::missing, "NAME.h"},
    {"cmake", "cmk 'add_subdirectory(NAME)'", file, State::missing, "NAME"},
    {"cmake",
     "cmk 'add_library(a INTERFACE)\ntarget_link_libraries(a INTERFACE NAME::NAME)\nexport(TARGETS "
     "a FILE x.cmake)\nadd_custom_target(b ALL)\nset_property(TARGET b PROPERTY X "
     "$<TARGET_FILE:a>)\ninclude(NAME)'",
     file, State::missing, "NAME"},
    {"meson", "mes \"dependency('NAME', method: 'pkg-config')\"", package, State::missing, "NAME"},
    {"meson", "mes \"find_program('NAME')\"", tool, State::missing, "NAME"},
    {"meson", "mes \"NAME()\"", symbol, State::unknown, "NAME"},
    {"pkg-config", "pkg-config --libs NAME", package, State::missing, "NAME"},
    // Python and its installers
    {"python3", "python3 -c 'import NAME'", module, State::missing, "NAME"},
    {"python3", "python3 -c 'from os import NAME'", module, State::unknown, "NAME"},
    {"python3", "python3 -c 'import os; os.NAME'", module, State::unknown, "NAME"},
    {"python3", "python3 -c 'NAME'", symbol, State::unknown, "NAME"},
    {"python3", "python3 -c 'open(\"/no/NAME.txt\")'", file, State::missing, "/no/NAME.txt"},
    {"python3", "python3 -c 'import subprocess; subprocess.run([\"NAME\"])'", tool, State::missing,
     "NAME"},
    {"python3", "python3 -c 'import ctypes; ctypes.CDLL(\"libNAME.so.3\")'", library,
     State::missing, "libNAME.so.3"},
    {"python3", "python3 NAME.py", file, State::missing, "*NAME.py"},
    {"pip", "pip install --no-index NAME", package, State::missing, "NAME"},
    {"pip", "pip install --NAME", option, State::unknown, "--NAME"},
    {"pip", "pip install -r NAME.txt", file, State::missing, "NAME.txt"},
    {"uv", "uv pip install --python python3 --offline --no-index NAME", package, State::missing,
     "NAME"},
    {"uv", "uv pip install --NAME", option, State::unknown, "--NAME"},
    {"uv", "uv pip install --python python3 -r NAME.txt", file, State::missing, "NAME.txt"},
    // the loader
    {"g++", "loader && ./loads", library, State::missing, "libNAME.so"},
    {"g++", "loader && LD_LIBRARY_PATH=empty LD_BIND_NOW=1 ./loads", symbol, State::missing,
     "NAME_fn"},
    {"apt-get", "apt-get install -y NAME-quux", package, State::missing, "NAME-quux"},
    {"apt-get", "apt-get --NAME", option, State::unknown, "--NAME"},
};

const char* const k_functions = R"(
cmk() { mkdir -p c && printf "cmake_minimum_required(VERSION 3.18)\nproject(p LANGUAGES NONE)\n%s\n" "$1" > c/CMakeLists.txt; cmake -S c -B c/b; }
mes() { mkdir -p m && printf "project('p')\n%s\n" "$1" > m/meson.build; meson setup m/b m; }
loader() { mkdir -p real empty
  echo 'extern "C" int NAME_fn() { return 0; }' | g++ -shared -fPIC -x c++ - -Wl,-soname,libNAME.so -o real/libNAME.so
  echo 'int other() { return 0; }' | g++ -shared -fPIC -x c++ - -Wl,-soname,libNAME.so -o empty/libNAME.so
  echo 'extern "C" int NAME_fn(); int main() { return NAME_fn(); }' | g++ -x c++ - -Lreal -lNAME -o loads; }
)";

std::string filled(std::string text, const std::string& name) {
  for (auto at = text.find("NAME"); at != std::string::npos;
       at = text.find("NAME", at + name.size())) {
    text.replace(at, 4, name);
  }
  return text;
}

std::string random_name(std::mt19937& random) {
  constexpr std::string_view consonants = "bdfgklmnprtvz";
  constexpr std::string_view vowels = "aeiou";
  std::string name;
  for (int i = 0; i < 4; ++i) {
    name.push_back(consonants[random() % consonants.size()]);
    name.push_back(vowels[random() % vowels.size()]);
  }
  return name + "x"; // ends in no digit and is no word
}

void write_sources(const fs::path& folder, const std::string& name) {
  const std::pair<const char*, const char*> files[] = {
      {"h.cpp", "#include <NAME/NAME.h>\n"},
      {"s.cpp", "int main() { return NAME(); }\n"},
      {"n.cpp", "namespace q {}\nint main() { return q::NAME(); }\n"},
      {"u.cpp", "extern int NAME(int);\nint main() { return NAME(1); }\n"},
      {"d.cpp", "int NAME(int a) { return a; }\n"},
      {"d2.cpp", "int NAME(int a) { return a + 1; }\nint main() { return 0; }\n"},
      {"k.cu", "__global__ void NAME(int* p) { *p = 1; }\n"},
      {"k.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n"},
      {"e.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func NAME();\n"
                ".visible .entry k() { call.uni NAME, (); ret; }\n"},
      {"run.sh", "NAME --version\n"},
      {"program.mk", "all:\n\tNAME -c x\n"},
      {"library.mk", "all: /no/libNAME.so\n\techo\n"},
      {"program.ninja", "rule r\n  command = NAME -c x\nbuild a: r\n"},
      {"library.ninja", "rule r\n  command = false\nbuild a: r /no/libNAME.so\n"}};
  for (const auto& [file, text] : files) {
    ASSERT_TRUE(write_file_atomic(folder / file, filled(text, name)));
  }
  for (const auto* file : {"h", "s", "n", "d"}) {
    const auto text = cukit::read_file(folder / (std::string(file) + ".cpp"), 4096).value();
    ASSERT_TRUE(write_file_atomic(folder / (std::string(file) + ".cu"), text));
  }
}

Environment tools_environment() {
  Environment environment;
  const auto* path = std::getenv("PATH");
  environment.set("PATH",
                  std::string(path == nullptr ? "/usr/bin:/bin" : path) + ":/usr/local/cuda/bin");
  environment.set("LC_ALL", "C.UTF-8");
  environment.set("CMAKE_GENERATOR", "Ninja"); // make may not be here
  environment.set("PIP_BREAK_SYSTEM_PACKAGES",
                  "1"); // nothing is installed: what fails is asked for
  for (const auto* name : {"HOME", "PYENV_ROOT", "TMPDIR"}) {
    if (const auto* value = std::getenv(name)) {
      environment.set(name, value);
    }
  }
  return environment;
}

TEST(Provoked, failures_of_the_tools_that_are_here_are_read_right) {
  const auto* wished = std::getenv("CUKIT_TEST_SEED");
  const auto* more = std::getenv("CUKIT_TEST_NAMES");
  const auto seed =
      wished == nullptr ? 20261201U : static_cast<unsigned>(std::strtoul(wished, nullptr, 10));
  const int names = more == nullptr ? 1 : std::atoi(more);
  std::mt19937 random(seed);
  const auto environment = tools_environment();
  std::map<std::string, int> tools;
  std::set<std::string> left_out;
  int right = 0;
  int all = 0;
  std::string wrong;
  for (int i = 0; i < names; ++i) {
    const auto name = random_name(random);
    for (const auto& one : k_provocations) {
      if (environment.find_program(one.tool).empty()) {
        left_out.insert(one.tool);
        continue;
      }
      const auto folder = TempDirectory::create(fs::temp_directory_path(), "provoked-").value();
      write_sources(folder.path(), name);
      const auto command = filled(std::string(k_functions) + one.command, name) + " 2>&1";
      const auto done = run_command({.arguments = {"bash", "-c", command},
                                     .environment = environment,
                                     .directory = folder.path().string()});
      ASSERT_TRUE(done);
      const auto facts = read(done->output + done->errors);
      const auto* first = facts.first == SIZE_MAX ? nullptr : &facts.failures[facts.first];
      auto expected = filled(one.name, name);
      const bool is_end = expected.starts_with('*');
      expected.erase(0, is_end ? 1 : 0);
      const bool is_right = first != nullptr && first->thing == one.thing &&
                            first->state == one.state &&
                            (is_end ? first->name.ends_with(expected) : first->name == expected);
      ++all;
      ++tools[one.tool];
      right += is_right ? 1 : 0;
      if (!is_right) {
        wrong += fmt::format("{} -> {}\n{}\n", filled(one.command, name),
                             first == nullptr ? "nothing"
                                              : fmt::format("{} {} `{}`", text_of(first->thing),
                                                            text_of(first->state), first->name),
                             done->output + done->errors);
      }
    }
  }
  for (const auto& tool : left_out) {
    std::printf("not here, left out: %s\n", tool.c_str());
  }
  std::printf("seed %u: %d of %d failures of %zu tools read right\n", seed, right, all,
              tools.size());
  EXPECT_GE(right * 100, all * 95) << wrong;
  if (right != all) {
    std::printf("%s", wrong.c_str());
  }
}

} // namespace
} // namespace cukit::buildlog

// What the tools print, over names that no table holds. The words are the tools'; the provoked
// failures of tests/integration compare them with the tools that are here.
#include "buildlog/buildlog.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::buildlog {
namespace {

struct Said {
  const char* line;
  const char* tool;
  Thing thing;
  State state;
  const char* name;
};

class Grammar : public testing::TestWithParam<Said> {};

TEST_P(Grammar, a_line_tells_its_tool_its_thing_and_its_name) {
  const auto& said = GetParam();
  const auto facts = read(std::string(said.line) + "\n");
  ASSERT_NE(facts.first, SIZE_MAX) << said.line;
  const auto& failure = facts.failures[facts.first];
  EXPECT_TRUE(facts.is_failed) << said.line;
  EXPECT_EQ(failure.tool, said.tool) << said.line;
  EXPECT_EQ(text_of(failure.thing), text_of(said.thing)) << said.line;
  EXPECT_EQ(text_of(failure.state), text_of(said.state)) << said.line;
  EXPECT_EQ(failure.name, said.name) << said.line;
}

using enum Thing;
const Said k_said[] = {
    {"a/b.cc:3:10: fatal error: quux/zorp.h: No such file or directory", "gcc", header,
     State::missing, "quux/zorp.h"},
    {"b.cc:3:10: fatal error: 'zorp.h' file not found", "clang", header, State::missing, "zorp.h"},
    {"z.cu(7): catastrophic error: cannot open source file \"quux/zorp\"", "EDG", header,
     State::missing, "quux/zorp"},
    {"z.cu(7): error #1696: cannot open source file \"zorp.cuh\"", "EDG", header, State::missing,
     "zorp.cuh"},
    {"g++-13: error: unrecognized command-line option \xe2\x80\x98--zorp\xe2\x80\x99; did you mean "
     "x?",
     "gcc", option, State::unknown, "--zorp"},
    {"clang++: error: unknown argument: '-fzorp'", "clang", option, State::unknown, "-fzorp"},
    {"nvcc fatal   : Unknown option '--zorp'", "nvcc", option, State::unknown, "--zorp"},
    {"nvcc fatal   : Value 'c++41' is not defined for option 'std'", "nvcc", option, State::unknown,
     "c++41"},
    {"nvcc fatal   : Unsupported gpu architecture 'compute_997'", "nvcc", target, State::unknown,
     "compute_997"},
    {"ptxas fatal   : Value 'sm_997a' is not defined for option 'gpu-name'", "ptxas", target,
     State::unknown, "sm_997a"},
    {"ptxas k.ptx, line 8; error   : Instruction 'zorp.quux' not supported on .target 'sm_99'",
     "ptxas", target, State::incompatible, "zorp.quux"},
    {"ptxas fatal   : Unresolved extern function '_Z4zorpv'", "ptxas", symbol, State::missing,
     "_Z4zorpv"},
    {"nvlink error   : Undefined reference to '_Z4zorpi' in 'zorp.o'", "nvlink", symbol,
     State::missing, "_Z4zorpi"},
    {"/usr/bin/ld: cannot find -lzorp: No such file or directory", "ld", library, State::missing,
     "-lzorp"},
    {"/usr/bin/x86_64-linux-gnu-ld.bfd: cannot find /a/libzorp.so.3: No such file or directory",
     "ld", library, State::missing, "/a/libzorp.so.3"},
    {"ld.lld: error: unable to find library -lzorp", "lld", library, State::missing, "-lzorp"},
    {"mold: fatal: library not found: zorp", "mold", library, State::missing, "-lzorp"},
    {"z.cpp:(.text+0x1a): undefined reference to `zorp(int, char)'", "ld", symbol, State::missing,
     "zorp(int, char)"},
    {"ld.lld: error: duplicate symbol: zorp()", "lld", symbol, State::duplicate, "zorp()"},
    {"./zorp: error while loading shared libraries: libzorp.so.9: cannot open shared object file: "
     "No such file or directory",
     "ld.so", library, State::missing, "libzorp.so.9"},
    {"ImportError: /a/_zorp.so: undefined symbol: zorp_fn, version ZORP_2", "ld.so", symbol,
     State::missing, "zorp_fn"},
    {"z.cu(3): error: namespace \"quux\" has no member \"zorp\"", "EDG", symbol, State::unknown,
     "zorp"},
    {"z.cpp:1:2: error: no member named 'zorp' in namespace 'quux'", "clang", symbol,
     State::unknown, "zorp"},
    {"bash: line 3: zorp: command not found", "bash", tool, State::missing, "zorp"},
    {"/bin/sh: 1: zorp: not found", "sh", tool, State::missing, "zorp"},
    {"build.sh: line 12: zorp: command not found", "sh", tool, State::missing, "zorp"},
    {"make[2]: zorp: No such file or directory", "make", tool, State::missing, "zorp"},
    {"gcc-97: No such file or directory", "", tool, State::missing, "gcc-97"},
    {"env: \xe2\x80\x98zorp\xe2\x80\x99: No such file or directory", "env", tool, State::missing,
     "zorp"},
    {"FileNotFoundError: [Errno 2] No such file or directory: 'zorp'", "Python", tool,
     State::missing, "zorp"},
    {"PermissionError: [Errno 13] Permission denied: '/opt/zorp.txt'", "Python", permission,
     State::refused, "/opt/zorp.txt"},
    {"make: *** No rule to make target '/a/libzorp.so', needed by 'all'.  Stop.", "make", library,
     State::missing, "/a/libzorp.so"},
    {"ninja: error: '/a/zorp.so', needed by 'x', missing and no known rule to make it", "ninja",
     library, State::missing, "/a/zorp.so"},
    {"m/meson.build:9:2: ERROR: Dependency \"zorp\" not found (tried pkg-config and cmake)",
     "Meson", package, State::missing, "zorp"},
    {"ModuleNotFoundError: No module named 'zorp.quux'", "Python", module, State::missing,
     "zorp.quux"},
    {"ERROR: No matching distribution found for zorp==9", "pip", package, State::missing,
     "zorp==9"},
    {"E: Unable to locate package libzorp-dev", "apt", package, State::missing, "libzorp-dev"},
    {"nvcc error   : 'ptxas' died due to signal 9 (Kill signal)", "nvcc", memory, State::killed,
     "ptxas"},
    {"g++: fatal error: Killed signal terminated program cc1plus", "gcc", memory, State::killed,
     "cc1plus"},
    {"/tmp/zorp.s: Fatal error: /tmp/zorp.o: No space left on device", "as", disk, State::exhausted,
     "/tmp/zorp.o"},
    {"curl: (6) Could not resolve host: zorp.invalid", "curl", network, State::missing,
     "zorp.invalid"},
    {"RuntimeError: CUDA error: system not yet initialized", "CUDA", cuda, State::failed, "802"},
    {"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: x", "CUDA", cuda, State::failed, "804"},
    {"c.h(9): error: #error -- unsupported GNU version! gcc versions later than 77 are not "
     "supported!",
     "nvcc", host_compiler, State::incompatible, ""},
};

INSTANTIATE_TEST_SUITE_P(Tools, Grammar, testing::ValuesIn(k_said));

TEST(Block, of_cmake_is_one_failure_with_the_name_that_stands_inside) {
  const auto facts = read("-- Configuring done\n"
                          "CMake Error at CMakeLists.txt:5 (target_link_libraries):\n"
                          "  Target \"a\" links to:\n\n    Zorp::quux\n\n"
                          "  but the target was not found.  Possible reasons include:\n\n"
                          "    * There is a typo in the target name.\n\n\n"
                          "-- Generating done\n"
                          "CMake Generate step failed.  Build files cannot be regenerated.\n");
  ASSERT_EQ(facts.failures.size(), 1U);
  EXPECT_EQ(facts.failures[0].thing, Thing::cmake_target);
  EXPECT_EQ(facts.failures[0].name, "Zorp::quux");
  EXPECT_EQ(facts.failures[0].line, 2U);
}

TEST(Block, of_a_cmake_warning_is_none) {
  const auto facts = read("CMake Warning at CMakeLists.txt:5 (find_package):\n"
                          "  Could not find a package configuration file provided by \"Zorp\"\n\n"
                          "-- Build files have been written to: /b\n");
  EXPECT_FALSE(facts.is_failed);
  EXPECT_TRUE(facts.failures.empty());
}

TEST(Block, breaks_its_lines_where_cmake_does) {
  const auto facts =
      read("CMake Error at F.cmake:230 (message):\n"
           "  Could NOT find Zorp: Found unsuitable version \"1.2\", but required is at\n"
           "  least \"99\" (found /usr/lib/libzorp.so)\nCall Stack (most recent call "
           "first):\n");
  ASSERT_EQ(facts.failures.size(), 1U);
  EXPECT_EQ(facts.failures[0].demand, "99");
  EXPECT_EQ(facts.failures[0].have, "1.2");
}

TEST(Traceback, its_source_lines_are_no_failures_and_its_last_line_is) {
  const auto facts =
      read("Traceback (most recent call last):\n  File \"/s/zorp.py\", line 3, in f\n"
           "    raise ValueError(f\"Unknown CUDA arch ({arch}) or GPU not supported\")\n"
           "ValueError: Unknown CUDA arch (97.0) or GPU not supported\n");
  ASSERT_EQ(facts.failures.size(), 1U);
  EXPECT_EQ(facts.failures[0].name, "97.0");
  EXPECT_EQ(facts.failures[0].file, "/s/zorp.py");
}

TEST(Prefixes, of_containers_terminals_and_clocks_hide_nothing) {
  for (const auto* before : {"#12 29.52 ", "2026-01-02T03:04:05.678Z ", "\x1b[01m\x1b[K", "      ",
                             "[rank0]: ", "  | ", "100%\r", "(Worker pid=12) "}) {
    const auto facts = read(std::string(before) + "nvcc fatal   : Unknown option '-zorp'\r\n");
    ASSERT_EQ(facts.failures.size(), 1U) << before;
    EXPECT_EQ(facts.failures[0].name, "-zorp") << before;
  }
}

TEST(Errors, of_cuda_are_known_by_number_both_names_and_text) {
  for (const int number : {3, 35, 100, 101, 209, 222, 300, 802, 803, 804, 999}) {
    const auto* error = cuda_error(number);
    ASSERT_NE(error, nullptr) << number;
    if (error->driver != nullptr) {
      EXPECT_EQ(cuda_error(std::string_view(error->driver)), error);
    }
    if (error->runtime != nullptr) {
      EXPECT_EQ(cuda_error(std::string_view(error->runtime)), error);
    }
  }
}

} // namespace
} // namespace cukit::buildlog

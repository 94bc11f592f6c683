// Commands, versions, targets, and whether a build failed in the end.
#include "base/files.hpp"
#include "buildlog/buildlog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <gmock/gmock.h>
#include <thread>
#include <unistd.h>

namespace cukit::buildlog {
namespace {

using testing::ElementsAre;

TEST(Commands, are_read_through_launchers_folders_and_step_numbers) {
  const auto facts = read(
      "[ 7/41] cd /w/obj && sccache /opt/zorp/bin/nvcc -ccbin=/usr/bin/g++-11 -I/a -I /b -isystem "
      "\"/c d\" -L/l -lzorp @x.rsp -std=c++20 -gencode arch=compute_90,code=[sm_90,compute_90] "
      "--threads 4 -c k.cu -o k.o\n");
  ASSERT_EQ(facts.commands.size(), 1U);
  const auto& command = facts.commands[0];
  EXPECT_EQ(command.program, "/opt/zorp/bin/nvcc");
  EXPECT_EQ(command.launcher, "sccache");
  EXPECT_EQ(command.directory, "/w/obj");
  EXPECT_EQ(command.host_compiler, "/usr/bin/g++-11");
  EXPECT_THAT(command.includes, ElementsAre("/a", "/b"));
  EXPECT_THAT(command.system_includes, ElementsAre("/c d"));
  EXPECT_THAT(command.library_folders, ElementsAre("/l"));
  EXPECT_THAT(command.libraries, ElementsAre("-lzorp"));
  EXPECT_THAT(command.response_files, ElementsAre("x.rsp"));
  EXPECT_THAT(command.targets, ElementsAre("compute_90", "sm_90"));
  EXPECT_EQ(command.standard, "c++20");
  EXPECT_EQ(command.threads, "4");
  EXPECT_EQ(command.output, "k.o");
}

TEST(Commands, inside_a_shell_and_with_variables_in_front_are_found) {
  for (const auto* line : {"sh -c 'g++ -I/zorp -c x.cpp'", "CC=a env LC_ALL=C g++ -I/zorp -c x.cpp",
                           ": && ccache g++ -I/zorp x.o -o x && :", "+ g++ -I/zorp -c x.cpp",
                           "/usr/bin/cmake -E env A=b g++ -I/zorp -c x.cpp"}) {
    const auto facts = read(std::string(line) + "\n");
    ASSERT_EQ(facts.commands.size(), 1U) << line;
    EXPECT_EQ(facts.commands[0].program, "g++") << line;
    EXPECT_THAT(facts.commands[0].includes, ElementsAre("/zorp")) << line;
  }
}

TEST(Commands, that_search_the_same_places_are_kept_once) {
  std::string log;
  for (int i = 0; i < 1000; ++i) {
    log += "g++ -I/a -c x" + std::to_string(i) + ".cpp -o x.o\n";
  }
  EXPECT_EQ(read(log).commands.size(), 1U);
}

TEST(Commands, prose_about_a_compiler_is_none) {
  EXPECT_TRUE(read("nvcc fatal   : Unknown option '-o x'\nUse gcc -o for that, or nvcc: -I x\n"
                   "-- Check for working CXX compiler: /usr/bin/c++ -I\n")
                  .commands.empty());
}

TEST(Commands, the_one_that_failed_is_told_by_its_file) {
  const auto facts = read("g++ -I/a -c a.cpp -o a.o\ng++ -I/b -c b.cpp -o b.o\ng++ -I/c -c c.cpp\n"
                          "/src/b.cpp:1:1: fatal error: zorp.h: No such file or directory\n");
  ASSERT_EQ(facts.failures.size(), 1U);
  ASSERT_NE(facts.failures[0].command, 0U);
  EXPECT_THAT(facts.commands[facts.failures[0].command - 1].includes, ElementsAre("/b"));
}

TEST(Versions, are_what_tools_said_of_themselves) {
  const auto facts = read(
      "-- The CUDA compiler identification is NVIDIA 41.5.119 with host compiler GNU 13.3.0\n"
      "-- Found CUDAToolkit: /z/include (found suitable version \"42.8.93\", minimum is \"1\")\n"
      "Cuda compilation tools, release 43.1, V43.1.66\nCUDA_HOME: /zorp/cuda\n"
      "torch 9.5.1+cu421\n");
  ASSERT_EQ(facts.versions.size(), 5U);
  EXPECT_EQ(facts.versions[0].what, "CUDA compiler");
  EXPECT_EQ(facts.versions[0].version, "41.5.119");
  EXPECT_EQ(facts.versions[1].what, "CUDA toolkit");
  EXPECT_EQ(facts.versions[1].version, "42.8.93");
  EXPECT_EQ(facts.versions[1].path, "/z/include");
  EXPECT_EQ(facts.versions[2].version, "43.1.66");
  EXPECT_EQ(facts.versions[3].path, "/zorp/cuda");
  EXPECT_EQ(facts.versions[4].version, "9.5.1+cu421");
}

TEST(Targets, of_any_variable_that_carries_them_are_read) {
  const auto facts = read("cmake -DCMAKE_CUDA_ARCHITECTURES=native -DZORP_CUDA_ARCHS=\"70;80\" ..\n"
                          "export QUUX_CUDA_ARCH_LIST=9.7+PTX\n");
  ASSERT_EQ(facts.target_lists.size(), 3U);
  EXPECT_EQ(facts.target_lists[0].value, "native");
  EXPECT_EQ(facts.target_lists[1].variable, "ZORP_CUDA_ARCHS");
  EXPECT_EQ(facts.target_lists[1].value, "70;80");
  EXPECT_EQ(facts.target_lists[2].value, "9.7+PTX");
}

TEST(Verdict, a_probe_or_a_retry_that_came_right_is_no_failure) {
  for (const auto* log :
       {"/b/CMakeTmp/src.c:1:10: fatal error: zorp.h: No such file or directory\n"
        "-- Performing Test HAVE_ZORP - Failed\n-- Build files have been written to: /b\n",
        "conftest.c:9:10: fatal error: zorp.h: No such file or directory\nchecking for zorp.h... "
        "no\n",
        "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError: Failed "
        "to establish a new connection'\nSuccessfully installed zorp-1.0\n",
        "make: [Makefile:2: all] Error 1 (ignored)\n[100%] Built target zorp\n",
        "g++ -Werror -c error.cpp -o fatal_error.o\n[ 50%] Building CXX object error.cpp.o\n"
        "test_error_handling PASSED\n0 errors, 2 warnings\n"}) {
    EXPECT_FALSE(read(log).is_failed) << log;
  }
}

TEST(Verdict, the_words_by_which_a_build_ends_are_a_failure_without_any_other) {
  for (const auto* log :
       {"ninja: build stopped: subcommand failed.\n", "make: *** [Makefile:2: all] Error 1\n",
        "FAILED: zorp.o\n", "Killed\n", "-- Configuring incomplete, errors occurred!\n",
        "  error: subprocess-exited-with-error\n", "collect2: error: ld returned 1 exit status\n",
        "The command '/bin/sh -c zorp' returned a non-zero code: 1\n", "zorp.ZorpError: quux\n",
        "AssertionError\n"}) {
    EXPECT_TRUE(read(log).is_failed) << log;
  }
}

TEST(Verdict, another_packages_success_heals_nothing) {
  EXPECT_TRUE(
      read("ERROR: Failed building wheel for zorp\nSuccessfully installed quux-1.0\n").is_failed);
  EXPECT_FALSE(
      read("ERROR: Failed building wheel for zorp\nSuccessfully installed zorp-1.0\n").is_failed);
}

TEST(Verdict, the_network_is_why_a_package_was_not_found) {
  const auto facts = read(
      "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(Failed to "
      "establish a new connection: [Errno -2] Name or service not known)'\n"
      "ERROR: Could not find a version that satisfies the requirement zorp (from versions: "
      "none)\n");
  ASSERT_NE(facts.first, SIZE_MAX);
  EXPECT_EQ(facts.failures[facts.first].thing, Thing::network);
}

double processor_seconds(const std::string& log) {
  const auto start = std::clock();
  read(log);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Size, time_grows_with_the_log_whatever_is_in_it) {
  for (const auto* unit :
       {"error: ", "x.cu:1: error: cannot find -lcudart '(((\n", "::_V_ARCH=CUDA error ",
        "g++ -I/a -c x.cpp -o x.o && ", "CMake Error at x:1 (m):\n  provided by \"\n",
        "Traceback\n  File \"x\", line 1\n    y\nValueError: z\n", "\x1b[", "'", "(", "[1/1] ",
        "g++ -c ; ; ;; \\ "}) {
    std::string small;
    while (small.size() < 100'000) {
      small += unit;
    }
    std::string large;
    for (int i = 0; i < 8; ++i) {
      large += small;
    }
    const auto once = std::max(processor_seconds(small), 0.02);
    EXPECT_LT(processor_seconds(large), 8 * once * 6) << unit;
  }
}

TEST(Size, what_is_kept_is_bounded_and_what_stands_at_the_end_is_found) {
  std::string log;
  for (int i = 0; i < 5000; ++i) {
    const auto n = std::to_string(i);
    log += "g++ -I/a" + n + " -c x.cpp\nx.cpp:1:1: fatal error: h" + n +
           ".h: No such file or directory\n";
  }
  const auto facts = read(log + std::string(3'000'000, 'x') + " ninja: build stopped: zorp\n");
  EXPECT_LE(facts.failures.size(), 400U);
  EXPECT_LE(facts.commands.size(), 300U);
  EXPECT_EQ(facts.lines, 10'001U);
}

TEST(Size, pieces_of_any_length_give_the_same_facts) {
  const std::string log = "g++ -I/a -c x.cpp\r\nx.cpp:1:1: error: 'zorp' was not declared in this "
                          "scope\r\nmake: *** [x.o] Error 1\n";
  for (std::size_t size = 1; size < 40; ++size) {
    Reader reader;
    for (std::size_t at = 0; at < log.size(); at += size) {
      reader.feed(std::string_view(log).substr(at, size));
    }
    const auto facts = reader.finish();
    ASSERT_EQ(facts.failures.size(), 1U) << size;
    EXPECT_EQ(facts.failures[0].line, 2U);
    EXPECT_EQ(facts.failures[0].command, 1U);
    EXPECT_EQ(facts.endings.size(), 1U);
  }
}

TEST(Reading, a_stop_ends_it_while_a_pipe_is_silent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::stop_source stop;
  std::jthread asker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const auto facts = read_file("/dev/fd/" + std::to_string(ends[0]), {}, stop.get_token());
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, ErrorCode::interrupted);
  ::close(ends[0]);
  ::close(ends[1]);
}

} // namespace
} // namespace cukit::buildlog

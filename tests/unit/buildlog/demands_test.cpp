// Demands for versions in the words of whoever writes an exception, an #error or a CMake message.
// Sentences are made of wordings, products and versions that no table of the reader holds together.
#include "buildlog/buildlog.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::buildlog {
namespace {

struct Wording {
  const char* text; ///< {P} the product, {V} the version that is wanted, {W} the one that is there
  const char* demand; ///< with {V}
};

const Wording k_wordings[] = {
    {"{P} >= {V} is required", ">={V}"},
    {"zorp requires {P} >= {V}, found {W}", ">={V}"},
    {"zorp requires {P} {V} or newer", ">={V}"},
    {"{P} {V} or later is needed for this kernel", ">={V}"},
    {"needs {P} version {V} or higher, but {W} is installed", ">={V}"},
    {"{P} {V} and above are supported", ">={V}"},
    {"{P} version must be at least {V}, current version is {W}", ">={V}"},
    {"{P} {V}+ is needed", ">={V}"},
    {"expected at least {P} {V} but got {W}", ">={V}"},
    {"the minimum required {P} version is {V} (detected: {W})", ">={V}"},
    {"your {P} version {W} is lower than the minimum required version {V}", ">={V}"},
    {"{P} version {W} is older than {V}", ">={V}"},
    {"this needs {P} newer than {V}", ">{V}"},
    {"{P} < {V} is not supported", ">={V}"},
    {"zorp requires {P} {V}", "=={V}"},
    {"zorp requires {P}=={V}, you have {W}", "=={V}"},
    {"{P} {W} is too old for this", "newer"},
    {"Unsupported {P} version: {W}", "another"},
};

struct Named {
  const char* written;
  const char* name;
};
const Named k_names[] = {{"CUDA", "CUDA"},    {"NVCC", "nvcc"}, {"PyTorch", "torch"},
                         {"cuDNN", "cuDNN"},  {"GCC", "g++"},   {"Triton", "triton"},
                         {"CMake", "cmake"},  {"NCCL", "NCCL"}, {"the driver", "driver"},
                         {"Python", "Python"}};

const char* const k_heads[] = {"RuntimeError: {}", "zorp.build.SetupError: {}",
                               "a/zorp.hpp(31): error: #error \"{}\"",
                               "zorp.cc:12:3: error: static assertion failed: {}", "ERROR: {}"};

std::string put(std::string text, const std::string& slot, const std::string& value) {
  for (auto at = text.find(slot); at != std::string::npos; at = text.find(slot, at)) {
    text.replace(at, slot.size(), value);
  }
  return text;
}

TEST(Demands, are_read_whoever_words_them) {
  struct Expected {
    std::string line, name, demand, have;
  };
  std::vector<Expected> all;
  std::string log;
  for (const auto& wording : k_wordings) {
    for (const auto& product : k_names) {
      const auto number = all.size();
      const auto wanted = fmt::format("{}.{}", 11 + number % 7, number);
      const auto there = fmt::format("{}.{}.{}", 7 + number % 3, number % 5, number);
      const auto fill = [&](const char* text) {
        return put(put(put(text, "{P}", product.written), "{V}", wanted), "{W}", there);
      };
      const bool tells = std::string_view(wording.text).find("{W}") != std::string_view::npos;
      const auto head = k_heads[number % std::size(k_heads)];
      all.push_back({fmt::format(fmt::runtime(head), fill(wording.text)), product.name,
                     fill(wording.demand), tells ? there : ""});
      log += all.back().line + "\n";
    }
  }
  const auto facts = read(log);
  ASSERT_EQ(facts.failures.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& failure = facts.failures[i];
    EXPECT_EQ(text_of(failure.thing), text_of(Thing::version)) << all[i].line;
    EXPECT_EQ(failure.name, all[i].name) << all[i].line;
    EXPECT_EQ(failure.demand, all[i].demand) << all[i].line;
    EXPECT_EQ(failure.have, all[i].have) << all[i].line;
  }
}

TEST(Demands, of_a_language_standard_are_read) {
  for (const int year : {14, 17, 20, 23}) {
    for (const auto* text : {"C++{} or later is required", "you need C++{} to compile this",
                             "this needs a compiler with at least C++{}"}) {
      const auto line =
          fmt::format("x.h:3:2: error: #error \"{}\"", fmt::format(fmt::runtime(text), year));
      const auto facts = read(line + "\n");
      ASSERT_NE(facts.first, SIZE_MAX) << line;
      EXPECT_EQ(facts.failures[facts.first].name, "C++") << line;
      EXPECT_THAT(facts.failures[facts.first].demand, testing::EndsWith(std::to_string(year)));
    }
  }
}

TEST(Demands, of_a_cmake_message_are_read) {
  const auto facts = read("CMake Error at CMakeLists.txt:84 (message):\n"
                          "  nvcc version must be at least 12.7, current version is 12.4.131\n\n\n"
                          "-- Configuring incomplete, errors occurred!\n");
  ASSERT_NE(facts.first, SIZE_MAX);
  const auto& failure = facts.failures[facts.first];
  EXPECT_EQ(failure.name, "nvcc");
  EXPECT_EQ(failure.demand, ">=12.7");
  EXPECT_EQ(failure.have, "12.4.131");
}

TEST(Demands, are_not_seen_where_numbers_are_of_something_else) {
  for (const auto* line :
       {"ValueError: the number of heads requires at least 8, got 4",
        "TypeError: forward() takes 3 positional arguments but 4 were given",
        "RuntimeError: size of tensor a (4096) must match the size of tensor b (2048) at dimension "
        "1",
        "x.cu(12): error: no instance of function template zorp matches the argument list",
        "x.cpp:3:9: error: template argument 1 is invalid", "ValueError: CUDA graph 12 is broken",
        "RuntimeError: expected scalar type Half but found Float in argument 2",
        "AssertionError: block size 128 is larger than 64"}) {
    for (const auto& failure : read(std::string(line) + "\n").failures) {
      EXPECT_NE(text_of(failure.thing), text_of(Thing::version)) << line;
    }
  }
}

TEST(Demands, of_a_library_that_was_compiled_with_another_are_read) {
  struct One {
    const char* line;
    const char* demand;
    const char* have;
  };
  for (const auto& [line, demand, have] :
       {One{"E0000 x.cc:1] Loaded runtime CuDNN library: 9.1.0 but source was compiled with: "
            "9.8.7.  "
            "CuDNN library needs to have matching major version.",
            "9.8.7", "9.1.0"},
        One{"RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 10, 2) "
            "but found runtime version (8, 9, 7). PyTorch comes with it.",
            "9.10.2", "8.9.7"}}) {
    const auto facts = read(std::string(line) + "\n");
    ASSERT_NE(facts.first, SIZE_MAX) << line;
    EXPECT_EQ(facts.failures[facts.first].demand, demand);
    EXPECT_EQ(facts.failures[facts.first].have, have);
  }
}

TEST(Grammar, what_an_exception_hands_on_is_read_as_the_compilers_words) {
  const auto facts = read("zorp.compiler.CompileException: /v/zorp.cuh(21): catastrophic error: "
                          "cannot open source file \"quux_fp9.h\"\n");
  ASSERT_NE(facts.first, SIZE_MAX);
  const auto& failure = facts.failures[facts.first];
  EXPECT_EQ(text_of(failure.thing), text_of(Thing::header));
  EXPECT_EQ(failure.name, "quux_fp9.h");
}

TEST(Verdict, an_exception_without_words_counts_whatever_follows_it) {
  for (const auto* log : {"zorp.QuuxError:\n", "thread 'main' panicked at build.rs:4:1:\n",
                          "zorp.QuuxError:\nninja: build stopped: subcommand failed.\n",
                          "zorp.QuuxError:\nmake: *** [Makefile:2: all] Error 1\n"}) {
    const auto facts = read(log);
    EXPECT_TRUE(facts.is_failed) << log;
    EXPECT_NE(facts.first, SIZE_MAX) << log;
    EXPECT_EQ(facts.endings.size(),
              std::string_view(log).find('\n') + 1 == std::string_view(log).size() ? 0U : 1U)
        << log;
  }
  const auto facts = read("zorp.QuuxError:\nnvcc fatal   : Unknown option '--zorp'\n");
  ASSERT_NE(facts.first, SIZE_MAX);
  EXPECT_EQ(facts.failures[facts.first].name, "--zorp");
  EXPECT_EQ(facts.failures[facts.first].tool, "nvcc");
}

} // namespace
} // namespace cukit::buildlog

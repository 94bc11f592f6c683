#include "assemble/assemble.hpp"
#include "base/child.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <gmock/gmock.h>

namespace cukit::assemble {
namespace {

using testing::HasSubstr;

std::vector<std::string> many() {
  std::vector<std::string> names{"cuInit", "cuMemAlloc_v2"};
  for (int i = 0; i < 700; ++i) {
    names.push_back(fmt::format("cuFunction{}", i));
  }
  return names;
}

class StubTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = TempDirectory::create(fs::temp_directory_path(), "cukit-stub-");
    ASSERT_TRUE(made);
    scratch_ = std::make_unique<TempDirectory>(std::move(*made));
    stub_ = scratch_->path() / "libcuda.so";
  }
  void write(const std::vector<std::string>& symbols, Platform platform) {
    ASSERT_TRUE(create_file(stub_, stub_libcuda(symbols, platform), 0555));
  }
  /// Empty when the program is not there.
  static std::optional<Finished> run(std::vector<std::string> arguments) {
    auto environment = Environment::of_this_process();
    environment.set("LC_ALL", "C");
    environment.unset("LIBRARY_PATH");
    if (environment.find_program(arguments.front()).empty() && arguments.front()[0] != '/') {
      return {};
    }
    auto finished = run_command({.arguments = std::move(arguments), .environment = environment});
    EXPECT_TRUE(finished) << finished.error().message;
    return finished ? std::optional(*finished) : std::nullopt;
  }
  std::unique_ptr<TempDirectory> scratch_;
  fs::path stub_;
};

class StubOfEach : public StubTest, public testing::WithParamInterface<Platform> {};

TEST_P(StubOfEach, is_read_by_readelf_without_a_warning) {
  write(many(), GetParam());
  const auto finished = run({"readelf", "-a", "-W", stub_.string()});
  if (!finished) {
    GTEST_SKIP() << "no readelf";
  }
  EXPECT_EQ(finished->exit_code, 0);
  EXPECT_EQ(finished->errors, "");
  EXPECT_THAT(finished->output, HasSubstr("Library soname: [libcuda.so.1]"));
  EXPECT_THAT(finished->output, HasSubstr("DYN (Shared object file)"));
  EXPECT_THAT(
      finished->output,
      HasSubstr(GetParam().machine() == "x86_64" ? "Advanced Micro Devices X86-64" : "AArch64"));
}

TEST_P(StubOfEach, lists_every_symbol_as_a_function) {
  write(many(), GetParam());
  const auto finished = run({"nm", "-D", "--defined-only", stub_.string()});
  if (!finished) {
    GTEST_SKIP() << "no nm";
  }
  const auto count = std::count(finished->output.begin(), finished->output.end(), '\n');
  EXPECT_EQ(count, 702);
  EXPECT_THAT(finished->output, HasSubstr(" T cuInit\n"));
}

TEST_P(StubOfEach, is_clean_for_elflint) {
  write(many(), GetParam());
  const auto finished = run({"eu-elflint", "--gnu-ld", stub_.string()});
  if (!finished) {
    GTEST_SKIP() << "no eu-elflint";
  }
  EXPECT_EQ(finished->output, "No errors\n") << finished->errors;
}

INSTANTIATE_TEST_SUITE_P(Machines, StubOfEach,
                         testing::Values(Platform(Platform::Kind::linux_x86_64),
                                         Platform(Platform::Kind::linux_sbsa)),
                         [](const auto& test) { return std::string(test.param.machine()); });

TEST_F(StubTest, is_the_same_at_every_call_and_small) {
  const auto stub = stub_libcuda(many(), Platform::Kind::linux_x86_64);
  EXPECT_EQ(stub, stub_libcuda(many(), Platform::Kind::linux_x86_64));
  EXPECT_LT(stub.size(), 60'000U);
}

TEST_F(StubTest, is_valid_without_any_symbol) {
  write({}, Platform::host());
  const auto finished = run({"readelf", "-a", "-W", stub_.string()});
  if (!finished) {
    GTEST_SKIP() << "no readelf";
  }
  EXPECT_EQ(finished->errors, "");
}

TEST_F(StubTest, answers_34_to_each_function_when_loaded) {
  write(many(), Platform::host());
  void* library = ::dlopen(stub_.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  for (const auto& name : many()) {
    void* symbol = ::dlsym(library, name.c_str());
    ASSERT_NE(symbol, nullptr) << name;
    EXPECT_EQ(reinterpret_cast<int (*)()>(symbol)(), 34) << name;
  }
  EXPECT_EQ(::dlsym(library, "cuNoSuchFunction"), nullptr);
  ::dlclose(library);
}

TEST_F(StubTest, serves_a_linker_and_leaves_its_soname_in_the_program) {
  write(many(), Platform::host());
  const fs::path source = scratch_->path() / "main.c";
  ASSERT_TRUE(create_file(source, "int cuInit(unsigned);\nint cuMemAlloc_v2(void);\n"
                                  "int main(void) { return cuInit(0) + cuMemAlloc_v2() - 68; }\n"));
  const fs::path program = scratch_->path() / "main";
  const auto built = run({"cc", source.string(), "-o", program.string(),
                          "-L" + scratch_->path().string(), "-lcuda", "-Wl,--fatal-warnings"});
  if (!built) {
    GTEST_SKIP() << "no C compiler";
  }
  ASSERT_EQ(built->exit_code, 0) << built->errors;
  ASSERT_EQ(built->errors, "");
  const auto dynamic = run({"readelf", "-d", program.string()});
  ASSERT_TRUE(dynamic);
  EXPECT_THAT(dynamic->output, HasSubstr("Shared library: [libcuda.so.1]"));
  fs::create_symlink("libcuda.so", scratch_->path() / "libcuda.so.1");
  const auto ran =
      run({"/usr/bin/env", "LD_LIBRARY_PATH=" + scratch_->path().string(), program.string()});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->exit_code, 0) << ran->errors;
}

TEST_F(StubTest, makes_a_linker_refuse_a_function_it_lacks) {
  write({"cuInit"}, Platform::host());
  const fs::path source = scratch_->path() / "main.c";
  ASSERT_TRUE(create_file(source, "int cuOther(void);\nint main(void) { return cuOther(); }\n"));
  const auto built = run({"cc", source.string(), "-o", (scratch_->path() / "main").string(),
                          "-L" + scratch_->path().string(), "-lcuda"});
  if (!built) {
    GTEST_SKIP() << "no C compiler";
  }
  EXPECT_NE(built->exit_code, 0);
  EXPECT_THAT(built->errors, HasSubstr("cuOther"));
}

} // namespace
} // namespace cukit::assemble

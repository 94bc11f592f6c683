#include "machine/machine.hpp"

#include <gtest/gtest.h>

namespace cukit::machine {
namespace {

class HostCompiler : public testing::Test {
protected:
  void SetUp() override {
    auto created = TempDirectory::create(fs::temp_directory_path(), "cukit-compiler-");
    ASSERT_TRUE(created);
    folder_.emplace(std::move(*created));
    environment_.set("PATH", folder().string());
  }
  /// A program that answers as a compiler does.
  void put(const std::string& name, const std::string& banner, const std::string& version) const {
    const std::string script = "#!/bin/sh\ncase \"$1\" in --version) echo '" + banner +
                               "';; *) echo '" + version + "';; esac\n";
    ASSERT_TRUE(create_file(folder() / name, script, 0755));
  }
  void put_gcc(const std::string& name, const std::string& version) const {
    put(name, name + " (Debian) " + version + "\nCopyright (C) 2022 Free Software Foundation, Inc.",
        version);
  }
  [[nodiscard]] const fs::path& folder() const { return folder_->path(); }
  Environment environment_;

private:
  std::optional<TempDirectory> folder_;
};

TEST_F(HostCompiler, prefers_gcc_on_path) {
  put_gcc("g++", "12.2.0");
  put("clang++", "Debian clang version 16.0.6", "16.0.6");
  const auto compiler = host_compiler(environment_, "");
  ASSERT_TRUE(compiler) << compiler.error().message;
  EXPECT_EQ(compiler->path, (folder() / "g++").string());
  EXPECT_EQ(compiler->kind, "gcc");
  EXPECT_EQ(compiler->version.text(), "12.2.0");
}

TEST_F(HostCompiler, takes_clang_when_there_is_no_gcc) {
  put("clang++", "Debian clang version 16.0.6", "16.0.6");
  const auto compiler = host_compiler(environment_, "");
  ASSERT_TRUE(compiler) << compiler.error().message;
  EXPECT_EQ(compiler->kind, "clang");
  EXPECT_EQ(compiler->version.major(), 16);
}

TEST_F(HostCompiler, takes_the_cxx_driver_of_a_c_compiler_named_in_a_manifest) {
  put_gcc("g++-13", "13.1.0");
  put_gcc("g++", "12.2.0");
  const auto compiler = host_compiler(environment_, "gcc-13");
  ASSERT_TRUE(compiler) << compiler.error().message;
  EXPECT_EQ(compiler->path, (folder() / "g++-13").string());
}

TEST_F(HostCompiler, honours_nvcc_ccbin_also_when_it_names_a_folder) {
  put_gcc("g++", "14.2.0");
  environment_.set("PATH", "/nowhere");
  environment_.set("NVCC_CCBIN", folder().string());
  const auto compiler = host_compiler(environment_, "");
  ASSERT_TRUE(compiler) << compiler.error().message;
  EXPECT_EQ(compiler->path, (folder() / "g++").string());
}

TEST_F(HostCompiler, passes_over_ccache_on_path) {
  ASSERT_TRUE(create_file(folder() / "ccache", "#!/bin/sh\nexit 1\n", 0755));
  fs::create_symlink("ccache", folder() / "g++");
  const auto compiler = host_compiler(environment_, "");
  ASSERT_FALSE(compiler);
  EXPECT_NE(compiler.error().message.find("no host compiler"), std::string::npos);
  EXPECT_FALSE(compiler.error().hint.empty());
}

TEST_F(HostCompiler, refuses_a_program_that_is_no_compiler) {
  put("g++", "bash 5.2", "5.2");
  const auto compiler = host_compiler(environment_, "");
  ASSERT_FALSE(compiler);
  EXPECT_NE(compiler.error().message.find("neither gcc nor clang"), std::string::npos);
}

TEST_F(HostCompiler, says_which_wish_was_not_met) {
  const auto compiler = host_compiler(environment_, "g++-99");
  ASSERT_FALSE(compiler);
  EXPECT_NE(compiler.error().message.find("g++-99"), std::string::npos);
  EXPECT_FALSE(host_compiler(environment_, (folder() / "absent").string()));
}

TEST(GlibcVersion, is_the_one_this_process_runs_with) {
  EXPECT_EQ(glibc_version().major(), 2);
  EXPECT_GE(glibc_version().minor(), 17);
}

} // namespace
} // namespace cukit::machine

#include "catalog/requirement.hpp"

#include <gtest/gtest.h>

namespace cukit::catalog {
namespace {

Requirement requirement(std::string_view text) {
  auto result = Requirement::parse(text);
  EXPECT_TRUE(result) << text << " " << (result ? "" : result.error().message);
  return result ? *result : Requirement{};
}

struct MarkerCase {
  const char* marker;
  bool on_x86_64;
  bool on_sbsa;
};

// Computed with the library that pip uses, for extra "nvcc" and CPython 3.12 on Linux; names of
// extras are compared in their normal form, as its later versions do.
const MarkerCase k_markers[] = {
    {R"(sys_platform == 'linux')", true, true},
    {R"(sys_platform == "win32")", false, false},
    {R"(platform_machine == 'x86_64')", true, false},
    {R"(platform_machine == 'aarch64')", false, true},
    {R"(platform_machine == 'AMD64')", false, false},
    {R"(sys_platform == 'linux' and platform_machine == 'aarch64' or sys_platform == 'linux' and platform_machine == 'x86_64')",
     true, true},
    {R"((sys_platform == 'linux' and platform_machine == 'aarch64' or sys_platform == 'win32' and platform_machine == 'AMD64') and extra == 'nvcc')",
     false, true},
    {R"((sys_platform == 'linux' and platform_machine == 'x86_64') and extra == 'nvcc')", true,
     false},
    {R"(sys_platform == 'win32' or sys_platform == 'linux' and platform_machine == 'aarch64')",
     false, true},
    {R"((sys_platform == 'win32' or sys_platform == 'linux') and platform_machine == 'aarch64')",
     false, true},
    {R"(platform_machine in 'x86_64 AMD64')", true, false},
    {R"(platform_machine not in 'x86_64 AMD64')", false, true},
    {R"('64' in platform_machine)", true, true},
    {R"('arm' not in platform_machine)", true, true},
    {R"(os_name == 'posix' and platform_system != 'Windows')", true, true},
    {R"(python_version >= '3.8')", true, true},
    {R"(python_version < '3.9')", false, false},
    {R"(python_version == '3.12')", true, true},
    {R"(python_version != '3.*')", false, false},
    {R"(python_version ~= '3.10')", true, true},
    {R"('3.9' < python_version)", true, true},
    {R"('3.13' <= python_version)", false, false},
    {R"(python_full_version >= '3.12.0' and python_full_version < '3.13')", true, true},
    {R"(implementation_name == 'cpython')", true, true},
    {R"(platform_python_implementation == 'PyPy' or implementation_name == 'cpython')", true, true},
    {R"(extra == 'NVCC')", true, true},
    {R"(extra != 'nvcc')", false, false},
    {R"(extra == 'nvcc' and extra == 'all')", false, false},
    {R"(((((os_name == 'posix')))))", true, true},
    {R"(python_version > '3.9' and (python_version < '3.11' or sys_platform == 'linux'))", true,
     true},
    {R"(python_version in '3.11, 3.12')", true, true},
    {R"(sys_platform >= 'linux')", true, true},
    {R"(sys_platform < 'win32')", true, true},
};

TEST(Marker, holds_where_pips_own_library_says_so) {
  for (const auto& [marker, on_x86_64, on_sbsa] : k_markers) {
    const auto read = requirement(std::string("x; ") + marker);
    EXPECT_EQ(read.applies(Platform::Kind::linux_x86_64, "nvcc"), on_x86_64) << marker;
    EXPECT_EQ(read.applies(Platform::Kind::linux_sbsa, "nvcc"), on_sbsa) << marker;
    EXPECT_EQ(read.applies(Platform::Kind::linux_aarch64, "nvcc"), on_sbsa) << marker;
  }
}

TEST(Marker, mistakes_are_refused) {
  for (const auto* marker :
       {"nonsense == 'x'", "os_name = 'posix'", "os_name == 'posix", "os_name == 'posix' and",
        "(os_name == 'posix'", "os_name == 'posix')", "os_name", "'a' == 'b'",
        "os_name not 'posix'", "and os_name == 'posix'", "os_name == 'a' os_name == 'b'",
        "os_name == posix", "", "()"}) {
    const auto read = Requirement::parse(std::string("x; ") + marker);
    ASSERT_FALSE(read) << marker;
    EXPECT_EQ(read.error().code, ErrorCode::source);
  }
}

TEST(Marker, depth_is_bounded) {
  EXPECT_FALSE(Requirement::parse("x; " + std::string(100'000, '(')));
}

TEST(Requirement, reads_name_extras_and_versions) {
  const auto read = requirement("Foo.Bar[a,B_c] (>=1,<2) ; os_name == 'posix'");
  EXPECT_EQ(read.project, "foo-bar");
  EXPECT_EQ(read.extras, (std::vector<std::string>{"a", "b-c"}));
  EXPECT_EQ(read.range.text(), ">=1,<2");
  EXPECT_TRUE(read.marker);
  EXPECT_EQ(requirement("nvidia-nvvm==13.2.78.*").range.text(), "==13.2.78.*");
  EXPECT_TRUE(requirement("x").range.is_any());
  EXPECT_EQ(requirement("x [a] == 1.*").range.text(), "==1.*");
  EXPECT_TRUE(requirement("x").applies(Platform(), ""));
}

TEST(Requirement, refuses_what_pip_refuses_and_urls) {
  for (const auto* text :
       {"", "x>=1,", "x (>=1", "x[a", "x[a,,b]", "-x", "x @ https://example.com/x.whl",
        "x ==1 os_name=='a'", "x;", "x>=1;;", "x~=1", "a b", "[a]", "==1"}) {
    EXPECT_FALSE(Requirement::parse(text)) << text;
  }
}

} // namespace
} // namespace cukit::catalog

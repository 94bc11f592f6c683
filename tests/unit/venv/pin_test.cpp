// Which wheels belong together beside what others pin, and how that is kept.
#include "support/fake_venv.hpp"
#include "venv/marked.hpp"
#include "venv/pin.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::venv {
namespace {

using test::FakeVenv;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Result<WheelSet> set_of(const FakeVenv& venv) {
  const auto place = find_place(venv.path());
  const auto inventory = take_inventory(*place, Depth::sizes);
  return coherent_set(*inventory, knowledge::Knowledge::embedded());
}

std::map<std::string, std::string> versions(const WheelSet& set) {
  std::map<std::string, std::string> result;
  for (const auto& wheel : set.wheels) {
    result[wheel.project] = wheel.version.text();
  }
  return result;
}

TEST(VenvPin, the_compiler_follows_what_torch_pins) {
  const FakeVenv venv;
  venv.torch("13.0.2", {{"nvidia-cuda-runtime", "13.0.96"}});
  venv.cuda({"13.5.37", "13.5.37", "13.5.37", "13.0.96", ""});
  const auto set = set_of(venv);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->release.text(), "13.0.2");
  const auto wanted = versions(*set);
  EXPECT_EQ(wanted.at("nvidia-cuda-nvcc"), "13.0.88");
  EXPECT_EQ(wanted.at("nvidia-nvvm"), "13.0.88");
  EXPECT_EQ(wanted.at("nvidia-cuda-crt"), "13.0.88");
  EXPECT_EQ(wanted.at("nvidia-cuda-runtime"), "13.0.96");
  EXPECT_EQ(wanted.at("nvidia-cuda-cccl"), "13.0.85");
  EXPECT_FALSE(wanted.contains("nvidia-cublas")) << "nobody installed it";
}

TEST(VenvPin, without_pins_what_is_installed_says_which_release) {
  const FakeVenv venv;
  venv.cuda({"13.2.78", "13.2.78", "13.2.78", "", ""});
  const auto set = set_of(venv);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->release.major_minor(), "13.2");
  EXPECT_EQ(versions(*set).at("nvidia-cuda-nvcc"), "13.2.78");
}

TEST(VenvPin, pins_that_no_release_fits_are_named) {
  const FakeVenv venv;
  venv.wheel("a", "1", {}, {"nvidia-cuda-runtime==13.0.96"});
  venv.wheel("b", "1", {}, {"nvidia-cuda-nvcc==13.2.78"});
  const auto set = set_of(venv);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::expected_no);
  EXPECT_THAT(set.error().causes,
              ::testing::UnorderedElementsAre(HasSubstr("a wants"), HasSubstr("b wants")));
  EXPECT_THAT(set.error().hint, HasSubstr("venv wire"));
}

TEST(VenvPin, wheels_of_cuda_12_hold_no_nvcc) {
  const FakeVenv venv;
  venv.wheel("nvidia-cuda-runtime-cu12", "12.8.90", {{"nvidia/cuda_runtime/include/cuda.h", ""}});
  const auto set = set_of(venv);
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr("hold no nvcc"));
  EXPECT_THAT(set.error().hint, HasSubstr("venv wire"));
}

TEST(VenvPin, it_is_printed_for_each_tool) {
  const FakeVenv venv;
  venv.cuda({"13.0.88", "13.0.88", "13.0.88", "13.0.96", "13.0.85"});
  const auto set = set_of(venv);
  ASSERT_TRUE(set);
  EXPECT_THAT(print(*set, PinFormat::constraints), HasSubstr("\nnvidia-cuda-nvcc==13.0.88\n"));
  EXPECT_THAT(print(*set, PinFormat::uv),
              AllOf(HasSubstr("[tool.uv]\nconstraint-dependencies = [\n"),
                    HasSubstr("  \"nvidia-nvvm==13.0.88\",\n")));
  EXPECT_THAT(print(*set, PinFormat::conda), HasSubstr("cuda-version 13.0.*\n"));
  EXPECT_EQ(parse_pin_format("poetry").error().code, ErrorCode::usage);
}

TEST(VenvPin, writing_twice_is_writing_once_and_keeps_what_a_person_wrote) {
  const FakeVenv venv;
  venv.cuda({"13.0.88", "13.0.88", "13.0.88", "13.0.96", "13.0.85"});
  venv.put("pip.conf", "[global]\ntimeout = 60\n[install]\nno-cache-dir = true");
  venv.root.put("/pyproject.toml", "[project]\nname = \"p\"\n\n[tool.uv]\nmanaged = true\n");
  const auto place = find_place(venv.path());
  const auto set = set_of(venv);
  ASSERT_TRUE(write_pins(*place, *set));
  const auto pip = venv.read("pip.conf");
  EXPECT_THAT(pip,
              AllOf(HasSubstr("timeout = 60\n"), HasSubstr("no-cache-dir = true"),
                    HasSubstr("constraint = " + (venv.path() / "cukit-constraints.txt").string())));
  const auto project = read_file(venv.root.path() / "pyproject.toml", 10'000).value_or("");
  EXPECT_THAT(project,
              AllOf(HasSubstr("[tool.uv]\n# >>> cukit venv pin >>>\nconstraint-dependencies"),
                    HasSubstr("managed = true\n")));
  const auto again = write_pins(*place, *set);
  ASSERT_TRUE(again);
  for (const auto& file : *again) {
    EXPECT_FALSE(file.changed) << file.path;
  }
  EXPECT_EQ(venv.read("pip.conf"), pip);
}

TEST(VenvPin, a_constraint_of_a_persons_own_is_left_and_said) {
  const FakeVenv venv;
  venv.put("pip.conf", "[install]\nconstraint = mine.txt\n");
  const auto before = test::contents_of(venv.path());
  const auto place = find_place(venv.path());
  const auto written = write_pins(*place, *set_of(venv));
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().hint, HasSubstr("cukit-constraints.txt"));
  EXPECT_EQ(test::contents_of(venv.path()), before) << "all or none";
}

TEST(VenvMarked, a_block_goes_and_the_bytes_are_as_before) {
  for (const std::string text :
       {"", "a\n", "a", "a\nb\r\n", "\n\n", "# >>> cukit venv other >>>\n"}) {
    const auto with = with_marked_at_end(text, "lines\n", {"wire"});
    EXPECT_EQ(marked_lines(with, {"wire"}, "f")->value(), "lines\n");
    EXPECT_EQ(*without_marked(with, {"wire"}, "f"), text);
    EXPECT_EQ(*without_marked(with + "more\n", {"wire"}, "f"),
              text.ends_with('\n') || text.empty() ? text + "more\n" : text + "more\n");
  }
  EXPECT_FALSE(without_marked("# >>> cukit venv wire >>>\nno end\n", {"wire"}, "f"));
  EXPECT_FALSE(without_marked("# <<< cukit venv wire <<<\n", {"wire"}, "f"));
}

} // namespace
} // namespace cukit::venv

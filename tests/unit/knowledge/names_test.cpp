// names.txt: what it says of names that people know, and what its reader refuses.
#include "knowledge/names.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::knowledge {
namespace {

using testing::HasSubstr;

const Names& embedded_names() {
  static const auto names = read_names(Knowledge::embedded());
  EXPECT_TRUE(names.has_value()) << (names ? "" : names.error().message + names.error().where);
  static const Names none;
  return names ? *names : none;
}

bool has(NameKind kind, const char* name, const char* release) {
  const auto* span = embedded_names().find(kind, name);
  EXPECT_NE(span, nullptr) << name;
  return span != nullptr && span->has(Version::parse(release).value());
}

/// NVIDIA's release notes and CCCL's migration guide say the same.
TEST(Names, say_what_the_release_notes_say) {
  for (const auto* name : {"cub::Max", "cub::Sum", "thrust::unary_function"}) {
    EXPECT_TRUE(has(NameKind::cccl, name, "12.9.86")) << name;
    EXPECT_FALSE(has(NameKind::cccl, name, "13.0.48")) << name;
  }
  EXPECT_EQ(embedded_names().find(NameKind::cccl, "cub::Max")->instead, "cuda::maximum");
  EXPECT_TRUE(has(NameKind::header, "nvToolsExt.h", "12.8"));
  EXPECT_FALSE(has(NameKind::header, "nvToolsExt.h", "12.9"));
  EXPECT_FALSE(has(NameKind::library, "libnvToolsExt.so", "12.9"));
  EXPECT_FALSE(has(NameKind::header, "cuda_fp4.h", "12.6"));
  EXPECT_TRUE(has(NameKind::header, "cuda_fp4.h", "12.8"));
  EXPECT_FALSE(has(NameKind::nvcc, "--compress-mode", "12.6"));
  EXPECT_TRUE(has(NameKind::nvcc, "--compress-mode", "13.5"));
  EXPECT_FALSE(has(NameKind::nvcc, "--std=c++20", "11.8"));
}

TEST(Names, of_every_release_have_no_line) {
  EXPECT_EQ(embedded_names().find(NameKind::cccl, "cub::DeviceReduce"), nullptr);
  EXPECT_EQ(embedded_names().find(NameKind::cccl, "thrust::device_vector"), nullptr);
  EXPECT_EQ(embedded_names().find(NameKind::symbol, "cudaMalloc"), nullptr);
  EXPECT_EQ(embedded_names().find(NameKind::header, "cuda_runtime.h"), nullptr);
  EXPECT_EQ(embedded_names().find(NameKind::nvcc, "--threads"), nullptr);
}

TEST(Names, are_at_a_bound_or_they_would_not_stand_here) {
  for (const auto kind : {NameKind::cccl, NameKind::symbol, NameKind::header, NameKind::library,
                          NameKind::nvcc, NameKind::ptxas}) {
    EXPECT_FALSE(embedded_names().all(kind).empty()) << text_of(kind);
    for (const auto& [name, span] : embedded_names().all(kind)) {
      EXPECT_TRUE(span.since || span.last) << name;
      EXPECT_EQ(span.last.has_value(), span.gone_in.has_value()) << name;
      if (span.since && span.last) {
        EXPECT_LE(*span.since, *span.last) << name;
      }
    }
  }
}

TEST(Names, of_a_span_are_there_between_its_ends_and_nowhere_else) {
  const auto names = parse_names("cccl tested 12.4 12.9 13.0 13.2 13.4\n"
                                 "  13.0 13.2 zorp::A=zorp::B zorp::C\n",
                                 "x")
                         .value();
  const auto* span = names.find(NameKind::cccl, "zorp::A");
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(span->instead, "zorp::B");
  EXPECT_EQ(span->gone_in->text(), "13.4");
  EXPECT_TRUE(span->is_before(Version::parse("12.9.86").value()));
  EXPECT_TRUE(span->has(Version::parse("13.0.88").value()));
  EXPECT_TRUE(span->has(Version::parse("13.3.1").value())); // between two that were read
  EXPECT_TRUE(span->is_behind(Version::parse("13.4.92").value()));
  EXPECT_EQ(names.find(NameKind::cccl, "zorp::C")->instead, "");
  EXPECT_EQ(names.find(NameKind::symbol, "zorp::A"), nullptr);
}

TEST(Names, reader_says_which_line_is_wrong) {
  for (const auto& [text, says] :
       {std::pair("zorp tested 12.4\n", "KIND EVIDENCE RELEASE"),
        std::pair("cccl tested\n", "KIND EVIDENCE RELEASE"),
        std::pair("cccl tested 13.0 12.4\n", "ascending"),
        std::pair("  - 12.4 a\n", "below a head"),
        std::pair("cccl tested 12.4 13.0\n  - 12.8 a\n", "`12.8` is none"),
        std::pair("cccl tested 12.4 13.0\n  - 13.0 a\n", "behind the last"),
        std::pair("cccl tested 12.4 13.0\n  - 12.4 a a\n", "`a` stands here twice")}) {
    const auto names = parse_names(text, "names.txt");
    ASSERT_FALSE(names.has_value()) << text;
    EXPECT_THAT(names.error().message, HasSubstr(says)) << text;
    EXPECT_THAT(names.error().where, HasSubstr("names.txt:")) << text;
  }
}

} // namespace
} // namespace cukit::knowledge

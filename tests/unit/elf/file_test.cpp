// A shared object of which each table is known, whole and cut short.
#include "elf/file.hpp"
#include "support/fake_root.hpp"

#include <gtest/gtest.h>

#include <elf.h>
#include <gmock/gmock.h>

namespace cukit::elf {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

std::vector<std::pair<std::int64_t, std::string>> texts_of(const File& file) {
  std::vector<std::pair<std::int64_t, std::string>> result;
  const auto dynamic = file.find(SHT_DYNAMIC, SIZE_MAX);
  if (dynamic) {
    file.each_dynamic(*dynamic, [&](std::int64_t tag, std::optional<std::string_view> text) {
      result.emplace_back(tag, text.value_or("(outside)"));
      return true;
    });
  }
  return result;
}

TEST(ElfFile, names_what_a_library_is_and_needs) {
  const auto file = File::of_bytes(test::elf_library("libx.so.1", {"liba.so.2", "libb.so.3"}));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->is_little_endian());
  EXPECT_THAT(texts_of(*file),
              UnorderedElementsAre(Pair(DT_SONAME, "libx.so.1"), Pair(DT_NEEDED, "liba.so.2"),
                                   Pair(DT_NEEDED, "libb.so.3")));
}

TEST(ElfFile, a_section_larger_than_is_allowed_is_not_found) {
  const auto file = File::of_bytes(test::elf_library("libx.so.1", {}));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->find(SHT_DYNAMIC, SIZE_MAX));
  EXPECT_FALSE(file->find(SHT_DYNAMIC, 1));
}

TEST(ElfFile, what_is_cut_short_says_less_and_nothing_wrong) {
  const auto whole = test::elf_library("libx.so.1", {"liba.so.2"});
  EXPECT_FALSE(File::of_bytes("#!/bin/sh\n"));
  EXPECT_FALSE(File::of_bytes(""));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (const auto file = File::of_bytes(whole.substr(0, size))) {
      for (const auto& section : file->sections()) {
        EXPECT_LE(file->bytes_of(section).size(), size);
      }
      for (const auto& [tag, text] : texts_of(*file)) {
        EXPECT_TRUE(text == "(outside)" || whole.find(text) != std::string::npos) << size;
      }
    }
  }
}

} // namespace
} // namespace cukit::elf

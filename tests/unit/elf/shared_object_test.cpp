// The elf corpus: what readelf says of the good files, and that the bad ones are refused.
#include "elf/shared_object.hpp"
#include "support/corpus.hpp"

#include <gtest/gtest.h>

#include <elf.h>
#include <map>

namespace cukit::elf {
namespace {

const std::map<std::string, unsigned> k_machines = {{"Advanced Micro Devices X86-64", EM_X86_64},
                                                    {"AArch64", EM_AARCH64},
                                                    {"Intel 80386", EM_386},
                                                    {"PowerPC64", EM_PPC64}};

// What only a reader of versions or of needed libraries would see.
bool is_about_something_else(const std::string& file) {
  return file == "made/needed-offset-huge" || file.starts_with("made/verneed-");
}

TEST(ElfCorpus, row40_every_file_gets_its_verdict) {
  const auto folder = test::corpus("elf");
  int seen = 0;
  for (const auto& row : test::read_table(folder / "expected.tsv")) {
    const auto elf = read_shared_object(folder / row[0]);
    const bool is_read = elf.has_value() && elf->has_value();
    if (row[1] == "accept") {
      EXPECT_TRUE(is_read) << row[0] << (elf ? "" : ": " + elf.error().message);
    } else if (row[1] == "reject" && !is_about_something_else(row[0])) {
      EXPECT_FALSE(is_read) << row[0] << ": " << row[2];
    }
    if (!elf) {
      EXPECT_EQ(elf.error().code, ErrorCode::integrity) << row[0];
    }
    ++seen;
  }
  EXPECT_GE(seen, 57);
}

TEST(ElfCorpus, row40_machine_and_soname_are_those_that_readelf_prints) {
  const auto folder = test::corpus("elf");
  for (const auto& row : test::read_table(folder / "facts.tsv")) {
    const auto elf = read_shared_object(folder / row[0]);
    ASSERT_TRUE(elf && *elf) << row[0];
    EXPECT_EQ((*elf)->machine, k_machines.at(row[3])) << row[0];
    EXPECT_EQ((*elf)->soname, row[4]) << row[0];
  }
}

} // namespace
} // namespace cukit::elf

// What the doctor reads in ELF files and scripts. Private to survey.
#pragma once

#include "survey/root_view.hpp"

#include <string>
#include <vector>

namespace cukit::survey {

struct ElfFacts {
  std::string soname;
  std::vector<std::string> needed; ///< DT_NEEDED, in order
  std::string newest_symbol;       ///< nvJitLink's exports carry versions: "12.4"; else empty
};

/// Dynamic section by libelf. Empty for anything that is no shared object or is damaged.
ElfFacts read_elf_facts(const RootView& view, std::string_view path, bool with_symbols = false);

/// The first text that follows `marker` in the read-only data of an ELF file (in all of it where
/// no such section is named), up to 80 printable bytes; empty when there is none. Reads in pieces,
/// so that a compiler of 100 MB costs no memory.
std::string text_after(const RootView& view, std::string_view path, std::string_view marker);

/// "13.0.88" of `Cuda compilation tools, release 13.0, V13.0.88` in text; empty without.
std::string release_in(std::string_view text);

} // namespace cukit::survey

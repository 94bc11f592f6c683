// What the assembly has to know about an ELF file.
#pragma once

#include "base/files.hpp"

#include <optional>

namespace cukit::assemble {

struct ElfFile {
  unsigned machine = 0; ///< e_machine
  std::string soname;   ///< empty when there is none
};

/// Empty when the file is no ELF file (a linker script, a shell script).
Result<std::optional<ElfFile>> read_elf(const fs::path& path);

} // namespace cukit::assemble

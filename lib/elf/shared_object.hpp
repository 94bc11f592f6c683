// What an assembly has to know about an ELF file, by its program headers alone.
#pragma once

#include "base/files.hpp"

#include <optional>

namespace cukit::elf {

struct SharedObject {
  unsigned machine = 0;   ///< e_machine
  bool is_shared = false; ///< a library or a position-independent program, not an object file
  std::string soname;     ///< empty when there is none; never a path
};

/// Empty when the file is no ELF file (a linker script, a shell script). One that begins as an ELF
/// file and cannot be one, or whose SONAME is a path, is an integrity error.
Result<std::optional<SharedObject>> read_shared_object(const fs::path& path);

} // namespace cukit::elf

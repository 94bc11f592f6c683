// A handle of libelf that ends itself. Of base only the header: whoever includes it links libelf.
#pragma once

#include <libelf.h>

#include <memory>

namespace cukit {

struct EndElf {
  void operator()(Elf* elf) const { static_cast<void>(::elf_end(elf)); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

/// The ELF file behind a descriptor, which must outlive it: mapped, not read, because the libraries
/// have 100 MB and only their headers are wanted. Empty for anything that is no ELF file.
inline ElfHandle map_elf(int fd) {
  if (::elf_version(EV_CURRENT) == EV_NONE) {
    return nullptr;
  }
  ElfHandle elf(::elf_begin(fd, ELF_C_READ_MMAP, nullptr));
  return elf && ::elf_kind(elf.get()) == ELF_K_ELF ? std::move(elf) : nullptr;
}

} // namespace cukit

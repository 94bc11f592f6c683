// Private to elf: a handle of libelf that ends itself.
#pragma once

#include <libelf.h>

#include <memory>

namespace cukit::elf {

struct EndElf {
  void operator()(Elf* elf) const { static_cast<void>(::elf_end(elf)); }
};
using Handle = std::unique_ptr<Elf, EndElf>;

/// Mapped, not read. Empty for anything that is no ELF file. The descriptor must outlive it.
inline Handle map_elf(int fd) {
  if (::elf_version(EV_CURRENT) == EV_NONE) {
    return nullptr;
  }
  Handle elf(::elf_begin(fd, ELF_C_READ_MMAP, nullptr));
  return elf && ::elf_kind(elf.get()) == ELF_K_ELF ? std::move(elf) : nullptr;
}

} // namespace cukit::elf

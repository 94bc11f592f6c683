#include "assemble/elf_file.hpp"

#include <gelf.h>
#include <libelf.h>

#include <fcntl.h>
#include <memory>

namespace cukit::assemble {

namespace {

struct EndElf {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

tl::unexpected<Error> damaged(const fs::path& path) {
  const char* text = ::elf_errmsg(-1);
  return fail(ErrorCode::integrity, "{} is a damaged ELF file: {}", path.string(),
              text != nullptr ? text : "no reason given");
}

/// The offset of the SONAME in the string table of the dynamic section, if that section names one.
std::optional<std::uint64_t> soname_offset(Elf_Scn* section, const GElf_Shdr& header) {
  Elf_Data* data = ::elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) {
    return {};
  }
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Dyn entry;
    if (::gelf_getdyn(data, i, &entry) == nullptr || entry.d_tag == DT_NULL) {
      return {};
    }
    if (entry.d_tag == DT_SONAME) {
      return entry.d_un.d_val;
    }
  }
  return {};
}

Result<std::string> find_soname(Elf* elf, const fs::path& path) {
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr) {
      return damaged(path);
    }
    if (header.sh_type != SHT_DYNAMIC) {
      continue;
    }
    const auto offset = soname_offset(section, header);
    if (!offset) {
      return std::string();
    }
    const char* name = ::elf_strptr(elf, header.sh_link, *offset);
    if (name == nullptr) {
      return damaged(path);
    }
    return std::string(name);
  }
  return std::string();
}

} // namespace

Result<std::optional<ElfFile>> read_elf(const fs::path& path) {
  CUKIT_ENSURE(::elf_version(EV_CURRENT) != EV_NONE, "libelf knows the current ELF version");
  CUKIT_TRY_ASSIGN(const Fd fd, open_file(path, O_RDONLY));
  // Mapped, not read: the libraries have 100 MB and only their headers are wanted.
  const ElfHandle elf(::elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr));
  if (!elf || ::elf_kind(elf.get()) != ELF_K_ELF) {
    return std::optional<ElfFile>();
  }
  GElf_Ehdr header;
  if (::gelf_getehdr(elf.get(), &header) == nullptr) {
    return damaged(path);
  }
  ElfFile result;
  result.machine = header.e_machine;
  CUKIT_TRY_ASSIGN(result.soname, find_soname(elf.get(), path));
  return std::optional<ElfFile>(std::move(result));
}

} // namespace cukit::assemble

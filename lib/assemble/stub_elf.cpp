// A shared object of 64-bit ELF, little endian, written from nothing:
//     ELF header, program headers, .hash, .dynsym, .dynstr       segment 1, read
//     .text                                                      segment 2, read and execute
//     .dynamic                                                   segment 3, read and write (the
//     loader relocates it) .shstrtab, section headers                                 for the
//     linker, not loaded
// All symbols share one function. A segment's address is its offset in the file plus a number of
// pages, so that segments never share a page in memory and the file needs no padding.
#include "assemble/assemble.hpp"

#include <array>
#include <bit>
#include <elf.h>
#include <type_traits>

namespace cukit::assemble {

namespace {

static_assert(std::endian::native == std::endian::little, "structures are written as they are");

struct Target {
  Elf64_Half machine;
  Elf64_Xword page; ///< the largest page a kernel of this machine may use
  std::string code; ///< returns 34, CUDA_ERROR_STUB_LIBRARY
};

Target target_of(Platform platform) {
  using namespace std::string_literals;
  if (platform.machine() == "x86_64") {
    return {EM_X86_64, 0x1000, "\xb8\x22\x00\x00\x00\xc3"s}; // mov eax, 34; ret
  }
  return {EM_AARCH64, 0x10000, "\x40\x04\x80\x52\xc0\x03\x5f\xd6"s}; // mov w0, #34; ret
}

enum Section : Elf64_Half {
  k_null,
  k_hash,
  k_dynsym,
  k_dynstr,
  k_text,
  k_dynamic,
  k_shstrtab,
  k_section_count
};
constexpr Elf64_Half k_segment_count = 5;

class Strings {
public:
  Elf64_Word add(std::string_view text) {
    const auto at = static_cast<Elf64_Word>(bytes.size());
    bytes.append(text);
    bytes.push_back('\0');
    return at;
  }
  std::string bytes = std::string(1, '\0');
};

template <typename T> std::string raw(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
  return {bytes.begin(), bytes.end()};
}

/// The hash function of the System V ABI.
Elf64_Word sysv_hash(std::string_view name) {
  Elf64_Word hash = 0;
  for (const char c : name) {
    hash = (hash << 4U) + static_cast<unsigned char>(c);
    const Elf64_Word high = hash & 0xf0000000U;
    hash = (hash ^ (high >> 24U)) & ~high;
  }
  return hash;
}

std::string hash_table(const std::vector<std::string>& symbols) {
  const auto chains = static_cast<Elf64_Word>(symbols.size() + 1);
  const auto buckets = static_cast<Elf64_Word>(symbols.size() / 2 + 1);
  std::vector<Elf64_Word> table(2 + buckets + chains);
  table[0] = buckets;
  table[1] = chains;
  for (Elf64_Word index = 1; index < chains; ++index) {
    auto& head = table[2 + sysv_hash(symbols[index - 1]) % buckets];
    table[2 + buckets + index] = head;
    head = index;
  }
  std::string bytes;
  for (const auto word : table) {
    bytes += raw(word);
  }
  return bytes;
}

class StubWriter {
public:
  StubWriter(const std::vector<std::string>& symbols, Target target)
      : symbols_(symbols), target_(std::move(target)) {}

  std::string write() {
    out_.assign(sizeof(Elf64_Ehdr) + k_segment_count * sizeof(Elf64_Phdr), '\0');
    Strings names;
    for (const auto& symbol : symbols_) {
      name_offsets_.push_back(names.add(symbol));
    }
    const Elf64_Xword soname = names.add("libcuda.so.1");
    append(k_hash, 8, 0, hash_table(symbols_));
    const auto symbols_at = append(k_dynsym, 8, 0, symbol_table());
    append(k_dynstr, 1, 0, names.bytes);
    append(k_text, 16, 1, target_.code);
    patch_symbol_values(symbols_at);
    append(k_dynamic, 8, 2, dynamic_table(soname, names.bytes.size()));
    append_section_headers();
    write_header();
    write_segments();
    return std::move(out_);
  }

private:
  /// Appends a section's bytes and remembers where they are. Returns the offset.
  std::size_t append(Section section, std::size_t alignment, Elf64_Xword page_index,
                     const std::string& bytes) {
    out_.resize((out_.size() + alignment - 1) / alignment * alignment);
    auto& header = sections_[section];
    header.sh_offset = out_.size();
    header.sh_addr = out_.size() + page_index * target_.page;
    header.sh_size = bytes.size();
    header.sh_addralign = alignment;
    out_ += bytes;
    return header.sh_offset;
  }

  std::string symbol_table() {
    std::string bytes = raw(Elf64_Sym{});
    for (const auto name : name_offsets_) {
      Elf64_Sym symbol{};
      symbol.st_name = name;
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      symbol.st_other = STV_DEFAULT;
      symbol.st_shndx = k_text;
      symbol.st_size = target_.code.size();
      bytes += raw(symbol);
    }
    return bytes;
  }

  /// Where the function is becomes known after the tables before it were laid out.
  void patch_symbol_values(std::size_t table) {
    const std::string address = raw(sections_[k_text].sh_addr);
    for (std::size_t index = 1; index <= symbols_.size(); ++index) {
      out_.replace(table + index * sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_value),
                   address.size(), address);
    }
  }

  std::string dynamic_table(Elf64_Xword soname, Elf64_Xword string_bytes) {
    const std::array<std::pair<Elf64_Sxword, Elf64_Xword>, 7> entries{
        {{DT_SONAME, soname},
         {DT_HASH, sections_[k_hash].sh_addr},
         {DT_STRTAB, sections_[k_dynstr].sh_addr},
         {DT_SYMTAB, sections_[k_dynsym].sh_addr},
         {DT_STRSZ, string_bytes},
         {DT_SYMENT, sizeof(Elf64_Sym)},
         {DT_NULL, 0}}};
    std::string bytes;
    for (const auto& [tag, value] : entries) {
      Elf64_Dyn entry{};
      entry.d_tag = tag;
      entry.d_un.d_val = value;
      bytes += raw(entry);
    }
    return bytes;
  }

  void describe(Section section, Elf64_Word type, Elf64_Xword flags, Elf64_Word link,
                Elf64_Word info, Elf64_Xword entry_size) {
    auto& header = sections_[section];
    header.sh_type = type;
    header.sh_flags = flags;
    header.sh_link = link;
    header.sh_info = info;
    header.sh_entsize = entry_size;
  }

  void append_section_headers() {
    Strings names;
    const std::array<const char*, k_section_count> texts{"",      ".hash",    ".dynsym",  ".dynstr",
                                                         ".text", ".dynamic", ".shstrtab"};
    for (std::size_t i = 1; i < texts.size(); ++i) {
      sections_[i].sh_name = names.add(texts[i]);
    }
    append(k_shstrtab, 1, 0, names.bytes);
    sections_[k_shstrtab].sh_addr = 0; // not loaded
    describe(k_hash, SHT_HASH, SHF_ALLOC, k_dynsym, 0, sizeof(Elf64_Word));
    describe(k_dynsym, SHT_DYNSYM, SHF_ALLOC, k_dynstr, 1 /* first global */, sizeof(Elf64_Sym));
    describe(k_dynstr, SHT_STRTAB, SHF_ALLOC, 0, 0, 0);
    describe(k_text, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0, 0);
    describe(k_dynamic, SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, k_dynstr, 0, sizeof(Elf64_Dyn));
    describe(k_shstrtab, SHT_STRTAB, 0, 0, 0, 0);
    out_.resize((out_.size() + 7) / 8 * 8);
    section_headers_at_ = out_.size();
    for (const auto& header : sections_) {
      out_ += raw(header);
    }
  }

  void write_header() {
    Elf64_Ehdr header{};
    header.e_ident[EI_MAG0] = ELFMAG0;
    header.e_ident[EI_MAG1] = ELFMAG1;
    header.e_ident[EI_MAG2] = ELFMAG2;
    header.e_ident[EI_MAG3] = ELFMAG3;
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = target_.machine;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_shoff = section_headers_at_;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = k_segment_count;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = k_section_count;
    header.e_shstrndx = k_shstrtab;
    const auto bytes = raw(header);
    out_.replace(0, bytes.size(), bytes);
  }

  [[nodiscard]] Elf64_Phdr segment(Elf64_Word type, Elf64_Word flags, Elf64_Xword from_offset,
                                   Elf64_Xword from_address, Elf64_Xword size,
                                   Elf64_Xword alignment) const {
    Elf64_Phdr header{};
    header.p_type = type;
    header.p_flags = flags;
    header.p_offset = from_offset;
    header.p_vaddr = from_address;
    header.p_paddr = from_address;
    header.p_filesz = size;
    header.p_memsz = size;
    header.p_align = alignment;
    return header;
  }

  void write_segments() {
    const auto& strings = sections_[k_dynstr];
    const auto& text = sections_[k_text];
    const auto& dynamic = sections_[k_dynamic];
    const std::array<Elf64_Phdr, k_segment_count> segments{
        segment(PT_LOAD, PF_R, 0, 0, strings.sh_offset + strings.sh_size, target_.page),
        segment(PT_LOAD, PF_R | PF_X, text.sh_offset, text.sh_addr, text.sh_size, target_.page),
        segment(PT_LOAD, PF_R | PF_W, dynamic.sh_offset, dynamic.sh_addr, dynamic.sh_size,
                target_.page),
        segment(PT_DYNAMIC, PF_R | PF_W, dynamic.sh_offset, dynamic.sh_addr, dynamic.sh_size, 8),
        segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 16)};
    auto at = sizeof(Elf64_Ehdr);
    for (const auto& header : segments) {
      const auto bytes = raw(header);
      out_.replace(at, bytes.size(), bytes);
      at += bytes.size();
    }
  }

  const std::vector<std::string>& symbols_;
  Target target_;
  std::string out_;
  std::vector<Elf64_Word> name_offsets_;
  std::array<Elf64_Shdr, k_section_count> sections_{};
  std::size_t section_headers_at_ = 0;
};

} // namespace

std::string stub_libcuda(const std::vector<std::string>& symbols, Platform platform) {
  return StubWriter(symbols, target_of(platform)).write();
}

} // namespace cukit::assemble

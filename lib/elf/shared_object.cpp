// By program headers alone, as the dynamic loader reads a file: section headers may be cut away or
// lie.
#include "elf/shared_object.hpp"

#include "base/kept_file.hpp"
#include "base/strings.hpp"
#include "elf/handle.hpp"

#include <gelf.h>

#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace cukit::elf {

namespace {

// The dynamic section of the largest library has 40 entries of 16 bytes.
constexpr std::uint64_t k_dynamic_bytes = 1U << 20U;

tl::unexpected<Error> damaged(const fs::path& path, std::string_view why) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::integrity,
            .message = fmt::format("{} is a damaged ELF file: {}", path.string(), why),
            .hint = "the artifact that holds it is not what it should be; take it from another "
                    "source or leave it out"});
}

bool has_elf_magic(int fd) {
  std::array<char, SELFMAG> bytes{};
  return ::pread(fd, bytes.data(), bytes.size(), 0) == SELFMAG &&
         std::string_view(bytes.data(), bytes.size()) == ELFMAG;
}

struct Dynamic {
  std::optional<std::uint64_t> soname; ///< offset in the string table
  std::uint64_t strings = 0;           ///< address
  std::uint64_t strings_size = 0;
};

/// The headers of one file, with every number checked before it is used.
class Reader {
public:
  Reader(Elf* elf, const fs::path& path, std::uint64_t size)
      : elf_(elf), path_(path), size_(size) {}

  Result<SharedObject> read() {
    GElf_Ehdr header;
    if (::gelf_getehdr(elf_, &header) == nullptr || header.e_version != EV_CURRENT ||
        header.e_ehsize != ::gelf_fsize(elf_, ELF_T_EHDR, 1, EV_CURRENT)) {
      return damaged(path_, "its header cannot be read");
    }
    if (header.e_type == ET_CORE) {
      return damaged(path_, "it is a memory dump");
    }
    CUKIT_TRY(read_segments(header));
    SharedObject result;
    result.machine = header.e_machine;
    result.is_shared = header.e_type == ET_DYN;
    if (const GElf_Phdr* segment = find(PT_DYNAMIC)) {
      CUKIT_TRY_ASSIGN(const auto dynamic, read_dynamic(*segment));
      if (dynamic.soname) {
        CUKIT_TRY_ASSIGN(result.soname, read_soname(dynamic));
      }
    }
    return result;
  }

private:
  Result<void> read_segments(const GElf_Ehdr& header) {
    const auto size = ::gelf_fsize(elf_, ELF_T_PHDR, header.e_phnum, EV_CURRENT);
    const bool none = header.e_phnum == 0;
    if (!none && (header.e_phentsize != ::gelf_fsize(elf_, ELF_T_PHDR, 1, EV_CURRENT) ||
                  !is_inside(header.e_phoff, size))) {
      return damaged(path_, "its program headers lie outside of it");
    }
    for (int i = 0; i < header.e_phnum; ++i) {
      GElf_Phdr segment;
      if (::gelf_getphdr(elf_, i, &segment) == nullptr) {
        return damaged(path_, "a program header cannot be read");
      }
      if (segment.p_type == PT_LOAD && !is_inside(segment.p_offset, segment.p_filesz)) {
        return damaged(path_, "a segment lies outside of it");
      }
      segments_.push_back(segment);
    }
    return {};
  }

  [[nodiscard]] bool is_inside(std::uint64_t offset, std::uint64_t size) const {
    return offset <= size_ && size <= size_ - offset;
  }

  [[nodiscard]] const GElf_Phdr* find(std::uint32_t type) const {
    for (const auto& segment : segments_) {
      if (segment.p_type == type) {
        return &segment;
      }
    }
    return nullptr;
  }

  Result<Dynamic> read_dynamic(const GElf_Phdr& segment) {
    const auto entry_size = ::gelf_fsize(elf_, ELF_T_DYN, 1, EV_CURRENT);
    const auto size = segment.p_filesz - segment.p_filesz % entry_size;
    if (!is_inside(segment.p_offset, segment.p_filesz) || size > k_dynamic_bytes) {
      return damaged(path_, "its dynamic section lies outside of it");
    }
    Elf_Data* data =
        ::elf_getdata_rawchunk(elf_, static_cast<std::int64_t>(segment.p_offset), size, ELF_T_DYN);
    Dynamic dynamic;
    GElf_Dyn entry;
    for (int i = 0; data != nullptr && ::gelf_getdyn(data, i, &entry) != nullptr; ++i) {
      if (entry.d_tag == DT_NULL) {
        break;
      }
      if (entry.d_tag == DT_SONAME && !dynamic.soname) {
        dynamic.soname = entry.d_un.d_val;
      } else if (entry.d_tag == DT_STRTAB) {
        dynamic.strings = entry.d_un.d_ptr;
      } else if (entry.d_tag == DT_STRSZ) {
        dynamic.strings_size = entry.d_un.d_val;
      }
    }
    return dynamic;
  }

  /// Where in the file the loader would find that address.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address,
                                                       std::uint64_t size) const {
    for (const auto& segment : segments_) {
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr <= segment.p_filesz &&
          size <= segment.p_filesz - (address - segment.p_vaddr)) {
        return segment.p_offset + (address - segment.p_vaddr);
      }
    }
    return std::nullopt;
  }

  Result<std::string> read_soname(const Dynamic& dynamic) {
    const auto table = offset_of(dynamic.strings, dynamic.strings_size);
    if (!table || dynamic.strings == 0 || *dynamic.soname >= dynamic.strings_size) {
      return damaged(path_, "its SONAME lies outside of its strings");
    }
    std::size_t whole = 0;
    const char* bytes = ::elf_rawfile(elf_, &whole);
    if (bytes == nullptr || *table + dynamic.strings_size > whole) {
      return damaged(path_, "its strings lie outside of it");
    }
    const std::string_view rest(bytes + *table + *dynamic.soname,
                                dynamic.strings_size - *dynamic.soname);
    std::string name(rest.substr(0, rest.find('\0')));
    // Links are made from it, beside the library.
    const bool harmless = name.find('/') == std::string::npos && name != "." && name != ".." &&
                          printable(name) == name;
    return harmless ? Result<std::string>(std::move(name))
                    : damaged(path_, fmt::format("its SONAME is `{}`", printable(name)));
  }

  Elf* elf_;
  const fs::path& path_;
  std::uint64_t size_;
  std::vector<GElf_Phdr> segments_ = {};
};

} // namespace

Result<std::optional<SharedObject>> read_shared_object(const fs::path& path) {
  CUKIT_TRY_ASSIGN(const Fd fd, open_kept(path, O_RDONLY));
  if (!has_elf_magic(fd.get())) {
    return std::optional<SharedObject>();
  }
  const auto size = ::lseek(fd.get(), 0, SEEK_END);
  const auto elf = map_elf(fd.get());
  if (size < 0 || !elf) {
    return damaged(path, "its header cannot be read");
  }
  Reader reader(elf.get(), path, static_cast<std::uint64_t>(size));
  CUKIT_TRY_ASSIGN(auto file, reader.read());
  return std::optional<SharedObject>(std::move(file));
}

} // namespace cukit::elf

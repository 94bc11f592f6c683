#include "elf/file.hpp"

#include "elf/handle.hpp"

#include <gelf.h>

namespace cukit::elf {

namespace {

/// Of a dynamic section, and of the versions that an object needs.
constexpr int k_most_entries = 4096;

bool names_a_text(std::int64_t tag) {
  return tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH;
}

} // namespace

struct File::State {
  std::string bytes; ///< outlives the handle, which points into it
  Handle elf;
};

File::File(std::unique_ptr<State> state) : state_(std::move(state)) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

Elf* File::elf() const {
  return state_->elf.get();
}

std::optional<File> File::map(int fd) {
  auto handle = map_elf(fd);
  return handle ? std::optional(
                      File(std::make_unique<State>(State{.bytes = {}, .elf = std::move(handle)})))
                : std::nullopt;
}

std::optional<File> File::of_bytes(std::string bytes) {
  if (::elf_version(EV_CURRENT) == EV_NONE) {
    return std::nullopt;
  }
  auto state = std::make_unique<State>(State{.bytes = std::move(bytes), .elf = nullptr});
  state->elf.reset(::elf_memory(state->bytes.data(), state->bytes.size()));
  return state->elf && ::elf_kind(state->elf.get()) == ELF_K_ELF
             ? std::optional(File(std::move(state)))
             : std::nullopt;
}

std::optional<unsigned> File::machine() const {
  GElf_Ehdr header;
  return ::gelf_getehdr(elf(), &header) == nullptr ? std::nullopt
                                                   : std::optional<unsigned>(header.e_machine);
}

bool File::is_little_endian() const {
  GElf_Ehdr header;
  return ::gelf_getehdr(elf(), &header) != nullptr && header.e_ident[EI_DATA] == ELFDATA2LSB;
}

std::vector<Section> File::sections() const {
  std::vector<Section> result;
  std::size_t names = 0;
  const bool has_names = ::elf_getshdrstrndx(elf(), &names) == 0;
  for (Elf_Scn* section = ::elf_nextscn(elf(), nullptr); section != nullptr;
       section = ::elf_nextscn(elf(), section)) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr) {
      break;
    }
    const char* name = has_names ? ::elf_strptr(elf(), names, header.sh_name) : nullptr;
    result.push_back({.name = name == nullptr ? std::string_view() : std::string_view(name),
                      .type = header.sh_type,
                      .offset = header.sh_offset,
                      .size = header.sh_size,
                      .entry_size = header.sh_entsize,
                      .texts = header.sh_link,
                      .handle = section});
  }
  return result;
}

std::optional<Section> File::find(std::uint32_t type, std::uint64_t most_bytes) const {
  for (const auto& section : sections()) {
    if (section.type == type && section.size <= most_bytes) {
      return section;
    }
  }
  return std::nullopt;
}

std::optional<Section> File::find(std::string_view name) const {
  for (const auto& section : sections()) {
    if (section.name == name) {
      return section;
    }
  }
  return std::nullopt;
}

std::string_view File::bytes_of(const Section& section) const {
  const Elf_Data* data = ::elf_rawdata(section.handle, nullptr);
  return data == nullptr || data->d_buf == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(data->d_buf), data->d_size);
}

bool File::each_dynamic(
    const Section& dynamic,
    const std::function<bool(std::int64_t, std::optional<std::string_view>)>& visit) const {
  Elf_Data* data = ::elf_getdata(dynamic.handle, nullptr);
  GElf_Dyn entry;
  for (int i = 0;
       data != nullptr && i < k_most_entries && ::gelf_getdyn(data, i, &entry) != nullptr; ++i) {
    if (entry.d_tag == DT_NULL) {
      break;
    }
    if (!names_a_text(entry.d_tag)) {
      continue;
    }
    const char* text = ::elf_strptr(elf(), dynamic.texts, entry.d_un.d_val);
    if (!visit(entry.d_tag,
               text == nullptr ? std::nullopt : std::optional<std::string_view>(text))) {
      break;
    }
  }
  return data != nullptr;
}

std::optional<std::size_t>
File::each_symbol(const Section& symbols, std::size_t most,
                  const std::function<void(const Symbol&)>& visit) const {
  Elf_Data* data = ::elf_getdata(symbols.handle, nullptr);
  if (data == nullptr) {
    return std::nullopt;
  }
  GElf_Sym symbol;
  std::size_t count = 0;
  for (; count < most && ::gelf_getsym(data, static_cast<int>(count), &symbol) != nullptr;
       ++count) {
    const char* name = ::elf_strptr(elf(), symbols.texts, symbol.st_name);
    if (name != nullptr && *name != '\0') {
      visit({.name = name,
             .is_defined = symbol.st_shndx != SHN_UNDEF,
             .is_global = GELF_ST_BIND(symbol.st_info) == STB_GLOBAL,
             .index = static_cast<int>(count)});
    }
  }
  return count;
}

std::map<std::uint16_t, std::string> File::libraries_of_versions(std::uint64_t most_bytes) const {
  std::map<std::uint16_t, std::string> result;
  const auto found = find(SHT_GNU_verneed, most_bytes);
  Elf_Data* data = found ? ::elf_getdata(found->handle, nullptr) : nullptr;
  int offset = 0;
  GElf_Verneed need;
  for (int i = 0;
       data != nullptr && i < k_most_entries && ::gelf_getverneed(data, offset, &need) != nullptr;
       ++i) {
    const char* file = ::elf_strptr(elf(), found->texts, need.vn_file);
    int inner = offset + static_cast<int>(need.vn_aux);
    GElf_Vernaux aux;
    for (int j = 0;
         file != nullptr && j < need.vn_cnt && ::gelf_getvernaux(data, inner, &aux) != nullptr;
         ++j) {
      result.emplace(aux.vna_other, file);
      if (aux.vna_next == 0) {
        break;
      }
      inner += static_cast<int>(aux.vna_next);
    }
    if (need.vn_next == 0) {
      break;
    }
    offset += static_cast<int>(need.vn_next);
  }
  return result;
}

std::optional<std::uint16_t> File::version_of(const Section& versions, int symbol) const {
  constexpr GElf_Versym hidden = 0x8000;
  Elf_Data* data = ::elf_getdata(versions.handle, nullptr);
  GElf_Versym version = 0;
  return data != nullptr && ::gelf_getversym(data, symbol, &version) != nullptr
             ? std::optional(static_cast<std::uint16_t>(version & ~hidden))
             : std::nullopt;
}

} // namespace cukit::elf

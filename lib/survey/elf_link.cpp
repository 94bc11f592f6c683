#include "survey/elf_link.hpp"

#include "base/elf_handle.hpp"

#include <gelf.h>

#include <map>

namespace cukit::survey {

namespace {

/// What a look at one object counts as in the budget: its tables, which are mapped.
constexpr std::uint64_t k_link_bytes = 64U << 10U;
/// Larger tables are a mistake or an attack: libtorch's names have some 30 MB.
constexpr std::uint64_t k_table_bytes = 256U << 20U;
constexpr std::size_t k_most_needed = 256;
constexpr int k_most_entries = 4096;
/// libtorch has some 200,000.
constexpr std::size_t k_most_symbols = 2'000'000;
constexpr std::size_t k_most_wanted = 100'000;

struct Section {
  Elf_Scn* section = nullptr;
  GElf_Shdr header{};
};

std::optional<Section> find_section(Elf* elf, GElf_Word type) {
  for (Elf_Scn* section = ::elf_nextscn(elf, nullptr); section != nullptr;
       section = ::elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr) {
      return std::nullopt;
    }
    if (header.sh_type == type && header.sh_size <= k_table_bytes) {
      return Section{section, header};
    }
  }
  return std::nullopt;
}

void add_entry(Elf* elf, const Section& dynamic, const GElf_Dyn& entry, ElfLink& link) {
  const auto text = [&] {
    const char* name = ::elf_strptr(elf, dynamic.header.sh_link, entry.d_un.d_val);
    return name == nullptr ? std::string() : std::string(name);
  };
  switch (entry.d_tag) {
  case DT_SONAME:
    link.soname = text();
    break;
  case DT_RPATH:
    link.rpath = text();
    break;
  case DT_RUNPATH:
    link.runpath = text();
    break;
  case DT_NEEDED:
    if (link.needed.size() < k_most_needed) {
      link.needed.push_back(text());
    }
    break;
  default:
    break;
  }
}

/// Version index of a symbol -> the library that must define it.
std::map<GElf_Half, std::string> libraries_of_versions(Elf* elf) {
  std::map<GElf_Half, std::string> result;
  const auto found = find_section(elf, SHT_GNU_verneed);
  Elf_Data* data = found ? ::elf_getdata(found->section, nullptr) : nullptr;
  int offset = 0;
  GElf_Verneed need;
  for (int i = 0;
       data != nullptr && i < k_most_entries && ::gelf_getverneed(data, offset, &need) != nullptr;
       ++i) {
    const char* file = ::elf_strptr(elf, found->header.sh_link, need.vn_file);
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

/// Calls use(symbol, name, index) for each dynamic symbol that has a name.
template <typename Use> bool for_each_symbol(Elf* elf, const Use& use) {
  const auto found = find_section(elf, SHT_DYNSYM);
  Elf_Data* data = found ? ::elf_getdata(found->section, nullptr) : nullptr;
  if (data == nullptr || found->header.sh_entsize == 0) {
    return false;
  }
  const auto count =
      std::min<std::size_t>(found->header.sh_size / found->header.sh_entsize, k_most_symbols);
  GElf_Sym symbol;
  for (std::size_t i = 0; i < count; ++i) {
    if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) {
      return false;
    }
    const char* name = ::elf_strptr(elf, found->header.sh_link, symbol.st_name);
    if (name != nullptr && *name != '\0') {
      use(symbol, std::string_view(name), static_cast<int>(i));
    }
  }
  return true;
}

} // namespace

std::optional<ElfLink> read_elf_link(const RootView& view, std::string_view path) {
  const auto fd = view.spend(k_link_bytes) ? view.open(path) : std::nullopt;
  const auto elf = fd ? map_elf(fd->get()) : nullptr;
  const auto dynamic = elf ? find_section(elf.get(), SHT_DYNAMIC) : std::nullopt;
  Elf_Data* data = dynamic ? ::elf_getdata(dynamic->section, nullptr) : nullptr;
  if (data == nullptr) {
    return std::nullopt;
  }
  ElfLink link;
  GElf_Dyn entry;
  for (int i = 0; i < k_most_entries && ::gelf_getdyn(data, i, &entry) != nullptr; ++i) {
    if (entry.d_tag == DT_NULL) {
      break;
    }
    add_entry(elf.get(), *dynamic, entry, link);
  }
  return link;
}

std::vector<Wanted>
wanted_symbols(const RootView& view, std::string_view path,
               const std::function<bool(std::string_view, std::string_view)>& is_wanted) {
  std::vector<Wanted> result;
  const auto fd = view.spend(k_link_bytes) ? view.open(path) : std::nullopt;
  const auto elf = fd ? map_elf(fd->get()) : nullptr;
  if (!elf) {
    return result;
  }
  const auto libraries = libraries_of_versions(elf.get());
  const auto versions = find_section(elf.get(), SHT_GNU_versym);
  Elf_Data* data = versions ? ::elf_getdata(versions->section, nullptr) : nullptr;
  for_each_symbol(elf.get(), [&](const GElf_Sym& symbol, std::string_view name, int index) {
    if (symbol.st_shndx != SHN_UNDEF || GELF_ST_BIND(symbol.st_info) != STB_GLOBAL ||
        result.size() >= k_most_wanted) {
      return;
    }
    constexpr GElf_Versym k_hidden = 0x8000;
    GElf_Versym version = 0;
    auto library = libraries.end();
    if (data != nullptr && ::gelf_getversym(data, index, &version) != nullptr) {
      library = libraries.find(static_cast<GElf_Half>(version & ~k_hidden));
    }
    const std::string_view from = library == libraries.end() ? std::string_view() : library->second;
    if (is_wanted(name, from)) {
      result.push_back({.symbol = std::string(name), .library = std::string(from)});
    }
  });
  return result;
}

bool take_exported(const RootView& view, std::string_view path,
                   std::set<std::string, std::less<>>& names) {
  const auto fd = view.spend(k_link_bytes) ? view.open(path) : std::nullopt;
  const auto elf = fd ? map_elf(fd->get()) : nullptr;
  return elf && for_each_symbol(elf.get(), [&](const GElf_Sym& symbol, std::string_view name, int) {
           if (symbol.st_shndx != SHN_UNDEF) {
             if (const auto found = names.find(name); found != names.end()) {
               names.erase(found);
             }
           }
         });
}

} // namespace cukit::survey

#include "survey/elf_link.hpp"

#include "elf/file.hpp"

#include <algorithm>
#include <elf.h>

namespace cukit::survey {

namespace {

/// What a look at one object counts as in the budget: its tables, which are mapped.
constexpr std::uint64_t k_link_bytes = 64U << 10U;
/// Larger tables are a mistake or an attack: libtorch's names have some 30 MB.
constexpr std::uint64_t k_table_bytes = 256U << 20U;
constexpr std::size_t k_most_needed = 256;
/// libtorch has some 200,000.
constexpr std::size_t k_most_symbols = 2'000'000;
constexpr std::size_t k_most_wanted = 100'000;

void add_entry(std::int64_t tag, std::string_view text, ElfLink& link) {
  switch (tag) {
  case DT_SONAME:
    link.soname = text;
    break;
  case DT_RPATH:
    link.rpath = text;
    break;
  case DT_RUNPATH:
    link.runpath = text;
    break;
  case DT_NEEDED:
    if (link.needed.size() < k_most_needed) {
      link.needed.emplace_back(text);
    }
    break;
  default:
    break;
  }
}

/// Calls use(symbol) for each dynamic symbol that has a name; false when not all could be read.
bool for_each_symbol(const elf::File& file, const std::function<void(const elf::Symbol&)>& use) {
  const auto found = file.find(SHT_DYNSYM, k_table_bytes);
  if (!found || found->entry_size == 0) {
    return false;
  }
  const auto count = std::min<std::size_t>(found->size / found->entry_size, k_most_symbols);
  return file.each_symbol(*found, count, use) == count;
}

std::optional<elf::File> open_elf(const RootView& view, std::optional<Fd>& fd,
                                  std::string_view path) {
  fd = view.spend(k_link_bytes) ? view.open(path) : std::nullopt;
  return fd ? elf::File::map(fd->get()) : std::nullopt;
}

} // namespace

std::optional<ElfLink> read_elf_link(const RootView& view, std::string_view path) {
  std::optional<Fd> fd;
  const auto file = open_elf(view, fd, path);
  const auto dynamic = file ? file->find(SHT_DYNAMIC, k_table_bytes) : std::nullopt;
  ElfLink link;
  const auto add = [&](std::int64_t tag, std::optional<std::string_view> text) {
    add_entry(tag, text.value_or(""), link);
    return true;
  };
  return dynamic && file->each_dynamic(*dynamic, add) ? std::optional(std::move(link))
                                                      : std::nullopt;
}

std::vector<Wanted>
wanted_symbols(const RootView& view, std::string_view path,
               const std::function<bool(std::string_view, std::string_view)>& is_wanted) {
  std::vector<Wanted> result;
  std::optional<Fd> fd;
  const auto file = open_elf(view, fd, path);
  if (!file) {
    return result;
  }
  const auto libraries = file->libraries_of_versions(k_table_bytes);
  const auto versions = file->find(SHT_GNU_versym, k_table_bytes);
  for_each_symbol(*file, [&](const elf::Symbol& symbol) {
    if (symbol.is_defined || !symbol.is_global || result.size() >= k_most_wanted) {
      return;
    }
    const auto version = versions ? file->version_of(*versions, symbol.index) : std::nullopt;
    const auto library = version ? libraries.find(*version) : libraries.end();
    const std::string_view from = library == libraries.end() ? std::string_view() : library->second;
    if (is_wanted(symbol.name, from)) {
      result.push_back({.symbol = std::string(symbol.name), .library = std::string(from)});
    }
  });
  return result;
}

bool take_exported(const RootView& view, std::string_view path,
                   std::set<std::string, std::less<>>& names) {
  std::optional<Fd> fd;
  const auto file = open_elf(view, fd, path);
  return file && for_each_symbol(*file, [&](const elf::Symbol& symbol) {
           if (symbol.is_defined) {
             if (const auto found = names.find(symbol.name); found != names.end()) {
               names.erase(found);
             }
           }
         });
}

} // namespace cukit::survey

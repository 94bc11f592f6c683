// ELF files by their section headers, through libelf, which no other module sees. Whatever the
// bytes are, no call reads outside of them, and what cannot be read is absent. Numbers of types and
// tags are those of <elf.h>.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct Elf;
struct Elf_Scn;

namespace cukit::elf {

struct Section {
  std::string_view name; ///< empty where it cannot be told
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entry_size = 0;
  std::size_t texts = 0; ///< number of the section that its entries name texts of
  Elf_Scn* handle = nullptr;
};

struct Symbol {
  std::string_view name;
  bool is_defined = false;
  bool is_global = false; ///< neither local nor weak
  int index = 0;
};

class File {
public:
  /// The file behind a descriptor, which must outlive it: mapped, not read, because the libraries
  /// have 100 MB and only their headers are wanted. Nothing for anything that is no ELF file.
  static std::optional<File> map(int fd);
  /// The same of bytes in memory.
  static std::optional<File> of_bytes(std::string bytes);

  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  [[nodiscard]] std::optional<unsigned> machine() const; ///< e_machine
  [[nodiscard]] bool is_little_endian() const;
  /// Up to the first whose header cannot be read.
  [[nodiscard]] std::vector<Section> sections() const;
  /// The first of that type that has no more bytes than that.
  [[nodiscard]] std::optional<Section> find(std::uint32_t type, std::uint64_t most_bytes) const;
  [[nodiscard]] std::optional<Section> find(std::string_view name) const;
  /// As they stand in the file; empty where they lie outside of it. Views live as long as the file.
  [[nodiscard]] std::string_view bytes_of(const Section& section) const;

  /// The entries of a dynamic section that name a text (DT_NEEDED, DT_SONAME, DT_RPATH and
  /// DT_RUNPATH), until `visit(tag, text)` returns false; `text` is nothing where it lies outside.
  /// False when the section cannot be read.
  bool each_dynamic(
      const Section& dynamic,
      const std::function<bool(std::int64_t, std::optional<std::string_view>)>& visit) const;
  /// The first `most` symbols of a table that have a name; how many were read, with a name or
  /// without, and nothing when the table cannot be read.
  std::optional<std::size_t> each_symbol(const Section& symbols, std::size_t most,
                                         const std::function<void(const Symbol&)>& visit) const;
  /// The number of a version -> the library that must define symbols of it.
  [[nodiscard]] std::map<std::uint16_t, std::string>
  libraries_of_versions(std::uint64_t most_bytes) const;
  /// The number of a symbol's version, in a table of type SHT_GNU_versym.
  [[nodiscard]] std::optional<std::uint16_t> version_of(const Section& versions, int symbol) const;

private:
  struct State;
  explicit File(std::unique_ptr<State> state);
  [[nodiscard]] Elf* elf() const;
  std::unique_ptr<State> state_;
};

} // namespace cukit::elf

#include "survey/elf_facts.hpp"

#include "base/strings.hpp"
#include "elf/file.hpp"
#include "model/version.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <elf.h>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace cukit::survey {

namespace {

constexpr std::size_t k_piece = 256U << 10U;
constexpr std::uint64_t k_scan_limit = 256U << 20U;
constexpr int k_needed_limit = 256;
constexpr std::size_t k_symbol_limit = 20'000;
constexpr std::uint64_t k_section_bytes = 64U << 20U; // one at an odd place is copied as a whole
constexpr std::uint64_t k_elf_bytes = 1U << 20U;      // what the headers count against a budget

struct Range {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

std::string printable_start(std::string_view bytes) {
  const auto end =
      std::find_if(bytes.begin(), bytes.end(), [](char c) { return c < 0x20 || c == 0x7f; });
  return std::string(bytes.begin(), end).substr(0, 80);
}

/// __nvJitLinkCreate_12_4 -> 12.4
std::optional<Version> symbol_version(std::string_view name) {
  if (!name.starts_with("__nvJitLink")) {
    return std::nullopt;
  }
  const auto last = name.rfind('_');
  const auto before = last == 0 ? last : name.rfind('_', last - 1);
  if (last == std::string_view::npos || before == std::string_view::npos || before < 2) {
    return std::nullopt;
  }
  auto version = Version::parse(
      fmt::format("{}.{}", name.substr(before + 1, last - before - 1), name.substr(last + 1)));
  if (!version) {
    return std::nullopt;
  }
  return *std::move(version);
}

void read_dynamic(const elf::File& file, const elf::Section& section, ElfFacts& facts) {
  file.each_dynamic(section, [&](std::int64_t tag, std::optional<std::string_view> text) {
    if (tag != DT_NEEDED && tag != DT_SONAME) {
      return true;
    }
    if (text && tag == DT_SONAME) {
      facts.soname = *text;
    } else if (text && facts.needed.size() < k_needed_limit) {
      facts.needed.emplace_back(*text);
    }
    return text.has_value();
  });
}

void read_symbols(const elf::File& file, const elf::Section& section, ElfFacts& facts) {
  std::optional<Version> newest;
  file.each_symbol(section, k_symbol_limit, [&](const elf::Symbol& symbol) {
    if (!symbol.is_defined) {
      return;
    }
    if (auto version = symbol_version(symbol.name); version && (!newest || *newest < *version)) {
      newest = std::move(version);
    }
  });
  if (newest) {
    facts.newest_symbol = newest->text();
  }
}

} // namespace

ElfFacts read_elf_facts(const RootView& view, std::string_view path, bool with_symbols) {
  ElfFacts facts;
  const auto fd = view.spend(k_elf_bytes) ? view.open(path) : std::nullopt;
  const auto file = fd ? elf::File::map(fd->get()) : std::nullopt;
  for (const auto& section : file ? file->sections() : std::vector<elf::Section>()) {
    if (section.size > k_section_bytes) {
      continue;
    }
    if (section.type == SHT_DYNAMIC) {
      read_dynamic(*file, section, facts);
    } else if (section.type == SHT_DYNSYM && with_symbols) {
      read_symbols(*file, section, facts);
    }
  }
  return facts;
}

namespace {

/// Where the next bytes are that are more than a hole; `end` when there are none.
std::uint64_t next_data(int fd, std::uint64_t offset, std::uint64_t end) {
  const auto data = ::lseek(fd, static_cast<off_t>(offset), SEEK_DATA);
  if (data < 0) {
    return errno == ENXIO ? end : offset;
  }
  return std::min(static_cast<std::uint64_t>(data), end);
}

std::string find_text(const RootView& view, int fd, const Range& range, std::string_view marker) {
  const std::size_t overlap = marker.size() + 96;
  std::string buffer;
  std::uint64_t offset = range.offset;
  const auto size = ::lseek(fd, 0, SEEK_END);
  const std::uint64_t end =
      std::min<std::uint64_t>(range.offset + std::min(range.size, k_scan_limit),
                              size < 0 ? 0 : static_cast<std::uint64_t>(size));
  while (offset < end) {
    if (const auto data = next_data(fd, offset, end); data > offset) {
      buffer.clear();
      offset = data;
      continue;
    }
    const std::size_t kept = buffer.size();
    buffer.resize(kept + k_piece);
    const ssize_t got = ::pread(fd, buffer.data() + kept, k_piece, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      buffer.resize(kept);
      continue;
    }
    if (got <= 0 || !view.spend(static_cast<std::uint64_t>(got))) {
      return {};
    }
    buffer.resize(kept + static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
    for (auto at = buffer.find(marker); at != std::string::npos; at = buffer.find(marker, at + 1)) {
      const auto rest = std::string_view(buffer).substr(at + marker.size());
      if (rest.size() < 80 && offset < end) {
        break; // it goes on in the next piece; the overlap keeps its beginning
      }
      // the tools hold a format string too: "release %d.%d"
      if (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
        return printable_start(rest);
      }
    }
    buffer.erase(0, buffer.size() - std::min(buffer.size(), overlap));
  }
  return {};
}

} // namespace

std::string text_after(const RootView& view, std::string_view path, std::string_view marker) {
  const auto entry = view.find(path);
  if (!entry) {
    return {};
  }
  auto& known = view.remembered(fmt::format("{} of {}", marker, entry->real));
  if (known) {
    return *known;
  }
  const auto fd = view.open(entry->real);
  Range range{0, k_scan_limit};
  const auto file = fd ? elf::File::map(fd->get()) : std::nullopt;
  if (const auto data = file ? file->find(".rodata") : std::nullopt) {
    range = {data->offset, data->size};
  }
  known = fd ? find_text(view, fd->get(), range, marker) : std::string();
  return *known;
}

std::string release_in(std::string_view text) {
  const auto version_at = [&](std::size_t at) {
    const auto rest = text.substr(at);
    return std::string(
        rest.substr(0, std::min(rest.find_first_not_of("0123456789."), rest.size())));
  };
  if (const auto at = text.find(", V"); at != std::string_view::npos) {
    if (auto full = version_at(at + 3); !full.empty()) {
      return full;
    }
  }
  const auto at = text.find("release ");
  return at == std::string_view::npos ? std::string() : version_at(at + 8);
}

} // namespace cukit::survey

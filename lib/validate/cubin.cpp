// Cubins through libelf. The ELF flags of sm_90 and sm_90a are equal; what ptxas and nvlink were
// told stands in their note.
#include "base/elf_handle.hpp"
#include "base/strings.hpp"
#include "validate/validate.hpp"

#include <gelf.h>

#include <array>
#include <cstring>

namespace cukit::validate {

namespace {

constexpr unsigned k_machine_cuda = 190;      // EM_CUDA
constexpr unsigned k_tool_information = 2000; // type of the note
constexpr std::string_view k_section = ".note.nv.tkinfo";

struct Tool {
  std::string name;      ///< ptxas or nvlink
  std::string arguments; ///< -arch sm_90a -m 64
};

tl::unexpected<Error> bad(std::string_view why) {
  return fail(ErrorCode::integrity, "not a cubin whose target can be told: {}", why);
}

/// The note's content: a number of its form, five offsets of texts (object file, tool, version,
/// build, arguments), the texts.
std::optional<Tool> read_tool(std::string_view content) {
  std::array<std::uint32_t, 6> header{};
  if (content.size() < sizeof header) {
    return std::nullopt;
  }
  std::memcpy(header.data(), content.data(), sizeof header); // both sides are little-endian
  const auto texts = content.substr(sizeof header);
  const auto text_at = [&](std::uint32_t offset) {
    if (offset >= texts.size()) {
      return std::string();
    }
    const auto rest = texts.substr(offset);
    return std::string(rest.substr(0, rest.find('\0')));
  };
  return Tool{.name = text_at(header[2]), .arguments = text_at(header[5])};
}

Elf_Data* find_section(Elf* elf) {
  std::size_t names = 0;
  if (::elf_getshdrstrndx(elf, &names) != 0) {
    return nullptr;
  }
  for (Elf_Scn* section = ::elf_nextscn(elf, nullptr); section != nullptr;
       section = ::elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr) {
      continue;
    }
    const char* name = ::elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && name == k_section) {
      return ::elf_rawdata(section, nullptr);
    }
  }
  return nullptr;
}

/// The notes of a section: three numbers, the owner's name and the content, each padded to four
/// bytes.
std::vector<Tool> read_tools(std::string_view section) {
  std::vector<Tool> tools;
  while (section.size() >= 12) {
    std::array<std::uint32_t, 3> header{}; // sizes of name and content, type
    std::memcpy(header.data(), section.data(), sizeof header);
    const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    const std::uint64_t content_at = sizeof header + padded(header[0]);
    if (content_at + header[1] > section.size()) {
      break;
    }
    if (header[2] == k_tool_information) {
      if (auto tool = read_tool(section.substr(content_at, header[1]))) {
        tools.push_back(*std::move(tool));
      }
    }
    section.remove_prefix(std::min<std::uint64_t>(section.size(), content_at + padded(header[1])));
  }
  return tools;
}

Result<std::string> target_of(const Tool& tool) {
  const auto words = split_words(tool.arguments);
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view option : {"-arch", "--arch", "-gpu-name", "--gpu-name"}) {
      std::string_view value;
      if (words[i] == option && i + 1 < words.size()) {
        value = words[i + 1];
      } else if (words[i].starts_with(option) && words[i].substr(option.size()).starts_with('=')) {
        value = words[i].substr(option.size() + 1);
      } else {
        continue;
      }
      const auto target = GpuTarget::parse(value);
      return target && value.starts_with("sm_") ? Result<std::string>(target->sm())
                                                : bad(fmt::format("`{}`", printable(value)));
    }
  }
  return bad(fmt::format("the command line of {} names no architecture", printable(tool.name)));
}

} // namespace

Result<std::string> sass_target(std::string_view cubin) {
  if (::elf_version(EV_CURRENT) == EV_NONE) {
    return bad("libelf is older than its header");
  }
  std::string bytes(cubin); // elf_memory wants them writable
  const ElfHandle elf(::elf_memory(bytes.data(), bytes.size()));
  GElf_Ehdr header;
  if (elf == nullptr || ::elf_kind(elf.get()) != ELF_K_ELF ||
      ::gelf_getehdr(elf.get(), &header) == nullptr) {
    return bad("it is no ELF file");
  }
  if (header.e_machine != k_machine_cuda || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return bad(fmt::format("it is for machine {}", header.e_machine));
  }
  const Elf_Data* data = find_section(elf.get());
  if (data == nullptr || data->d_buf == nullptr) {
    return bad(fmt::format("it has no {}", k_section));
  }
  const auto tools =
      read_tools(std::string_view(static_cast<const char*>(data->d_buf), data->d_size));
  for (const auto& tool : tools) {
    if (tool.name == "nvlink") { // a linked cubin also holds the notes of what it was linked from
      return target_of(tool);
    }
  }
  return tools.empty() ? bad("its note holds no tool") : target_of(tools.front());
}

} // namespace cukit::validate

// Which GPU a cubin is for. The ELF flags of sm_90 and sm_90a are equal; what ptxas and nvlink were
// told stands in their note.
#include "base/strings.hpp"
#include "elf/file.hpp"
#include "validate/validate.hpp"

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
  const auto file = elf::File::of_bytes(std::string(cubin));
  const auto machine = file ? file->machine() : std::nullopt;
  if (!machine) {
    return bad("it is no ELF file");
  }
  if (*machine != k_machine_cuda || !file->is_little_endian()) {
    return bad(fmt::format("it is for machine {}", *machine));
  }
  const auto section = file->find(k_section);
  const auto notes = section ? file->bytes_of(*section) : std::string_view();
  if (notes.empty()) {
    return bad(fmt::format("it has no {}", k_section));
  }
  const auto tools = read_tools(notes);
  for (const auto& tool : tools) {
    if (tool.name == "nvlink") { // a linked cubin also holds the notes of what it was linked from
      return target_of(tool);
    }
  }
  return tools.empty() ? bad("its note holds no tool") : target_of(tools.front());
}

} // namespace cukit::validate

#include "venv/users.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::venv {

namespace {
constexpr std::uint64_t k_maps_bytes = 64U << 20U;
}

std::vector<std::string> users_of(const fs::path& folder, const fs::path& proc) {
  std::vector<std::string> result;
  const auto wanted = " " + folder.string() + "/";
  const auto names = list_directory(proc).value_or(std::vector<std::string>());
  for (const auto& name : names) {
    const bool is_process = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return c >= '0' && c <= '9';
    });
    const auto maps =
        is_process ? read_file(proc / name / "maps", k_maps_bytes) : tl::unexpected<Error>(Error{});
    if (maps && maps->find(wanted) != std::string::npos) {
      const auto program = read_file(proc / name / "comm", 4096).value_or("");
      result.push_back(fmt::format("{} ({})", printable(trim(program)), name));
    }
  }
  return result;
}

} // namespace cukit::venv

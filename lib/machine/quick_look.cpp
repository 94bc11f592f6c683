#include "base/strings.hpp"
#include "machine/machine.hpp"

#include <algorithm>
#include <gnu/libc-version.h>

namespace cukit::machine {

namespace {

constexpr std::uint64_t k_quick_bytes = 64U << 10U;

/// 580.159.04: digits and dots, two or three parts.
std::optional<Version> driver_version(std::string_view word) {
  const auto dots = std::count(word.begin(), word.end(), '.');
  if (dots < 1 || dots > 2 || word.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::nullopt;
  }
  auto version = Version::parse(word);
  if (!version) {
    return std::nullopt;
  }
  return *std::move(version);
}

} // namespace

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue ...", or, with the open modules,
// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build ..."
std::optional<Version> module_version(const ReadSmallFile& read) {
  if (const auto text = read("/proc/driver/nvidia/version", k_quick_bytes)) {
    for (const auto line : split(*text, '\n')) {
      if (!line.starts_with("NVRM version")) {
        continue;
      }
      for (const auto word : split_words(line)) {
        if (auto version = driver_version(word)) {
          return version;
        }
      }
    }
  }
  const auto text = read("/sys/module/nvidia/version", k_quick_bytes);
  return text ? driver_version(trim(*text)) : std::nullopt;
}

std::string driver_text(const Version& version) {
  return version.release().size() == 3
             ? fmt::format("{}.{}.{:02}", version.part(0), version.part(1), version.part(2))
             : version.text();
}

QuickLook quick_look(const fs::path& root) {
  const auto read = [&](const std::string& path,
                        std::uint64_t limit) -> std::optional<std::string> {
    std::error_code error;
    const fs::path file = root / path.substr(1);
    if (!fs::is_regular_file(file, error)) { // a pipe would make the reader wait
      return std::nullopt;
    }
    auto text = read_file(file, limit);
    return text ? std::optional(*std::move(text)) : std::nullopt;
  };
  const fs::path gpus = root / "proc/driver/nvidia/gpus";
  const auto names = list_directory(gpus).value_or(std::vector<std::string>());
  const auto count = std::count_if(names.begin(), names.end(), [&](const auto& name) {
    std::error_code error;
    return fs::exists(gpus / name / "information", error);
  });
  return {.driver = module_version(read), .gpu_count = static_cast<int>(count)};
}

Version glibc_version() {
  return Version::parse(::gnu_get_libc_version()).value_or(Version());
}

} // namespace cukit::machine

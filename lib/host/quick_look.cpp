#include "base/strings.hpp"
#include "host/machine.hpp"

#include <algorithm>
#include <gnu/libc-version.h>

namespace cukit::host {

namespace {

constexpr std::uint64_t k_proc_bytes = 64U << 10U;

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

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue ...", or, with the open modules,
// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build ..."
std::optional<Version> version_of_module(const fs::path& root) {
  if (const auto text = read_file(root / "proc/driver/nvidia/version", k_proc_bytes)) {
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
  if (const auto text = read_file(root / "sys/module/nvidia/version", k_proc_bytes)) {
    return driver_version(trim(*text));
  }
  return std::nullopt;
}

} // namespace

std::string driver_text(const Version& version) {
  return version.release().size() == 3
             ? fmt::format("{}.{}.{:02}", version.part(0), version.part(1), version.part(2))
             : version.text();
}

QuickLook quick_look(const fs::path& root) {
  QuickLook look;
  look.driver = version_of_module(root);
  const fs::path gpus = root / "proc/driver/nvidia/gpus";
  if (const auto names = list_directory(gpus)) {
    look.gpu_count =
        static_cast<int>(std::count_if(names->begin(), names->end(), [&](const auto& name) {
          return path_exists(gpus / name / "information");
        }));
  }
  return look;
}

Version glibc_version() {
  return Version::parse(::gnu_get_libc_version()).value_or(Version());
}

} // namespace cukit::host

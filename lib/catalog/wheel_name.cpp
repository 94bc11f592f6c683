#include "base/strings.hpp"
#include "catalog/catalog.hpp"
#include "model/project_name.hpp"

#include <algorithm>

namespace cukit::catalog {

namespace {

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The C library of a platform tag as (major, minor), with the machine; nothing for other systems.
struct PlatformTag {
  std::string_view machine;
  Version glibc;
};

std::optional<PlatformTag> manylinux(std::string_view rest, std::string_view machine) {
  // PEP 513, 571, 599: the old names stand for these versions
  static constexpr std::pair<std::string_view, std::string_view> old_names[] = {
      {"1", "2.5"}, {"2010", "2.12"}, {"2014", "2.17"}};
  for (const auto& [name, glibc] : old_names) {
    if (rest == name) {
      return PlatformTag{machine, *Version::parse(glibc)};
    }
  }
  // manylinux_2_28 (PEP 600)
  const auto parts = split(rest, '_');
  const bool numbers = parts.size() == 3 && parts[0].empty() &&
                       std::all_of(parts.begin() + 1, parts.end(), [](std::string_view part) {
                         return !part.empty() && part.size() < 4 &&
                                part.find_first_not_of("0123456789") == std::string_view::npos;
                       });
  if (!numbers) {
    return std::nullopt;
  }
  return PlatformTag{machine, *Version::parse(fmt::format("{}.{}", parts[1], parts[2]))};
}

std::optional<PlatformTag> platform_tag(std::string_view tag) {
  for (const std::string_view machine : {"x86_64", "aarch64"}) {
    const auto ending = "_" + std::string(machine);
    if (!tag.ends_with(ending)) {
      continue;
    }
    tag.remove_suffix(ending.size());
    if (tag == "linux") {
      return PlatformTag{machine, Version()};
    }
    return tag.starts_with("manylinux")
               ? manylinux(tag.substr(std::string_view("manylinux").size()), machine)
               : std::nullopt;
  }
  return std::nullopt;
}

/// Sets machine and glibc from the compressed tag set of a name; false: none of them is ours.
bool set_platform(std::string_view tags, WheelFile& wheel) {
  std::optional<PlatformTag> best;
  for (const auto tag : split(tags, '.')) {
    if (tag == "any") {
      wheel.machine = "any";
      return true;
    }
    const auto one = platform_tag(tag);
    if (one && (!best || (one->machine == best->machine && one->glibc < best->glibc))) {
      best = one;
    }
  }
  if (!best) {
    return false;
  }
  wheel.machine = std::string(best->machine);
  wheel.glibc = best->glibc == Version() ? "" : best->glibc.text();
  return true;
}

bool is_wheel_project(std::string_view name) {
  return !name.empty() && name.find("__") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return is_alnum(c) || c == '_' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
         });
}

bool is_tag_set(std::string_view tags) {
  const auto parts = split(tags, '.');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    return !part.empty() &&
           std::all_of(part.begin(), part.end(), [](char c) { return is_alnum(c) || c == '_'; });
  });
}

} // namespace

bool is_project_name(std::string_view name) {
  return !name.empty() && is_alnum(name.front()) && is_alnum(name.back()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::optional<WheelFile> parse_wheel_name(std::string_view file) {
  if (file.size() > 255 || !file.ends_with(".whl") || !is_utf8(file)) {
    return std::nullopt;
  }
  auto parts = split(file.substr(0, file.size() - 4), '-');
  if (parts.size() == 6) { // with a build tag, which begins with a digit
    const auto build = parts[2];
    const bool valid = !build.empty() && build.front() >= '0' && build.front() <= '9' &&
                       std::all_of(build.begin(), build.end(), is_alnum);
    if (!valid) {
      return std::nullopt;
    }
    parts.erase(parts.begin() + 2);
  }
  if (parts.size() != 5 || !is_wheel_project(parts[0]) || !is_tag_set(parts[2]) ||
      !is_tag_set(parts[3]) || !is_tag_set(parts[4])) {
    return std::nullopt;
  }
  const auto pythons = split(parts[2], '.');
  const bool starts_with_letter = std::none_of(pythons.begin(), pythons.end(), [](auto python) {
    return python.front() >= '0' && python.front() <= '9';
  });
  auto version = Version::parse(parts[1]);
  WheelFile wheel;
  wheel.file = std::string(file);
  wheel.project = normalised_project(parts[0]);
  if (!starts_with_letter || !version || !set_platform(parts[4], wheel)) {
    return std::nullopt;
  }
  wheel.version = *std::move(version);
  return wheel;
}

} // namespace cukit::catalog

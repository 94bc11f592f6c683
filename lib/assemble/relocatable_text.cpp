// pkg-config files, and CMake files beside them: ours, and those that artifacts bring freed of the
// place they were made for.
#include "assemble/entry_text.hpp"
#include "assemble/normalise.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <cctype>

namespace cukit::assemble {

namespace {

constexpr std::string_view k_installed_root = "/usr/local/cuda";

/// ${pcfiledir}/../.. for lib/pkgconfig/cuda.pc
std::string way_up(const RelativePath& path) {
  std::string text = path.text().ends_with(".pc") ? "${pcfiledir}" : "${CMAKE_CURRENT_LIST_DIR}";
  for (auto count = std::count(path.text().begin(), path.text().end(), '/'); count > 0; --count) {
    text += "/..";
  }
  return text;
}

/// How many bytes at the start of `text` are the installed root, with or without a version; 0:
/// none.
std::size_t root_length(std::string_view text) {
  if (!text.starts_with(k_installed_root)) {
    return 0;
  }
  std::size_t length = k_installed_root.size();
  const auto digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  if (length < text.size() && text[length] == '-' && digit(length + 1)) {
    ++length;
    while (digit(length) || (length < text.size() && text[length] == '.' && digit(length + 1))) {
      ++length;
    }
  }
  const bool ends =
      length == text.size() || (std::isalnum(static_cast<unsigned char>(text[length])) == 0 &&
                                text[length] != '_' && text[length] != '-');
  return ends ? length : 0;
}

/// `prefix=/opt/cuda` names the root in a line of its own.
std::string_view root_variable(std::string_view line) {
  for (const std::string_view name : {"prefix=/", "cudaroot=/"}) {
    if (line.starts_with(name)) {
      return name.substr(0, name.size() - 1);
    }
  }
  return {};
}

std::string pc_file(std::string_view library, std::string_view description, const Version& release,
                    std::string_view libs) {
  return fmt::format("prefix=${{pcfiledir}}/../..\n"
                     "libdir=${{prefix}}/lib\n"
                     "includedir=${{prefix}}/include\n"
                     "\n"
                     "Name: {}\n"
                     "Description: {}\n"
                     "Version: {}\n"
                     "Libs: {}\n"
                     "Cflags: -I${{includedir}}\n",
                     library, description, release.major_minor(), libs);
}

Result<void> add_pair(Claims& claims, const std::string& library, std::string_view description,
                      const Version& release, std::string_view libs) {
  for (const auto& name : {library, fmt::format("{}-{}", library, release.major_minor())}) {
    const std::string path = fmt::format("lib/pkgconfig/{}.pc", name);
    if (!claims.has(path)) {
      CUKIT_TRY(claims.add_content(path, pc_file(library, description, release, libs)));
    }
  }
  return {};
}

} // namespace

std::string without_absolute_root(std::string_view text, const RelativePath& path) {
  const std::string up = way_up(path);
  const bool is_pc = path.text().ends_with(".pc");
  std::string result;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto variable = is_pc ? root_variable(line) : std::string_view();
    if (!variable.empty()) {
      result += fmt::format("{}{}\n", variable, up);
      continue;
    }
    while (!line.empty()) {
      const auto length = root_length(line);
      if (length > 0) {
        result += up;
        line.remove_prefix(length);
      } else {
        result += line.front();
        line.remove_prefix(1);
      }
    }
    result += '\n';
  }
  return result;
}

Result<void> remove_absolute_paths(Claims& claims) {
  for (const auto& path : claims.all()) {
    const auto* file = claims.find(path);
    if (file->from.empty() || (!path.ends_with(".pc") && !path.ends_with(".cmake"))) {
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto text, read_entry_text(*file));
    if (text.find(k_installed_root) != std::string::npos ||
        (path.ends_with(".pc") && text.find("=/") != std::string::npos)) {
      claims.replace_content(path, without_absolute_root(text, file->path));
    }
  }
  return {};
}

Result<void> add_pkg_config(Claims& claims, const Version& release) {
  if (claims.has("lib/stubs/libcuda.so")) {
    CUKIT_TRY(add_pair(claims, "cuda", "CUDA Driver Library", release, "-L${libdir}/stubs -lcuda"));
  }
  if (claims.has("lib/libcudart.so")) {
    CUKIT_TRY(add_pair(claims, "cudart", "CUDA Runtime Library", release, "-L${libdir} -lcudart"));
  }
  return {};
}

} // namespace cukit::assemble

#include "validate/libraries.hpp"

#include "elf/shared_object.hpp"

#include <set>

namespace cukit::validate {

namespace {

bool matches(const std::string& name, std::string_view pattern) {
  if (pattern.ends_with('*')) {
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
  }
  return name == pattern;
}

Result<BundleFile> copy_library(const fs::path& from, const fs::path& out) {
  CUKIT_TRY_ASSIGN(const auto name, soname(from));
  BundleFile file;
  CUKIT_TRY_ASSIGN(file.path, RelativePath::parse("lib/" + name));
  const fs::path to = out / file.path.text();
  if (!path_exists(to)) {
    CUKIT_TRY(make_directories(to.parent_path()));
    std::error_code error;
    if (!fs::copy_file(from, to, error) || error) {
      return fail_errno(error.value(), "cannot copy {} to {}", from.string(), to.string());
    }
    fs::permissions(to, static_cast<fs::perms>(0755), error);
    if (error) {
      return fail_errno(error.value(), "cannot set the mode of {}", to.string());
    }
  }
  CUKIT_TRY_ASSIGN(file.sha256, sha256_of_file(to));
  return file;
}

} // namespace

Result<std::string> soname(const fs::path& library) {
  CUKIT_TRY_ASSIGN(const auto elf, elf::read_shared_object(library));
  if (!elf || !elf->is_shared) {
    return fail(ErrorCode::integrity, "{} is no shared library", library.string());
  }
  return elf->soname.empty() ? library.filename().string() : elf->soname;
}

Result<std::vector<BundleFile>> copy_libraries(const fs::path& tree, const std::string& pattern,
                                               const fs::path& out) {
  const fs::path folder = tree / fs::path(pattern).parent_path();
  const std::string wanted = fs::path(pattern).filename().string();
  CUKIT_TRY_ASSIGN(const auto names, list_directory(folder));
  std::vector<BundleFile> files;
  std::set<fs::path> seen; // libcudart.so.13 and libcudart.so.13.0.96 are one file
  for (const auto& name : names) {
    std::error_code error;
    const auto real = fs::canonical(folder / name, error);
    if (!matches(name, wanted) || error || !seen.insert(real).second) {
      continue;
    }
    CUKIT_TRY_ASSIGN(auto file, copy_library(real, out));
    files.push_back(std::move(file));
  }
  if (files.empty()) {
    return fail(ErrorCode::expected_no, "the toolkit has no {}", pattern);
  }
  return files;
}

} // namespace cukit::validate

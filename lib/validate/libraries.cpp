#include "validate/libraries.hpp"

#include <gelf.h>
#include <libelf.h>

#include <fcntl.h>
#include <set>

namespace cukit::validate {

namespace {

struct ElfCloser {
  void operator()(Elf* elf) const { static_cast<void>(::elf_end(elf)); }
};
using ElfHandle = std::unique_ptr<Elf, ElfCloser>;

std::string find_soname(Elf* elf) {
  for (Elf_Scn* section = ::elf_nextscn(elf, nullptr); section != nullptr;
       section = ::elf_nextscn(elf, section)) {
    GElf_Shdr header;
    Elf_Data* data = ::elf_getdata(section, nullptr);
    if (::gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC ||
        data == nullptr) {
      continue;
    }
    GElf_Dyn entry;
    for (int i = 0; ::gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
      if (entry.d_tag == DT_SONAME) {
        const char* name = ::elf_strptr(elf, header.sh_link, entry.d_un.d_val);
        return name != nullptr ? name : "";
      }
    }
  }
  return {};
}

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
  CUKIT_TRY_ASSIGN(const Fd fd, open_file(library, O_RDONLY | O_CLOEXEC));
  if (::elf_version(EV_CURRENT) == EV_NONE) {
    return fail(ErrorCode::host, "libelf is older than its header");
  }
  const ElfHandle elf(::elf_begin(fd.get(), ELF_C_READ, nullptr));
  GElf_Ehdr header;
  if (elf == nullptr || ::elf_kind(elf.get()) != ELF_K_ELF ||
      ::gelf_getehdr(elf.get(), &header) == nullptr || header.e_type != ET_DYN) {
    return fail(ErrorCode::integrity, "{} is no shared library", library.string());
  }
  auto name = find_soname(elf.get());
  return name.empty() ? library.filename().string() : name;
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

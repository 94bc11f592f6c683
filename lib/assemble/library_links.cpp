// The names under which a shared library is looked for: its SONAME (by the loader) and the name
// without a version (by the linker). Wheels cannot hold links, so they bring one of the three names
// only.
#include "assemble/normalise.hpp"
#include "elf/shared_object.hpp"

#include <elf.h>

namespace cukit::assemble {

namespace {

unsigned machine_of(Platform platform) {
  return platform.machine() == "x86_64" ? EM_X86_64 : EM_AARCH64;
}

/// libcudart.so of libcudart.so.13; empty when the name has no `.so` part.
std::string unversioned(std::string_view name) {
  for (auto at = name.find(".so"); at != std::string_view::npos; at = name.find(".so", at + 1)) {
    if (at + 3 == name.size() || name[at + 3] == '.') {
      return std::string(name.substr(0, at + 3));
    }
  }
  return {};
}

Result<elf::SharedObject> checked_elf(const TreeFile& file, Platform platform, bool& is_elf) {
  CUKIT_TRY_ASSIGN(auto elf, elf::read_shared_object(file.from));
  is_elf = elf.has_value();
  if (elf && elf->machine != machine_of(platform)) {
    auto error =
        Error{.code = ErrorCode::integrity,
              .message = fmt::format("{} of {} was made for another processor (ELF "
                                     "machine {}), not for {}",
                                     file.path.text(), file.owner, elf->machine, platform.text())};
    error.hint = "the lock names an artifact of another platform; make it again";
    return tl::unexpected<Error>(std::move(error));
  }
  return elf ? *std::move(elf) : elf::SharedObject();
}

/// Links lib/`name` to `target` (a name in lib/) unless something is there already.
Result<void> link_name(Claims& claims, const std::string& name, const std::string& target) {
  if (name.empty() || name == target || name.find('/') != std::string::npos ||
      claims.has("lib/" + name)) {
    return {};
  }
  return claims.add_link("lib/" + name, target);
}

} // namespace

Result<void> add_library_links(Claims& claims, Platform platform) {
  std::vector<std::pair<std::string, std::string>> by_soname; // SONAME, file name
  for (const char* folder : {"bin", "nvvm/bin", "lib"}) {
    for (const auto& path : claims.in_folder(folder)) {
      const TreeFile& file = *claims.find(path);
      if (file.from.empty() || !file.executable) {
        continue;
      }
      bool is_elf = false;
      CUKIT_TRY_ASSIGN(const auto elf, checked_elf(file, platform, is_elf));
      const std::string name(file.path.name());
      if (is_elf && std::string_view(folder) == "lib" && !unversioned(name).empty()) {
        by_soname.emplace_back(elf.soname, name);
      }
    }
  }
  for (const auto& [soname, name] : by_soname) {
    const auto* taken = claims.find("lib/" + soname);
    if (taken != nullptr && taken->owner == "cukit" && taken->link != name) {
      auto error = Error{.code = ErrorCode::integrity,
                         .message = fmt::format("lib/{} and lib/{} both say they are {}",
                                                taken->link, name, soname)};
      error.hint = "leave one of the two out, or link the name in the recipe";
      return tl::unexpected<Error>(std::move(error));
    }
    CUKIT_TRY(link_name(claims, soname, name));
  }
  for (const auto& [soname, name] : by_soname) {
    // Through the SONAME where it belongs to the same family of names: libnvrtc.alt.so.13 says it
    // is libnvrtc.so.13.
    const auto plain = unversioned(name);
    CUKIT_TRY(link_name(claims, plain, unversioned(soname) == plain ? soname : name));
  }
  return {};
}

} // namespace cukit::assemble

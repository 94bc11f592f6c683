// How a shared object is linked: what the dynamic loader needs to know of it. Private to survey.
#pragma once

#include "survey/root_view.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cukit::survey {

struct ElfLink {
  std::string soname;
  std::vector<std::string> needed; ///< DT_NEEDED, in order
  std::string rpath;               ///< DT_RPATH, unexpanded; counts only without a RUNPATH
  std::string runpath;             ///< DT_RUNPATH, unexpanded
};

/// Nothing for what is no ELF file or is damaged.
std::optional<ElfLink> read_elf_link(const RootView& view, std::string_view path);

/// An undefined symbol that somebody must bring.
struct Wanted {
  std::string symbol;
  std::string library; ///< whose version it is bound to (libnvJitLink.so.12); empty: anybody's
};

/// The undefined symbols of an object that are no weak ones and that `is_wanted` (name, library or
/// an empty text) picks.
std::vector<Wanted>
wanted_symbols(const RootView& view, std::string_view path,
               const std::function<bool(std::string_view, std::string_view)>& is_wanted);

/// Takes the symbols that an object exports out of a set of names. False when the object cannot be
/// read; then nothing is taken out.
bool take_exported(const RootView& view, std::string_view path,
                   std::set<std::string, std::less<>>& names);

} // namespace cukit::survey

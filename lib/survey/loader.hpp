// Which file the dynamic loader would take for a library: ld.so(8)'s order, under any root. Private
// to survey.
#pragma once

#include "base/environment.hpp"
#include "survey/elf_link.hpp"
#include "survey/root_view.hpp"

namespace cukit::survey {

/// An object whose libraries are looked for, with where it lies.
struct Loading {
  std::string path; ///< without links
  ElfLink link;
};

struct TakenLibrary {
  std::string path;   ///< as it was found
  std::string real;   ///< without links; empty: nothing is found
  std::string led_by; ///< LD_LIBRARY_PATH, /etc/ld.so.conf.d/x.conf, RPATH of FILE ...
};

class Loader {
public:
  /// Reads the loader's configuration; both must outlive it.
  Loader(const RootView& view, const Environment& environment);

  /// `chain`: the object that wants the library, behind those that led to it, the program first.
  [[nodiscard]] TakenLibrary find(const std::string& soname,
                                  const std::vector<const Loading*>& chain) const;
  /// The folders that everybody's libraries are looked for in, with who names them.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& folders() const {
    return folders_;
  }

private:
  void read_configuration(const std::string& file, int depth);
  [[nodiscard]] std::optional<TakenLibrary> in_list(const std::string& list, const Loading& by,
                                                    const std::string& soname,
                                                    const char* what) const;

  const RootView& view_;
  std::vector<std::string> library_path_; ///< LD_LIBRARY_PATH
  std::vector<std::pair<std::string, std::string>> folders_;
};

} // namespace cukit::survey

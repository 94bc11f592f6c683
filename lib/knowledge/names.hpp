// Which names of CUDA came and went with its releases: C++ names of CCCL and of the toolkit's own
// headers, headers, libraries, options. Only what differs between two releases is known; of any
// other name nothing is said.
#pragma once

#include "knowledge/knowledge.hpp"

#include <functional>

namespace cukit::knowledge {

enum class NameKind {
  cccl,    ///< cub::Max
  symbol,  ///< of the toolkit's own headers: __nv_cvt_float_to_fp4
  header,  ///< cuda_fp4.h, thrust/functional.h
  library, ///< libnvToolsExt.so, libcudadevrt.a
  nvcc,    ///< an option, --compress-mode, or one of its values, --std=c++20
  ptxas
};

/// The releases (minors of CUDA) that have a name.
struct NameSpan {
  std::optional<Version> since;   ///< the first that has it; none: it was there before
  std::optional<Version> last;    ///< the last that has it; none: it is there still
  std::optional<Version> gone_in; ///< the first without it, behind `last`
  std::string instead;            ///< what its last headers name instead; empty: nothing
  std::string evidence;

  [[nodiscard]] bool is_before(const Version& cuda) const; ///< not there yet
  [[nodiscard]] bool is_behind(const Version& cuda) const; ///< gone already
  [[nodiscard]] bool has(const Version& cuda) const { return !is_before(cuda) && !is_behind(cuda); }
};

class Names {
public:
  using Map = std::map<std::string, NameSpan, std::less<>>;
  /// nullptr: it is in all releases that were read, or in none.
  [[nodiscard]] const NameSpan* find(NameKind kind, std::string_view name) const;
  [[nodiscard]] const Map& all(NameKind kind) const;

private:
  friend Result<Names> parse_names(std::string_view text, const std::string& name);
  std::map<NameKind, Map> maps_;
};

/// Of knowledge/names.txt.
Result<Names> read_names(const Knowledge& knowledge);
Result<Names> parse_names(std::string_view text, const std::string& name);
std::string_view text_of(NameKind kind);

} // namespace cukit::knowledge

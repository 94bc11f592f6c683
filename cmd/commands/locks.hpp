// A lock as a person names it on the command line.
#pragma once

#include "cli.hpp"
#include "explain/diff.hpp"

namespace cukit::cmd {

struct LockReference {
  lock::Lock lock;
  std::string name;     ///< as it is shown: the file, or the toolkit's name
  std::string manifest; ///< the manifest beside it, empty when there is none
};

/// Of whatever home/reference.hpp finds.
Result<LockReference> find_lock(const Invocation& invocation, const std::string& text);

text::Json diff_json(const explain::Diff& diff);
/// Components, what the changes mean, and what is to be downloaded; empty when nothing differs.
std::string diff_text(const ui::Terminal& terminal, const explain::Diff& diff);

} // namespace cukit::cmd

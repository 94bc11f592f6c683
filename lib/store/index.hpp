// The text of an entry's index.
#pragma once

#include "store/store.hpp"

namespace cukit::store {

/// `list` is sorted by path.
std::string write_index(const std::vector<EntryFile>& list);
/// Everything is checked, so that a damaged index is never taken for a shorter entry. `file` is for
/// messages.
Result<std::vector<EntryFile>> read_index(std::string_view text, const std::string& file);

} // namespace cukit::store

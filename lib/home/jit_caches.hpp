// Caches of kernels that consumers compiled with a tree, cache/jit/<id>/<consumer>. A tree of this
// home or of the system store is found by its id; where another one stands (a prefix) is written
// beside its cache.
#pragma once

#include "assemble/assemble.hpp"

#include <set>

namespace cukit::home {

/// Writes down where a tree stands that is in no store, so that gc leaves its cache alone. Only
/// where the home has a cache already, and never an error: a cache can be made again.
void remember_place(const store::Home& home, const assemble::Tree& tree);

/// Folders of caches whose trees are gone; `rooted` are ids of trees that stay, `leaving` of trees
/// of this home that go now. One of which nobody knows where its tree stood goes when nobody wrote
/// into it for a month; `now` in seconds since 1970.
Result<std::vector<fs::path>> unused_caches(const store::Home& home,
                                            const std::set<std::string>& rooted,
                                            const std::vector<std::string>& leaving,
                                            std::int64_t now);

} // namespace cukit::home

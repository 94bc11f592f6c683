// What of a tree NVIDIA's licence lets be passed on: the files that the licence texts which came
// with the components list for Linux in their Attachment A, and nothing that they do not list.
#pragma once

#include "assemble/assemble.hpp"

#include <set>
#include <string>
#include <string_view>

namespace cukit::exports {

/// Names as the text lists them (libcudart.so, libdevice.10.bc); those that it lets be passed on
/// under conditions of their own (the driver's libraries) are left out. Empty: no such list in it.
std::set<std::string> listed_files(std::string_view licence);

/// From every text below LICENSES/ of the tree.
Result<std::set<std::string>> distributable_files(const assemble::Tree& tree);

/// A path of a tree that is on the list; what cukit itself made in a library's name (lib/stubs) is
/// none of NVIDIA's.
bool is_distributable(std::string_view path, const std::set<std::string>& listed);
/// libcudart.so.13.0.96 is libcudart.so; other names must be equal.
bool is_listed(std::string_view path, const std::set<std::string>& listed);

} // namespace cukit::exports

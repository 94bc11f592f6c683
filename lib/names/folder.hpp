// What is inside the folder of a name; shared by the files of this module.
#pragma once

#include "names/names.hpp"

namespace cukit::names {

Result<void> check_name(std::string_view name);
/// 0 for what is no generation's number.
int number_of(std::string_view text);
/// The generation that `current` names; 0 when there is no link.
Result<int> current_number(const fs::path& folder);
Result<Generation> read_generation(const fs::path& folder, int number);
/// Empty when it was dropped while we looked, or was cut off by a power cut, and leads nowhere.
Result<std::optional<Generation>> read_whole_generation(const fs::path& folder, int number);
/// What only a power cut leaves: a tree or a lock without a byte. It leads nowhere.
bool is_cut_off(const fs::path& folder, int number);
/// An error when the folder of a name, or gen/ in it, is a link or no folder: what is made and
/// dropped below it would be elsewhere.
Result<void> check_place(const fs::path& folder);
/// Of the generations there are, in order; of a folder without gen/ none.
Result<std::vector<int>> numbers(const fs::path& folder);
/// Whoever moves `current` or drops generations holds it, so that no generation goes between being
/// chosen and being current.
Result<FileLock> lock_name(const store::Home& home, const std::string& name);
/// Makes `current` lead to gen/<number> by one rename; `scratch` is a folder on the same file
/// system.
Result<void> point_at(const fs::path& folder, int number, const fs::path& scratch,
                      bool durable = true);

} // namespace cukit::names

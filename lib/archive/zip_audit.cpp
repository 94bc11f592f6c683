#include "archive/zip_format.hpp"
#include "base/limits.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace cukit::archive {

namespace zip {
namespace {

/// No path twice, and none that is a file here and a folder there.
Result<void> check_names(const RandomAccess& file, const std::vector<Entry>& entries) {
  std::unordered_set<std::string_view> files;
  std::unordered_set<std::string_view> folders;
  for (const auto& entry : entries) {
    const auto& path = entry.member.path.text();
    auto& same_kind = entry.is_folder ? folders : files;
    if (!same_kind.insert(path).second) {
      return refuse(file, "`{}` is in the archive twice", path);
    }
  }
  for (const auto& entry : entries) {
    std::string_view path = entry.member.path.text();
    if (entry.is_folder && files.contains(path)) {
      return refuse(file, "`{}` is a file and a folder", path);
    }
    for (auto slash = path.rfind('/'); slash != std::string_view::npos; slash = path.rfind('/')) {
      path = path.substr(0, slash);
      if (files.contains(path)) {
        return refuse(file, "`{}` is a file and a folder", path);
      }
    }
  }
  return {};
}

Result<void> check_budget(const RandomAccess& file, const std::vector<Entry>& entries) {
  std::uint64_t total = 0;
  for (const auto& entry : entries) {
    if (entry.member.size > limits::k_archive_unpacked_bytes - total) {
      return refuse(file, "the archive unpacks to more than the {} bytes that are accepted",
                    limits::k_archive_unpacked_bytes);
    }
    total += entry.member.size;
  }
  return {};
}

/// Gives each entry its end and checks that what the directory says leaves no overlap and no gap at
/// the front.
Result<void> lay_out(const RandomAccess& file, const Directory& directory,
                     std::vector<Entry>& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&entries](std::size_t a, std::size_t b) {
    return entries[a].member.header_offset < entries[b].member.header_offset;
  });
  const std::uint64_t first =
      order.empty() ? directory.offset : entries[order.front()].member.header_offset;
  if (first != 0) {
    return refuse(file, "{} bytes before the first member belong to nothing", first);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    ZipMember& member = entries[order[i]].member;
    member.end_offset =
        i + 1 < order.size() ? entries[order[i + 1]].member.header_offset : directory.offset;
    const std::uint64_t least = k_local_bytes + member.path.text().size();
    if (member.end_offset < member.header_offset) {
      return refuse(file, "`{}` begins inside the central directory", member.path.text());
    }
    const std::uint64_t room = member.end_offset - member.header_offset;
    if (room < least || member.compressed > room - least) {
      return refuse(file, "`{}` overlaps what comes after it", member.path.text());
    }
  }
  return {};
}

} // namespace
} // namespace zip

Result<std::vector<ZipMember>> audit_zip(const RandomAccess& file, Audit audit) {
  CUKIT_TRY_ASSIGN(const auto directory, zip::find_directory(file));
  CUKIT_TRY_ASSIGN(auto entries, zip::read_directory(file, directory));
  CUKIT_TRY(zip::check_names(file, entries));
  CUKIT_TRY(zip::check_budget(file, entries));
  CUKIT_TRY(zip::lay_out(file, directory, entries));
  std::vector<ZipMember> members;
  members.reserve(entries.size());
  for (auto& entry : entries) {
    if (audit == Audit::whole) {
      CUKIT_TRY_ASSIGN(entry.member.data_offset,
                       zip::check_local(file, entry.member, entry.is_folder));
    }
    if (!entry.is_folder) {
      members.push_back(std::move(entry.member));
    }
  }
  return members;
}

} // namespace cukit::archive

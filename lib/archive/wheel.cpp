#include "archive/wheel.hpp"

#include "archive/record.hpp"
#include "archive/zip_format.hpp"
#include "base/limits.hpp"
#include "base/strings.hpp"
#include "model/project_name.hpp"
#include "model/version.hpp"

#include <algorithm>
#include <unordered_map>

namespace cukit::archive {

namespace {

using zip::refuse;

constexpr std::string_view k_dist_info = ".dist-info";

const WheelMember* find_member(const Wheel& wheel, std::string_view path) {
  const auto at = std::lower_bound(wheel.members.begin(), wheel.members.end(), path,
                                   [](const WheelMember& member, std::string_view text) {
                                     return member.zip.path.text() < text;
                                   });
  return at != wheel.members.end() && at->zip.path.text() == path ? &*at : nullptr;
}

Result<std::string> find_dist_info(const RandomAccess& file, const Wheel& wheel) {
  std::string found;
  for (const auto& member : wheel.members) {
    const auto& path = member.zip.path.text();
    const auto slash = path.find('/');
    if (slash == std::string::npos) {
      continue;
    }
    const std::string_view top = std::string_view(path).substr(0, slash);
    if (!top.ends_with(k_dist_info) || top == found) {
      continue;
    }
    if (!found.empty()) {
      return refuse(file, "the wheel has two dist-info folders, `{}` and `{}`", found, top);
    }
    found = top;
  }
  if (found.empty()) {
    return refuse(file, "the archive is no wheel: it has no dist-info folder");
  }
  return found;
}

Result<std::string> read_text(const RandomAccess& file, const Wheel& wheel, std::string_view name) {
  const std::string path = wheel.dist_info + "/" + std::string(name);
  const WheelMember* member = find_member(wheel, path);
  if (member == nullptr) {
    return refuse(file, "the wheel has no `{}`", path);
  }
  CUKIT_TRY_ASSIGN(auto text, read_member(file, member->zip, limits::k_metadata_bytes));
  if (member->sha256 && *member->sha256 != sha256_of(text)) {
    return refuse(file, "`{}` does not have the sha256 that RECORD states", path);
  }
  return text;
}

/// RECORD cannot hold its own digest, and its signatures come after it.
bool needs_no_row(const Wheel& wheel, std::string_view path) {
  const std::string record = wheel.dist_info + "/RECORD";
  return path == record || path == record + ".jws" || path == record + ".p7s";
}

Result<void> apply_row(const RandomAccess& file, const RecordRow& row, bool is_record,
                       WheelMember& member) {
  const auto& path = row.path.text();
  if (is_record) {
    return row.sha256 ? refuse(file, "RECORD states a digest for itself") : Result<void>();
  }
  if (!row.sha256) {
    return refuse(file, "RECORD states no digest for `{}`", path);
  }
  if (row.size && *row.size != member.zip.size) {
    return refuse(file, "`{}` has {} bytes, RECORD says {}", path, member.zip.size, *row.size);
  }
  if (member.sha256) {
    return refuse(file, "RECORD lists `{}` twice", path);
  }
  member.sha256 = row.sha256;
  return {};
}

Result<void> check_record(const RandomAccess& file, const std::string& text, Wheel& wheel) {
  auto rows = parse_record(text);
  if (!rows) {
    return refuse(file, "{}", rows.error().message);
  }
  std::unordered_map<std::string_view, WheelMember*> members;
  for (auto& member : wheel.members) {
    members.emplace(member.zip.path.text(), &member);
  }
  for (const auto& row : *rows) {
    const auto at = members.find(row.path.text());
    if (at == members.end()) {
      return refuse(file, "RECORD lists `{}`, which the wheel does not hold", row.path.text());
    }
    CUKIT_TRY(apply_row(file, row, row.path.text() == wheel.dist_info + "/RECORD", *at->second));
  }
  for (const auto& member : wheel.members) {
    if (!member.sha256 && !needs_no_row(wheel, member.zip.path.text())) {
      return refuse(file, "`{}` is not listed in RECORD", member.zip.path.text());
    }
  }
  return {};
}

Result<std::string> only_value(const RandomAccess& file, std::string_view text,
                               std::string_view header) {
  auto values = metadata_values(text, header);
  if (values.size() != 1) {
    return refuse(file, "the wheel states `{}` {} times, not once", header, values.size());
  }
  return std::move(values.front());
}

Result<void> check_identity(const RandomAccess& file, const Wheel& wheel) {
  CUKIT_TRY_ASSIGN(const auto name, only_value(file, wheel.metadata, "Name"));
  CUKIT_TRY_ASSIGN(const auto version_text, only_value(file, wheel.metadata, "Version"));
  const auto folder =
      std::string_view(wheel.dist_info).substr(0, wheel.dist_info.size() - k_dist_info.size());
  const auto dash = folder.rfind('-');
  const auto version = Version::parse(version_text);
  if (!version) {
    return refuse(file, "METADATA states the version `{}`, which is none", printable(version_text));
  }
  const auto folder_version =
      Version::parse(dash == std::string_view::npos ? std::string_view() : folder.substr(dash + 1));
  if (!folder_version || *folder_version != *version ||
      normalised_project(folder.substr(0, dash)) != normalised_project(name)) {
    return refuse(file, "METADATA is of {} {}, but lies in `{}`", printable(name),
                  printable(version_text), wheel.dist_info);
  }
  return {};
}

Result<void> check_wheel_version(const RandomAccess& file, const std::string& text) {
  CUKIT_TRY_ASSIGN(const auto stated, only_value(file, text, "Wheel-Version"));
  const auto version = Version::parse(stated);
  if (!version || version->major() > 1) {
    return refuse(file, "the wheel has format version `{}`; this program knows 1",
                  printable(stated));
  }
  return {};
}

} // namespace

std::vector<std::string> metadata_values(std::string_view metadata, std::string_view header) {
  std::vector<std::string> values;
  bool inside = false; // of the wanted header, so that folded lines are its own
  for (const auto line : split(metadata, '\n')) {
    const auto content = trim(line);
    if (content.empty()) {
      break; // the description follows
    }
    if (line.front() == ' ' || line.front() == '\t') {
      if (inside) {
        values.back() += " " + std::string(content);
      }
      continue;
    }
    const auto colon = content.find(':');
    inside = colon != std::string_view::npos && lower(content.substr(0, colon)) == lower(header);
    if (inside) {
      values.emplace_back(trim(content.substr(colon + 1)));
    }
  }
  return values;
}

Result<Wheel> open_wheel(const RandomAccess& file, Audit audit) {
  CUKIT_TRY_ASSIGN(auto members, audit_zip(file, audit));
  std::sort(members.begin(), members.end(),
            [](const ZipMember& a, const ZipMember& b) { return a.path < b.path; });
  Wheel wheel;
  wheel.members.reserve(members.size());
  for (auto& member : members) {
    wheel.members.push_back({std::move(member), std::nullopt});
  }
  CUKIT_TRY_ASSIGN(wheel.dist_info, find_dist_info(file, wheel));
  CUKIT_TRY_ASSIGN(const auto record, read_text(file, wheel, "RECORD"));
  wheel.record = sha256_of(record);
  CUKIT_TRY(check_record(file, record, wheel));
  CUKIT_TRY_ASSIGN(wheel.metadata, read_text(file, wheel, "METADATA"));
  CUKIT_TRY_ASSIGN(const auto format, read_text(file, wheel, "WHEEL"));
  CUKIT_TRY(check_wheel_version(file, format));
  CUKIT_TRY(check_identity(file, wheel));
  return wheel;
}

} // namespace cukit::archive

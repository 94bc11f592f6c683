// The cuda-toolkit metapackages: a small wheel per release whose METADATA pins every component.
#include "archive/wheel.hpp"
#include "base/limits.hpp"
#include "base/strings.hpp"
#include "catalog/python_index.hpp"

#include <algorithm>

namespace cukit::catalog {

namespace {

// The real ones have 3 kB and require 60 components; NVIDIA has published 30 in two years.
constexpr std::uint64_t k_metapackage_bytes = 256U << 10U;
constexpr std::uint64_t k_metadata_bytes = 1U << 20U;
constexpr std::size_t k_requirements = 2000;
constexpr std::size_t k_releases = 256;
constexpr std::size_t k_releases_at_once = 16; // are in memory together

Result<void> check_digest(const WheelFile& wheel, std::string_view bytes) {
  const auto found = sha256_of(bytes);
  if (!wheel.sha256 || *wheel.sha256 == found) {
    return {};
  }
  Error error{.code = ErrorCode::integrity, .message = {}};
  error.message = fmt::format("{} is not the file that the index names: expected {}, got {}",
                              wheel.file, wheel.sha256->text(), found.text());
  error.where = redact_url(wheel.url);
  error.hint =
      "try again; if it stays, the mirror holds another file: tell whoever runs it, or name "
      "another index with --index-url";
  return tl::unexpected<Error>(std::move(error));
}

/// A requirement that this build cannot read is no reason to refuse the other releases.
Result<std::vector<Requirement>> requirements_of(const std::string& metadata) {
  std::vector<Requirement> result;
  const auto lines = archive::metadata_values(metadata, "Requires-Dist");
  if (lines.size() > k_requirements) {
    return fail(ErrorCode::source, "its metapackage has {} requirements, more than {}",
                lines.size(), k_requirements);
  }
  for (const auto& line : lines) {
    CUKIT_TRY_ASSIGN(auto one, Requirement::parse(line));
    result.push_back(std::move(one));
  }
  return result;
}

Result<std::string> metadata_of(const WheelFile& wheel, std::string_view bytes) {
  CUKIT_TRY(check_digest(wheel, bytes));
  const auto file = in_memory(bytes, wheel.file);
  auto read = archive::open_wheel(*file, archive::Audit::whole);
  if (!read) {
    return tl::unexpected<Error>(
        std::move(read).error().under(fmt::format("cannot read the metapackage {}", wheel.file)));
  }
  if (read->metadata.size() > k_metadata_bytes) {
    return fail(ErrorCode::integrity, "the METADATA of {} has {}, more than {}", wheel.file,
                human_bytes(read->metadata.size()), human_bytes(k_metadata_bytes));
  }
  const auto versions = archive::metadata_values(read->metadata, "Version");
  const auto version = Version::parse(versions.empty() ? "" : versions.front());
  if (!version || *version != wheel.version) {
    return fail(ErrorCode::integrity, "{} says in its METADATA that it is version `{}`", wheel.file,
                versions.empty() ? "" : printable(versions.front()));
  }
  return std::move(read->metadata);
}

Result<std::string> body_of(const WheelFile& wheel, Result<http::Response> answer) {
  if (answer && answer->status != 404) {
    return std::move(answer->body);
  }
  Error error = answer ? Error{.code = ErrorCode::source, .message = "the server has no such file"}
                       : std::move(answer).error();
  error = std::move(error).under(fmt::format("cannot download the metapackage {}", wheel.file));
  if (error.where.empty()) {
    error.where = redact_url(wheel.url);
  }
  return tl::unexpected<Error>(std::move(error));
}

/// One file for each wanted version, a known one if there is; what is left out leaves a note.
std::vector<WheelFile> chosen(const std::vector<WheelFile>& files,
                              const std::function<bool(const Version&)>& wanted, bool prereleases,
                              const std::map<std::string, Sha256>* pins,
                              std::vector<std::string>& notes) {
  std::vector<WheelFile> result;
  for (const auto& file : files) {
    if (!wanted(file.version)) {
      continue;
    }
    if (file.version.is_prerelease() && !prereleases) {
      notes.push_back(
          fmt::format("CUDA {} is a pre-release: not taken unasked", file.version.text()));
    } else if (file.yanked) {
      notes.push_back(fmt::format("CUDA {} was withdrawn from the index{}", file.version.text(),
                                  file.yanked_why.empty() ? "" : ": " + file.yanked_why));
    } else if (result.empty() || result.back().version != file.version) {
      result.push_back(file);
    } else if (pins != nullptr && pins->contains(file.file)) {
      result.back() = file;
    }
  }
  return result;
}

/// The newest ones alone, when a page lists more than anybody can have published.
void bound(std::vector<WheelFile>& files, std::vector<std::string>& notes) {
  if (files.size() <= k_releases) {
    return;
  }
  notes.push_back(fmt::format("the index lists {} releases of CUDA that fit: only the newest {} "
                              "are looked at",
                              files.size(), k_releases));
  files.erase(files.begin(), files.end() - static_cast<std::ptrdiff_t>(k_releases));
}

} // namespace

Result<void> PythonIndex::read_releases(Catalog& catalog,
                                        const std::function<bool(const Version&)>& wanted,
                                        bool prereleases, const std::stop_token& stop) {
  const auto page = catalog.projects.find("cuda-toolkit");
  if (page == catalog.projects.end()) {
    return {};
  }
  auto files = chosen(page->second, wanted, prereleases, pins_, catalog.notes);
  bound(files, catalog.notes);
  for (std::size_t at = 0; at < files.size(); at += k_releases_at_once) {
    const auto some = std::span(files).subspan(at, std::min(k_releases_at_once, files.size() - at));
    CUKIT_TRY(read_some_releases(catalog, some, stop));
  }
  return {};
}

Result<void> PythonIndex::read_some_releases(Catalog& catalog, std::span<WheelFile> files,
                                             const std::stop_token& stop) {
  std::vector<http::Request> requests;
  for (const auto& file : files) {
    if (!file.url.starts_with('/')) {
      requests.push_back(http::Request{.url = file.url, .max_bytes = k_metapackage_bytes});
    }
  }
  auto answers = client_.get_all(requests, stop);
  std::size_t next = 0;
  for (auto& file : files) {
    const bool local = file.url.starts_with('/');
    CUKIT_TRY_ASSIGN(const auto bytes, local ? read_file(file.url, k_metapackage_bytes)
                                             : body_of(file, std::move(answers[next++])));
    CUKIT_TRY_ASSIGN(const auto metadata, metadata_of(file, bytes));
    auto requirements = requirements_of(metadata);
    if (!requirements) {
      catalog.notes.push_back(fmt::format("CUDA {} is left out: {}", file.version.text(),
                                          requirements.error().message));
      continue;
    }
    file.sha256 = sha256_of(bytes);
    file.size = bytes.size();
    catalog.releases.push_back({file.version, file, *std::move(requirements)});
  }
  return {};
}

} // namespace cukit::catalog

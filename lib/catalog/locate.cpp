// Where locked bytes are now. A lock names no hosts, so every configured source is asked for the
// file by its name, and only the digest says whether it is the same.
#include "base/strings.hpp"
#include "catalog/folder.hpp"
#include "catalog/python_index.hpp"

#include <algorithm>
#include <set>

namespace cukit::catalog {

struct PythonIndex::Search {
  std::string file;
  std::string project;
  Sha256 sha256;
  std::vector<std::string> locations = {};
  std::vector<std::string> answers = {}; ///< of sources that do not have it
  bool other_bytes = false;
};

namespace {

std::string named(const source::Address& place) {
  return fmt::format("{} ({})", place.shown(), place.origin);
}

} // namespace

void PythonIndex::note_answers(const source::Address& place, const std::vector<WheelFile>& wheels,
                               Search& search) {
  bool known = false;
  for (const auto& wheel : wheels) {
    if (wheel.file != search.file) {
      continue;
    }
    known = true;
    if (!wheel.sha256 ||
        *wheel.sha256 == search.sha256) { // unsaid digests are checked by the fetch
      search.locations.push_back(wheel.url);
    } else {
      search.other_bytes = true;
      search.answers.push_back(
          fmt::format("{} has it with {}", named(place), wheel.sha256->text()));
    }
  }
  if (!known) {
    search.answers.push_back(fmt::format("{} does not have it", named(place)));
  }
}

Error PythonIndex::not_found(Search search) {
  Error error{.code = search.other_bytes ? ErrorCode::integrity : ErrorCode::source, .message = {}};
  error.message = search.other_bytes
                      ? fmt::format("{} has other bytes than the lock says ({})", search.file,
                                    search.sha256.text())
                      : fmt::format("no source has {} ({})", search.file, search.sha256.text());
  error.causes = std::move(search.answers);
  error.hint = search.other_bytes
                   ? "the file was replaced in that source: find out by whom, or name another "
                     "index with --index-url"
                   : "name an index that has it with --index-url or a folder with PIP_FIND_LINKS, "
                     "or make the lock again with `cukit lock --upgrade`";
  return error;
}

Result<void> PythonIndex::search_place(const source::Address& place, bool is_index,
                                       std::vector<Search>& searches, const std::stop_token& stop) {
  std::set<std::string> projects;
  for (const auto& search : searches) {
    if (search.locations.empty()) {
      projects.insert(search.project);
    }
  }
  if (is_index && !place.is_folder() && !projects.empty()) {
    CUKIT_TRY(read_pages(place, {projects.begin(), projects.end()}, stop));
  }
  for (auto& search : searches) {
    if (!search.locations.empty()) {
      continue;
    }
    std::vector<WheelFile> wheels;
    if (place.is_folder()) {
      for (const auto& path : find_in_folder(place.location, search.file)) {
        WheelFile wheel;
        wheel.file = search.file;
        wheel.url = path.string();
        wheels.push_back(std::move(wheel));
      }
      CUKIT_TRY(hash_wheels(wheels, stop));
    } else if (is_index) {
      wheels = pages_[{place.location, search.project}].value_or(std::vector<WheelFile>());
    } else {
      CUKIT_TRY_ASSIGN(wheels, links(place, stop));
    }
    note_answers(place, wheels, search);
  }
  return {};
}

Result<std::vector<std::string>> PythonIndex::locate(const std::string& file, const Sha256& sha256,
                                                     const std::stop_token& stop) {
  CUKIT_TRY_ASSIGN(auto all, locate_all({{file, sha256}}, stop));
  return std::move(all.front());
}

Result<std::vector<std::vector<std::string>>>
PythonIndex::locate_all(const std::vector<std::pair<std::string, Sha256>>& files,
                        const std::stop_token& stop) {
  std::vector<Search> searches;
  for (const auto& [file, sha256] : files) {
    const auto wheel = parse_wheel_name(file);
    if (!wheel) {
      return fail(ErrorCode::source, "`{}` is no name of a wheel", printable(file));
    }
    searches.push_back(Search{.file = file, .project = wheel->project, .sha256 = sha256});
  }
  const auto ask = [&](const source::Address& place, bool is_index) -> Result<void> {
    auto asked = search_place(place, is_index, searches, stop);
    if (asked || asked.error().code == ErrorCode::interrupted) {
      return asked;
    }
    // one source that is down does not stop the others
    const auto& causes = asked.error().causes;
    for (auto& search : searches) {
      search.answers.push_back(fmt::format(
          "{}: {}", named(place), causes.empty() ? asked.error().message : causes.front()));
    }
    return {};
  };
  for (const auto& place : sources_.find_links) {
    CUKIT_TRY(ask(place, false));
  }
  for (const auto& index : sources_.indexes) {
    CUKIT_TRY(ask(index, true));
  }
  std::vector<std::vector<std::string>> result;
  for (auto& search : searches) {
    if (search.locations.empty()) {
      return tl::unexpected<Error>(not_found(std::move(search)));
    }
    result.push_back(std::move(search.locations));
  }
  return result;
}

} // namespace cukit::catalog

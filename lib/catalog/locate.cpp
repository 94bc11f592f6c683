// Where locked bytes are now. A lock names no hosts, so every configured source is asked for the
// file by its name, and only the digest says whether it is the same.
#include "base/strings.hpp"
#include "catalog/folder.hpp"
#include "catalog/python_index.hpp"

#include <algorithm>
#include <set>

namespace cukit::catalog {

std::vector<PythonIndex::Place> PythonIndex::places() const {
  std::vector<Place> result;
  for (const auto& mirror : sources_.mirrors) {
    result.push_back({&mirror, Kind::mirror});
  }
  for (const auto& links : sources_.find_links) {
    result.push_back({&links, Kind::links});
  }
  for (const auto& index : sources_.indexes) {
    result.push_back({&index, Kind::index});
  }
  return result;
}

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
          fmt::format("{} has it with {}", place.named(), wheel.sha256->text()));
    }
  }
  if (!known) {
    search.answers.push_back(fmt::format("{} does not have it", place.named()));
  }
}

Error PythonIndex::not_found(const Search& search) {
  Error error{.code = search.other_bytes ? ErrorCode::integrity : ErrorCode::source, .message = {}};
  error.message = search.other_bytes
                      ? fmt::format("{} has other bytes than the lock says ({})", search.file,
                                    search.sha256.text())
                      : fmt::format("no source has {} ({})", search.file, search.sha256.text());
  error.causes = search.answers;
  error.hint =
      search.other_bytes
          ? "the file was replaced in that source: find out by whom, or name another "
            "index with --index-url"
          : "name an index that has it with --index-url, a folder with PIP_FIND_LINKS or a "
            "mirror with --mirror, or make the lock again with `cukit lock --upgrade`";
  return error;
}

Result<std::vector<WheelFile>> PythonIndex::wheels_at(const Place& place, const Search& search,
                                                      const std::stop_token& stop) {
  std::vector<WheelFile> wheels;
  const auto& location = place.address->location;
  if (place.address->is_folder()) {
    for (const auto& path : find_in_folder(location, search.file)) {
      WheelFile wheel;
      wheel.file = search.file;
      wheel.url = path.string();
      wheels.push_back(std::move(wheel));
    }
    return wheels;
  }
  if (place.kind == Kind::links) {
    return links(*place.address, stop);
  }
  const auto& page = pages_[{location, search.project}];
  if (!page && place.kind == Kind::mirror) {
    // No page of the project: a plain folder of wheels. Whether it has the file is seen when it is
    // fetched.
    WheelFile guess;
    guess.file = search.file;
    guess.url = location + "/" + search.file;
    return std::vector<WheelFile>{std::move(guess)};
  }
  return page.value_or(std::vector<WheelFile>());
}

Result<void> PythonIndex::search_place(const Place& place, const std::vector<Search*>& searches,
                                       const std::stop_token& stop) {
  std::set<std::string> projects;
  for (const auto* search : searches) {
    projects.insert(search->project);
  }
  if (place.kind != Kind::links && !place.address->is_folder()) {
    CUKIT_TRY(read_pages(*place.address, {projects.begin(), projects.end()}, stop));
  }
  for (auto* search : searches) {
    CUKIT_TRY_ASSIGN(const auto wheels, wheels_at(place, *search, stop));
    note_answers(*place.address, wheels, *search);
  }
  return {};
}

Result<std::vector<std::string>> PythonIndex::search(std::vector<Search*> searches,
                                                     const std::stop_token& stop) {
  std::vector<std::string> notes;
  for (auto* search : searches) {
    const auto wheel = parse_wheel_name(search->file);
    if (!wheel) {
      return fail(ErrorCode::source, "`{}` is no name of a wheel", printable(search->file));
    }
    search->project = wheel->project;
    search->locations.clear();
  }
  const auto all = places();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Search*> here;
    for (auto* search : searches) {
      if (search->locations.empty() && search->next_place <= i) {
        search->next_place = i + 1;
        here.push_back(search);
      }
    }
    if (here.empty()) {
      continue;
    }
    const auto asked = search_place(all[i], here, stop);
    if (asked) {
      continue;
    }
    if (asked.error().code == ErrorCode::interrupted) {
      return tl::unexpected<Error>(asked.error());
    }
    // one source that is down does not stop the others
    const auto& causes = asked.error().causes;
    const auto answer = fmt::format("{}: {}", all[i].address->named(),
                                    causes.empty() ? asked.error().message : causes.front());
    for (auto* search : here) {
      search->answers.push_back(answer);
    }
    if (all[i].kind == Kind::mirror) {
      notes.push_back("the mirror " + answer);
    }
  }
  return notes;
}

} // namespace cukit::catalog

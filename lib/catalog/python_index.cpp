#include "catalog/python_index.hpp"

#include "archive/wheel.hpp"
#include "base/strings.hpp"
#include "catalog/folder.hpp"
#include "model/project_name.hpp"

#include <algorithm>
#include <set>

namespace cukit::catalog {

namespace {

constexpr const char* k_meta_project = "cuda-toolkit";

Error page_error(Error error, const source::Address& index, const std::string& what) {
  auto result = std::move(error).under(
      fmt::format("cannot read {} from {} ({})", what, index.shown(), index.origin));
  if (result.hint.empty() && result.code == ErrorCode::source) {
    result.hint = "check the network and the proxy variables, or name another index with "
                  "--index-url";
  }
  return result;
}

http::Request page_request(std::string url) {
  return http::Request{.url = std::move(url),
                       .headers = {"Accept: application/vnd.pypi.simple.v1+json, text/html;q=0.2"}};
}

std::string asked(const source::Sources& sources) {
  std::vector<std::string> all;
  for (const auto& index : sources.indexes) {
    all.push_back(fmt::format("{} ({})", index.shown(), index.origin));
  }
  return join(all, ", ");
}

Result<void> check_any(const source::Sources& sources) {
  if (!sources.indexes.empty() || !sources.find_links.empty()) {
    return {};
  }
  Error error{.code = ErrorCode::source,
              .message = fmt::format("{} forbids every index and there are no find-links",
                                     sources.no_index_by)};
  error.hint = "name an index with --index-url, or folders of wheels with PIP_FIND_LINKS";
  return tl::unexpected<Error>(std::move(error));
}

} // namespace

Result<void> PythonIndex::read_pages(const source::Address& index,
                                     const std::vector<std::string>& projects,
                                     const std::stop_token& stop) {
  std::vector<std::string> missing;
  std::vector<http::Request> requests;
  for (const auto& project : projects) {
    if (!pages_.contains({index.location, project})) {
      missing.push_back(project);
      requests.push_back(page_request(index.location + "/" + project + "/"));
    }
  }
  if (index.is_folder()) {
    for (const auto& project : missing) {
      CUKIT_TRY_ASSIGN(auto wheels, wheels_in_folder(index.location, project));
      CUKIT_TRY(hash_wheels(wheels, stop));
      pages_[{index.location, project}] = wheels.empty() ? Page() : Page(std::move(wheels));
    }
    return {};
  }
  auto answers = client_.get_all(requests, stop);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const auto what = "the project " + missing[i];
    if (!answers[i]) {
      return tl::unexpected<Error>(page_error(std::move(answers[i]).error(), index, what));
    }
    auto& page = pages_[{index.location, missing[i]}];
    if (answers[i]->status == 404) {
      continue;
    }
    auto wheels = parse_simple_page(answers[i]->body, answers[i]->content_type,
                                    answers[i]->final_url, missing[i]);
    if (!wheels) {
      pages_.erase({index.location, missing[i]});
      return tl::unexpected<Error>(page_error(std::move(wheels).error(), index, what));
    }
    page = *std::move(wheels);
  }
  return {};
}

Result<std::vector<WheelFile>> PythonIndex::links(const source::Address& place,
                                                  const std::stop_token& stop) {
  if (const auto known = links_.find(place.location); known != links_.end()) {
    return known->second;
  }
  std::vector<WheelFile> wheels;
  if (auto direct = parse_wheel_name(http::url_file_name(place.location))) {
    direct->url = place.location;
    wheels.push_back(*std::move(direct));
  } else {
    const auto page = client_.get(page_request(place.location), stop);
    if (!page) {
      return tl::unexpected<Error>(page_error(page.error(), place, "the links"));
    }
    if (page->status == 404) {
      return tl::unexpected<Error>(
          page_error(Error{.code = ErrorCode::source, .message = "there is no such page (404)"},
                     place, "the links"));
    }
    auto read = parse_simple_page(page->body, page->content_type, page->final_url, "");
    if (!read) {
      return tl::unexpected<Error>(page_error(std::move(read).error(), place, "the links"));
    }
    wheels = *std::move(read);
  }
  return links_[place.location] = std::move(wheels);
}

Result<void> PythonIndex::load_links(Catalog& catalog, const std::vector<std::string>& projects,
                                     const std::stop_token& stop) {
  for (const auto& place : sources_.find_links) {
    for (const auto& project : projects) {
      std::vector<WheelFile> wheels;
      if (place.is_folder()) {
        CUKIT_TRY_ASSIGN(wheels, wheels_in_folder(place.location, project));
        CUKIT_TRY(hash_wheels(wheels, stop));
      } else {
        CUKIT_TRY_ASSIGN(wheels, links(place, stop));
        std::erase_if(wheels, [&](const WheelFile& w) { return w.project != project; });
      }
      auto& all = catalog.projects[project];
      for (auto& wheel : wheels) {
        const bool known = std::any_of(all.begin(), all.end(), [&](const WheelFile& other) {
          return other.file == wheel.file;
        });
        if (!known) {
          all.push_back(std::move(wheel));
        }
      }
    }
  }
  std::erase_if(catalog.projects, [](const auto& entry) { return entry.second.empty(); });
  for (auto& [project, wheels] : catalog.projects) {
    std::sort(wheels.begin(), wheels.end(), [](const WheelFile& a, const WheelFile& b) {
      const auto order = a.version <=> b.version;
      return order != 0 ? order < 0 : a.file < b.file;
    });
  }
  return {};
}

Result<Catalog> PythonIndex::load(const std::vector<std::string>& projects,
                                  const std::function<bool(const Version&)>& wanted,
                                  const std::stop_token& stop, bool prereleases) {
  CUKIT_TRY(check_any(sources_));
  std::set<std::string> names = {k_meta_project};
  for (const auto& project : projects) {
    names.insert(normalised_project(project));
  }
  std::vector<std::string> missing(names.begin(), names.end());
  Catalog catalog;
  for (const auto& index : sources_.indexes) {
    CUKIT_TRY(read_pages(index, missing, stop));
    std::erase_if(missing, [&](const std::string& project) {
      const auto& page = pages_[{index.location, project}];
      if (page) {
        catalog.projects[project] = *page;
      }
      return page.has_value();
    });
    if (missing.empty()) {
      break;
    }
  }
  if (sources_.indexes.empty()) {
    CUKIT_TRY(load_links(catalog, missing, stop));
    std::erase_if(missing, [&](const auto& project) { return catalog.projects.contains(project); });
  }
  if (catalog.projects.empty()) {
    Error error{.code = ErrorCode::source, .message = {}};
    error.message = fmt::format("none of the {} projects is in {}", names.size(),
                                sources_.indexes.empty() ? "the find-links" : asked(sources_));
    error.hint = "check that the address is that of an index (it usually ends in /simple), or name "
                 "another with --index-url";
    return tl::unexpected<Error>(std::move(error));
  }
  for (const auto& project : missing) {
    catalog.notes.push_back(fmt::format("no index has the project {}", project));
  }
  CUKIT_TRY(read_releases(catalog, wanted, prereleases, stop));
  return catalog;
}

Result<std::unique_ptr<RandomAccess>>
PythonIndex::open(const std::string& location, std::uint64_t size, const std::stop_token& stop) {
  if (location.starts_with('/')) {
    return open_local_file(location);
  }
  return http::open_range_file(client_, location, size == 0 ? std::nullopt : std::optional(size),
                               stop);
}

Result<RemoteWheel> PythonIndex::inspect(const WheelFile& wheel, const std::stop_token& stop) {
  const auto context = [&](Error error) {
    return tl::unexpected<Error>(
        std::move(error).under(fmt::format("cannot read METADATA and RECORD of {}", wheel.file)));
  };
  auto file = open(wheel.url, wheel.size, stop);
  if (!file) {
    return context(std::move(file).error());
  }
  auto read = archive::open_wheel(**file, archive::Audit::ranged);
  if (!read) {
    return context(std::move(read).error());
  }
  return RemoteWheel{.metadata = std::move(read->metadata),
                     .record = read->record,
                     .bytes_received = http::range_bytes_received(**file)};
}

} // namespace cukit::catalog

#include "offline/mirror.hpp"

#include "base/file_lock.hpp"
#include "base/kept_file.hpp"
#include "base/limits.hpp"
#include "base/strings.hpp"
#include "base/thread_pool.hpp"
#include "offline/mirror_pages.hpp"
#include "pipeline/bring.hpp"

#include <algorithm>

namespace cukit::offline {

namespace {

constexpr const char* k_work_lock = "lock"; ///< in the folder for work in progress

/// One file of the mirror; written by one thread.
struct Item {
  lock::Artifact artifact; ///< of a pin only file, path, source and sha256 say something
  fs::path place;
  bool is_present = false;
  fs::path arrived = {}; ///< in the folder for work in progress
};

Result<fs::path> place_of(const lock::Artifact& artifact) {
  if (artifact.source == "redist") {
    CUKIT_TRY_ASSIGN(const auto path, RelativePath::parse(artifact.path));
    return fs::path(path.text());
  }
  const auto wheel = catalog::parse_wheel_name(artifact.file);
  if (!wheel) {
    return fail(ErrorCode::integrity, "`{}` is no name of a wheel", printable(artifact.file));
  }
  return fs::path(wheel->project) / artifact.file;
}

Result<std::vector<Item>> items_of(const Needs& needs, const fs::path& folder) {
  std::vector<lock::Artifact> all;
  for (const auto* artifact : needs.artifacts) {
    all.push_back(*artifact);
  }
  for (const auto& [name, digest] : needs.pins) {
    lock::Artifact pin;
    pin.source = name.ends_with(".json") ? "redist" : "wheels";
    pin.path = pin.source == "redist" ? name : "";
    pin.file = fs::path(name).filename().string();
    pin.sha256 = digest;
    all.push_back(std::move(pin));
  }
  std::vector<Item> items;
  for (auto& artifact : all) {
    CUKIT_TRY_ASSIGN(const auto place, place_of(artifact));
    items.push_back({.artifact = std::move(artifact), .place = folder / place});
  }
  return items;
}

Result<void> find_present(std::vector<Item>& items, const std::stop_token& stop) {
  {
    ThreadPool pool;
    for (auto& item : items) {
      pool.submit(
          [&item, &stop] {
            if (path_exists(item.place) && !stop.stop_requested()) {
              const auto digest = sha256_of_file(item.place);
              item.is_present = digest && *digest == item.artifact.sha256;
            }
          },
          item.artifact.size);
    }
  } // the pool ends when all is done
  return stop.stop_requested() ? fail(ErrorCode::interrupted, "interrupted") : Result<void>();
}

/// What a place has under that name, whatever it is.
Result<std::string> read_small(pipeline::Session& session, const std::string& location) {
  if (location.starts_with('/')) {
    return read_file(location, limits::k_metadata_bytes);
  }
  CUKIT_TRY_ASSIGN(auto* client, session.client());
  CUKIT_TRY_ASSIGN(auto got, client->get({.url = location, .max_bytes = limits::k_metadata_bytes},
                                         session.stop));
  if (got.status == 404) {
    return fail(ErrorCode::source, "{} is not there", redact_url(location));
  }
  session.downloaded_bytes += got.body.size();
  return std::move(got.body);
}

/// A small file of which a lock knows no size.
Result<std::string> read_pin(pipeline::Session& session, pipeline::Locator& locator,
                             const lock::Artifact& pin) {
  pipeline::Located located{.artifact = &pin};
  while (true) {
    CUKIT_TRY(locator.next({&located}));
    if (located.locations.empty()) {
      return tl::unexpected<Error>(pipeline::nobody_gave(std::move(located)));
    }
    for (const auto& location : located.locations) {
      auto text = read_small(session, location);
      if (text && sha256_of(*text) == pin.sha256) {
        return text;
      }
      located.errors.push_back(
          text ? Error{.code = ErrorCode::integrity,
                       .message = fmt::format("{} is not the file that was locked", pin.file),
                       .where = redact_url(location)}
               : std::move(text).error());
      CUKIT_TRY(session.check_stop());
    }
  }
}

Result<void> bring_pins(pipeline::Session& session, std::vector<Item>& items,
                        const fs::path& work) {
  std::optional<pipeline::Locator> locator;
  for (auto& item : items) {
    if (item.is_present || item.artifact.size != 0) {
      continue;
    }
    if (!locator) {
      CUKIT_TRY_ASSIGN(auto made, pipeline::Locator::create(session));
      locator.emplace(std::move(made));
    }
    CUKIT_TRY_ASSIGN(const auto text, read_pin(session, *locator, item.artifact));
    const auto path = work / item.artifact.sha256.hex();
    CUKIT_TRY(write_file_atomic(path, text));
    item.arrived = path;
  }
  return {};
}

Result<void> bring_artifacts(pipeline::Session& session, std::vector<Item>& items,
                             const fs::path& work) {
  std::vector<Item*> missing;
  std::vector<pipeline::Brought> all;
  for (auto& item : items) {
    if (!item.is_present && item.artifact.size != 0) {
      missing.push_back(&item);
      all.push_back({.artifact = &item.artifact, .by_ranges = false});
    }
  }
  const auto keep = [&](std::size_t index, const fetch::Blob& blob) -> Result<void> {
    Item& item = *missing[index];
    item.arrived = blob.path;
    if (!blob.owned) { // another mirror's own file
      item.arrived = work / item.artifact.sha256.hex();
      CUKIT_TRY(remove_tree(item.arrived)); // never written through a link
      std::error_code error;
      fs::copy_file(blob.path, item.arrived, fs::copy_options::overwrite_existing, error);
      if (error) {
        return fail_errno(error.value(), "cannot copy {} to {}", blob.path.string(),
                          item.arrived.string());
      }
      CUKIT_TRY_ASSIGN(const auto digest, sha256_of_file(item.arrived));
      if (digest != item.artifact.sha256) {
        return fail(ErrorCode::integrity, "{} changed while it was copied", blob.path.string());
      }
    }
    return {};
  };
  CUKIT_TRY(pipeline::bring(session, all, work, {.whole = keep, .part = {}}));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].error) {
      missing[i]->arrived.clear();
    }
  }
  return pipeline::first_failure(session, all);
}

/// With everything there, what is left of killed runs is of no use.
Result<void> tidy(const fs::path& work) {
  CUKIT_TRY_ASSIGN(const auto names, list_directory(work));
  for (const auto& name : names) {
    if (name != k_work_lock) { // others wait for it
      CUKIT_TRY(remove_tree(work / name));
    }
  }
  return {};
}

/// No folder between the mirror and a file of it is a link: the file would be elsewhere.
Result<void> check_below(const fs::path& folder, const fs::path& place) {
  auto at = folder;
  for (const auto& part : place.parent_path().lexically_relative(folder)) {
    at /= part;
    CUKIT_TRY(check_kept_folder(at));
  }
  return {};
}

/// What has arrived appears under its name.
Result<std::size_t> settle(std::vector<Item>& items, const fs::path& folder) {
  std::size_t added = 0;
  std::vector<fs::path> folders;
  for (const auto& item : items) {
    added += item.arrived.empty() ? 0 : 1;
  }
  if (added == 0) {
    return added;
  }
  CUKIT_TRY(sync_file_system(folder)); // a name never stands for bytes that are not on disk
  for (auto& item : items) {
    if (item.arrived.empty()) {
      continue;
    }
    CUKIT_TRY(check_below(folder, item.place));
    CUKIT_TRY(make_directories(item.place.parent_path()));
    CUKIT_TRY(rename_path(item.arrived, item.place));
    item.is_present = true;
    std::error_code ignored; // of the download; nobody waits for it but for this very file
    fs::remove(item.arrived.string() + ".lock", ignored);
  }
  CUKIT_TRY(sync_file_system(folder));
  return added;
}

} // namespace

pipeline::Outcome<Mirrored> mirror(pipeline::Session& session,
                                   const std::vector<fs::path>& manifests, const fs::path& folder,
                                   const std::vector<Platform>& platforms) {
  CUKIT_TRY_ASSIGN(const auto needed, find_needed(session, manifests, platforms, false));
  CUKIT_TRY(check_mirror_folder(folder)); // before anything is downloaded
  const auto work = folder / ".cukit-mirror";
  CUKIT_TRY(check_kept_folder(work));
  CUKIT_TRY(make_directories(work));
  CUKIT_TRY_ASSIGN(const auto lock,
                   FileLock::acquire(work / k_work_lock, FileLock::Mode::exclusive, session.stop));
  CUKIT_TRY_ASSIGN(auto items, items_of(needed.needs, folder));
  CUKIT_TRY(find_present(items, session.stop));
  auto brought = bring_artifacts(session, items, work);
  if (brought) {
    brought = bring_pins(session, items, work);
  }
  CUKIT_TRY_ASSIGN(const auto added, settle(items, folder));
  std::map<fs::path, Sha256> known;
  for (const auto& item : items) {
    if (item.is_present) {
      known.emplace(item.place, item.artifact.sha256);
    }
  }
  CUKIT_TRY(write_mirror_pages(folder, known));
  CUKIT_TRY(brought);
  CUKIT_TRY(tidy(work));
  return Mirrored{.files = items.size(), .added = added};
}

} // namespace cukit::offline

#include "offline/make_bundle.hpp"

#include "archive/plain_tar.hpp"
#include "base/strings.hpp"
#include "base/temporary.hpp"
#include "base/user_file.hpp"
#include "offline/recorder.hpp"
#include "pipeline/bring.hpp"
#include "pipeline/unpack.hpp"
#include "text/json.hpp"

#include <algorithm>
#include <mutex>

namespace cukit::offline {

namespace {

/// What goes into the file, by name.
struct Content {
  std::vector<archive::PlainTarItem> items;
  std::vector<std::unique_ptr<RandomAccess>> owned; ///< of the items
  std::vector<std::string> texts;                   ///< of the items in memory; never moved

  void add(std::string name, std::unique_ptr<RandomAccess> bytes) {
    items.push_back({std::move(name), bytes.get()});
    owned.push_back(std::move(bytes));
  }
  void add_text(const std::string& name, std::string text) {
    texts.push_back(std::move(text));
    add(name, in_memory(texts.back(), name));
  }
};

/// One artifact or part on its way into the bundle; written by one thread.
struct Piece {
  const lock::Artifact* artifact = nullptr;
  fetch::Blob blob; ///< of a whole one; let go when the bundle is made
  std::unique_ptr<Recorder> recorded;
};

Result<void> bring_pieces(pipeline::Session& session, std::vector<Piece>& pieces,
                          const fs::path& scratch) {
  std::vector<pipeline::Brought> all;
  for (const auto& piece : pieces) {
    all.push_back({.artifact = piece.artifact, .by_ranges = piece.artifact->record.has_value()});
  }
  pipeline::Unpacker unpacker(session);
  const auto keep = [&](std::size_t index, fetch::Blob blob) -> Result<void> {
    pieces[index].blob = std::move(blob);
    return {};
  };
  // Unpacking reads what is needed and proves that it is enough; its files are thrown away.
  const auto record = [&](std::size_t index, const RandomAccess& file) -> Result<void> {
    CUKIT_TRY_ASSIGN(auto recorder,
                     Recorder::create(file, scratch / lock::store_key(*pieces[index].artifact)));
    CUKIT_TRY(unpacker.unpack(*pieces[index].artifact, *recorder));
    recorder->end();
    pieces[index].recorded = std::move(recorder);
    return {};
  };
  CUKIT_TRY(
      pipeline::bring(session, all, session.home.downloads(), {.whole = keep, .part = record}));
  return pipeline::first_failure(session, all);
}

Result<void> add_manifests(const std::vector<pipeline::Locked>& locks, Content& content,
                           text::Json& files) {
  std::map<std::string, std::string> texts;
  for (const auto& locked : locks) {
    const fs::path path = locked.manifest.file;
    const auto name = "manifests/" + path.filename().string();
    CUKIT_TRY_ASSIGN(auto text, read_file(path, limits::k_manifest_bytes));
    if (!texts.emplace(name, std::move(text)).second) {
      Error error{.code = ErrorCode::usage, .message = {}, .where = locked.manifest.file};
      error.message = fmt::format("two manifests are called {}", path.filename().string());
      error.hint = "rename one of them, or make two bundles";
      return tl::unexpected<Error>(std::move(error));
    }
    texts.emplace(lock::lock_path(name).string(), lock::write(locked.lock));
  }
  for (auto& [name, text] : texts) {
    files.set(name, sha256_of(text).text());
    content.add_text(name, std::move(text));
  }
  return {};
}

Result<void> add_pieces(std::vector<Piece>& pieces, Content& content, text::Json& files,
                        text::Json& parts) {
  for (auto& piece : pieces) {
    if (!piece.recorded) {
      CUKIT_TRY_ASSIGN(auto file, open_local_file(piece.blob.path));
      content.add("artifacts/" + piece.artifact->sha256.hex(), std::move(file));
      continue;
    }
    const auto key = lock::store_key(*piece.artifact);
    auto ranges = text::Json::list();
    for (const auto& [offset, size] : piece.recorded->ranges()) {
      ranges.add(text::Json::list().add(offset).add(size));
    }
    parts.set(key, text::Json::object().set("size", piece.artifact->size).set("ranges", ranges));
    CUKIT_TRY_ASSIGN(auto packed, piece.recorded->packed());
    files.set("parts/" + key, packed.second.text());
    content.add("parts/" + key, std::move(packed.first));
  }
  return {};
}

/// The store has files, a bundle the archives they came in: nobody could make these again.
void say_what_comes_again(const pipeline::Session& session, const Needs& needs) {
  const store::Store store(session.home);
  const auto known = std::count_if(
      needs.artifacts.begin(), needs.artifacts.end(), [&](const lock::Artifact* artifact) {
        return !artifact->record && store.has(lock::store_key(*artifact)) &&
               !path_exists(session.home.downloads() / artifact->sha256.hex());
      });
  if (known > 0) {
    session.progress.say(fmt::format("note: the store has {} of these artifacts unpacked; a bundle "
                                     "holds them as they were published, so they come again",
                                     known));
  }
}

} // namespace

pipeline::Outcome<Bundled> make_bundle(pipeline::Session& session,
                                       const std::vector<fs::path>& manifests, const fs::path& file,
                                       const std::vector<Platform>& platforms) {
  CUKIT_TRY_ASSIGN(const auto named, absolute_path(file));
  CUKIT_TRY_ASSIGN(const auto target, replaceable_file(named)); // before anything is downloaded
  CUKIT_TRY_ASSIGN(const auto needed, find_needed(session, manifests, platforms, true));
  CUKIT_TRY(store::prepare(session.home));
  say_what_comes_again(session, needed.needs);
  const auto folder = target.parent_path();
  CUKIT_TRY_ASSIGN(const auto scratch, HeldDirectory::create(folder, temporary::k_bundle));
  std::vector<Piece> pieces;
  for (const auto* artifact : needed.needs.artifacts) {
    Piece piece;
    piece.artifact = artifact;
    pieces.push_back(std::move(piece));
  }
  CUKIT_TRY(bring_pieces(session, pieces, scratch.path()));
  Content content;
  content.texts.reserve(2 * needed.locks.size() + 1); // views point into them
  auto files = text::Json::object();
  auto parts = text::Json::object();
  CUKIT_TRY(add_manifests(needed.locks, content, files));
  CUKIT_TRY(add_pieces(pieces, content, files, parts));
  content.add_text(
      "cukit-bundle.json",
      text::Json::object().set("cukit-bundle", 1).set("files", files).set("parts", parts).dump() +
          "\n");
  const auto made = scratch.path() / "bundle.tar";
  session.progress.say(fmt::format("writing {}", printable(file.string())));
  CUKIT_TRY(archive::write_plain_tar(made, content.items, session.stop));
  std::error_code unknown;
  Bundled result{.artifacts = 0, .parts = 0, .bytes = fs::file_size(made, unknown)};
  CUKIT_TRY(replaceable_file(target)); // something else may stand there by now
  CUKIT_TRY(rename_path(made, target));
  CUKIT_TRY(sync_directory(folder));
  for (auto& piece : pieces) {
    ++(piece.recorded ? result.parts : result.artifacts);
    fetch::let_go(std::move(piece.blob), store::without_locks(session.home));
  }
  return result;
}

} // namespace cukit::offline

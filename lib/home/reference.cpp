#include "home/reference.hpp"

#include "assemble/assemble.hpp"
#include "base/strings.hpp"
#include "home/roots.hpp"
#include "names/mend.hpp"
#include "store/system_store.hpp"

#include <algorithm>

namespace cukit::home {

namespace {

constexpr std::string_view k_lock_suffix = ".lock.yaml";
constexpr std::size_t k_least_id = 6; ///< characters of an id that may stand for a tree

tl::unexpected<Error> refused(ErrorCode code, std::string message, std::string hint) {
  return tl::unexpected<Error>(
      Error{.code = code, .message = std::move(message), .hint = std::move(hint)});
}

std::vector<store::Home> homes(const store::Home& home) {
  std::vector<store::Home> all{home};
  if (auto system = home.system_home()) {
    all.push_back(*std::move(system));
  }
  return all;
}

Reference named(const store::Home& home, const std::string& name, names::Generation generation) {
  auto path = home.tree(generation.tree);
  return {Reference::Kind::name, name, std::move(path), std::move(generation)};
}

Result<Reference> the_only_one(const store::Home& home) {
  CUKIT_TRY_ASSIGN(const auto all, names::list(home));
  if (all.empty()) {
    return refused(ErrorCode::usage, "there is no toolkit yet", "run `cukit up MANIFEST` first");
  }
  if (all.size() > 1) {
    return refused(ErrorCode::usage, "there are several toolkits: " + join(all, ", "),
                   "name one of them");
  }
  CUKIT_TRY_ASSIGN(auto generation, names::current(home, all.front()));
  if (!generation) {
    return fail(ErrorCode::expected_no, "{} points at no toolkit", all.front());
  }
  return named(home, all.front(), *std::move(generation));
}

bool may_be_id(const std::string& text) {
  return text.size() >= k_least_id && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The trees whose id begins so, each once.
Result<std::vector<fs::path>> trees_with_id(const store::Home& home, const std::string& text) {
  std::vector<fs::path> found;
  std::set<std::string> seen;
  for (const auto& place : homes(home)) {
    if (!may_be_id(text) || !folder_exists(place.trees())) {
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto ids, list_directory(place.trees()));
    for (const auto& id : ids) {
      if (id.starts_with(text) && seen.insert(id).second) {
        found.push_back(place.trees() / id);
      }
    }
  }
  return found;
}

tl::unexpected<Error> not_there(const Reference& reference) {
  return refused(ErrorCode::usage, fmt::format("there is no {}", printable(reference.text)),
                 "a word with a slash or with .yaml at its end is a path; `cukit list` shows the "
                 "toolkits by name");
}

/// What to say of a word that is no name: it may be one that is misspelt, or a path.
Result<std::string> hint_for(const store::Home& home, const std::string& text) {
  if (path_exists(text)) {
    return fmt::format("a word is a name; of the file or folder that is here say `./{}`",
                       printable(text));
  }
  CUKIT_TRY_ASSIGN(const auto known, names::list(home));
  const auto near = did_you_mean(text, known);
  return near.empty() ? std::string("`cukit list` shows the toolkits that are here")
                      : fmt::format("did you mean `{}`? `cukit list` shows all", near);
}

Result<Reference> find_word(const store::Home& home, const std::string& text) {
  if (is_toolkit_name(text)) {
    for (const auto& place : homes(home)) {
      CUKIT_TRY_ASSIGN(auto generation, names::current(place, text));
      if (generation) {
        return named(place, text, *std::move(generation));
      }
    }
  }
  CUKIT_TRY_ASSIGN(const auto trees, trees_with_id(home, text));
  if (trees.size() == 1) {
    return Reference{Reference::Kind::tree, text, trees.front(), {}};
  }
  if (trees.size() > 1) {
    return refused(ErrorCode::usage,
                   fmt::format("the ids of {} trees begin with `{}`", trees.size(), text),
                   "write more of the id; `cukit list` shows them");
  }
  CUKIT_TRY_ASSIGN(auto hint, hint_for(home, text));
  return refused(ErrorCode::usage, fmt::format("there is no toolkit `{}`", printable(text)),
                 std::move(hint));
}

Result<lock::Lock> lock_of_tree(const store::Home& home, const fs::path& folder) {
  CUKIT_TRY_ASSIGN(const auto tree, assemble::open_tree(folder));
  for (const auto& place : homes(home)) {
    std::vector<Error> damaged; // what can be read may know the tree
    CUKIT_TRY_ASSIGN(const auto all, all_generations(place, &damaged));
    auto found = std::find_if(all.begin(), all.end(), [&](const NamedGeneration& one) {
      return one.current && one.generation.tree == tree.id.hex();
    });
    if (found == all.end()) {
      found = std::find_if(all.begin(), all.end(), [&](const NamedGeneration& one) {
        return one.generation.tree == tree.id.hex();
      });
    }
    if (found != all.end()) {
      return lock::read(found->generation.lock, "the lock of " + found->name);
    }
  }
  return refused(ErrorCode::usage,
                 fmt::format("no name has the tree {}, so its lock is not known", folder.string()),
                 "name the lock or the manifest it was made from");
}

} // namespace

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text == "." || text == ".." ||
         is_manifest_file(text);
}

Result<Reference> find_reference(const store::Home& home, const std::string& text) {
  if (text.empty()) {
    return the_only_one(home);
  }
  if (!is_path(text)) {
    return find_word(home, text);
  }
  const auto kind = text.ends_with(k_lock_suffix) ? Reference::Kind::lock
                    : is_manifest_file(text)      ? Reference::Kind::manifest
                                                  : Reference::Kind::tree;
  return Reference{kind, text, text, {}};
}

Result<lock::Lock> lock_of(const store::Home& home, const Reference& reference) {
  switch (reference.kind) {
  case Reference::Kind::name:
    return lock::read(
        reference.generation->lock,
        names::lock_path(home, reference.text, reference.generation->number).string());
  case Reference::Kind::lock:
    return path_exists(reference.path) ? lock::load(reference.path) : not_there(reference);
  case Reference::Kind::tree:
    return lock_of_tree(home, reference.path);
  case Reference::Kind::manifest:
    break;
  }
  const auto file = lock::lock_path(reference.path);
  if (!path_exists(file) && !path_exists(reference.path)) {
    return not_there(reference);
  }
  if (!path_exists(file)) {
    return refused(ErrorCode::usage,
                   fmt::format("the manifest {} has no lock yet", printable(reference.text)),
                   fmt::format("run `cukit up {}` first", printable(reference.text)));
  }
  return lock::load(file);
}

namespace {

Result<fs::path> place_of(const store::Home& home, const Reference& reference) {
  if (reference.kind == Reference::Kind::name) {
    return reference.path;
  }
  if (reference.kind == Reference::Kind::tree) {
    if (!path_exists(reference.path / ".cukit")) {
      return path_exists(reference.path)
                 ? refused(ErrorCode::usage,
                           fmt::format("{} is no tree that cukit built", printable(reference.text)),
                           "`cukit list` shows the trees there are")
                 : not_there(reference);
    }
    std::error_code error;
    auto real = fs::canonical(reference.path, error);
    return error ? reference.path : std::move(real);
  }
  CUKIT_TRY_ASSIGN(const auto lock, lock_of(home, reference));
  const auto* part = lock.find(Platform::host());
  if (part == nullptr) {
    return refused(ErrorCode::expected_no,
                   fmt::format("the lock of {} is not for {}", printable(reference.text),
                               Platform::host().text()),
                   fmt::format("add `platforms: [{}]` to the manifest", Platform::host().text()));
  }
  auto path = home.tree(lock::tree_id(lock, *part).hex());
  if (!folder_exists(path)) {
    return refused(ErrorCode::usage,
                   fmt::format("the toolkit of {} (CUDA {}) is not built here",
                               printable(reference.text), lock.release.text()),
                   fmt::format("run `cukit up {}` first", printable(reference.text)));
  }
  return path;
}

} // namespace

Result<fs::path> tree_of(const store::Home& home, const Reference& reference) {
  CUKIT_TRY_ASSIGN(auto path, place_of(home, reference));
  CUKIT_TRY(store::check_use(home, path)); // of a machine's store only what others cannot change
  return path;
}

} // namespace cukit::home

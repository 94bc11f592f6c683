// A tree as a person names it on the command line.
#include "base/strings.hpp"
#include "cli.hpp"
#include "home/nearest.hpp"
#include "home/reference.hpp"
#include "names/mend.hpp"

#include <algorithm>

namespace cukit::cmd {

namespace {

using home::Reference;

/// What is not as a person who names a manifest may think: it says more now than its lock does, or
/// its tree never passed `cukit up`.
Result<std::string> remark_on(const Invocation& invocation, const store::Home& home,
                              const Reference& reference, const lock::Lock& lock,
                              const assemble::Tree& tree) {
  CUKIT_TRY_ASSIGN(const auto manifest, manifest::load(reference.path, invocation.knowledge()));
  if (manifest.digest != lock.manifest) {
    return fmt::format("{} was changed after its lock was made; this is the toolkit of the lock: "
                       "CUDA {}",
                       reference.text, lock.release.text());
  }
  bool has_passed = false;
  for (const auto& place : {std::optional(home), home.system_home()}) {
    if (place) {
      std::vector<Error> damaged; // `list` and `verify` name it
      const auto all = names::readable_generations(*place, manifest.name.value, damaged);
      has_passed = has_passed || std::any_of(all.begin(), all.end(), [&](const auto& one) {
                     return one.tree == tree.id.hex();
                   });
    }
  }
  return has_passed ? std::string()
                    : fmt::format("the toolkit of {} is built, but no `cukit up` of it has ended "
                                  "well here",
                                  reference.text);
}

} // namespace

Result<TreeReference> find_tree(const Invocation& invocation, const store::Home& home,
                                const std::string& text) {
  CUKIT_TRY_ASSIGN(const auto reference, home::find_reference(home, text));
  CUKIT_TRY_ASSIGN(const auto path, home::tree_of(home, reference));
  TreeReference result;
  CUKIT_TRY_ASSIGN(result.tree, assemble::open_tree(path));
  if (reference.kind == Reference::Kind::tree) {
    return result;
  }
  CUKIT_TRY_ASSIGN(const auto lock, home::lock_of(home, reference));
  result.gpus = lock.gpus;
  if (reference.kind == Reference::Kind::name) {
    result.name = reference.text;
  } else if (reference.kind == Reference::Kind::manifest) {
    CUKIT_TRY_ASSIGN(const auto remark, remark_on(invocation, home, reference, lock, result.tree));
    if (!remark.empty()) {
      invocation.progress->say(remark);
    }
  }
  return result;
}

std::string given_or_nearest(const Invocation& invocation, const std::string& given) {
  if (!given.empty()) {
    return given;
  }
  std::error_code gone;
  const auto here = fs::current_path(gone);
  const auto home = invocation.environment.get("HOME").value_or("");
  const auto found = gone ? std::nullopt : home::nearest_manifest(here, home);
  if (!found) {
    return {};
  }
  auto shown = found->lexically_relative(here).string();
  if (!invocation.options.quiet) {
    ui::say(fmt::format("of {}, since nothing else is named\n", printable(shown)));
  }
  return shown;
}

Result<std::vector<std::string>> given_or_nearest(const Invocation& invocation,
                                                  const std::vector<std::string>& given) {
  if (!given.empty()) {
    return given;
  }
  auto nearest = given_or_nearest(invocation, std::string());
  if (nearest.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = "no manifest is named, and there is no cukit.yaml in this folder or above",
              .hint = "name a manifest; `cukit init` writes one"});
  }
  return std::vector{std::move(nearest)};
}

} // namespace cukit::cmd

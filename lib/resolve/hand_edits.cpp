#include "resolve/hand_edits.hpp"

#include "base/strings.hpp"
#include "model/project_name.hpp"
#include "resolve/again.hpp"

#include <algorithm>

namespace cukit::resolve {

namespace {

/// A wheel's name says what it is; whatever the lock says besides must agree.
std::string contradiction(const lock::Artifact& artifact, Platform platform,
                          const std::vector<knowledge::Component>& components) {
  const auto wheel = catalog::parse_wheel_name(artifact.file);
  if (artifact.source != "wheels" || !wheel) {
    return {};
  }
  if (wheel->version != artifact.version) {
    return fmt::format("{} is said to be {} {}", artifact.file, artifact.component,
                       artifact.version.text());
  }
  const auto* component = knowledge::find_component(components, artifact.component);
  if (component != nullptr && !component->project.empty() &&
      wheel->project != normalised_project(component->project_of(wheel->version))) {
    return fmt::format("{} is said to be {}, whose wheels are called {}", artifact.file,
                       artifact.component, component->project);
  }
  if (wheel->machine != "any" && wheel->machine != platform.machine()) {
    return fmt::format("{} stands under {}", artifact.file, platform.text());
  }
  return {};
}

/// The first line that cukit would have written otherwise. A lock of an older format is spelled by
/// other rules.
std::string other_spelling(const lock::Lock& lock, std::string_view text) {
  const auto canonical = lock::write(lock);
  const std::string_view canonical_view = canonical;
  if (text == canonical_view ||
      !text.starts_with(canonical_view.substr(0, canonical_view.find('\n')))) {
    return {};
  }
  const auto is = split(text, '\n');
  const auto wanted = split(canonical_view, '\n');
  std::size_t line = 0;
  while (line < is.size() && line < wanted.size() && is[line] == wanted[line]) {
    ++line;
  }
  return fmt::format("line {} is not spelled as cukit writes it", line + 1);
}

/// The first line that does not follow from the manifest.
std::string other_fact(const lock::Lock& lock, const lock::Lock& again) {
  const auto locked = lock::write(lock);
  const auto derived = lock::write(again);
  const auto is = split(locked, '\n');
  const auto wanted = split(derived, '\n');
  std::size_t line = 0;
  while (line < is.size() && line < wanted.size() && is[line] == wanted[line]) {
    ++line;
  }
  if (line == is.size() && line == wanted.size()) {
    return {};
  }
  const auto shown = [](const std::vector<std::string_view>& lines, std::size_t at) {
    return at < lines.size() ? printable(trim(lines[at])) : std::string();
  };
  return fmt::format("line {} says `{}`, where `{}` follows from the manifest and the recipes",
                     line + 1, shown(is, line), shown(wanted, line));
}

} // namespace

Result<std::string> changed_by_hand(const lock::Lock& lock, std::string_view text,
                                    const manifest::Manifest& manifest,
                                    const knowledge::Knowledge& knowledge,
                                    const MachineFacts& machine) {
  CUKIT_TRY_ASSIGN(const auto* components, knowledge.components());
  for (const auto& platform : lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      auto found = contradiction(artifact, platform.platform, *components);
      if (!found.empty()) {
        return found;
      }
    }
  }
  if (auto spelling = other_spelling(lock, text); !spelling.empty()) {
    return spelling;
  }
  const auto again = compose_again(lock, manifest, knowledge, machine);
  return again ? other_fact(lock, *again) : again.error().message;
}

} // namespace cukit::resolve

#include "commands/locks.hpp"

#include "base/strings.hpp"
#include "home/reference.hpp"

namespace cukit::cmd {

namespace {

using Kind = explain::ComponentChange::Kind;

constexpr std::string_view k_lock_suffix = ".lock.yaml";

/// The manifest that a lock lies beside; empty when there is none.
std::string manifest_beside(const fs::path& lock) {
  const auto stem = lock.string().substr(0, lock.string().size() - k_lock_suffix.size());
  for (const char* suffix : {".yaml", ".yml"}) {
    if (path_exists(stem + suffix)) {
      return stem + suffix;
    }
  }
  return {};
}

const char* word_of(Kind kind) {
  switch (kind) {
  case Kind::added:
    return "added";
  case Kind::removed:
    return "removed";
  case Kind::version:
    return "version";
  case Kind::bytes:
    return "bytes";
  case Kind::files:
    return "files";
  }
  return "";
}

text::Json platforms_json(const std::vector<Platform>& platforms) {
  auto list = text::Json::list();
  for (const auto platform : platforms) {
    list.add(platform.text());
  }
  return list;
}

std::string platforms_text(const std::vector<Platform>& platforms) {
  std::vector<std::string> texts;
  for (const auto platform : platforms) {
    texts.emplace_back(platform.text());
  }
  return join(texts, ", ");
}

/// The cells of one changed component: sign, name, versions, remark.
std::vector<std::string> cells_of(const explain::ComponentChange& change) {
  std::string remark = change.why;
  std::string sign = "~";
  std::string versions = fmt::format("{} -> {}", change.from, change.to);
  if (change.kind == Kind::added) {
    sign = "+";
    versions = change.to;
  } else if (change.kind == Kind::removed) {
    sign = "-";
    versions = change.from;
    remark = "was here by " + change.why;
  } else if (change.kind == Kind::bytes) {
    versions = change.from == change.to ? change.to : versions;
    remark = "the same version from another file";
  } else if (change.kind == Kind::files) {
    versions = change.from == change.to ? change.to : versions;
    remark = "other files of the same package are taken";
  } else if (!change.is_upgrade) {
    sign = "v";
    remark = "older";
  } else {
    remark.clear();
  }
  return {sign, change.component, versions, remark};
}

std::string download_text(const explain::Download& download) {
  std::string text = fmt::format("  {}: ", download.platform.text());
  if (download.files > 0) {
    text += fmt::format("{} to download ({} files)", human_bytes(download.bytes), download.files);
  }
  if (download.ranged > 0) {
    text +=
        fmt::format("{}single members of {} more", download.files > 0 ? ", " : "", download.ranged);
  }
  return text + "\n";
}

} // namespace

Result<LockReference> find_lock(const Invocation& invocation, const std::string& text) {
  CUKIT_TRY_ASSIGN(const auto home, invocation.home());
  CUKIT_TRY_ASSIGN(const auto reference, home::find_reference(home, text));
  LockReference result;
  CUKIT_TRY_ASSIGN(result.lock, home::lock_of(home, reference));
  result.name = reference.text;
  if (reference.kind == home::Reference::Kind::manifest) {
    result.name = lock::lock_path(reference.path).string();
    result.manifest = path_exists(reference.path) ? reference.text : "";
  } else if (reference.kind == home::Reference::Kind::lock) {
    result.manifest = manifest_beside(reference.path);
  }
  return result;
}

text::Json diff_json(const explain::Diff& diff) {
  auto components = text::Json::list();
  for (const auto& change : diff.components) {
    components.add(text::Json::object()
                       .set("component", change.component)
                       .set("change", word_of(change.kind))
                       .set("from", change.from)
                       .set("to", change.to)
                       .set("why", change.why)
                       .set("platforms", platforms_json(change.platforms)));
  }
  auto effects = text::Json::list();
  for (const auto& effect : diff.effects) {
    effects.add(text::Json::object()
                    .set("subject", effect.subject)
                    .set("from", effect.from)
                    .set("to", effect.to)
                    .set("text", effect.text)
                    .set("source", effect.source));
  }
  auto downloads = text::Json::list();
  for (const auto& download : diff.downloads) {
    downloads.add(text::Json::object()
                      .set("platform", download.platform.text())
                      .set("bytes", download.bytes)
                      .set("files", download.files)
                      .set("ranged", download.ranged));
  }
  return text::Json::object()
      .set("schema", "cukit.diff/1")
      .set("same", diff.empty())
      .set("from", diff.from.text())
      .set("to", diff.to.text())
      .set("platforms_added", platforms_json(diff.platforms_added))
      .set("platforms_removed", platforms_json(diff.platforms_removed))
      .set("components", components)
      .set("effects", effects)
      .set("downloads", downloads);
}

std::string diff_text(const ui::Terminal& terminal, const explain::Diff& diff) {
  std::string out;
  for (const auto& [sign, platforms] :
       {std::pair("+", &diff.platforms_added), std::pair("-", &diff.platforms_removed)}) {
    if (!platforms->empty()) {
      out += fmt::format("  {} platform {}\n", sign, platforms_text(*platforms));
    }
  }
  ui::Table table;
  for (const auto& change : diff.components) {
    auto cells = cells_of(change);
    const auto style = change.kind == Kind::added     ? ui::Style::good
                       : change.kind == Kind::removed ? ui::Style::bad
                                                      : ui::Style::accent;
    table.row(std::move(cells), {style, ui::Style::bold, ui::Style::plain, ui::Style::dim});
  }
  out += table.print(terminal);
  if (!diff.effects.empty()) {
    out += "  what that means\n";
  }
  for (const auto& effect : diff.effects) {
    const auto values = effect.from.empty() ? effect.to
                        : effect.to.empty() ? effect.from
                                            : fmt::format("{} -> {}", effect.from, effect.to);
    const auto source = effect.source.empty() ? "" : "[" + effect.source + "]";
    out += fmt::format("  - {} {}\n      {}\n", terminal.paint(ui::Style::bold, effect.subject),
                       values, ui::flow(terminal, {{effect.text}, {source, ui::Style::dim}}, 6, 6));
  }
  for (const auto& download : diff.downloads) {
    out += download_text(download);
  }
  return out;
}

} // namespace cukit::cmd

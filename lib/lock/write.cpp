// The format of the lock, version 1. One value has one spelling, so that a lock that changes shows
// exactly what changed:
//   - YAML of block maps and block lists; lists of plain scalars stand on one line; two spaces per
//     level; LF; no comments
//   - keys in the order below; a key whose value is the default is absent
//   - versions are quoted (13.10 is no number); digests are `sha256:` and 64 lower-case digits
//   - artifacts by (component, version as integers); platforms x86_64, sbsa, aarch64; take, leave,
//     link and require sorted
//
// clang-format off
//   cukit-lock: 1
//   manifest: sha256:...               what it was resolved from (canonical form of the parsed manifest)
//   assembly: 1                        rules that every tree of this lock is assembled by
//   release: "13.0.2"
//   requires:                          what a machine must have
//     driver: "580"
//     gpus: [sm_90, sm_120]
//     observed: [gpus]                 fields that are what one machine showed (the manifest said `native`)
//     assumed: [driver, gpus]          fields that stand for a machine that was not there
//   pins:                              metapackages and redistrib manifests the choice rests on
//     FILE: sha256:...
//   platforms:
//     linux-x86_64:
//       glibc: "2.17"
//       artifacts:
//         - component: nvcc
//           version: "13.0.88"
//           why: manifest toolkit.nvcc a rule and its argument
//           source: wheels             or redist
//           file: FILE
//           path: cuda/redist/.../FILE of an archive alone: where it lies below every base
//           size: 37384532
//           sha256: sha256:...
//           record: sha256:...         members come by ranges and are checked against this RECORD
//           licence: LicenseRef-NVIDIA-Proprietary
//           trust: first-lock          the cukit that wrote the lock did not know this file
//           root: nvidia/cu13
//           take: [include/]           paths in the tree, a trailing / is a folder
//           leave: [bin/nvlink, bin/ptxas]
//           move: ["a/ -> b/"]
//           link: ["x -> y"]
//           require: [bin/nvcc]        of an archive alone: files that the tree must have in the end
// clang-format on
#include "base/strings.hpp"
#include "lock/lock.hpp"

#include <algorithm>

namespace cukit::lock {

namespace {

constexpr std::string_view k_safe =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// Words that some YAML reader takes for something else than text.
bool is_ambiguous(std::string_view text) {
  const std::string word = lower(text);
  constexpr std::string_view words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words) ||
         word.find_first_not_of("0123456789.e_+-x") == std::string::npos;
}

/// Text in a one-line list, where spaces and commas would confuse a reader's eye.
std::string item(std::string_view text) {
  const bool is_plain = !text.empty() && text.find_first_not_of(k_safe) == std::string_view::npos &&
                        text.front() != '-' && !is_ambiguous(text);
  return is_plain ? std::string(text) : in_quotes(text);
}

/// Text after `key: `; single spaces inside are fine.
std::string scalar(std::string_view text) {
  for (const auto word : split(text, ' ')) {
    if (word.empty() || word.find_first_not_of(k_safe) != std::string_view::npos) {
      return in_quotes(text);
    }
  }
  return text.front() == '-' || is_ambiguous(text) ? in_quotes(text) : std::string(text);
}

std::string items(const std::vector<std::string>& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  std::transform(list.begin(), list.end(), std::back_inserter(texts), item);
  return "[" + join(texts, ", ") + "]";
}

std::string arrows(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<std::string> texts;
  texts.reserve(pairs.size());
  for (const auto& [from, to] : pairs) {
    texts.push_back(from + " -> " + to);
  }
  return items(texts);
}

/// Lines of one map at one indentation; a value that is empty is left out.
class Lines {
public:
  Lines(std::string& out, int indent, std::string_view first_prefix = {})
      : out_(out), indent_(indent), prefix_(first_prefix) {}
  void add(std::string_view key, const std::string& value) {
    if (value.empty()) {
      return;
    }
    const std::string margin(static_cast<std::size_t>(indent_), ' ');
    out_ += prefix_.empty() ? margin : std::exchange(prefix_, {});
    out_ += fmt::format("{}: {}\n", key, value);
  }
  void text(std::string_view key, std::string_view value) {
    add(key, value.empty() ? "" : scalar(value));
  }
  void list(std::string_view key, const std::vector<std::string>& list) {
    add(key, list.empty() ? "" : items(list));
  }
  void open(std::string_view key) { out_ += fmt::format("{:{}}{}:\n", "", indent_, key); }

private:
  std::string& out_;
  int indent_;
  std::string prefix_;
};

void write_artifact(std::string& out, const Artifact& artifact) {
  Lines lines(out, 8, "      - ");
  lines.text("component", artifact.component);
  lines.add("version", in_quotes(artifact.version.text()));
  lines.text("why", artifact.why);
  lines.text("source", artifact.source);
  lines.text("file", artifact.file);
  lines.text("path", artifact.path);
  lines.add("size", fmt::format("{}", artifact.size));
  lines.add("sha256", artifact.sha256.text());
  lines.add("record", artifact.record ? artifact.record->text() : "");
  lines.text("licence", artifact.licence);
  lines.add("trust", artifact.trust_first_lock ? "first-lock" : "");
  lines.text("root", artifact.root);
  lines.list("take", artifact.take);
  lines.list("leave", artifact.leave);
  lines.add("move", artifact.move.empty() ? "" : arrows(artifact.move));
  lines.add("link", artifact.link.empty() ? "" : arrows(artifact.link));
  lines.list("require", artifact.require);
}

void write_requires(std::string& out, const Lock& lock) {
  if (lock.driver.empty() && lock.gpus.empty()) {
    return;
  }
  Lines(out, 0).open("requires");
  Lines lines(out, 2);
  lines.add("driver", lock.driver.empty() ? "" : in_quotes(lock.driver));
  std::vector<std::string> gpus;
  for (const auto& gpu : lock.gpus) {
    gpus.push_back(gpu.sm());
  }
  lines.list("gpus", gpus);
  lines.list("observed",
             lock.observed_gpus ? std::vector<std::string>{"gpus"} : std::vector<std::string>{});
  std::vector<std::string> assumed;
  if (lock.assumed_driver) {
    assumed.emplace_back("driver");
  }
  if (lock.assumed_gpus) {
    assumed.emplace_back("gpus");
  }
  lines.list("assumed", assumed);
}

} // namespace

std::string write(const Lock& unsorted) {
  Lock lock = unsorted;
  sort(lock);
  std::string out;
  Lines top(out, 0);
  top.add("cukit-lock", fmt::format("{}", k_format));
  top.add("manifest", lock.manifest.text());
  top.add("assembly", fmt::format("{}", lock.assembly));
  top.add("release", in_quotes(lock.release.text()));
  write_requires(out, lock);
  if (!lock.pins.empty()) {
    top.open("pins");
    Lines lines(out, 2);
    for (const auto& [file, digest] : lock.pins) {
      lines.add(scalar(file), digest.text());
    }
  }
  top.open("platforms");
  for (const auto& platform : lock.platforms) {
    Lines(out, 2).open(platform.platform.text());
    Lines lines(out, 4);
    lines.add("glibc", platform.glibc.empty() ? "" : in_quotes(platform.glibc));
    lines.open("artifacts");
    for (const auto& artifact : platform.artifacts) {
      write_artifact(out, artifact);
    }
  }
  return out;
}

} // namespace cukit::lock

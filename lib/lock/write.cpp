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
#include "text/yaml_write.hpp"

#include <algorithm>

namespace cukit::lock {

namespace {

std::string arrows(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<std::string> texts;
  texts.reserve(pairs.size());
  for (const auto& [from, to] : pairs) {
    texts.push_back(from + " -> " + to);
  }
  return text::yaml_list(texts);
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
    add(key, value.empty() ? "" : text::yaml_scalar(value));
  }
  void list(std::string_view key, const std::vector<std::string>& list) {
    add(key, list.empty() ? "" : text::yaml_list(list));
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
  lines.add("version", text::yaml_quoted(artifact.version.text()));
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
  lines.add("driver", lock.driver.empty() ? "" : text::yaml_quoted(lock.driver));
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
  top.add("release", text::yaml_quoted(lock.release.text()));
  write_requires(out, lock);
  if (!lock.pins.empty()) {
    top.open("pins");
    Lines lines(out, 2);
    for (const auto& [file, digest] : lock.pins) {
      lines.add(text::yaml_scalar(file), digest.text());
    }
  }
  top.open("platforms");
  for (const auto& platform : lock.platforms) {
    Lines(out, 2).open(platform.platform.text());
    Lines lines(out, 4);
    lines.add("glibc", platform.glibc.empty() ? "" : text::yaml_quoted(platform.glibc));
    lines.open("artifacts");
    for (const auto& artifact : platform.artifacts) {
      write_artifact(out, artifact);
    }
  }
  return out;
}

} // namespace cukit::lock

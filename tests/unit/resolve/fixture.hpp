// What the tests of resolve/ stand on: the embedded recipes and tests/data/resolve/index.tsv, which
// holds real pages of an index.
#pragma once

#include "base/strings.hpp"
#include "resolve/hand_edits.hpp"
#include "resolve/resolve.hpp"
#include "support/real_manifests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cukit::resolve {

inline catalog::WheelFile wheel_of_line(const std::string& file, const std::string& size,
                                        const std::string& sha256, const std::string& yanked) {
  auto wheel = catalog::parse_wheel_name(file);
  EXPECT_TRUE(wheel.has_value()) << file;
  auto result = wheel.value_or(catalog::WheelFile());
  result.size = std::stoull(size);
  result.sha256 = *Sha256::parse(sha256);
  result.yanked = yanked == "yes";
  result.url = "https://example.com/" + file;
  return result;
}

/// The whole index, pre-releases of the metapackage included.
inline catalog::Catalog full_catalog() {
  catalog::Catalog catalog;
  const auto text = read_file(fs::path(CUKIT_TEST_DATA) / "resolve/index.tsv", 4U << 20U);
  EXPECT_TRUE(text.has_value());
  const std::string lines = text.value_or("");
  for (const auto line : split(lines, '\n')) {
    const auto fields = split(line, '\t');
    const auto field = [&](std::size_t i) { return std::string(fields[i]); };
    if (fields[0] == "meta") {
      catalog::MetaRelease release;
      release.file = wheel_of_line(field(2), field(3), field(4), field(5));
      release.version = release.file.version;
      catalog.projects["cuda-toolkit"].push_back(release.file);
      catalog.releases.push_back(std::move(release));
    } else if (fields[0] == "requires") {
      auto requirement = catalog::Requirement::parse(fields[1]);
      EXPECT_TRUE(requirement.has_value()) << fields[1];
      catalog.releases.back().requirements.push_back(*std::move(requirement));
    } else if (fields[0] == "wheel") {
      catalog.projects[field(1)].push_back(wheel_of_line(field(2), field(3), field(4), field(5)));
    }
  }
  return catalog;
}

/// Without pre-releases of the metapackage, as the catalog module gives it when none was asked for.
inline catalog::Catalog real_catalog() {
  static const catalog::Catalog catalog = [] {
    auto full = full_catalog();
    std::erase_if(full.releases,
                  [](const auto& release) { return release.version.is_prerelease(); });
    return full;
  }();
  return catalog;
}

inline const knowledge::Knowledge& recipes() {
  static const auto knowledge = knowledge::Knowledge::embedded();
  return knowledge;
}

/// One of NVIDIA's, with the digest that its own text has where that is known.
inline catalog::RedistManifest real_manifest(const std::string& product, const std::string& label) {
  auto manifest = catalog::parse_redist(test::real_manifest(product, label), product,
                                        *Version::parse(label), label)
                      .value();
  const auto& pins = *recipes().pins().value();
  if (const auto known = pins.find(manifest.path()); known != pins.end()) {
    manifest.sha256 = known->second;
  }
  return manifest;
}

inline manifest::Manifest manifest_of(const std::string& body) {
  auto manifest = manifest::parse("cukit: 1\nname: test\n" + body, "test.yaml", recipes());
  EXPECT_TRUE(manifest.has_value()) << (manifest ? "" : manifest.error().message) << "\n" << body;
  return manifest.value_or(manifest::Manifest());
}

using Answer = std::variant<Resolution, Conflict>;

/// As locks are written: with the RECORDs that were still to be read.
inline lock::Lock finished(const Resolution& resolution) {
  auto lock = resolution.lock;
  for (const auto& unfinished : resolution.needs_record) {
    lock.platforms[unfinished.platform].artifacts[unfinished.artifact].record =
        sha256_of(unfinished.wheel.file);
  }
  return lock;
}

inline Answer answer_to(const manifest::Manifest& manifest, const catalog::Catalog& catalog,
                        const MachineFacts& machine = {}, const lock::Lock* earlier = nullptr) {
  auto answer = resolve(manifest, recipes(), catalog, machine, earlier);
  EXPECT_TRUE(answer.has_value()) << (answer ? "" : answer.error().message);
  const auto* resolution = answer ? std::get_if<Resolution>(&*answer) : nullptr;
  if (resolution != nullptr && !resolution->lock.platforms.empty()) {
    // Whatever a test resolves: nobody has edited it.
    const auto lock = finished(*resolution);
    const auto edit = changed_by_hand(lock, lock::write(lock), manifest, recipes(), machine);
    EXPECT_EQ(edit.value_or("an error"), "") << lock::write(lock);
  }
  return answer ? *std::move(answer) : Answer(Conflict{});
}

inline std::string text_of(const Conflict& conflict) {
  std::string text;
  for (const auto& demand : conflict.demands) {
    text += fmt::format("{}:{}: {} | {} | {}\n", demand.file, demand.line, demand.text,
                        demand.reason, demand.source);
  }
  for (const auto& way : conflict.ways_out) {
    text += fmt::format("way out: {} -> {}\n", way.change, way.result);
  }
  return text;
}

inline Resolution resolution_of(const std::string& body, const MachineFacts& machine = {},
                                const lock::Lock* earlier = nullptr) {
  auto answer = answer_to(manifest_of(body), real_catalog(), machine, earlier);
  if (const auto* conflict = std::get_if<Conflict>(&answer)) {
    ADD_FAILURE() << "a conflict:\n" << text_of(*conflict);
    return {};
  }
  return std::get<Resolution>(std::move(answer));
}

inline Conflict conflict_of(const std::string& body, const MachineFacts& machine = {}) {
  auto answer = answer_to(manifest_of(body), real_catalog(), machine);
  if (const auto* resolution = std::get_if<Resolution>(&answer)) {
    ADD_FAILURE() << "no conflict: CUDA " << resolution->lock.release.text();
    return {};
  }
  return std::get<Conflict>(std::move(answer));
}

/// The artifact of a component: its whole or headers, or (with `part`) the members that stand in
/// for it.
inline lock::Artifact artifact_of(const Resolution& resolution, const std::string& component,
                                  bool part = false,
                                  Platform platform = Platform::Kind::linux_x86_64) {
  const auto* entry = resolution.lock.find(platform);
  EXPECT_NE(entry, nullptr);
  for (const auto& artifact : entry == nullptr ? std::vector<lock::Artifact>() : entry->artifacts) {
    const bool is_part = !artifact.take.empty() && artifact.component == "nvcc";
    if (artifact.component == component && is_part == part) {
      return artifact;
    }
  }
  return {};
}

inline std::string version_of(const Resolution& resolution, const std::string& component,
                              bool part = false, Platform platform = Platform::Kind::linux_x86_64) {
  const auto artifact = artifact_of(resolution, component, part, platform);
  return artifact.file.empty() ? "" : artifact.version.text();
}

} // namespace cukit::resolve

#include "base/strings.hpp"
#include "manifest/read.hpp"
#include "text/json.hpp"

#include <algorithm>

namespace cukit::manifest {

namespace {

text::Json sorted(std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  auto list = text::Json::list();
  for (auto& value : values) {
    list.add(std::move(value));
  }
  return list;
}

template <typename T, typename Text>
std::vector<std::string> texts(const std::vector<Wish<T>>& wishes, const Text& text) {
  std::vector<std::string> result;
  for (const auto& wish : wishes) {
    result.push_back(text(wish));
  }
  return result;
}

std::string same(const Wish<std::string>& wish) {
  return wish.value;
}

/// Clauses in one order: `>=13,<14` and `<14,>=13` are one range.
void add_range(text::Json& json, std::string_view key,
               const std::optional<Wish<VersionRange>>& range) {
  if (!range) {
    return;
  }
  const auto text = range->value.text();
  std::vector<std::string> clauses;
  for (const auto clause : split(text, ',')) {
    clauses.emplace_back(clause);
  }
  std::sort(clauses.begin(), clauses.end());
  json.set(std::string(key), join(clauses, ","));
}

} // namespace

// Paths go in as written: the digest is the same on a machine where the manifest lies elsewhere.
Sha256 digest_of(const Manifest& manifest) {
  auto gpus = texts(manifest.gpus, [](const auto& gpu) { return gpu.value.sm(); });
  if (manifest.native_gpus) {
    gpus.emplace_back("native");
  }
  auto components = texts(manifest.components, same);
  if (components.empty()) {
    components.emplace_back("core");
  }
  auto json = text::Json::object().set("cukit-manifest", 1).set("gpus", sorted(std::move(gpus)));
  if (manifest.pytorch_cuda) {
    json.set("pytorch", manifest.pytorch_cuda->value.text());
  }
  if (manifest.pytorch_venv) {
    json.set("venv", manifest.pytorch_venv->text);
  }
  if (manifest.native_driver) {
    json.set("driver", "native");
  }
  add_range(json, "driver", manifest.driver);
  add_range(json, "nvcc", manifest.nvcc);
  add_range(json, "ptxas", manifest.ptxas);
  add_range(json, "headers", manifest.headers);
  add_range(json, "cccl", manifest.cccl);
  json.set("components", sorted(std::move(components)));
  json.set("consumers", sorted(texts(manifest.consumers, same)));
  if (manifest.host_compiler) {
    json.set("compiler", manifest.host_compiler->text);
  }
  json.set("platforms", sorted(texts(manifest.platforms, [](const auto& platform) {
             return std::string(platform.value.text());
           })));
  auto sources = text::Json::list(); // their order is a preference
  for (const auto& source : manifest.sources) {
    sources.add(source.value);
  }
  json.set("sources", std::move(sources));
  return sha256_of(json.dump(false));
}

} // namespace cukit::manifest

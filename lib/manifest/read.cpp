#include "manifest/read.hpp"

#include "base/strings.hpp"
#include "knowledge/suites.hpp"
#include "model/toolkit_name.hpp"

#include <algorithm>

namespace cukit::manifest {

namespace {

template <typename T> Wish<T> wish(T value, const text::Node& node) {
  return {.value = std::move(value), .text = node.scalar, .at = node.at};
}

template <typename T> void add_once(std::vector<Wish<T>>& list, Wish<T> item) {
  const bool known = std::any_of(list.begin(), list.end(),
                                 [&](const auto& other) { return other.value == item.value; });
  if (!known) {
    list.push_back(std::move(item));
  }
}

/// Names of a list that must be among `known`.
std::vector<Wish<std::string>> known_names(Reading& reading, text::Fields& fields,
                                           std::string_view key, std::string_view what,
                                           const std::vector<std::string>& known) {
  std::vector<Wish<std::string>> result;
  for (const auto* node : fields.texts(key)) {
    if (std::find(known.begin(), known.end(), node->scalar) != known.end()) {
      add_once(result, wish(node->scalar, *node));
      continue;
    }
    auto hint = text::suggestion(node->scalar, known);
    if (hint.empty()) {
      hint = "known are " + join(known, ", ");
    }
    reading.mistakes.add(
        node->at, fmt::format("there is no {} `{}`", what, printable(node->scalar.substr(0, 100))),
        std::move(hint));
  }
  return result;
}

std::optional<Wish<VersionRange>> range(text::Fields& fields, std::string_view key) {
  const auto* node = fields.text(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  auto value = fields.parse_node(*node, VersionRange::parse_wish);
  return value ? std::optional(wish(*std::move(value), *node)) : std::nullopt;
}

std::string absolute_path(const Reading& reading, const std::string& text) {
  return (reading.folder / text).lexically_normal().string();
}

/// 13.0 of cu130: the last digit is the minor. Nothing when that is no release that cukit knows.
Result<std::optional<Version>> cuda_of_tag(const knowledge::Knowledge& knowledge,
                                           std::string_view tag) {
  const auto cuda = fit::cuda_of_tag(tag);
  if (!cuda) {
    return std::nullopt;
  }
  CUKIT_TRY_ASSIGN(const auto* releases, knowledge.releases());
  return knowledge::find_release(*releases, *cuda) == nullptr ? std::nullopt : cuda;
}

/// The build that `torch` has on the default index, where that is documented.
const knowledge::PyTorch* default_build(const std::vector<knowledge::PyTorch>& known,
                                        const Version& torch) {
  for (const auto& entry : known) {
    if (std::any_of(entry.default_of.begin(), entry.default_of.end(),
                    [&](const auto& minor) { return minor.same_minor(torch); })) {
      return &entry;
    }
  }
  return nullptr;
}

Result<void> read_torch_text(Reading& reading, const text::Node& node) {
  CUKIT_TRY_ASSIGN(const auto* known, reading.knowledge.pytorch());
  const auto plus = node.scalar.find('+');
  const auto tag = plus == std::string::npos ? node.scalar : node.scalar.substr(plus + 1);
  CUKIT_TRY_ASSIGN(auto cuda, cuda_of_tag(reading.knowledge, tag));
  const auto torch = Version::parse(node.scalar);
  auto build = fit::TorchName::parse(node.scalar);
  if (!cuda && plus == std::string::npos && torch) {
    if (const auto* entry = default_build(*known, *torch)) {
      cuda = entry->cuda;
      build.tag = entry->tag;
    } else {
      reading.mistakes.add(
          node.at, fmt::format("which CUDA PyTorch `{}` was built with is not known", node.scalar),
          "add it, as in `2.11.0+cu130`");
      return {};
    }
  }
  if (!cuda || (plus != std::string::npos && !torch)) {
    std::vector<std::string> tags;
    for (const auto& entry : *known) {
      tags.push_back(entry.tag);
    }
    auto hint = text::suggestion(tag, tags);
    reading.mistakes.add(
        node.at, fmt::format("`{}` is no build of PyTorch", printable(node.scalar.substr(0, 100))),
        hint.empty() ? "write cu130, 2.11.0+cu130 or {venv: PATH}" : std::move(hint));
    return {};
  }
  reading.manifest.pytorch_cuda = wish(*cuda, node);
  reading.manifest.pytorch_build = std::move(build);
  return {};
}

} // namespace

void read_name(Reading& reading, text::Fields& fields) {
  const auto* node = fields.text("name");
  auto& name = reading.manifest.name;
  if (node != nullptr) {
    name = wish(node->scalar, *node);
  } else {
    const auto stem = fs::path(reading.manifest.file).stem().string();
    name = {.value = stem, .text = stem, .at = {}};
  }
  if (!is_toolkit_name(name.value)) {
    reading.mistakes.add(name.at,
                         fmt::format("`{}` cannot be the name of a toolkit{}",
                                     printable(name.value.substr(0, 100)),
                                     node == nullptr ? ", and the manifest gives no other" : ""),
                         fmt::format("write `name:` with {}", k_toolkit_name_rule));
  }
}

Result<void> read_gpus(Reading& reading, text::Fields& fields) {
  const auto* node = fields.require("gpus");
  if (node == nullptr) {
    return {};
  }
  if (node->is_list() && node->items.empty()) {
    reading.mistakes.add(node->at, "`gpus` is empty", "write [sm_90], a product's name or native");
  }
  for (const auto* item : fields.texts("gpus")) {
    if (item->scalar == "native") {
      reading.manifest.native_gpus = true;
      reading.manifest.native_gpus_at = item->at;
      continue;
    }
    auto target = knowledge::find_gpu(reading.knowledge, item->scalar);
    if (target) {
      add_once(reading.manifest.gpus, wish(*target, *item));
    } else if (target.error().code == ErrorCode::usage && target.error().where.empty()) {
      reading.mistakes.add(item->at, std::move(target.error().message),
                           std::move(target.error().hint));
    } else {
      return tl::unexpected<Error>(std::move(target).error());
    }
  }
  return {};
}

Result<void> read_pytorch(Reading& reading, text::Fields& fields) {
  const auto* node = fields.take("pytorch");
  if (node == nullptr) {
    return {};
  }
  if (node->is_scalar()) {
    return read_torch_text(reading, *node);
  }
  text::Fields inner(*node, reading.mistakes, "`pytorch`");
  const auto path = inner.required_text("venv");
  if (!path.empty()) {
    reading.manifest.pytorch_venv = {
        .value = absolute_path(reading, path), .text = path, .at = node->find("venv")->at};
  }
  return {};
}

void read_driver(Reading& reading, text::Fields& fields) {
  const auto* node = fields.text("driver");
  if (node == nullptr) {
    return;
  }
  if (node->scalar == "native") {
    reading.manifest.native_driver = true;
    reading.manifest.native_driver_at = node->at;
    return;
  }
  // A bare number is the oldest driver, not that very one.
  const auto parse = [](const std::string& text) {
    const bool bare = !text.empty() && text.front() >= '0' && text.front() <= '9';
    return bare ? VersionRange::parse(">=" + text) : VersionRange::parse_wish(text);
  };
  if (auto value = fields.parse_node(*node, parse)) {
    reading.manifest.driver = wish(*std::move(value), *node);
  }
}

void read_toolkit(Reading& reading, text::Fields& fields) {
  const auto* node = fields.take("toolkit");
  if (node == nullptr) {
    return;
  }
  text::Fields inner(*node, reading.mistakes, "`toolkit`");
  reading.manifest.nvcc = range(inner, "nvcc");
  reading.manifest.ptxas = range(inner, "ptxas");
  reading.manifest.headers = range(inner, "headers");
  const auto* cccl = inner.text("cccl");
  if (cccl != nullptr && cccl->scalar != "matched") {
    reading.manifest.cccl = range(inner, "cccl");
  }
}

Result<void> read_components(Reading& reading, text::Fields& fields) {
  CUKIT_TRY_ASSIGN(auto known, reading.knowledge.component_names());
  CUKIT_TRY_ASSIGN(const auto* groups, reading.knowledge.groups());
  for (const auto& [group, members] : *groups) {
    known.push_back(group);
  }
  std::sort(known.begin(), known.end());
  reading.manifest.components =
      known_names(reading, fields, "components", "component or group", known);
  return {};
}

Result<void> read_consumers(Reading& reading, text::Fields& fields) {
  CUKIT_TRY_ASSIGN(const auto known, reading.knowledge.consumer_names());
  reading.manifest.consumers = known_names(reading, fields, "consumers", "consumer", known);
  return {};
}

void read_host(Reading& reading, text::Fields& fields) {
  const auto* node = fields.take("host");
  if (node == nullptr) {
    return;
  }
  text::Fields inner(*node, reading.mistakes, "`host`");
  const auto* compiler = inner.text("compiler");
  if (compiler == nullptr) {
    return;
  }
  const auto& text = compiler->scalar;
  if (text.find('/') != std::string::npos) {
    reading.manifest.host_compiler = {
        .value = absolute_path(reading, text), .text = text, .at = compiler->at};
  } else if (text == "gcc" || text == "clang" || text.starts_with("gcc-") ||
             text.starts_with("clang-")) {
    reading.manifest.host_compiler = wish(text, *compiler);
  } else {
    reading.mistakes.add(compiler->at,
                         fmt::format("`{}` is no host compiler", printable(text.substr(0, 100))),
                         "write gcc, clang, gcc-13 or a path");
  }
}

void read_platforms(Reading& reading, text::Fields& fields) {
  for (const auto* node : fields.texts("platforms")) {
    if (const auto platform = fields.parse_node(*node, Platform::parse)) {
      add_once(reading.manifest.platforms, wish(*platform, *node));
    }
  }
}

void read_sources(Reading& reading, text::Fields& fields) {
  reading.manifest.sources =
      known_names(reading, fields, "sources", "source", {"redist", "wheels"});
}

Result<void> read_validate(Reading& reading, text::Fields& fields) {
  const auto* node = fields.take("validate");
  if (node == nullptr) {
    return {};
  }
  text::Fields inner(*node, reading.mistakes, "`validate`");
  CUKIT_TRY_ASSIGN(const auto known, knowledge::suite_names(reading.knowledge));
  reading.manifest.suites = known_names(reading, inner, "suites", "suite of kernels", known);
  return {};
}

} // namespace cukit::manifest

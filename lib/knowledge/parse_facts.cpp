// releases.yaml, gpus.yaml, products.yaml, pytorch.yaml, pins.sha256
#include "base/number.hpp"
#include "base/strings.hpp"
#include "knowledge/parse.hpp"

#include <algorithm>

namespace cukit::knowledge {

namespace {

Result<int> parse_number(const std::string& text) {
  const auto value = whole_number<int>(text);
  if (!value || *value < 0) {
    return fail(ErrorCode::usage, "`{}` is no number", printable(text.substr(0, 100)));
  }
  return *value;
}

std::optional<Version> version(text::Fields& fields, std::string_view key) {
  return fields.parsed(key, Version::parse);
}

Release read_release(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields fields(node, mistakes, "a release");
  Release release{.minor = required_version(fields, "cuda"),
                  .ptx = required_version(fields, "ptx"),
                  .driver_branch = required_number(fields, "driver"),
                  .driver_floor = required_number(fields, "floor"),
                  .cccl = required_version(fields, "cccl"),
                  .gcc_max = required_number(fields, "gcc"),
                  .evidence = required_evidence(fields),
                  .doubt = fields.text_or_empty("doubt")};
  const auto clang = fields.texts("clang");
  if (clang.size() == 2) {
    release.clang_min = fields.parse_node(*clang[0], parse_number).value_or(0);
    release.clang_max = fields.parse_node(*clang[1], parse_number).value_or(0);
  } else {
    mistakes.add(node.at, "`clang` must be [oldest, newest]");
  }
  return release;
}

Architecture read_architecture(const text::Node& node, text::Mistakes& mistakes) {
  text::Fields fields(node, mistakes, "an architecture");
  Architecture result{.target = {},
                      .name = fields.required_text("name"),
                      .first_cuda = required_version(fields, "first"),
                      .last_cuda = version(fields, "last"),
                      .a_since = version(fields, "a"),
                      .f_since = version(fields, "f"),
                      .tegra = fields.flag("tegra"),
                      .evidence = required_evidence(fields)};
  if (fields.require("sm") != nullptr) {
    result.target = fields.parsed("sm", GpuTarget::parse).value_or(GpuTarget{});
  }
  return result;
}

void read_products(text::Fields& fields, std::string_view key, bool documented,
                   std::vector<Product>& out) {
  const auto* map = fields.require(key);
  if (map == nullptr) {
    return;
  }
  if (!map->is_map()) {
    fields.mistakes().add(map->at, fmt::format("`{}` must hold lists by compute capability", key));
  }
  for (const auto& [capability, names] : map->members) {
    const auto target = fields.parse_node(capability, GpuTarget::parse);
    for (const auto& item : names.items) {
      out.push_back(
          {.name = item.scalar, .target = target.value_or(GpuTarget{}), .documented = documented});
    }
  }
}

} // namespace

Version required_version(text::Fields& fields, std::string_view key) {
  const auto text = fields.required_text(key);
  return text.empty() ? Version() : fields.parsed(key, Version::parse).value_or(Version());
}

int required_number(text::Fields& fields, std::string_view key) {
  const auto text = fields.required_text(key);
  return text.empty() ? 0 : fields.parsed(key, parse_number).value_or(0);
}

std::string required_evidence(text::Fields& fields) {
  static constexpr std::string_view words[] = {"documented", "tested", "derived", "uncertain"};
  auto text = fields.required_text("evidence");
  if (!text.empty() && std::find(std::begin(words), std::end(words), text) == std::end(words)) {
    fields.mistakes().add(fields.text("evidence")->at,
                          "`evidence` must be documented, tested, derived or uncertain");
  }
  return text;
}

Result<std::vector<Release>> parse_releases(std::string_view text, const std::string& name) {
  CUKIT_TRY_ASSIGN(auto releases, read_list<Release>(text, name, "releases", read_release));
  std::sort(releases.begin(), releases.end(),
            [](const auto& a, const auto& b) { return a.minor < b.minor; });
  return releases;
}

Result<std::vector<Architecture>> parse_architectures(std::string_view text,
                                                      const std::string& name) {
  CUKIT_TRY_ASSIGN(auto list,
                   read_list<Architecture>(text, name, "architectures", read_architecture));
  std::sort(list.begin(), list.end(),
            [](const auto& a, const auto& b) { return a.target < b.target; });
  return list;
}

Result<std::vector<Product>> parse_products(std::string_view text, const std::string& name) {
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, name));
  text::Mistakes mistakes(name);
  std::vector<Product> products;
  {
    text::Fields fields(root, mistakes, "the file");
    read_products(fields, "documented", true, products);
    read_products(fields, "uncertain", false, products);
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return products;
}

namespace {

/// Where the value of a key stands.
text::Position place_of(const text::Node& map, std::string_view key) {
  const auto* value = map.find(key);
  return value == nullptr ? map.at : value->at;
}

} // namespace

Result<std::vector<PyTorch>> parse_pytorch(std::string_view text, const std::string& name) {
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, name));
  text::Mistakes mistakes(name);
  std::vector<PyTorch> result;
  {
    text::Fields fields(root, mistakes, "the file");
    for (const auto& [tag, cuda] : fields.pairs("tags")) {
      const auto parsed = Version::parse(cuda);
      if (!parsed) {
        mistakes.add(place_of(*fields.take("tags"), tag), parsed.error().message);
        continue;
      }
      result.push_back({.tag = tag, .cuda = *parsed, .default_of = {}});
    }
    for (const auto& [torch, tag] : fields.pairs("versions")) {
      const auto found =
          std::find_if(result.begin(), result.end(),
                       [&, wanted = tag](const auto& entry) { return entry.tag == wanted; });
      const auto parsed = Version::parse(torch);
      if (found == result.end() || !parsed) {
        mistakes.add(place_of(*fields.take("versions"), torch),
                     fmt::format("`{}: {}` is no version with a tag of `tags`", torch, tag));
        continue;
      }
      found->default_of.push_back(*parsed);
    }
  }
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  return result;
}

// Lines as sha256sum writes them, not YAML: there are hundreds, and they are looked at by every
// run.
Result<std::map<std::string, Sha256>> parse_pins(std::string_view text, const std::string& name) {
  std::map<std::string, Sha256> pins;
  int line_number = 0;
  for (const auto line : split(text, '\n')) {
    ++line_number;
    if (line.empty() || line.front() == '#') {
      continue;
    }
    auto digest = Sha256::parse(line.substr(0, 64));
    if (!digest || line.size() < 67 || line.substr(64, 2) != "  ") {
      return tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                         .message = "this is no line of sha256sum",
                                         .where = fmt::format("{}:{}", name, line_number)});
    }
    pins.emplace_hint(pins.end(), line.substr(66), *digest);
  }
  return pins;
}

} // namespace cukit::knowledge

#include "support/real_manifests.hpp"

#include "base/files.hpp"
#include "base/strings.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>

namespace cukit::test {

namespace {

constexpr std::uint64_t k_limit = 4U << 20U;

std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    result += c == '"' || c == '\\' ? "\\" : "";
    result += c;
  }
  return result + "\"";
}

std::string hex_of(const std::string& base64) {
  std::array<unsigned char, 33> bytes{};
  if (base64.size() != 44 ||
      ::EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(base64.data()), 44) !=
          33) {
    ADD_FAILURE() << "no digest: " << base64;
  }
  std::string hex;
  for (std::size_t i = 0; i < 32; ++i) {
    hex += fmt::format("{:02x}", bytes.at(i));
  }
  return hex;
}

/// Builds the JSON of one manifest from its lines.
class Manifest {
public:
  explicit Manifest(const std::vector<std::string>& head)
      : product_(head[0].substr(2)), label_(head[1]) {
    add("release_date", json_text(head[2]));
    if (head[3] == "yes") {
      add("release_label", json_text(label_));
      add("release_product", json_text(product_));
    }
  }
  void component(const std::vector<std::string>& fields) {
    end_component();
    name_ = fields[0];
    version_ = fields[1];
    members_ = fmt::format("\"version\": {}, \"name\": {}, \"license\": {}", json_text(fields[1]),
                           json_text(fields[2]), json_text(fields[3]));
    if (!fields[4].empty()) {
      members_ += ", \"license_path\": " + json_text(fields[4]);
    }
    if (!fields[5].empty()) {
      std::string variants;
      for (const auto variant : split(fields[5], ',')) {
        variants += (variants.empty() ? "" : ", ") + json_text(variant);
      }
      members_ += fmt::format(", \"cuda_variant\": [{}]", variants);
    }
  }
  void archive(const std::vector<std::string>& fields) {
    const auto platform = fields[0].substr(1);
    const auto& variant = fields[1];
    if (platform != platform_) {
      end_platform();
      platform_ = platform;
    }
    const auto path = fields[4].empty()
                          ? fmt::format("{0}/{1}/{0}-{1}-{2}{3}{4}-archive.tar.xz", name_, platform,
                                        version_, variant.empty() ? "" : "_", variant)
                          : fields[4];
    const auto file = fmt::format(R"("relative_path": {}, "sha256": "{}", "size": "{}")",
                                  json_text(path), hex_of(fields[3]), fields[2]);
    files_ += (files_.empty() ? "" : ", ") +
              (variant.empty() ? file : fmt::format("{}: {{{}}}", json_text(variant), file));
  }
  RealManifest end() {
    end_component();
    return {product_, label_, "{" + json_ + "}"};
  }

private:
  void add(std::string_view key, const std::string& value) {
    json_ += fmt::format("{}{}: {}", json_.empty() ? "" : ",\n", json_text(key), value);
  }
  void end_platform() {
    if (!platform_.empty()) {
      members_ += fmt::format(", {}: {{{}}}", json_text(platform_), files_);
    }
    platform_.clear();
    files_.clear();
  }
  void end_component() {
    end_platform();
    if (!name_.empty()) {
      add(name_, "{" + members_ + "}");
    }
    name_.clear();
  }
  std::string product_, label_, json_;
  std::string name_, version_, members_;
  std::string platform_, files_;
};

std::vector<RealManifest> read() {
  std::vector<RealManifest> all;
  std::optional<Manifest> one;
  const auto file = read_file(CUKIT_MANIFESTS, k_limit);
  EXPECT_TRUE(file.has_value()) << CUKIT_MANIFESTS;
  const auto text = file.value_or("");
  for (const auto line : split(text, '\n')) {
    std::vector<std::string> fields;
    for (const auto field : split(line, '\t')) {
      fields.emplace_back(field);
    }
    fields.resize(6);
    if (line.starts_with("= ")) {
      if (one) {
        all.push_back(one->end());
      }
      one.emplace(fields);
    } else if (line.starts_with("+")) {
      one->archive(fields);
    } else if (!line.empty()) {
      one->component(fields);
    }
  }
  if (one) {
    all.push_back(one->end());
  }
  return all;
}

} // namespace

const std::vector<RealManifest>& real_manifests() {
  static const auto all = read();
  return all;
}

std::string real_manifest(const std::string& product, const std::string& label) {
  for (const auto& one : real_manifests()) {
    if (one.product == product && one.label == label) {
      return one.json;
    }
  }
  ADD_FAILURE() << "no manifest of " << product << " " << label;
  return "";
}

} // namespace cukit::test

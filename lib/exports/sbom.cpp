#include "exports/sbom.hpp"

#include "base/strings.hpp"
#include "text/json.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cukit::exports {

namespace {

using text::Json;

constexpr std::string_view k_supplier = "NVIDIA Corporation";
constexpr const char* k_unknown = "NOASSERTION";

/// One artifact as often as a platform has it is one package.
struct Package {
  const lock::Artifact* artifact;
  std::vector<std::string> platforms;
  std::string id; ///< letters, digits, dots and dashes
};

std::string id_of(const std::string& text) {
  std::string id;
  for (const char c : text) {
    const bool is_plain = (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '.';
    id += is_plain ? c : '-';
  }
  return id;
}

Result<std::vector<Package>> packages_of(const SbomRequest& request) {
  for (const auto wanted : request.platforms) {
    if (request.lock.find(wanted) == nullptr) {
      return fail(ErrorCode::expected_no, "the lock is not for {}", wanted.text());
    }
  }
  std::map<std::pair<std::string, Sha256>, Package> found;
  for (const auto& platform : request.lock.platforms) {
    const auto& wanted = request.platforms;
    if (!wanted.empty() &&
        std::find(wanted.begin(), wanted.end(), platform.platform) == wanted.end()) {
      continue;
    }
    for (const auto& artifact : platform.artifacts) {
      auto& package =
          found
              .try_emplace(
                  {artifact.file, artifact.sha256},
                  Package{.artifact = &artifact, .platforms = {}, .id = id_of(artifact.file)})
              .first->second;
      package.platforms.emplace_back(platform.platform.text());
    }
  }
  std::vector<Package> packages;
  for (auto& [key, package] : found) {
    packages.push_back(std::move(package));
  }
  return packages;
}

bool is_expression(std::string_view licence) {
  return licence.find(' ') == std::string_view::npos ||
         licence.find(" WITH ") != std::string_view::npos ||
         licence.find(" AND ") != std::string_view::npos ||
         licence.find(" OR ") != std::string_view::npos;
}

/// "CUDA Toolkit" is no SPDX expression; a reference with its letters is.
std::string spdx_licence(const std::string& licence) {
  if (licence.empty()) {
    return k_unknown;
  }
  return is_expression(licence) ? licence : "LicenseRef-" + id_of(licence);
}

/// A UUID (version 8, RFC 9562) that the bytes decide.
std::string uuid_of(const std::string& bytes) {
  auto hex = sha256_of(bytes).hex().substr(0, 32);
  hex[12] = '8';
  hex[16] = '8';
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                     hex.substr(16, 4), hex.substr(20));
}

std::string identity_of(const SbomRequest& request) {
  std::string text = lock::write(request.lock) + request.tool_version;
  for (const auto platform : request.platforms) {
    text += platform.text();
  }
  return uuid_of(text);
}

std::string remark_on(const Package& package) {
  const auto& artifact = *package.artifact;
  auto text = fmt::format("{} from NVIDIA's {}; there by: {}", join(package.platforms, ", "),
                          artifact.source, artifact.why);
  if (!artifact.take.empty()) {
    text += "; of it are taken: " + join(artifact.take, ", ");
  }
  return text;
}

Json spdx_package(const Package& package) {
  const auto& artifact = *package.artifact;
  const auto licence = spdx_licence(artifact.licence);
  return Json::object()
      .set("SPDXID", "SPDXRef-Package-" + package.id)
      .set("name", artifact.component)
      .set("versionInfo", artifact.version.text())
      .set("packageFileName", artifact.file)
      .set("supplier", "Organization: " + std::string(k_supplier))
      .set("downloadLocation", k_unknown)
      .set("filesAnalyzed", false)
      .set("checksums", Json::list().add(Json::object()
                                             .set("algorithm", "SHA256")
                                             .set("checksumValue", artifact.sha256.hex())))
      .set("licenseConcluded", k_unknown)
      .set("licenseDeclared", licence)
      .set("copyrightText", k_unknown)
      .set("comment", remark_on(package))
      .set("externalRefs", Json::list().add(Json::object()
                                                .set("referenceCategory", "PACKAGE-MANAGER")
                                                .set("referenceType", "purl")
                                                .set("referenceLocator", package_url(artifact))));
}

/// What a licence of NVIDIA's own is must be said once.
Json extracted_licences(const std::vector<Package>& packages) {
  std::set<std::pair<std::string, std::string>> own;
  for (const auto& package : packages) {
    const auto licence = spdx_licence(package.artifact->licence);
    if (licence.starts_with("LicenseRef-")) {
      own.emplace(licence, package.artifact->licence);
    }
  }
  auto list = Json::list();
  for (const auto& [id, name] : own) {
    list.add(Json::object()
                 .set("licenseId", id)
                 .set("name", name)
                 .set("extractedText", std::string(k_redistribution)));
  }
  return list;
}

std::string spdx(const SbomRequest& request, const std::vector<Package>& packages) {
  const auto release = request.lock.release.text();
  const std::string root = "SPDXRef-Toolkit";
  auto list = Json::list().add(Json::object()
                                   .set("SPDXID", root)
                                   .set("name", "cuda-toolkit")
                                   .set("versionInfo", release)
                                   .set("downloadLocation", k_unknown)
                                   .set("filesAnalyzed", false)
                                   .set("licenseConcluded", k_unknown)
                                   .set("licenseDeclared", k_unknown)
                                   .set("copyrightText", k_unknown));
  const auto relation = [](const std::string& from, const char* type, const std::string& to) {
    return Json::object()
        .set("spdxElementId", from)
        .set("relationshipType", type)
        .set("relatedSpdxElement", to);
  };
  auto relations = Json::list().add(relation("SPDXRef-DOCUMENT", "DESCRIBES", root));
  for (const auto& package : packages) {
    list.add(spdx_package(package));
    relations.add(relation(root, "CONTAINS", "SPDXRef-Package-" + package.id));
  }
  return Json::object()
      .set("spdxVersion", "SPDX-2.3")
      .set("dataLicense", "CC0-1.0")
      .set("SPDXID", "SPDXRef-DOCUMENT")
      .set("name", "cuda-toolkit-" + release)
      .set("documentNamespace", "urn:uuid:" + identity_of(request))
      .set("creationInfo",
           Json::object()
               .set("created", request.created)
               .set("creators", Json::list().add("Tool: cukit-" + request.tool_version)))
      .set("packages", list)
      .set("hasExtractedLicensingInfos", extracted_licences(packages))
      .set("relationships", relations)
      .dump();
}

Json cyclonedx_licence(const std::string& licence) {
  const bool is_own = licence.starts_with("LicenseRef-") || !is_expression(licence);
  return is_own ? Json::object().set("license", Json::object().set("name", licence))
                : Json::object().set("expression", licence);
}

Json cyclonedx_component(const Package& package) {
  const auto& artifact = *package.artifact;
  const auto property = [](const char* name, const std::string& value) {
    return Json::object().set("name", name).set("value", value);
  };
  auto json =
      Json::object()
          .set("type", "library")
          .set("bom-ref", package.id)
          .set("supplier", Json::object().set("name", k_supplier))
          .set("name", artifact.component)
          .set("version", artifact.version.text())
          .set("hashes",
               Json::list().add(
                   Json::object().set("alg", "SHA-256").set("content", artifact.sha256.hex())));
  if (!artifact.licence.empty()) {
    json.set("licenses", Json::list().add(cyclonedx_licence(artifact.licence)));
  }
  return json.set("purl", package_url(artifact))
      .set("properties", Json::list()
                             .add(property("cukit:file", artifact.file))
                             .add(property("cukit:remark", remark_on(package))));
}

std::string cyclonedx(const SbomRequest& request, const std::vector<Package>& packages) {
  const std::string root = "cuda-toolkit";
  auto components = Json::list();
  auto needs = Json::list();
  auto dependencies = Json::list();
  for (const auto& package : packages) {
    components.add(cyclonedx_component(package));
    needs.add(package.id);
    dependencies.add(Json::object().set("ref", package.id));
  }
  dependencies.add(Json::object().set("ref", root).set("dependsOn", needs));
  const auto tool = Json::object()
                        .set("type", "application")
                        .set("name", "cukit")
                        .set("version", request.tool_version);
  return Json::object()
      .set("bomFormat", "CycloneDX")
      .set("specVersion", "1.5")
      .set("serialNumber", "urn:uuid:" + identity_of(request))
      .set("version", 1)
      .set("metadata", Json::object()
                           .set("timestamp", request.created)
                           .set("tools", Json::object().set("components", Json::list().add(tool)))
                           .set("component", Json::object()
                                                 .set("type", "platform")
                                                 .set("bom-ref", root)
                                                 .set("name", root)
                                                 .set("version", request.lock.release.text())))
      .set("components", components)
      .set("dependencies", dependencies)
      .dump();
}

/// As package URLs want it: everything but letters, digits and . - _ ~ behind a percent sign.
std::string percent(std::string_view text) {
  std::string out;
  for (const unsigned char c : text) {
    const bool is_plain = std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '~';
    out += is_plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return out;
}

} // namespace

Result<SbomFormat> parse_sbom_format(std::string_view name) {
  if (name == "spdx" || name == "cyclonedx") {
    return name == "spdx" ? SbomFormat::spdx : SbomFormat::cyclonedx;
  }
  return fail(ErrorCode::usage, "`{}` is no format of a bill of materials: use spdx or cyclonedx",
              printable(name));
}

std::string package_url(const lock::Artifact& artifact) {
  const auto& file = artifact.file;
  if (artifact.source == "wheels") { // NAME-VERSION-TAGS.whl, names in their normal form
    auto name = lower(file.substr(0, file.find('-')));
    std::replace(name.begin(), name.end(), '_', '-');
    return fmt::format("pkg:pypi/{}@{}?file_name={}", percent(name),
                       percent(artifact.version.text()), percent(file));
  }
  const auto name = file.substr(0, file.find("-linux-"));
  return fmt::format("pkg:generic/{}@{}?checksum=sha256:{}&file_name={}", percent(name),
                     percent(artifact.version.text()), artifact.sha256.hex(), percent(file));
}

Result<std::string> write_sbom(const SbomRequest& request, SbomFormat format) {
  CUKIT_TRY_ASSIGN(const auto packages, packages_of(request));
  return (format == SbomFormat::spdx ? spdx(request, packages) : cyclonedx(request, packages)) +
         "\n";
}

std::vector<LicenceRow> licences(const lock::Lock& lock) {
  std::map<std::tuple<std::string, Version, std::string>, std::set<std::string>> rows;
  for (const auto& platform : lock.platforms) {
    for (const auto& artifact : platform.artifacts) {
      rows[{artifact.component, artifact.version, artifact.licence}].insert(artifact.file);
    }
  }
  std::vector<LicenceRow> result;
  for (const auto& [key, files] : rows) {
    result.push_back({.component = std::get<0>(key),
                      .version = std::get<1>(key).text(),
                      .licence = std::get<2>(key),
                      .files = {files.begin(), files.end()}});
  }
  return result;
}

} // namespace cukit::exports

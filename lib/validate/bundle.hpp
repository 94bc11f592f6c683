// Private to validate: bundle.json (cukit.bundle/1), what a folder of build() holds.
#pragma once

#include "validate/validate.hpp"

namespace cukit::validate {

constexpr const char* k_bundle_file = "bundle.json";

struct BundleFile {
  RelativePath path; ///< bin/plain.sm_90, lib/libcudart.so.13
  Sha256 sha256;
};

struct Program {
  std::string kernel;
  GpuTarget target;
  BundleFile file;
  std::vector<std::string> libraries; ///< names of the bundle's libraries that it must load
  std::map<std::string, Expected> numbers;
};

struct Bundle {
  Report report; ///< of the builds
  std::vector<Program> programs;
  std::vector<BundleFile> libraries;

  [[nodiscard]] text::Json json() const;
  static Result<Bundle> from_json(const text::Json& json);
};

Result<Bundle> load_bundle(const fs::path& folder);
/// Every file of the bundle has the digest that bundle.json says; an error of code integrity
/// otherwise.
Result<void> check_files(const Bundle& bundle, const fs::path& folder);

/// The items of a list of objects; an error when it is none.
Result<std::vector<const text::Json*>> objects(const text::Json& json, std::string_view key);
State parse_state(std::string_view text); ///< an unknown word is `failed`: never a pass

} // namespace cukit::validate

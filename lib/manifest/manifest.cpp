#include "manifest/manifest.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"
#include "manifest/read.hpp"

#include <system_error>

namespace cukit::manifest {

namespace {

constexpr std::string_view k_smallest =
    "the smallest one is `cukit: 1` and `gpus: [sm_90]`; `cukit init` writes one";

Error refused(const fs::path& path, std::string message, std::string hint) {
  return {.code = ErrorCode::usage,
          .message = std::move(message),
          .where = path.string(),
          .hint = std::move(hint)};
}

fs::path folder_of(const std::string& file) {
  std::error_code error;
  const auto path = fs::absolute(fs::path(file), error);
  return error ? fs::path("/") : path.parent_path();
}

void read_format(text::Fields& fields) {
  const auto* node = fields.require("cukit");
  if (node != nullptr && (!node->is_scalar() || node->scalar != "1")) {
    const auto given =
        node->is_scalar() ? printable(node->scalar.substr(0, 100)) : std::string("a list or map");
    fields.mistakes().add(node->at, fmt::format("format `{}` of the manifest is not known", given),
                          "this cukit reads `cukit: 1`");
  }
}

Result<void> read_all(Reading& reading, const text::Node& root) {
  text::Fields fields(root, reading.mistakes, "the manifest");
  read_format(fields);
  read_name(reading, fields);
  CUKIT_TRY(read_gpus(reading, fields));
  CUKIT_TRY(read_pytorch(reading, fields));
  read_driver(reading, fields);
  read_toolkit(reading, fields);
  CUKIT_TRY(read_components(reading, fields));
  CUKIT_TRY(read_consumers(reading, fields));
  read_host(reading, fields);
  read_platforms(reading, fields);
  read_sources(reading, fields);
  CUKIT_TRY(read_validate(reading, fields));
  return {};
}

} // namespace

Result<Manifest> parse(std::string_view text, const std::string& file,
                       const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto root, text::parse_yaml(text, file));
  if (root.is_empty()) {
    return tl::unexpected<Error>(refused(file, "the manifest is empty", std::string(k_smallest)));
  }
  text::Mistakes mistakes(file);
  Reading reading{
      .knowledge = knowledge, .mistakes = mistakes, .folder = folder_of(file), .manifest = {}};
  reading.manifest.file = file;
  CUKIT_TRY(read_all(reading, root));
  if (!mistakes.empty()) {
    return tl::unexpected<Error>(std::move(mistakes).error());
  }
  reading.manifest.digest = digest_of(reading.manifest);
  return std::move(reading.manifest);
}

Result<Manifest> load(const fs::path& path, const knowledge::Knowledge& knowledge) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return tl::unexpected<Error>(
        refused(path, "there is no such manifest", "`cukit init` writes one"));
  }
  if (status.type() == fs::file_type::directory) {
    return tl::unexpected<Error>(
        refused(path, "the manifest is a folder", "name the YAML file in it"));
  }
  const auto size = fs::is_regular_file(status) ? fs::file_size(path, error) : 0;
  if (!error && size > limits::k_manifest_bytes) {
    return tl::unexpected<Error>(
        refused(path,
                fmt::format("the manifest has {}, more than the {} that one may have",
                            human_bytes(size), human_bytes(limits::k_manifest_bytes)),
                "this is likely another file"));
  }
  CUKIT_TRY_ASSIGN(const auto text, read_file(path, limits::k_manifest_bytes));
  return parse(text, path.string(), knowledge);
}

} // namespace cukit::manifest

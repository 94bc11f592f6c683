#include "validate/bundle.hpp"

#include "base/strings.hpp"

namespace cukit::validate {

namespace {

constexpr std::uint64_t k_bundle_bytes = 16U << 20U; // forty programs are 30 kB
constexpr std::string_view k_bundle_schema = "cukit.bundle/1";

text::Json file_json(const BundleFile& file) {
  return text::Json::object().set("path", file.path.text()).set("sha256", file.sha256.text());
}

text::Json program_json(const Program& program) {
  text::Json libraries = text::Json::list();
  for (const auto& name : program.libraries) {
    libraries.add(name);
  }
  text::Json numbers = text::Json::object();
  for (const auto& [name, expected] : program.numbers) {
    numbers.set(
        name,
        text::Json::object().set("value", expected.value).set("tolerance", expected.tolerance));
  }
  return text::Json::object()
      .set("kernel", program.kernel)
      .set("target", program.target.sm())
      .set("file", file_json(program.file))
      .set("libraries", std::move(libraries))
      .set("numbers", std::move(numbers));
}

Result<BundleFile> read_file_entry(const text::Json& json) {
  BundleFile file;
  CUKIT_TRY_ASSIGN(file.path, RelativePath::parse(json.text_of("path")));
  CUKIT_TRY_ASSIGN(file.sha256, Sha256::parse(json.text_of("sha256")));
  return file;
}

Result<double> read_real(const text::Json& json, std::string_view key) {
  const auto* member = json.find(key);
  if (member == nullptr ||
      (!member->is(text::Json::Kind::real) && !member->is(text::Json::Kind::integer))) {
    return fail(ErrorCode::integrity, "`{}` of an expected number is missing", key);
  }
  return member->real();
}

Result<Program> read_program(const text::Json& json) {
  Program program;
  program.kernel = json.text_of("kernel");
  CUKIT_TRY_ASSIGN(program.target, GpuTarget::parse(json.text_of("target")));
  const auto* file = json.find("file");
  if (file == nullptr) {
    return fail(ErrorCode::integrity, "the program of `{}` has no file", printable(program.kernel));
  }
  CUKIT_TRY_ASSIGN(program.file, read_file_entry(*file));
  if (const auto* libraries = json.find("libraries")) {
    for (const auto& item : libraries->items()) {
      program.libraries.push_back(item.text());
    }
  }
  if (const auto* numbers = json.find("numbers")) {
    for (const auto& [name, value] : numbers->members()) {
      Expected expected;
      CUKIT_TRY_ASSIGN(expected.value, read_real(value, "value"));
      CUKIT_TRY_ASSIGN(expected.tolerance, read_real(value, "tolerance"));
      program.numbers.emplace(name, expected);
    }
  }
  if (program.numbers.empty()) {
    return fail(ErrorCode::integrity, "the program of `{}` has no expected numbers",
                printable(program.kernel));
  }
  return program;
}

Result<void> check_file(const BundleFile& file, const fs::path& folder) {
  const fs::path path = folder / file.path.text();
  CUKIT_TRY_ASSIGN(const auto digest, sha256_of_file(path));
  if (digest != file.sha256) {
    auto error = Error{.code = ErrorCode::integrity,
                       .message = "a file of the bundle is not the one that was built"};
    error.where = path.string();
    error.causes = {fmt::format("expected {}, found {}", file.sha256.text(), digest.text())};
    error.hint = "copy the folder again from where it was built";
    return tl::unexpected<Error>(std::move(error));
  }
  return {};
}

} // namespace

Result<std::vector<const text::Json*>> objects(const text::Json& json, std::string_view key) {
  const auto* list = json.find(key);
  if (list == nullptr || !list->is(text::Json::Kind::list)) {
    return fail(ErrorCode::integrity, "it has no list `{}`", key);
  }
  std::vector<const text::Json*> result;
  for (const auto& item : list->items()) {
    if (!item.is(text::Json::Kind::object)) {
      return fail(ErrorCode::integrity, "an item of `{}` is no object", key);
    }
    result.push_back(&item);
  }
  return result;
}

text::Json Bundle::json() const {
  text::Json program_list = text::Json::list();
  for (const auto& program : programs) {
    program_list.add(program_json(program));
  }
  text::Json library_list = text::Json::list();
  for (const auto& library : libraries) {
    library_list.add(file_json(library));
  }
  return text::Json::object()
      .set("schema", k_bundle_schema)
      .set("report", report.json())
      .set("programs", std::move(program_list))
      .set("libraries", std::move(library_list));
}

Result<Bundle> Bundle::from_json(const text::Json& json) {
  if (json.text_of("schema") != k_bundle_schema) {
    return fail(ErrorCode::integrity, "its schema is `{}`, and this cukit reads {}",
                printable(json.text_of("schema")), k_bundle_schema);
  }
  Bundle bundle;
  const auto* report = json.find("report");
  if (report == nullptr) {
    return fail(ErrorCode::integrity, "it has no report of the builds");
  }
  CUKIT_TRY_ASSIGN(bundle.report, Report::from_json(*report));
  CUKIT_TRY_ASSIGN(const auto programs, objects(json, "programs"));
  for (const auto* item : programs) {
    CUKIT_TRY_ASSIGN(auto program, read_program(*item));
    bundle.programs.push_back(std::move(program));
  }
  CUKIT_TRY_ASSIGN(const auto libraries, objects(json, "libraries"));
  for (const auto* item : libraries) {
    CUKIT_TRY_ASSIGN(auto library, read_file_entry(*item));
    bundle.libraries.push_back(std::move(library));
  }
  return bundle;
}

Result<Bundle> load_bundle(const fs::path& folder) {
  const fs::path path = folder / k_bundle_file;
  if (!path_exists(path)) {
    auto error = Error{.code = ErrorCode::usage,
                       .message = "there are no built kernels in this folder",
                       .where = folder.string()};
    error.hint = "make one on a machine with the toolkit: `cukit validate --build-only --out DIR`";
    return tl::unexpected<Error>(std::move(error));
  }
  CUKIT_TRY_ASSIGN(const auto text, read_file(path, k_bundle_bytes));
  const auto json = text::Json::parse(text, path.string());
  auto bundle =
      json ? Bundle::from_json(*json) : Result<Bundle>(tl::unexpected<Error>(json.error()));
  if (!bundle) {
    auto error = std::move(bundle.error()).under("the list of built kernels cannot be read");
    error.code = ErrorCode::integrity;
    error.where = path.string();
    return tl::unexpected<Error>(std::move(error));
  }
  return bundle;
}

Result<void> check_files(const Bundle& bundle, const fs::path& folder) {
  for (const auto& program : bundle.programs) {
    CUKIT_TRY(check_file(program.file, folder));
  }
  for (const auto& library : bundle.libraries) {
    CUKIT_TRY(check_file(library, folder));
  }
  return {};
}

} // namespace cukit::validate

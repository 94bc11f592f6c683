// `cukit export KIND TARGET`: a toolkit in the form that others take: a container image, an
// archive.
#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "command_line.hpp"
#include "commands/env_toolkit.hpp"
#include "commands/locks.hpp"
#include "exports/build_files.hpp"
#include "exports/dockerfile.hpp"
#include "exports/variable_files.hpp"
#include "manifest/manifest.hpp"
#include "pipeline/export_tree.hpp"
#include "source_date.hpp"

#include <algorithm>
#include <map>

namespace cukit::cmd {

namespace {

constexpr std::uint64_t k_largest_file = 8U << 20U;

struct ExportOptions {
  std::string kind;
  std::string target;
  std::string toolkit;
  std::string place = "/opt/cuda";
  std::string base;
  std::string compression = "gzip";
  bool distributable_only = false;
  SettingsOptions settings;
};

/// What an export of any kind works with.
struct Exporting {
  LockReference reference;
  OpenSession opened;
};
Result<Exporting> begin(Invocation& invocation, const ExportOptions& options) {
  CUKIT_TRY_ASSIGN(auto reference,
                   find_lock(invocation, given_or_nearest(invocation, options.toolkit)));
  CUKIT_TRY_ASSIGN(auto opened, open_session(invocation, options.settings));
  return Exporting{.reference = std::move(reference), .opened = std::move(opened)};
}

pipeline::ExportWish wish_of(const ExportOptions& options) {
  return {.place = options.place, .distributable_only = options.distributable_only};
}

/// A folder at the top with all in it counts as one; --json names each file.
std::string left_out_text(const std::vector<std::string>& paths) {
  std::map<std::string, int> folders;
  for (const auto& path : paths) {
    ++folders[path.find('/') == std::string::npos ? path : path.substr(0, path.find('/') + 1)];
  }
  std::string out;
  for (const auto& [name, count] : folders) {
    out += name.ends_with('/') ? fmt::format("  left out {} ({} files)\n", printable(name), count)
                               : fmt::format("  left out {}\n", printable(name));
  }
  return out;
}

text::Json layer_json(const image::WrittenLayer& layer) {
  return text::Json::object()
      .set("title", layer.title)
      .set("digest", layer.blob.digest.text())
      .set("diff_id", layer.blob.content.text())
      .set("size", layer.blob.size);
}

Result<void> export_oci(Invocation& invocation, const ExportOptions& options) {
  CUKIT_TRY_ASSIGN(const auto compression, image::parse_compression(options.compression));
  CUKIT_TRY_ASSIGN(const auto created, creation_time(invocation.environment));
  CUKIT_TRY_ASSIGN(const auto work, begin(invocation, options));
  CUKIT_TRY_ASSIGN(const auto done,
                   pipeline::export_image(*work.opened.session, work.reference.lock,
                                          {.tree = wish_of(options),
                                           .base = options.base,
                                           .created = created,
                                           .compression = compression},
                                          options.target));
  const auto& written = done.image;
  if (invocation.options.json) {
    auto layers = text::Json::list();
    for (const auto& layer : written.layers) {
      layers.add(layer_json(layer));
    }
    print_json(text::Json::object()
                   .set("schema", "cukit.export/1")
                   .set("kind", "oci")
                   .set("path", options.target)
                   .set("manifest", written.manifest.text())
                   .set("config", written.config.text())
                   .set("bytes", written.bytes)
                   .set("layers", layers)
                   .set("left_out", text::Json::list(done.left_out)));
    return {};
  }
  ui::Table table;
  for (const auto& layer : written.layers) {
    table.row({layer.title, human_bytes(layer.blob.size), layer.blob.digest.text()},
              {ui::Style::bold, ui::Style::plain, ui::Style::dim});
  }
  ui::print(fmt::format("{}: {} with {} layers of its own\n{}  digest   {}\n  copy it  skopeo copy "
                        "oci:{} docker://REGISTRY/NAME:TAG\n",
                        printable(options.target), human_bytes(written.bytes),
                        written.layers.size(), table.print(invocation.output()),
                        written.manifest.text(), printable(options.target)) +
            left_out_text(done.left_out));
  return {};
}

Result<void> export_tar(Invocation& invocation, const ExportOptions& options) {
  CUKIT_TRY_ASSIGN(const auto work, begin(invocation, options));
  CUKIT_TRY_ASSIGN(const auto done,
                   pipeline::export_archive(*work.opened.session, work.reference.lock,
                                            wish_of(options), options.target));
  const auto& packed = done.packed;
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.export/1")
                   .set("kind", "tar")
                   .set("path", options.target)
                   .set("digest", packed.digest.text())
                   .set("content", packed.content.text())
                   .set("bytes", packed.size)
                   .set("left_out", text::Json::list(done.left_out)));
  } else {
    ui::print(fmt::format("{}: {}, {}\n  use it  tar -C / -xf {}\n", printable(options.target),
                          human_bytes(packed.size), packed.digest.text(),
                          printable(options.target)) +
              left_out_text(done.left_out));
  }
  return {};
}

constexpr std::string_view k_made_by = "made by cukit";

/// Writes files into a folder, which may be a person's: of what stands there only what an earlier
/// export put there is replaced.
Result<void> put_files(const fs::path& folder, const std::map<std::string, std::string>& files) {
  for (const auto& [name, text] : files) {
    const auto path = folder / name;
    if (!path_exists(path)) {
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto before, read_file(path, k_largest_file));
    const bool is_own =
        before.find(k_made_by) != std::string::npos || before.starts_with("cukit-lock: ");
    if (before != text && !is_own) {
      return tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                         .message = "a file of that name is there, and cukit did "
                                                    "not write it",
                                         .where = path.string(),
                                         .hint = "choose another folder, or move it away"});
    }
  }
  CUKIT_TRY(make_directories(folder));
  for (const auto& [name, text] : files) {
    CUKIT_TRY(write_user_file(folder / name, text));
  }
  return {};
}

Result<void> say_files(const Invocation& invocation, const ExportOptions& options,
                       const std::map<std::string, std::string>& files, const std::string& use) {
  CUKIT_TRY(put_files(options.target, files));
  if (invocation.options.json) {
    auto list = text::Json::list();
    for (const auto& [name, text] : files) {
      list.add((fs::path(options.target) / name).string());
    }
    print_json(text::Json::object()
                   .set("schema", "cukit.export/1")
                   .set("kind", options.kind)
                   .set("path", options.target)
                   .set("files", list));
    return {};
  }
  std::string out;
  for (const auto& [name, text] : files) {
    out += printable((fs::path(options.target) / name).string()) + "\n";
  }
  ui::print(out + "  use it  " + printable(use) + "\n");
  return {};
}

std::string title_of(const Version& release, const Sha256& content) {
  return fmt::format("CUDA {}, content {}, {}", release.text(), content.text(), k_made_by);
}

Result<void> export_build_files(Invocation& invocation, const ExportOptions& options) {
  const auto system = *exports::parse_build_system(options.kind);
  CUKIT_TRY_ASSIGN(const auto toolkit, toolkit_variables(invocation, {.toolkit = options.toolkit}));
  CUKIT_TRY_ASSIGN(const auto files, exports::build_files({.tree = toolkit.tree.path,
                                                           .release = toolkit.tree.release,
                                                           .gpus = toolkit.gpus,
                                                           .host_compiler = toolkit.host_compiler,
                                                           .title = title_of(toolkit.tree.release,
                                                                             toolkit.tree.content)},
                                                          system));
  CUKIT_TRY_ASSIGN(const auto folder, absolute_path(options.target));
  return say_files(invocation, options, files,
                   exports::how_to_use(system, toolkit.tree.path, folder));
}

/// The digest of the lock's tree, if it was built here.
std::string content_here(const Invocation& invocation, const lock::Lock& lock) {
  const auto home = invocation.home();
  const auto* part = lock.find(Platform::host());
  if (!home || part == nullptr) {
    return {};
  }
  const auto tree = assemble::open_tree(home->tree(lock::tree_id(lock, *part).hex()));
  return tree ? tree->content.text() : std::string();
}

/// ENV lines of a toolkit that will stand at `place`. Its files are not looked at: none may be
/// here.
Result<std::string> docker_lines(const Invocation& invocation, const lock::Lock& lock,
                                 const fs::path& place, const std::string& title) {
  const auto home = invocation.home();
  const auto* part = lock.find(Platform::host());
  const auto id = part == nullptr ? std::string() : lock::tree_id(lock, *part).hex();
  CUKIT_TRY_ASSIGN(const auto environment,
                   exports::environment({.tree = place,
                                         .seen_at = home ? home->tree(id) : fs::path(),
                                         .id = id,
                                         .gpus = lock.gpus,
                                         .jit = home ? home->jit(id) : fs::path()},
                                        invocation.knowledge()));
  return exports::write_variable_file(environment, exports::VariableFile::docker,
                                      invocation.environment, title);
}

Result<void> export_dockerfile(Invocation& invocation, const ExportOptions& options) {
  CUKIT_TRY_ASSIGN(const auto found,
                   find_lock(invocation, given_or_nearest(invocation, options.toolkit)));
  if (found.manifest.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = "an image is built from a manifest and its lock, and no manifest is named",
              .hint = "name the manifest instead of the toolkit"});
  }
  CUKIT_TRY_ASSIGN(const auto manifest, manifest::load(found.manifest, invocation.knowledge()));
  CUKIT_TRY_ASSIGN(auto text, read_file(found.manifest, k_largest_file));
  const auto content = content_here(invocation, found.lock);
  const auto title = fmt::format("CUDA {}, {}", found.lock.release.text(), k_made_by);
  CUKIT_TRY_ASSIGN(auto lines, docker_lines(invocation, found.lock, options.place, title));
  CUKIT_TRY_ASSIGN(const auto files,
                   exports::docker_context({.manifest = "# " + title + "\n" + text,
                                            .lock = lock::write(found.lock),
                                            .content = content,
                                            .variables = std::move(lines),
                                            .title = title,
                                            .place = options.place,
                                            .is_locked = manifest.digest == found.lock.manifest}));
  return say_files(invocation, options, files,
                   fmt::format("docker build --build-context cukit=DIST --target jit {}   (DIST: "
                               "what `cmd/dev dist` made)",
                               options.target));
}

using Exporter = Result<void> (*)(Invocation&, const ExportOptions&);
const std::map<std::string, Exporter>& exporters() {
  static const std::map<std::string, Exporter> all = {{"oci", export_oci},
                                                      {"tar", export_tar},
                                                      {"dockerfile", export_dockerfile},
                                                      {"cmake", export_build_files},
                                                      {"meson", export_build_files},
                                                      {"bazel", export_build_files},
                                                      {"pkg-config", export_build_files}};
  return all;
}

/// An option that an export of this kind would not look at is a mistake.
Result<void> check_options(const ExportOptions& options) {
  const std::vector<std::string> images{"oci", "tar"};
  const std::vector<std::tuple<const char*, bool, std::vector<std::string>>> all = {
      {"--base", !options.base.empty(), {"oci"}},
      {"--compression", options.compression != ExportOptions().compression, {"oci"}},
      {"--redistributable-only", options.distributable_only, images},
      {"--platform", !options.settings.platform.empty(), images},
      {"--at", options.place != ExportOptions().place, {"oci", "tar", "dockerfile"}}};
  for (const auto& [name, is_given, kinds] : all) {
    if (is_given && std::find(kinds.begin(), kinds.end(), options.kind) == kinds.end()) {
      return tl::unexpected<Error>(
          Error{.code = ErrorCode::usage,
                .message = fmt::format("{} says nothing to `export {}`", name, options.kind),
                .hint = fmt::format("it is for {}; leave it out", join(kinds, ", "))});
    }
  }
  return {};
}

} // namespace

void register_export(Commands& commands) {
  auto options = std::make_shared<ExportOptions>();
  auto* app =
      commands.add("export", "A toolkit as an image, an archive, or files for a build system",
                   [options](Invocation& invocation) {
                     auto done = check_options(*options);
                     if (done) {
                       done = exporters().at(options->kind)(invocation, *options);
                     }
                     return done ? 0 : report(invocation, done.error());
                   });
  std::vector<std::string> kinds;
  for (const auto& [name, exporter] : exporters()) {
    kinds.push_back(name);
  }
  app->add_option("KIND", options->kind,
                  "oci (an image layout, a folder), tar (an archive to unpack at /), dockerfile (a "
                  "build context), cmake, meson, bazel, pkg-config")
      ->required()
      ->check(CLI::IsMember(kinds));
  app->add_option("TARGET", options->target, "The folder or file to write")
      ->required()
      ->check(text_name());
  app->add_option("TOOLKIT", options->toolkit,
                  "A lock, a manifest with a lock beside it, or a toolkit; default: of cukit.yaml "
                  "here or above, else the only one");
  app->add_option("--at", options->place, "Where the toolkit stands in there (/opt/cuda)")
      ->type_name("DIR");
  app->add_option("--base", options->base,
                  "oci: put it on this image (an OCI image layout with one for the platform)")
      ->type_name("DIR");
  app->add_option("--compression", options->compression, "oci: gzip, zstd or none")
      ->type_name("HOW");
  app->add_flag("--redistributable-only", options->distributable_only,
                "oci, tar: only what the licences below LICENSES/ list as distributable; what is "
                "left out is named");
  app->add_option("--platform", options->settings.platform,
                  "linux-x86_64, linux-sbsa or linux-aarch64; default: this machine's")
      ->type_name("NAME");
  options->settings.add_source_options(*app);
}

} // namespace cukit::cmd

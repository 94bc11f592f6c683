#include "base/strings.hpp"
#include "command_line.hpp"
#include "offline/make_bundle.hpp"

namespace cukit::cmd {

namespace {

struct Options {
  SettingsOptions settings;
  std::vector<std::string> manifests;
  std::vector<std::string> platforms;
  std::string file;
};

int run_bundle(Invocation& invocation, const Options& options) {
  const auto platforms = parse_platforms(options.platforms);
  auto opened = open_session(invocation, options.settings);
  if (!platforms || !opened) {
    return report(invocation, platforms ? opened.error() : platforms.error());
  }
  const std::vector<fs::path> manifests(options.manifests.begin(), options.manifests.end());
  const auto done = offline::make_bundle(*opened->session, manifests, options.file, *platforms);
  if (!done) {
    return report(invocation, done.error());
  }
  const auto bytes = opened->session->downloaded_bytes;
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.bundle/1")
                   .set("file", options.file)
                   .set("bytes", done->bytes)
                   .set("artifacts", static_cast<std::uint64_t>(done->artifacts))
                   .set("parts", static_cast<std::uint64_t>(done->parts))
                   .set("downloaded_bytes", bytes));
  } else {
    ui::print(fmt::format("{}: {} with {} artifacts and {} parts ({} downloaded)\n  use it  cukit "
                          "up --bundle {}\n",
                          printable(options.file), human_bytes(done->bytes), done->artifacts,
                          done->parts, human_bytes(bytes), printable(options.file)));
  }
  return 0;
}

} // namespace

void register_bundle(Commands& commands) {
  auto options = std::make_shared<Options>();
  auto* app = commands.add(
      "bundle", "Everything that manifests need in one file, for a machine without a network",
      [options](Invocation& invocation) { return run_bundle(invocation, *options); });
  app->add_option("MANIFEST", options->manifests, "Manifests (YAML)")->required();
  app->add_option("-o,--output", options->file, "The file to write")
      ->required()
      ->check(text_name())
      ->type_name("FILE");
  options->settings.add_lock_options(*app);
  add_platforms_option(*app, options->platforms);
}

} // namespace cukit::cmd

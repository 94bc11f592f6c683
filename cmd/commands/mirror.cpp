#include "offline/mirror.hpp"

#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "command_line.hpp"

namespace cukit::cmd {

namespace {

struct Options {
  SettingsOptions settings;
  std::vector<std::string> words; ///< manifests, then the folder
  std::vector<std::string> platforms;
};

int run_mirror(Invocation& invocation, const Options& options) {
  const auto platforms = parse_platforms(options.platforms);
  auto opened = open_session(invocation, options.settings);
  if (!platforms || !opened) {
    return report(invocation, platforms ? opened.error() : platforms.error());
  }
  const std::vector<fs::path> manifests(options.words.begin(), options.words.end() - 1);
  if (const auto why = text_name()(options.words.back()); !why.empty()) {
    return report(invocation, Error{.code = ErrorCode::usage, .message = why});
  }
  const auto named = absolute_path(options.words.back());
  if (!named) {
    return report(invocation, named.error());
  }
  const auto& folder = *named;
  const auto done = offline::mirror(*opened->session, manifests, folder, *platforms);
  if (!done) {
    return report(invocation, done.error());
  }
  const auto bytes = opened->session->downloaded_bytes;
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.mirror/1")
                   .set("folder", folder.string())
                   .set("files", static_cast<std::uint64_t>(done->files))
                   .set("added", static_cast<std::uint64_t>(done->added))
                   .set("downloaded_bytes", bytes));
  } else {
    ui::print(fmt::format("{}: {} files, {} of them new ({} downloaded)\n",
                          printable(folder.string()), done->files, done->added,
                          human_bytes(bytes)));
  }
  return 0;
}

} // namespace

void register_mirror(Commands& commands) {
  auto options = std::make_shared<Options>();
  auto* app = commands.add(
      "mirror", "Fill a folder with everything that manifests need, for any web server",
      [options](Invocation& invocation) { return run_mirror(invocation, *options); });
  app->add_option("ARGUMENT", options->words, "Manifests (YAML), and the folder at the end")
      ->required()
      ->expected(2, -1)
      ->type_name("MANIFEST... DIR");
  options->settings.add_lock_options(*app);
  add_platforms_option(*app, options->platforms);
}

} // namespace cukit::cmd

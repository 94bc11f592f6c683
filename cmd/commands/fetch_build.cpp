#include "base/strings.hpp"
#include "commands/summary.hpp"

namespace cukit::cmd {

namespace {

struct Options {
  SettingsOptions settings;
  std::string manifest;
};

int run_fetch(Invocation& invocation, const Options& options) {
  auto opened = open_session(invocation, options.settings);
  if (!opened) {
    return report(invocation, opened.error());
  }
  auto locked = pipeline::fetch(*opened->session, options.manifest);
  if (!locked) {
    return report(invocation, locked.error());
  }
  const auto bytes = opened->session->downloaded_bytes;
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.fetch/1")
                   .set("lock", locked->path.string())
                   .set("release", locked->lock.release.text())
                   .set("downloaded_bytes", bytes));
  } else {
    ui::print(fmt::format("{}: everything of CUDA {} is in the store ({} downloaded)\n",
                          locked->manifest.name.value, locked->lock.release.text(),
                          human_bytes(bytes)));
  }
  return 0;
}

int run_build(Invocation& invocation, const Options& options) {
  auto opened = open_session(invocation, options.settings);
  if (!opened) {
    return report(invocation, opened.error());
  }
  auto result = pipeline::build(*opened->session, options.manifest);
  if (!result) {
    return report(invocation, result.error());
  }
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.build/1")
                   .set("tree", tree_json(*result->tree, ""))
                   .set("changed", !result->nothing_to_do)
                   .set("lock", result->locked.path.string())
                   .set("release", result->locked.lock.release.text())
                   .set("downloaded_bytes", opened->session->downloaded_bytes));
  } else {
    ui::print(up_text(invocation, *result));
  }
  return 0;
}

} // namespace

void register_fetch_and_build(Commands& commands) {
  auto fetch_options = std::make_shared<Options>();
  auto* fetch = commands.add(
      "fetch", "Fill the store with what a manifest needs",
      [fetch_options](Invocation& invocation) { return run_fetch(invocation, *fetch_options); });
  fetch->add_option("MANIFEST", fetch_options->manifest, "Manifest (YAML)")->required();
  fetch_options->settings.add_lock_options(*fetch);
  fetch
      ->add_option("--platform", fetch_options->settings.platform,
                   "Another platform than this machine's")
      ->type_name("NAME");

  auto build_options = std::make_shared<Options>();
  auto* build = commands.add(
      "build", "Make the tree of a manifest, without validation and without a name",
      [build_options](Invocation& invocation) { return run_build(invocation, *build_options); });
  build->add_option("MANIFEST", build_options->manifest, "Manifest (YAML)")->required();
  build_options->settings.add_lock_options(*build);
  build_options->settings.add_tree_options(*build);
}

} // namespace cukit::cmd

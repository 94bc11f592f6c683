// `cukit diff A B`: what changes for somebody who goes from one lock to another.
#include "commands/locks.hpp"
#include "manifest/manifest.hpp"

namespace cukit::cmd {

namespace {

struct DiffOptions {
  std::string from;
  std::string to;
  bool exit_code = false;
};

/// Without TO it is what the project's manifest says; without both, what that changes of its name.
Result<void> complete(const Invocation& invocation, DiffOptions& options) {
  if (!options.to.empty()) {
    return {};
  }
  options.to = given_or_nearest(invocation, std::string());
  if (options.to.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = "there is nothing to compare with: name two locks",
              .hint = "beside or below a cukit.yaml one is enough, or none"});
  }
  if (options.from.empty()) {
    CUKIT_TRY_ASSIGN(const auto manifest, manifest::load(options.to, invocation.knowledge()));
    options.from = manifest.name.value;
  }
  return {};
}

Result<int> run_diff(Invocation& invocation, DiffOptions options) {
  CUKIT_TRY(complete(invocation, options));
  CUKIT_TRY_ASSIGN(const auto from, find_lock(invocation, options.from));
  CUKIT_TRY_ASSIGN(const auto to, find_lock(invocation, options.to));
  const auto knowledge = invocation.knowledge();
  CUKIT_TRY_ASSIGN(const auto diff, explain::diff(from.lock, to.lock, knowledge));
  if (invocation.options.json) {
    print_json(diff_json(diff));
  } else {
    const auto terminal = invocation.output();
    const auto head = diff.from == diff.to
                          ? fmt::format("CUDA {}", diff.to.text())
                          : fmt::format("CUDA {} -> {}", diff.from.text(), diff.to.text());
    std::string out = fmt::format("{} -> {}: {}\n", terminal.paint(ui::Style::bold, from.name),
                                  terminal.paint(ui::Style::bold, to.name),
                                  diff.empty() ? "the same toolkit" : head);
    ui::print(out + diff_text(terminal, diff));
  }
  return options.exit_code && !diff.empty() ? 1 : 0;
}

} // namespace

void register_diff(Commands& commands) {
  auto options = std::make_shared<DiffOptions>();
  auto* app = commands.add("diff", "What changes between two locks, in words",
                           [options](Invocation& invocation) {
                             const auto code = run_diff(invocation, *options);
                             return code ? *code : report(invocation, code.error());
                           });
  app->add_option("FROM", options->from,
                  "A lock, a manifest with a lock beside it, or a toolkit; default: the toolkit "
                  "that has the name of TO");
  app->add_option("TO", options->to, "The same; default: cukit.yaml here or above");
  app->add_flag("--exit-code", options->exit_code, "Exit with 1 when they differ");
}

} // namespace cukit::cmd

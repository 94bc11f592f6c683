// `cukit why THING`: the chain from the manifest to a component, a file of the tree or a GPU.
#include "explain/why.hpp"

#include "base/strings.hpp"
#include "base/user_file.hpp"
#include "commands/locks.hpp"
#include "home/owner.hpp"

#include <algorithm>

namespace cukit::cmd {

namespace {

struct WhyOptions {
  std::vector<std::string> words;
  std::string of;
};

text::Json explanation_json(const explain::Explanation& explanation) {
  auto lines = text::Json::list();
  for (const auto& line : explanation.lines) {
    lines.add(text::Json::object()
                  .set("label", line.label)
                  .set("text", line.text)
                  .set("source", line.source));
  }
  return text::Json::object()
      .set("subject", explanation.subject)
      .set("holds", explanation.holds)
      .set("lines", lines);
}

std::string explanation_text(const ui::Terminal& terminal,
                             const explain::Explanation& explanation) {
  std::string out = terminal.paint(ui::Style::bold, printable(explanation.subject)) + "\n";
  ui::Table table;
  for (const auto& line : explanation.lines) {
    auto text = printable(line.text);
    if (!line.source.empty()) {
      text += fmt::format("  [{}]", printable(line.source));
    }
    table.row({line.label, std::move(text)}, {ui::Style::dim, ui::Style::plain});
  }
  return out + table.print(terminal);
}

/// The tree that a path lies in, and the rest of the path.
struct InTree {
  fs::path tree;
  RelativePath path;
};
Result<InTree> split_path(const std::string& text) {
  CUKIT_TRY_ASSIGN(const auto full, absolute_path(text));
  std::error_code error;
  for (auto folder = full.parent_path(); folder != folder.root_path();
       folder = folder.parent_path()) {
    if (path_exists(folder / ".cukit/input")) {
      CUKIT_TRY_ASSIGN(auto rest, RelativePath::parse(full.lexically_relative(folder).string()));
      const auto real = fs::canonical(folder, error);
      return InTree{.tree = error ? folder : real, .path = std::move(rest)};
    }
  }
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::usage,
            .message = fmt::format("{} lies in no tree that cukit built", printable(text)),
            .hint = "of a file in a toolkit say the path inside it: `cukit why bin/nvcc`"});
}

/// `/...`, `./...` and `../...` are files of this machine; any other path is one inside a toolkit,
/// whatever lies in the working folder.
bool is_place(const std::string& word) {
  return word.starts_with('/') || word.starts_with("./") || word.starts_with("../");
}

struct Asked {
  LockReference lock;
  std::optional<manifest::Manifest> manifest;
  std::vector<explain::Explanation> answers;
};

Result<void> add_manifest(const knowledge::Knowledge& knowledge, Asked& asked) {
  if (!asked.lock.manifest.empty()) {
    CUKIT_TRY_ASSIGN(auto manifest, manifest::load(asked.lock.manifest, knowledge));
    if (manifest.digest == asked.lock.lock.manifest) { // else its lines speak of something else
      asked.manifest = std::move(manifest);
    }
  }
  return {};
}

Result<explain::Explanation> why_path(const store::Home& home, const explain::Question& question,
                                      const assemble::Tree& tree, const RelativePath& path) {
  const auto* platform = question.lock.find(tree.platform);
  if (platform == nullptr || lock::tree_id(question.lock, *platform) != tree.id) {
    return fail(ErrorCode::usage, "the tree {} was not made from this lock", tree.path.string());
  }
  CUKIT_TRY_ASSIGN(const auto owner,
                   home::owner_of(home, question.lock, *platform, tree.path, path));
  explain::Explanation result;
  if (owner.artifact != nullptr) {
    CUKIT_TRY_ASSIGN(result, explain::why_artifact(question, *owner.artifact));
  }
  std::vector<explain::Because> head;
  for (const auto& link : owner.links) {
    head.push_back({.label = "link", .text = link, .source = {}});
  }
  const bool is_folder = folder_exists(tree.path / owner.path.text());
  head.push_back({.label = "belongs to",
                  .text = owner.artifact != nullptr ? result.subject
                          : is_folder               ? "a folder of several components"
                                                    : "cukit, which makes it for every tree alike",
                  .source = {}});
  result.subject = path.text();
  result.lines.insert(result.lines.begin(), head.begin(), head.end());
  return result;
}

Result<void> ask_path(Invocation& invocation, const WhyOptions& options, const InTree& place,
                      Asked& asked) {
  CUKIT_TRY_ASSIGN(const auto home, invocation.home());
  CUKIT_TRY_ASSIGN(const auto tree, assemble::open_tree(place.tree));
  CUKIT_TRY_ASSIGN(asked.lock, find_lock(invocation, options.of));
  const auto knowledge = invocation.knowledge();
  CUKIT_TRY(add_manifest(knowledge, asked));
  const explain::Question question{.lock = asked.lock.lock,
                                   .knowledge = knowledge,
                                   .manifest = asked.manifest ? &*asked.manifest : nullptr};
  CUKIT_TRY_ASSIGN(auto answer, why_path(home, question, tree, place.path));
  asked.answers.push_back(std::move(answer));
  return {};
}

Result<void> ask_word(Invocation& invocation, const WhyOptions& options, Asked& asked) {
  const auto knowledge = invocation.knowledge();
  const bool says_gpu = options.words.front() == "gpu";
  if (options.words.size() != (says_gpu ? 2U : 1U)) {
    return fail(ErrorCode::usage, "`cukit why` takes one component or path, or `gpu` and a GPU");
  }
  CUKIT_TRY_ASSIGN(asked.lock, find_lock(invocation, options.of));
  CUKIT_TRY(add_manifest(knowledge, asked));
  const explain::Question question{.lock = asked.lock.lock,
                                   .knowledge = knowledge,
                                   .manifest = asked.manifest ? &*asked.manifest : nullptr};
  const auto& word = options.words.back();
  if (says_gpu || word.starts_with("sm_")) {
    CUKIT_TRY_ASSIGN(const auto gpu, knowledge::find_gpu(knowledge, word));
    CUKIT_TRY_ASSIGN(auto answer, explain::why_gpu(question, gpu));
    asked.answers.push_back(std::move(answer));
    return {};
  }
  CUKIT_TRY_ASSIGN(asked.answers, explain::why_component(question, word));
  return {};
}

/// The component that brings a file of that name by its recipe, or empty: for locks of which no
/// tree was made yet. The end of a path is enough (bin/cicc).
Result<std::string> component_with(const knowledge::Knowledge& knowledge, const std::string& path) {
  CUKIT_TRY_ASSIGN(const auto* components, knowledge.components());
  const auto is_it = [&](const std::string& file) {
    return file == path || file.ends_with("/" + path);
  };
  for (const auto& component : *components) {
    std::vector<std::string> files = component.provides;
    files.insert(files.end(), component.redist.provides.begin(), component.redist.provides.end());
    for (const auto& [part, own] : component.parts) {
      files.insert(files.end(), own.begin(), own.end());
    }
    if (std::any_of(files.begin(), files.end(), is_it)) {
      return component.name;
    }
  }
  return std::string();
}

/// A path as it is inside a tree; without a tree, what the recipes say of it.
Result<void> ask_inside(Invocation& invocation, const WhyOptions& options, Asked& asked) {
  const auto& word = options.words.front();
  CUKIT_TRY_ASSIGN(const auto home, invocation.home());
  const auto tree = find_tree(invocation, home, options.of);
  if (!tree) {
    CUKIT_TRY_ASSIGN(const auto component, component_with(invocation.knowledge(), word));
    if (component.empty()) {
      return tl::unexpected<Error>(tree.error());
    }
    return ask_word(invocation, {.words = {component}, .of = options.of}, asked);
  }
  CUKIT_TRY_ASSIGN(auto path, RelativePath::parse(word));
  return ask_path(invocation, options, {.tree = tree->tree.path, .path = std::move(path)}, asked);
}

Result<int> run_why(Invocation& invocation, WhyOptions options) {
  Asked asked;
  const auto& word = options.words.front();
  const bool is_path = options.words.size() == 1 && word.find('/') != std::string::npos;
  if (!(is_path && is_place(word))) {
    options.of = given_or_nearest(invocation, options.of);
  }
  if (is_path && is_place(word)) {
    CUKIT_TRY_ASSIGN(const auto place, split_path(word));
    const auto of = options.of.empty() ? place.tree.string() : options.of;
    CUKIT_TRY(ask_path(invocation, {.words = options.words, .of = of}, place, asked));
  } else if (is_path) {
    CUKIT_TRY(ask_inside(invocation, options, asked));
  } else {
    CUKIT_TRY(ask_word(invocation, options, asked));
  }
  auto list = text::Json::list();
  int code = 0;
  for (const auto& answer : asked.answers) {
    code = answer.holds ? code : 1;
    list.add(explanation_json(answer));
    if (!invocation.options.json) {
      ui::print(explanation_text(invocation.output(), answer));
    }
  }
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.why/1")
                   .set("lock", asked.lock.name)
                   .set("answers", list));
  }
  return code;
}

} // namespace

void register_why(Commands& commands) {
  auto options = std::make_shared<WhyOptions>();
  auto* app = commands.add("why", "Why a component, a file of the tree or a GPU is there",
                           [options](Invocation& invocation) {
                             const auto code = run_why(invocation, *options);
                             return code ? *code : report(invocation, code.error());
                           });
  app->add_option("THING", options->words,
                  "A component (nvcc, ptxas, cuda), a path in a tree, or: gpu sm_120")
      ->required();
  app->add_option("--of", options->of,
                  "Of this lock, manifest or toolkit; default: of cukit.yaml here or above, else "
                  "the only one")
      ->type_name("LOCK");
}

} // namespace cukit::cmd

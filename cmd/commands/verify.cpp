#include "base/strings.hpp"
#include "commands/summary.hpp"

#include <cstdio>

namespace cukit::cmd {

namespace {

struct Checked {
  std::string what;
  std::vector<std::string> problems;
};

Result<std::vector<Checked>> check_home(const Invocation& invocation, const store::Home& home) {
  std::vector<Checked> result;
  if (folder_exists(home.store())) {
    const store::Store store(home);
    CUKIT_TRY_ASSIGN(const auto keys, list_directory(home.store()));
    for (const auto& key : keys) {
      CUKIT_TRY_ASSIGN(auto problems, store.verify(key));
      result.push_back(Checked{"store entry " + key.substr(0, 16), std::move(problems)});
    }
  }
  if (folder_exists(home.trees())) {
    CUKIT_TRY_ASSIGN(const auto ids, list_directory(home.trees()));
    for (const auto& id : ids) {
      CUKIT_TRY_ASSIGN(const auto tree, assemble::open_tree(home.trees() / id));
      CUKIT_TRY_ASSIGN(auto problems, assemble::verify(tree, invocation.stop));
      result.push_back(Checked{"tree " + id.substr(0, 16), std::move(problems)});
    }
  }
  return result;
}

Result<std::vector<Checked>> check(const Invocation& invocation,
                                   const std::vector<std::string>& toolkits) {
  CUKIT_TRY_ASSIGN(const auto home, store::find_home(invocation.environment));
  if (toolkits.empty()) {
    return check_home(invocation, home);
  }
  std::vector<Checked> result;
  for (const auto& text : toolkits) {
    CUKIT_TRY_ASSIGN(const auto reference, find_tree(invocation, home, text));
    CUKIT_TRY_ASSIGN(auto problems, assemble::verify(reference.tree, invocation.stop));
    result.push_back(Checked{text, std::move(problems)});
  }
  return result;
}

int run_verify(Invocation& invocation, const std::vector<std::string>& toolkits) {
  const auto checked = check(invocation, toolkits);
  if (!checked) {
    return report(invocation, checked.error());
  }
  bool clean = true;
  auto results = text::Json::list();
  std::string out;
  for (const auto& one : *checked) {
    auto problems = text::Json::list();
    for (const auto& problem : one.problems) {
      problems.add(problem);
      out += fmt::format("{}: {}\n", one.what, printable(problem));
    }
    clean = clean && one.problems.empty();
    results.add(text::Json::object().set("what", one.what).set("problems", problems));
  }
  if (invocation.options.json) {
    print_json(text::Json::object()
                   .set("schema", "cukit.verify/1")
                   .set("clean", clean)
                   .set("results", results));
  } else {
    out += clean
               ? fmt::format("{} checked, all as they were built\n", checked->size())
               : "remove what is damaged (the tree's or entry's folder) and run `cukit up` again\n";
    std::fputs(out.c_str(), stdout);
  }
  return clean ? 0 : static_cast<int>(ErrorCode::expected_no);
}

} // namespace

void register_verify(Commands& commands) {
  auto toolkits = std::make_shared<std::vector<std::string>>();
  auto* app = commands.add(
      "verify", "Hash every file of a toolkit again, or of all toolkits and the store",
      [toolkits](Invocation& invocation) { return run_verify(invocation, *toolkits); });
  app->add_option("TOOLKIT", *toolkits,
                  "Names, manifests, paths or ids of trees; none: everything");
}

} // namespace cukit::cmd

#include "command_line.hpp"

#include "base/strings.hpp"

#include <algorithm>

namespace cukit::cmd {

namespace {

using Words = std::vector<std::string>;

/// The option takes the word behind it.
bool takes_value(const CLI::App& app, const std::string& word) {
  const auto* option = app.get_option_no_throw(word); // `--name=value` is no name of an option
  return option != nullptr && option->get_items_expected_max() > 0;
}

/// The next word from `at` on that is neither an option nor an option's value, `--` included.
Words::iterator next_operand(const CLI::App& app, const CLI::App* command, Words::iterator at,
                             const Words::iterator& end) {
  while (at != end && at->starts_with('-') && *at != "--" && *at != "-") {
    const bool has_value =
        takes_value(app, *at) || (command != nullptr && takes_value(*command, *at));
    at += has_value && std::next(at) != end ? 2 : 1;
  }
  return at;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto all = commands_of(app);
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const CLI::App* one) { return one->get_name() == name; });
  return found == all.end() ? nullptr : *found;
}

Words names_of_commands(const CLI::App& app) {
  Words names{"help", "version"};
  for (const auto* command : commands_of(app)) {
    names.push_back(command->get_name());
  }
  return names;
}

tl::unexpected<Error> no_command(const CLI::App& app, const std::string& word) {
  const auto near = did_you_mean(word, names_of_commands(app));
  return tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                     .message = fmt::format("there is no command `{}`", word),
                                     .hint = near.empty()
                                                 ? "`cukit help` lists the commands"
                                                 : fmt::format("did you mean `cukit {}`?", near)});
}

/// `help lock` is `lock --help`.
Result<Words> help(const CLI::App& app, const Words& words) {
  if (words.empty()) {
    return Words{"--help"};
  }
  if (find_command(app, words.front()) == nullptr) {
    return no_command(app, words.front());
  }
  return Words{words.front(), "--help"};
}

void part_command_of_run(const CLI::App& app, const CLI::App& run, Words& words,
                         Words::iterator begin) {
  const auto toolkit = next_operand(app, &run, begin, words.end());
  if (toolkit == words.end()) {
    return;
  }
  if (*toolkit == "--") { // none is named: the mark stands in its place, behind another
    words.insert(toolkit, "--");
    return;
  }
  const auto behind = std::next(toolkit);
  const auto operand = next_operand(app, &run, behind, words.end());
  if (behind != words.end() && (operand == words.end() || *operand != "--")) {
    words.insert(behind, "--");
  }
}

tl::unexpected<Error> has_no_value(const std::string& name) {
  return tl::unexpected<Error>(
      Error{.code = ErrorCode::usage,
            .message = fmt::format("{} has an empty value", name),
            .hint = "is a variable empty that stands there? leave the option out for what happens "
                    "without it"});
}

/// For `--prefix=` the parser would take the next word.
Result<void> refuse_missing_values(const Words& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto found = std::find_if(words.begin(), end, [](const std::string& word) {
    return word.starts_with("--") && word.find('=') + 1 == word.size();
  });
  return found == end ? Result<void>() : has_no_value(found->substr(0, found->size() - 1));
}

void part_watched_command(Words& words, Words::iterator begin) {
  const auto end = std::find(begin, words.end(), "--");
  const auto watch = std::find(begin, end, "--watch");
  if (watch != end && std::next(watch) != words.end() && !std::next(watch)->starts_with('-')) {
    words.insert(std::next(watch), "--");
  }
}

} // namespace

Result<std::vector<std::string>> understood(const CLI::App& app, std::vector<std::string> words) {
  const auto at = next_operand(app, nullptr, words.begin(), words.end());
  if (at == words.end() || *at == "--") {
    return words;
  }
  if (*at == "help") {
    return help(app, Words(std::next(at), words.end()));
  }
  if (*at == "version") {
    return Words{"--version"};
  }
  const auto* command = find_command(app, *at);
  if (command == nullptr) {
    return no_command(app, *at);
  }
  if (*at == "run") {
    part_command_of_run(app, *command, words, std::next(at));
  } else if (*at == "doctor") {
    part_watched_command(words, std::next(at));
  }
  CUKIT_TRY(refuse_missing_values(words));
  return words;
}

Result<void> refuse_empty_values(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    const bool is_free = lower(option->get_name(true)) == "command";
    const auto& values = option->results();
    if (!is_free && std::find(values.begin(), values.end(), "") != values.end()) {
      return has_no_value(option->get_name());
    }
  }
  for (const auto* command : app.get_subcommands()) {
    CUKIT_TRY(refuse_empty_values(*command));
  }
  return {};
}

Error mistake(const CLI::App& app, const CLI::ParseError& error) {
  Error result{.code = ErrorCode::usage, .message = without_logins(error.what())};
  const auto chosen = app.get_subcommands();
  const auto* command = chosen.empty() ? nullptr : chosen.front();
  const auto name = command == nullptr ? std::string() : command->get_name() + " ";
  result.hint = fmt::format("`cukit {}--help` lists what there is", name);
  Words known;
  for (const auto* place : {&app, command}) {
    for (const auto* option :
         place == nullptr ? std::vector<const CLI::Option*>{} : place->get_options()) {
      for (const auto& one : option->get_lnames()) {
        known.push_back("--" + one);
      }
    }
  }
  for (const auto& word : app.remaining(true)) {
    const auto near =
        word.starts_with("--") ? did_you_mean(word.substr(0, word.find('=')), known) : "";
    if (!near.empty()) {
      result.hint = fmt::format("did you mean `{}`? `cukit {}--help` lists all", near, name);
      break;
    }
  }
  return result;
}

CLI::Validator text_name() {
  return CLI::Validator(
      [](const std::string& name) {
        return is_utf8(name) ? std::string() : "the name " + printable(name) + " is not UTF-8";
      },
      "");
}

} // namespace cukit::cmd

#include "model/shell_command.hpp"

#include "base/strings.hpp"
#include "model/shell_quote.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cukit {

namespace {

constexpr std::string_view k_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::string_view k_plain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-=:@%,";

bool is_plain(std::string_view word) {
  // =ls is a path to zsh, %1 a job
  return !word.empty() && word.find_first_not_of(k_plain) == std::string_view::npos &&
         word.front() != '=' && word.front() != '%';
}

std::string escaped(std::string_view word) {
  std::string result = "$'";
  for (const char c : word) {
    result += k_plain.find(c) == std::string_view::npos
                  ? fmt::format("\\{:03o}", static_cast<unsigned char>(c))
                  : std::string(1, c);
  }
  return result + "'";
}

/// A program or a variable: a word with an equals sign there would be an assignment.
std::string first_word(std::string_view word) {
  return word == "!" || (is_plain(word) && word.find('=') != std::string_view::npos)
             ? fmt::format("'{}'", word)
             : shell_word(word);
}

bool is_name(std::string_view name) {
  constexpr std::string_view digits = "0123456789";
  return !name.empty() && digits.find(name.front()) == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return k_letters.find(c) != std::string_view::npos ||
                  digits.find(c) != std::string_view::npos;
         });
}

} // namespace

std::string shell_word(std::string_view word) {
  if (is_plain(word) || word == "!") { // of `test`
    return std::string(word);
  }
  if (printable(word) != word) {
    return escaped(word);
  }
  return single_quoted(word);
}

ShellCommand::ShellCommand(const std::vector<std::string>& words) {
  for (const auto& word : words) {
    words_.push_back(words_.empty() ? first_word(word) : shell_word(word));
  }
}

ShellCommand ShellCommand::exports(const std::vector<ShellVariable>& variables) {
  ShellCommand result({"export"});
  result.only_sets_variables_ = true;
  for (const auto& [name, value, is_prepended] : variables) {
    if (!is_name(name)) { // of a recipe: the shell says what is wrong with it
      result.words_.push_back(fmt::format("{}={}", first_word(name), shell_word(value)));
      continue;
    }
    auto word = fmt::format("{}={}", name, value.empty() ? "" : shell_word(value));
    if (is_prepended) {
      // a shell without PATH starts nothing; any other list may be empty, and ends in no colon then
      word += name == "PATH" ? ":\"$PATH\"" : fmt::format("\"${{{0}:+:${0}}}\"", name);
    }
    result.words_.push_back(std::move(word));
  }
  return result;
}

ShellCommand ShellCommand::unsets(const std::vector<std::string>& names) {
  ShellCommand result({"unset"});
  result.only_sets_variables_ = true;
  std::transform(names.begin(), names.end(), std::back_inserter(result.words_), shell_word);
  return result;
}

ShellCommand ShellCommand::evaluates(const ShellCommand& command) {
  ShellCommand result({"eval"});
  result.words_.push_back(fmt::format("\"$({})\"", command.text()));
  return result;
}

ShellCommand ShellCommand::into(std::string_view file) const {
  auto result = *this;
  result.only_sets_variables_ = false;
  result.words_.insert(result.words_.end(), {">", shell_word(file)});
  return result;
}

ShellCommand ShellCommand::then(const ShellCommand& next) const {
  auto result = *this;
  result.only_sets_variables_ = only_sets_variables_ && next.only_sets_variables_;
  result.words_.emplace_back("&&");
  result.words_.insert(result.words_.end(), next.words_.begin(), next.words_.end());
  return result;
}

ShellCommand ShellCommand::with_arguments_of_the_script() const {
  auto result = *this;
  result.words_.emplace_back("\"$@\"");
  return result;
}

std::string ShellCommand::text() const {
  return join(words_, " ");
}

} // namespace cukit

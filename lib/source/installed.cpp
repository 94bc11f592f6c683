#include "source/installed.hpp"

#include "base/child.hpp"
#include "base/strings.hpp"
#include "source/stated.hpp"

namespace cukit::source {

namespace {

std::string last_line(std::string_view text) {
  text = trim(text);
  return std::string(trim(text.substr(text.rfind('\n') + 1)));
}

std::optional<Address> taken(const Result<std::string>& answer, std::string_view option,
                             const std::string& origin) {
  if (!answer) {
    return std::nullopt;
  }
  const auto url = option.empty() ? last_line(*answer) : default_in_help(*answer, option);
  auto result = address(url, origin, "/");
  if (!result || !result->location.starts_with("https://")) {
    return std::nullopt; // what a program prints is not the user's word: no plain http, no folder
  }
  result->named_by_user = false;
  return *result;
}

} // namespace

Asker real_asker(const Environment& environment, const std::stop_token& stop) {
  return [environment, stop](const std::vector<std::string>& arguments) -> Result<std::string> {
    if (environment.find_program(arguments.front()).empty()) {
      return fail(ErrorCode::host, "{} is not installed", arguments.front());
    }
    Command command{.arguments = arguments, .environment = environment};
    command.environment.set("COLUMNS", "500");
    command.environment.set("NO_COLOR", "1");
    command.directory = "/";
    command.time_limit = std::chrono::seconds(10);
    CUKIT_TRY_ASSIGN(auto finished, run_command(command, stop));
    if (finished.exit_code != 0) {
      return fail(ErrorCode::host, "{} ended with exit code {}", arguments.front(),
                  finished.exit_code);
    }
    return std::move(finished.output);
  };
}

std::string default_in_help(std::string_view help, std::string_view option) {
  auto at = help.find(option);
  // The name may first stand in a usage line or in another option's text: its own entry is where a
  // default follows before the next option begins.
  while (at != std::string_view::npos) {
    auto entry = help.substr(at + option.size());
    entry = entry.substr(0, std::min(entry.find("\n  -"), entry.find("\n      --")));
    const auto word = entry.find("default");
    const auto url = word == std::string_view::npos ? word : entry.find("https://", word);
    if (url != std::string_view::npos) {
      const auto found = entry.substr(url);
      return std::string(found.substr(0, found.find_first_of(" \t\r\n)>],")));
    }
    at = help.find(option, at + option.size());
  }
  return {};
}

std::optional<Address> default_of_installed(const Asker& ask) {
  // pip's constant first: its help says the same, but takes four times as long to print.
  if (auto one = taken(ask({"python3", "-c",
                            "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"}),
                       "", "pip's default")) {
    return one;
  }
  if (auto one = taken(ask({"python3", "-m", "pip", "install", "--help"}), "--index-url",
                       "pip's default")) {
    return one;
  }
  for (const auto* program : {"pip3", "pip"}) {
    if (auto one = taken(ask({program, "install", "--help"}), "--index-url", "pip's default")) {
      return one;
    }
  }
  const auto help = ask({"uv", "pip", "install", "--help"});
  for (const auto* option : {"--default-index", "--index-url"}) {
    if (auto one = taken(help, option, "uv's default")) {
      return one;
    }
  }
  return std::nullopt;
}

} // namespace cukit::source

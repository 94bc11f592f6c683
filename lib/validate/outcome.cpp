#include "validate/outcome.hpp"

#include "base/strings.hpp"
#include "validate/number.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace cukit::validate {

namespace {

constexpr int k_exit_skip = 77;

std::string shortened(std::string_view text) {
  return printable(text.substr(0, 300));
}

/// libcudart of libcudart.so.13.0.96: names differ in what follows, and a loaded one shows its real
/// name.
std::string_view stem(std::string_view path) {
  const auto slash = path.rfind('/');
  const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.substr(0, name.find(".so"));
}

std::string last_line(std::string_view text) {
  const auto lines = split(trim(text), '\n');
  return shortened(trim(lines.back()));
}

void read_line(std::string_view line, Printed& printed) {
  const auto words = split_words(line);
  if (words.size() < 2) {
    return;
  }
  const auto rest = trim(line.substr(words[0].size()));
  if (words[0] == "loaded") {
    printed.loaded.emplace_back(rest);
  } else if (words[0] == "skip") {
    printed.skip = shortened(rest);
  } else if (words[0] == "number") {
    const auto value = words.size() == 3 ? parse_number(words[2]) : std::nullopt;
    if (!value || !printed.numbers.emplace(words[1], *value).second) {
      printed.mistake = shortened(line);
    }
  }
}

} // namespace

Printed read_output(std::string_view output) {
  Printed printed;
  for (const auto line : split(output, '\n')) {
    read_line(line, printed);
  }
  return printed;
}

std::string failure_of(const Finished& finished, std::chrono::seconds time_limit) {
  std::string how;
  if (finished.timed_out) {
    how = fmt::format("it did not end within {} s", time_limit.count());
  } else if (finished.signal != 0) {
    how = fmt::format("it was killed by signal {} ({})", finished.signal,
                      ::strsignal(finished.signal));
  } else if (finished.exit_code != 0) {
    how = fmt::format("it ended with code {}", finished.exit_code);
  } else if (finished.output_was_cut) {
    how = fmt::format("it printed more than {}", human_bytes(finished.output.size()));
  } else {
    return {};
  }
  const auto line = last_line(finished.errors);
  return line.empty() ? how : how + ": " + line;
}

std::string compare_numbers(const Printed& printed,
                            const std::map<std::string, Expected>& expected) {
  for (const auto& [name, wanted] : expected) {
    const auto found = printed.numbers.find(name);
    if (found == printed.numbers.end()) {
      return fmt::format("it printed no number `{}`", name);
    }
    if (!(std::fabs(found->second - wanted.value) <= wanted.tolerance)) { // also for NaN
      const std::string range =
          wanted.tolerance > 0 ? fmt::format(" (within {})", wanted.tolerance) : "";
      return fmt::format("`{}` is {}, expected {}{}", name, found->second, wanted.value, range);
    }
  }
  return {};
}

std::string compare_libraries(const Printed& printed, const Program& program,
                              const std::vector<BundleFile>& libraries) {
  for (const auto& path : printed.loaded) {
    const auto same = std::find_if(libraries.begin(), libraries.end(), [&](const auto& library) {
      return stem(library.path.text()) == stem(path);
    });
    if (same == libraries.end()) {
      continue; // the driver's own
    }
    const auto digest = sha256_of_file(path);
    if (!digest || *digest != same->sha256) {
      return fmt::format("it loaded {}, which is not the toolkit's {}", shortened(path),
                         same->path.name());
    }
  }
  for (const auto& name : program.libraries) {
    const bool on_demand =
        name.find("builtins") != std::string::npos; // NVRTC closes it after a compilation
    const bool loaded = std::any_of(printed.loaded.begin(), printed.loaded.end(),
                                    [&](const auto& path) { return stem(path) == stem(name); });
    if (!on_demand && !loaded) {
      return fmt::format("it did not load {}", name);
    }
  }
  return {};
}

Outcome judge(const Finished& finished, const Printed& printed, const Program& program,
              const std::vector<BundleFile>& libraries, std::chrono::seconds time_limit) {
  if (!finished.timed_out && finished.signal == 0 && finished.exit_code == k_exit_skip &&
      !printed.skip.empty()) {
    return {State::not_applicable, printed.skip};
  }
  std::string reason = failure_of(finished, time_limit);
  if (reason.empty() && !printed.mistake.empty()) {
    reason = fmt::format("it printed a line that cannot be read: `{}`", printed.mistake);
  }
  if (reason.empty()) {
    reason = compare_numbers(printed, program.numbers);
  }
  if (reason.empty()) {
    reason = compare_libraries(printed, program, libraries);
  }
  return {reason.empty() ? State::passed : State::failed, reason};
}

} // namespace cukit::validate

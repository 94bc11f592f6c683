// What the log of a failed build names: a manifest that describes the same wish.
#include "base/strings.hpp"
#include "draft/draft.hpp"
#include "draft/scan.hpp"
#include "model/shell_command.hpp"

#include <algorithm>
#include <set>

namespace cukit::draft {

namespace {

bool is_target_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z');
}

/// 120a of `compute_120a` and of `sm_120a`: two or three digits and a letter, and nothing behind.
std::set<std::string> targets_in(std::string_view log) {
  std::set<std::string> result;
  each_after(log, "_", [&](std::string_view before, std::string_view behind) {
    const auto target = run_of(behind, is_target_character);
    const auto digits = run_of(target, is_digit).size();
    const auto letter = target.substr(digits);
    const bool is_whole = letter.empty() || letter == "a" || letter == "f";
    if ((before.ends_with("sm") || before.ends_with("compute")) && digits >= 2 && digits <= 3 &&
        is_whole) {
      result.emplace(target);
    }
    return false;
  });
  return result;
}

/// Targets that the recipes know, with their letters: sm_120a of `compute_120a`.
std::set<std::string> gpus_in(std::string_view log, const knowledge::Knowledge& knowledge) {
  std::set<std::string> result;
  for (const auto& target : targets_in(log)) {
    if (const auto gpu = knowledge::find_gpu(knowledge, "sm_" + target)) {
      result.insert(gpu->sm());
    }
  }
  return result;
}

/// What a log calls a consumer: its own name and those of the distributions that bring it, which
/// its modules have with underscores. Torch is in every log; its extension builder is not.
std::vector<std::string> names_of(const knowledge::Consumer& consumer) {
  if (consumer.discovery.present == std::vector<std::string>{"torch"}) {
    return {"cpp_extension"};
  }
  std::vector<std::string> names;
  for (auto name : consumer.discovery.present) {
    names.push_back(name);
    std::replace(name.begin(), name.end(), '-', '_');
    names.push_back(std::move(name));
  }
  if (!names.empty()) {
    names.push_back(consumer.name);
  }
  return names;
}

std::set<std::string> consumers_in(const std::string& lowered,
                                   const std::vector<knowledge::Consumer>& known) {
  std::set<std::string> result;
  for (const auto& consumer : known) {
    const auto names = names_of(consumer);
    const bool is_named = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return lowered.find(name) != std::string::npos;
    });
    if (is_named) {
      result.insert(consumer.name);
    }
  }
  return result;
}

/// The tag of torch 2.11.0+cu130, where the recipes know it; the first by its text.
std::string torch_tag(std::string_view log, const std::vector<knowledge::PyTorch>& known) {
  std::set<std::string> tags;
  each_after(log, "+cu", [&](std::string_view before, std::string_view behind) {
    const auto digits = run_of(behind, is_digit);
    if (!before.empty() && is_digit(before.back()) && digits.size() == 3) {
      tags.insert(fmt::format("cu{}", digits));
    }
    return false;
  });
  const auto found = std::find_if(tags.begin(), tags.end(), [&](const std::string& tag) {
    return std::any_of(known.begin(), known.end(),
                       [&](const auto& torch) { return torch.tag == tag; });
  });
  return found == tags.end() ? std::string() : *found;
}

/// 12.8.93 of `release 12.8, V12.8.93`.
std::set<std::string> compilers_in(std::string_view log) {
  constexpr std::string_view between = ", V";
  std::set<std::string> result;
  each_after(log, "release ", [&](std::string_view, std::string_view behind) {
    const auto minor = dotted_numbers(behind, 2, 2);
    const auto rest = behind.substr(minor.size());
    const auto version =
        rest.starts_with(between) ? dotted_numbers(rest.substr(between.size()), 3, 3) : "";
    if (!minor.empty() && !version.empty()) {
      result.emplace(version);
    }
    return false;
  });
  return result;
}

} // namespace

Result<void> add_log(Draft& draft, std::string_view log, const std::string& file,
                     const knowledge::Knowledge& knowledge) {
  const auto gpus = gpus_in(log, knowledge);
  CUKIT_TRY_ASSIGN(const auto* torches, knowledge.pytorch());
  const auto tag = torch_tag(log, *torches);
  CUKIT_TRY_ASSIGN(const auto* known, knowledge.consumers());
  const auto consumers = consumers_in(lower(log), *known);
  const auto compilers = compilers_in(log);
  if (gpus.empty() && tag.empty() && compilers.empty()) {
    return tl::unexpected<Error>(
        Error{.code = ErrorCode::usage,
              .message = "the log names no GPU target, no torch and no nvcc",
              .where = file,
              .hint = fmt::format("take the log of the build that failed, with the command lines "
                                  "of nvcc in it; `{}` says more",
                                  ShellCommand({"cukit", "doctor", "--log", file}).text())});
  }
  if (!gpus.empty()) {
    draft.add({.key = "gpus",
               .value = list_text({gpus.begin(), gpus.end()}),
               .comment = "targets that the log names; keep those you have"});
  }
  if (!tag.empty()) {
    draft.add({.key = "pytorch", .value = tag, .comment = "the torch that the log names"});
  }
  for (const auto& compiler : compilers) {
    draft.remarks.push_back(fmt::format("nvcc {} took part in the build that failed", compiler));
  }
  if (!consumers.empty()) {
    draft.add({.key = "consumers",
               .value = list_text({consumers.begin(), consumers.end()}),
               .comment = "what the log names"});
  }
  return {};
}

} // namespace cukit::draft

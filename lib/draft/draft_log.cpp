// What the log of a failed build names: a manifest that describes the same wish.
#include "base/strings.hpp"
#include "draft/draft.hpp"
#include "model/shell_command.hpp"

#include <algorithm>
#include <regex>
#include <set>

namespace cukit::draft {

namespace {

/// The first group of every match.
std::set<std::string> all_matches(const std::string& text, const char* pattern) {
  const std::regex expression(pattern, std::regex::ECMAScript | std::regex::optimize);
  std::set<std::string> result;
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) {
    result.insert((*it)[1].str());
  }
  return result;
}

/// Targets that the recipes know, with their letters: sm_120a of `compute_120a`.
std::set<std::string> gpus_in(const std::string& log, const knowledge::Knowledge& knowledge) {
  std::set<std::string> result;
  for (const auto& number : all_matches(log, R"((?:sm|compute)_([0-9]{2,3}[af]?)(?![0-9a-z]))")) {
    if (const auto gpu = knowledge::find_gpu(knowledge, "sm_" + number)) {
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

/// The tag of torch 2.11.0+cu130, where the recipes know it.
std::string torch_tag(const std::string& log, const std::vector<knowledge::PyTorch>& known) {
  for (const auto& tag : all_matches(log, R"([0-9]\+(cu[0-9]{3})(?![0-9]))")) {
    const bool is_known = std::any_of(known.begin(), known.end(),
                                      [&](const auto& torch) { return torch.tag == tag; });
    if (is_known) {
      return tag;
    }
  }
  return {};
}

} // namespace

Result<void> add_log(Draft& draft, std::string_view log, const std::string& file,
                     const knowledge::Knowledge& knowledge) {
  const std::string text(log);
  const auto gpus = gpus_in(text, knowledge);
  CUKIT_TRY_ASSIGN(const auto* torches, knowledge.pytorch());
  const auto tag = torch_tag(text, *torches);
  CUKIT_TRY_ASSIGN(const auto* known, knowledge.consumers());
  const auto consumers = consumers_in(lower(text), *known);
  const auto compilers = all_matches(text, R"(release [0-9]+\.[0-9]+, V([0-9]+\.[0-9]+\.[0-9]+))");
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

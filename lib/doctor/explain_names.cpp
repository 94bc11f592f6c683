// Names that a source, a link or a command line uses and that a release of CUDA does not have:
// looked up in the table of names, and held against what this build really reads.
#include "base/strings.hpp"
#include "doctor/explain.hpp"
#include "survey/root_view.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

using buildlog::Failure;
using knowledge::NameKind;
using knowledge::NameSpan;

/// Which release of a part the build reads.
struct InUse {
  std::optional<Version> cuda = {}; ///< nothing: it cannot be told
  std::string what = {};            ///< CCCL 3.3.2
  std::string where = {};           ///< a path, or log:LINE
};

/// The release of CUDA that ships a CCCL of this version, or the one before it.
std::optional<Version> release_of_cccl(const Context& context, const std::string& cccl) {
  const auto version = Version::parse(cccl);
  std::optional<Version> result;
  for (const auto& release : context.releases) {
    if (version && release.cccl.major() > 1 && release.cccl <= *version) {
      result = release.minor;
    }
  }
  return result;
}

/// The toolkits whose headers the failing command reads, in its order: those of -I and -isystem,
/// then nvcc's own.
std::vector<const survey::Toolkit*> read_toolkits(const Context& context, const Failure& failure) {
  std::vector<const survey::Toolkit*> result;
  const auto add = [&](const std::string& path) {
    if (const auto* kit = survey::toolkit_of(context.snapshot, path)) {
      result.push_back(kit);
    }
  };
  if (const auto* command = command_of(context, failure)) {
    for (const auto* folders : {&command->includes, &command->system_includes}) {
      std::for_each(folders->begin(), folders->end(), add);
    }
  }
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    for (const auto folder : split(variable(context.snapshot, name), ':')) {
      add(std::string(folder));
    }
  }
  add(nvcc_in_use(context).path);
  for (const auto& found : context.found) {
    if (!found.headers.empty()) {
      add(found.headers);
    }
  }
  if (context.snapshot.toolkits.size() == 1) {
    result.push_back(&context.snapshot.toolkits.front());
  }
  return result;
}

InUse cccl_in_use(const Context& context, const Failure& failure) {
  const auto& facts = context.log.facts;
  if (!facts.cccl_namespace.empty()) {
    return {.cuda = release_of_cccl(context, facts.cccl_namespace),
            .what = "CCCL " + facts.cccl_namespace,
            .where = "the namespace in the log"};
  }
  for (const auto* kit : read_toolkits(context, failure)) {
    if (!kit->cccl.empty()) {
      return {.cuda = release_of_cccl(context, kit->cccl),
              .what = "CCCL " + kit->cccl,
              .where = kit->cccl_include};
    }
  }
  return {};
}

InUse headers_in_use(const Context& context, const Failure& failure) {
  for (const auto* kit : read_toolkits(context, failure)) {
    if (!kit->cudart.empty()) {
      return {.cuda = known_version(kit->cudart),
              .what = "the headers of CUDA " + minor_of(kit->cudart),
              .where = kit->include};
    }
  }
  for (const auto& line : context.log.facts.versions) {
    if (line.what == "CUDA toolkit" || line.what == "CUDA compiler" || line.what == "nvcc") {
      return {.cuda = known_version(line.version),
              .what = "CUDA " + minor_of(line.version),
              .where = fmt::format("log:{}", line.line)};
    }
  }
  return {};
}

InUse tool_in_use(const Context& context, NameKind kind) {
  const auto nvcc = nvcc_in_use(context);
  if (kind == NameKind::ptxas) {
    const auto* kit = survey::toolkit_of(context.snapshot, nvcc.path);
    if (kit != nullptr && kit->tools.contains("ptxas")) {
      const auto& tool = kit->tools.at("ptxas");
      return {
          .cuda = known_version(tool.version), .what = "ptxas " + tool.version, .where = tool.path};
    }
  }
  return {.cuda = known_version(nvcc.version),
          .what = fmt::format("{} {}", text_of(kind), nvcc.version),
          .where = nvcc.path};
}

InUse in_use(const Context& context, NameKind kind, const Failure& failure) {
  switch (kind) {
  case NameKind::cccl:
    return cccl_in_use(context, failure);
  case NameKind::nvcc:
  case NameKind::ptxas:
    return tool_in_use(context, kind);
  case NameKind::header:
    return component_of(failure.name) == "cccl" ? cccl_in_use(context, failure)
                                                : headers_in_use(context, failure);
  default:
    return headers_in_use(context, failure);
  }
}

/// CUB_300001_SM_890, _V_300302_SM_890, __4: inline namespaces that carry a version, and std's own.
bool is_version_namespace(std::string_view part) {
  return part.starts_with('_') ||
         (part.find_first_of("0123456789") != std::string_view::npos &&
          part.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
              std::string_view::npos);
}

std::string without_template_arguments(std::string_view name) {
  std::string result;
  int depth = 0;
  for (const char c : name) {
    depth += c == '<' ? 1 : 0;
    if (depth == 0) {
      result.push_back(c);
    }
    depth -= c == '>' && depth > 0 ? 1 : 0;
  }
  return result;
}

/// cub::Max of Max in cub::CUB_300001_SM_890.
std::string qualified(const Failure& failure) {
  const auto full = failure.name.find("::") != std::string::npos || failure.demand.empty()
                        ? failure.name
                        : failure.demand + "::" + failure.name;
  auto text = without_template_arguments(full);
  if (const auto bracket = text.find('('); bracket != std::string::npos) {
    text.resize(bracket);
  }
  for (const std::string_view word : {"struct ", "class ", "const ", "typename "}) {
    text = text.starts_with(word) ? text.substr(word.size()) : text;
  }
  std::vector<std::string> parts;
  std::size_t from = 0;
  while (from <= text.size()) {
    const auto end = std::min(text.find("::", from), text.size());
    const auto part = text.substr(from, end - from);
    const bool is_last = end == text.size();
    if (!part.empty() && (is_last || !is_version_namespace(part))) {
      parts.push_back(part);
    }
    from = end + 2;
  }
  return join(parts, "::");
}

std::string releases_of(const NameSpan& span) {
  if (span.since && span.last && *span.since == *span.last) {
    return fmt::format("it is in CUDA {} alone", span.since->text());
  }
  if (span.since && span.last) {
    return fmt::format("it is in CUDA {} to {}", span.since->text(), span.last->text());
  }
  return span.since ? fmt::format("it is in CUDA {} and later", span.since->text())
                    : fmt::format("it is in CUDA {} and older", span.last->text());
}

/// `thrust::identity went with CUDA 13.0; this build reads CCCL 3.0.1`
std::string told(const std::string& name, const NameSpan& span, const InUse& used, bool is_gone) {
  const auto when = is_gone ? fmt::format("{} went with CUDA {}", name, span.gone_in->text())
                            : fmt::format("{} came with CUDA {}", name, span.since->text());
  return used.what.empty() || !used.cuda
             ? when
             : fmt::format("{}; this build reads {}{}", when, used.what,
                           used.what.starts_with("CCCL")
                               ? fmt::format(" (CUDA {})", used.cuda->major_minor())
                               : "");
}

/// A toolkit that is here and has the name.
std::optional<Fix> other_toolkit(const Context& context, NameKind kind, const NameSpan& span) {
  for (const auto& kit : context.snapshot.toolkits) {
    const auto tool = kit.tools.find("nvcc");
    if (tool == kit.tools.end()) {
      continue;
    }
    const bool is_tool = kind == NameKind::nvcc || kind == NameKind::ptxas;
    const auto release = kind == NameKind::cccl
                             ? release_of_cccl(context, kit.cccl)
                             : known_version(is_tool ? tool->second.version : kit.cudart);
    if (release && span.has(*release)) {
      return by_command(use_tree(kit.root),
                        fmt::format("CUDA {} is here, too, and has it", release->major_minor()));
    }
  }
  return std::nullopt;
}

std::vector<Fix> fixes(const Context& context, NameKind kind, const std::string& name,
                       const NameSpan& span, bool is_gone) {
  std::vector<Fix> result;
  if (auto fix = other_toolkit(context, kind, span)) {
    result.push_back(*std::move(fix));
  }
  const auto& packages = context.log.facts.packages;
  const auto project = packages.empty() ? std::string("the project") : packages.front();
  if (!is_gone) {
    result.push_back(
        by_hand(fmt::format("build with CUDA {} or newer (cukit's manifest: "
                            "toolkit: {{nvcc: \"{}\"}}), or take an older release of {}",
                            span.since->text(), span.since->text(), project),
                "the first release that has it"));
    return result;
  }
  if (!span.instead.empty()) {
    result.push_back(by_hand(fmt::format("write {} instead of {}", span.instead, name),
                             "what NVIDIA's last headers with the old name say"));
  }
  result.push_back(by_hand(fmt::format("take a release of {} that was written for CUDA {}", project,
                                       span.gone_in->text()),
                           "it does without the old name"));
  result.push_back(
      by_hand(fmt::format("build with CUDA {} (cukit's manifest: toolkit: {{nvcc: \"{}\"}})",
                          span.last->text(), span.last->text()),
              "the last release that has it"));
  return result;
}

const NameSpan* missing_here(const Context& context, NameKind kind, const std::string& name,
                             const Failure& failure) {
  const auto* span = context.names == nullptr ? nullptr : context.names->find(kind, name);
  if (span == nullptr) {
    return nullptr;
  }
  const auto used = in_use(context, kind, failure);
  if (!used.cuda) {
    // a compiler that misses a member has read the header, a tool that refuses an option has none;
    // a file can be missing for other reasons
    const bool is_said_by_it = kind != NameKind::header && kind != NameKind::library;
    return is_said_by_it ? span : nullptr;
  }
  return span->has(*used.cuda) ? nullptr : span; // where it is there, something else is wrong
}

} // namespace

Finding* explain_name(const Context& context, NameKind kind, const std::string& name,
                      const Failure& failure, Findings& findings) {
  const auto* span = missing_here(context, kind, name, failure);
  if (span == nullptr) {
    return nullptr;
  }
  const auto used = in_use(context, kind, failure);
  const bool is_gone = used.cuda ? span->is_behind(*used.cuda) : span->last.has_value();
  auto& finding = findings.add(is_gone ? RuleId::name_gone : RuleId::name_not_yet);
  constexpr std::size_t k_most = 20; // names of one log
  if (finding.cause.empty()) {
    finding.cause = told(name, *span, used, is_gone);
    if (!used.where.empty()) {
      finding.evidence.push_back({used.where, used.what});
    }
    finding.fix = fixes(context, kind, name, *span, is_gone);
  }
  const auto is_this = [&](const auto& item) { return item.path == name; };
  if (finding.evidence.size() < k_most &&
      std::none_of(finding.evidence.begin(), finding.evidence.end(), is_this)) {
    finding.evidence.push_back(
        {name, fmt::format("{}{} ({})", releases_of(*span),
                           span->instead.empty() ? "" : "; now " + span->instead,
                           span->evidence == "tested" ? "read off NVIDIA's own packages"
                                                      : span->evidence)});
  }
  return &finding;
}

Finding* missing_name(const Context& context, const Failure& failure, Findings& findings) {
  const auto name = qualified(failure);
  const bool is_qualified = name.find("::") != std::string::npos;
  return explain_name(context, is_qualified ? NameKind::cccl : NameKind::symbol, name, failure,
                      findings);
}

Finding* option_of_other_release(const Context& context, const Failure& failure,
                                 Findings& findings) {
  if (failure.tool != "nvcc" && failure.tool != "ptxas") {
    return nullptr;
  }
  const auto kind = failure.tool == "ptxas" ? NameKind::ptxas : NameKind::nvcc;
  std::vector<std::string> spellings; // as it may stand in the table: -x, --x, --x=value
  if (failure.demand.empty()) {
    const auto plain = failure.name.substr(0, failure.name.find('='));
    const auto bare = plain.substr(std::min(plain.find_first_not_of('-'), plain.size()));
    spellings = {failure.name, plain, "--" + bare, "-" + bare};
  } else {
    const auto bare = failure.demand.substr(
        std::min(failure.demand.find_first_not_of('-'), failure.demand.size()));
    spellings = {"--" + bare + "=" + failure.name};
  }
  for (const auto& spelling : spellings) {
    if (auto* finding = explain_name(context, kind, spelling, failure, findings)) {
      return finding;
    }
  }
  return nullptr;
}

Finding* library_of_other_release(const Context& context, const std::string& stem,
                                  const Failure& failure, Findings& findings) {
  for (const auto* ending : {".so", ".a"}) {
    if (auto* finding =
            explain_name(context, NameKind::library, stem + ending, failure, findings)) {
      return finding;
    }
  }
  return nullptr;
}

} // namespace cukit::doctor

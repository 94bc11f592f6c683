#include "base/strings.hpp"
#include "doctor/context.hpp"
#include "doctor/rehearse.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

/// The snapshot's GPUs, the ones asked for; names of products become targets.
std::vector<GpuTarget> all_gpus(const survey::Snapshot& snapshot, const Question& question,
                                const knowledge::Knowledge& knowledge) {
  auto result = question.gpus;
  for (const auto& gpu : snapshot.gpus) {
    auto target = GpuTarget::parse(gpu.target);
    if (!target) {
      target = knowledge::find_gpu(knowledge, gpu.name);
    }
    if (target && std::find(result.begin(), result.end(), *target) == result.end()) {
      result.push_back(*target);
    }
  }
  return result;
}

bool shares_consumer(const Finding& a, const Finding& b) {
  return std::any_of(a.consumers.begin(), a.consumers.end(), [&](const auto& name) {
    return std::find(b.consumers.begin(), b.consumers.end(), name) != b.consumers.end();
  });
}

bool explains(const Finding& cause, const Finding& effect, const RuleText& rule) {
  const auto& by = rule.explained_by;
  if (std::find(by.begin(), by.end(), cause.id) == by.end()) {
    return false;
  }
  return cause.subject.empty() || effect.subject.empty() || cause.subject == effect.subject ||
         shares_consumer(cause, effect) || cause.consumers.empty() || effect.consumers.empty();
}

/// What explains an error is no less than one, and stands where the log shows what it explains.
void raise_causes(std::vector<Finding>& list, const std::vector<RuleText>& catalogue) {
  for (const auto& rule : catalogue) {
    for (auto& effect : list) {
      for (auto& cause : list) {
        if (effect.id != rule.id || !explains(cause, effect, rule)) {
          continue;
        }
        cause.severity = std::min(cause.severity, effect.severity);
        cause.is_latent = cause.is_latent && effect.is_latent;
        if (effect.log_line != 0 && (cause.log_line == 0 || effect.log_line < cause.log_line)) {
          cause.log_line = effect.log_line;
        }
      }
    }
  }
}

/// Severity first, then the catalogue's causal order; what another finding explains moves under it.
std::vector<Finding> in_order(std::vector<Finding> list, const std::vector<RuleText>& catalogue) {
  const auto rank = [&](const Finding& finding) {
    return std::find_if(catalogue.begin(), catalogue.end(),
                        [&](const auto& rule) { return rule.id == finding.id; }) -
           catalogue.begin();
  };
  raise_causes(list, catalogue);
  std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
    if (a.severity != b.severity) {
      return a.severity < b.severity;
    }
    // what a log shows is what broke; its first message is nearest to the cause
    const auto line = [](const Finding& finding) {
      return finding.log_line == 0 ? SIZE_MAX : finding.log_line;
    };
    return line(a) != line(b) ? line(a) < line(b) : rank(a) < rank(b);
  });
  std::vector<Finding> result;
  for (auto& finding : list) {
    const auto& rule = catalogue[static_cast<std::size_t>(rank(finding))];
    const auto cause = std::find_if(result.begin(), result.end(), [&](const auto& earlier) {
      return explains(earlier, finding, rule);
    });
    if (cause == result.end()) {
      result.push_back(std::move(finding));
      continue;
    }
    cause->consequences.push_back(finding.title + ": " + finding.cause);
    for (const auto& name : finding.consumers) {
      if (std::find(cause->consumers.begin(), cause->consumers.end(), name) ==
          cause->consumers.end()) {
        cause->consumers.push_back(name);
      }
    }
  }
  for (auto& finding : result) {
    std::sort(finding.consumers.begin(), finding.consumers.end());
    finding.consumers.erase(std::unique(finding.consumers.begin(), finding.consumers.end()),
                            finding.consumers.end());
  }
  return result;
}

void judge(const std::vector<Finding>& findings, std::vector<Found>& consumers) {
  for (auto& consumer : consumers) {
    const auto failing = std::find_if(findings.begin(), findings.end(), [&](const auto& finding) {
      return (finding.severity == Severity::error || finding.is_latent) &&
             // what a log alone shows of nobody in particular says nothing about the others
             ((finding.consumers.empty() && finding.log_line == 0 &&
               (!finding.is_latent || consumer.compiles == "nvcc")) ||
              std::find(finding.consumers.begin(), finding.consumers.end(), consumer.consumer) !=
                  finding.consumers.end());
    });
    if (failing != findings.end() && failing->is_latent) {
      consumer.verdict = Verdict::unknown;
      consumer.why = "what is installed works; a build would fail: " + failing->title;
      continue;
    }
    if (failing != findings.end()) {
      consumer.verdict = Verdict::fails;
      consumer.why = failing->title;
    } else if (consumer.compiles == "nvcc" && consumer.nvcc.empty()) {
      consumer.verdict = Verdict::unknown;
      consumer.why = consumer.is_runtime ? "no nvcc, and none is needed with what is installed"
                                         : "no nvcc; it needs one only to build";
    } else if (consumer.compiles == "nvcc" && consumer.nvcc_version.empty()) {
      consumer.verdict = Verdict::unknown;
      consumer.why = "the version of its nvcc could not be read";
    } else if (consumer.compiles == "ptxas" && consumer.ptxas.empty()) {
      consumer.verdict = Verdict::unknown;
      consumer.why = "no ptxas in the places that it looks at";
    } else {
      consumer.verdict = Verdict::works;
    }
  }
}

Result<void> check_consumers(const Question& question,
                             const std::vector<knowledge::Consumer>& recipes) {
  std::vector<std::string> names;
  for (const auto& recipe : recipes) {
    names.push_back(recipe.name);
  }
  for (const auto& name : question.consumers) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      Error error{.code = ErrorCode::usage,
                  .message = fmt::format("there is no consumer `{}`", printable(name))};
      const auto near = did_you_mean(name, names);
      error.hint =
          near.empty() ? "known are " + join(names, ", ") : fmt::format("did you mean `{}`?", near);
      return tl::unexpected<Error>(std::move(error));
    }
  }
  return {};
}

text::Json consumers_json(const std::vector<Found>& all) {
  auto consumers = text::Json::list();
  const auto place = [](const std::string& path, const std::string& version) {
    return text::Json::object().set("path", path).set("version", version);
  };
  for (const auto& found : all) {
    auto looked = text::Json::list();
    for (const auto& look : found.looked) {
      looked.add(text::Json::object()
                     .set("where", look.where)
                     .set("value", look.value)
                     .set("outcome", look.outcome));
    }
    auto archs = text::Json::object();
    for (const auto& [name, value] : found.arch_lists) {
      archs.set(name, value);
    }
    consumers.add(text::Json::object()
                      .set("name", found.consumer)
                      .set("version", found.version)
                      .set("nvcc", place(found.nvcc, found.nvcc_version))
                      .set("headers", place(found.headers, found.headers_version))
                      .set("ptxas", place(found.ptxas, found.ptxas_version))
                      .set("libraries", found.libraries)
                      .set("targets", archs)
                      .set("looked", looked)
                      .set("verdict", text_of(found.verdict))
                      .set("why", found.why));
  }
  return consumers;
}

/// What is read once, however often a snapshot is looked at.
struct Book {
  std::vector<RuleText> catalogue;
  std::vector<Message> messages;
  const std::vector<knowledge::Release>& releases;
  const std::vector<knowledge::Architecture>& architectures;
  const knowledge::Limits& limits;
  const std::vector<knowledge::Consumer>& recipes;
  const std::vector<knowledge::Component>& components;
  const std::vector<knowledge::TorchRelease>& torches;
  std::optional<knowledge::Names> names;
};

Result<Book> open_book(const survey::Snapshot& snapshot, const Question& question,
                       const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(auto catalogue, rules(knowledge));
  CUKIT_TRY_ASSIGN(const auto* releases, knowledge.releases());
  CUKIT_TRY_ASSIGN(const auto* architectures, knowledge.architectures());
  CUKIT_TRY_ASSIGN(const auto* limits, knowledge.limits());
  CUKIT_TRY_ASSIGN(const auto* recipes, knowledge.consumers());
  static const std::vector<knowledge::Component> k_no_components;
  const auto components = knowledge.components(); // for rehearsing alone
  // read without a log too: a slip in a recipe is to be seen by whoever made it
  CUKIT_TRY_ASSIGN(auto messages, read_messages(knowledge));
  static const std::vector<knowledge::TorchRelease> k_none;
  const auto* torches = &k_none;
  if (std::any_of(snapshot.pythons.begin(), snapshot.pythons.end(),
                  [](const auto& python) { return !python.torch.empty(); })) {
    CUKIT_TRY_ASSIGN(torches, knowledge.torch_releases());
  }
  std::optional<knowledge::Names> names;
  if (question.log && !question.log->failures.empty()) {
    CUKIT_TRY_ASSIGN(names, read_names(knowledge));
  }
  return Book{std::move(catalogue),
              std::move(messages),
              *releases,
              *architectures,
              *limits,
              *recipes,
              components ? **components : k_no_components,
              *torches,
              std::move(names)};
}

Diagnosis examine(const Book& book, const survey::Snapshot& snapshot, const Question& question,
                  const std::vector<GpuTarget>& gpus, const LogFacts& log) {
  Diagnosis diagnosis;
  auto asked = question;
  // what a log asks for is a wish; where GPUs are known, they count
  asked.gpus = gpus.empty() ? targets_in(log) : gpus;
  diagnosis.consumers = discover(snapshot, asked, book.recipes);
  Context context{.snapshot = snapshot,
                  .question = question,
                  .releases = book.releases,
                  .architectures = book.architectures,
                  .limits = book.limits,
                  .recipes = book.recipes,
                  .found = diagnosis.consumers,
                  .gpus = asked.gpus,
                  .driver = question.driver,
                  .log = log,
                  .torches = book.torches,
                  .names = book.names ? &*book.names : nullptr};
  if (const auto driver = Version::parse(snapshot.driver); !context.driver && driver) {
    context.driver = *driver;
  }
  Findings findings(book.catalogue);
  for (const auto* group : {&environment_rules(), &choice_rules(), &tree_rules(), &layout_rules(),
                            &nvrtc_rules(), &system_rules(), &loader_rules(), &python_rules(),
                            &torch_rules(), &ptxas_rules(), &cache_rules()}) {
    for (const auto& rule : *group) {
      rule(context, findings);
    }
  }
  if (question.log) {
    explain_log(context, findings);
    diagnosis.log = {.is_read = true,
                     .is_failed = log.facts.is_failed,
                     .is_explained =
                         log.facts.is_failed && !findings.has(RuleId::log_not_explained)};
  }
  auto list = findings.take();
  weigh_for_builders(context, list);
  diagnosis.findings = in_order(std::move(list), book.catalogue);
  judge(diagnosis.findings, diagnosis.consumers);
  if (diagnosis.log.is_failed) {
    doubt_involved(context, diagnosis.consumers);
  }
  for (auto& found : diagnosis.consumers) {
    found.recipe = nullptr;
  }
  return diagnosis;
}

} // namespace

bool Diagnosis::has_error() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const auto& finding) { return finding.severity == Severity::error; });
}

Result<Diagnosis> diagnose(const survey::Snapshot& snapshot, const Question& question,
                           const knowledge::Knowledge& knowledge) {
  CUKIT_TRY_ASSIGN(const auto book, open_book(snapshot, question, knowledge));
  CUKIT_TRY(check_consumers(question, book.recipes));
  const buildlog::Facts nothing;
  const auto log = log_facts(question.log ? *question.log : nothing, book.messages);
  const auto gpus = all_gpus(snapshot, question, knowledge);
  auto diagnosis = examine(book, snapshot, question, gpus, log);
  auto without_log = question;
  without_log.log.reset();
  const auto no_log = log_facts(nothing, book.messages);
  rehearse(diagnosis.findings, snapshot, {book.components, book.releases},
           [&](const survey::Snapshot& other) {
             return examine(book, other, without_log, gpus, no_log).findings;
           });
  return diagnosis;
}

text::Json to_json(const Diagnosis& diagnosis) {
  auto findings = text::Json::list();
  for (const auto& finding : diagnosis.findings) {
    auto evidence = text::Json::list();
    for (const auto& item : finding.evidence) {
      evidence.add(text::Json::object().set("path", item.path).set("fact", item.fact));
    }
    auto fix = text::Json::list();
    for (const auto& item : finding.fix) {
      fix.add(text::Json::object()
                  .set("command", item.command.text())
                  .set("advice", item.advice)
                  .set("effect", item.effect));
    }
    findings.add(text::Json::object()
                     .set("id", finding.id)
                     .set("severity", text_of(finding.severity))
                     .set("title", finding.title)
                     .set("cause", finding.cause)
                     .set("evidence", evidence)
                     .set("fix", fix)
                     .set("consumers", text::Json::list(finding.consumers))
                     .set("consequences", text::Json::list(finding.consequences))
                     .set("source", finding.source));
  }
  return text::Json::object()
      .set("schema", "cukit.doctor/1")
      .set("findings", findings)
      .set("log", text::Json::object()
                      .set("read", diagnosis.log.is_read)
                      .set("failed", diagnosis.log.is_failed)
                      .set("explained", diagnosis.log.is_explained))
      .set("consumers", consumers_json(diagnosis.consumers));
}

} // namespace cukit::doctor

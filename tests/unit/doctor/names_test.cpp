// Names that came and went, each in the words of every compiler, against releases that have them
// and releases that do not.
#include "cases.hpp"
#include "knowledge/names.hpp"

namespace cukit::doctor {
namespace {

using knowledge::NameKind;
using knowledge::Names;
using knowledge::NameSpan;

const Names& names() {
  static const auto all = knowledge::read_names(knowledge::Knowledge::embedded()).value();
  return all;
}

/// A machine with one toolkit in PATH, looked at once.
const survey::Snapshot& machine(const std::string& nvcc) {
  static std::map<std::string, survey::Snapshot> known;
  if (const auto found = known.find(nvcc); found != known.end()) {
    return found->second;
  }
  test::FakeRoot root;
  root.toolkit(k_local, nvcc);
  root.prepend_path(k_local + "/bin");
  root.environment.set("CUDA_HOME", k_local);
  return known
      .emplace(nvcc,
               survey::take_snapshot({.root = root.path(),
                                      .environment = root.environment,
                                      .venvs = {},
                                      .toolkits = {},
                                      .headers = {},
                                      .clues = clues(knowledge::Knowledge::embedded()).value(),
                                      .ask_devices = false}))
      .first->second;
}

Diagnosis told_of(const std::string& nvcc, const std::string& log) {
  static const auto knowledge = knowledge::Knowledge::embedded();
  Question question;
  question.log = read_log(log, knowledge).value();
  auto diagnosis = diagnose(machine(nvcc), question, knowledge);
  EXPECT_TRUE(diagnosis.has_value());
  return diagnosis ? *std::move(diagnosis) : Diagnosis{};
}

const std::vector<std::string> k_toolkits = {"12.4.131", "12.6.85", "12.8.93", "12.9.86",
                                             "13.0.88",  "13.2.78", "13.5.37"};

const std::string* toolkit_without(const NameSpan& span) {
  for (const auto& nvcc : k_toolkits) {
    if (!span.has(Version::parse(nvcc).value())) {
      return &nvcc;
    }
  }
  return nullptr;
}

const std::string* toolkit_with(const NameSpan& span) {
  for (const auto& nvcc : k_toolkits) {
    if (span.has(Version::parse(nvcc).value())) {
      return &nvcc;
    }
  }
  return nullptr;
}

/// Unknown option '--zorp', or Value 'x' is not defined for option 'zorp' of --zorp=x
std::string option_said(const std::string& option) {
  const auto equals = option.find('=');
  return equals == std::string::npos
             ? "Unknown option '" + option + "'"
             : "Value '" + option.substr(equals + 1) + "' is not defined for option '" +
                   option.substr(2, equals - 2) + "'";
}

/// {n} is the name, {d} its namespace, {q} both, {o} what is said of an option.
std::string filled(std::string text, const std::string& qualified) {
  const auto colon = qualified.rfind("::");
  const auto space = colon == std::string::npos ? std::string() : qualified.substr(0, colon);
  const auto name = colon == std::string::npos ? qualified : qualified.substr(colon + 2);
  for (const auto& [slot, value] : {std::pair(std::string("{n}"), name),
                                    {"{d}", space},
                                    {"{q}", qualified},
                                    {"{o}", option_said(qualified)}}) {
    for (auto at = text.find(slot); at != std::string::npos; at = text.find(slot)) {
      text.replace(at, slot.size(), value);
    }
  }
  return text;
}

const std::vector<const char*> k_of_namespaces = {
    "z.cu(7): error: namespace \"{d}\" has no member \"{n}\"",
    "z.cu(7): error: namespace \"{d}\" has no member class \"{n}\"",
    "z.cu:7:3: error: no member named '{n}' in namespace '{d}'",
    "z.cu:7:3: error: no template named '{n}' in namespace '{d}'",
    "z.cu:7:3: error: no type named '{n}' in namespace '{d}'",
    "z.cc:7:3: error: '{n}' is not a member of '{d}'",
    "z.cc:7:3: error: \xe2\x80\x98{n}\xe2\x80\x99 in namespace \xe2\x80\x98{d}\xe2\x80\x99 does "
    "not name a template type",
    "z.cc:7:3: error: '{q}' has not been declared",
};
const std::vector<const char*> k_of_globals = {
    "z.cu(7): error: identifier \"{n}\" is undefined",
    "z.cc:7:3: error: '{n}' was not declared in this scope",
    "z.cu:7:3: error: use of undeclared identifier '{n}'",
};

/// Names that one log can hold: what is said of each fits below one finding.
using Bucket = std::map<std::pair<std::string, bool>, std::vector<std::vector<std::string>>>;

void put(Bucket& buckets, const std::string& nvcc, bool is_gone, const std::string& name) {
  constexpr std::size_t k_names_of_a_log = 8;
  auto& logs = buckets[{nvcc, is_gone}];
  if (logs.empty() || logs.back().size() == k_names_of_a_log) {
    logs.emplace_back();
  }
  logs.back().push_back(name);
}

void expect_told(const Diagnosis& diagnosis, NameKind kind, const std::vector<std::string>& all,
                 bool is_gone, const std::string& nvcc) {
  ASSERT_FALSE(diagnosis.findings.empty()) << all.front();
  const auto& first = diagnosis.findings.front();
  ASSERT_EQ(first.id, is_gone ? "name-gone" : "name-not-yet") << nvcc << "\n" << told(diagnosis);
  EXPECT_THAT(first.cause, testing::HasSubstr(all.front()));
  EXPECT_FALSE(first.fix.empty());
  for (const auto& name : all) {
    const auto& span = *names().find(kind, name);
    const auto bound = is_gone ? span.last->text() : span.since->text();
    const bool is_said =
        std::any_of(first.evidence.begin(), first.evidence.end(), [&](const auto& item) {
          return item.path == name && item.fact.find(bound) != std::string::npos;
        });
    EXPECT_TRUE(is_said) << name << " on " << nvcc << "\n" << told(diagnosis);
  }
}

/// Every name, each in another dialect than its neighbour, against a release without it.
void expect_all_told(NameKind kind, const std::vector<const char*>& dialects) {
  Bucket buckets;
  for (const auto& [name, span] : names().all(kind)) {
    if (const auto* without = toolkit_without(span)) {
      put(buckets, *without, span.is_behind(Version::parse(*without).value()), name);
    }
  }
  ASSERT_FALSE(buckets.empty());
  std::size_t number = 0;
  for (const auto& [bucket, logs] : buckets) {
    for (const auto& all : logs) {
      std::string log;
      for (const auto& name : all) {
        log += filled(dialects[number++ % dialects.size()], name) + "\n";
      }
      expect_told(told_of(bucket.first, log + "9 errors generated.\n"), kind, all, bucket.second,
                  bucket.first);
    }
  }
}

TEST(NamesThatCameAndWent, of_cccl_are_told_in_every_dialect) {
  expect_all_told(NameKind::cccl, k_of_namespaces);
}

TEST(NamesThatCameAndWent, of_the_toolkit_are_told_in_every_dialect) {
  expect_all_told(NameKind::symbol, k_of_globals);
}

TEST(NamesThatCameAndWent, headers_are_told) {
  expect_all_told(NameKind::header,
                  {"z.cu:3:10: fatal error: {q}: No such file or directory",
                   "z.cu:3:10: fatal error: '{q}' file not found",
                   "z.cu(3): catastrophic error: cannot open source file \"{q}\""});
}

TEST(NamesThatCameAndWent, options_are_told) {
  expect_all_told(NameKind::nvcc, {"nvcc fatal   : {o}"});
  expect_all_told(NameKind::ptxas, {"ptxas fatal   : {o}"});
}

TEST(NamesThatCameAndWent, are_not_blamed_where_the_release_in_use_has_them) {
  Bucket buckets;
  for (const auto& [name, span] : names().all(NameKind::cccl)) {
    if (const auto* with = toolkit_with(span)) {
      put(buckets, *with, false, name);
    }
  }
  for (const auto& [bucket, logs] : buckets) {
    for (const auto& all : logs) {
      std::string log;
      for (const auto& name : all) {
        log += filled(k_of_namespaces.front(), name) + "\n";
      }
      for (const auto& finding : told_of(bucket.first, log).findings) {
        EXPECT_TRUE(finding.id != "name-gone" && finding.id != "name-not-yet")
            << bucket.first << log << finding.cause;
      }
    }
  }
}

TEST(NamesThatCameAndWent, of_others_stay_as_they_were) {
  for (const auto* line : {
           "z.cu(7): error: namespace \"mine\" has no member \"Max\"",
           "z.cu(7): error: namespace \"mine::cub\" has no member \"Max\"",
           "z.cu(7): error: namespace \"cub\" has no member \"zorp\"",
           "z.cc:7:3: error: 'Max' was not declared in this scope",
           "z.cu:7:3: error: no member named 'DeviceReduce' in namespace 'cub'",
       }) {
    const auto diagnosis = told_of("13.0.88", std::string(line) + "\n1 error generated.\n");
    ASSERT_FALSE(diagnosis.findings.empty());
    EXPECT_EQ(diagnosis.findings.front().id, "log-not-explained") << line;
  }
}

TEST(NamesThatCameAndWent, namespaces_with_a_version_are_seen_through) {
  for (const auto* space : {"cub::CUB_300001_SM_900", "cub::_V_300001_SM_900"}) {
    const auto diagnosis = told_of(
        "12.9.86", fmt::format("z.cu(7): error: namespace \"{}\" has no member \"Max\"\n", space));
    ASSERT_FALSE(diagnosis.findings.empty());
    EXPECT_EQ(diagnosis.findings.front().id, "name-gone") << space; // whatever CCCL is here
    EXPECT_THAT(diagnosis.findings.front().cause, testing::HasSubstr("CCCL 3.0.1"));
  }
}

TEST(NamesThatCameAndWent, toolkit_that_has_the_name_is_pointed_at) {
  Scene scene;
  scene.root.toolkit("/usr/local/cuda-13.0", "13.0.88");
  scene.root.toolkit("/usr/local/cuda-12.8", "12.8.93");
  scene.root.prepend_path("/usr/local/cuda-13.0/bin");
  scene.log = "/usr/local/cuda-13.0/bin/nvcc -c z.cu -o z.o\n"
              "z.cu(7): error: namespace \"cub\" has no member \"Max\"\n"
              "z.cu(9): error: namespace \"cub\" has no member \"Sum\"\n"
              "2 errors detected in the compilation of \"z.cu\".\n";
  const auto diagnosis = diagnosis_of(scene);
  const auto& first = diagnosis.findings.front();
  EXPECT_EQ(first.id, "name-gone") << told(diagnosis);
  ASSERT_FALSE(first.fix.empty());
  EXPECT_THAT(first.fix.front().command.text(), testing::HasSubstr("/usr/local/cuda-12.8"));
  EXPECT_THAT(told(diagnosis), testing::HasSubstr("cuda::maximum"));
  EXPECT_THAT(told(diagnosis), testing::HasSubstr("cub::Sum"));
}

TEST(NamesThatCameAndWent, cccl_that_the_log_names_counts_before_the_one_that_is_here) {
  const auto diagnosis =
      told_of("12.8.93", "x/cub/block/z.cuh(3): error: no instance of overloaded function "
                         "\"cub::_V_300302_SM_890::zorp\" matches\n"
                         "z.cu(7): error: namespace \"cub\" has no member \"Max\"\n");
  EXPECT_THAT(told(diagnosis), testing::HasSubstr("this build reads CCCL 3.3.2"));
}

} // namespace
} // namespace cukit::doctor

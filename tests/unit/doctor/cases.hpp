// A real failure as an environment, a question and what the doctor must say.
#pragma once

#include "base/child.hpp"
#include "base/files.hpp"
#include "base/sha256.hpp"
#include "base/strings.hpp"
#include "doctor/doctor.hpp"
#include "support/fake_root.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <gmock/gmock.h>

namespace cukit::doctor {

struct Scene {
  test::FakeRoot root;
  Question question;
  std::vector<std::string> venvs;
  std::string log; ///< what the build printed
};

struct Case {
  const char* id;    ///< of the catalogue of real failures
  const char* cause; ///< the first finding's id
  const char* fix;   ///< a part of one of its commands
  std::function<void(Scene&)> build;
};

inline void PrintTo(const Case& one, std::ostream* out) {
  *out << one.id;
}

/// With CUKIT_KEEP_SCENES=FOLDER every scene is kept as `cukit doctor` takes it (compare.py reads
/// it): the snapshot, the log and a question's options.
inline void keep_scene(const std::string& snapshot, const std::string& log, const Question& asked) {
  const char* folder = std::getenv("CUKIT_KEEP_SCENES");
  if (folder == nullptr) {
    return;
  }
  std::string options;
  for (const auto& gpu : asked.gpus) {
    options += "--gpu\n" + gpu.sm() + "\n";
  }
  for (const auto& consumer : asked.consumers) {
    options += "--consumer\n" + consumer + "\n";
  }
  if (asked.driver) {
    options += "--driver\n" + asked.driver->text() + "\n";
  }
  const auto name = sha256_of(snapshot + log + options).hex();
  const std::pair<const char*, const std::string*> parts[] = {
      {".json", &snapshot}, {".log", &log}, {".args", &options}};
  for (const auto& [ending, text] : parts) {
    if (!text->empty()) {
      EXPECT_TRUE(write_file_atomic(fs::path(folder) / (name + ending), *text));
    }
  }
}

inline Diagnosis diagnosis_of(const Scene& scene) {
  const auto knowledge = knowledge::Knowledge::embedded();
  auto question = scene.question;
  std::vector<std::string> headers;
  if (!scene.log.empty()) {
    question.log = read_log(scene.log, knowledge).value();
    for (const auto& failure : question.log->failures) {
      if (failure.thing == buildlog::Thing::header) {
        headers.push_back(failure.name);
      }
    }
  }
  const auto snapshot = survey::take_snapshot({.root = scene.root.path(),
                                               .environment = scene.root.environment,
                                               .venvs = scene.venvs,
                                               .toolkits = {},
                                               .headers = headers,
                                               .clues = clues(knowledge).value(),
                                               .ask_devices = false});
  // through JSON, so that what a bug report carries is enough
  const auto written = survey::to_json(snapshot);
  keep_scene(written.dump(), scene.log, scene.question);
  auto again = survey::snapshot_from_json(written, "snapshot");
  EXPECT_TRUE(again.has_value());
  auto result = diagnose(again.value(), question, knowledge);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  auto diagnosis = result ? *std::move(result) : Diagnosis{};
  for (auto& found : diagnosis.consumers) {
    found.kit = nullptr; // they point into the snapshot, which ends here
    found.compiler = nullptr;
    found.python = nullptr;
  }
  return diagnosis;
}

inline std::string told(const Diagnosis& diagnosis) {
  return to_json(diagnosis).dump();
}

inline const std::string k_local = "/usr/local/cuda";
inline const std::string k_venv = "/venv";

inline void cuda_home(Scene& scene, const std::string& root) {
  scene.root.environment.set("CUDA_HOME", root);
}

inline void gpu(Scene& scene, const char* target) {
  scene.question.gpus.push_back(GpuTarget::parse(target).value());
}

/// A venv with torch 2.11.0+cu130 and this consumer.
inline std::string venv(Scene& scene, const std::string& consumer = {},
                        const std::string& version = "0.6.12",
                        const std::string& torch = "2.11.0+cu130",
                        const std::string& cuda = "13.0") {
  auto site = scene.root.venv(k_venv, torch, cuda);
  if (!consumer.empty()) {
    scene.root.dist(site, consumer, version);
  }
  return site;
}

/// What a shell has after a command that only sets variables.
inline Environment after_command(const Environment& before, const std::string& command) {
  const auto done = run_command(
      {.arguments = {"/bin/bash", "-c", command + " && /usr/bin/env -0"}, .environment = before});
  EXPECT_TRUE(done.has_value() && done->exit_code == 0) << command;
  Environment result;
  for (const auto line : split(done ? std::string_view(done->output) : std::string_view(), '\0')) {
    if (const auto equals = line.find('='); equals != std::string_view::npos && equals > 0) {
      result.set(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
    }
  }
  return result;
}

/// After a fix that sets variables, in a shell with them, the finding is gone or nobody is hit by
/// it: the machine is looked at again.
inline void expect_mended(Scene& scene, const Finding& finding) {
  const auto before = scene.root.environment;
  for (const auto& fix : finding.fix) {
    if (!fix.command.only_sets_variables() || finding.log_line != 0) {
      continue; // what a log shows stays in it
    }
    scene.root.environment = after_command(before, fix.command.text());
    const auto again = diagnosis_of(scene);
    scene.root.environment = before;
    for (const auto& left : again.findings) {
      EXPECT_FALSE(left.id == finding.id && left.subject == finding.subject &&
                   left.severity <= finding.severity)
          << finding.id << " is there after " << fix.text();
    }
  }
}

/// The first finding names the cause, has evidence, and one of its fixes is the one that worked.
inline void expect_cause(const Case& one) {
  Scene scene;
  one.build(scene);
  const auto diagnosis = diagnosis_of(scene);
  ASSERT_FALSE(diagnosis.findings.empty()) << told(diagnosis);
  const auto& first = diagnosis.findings.front();
  EXPECT_EQ(first.id, one.cause) << told(diagnosis);
  EXPECT_FALSE(first.evidence.empty()) << told(diagnosis);
  EXPECT_FALSE(first.cause.empty());
  std::string fixes;
  for (const auto& fix : first.fix) {
    fixes += fix.text() + " # " + fix.effect + "\n";
  }
  EXPECT_THAT(fixes, testing::HasSubstr(one.fix)) << told(diagnosis);
  expect_mended(scene, first);
}

inline std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.id;
}

} // namespace cukit::doctor

#include "commands/doctor_fix.hpp"

#include "base/strings.hpp"

#include <cstdio>
#include <set>

namespace cukit::cmd {

namespace {

struct Step {
  const doctor::Fix* fix = nullptr;
  bool is_ours = false;
};

/// The first fix of each finding that breaks something; the manifest of cukit once.
std::vector<Step> plan(const doctor::Diagnosis& diagnosis) {
  std::vector<Step> steps;
  std::set<std::string> seen;
  const doctor::Fix* manifest = nullptr;
  for (const auto& finding : diagnosis.findings) {
    if (finding.severity != doctor::Severity::error) {
      continue;
    }
    for (const auto& fix : finding.fix) {
      if (!fix.manifest.empty()) {
        manifest = manifest == nullptr ? &fix : manifest;
      } else if (seen.insert(fix.command).second) {
        steps.push_back({&fix, !fix.removes.empty()});
      }
      break;
    }
    for (const auto& fix : finding.fix) {
      manifest = manifest == nullptr && !fix.manifest.empty() ? &fix : manifest;
    }
  }
  if (manifest != nullptr) {
    steps.push_back({manifest, true});
  }
  return steps;
}

/// Only below the caches of that home: a snapshot can name any path.
bool is_cache_of(const fs::path& folder, const fs::path& home) {
  std::error_code error;
  const auto real = fs::canonical(folder, error);
  const auto real_home = error ? fs::path() : fs::canonical(home, error);
  if (error || real_home == "/") {
    return false;
  }
  const auto inside = real.lexically_relative(real_home).string();
  return inside.starts_with(".cache/flashinfer/") ||
         inside.starts_with(".cache/torch_extensions") || inside.starts_with(".cache/tvm-ffi");
}

} // namespace

std::string plan_text(const ui::Terminal& terminal, const doctor::Diagnosis& diagnosis) {
  std::string out;
  int number = 0;
  for (const auto& step : plan(diagnosis)) {
    out += fmt::format(
        "{}. {}  {}\n   {}\n", ++number, printable(step.fix->command),
        terminal.paint(ui::Style::dim, step.is_ours ? "(--yes does this)" : "(for you to do)"),
        printable(step.fix->effect));
  }
  return out.empty() ? "nothing to mend\n" : "plan\n" + out;
}

Result<fs::path> apply_plan(const doctor::Diagnosis& diagnosis, const fs::path& home) {
  fs::path written;
  for (const auto& step : plan(diagnosis)) {
    if (!step.fix->removes.empty()) {
      if (is_cache_of(step.fix->removes, home)) {
        CUKIT_TRY(remove_tree(step.fix->removes));
        std::fputs(fmt::format("removed {}\n", step.fix->removes).c_str(), stderr);
      } else {
        std::fputs(fmt::format("left alone, not in your caches: {}\n", step.fix->removes).c_str(),
                   stderr);
      }
    } else if (!step.fix->manifest.empty()) {
      if (path_exists("cukit.yaml")) {
        std::fputs("left alone, it exists: cukit.yaml\n", stderr);
        continue;
      }
      CUKIT_TRY(create_file("cukit.yaml", step.fix->manifest));
      written = "cukit.yaml";
      std::fputs("wrote cukit.yaml\n", stderr);
    }
  }
  return written;
}

} // namespace cukit::cmd

#include "doctor/rehearse.hpp"

#include "catalog/requirement.hpp"

#include <algorithm>

namespace cukit::doctor {

namespace {

constexpr std::size_t k_most_rehearsals = 48; // a bound on time; what is behind it stays as it is

bool is_same(const Finding& a, const Finding& b) {
  if (a.id != b.id) {
    return false;
  }
  const auto is_of_both = [&](const std::string& name) {
    return std::find(b.consumers.begin(), b.consumers.end(), name) != b.consumers.end();
  };
  return a.subject == b.subject || (a.consumers.empty() && b.consumers.empty()) ||
         std::any_of(a.consumers.begin(), a.consumers.end(), is_of_both);
}

const Finding* find_same(const Finding& finding, const std::vector<Finding>& list) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const auto& other) { return is_same(finding, other); });
  return found == list.end() ? nullptr : &*found;
}

/// A part of CUDA that goes into a folder of wheels which is not there yet lies where nobody can
/// tell beforehand; and of another torch not everything is known that comes with it.
bool can_be_told(const survey::Snapshot& snapshot, const Effect& effect) {
  const auto* wheels = std::get_if<InstallsWheels>(&effect);
  if (wheels == nullptr) {
    return true;
  }
  const auto is_open = [&](const std::string& text) { // which version comes, the index decides
    const auto wanted = catalog::Requirement::parse(text);
    const auto is_of_it = [&](const auto& python) {
      return python.prefix == wheels->prefix &&
             survey::find_distribution(python, wanted->project) != nullptr;
    };
    return !wanted || (text.find("==") == std::string::npos &&
                       (!wanted->range.is_any() ||
                        std::none_of(snapshot.pythons.begin(), snapshot.pythons.end(), is_of_it)));
  };
  if (std::any_of(wheels->requirements.begin(), wheels->requirements.end(), is_open)) {
    return false;
  }
  const bool is_of_cuda = std::any_of(
      wheels->requirements.begin(), wheels->requirements.end(), [](const std::string& text) {
        return text.starts_with("nvidia-") || text.starts_with("cuda-toolkit");
      });
  return !is_of_cuda ||
         std::any_of(snapshot.toolkits.begin(), snapshot.toolkits.end(), [&](const auto& kit) {
           return kit.environment == wheels->prefix &&
                  std::find(kit.found_by.begin(), kit.found_by.end(), "wheels") !=
                      kit.found_by.end();
         });
}

bool is_told(const survey::Snapshot& snapshot, const Fix& fix) {
  return !fix.effects.empty() &&
         std::all_of(fix.effects.begin(), fix.effects.end(),
                     [&](const auto& effect) { return can_be_told(snapshot, effect); });
}

enum class Outcome { mends, breaks_else, fails, not_told };

class Rehearsal {
public:
  Rehearsal(const survey::Snapshot& snapshot, const Parts& parts,
            const std::function<std::vector<Finding>(const survey::Snapshot&)>& examine)
      : snapshot_(snapshot), parts_(parts), examine_(examine), now_(examine(snapshot)) {}

  [[nodiscard]] bool is_seen(const Finding& finding) const {
    return find_same(finding, now_) != nullptr;
  }

  Outcome of(const Finding& finding, const Fix& fix) {
    if (!is_told(snapshot_, fix) || count_ >= k_most_rehearsals) {
      return Outcome::not_told;
    }
    ++count_;
    const auto then = examine_(after(snapshot_, fix.effects, parts_));
    const auto* still = find_same(finding, then);
    const auto* now = find_same(finding, now_);
    // of a tree that nobody uses any more it is told more mildly
    if (still != nullptr && still->severity <= now->severity) {
      return still->evidence.size() < now->evidence.size() ? Outcome::not_told // a part is mended
                                                           : Outcome::fails;
    }
    const bool is_harmful = std::any_of(then.begin(), then.end(), [&](const auto& one) {
      return one.severity == Severity::error && find_same(one, now_) == nullptr;
    });
    return is_harmful ? Outcome::breaks_else : Outcome::mends;
  }

private:
  const survey::Snapshot& snapshot_;
  const Parts& parts_;
  const std::function<std::vector<Finding>(const survey::Snapshot&)>& examine_;
  std::vector<Finding> now_;
  std::size_t count_ = 0;
};

} // namespace

void rehearse(std::vector<Finding>& findings, const survey::Snapshot& snapshot, const Parts& parts,
              const std::function<std::vector<Finding>(const survey::Snapshot&)>& examine) {
  const bool is_any_told = std::any_of(findings.begin(), findings.end(), [&](const auto& finding) {
    return std::any_of(finding.fix.begin(), finding.fix.end(),
                       [&](const auto& fix) { return is_told(snapshot, fix); });
  });
  if (!is_any_told) {
    return;
  }
  Rehearsal rehearsal(snapshot, parts, examine);
  for (auto& finding : findings) {
    if (!rehearsal.is_seen(finding)) {
      continue;
    }
    std::vector<Fix> sound;
    std::vector<Fix> second_best;
    bool does_one_mend = false;
    for (auto& fix : finding.fix) {
      const auto outcome = rehearsal.of(finding, fix);
      does_one_mend = does_one_mend || outcome == Outcome::mends;
      if (outcome == Outcome::breaks_else) {
        second_best.push_back(std::move(fix));
      } else if (outcome != Outcome::fails) {
        sound.push_back(std::move(fix));
      }
    }
    if (!does_one_mend) { // then what breaks something else as well is better than nothing
      sound.insert(sound.end(), std::make_move_iterator(second_best.begin()),
                   std::make_move_iterator(second_best.end()));
    }
    finding.fix = std::move(sound);
  }
}

} // namespace cukit::doctor

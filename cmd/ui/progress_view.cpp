#include "ui/progress_view.hpp"

#include "base/strings.hpp"
#include "ui/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

namespace cukit::ui {

namespace {

using Clock = std::chrono::steady_clock;

struct Work {
  std::string label;
  std::string unit;
  std::uint64_t total = 0;
  std::uint64_t done = 0;
  Clock::time_point began;
};

std::string amount(const Work& work, std::uint64_t value) {
  return work.unit.empty() ? human_bytes(value) : fmt::format("{} {}", value, work.unit);
}

/// One line per finished piece of work that took a while, and what is said: for logs.
class Lines final : public Progress {
public:
  int begin(std::string_view label, std::uint64_t total, std::string_view unit) override {
    const std::lock_guard guard(mutex_);
    works_[next_] = Work{std::string(label), std::string(unit), total, 0, Clock::now()};
    return next_++;
  }
  void advance(int work, std::uint64_t value) override {
    const std::lock_guard guard(mutex_);
    works_[work].done += value;
  }
  void reset(int work, std::uint64_t value) override {
    const std::lock_guard guard(mutex_);
    works_[work].done = value;
  }
  void end(int work) override {
    const std::lock_guard guard(mutex_);
    const auto& ended = works_[work];
    // Small files would fill a log without telling anything.
    if (!ended.unit.empty() || ended.done >= 1'000'000) {
      ui::say(fmt::format("  {}: {}\n", printable(ended.label), amount(ended, ended.done)));
    }
    works_.erase(work);
  }
  void say(std::string_view line) override {
    const std::lock_guard guard(mutex_);
    ui::say(printable(line) + "\n");
  }

private:
  std::mutex mutex_; ///< guards everything
  std::map<int, Work> works_;
  int next_ = 1;
};

class Bars final : public Progress {
public:
  explicit Bars(const Terminal& terminal) : terminal_(terminal) {}
  Bars(const Bars&) = delete;
  Bars& operator=(const Bars&) = delete;
  ~Bars() override {
    const std::lock_guard guard(mutex_);
    erase();
  }
  int begin(std::string_view label, std::uint64_t total, std::string_view unit) override {
    const std::lock_guard guard(mutex_);
    works_[next_] = Work{std::string(label), std::string(unit), total, 0, Clock::now()};
    draw(false);
    return next_++;
  }
  void advance(int work, std::uint64_t value) override {
    const std::lock_guard guard(mutex_);
    works_[work].done += value;
    draw(false);
  }
  void reset(int work, std::uint64_t value) override {
    const std::lock_guard guard(mutex_);
    works_[work].done = value;
    draw(false);
  }
  void end(int work) override {
    const std::lock_guard guard(mutex_);
    works_.erase(work);
    draw(works_.empty());
  }
  void say(std::string_view line) override {
    const std::lock_guard guard(mutex_);
    erase();
    ui::say(printable(line) + "\n");
    draw(true);
  }

private:
  void erase() {
    if (drawn_ > 0) {
      ui::draw(fmt::format("\x1b[{}A\x1b[J", drawn_));
      drawn_ = 0;
    }
  }

  [[nodiscard]] std::string line(const Work& work, int width) const {
    const int label_width = std::clamp(width / 3, 12, 34);
    const double share =
        work.total == 0
            ? 0
            : std::min(1.0, static_cast<double>(work.done) / static_cast<double>(work.total));
    const int bar_width = std::clamp(width - label_width - 34, 8, 40);
    const int filled = static_cast<int>(share * bar_width);
    std::string bar;
    for (int i = 0; i < bar_width; ++i) {
      bar += i < filled ? "━" : "─";
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - work.began).count();
    std::string rate;
    if (work.unit.empty() && seconds > 0.5) {
      rate = fmt::format("{}/s", human_bytes(static_cast<unsigned long long>(
                                     static_cast<double>(work.done) / seconds)));
    }
    const auto label = beginning(printable(work.label), static_cast<std::size_t>(label_width));
    const std::string numbers =
        work.total == 0 ? amount(work, work.done)
                        : fmt::format("{:>3.0f}%  {}", share * 100, amount(work, work.total));
    return fmt::format("  {:<{}} {} {:<16} {}", label, label_width,
                       terminal_.paint(Style::accent, bar), numbers, rate);
  }

  // Ten times a second is smooth to the eye and costs nothing.
  void draw(bool now) {
    const auto time = Clock::now();
    if (!now && time - last_ < std::chrono::milliseconds(100)) {
      return;
    }
    last_ = time;
    std::string out = drawn_ > 0 ? fmt::format("\x1b[{}A\x1b[J", drawn_) : "";
    const int width = terminal_.width();
    drawn_ = 0;
    for (const auto& [number, work] : works_) {
      if (drawn_ == 12) {
        out += fmt::format("  and {} more\n", works_.size() - 12);
        ++drawn_;
        break;
      }
      out += line(work, width) + "\n";
      ++drawn_;
    }
    ui::draw(out);
  }

  const Terminal& terminal_;
  std::mutex mutex_; ///< guards everything below
  std::map<int, Work> works_;
  int next_ = 1;
  int drawn_ = 0;
  Clock::time_point last_;
};

} // namespace

std::unique_ptr<Progress> make_progress(const Terminal& terminal, const std::string& mode) {
  if (mode == "none") {
    return std::make_unique<Silent>();
  }
  if (mode == "bars" || (mode == "auto" && terminal.is_terminal())) {
    return std::make_unique<Bars>(terminal);
  }
  return std::make_unique<Lines>();
}

} // namespace cukit::ui

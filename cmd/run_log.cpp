#include "run_log.hpp"

#include "base/kept_file.hpp"
#include "base/utc.hpp"

#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>

namespace cukit::cmd {

namespace {

constexpr std::uint64_t k_full = 256U << 10U;
constexpr std::uint64_t k_longest = 64U << 10U;

std::string line_of(const Invocation& invocation, int exit_code) {
  auto json = text::Json::object()
                  .set("time", utc_text(std::time(nullptr)))
                  .set("version", CUKIT_VERSION)
                  .set("command", invocation.command)
                  .set("exit_code", exit_code);
  auto line = text::Json(json).set("outcome", *invocation.outcome).dump(false);
  return (line.size() < k_longest ? line : json.dump(false)) + "\n";
}

} // namespace

void log_run(const Invocation& invocation, int exit_code) {
  if (!invocation.worked_on || !invocation.outcome ||
      !is_kept_folder(invocation.worked_on->logs())) {
    return;
  }
  const auto file = invocation.worked_on->logs() / "runs.jsonl";
  std::error_code none;
  const auto size = fs::file_size(file, none);
  if (!none && size > k_full) {
    fs::rename(file, invocation.worked_on->logs() / "runs.old.jsonl", none);
  }
  // One write at the end of the file: lines of two runs do not mix.
  if (const auto fd = open_kept(file, O_WRONLY | O_CREAT | O_APPEND, 0644)) {
    static_cast<void>(write_all(fd->get(), line_of(invocation, exit_code)));
  }
}

} // namespace cukit::cmd

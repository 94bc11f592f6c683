// What a failed build printed, as the doctor reads it: the facts of buildlog, and which of the
// known messages are in it. Private to doctor.
#pragma once

#include "buildlog/buildlog.hpp"
#include "knowledge/knowledge.hpp"

#include <string>
#include <vector>

namespace cukit::doctor {

/// One known message, recipes/doctor/messages.yaml.
struct Message {
  std::string tool;                      ///< ptxas, nvcc, CCCL ...
  std::vector<std::string> pattern = {}; ///< literal pieces; between two of them stands a capture
  std::string means;
  std::vector<std::string> causes = {}; ///< findings that explain it, likeliest first; the last is
                                        ///< made from the log alone
};
Result<std::vector<Message>> read_messages(const knowledge::Knowledge& knowledge);

struct Hit {
  const Message* message = nullptr;
  std::size_t line = 0; ///< from 1
  std::string text;     ///< the line, shortened
  std::vector<std::string> captures = {};
  std::size_t count = 1; ///< how often it came
};

struct LogFacts {
  const buildlog::Facts& facts;
  std::vector<Hit> hits = {}; ///< in the log's order, each message with equal captures once
};

/// `facts` were read with the phrases of these messages; both must outlive the result.
LogFacts log_facts(const buildlog::Facts& facts, const std::vector<Message>& messages);
/// Targets that the messages name: sm_121a, compute_120.
std::vector<GpuTarget> targets_in(const LogFacts& log);

} // namespace cukit::doctor

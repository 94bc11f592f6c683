// What a failed build printed: which of the known messages are in it. Private to doctor.
#pragma once

#include "knowledge/knowledge.hpp"

#include <string>
#include <string_view>
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

/// A command of the log that called nvcc.
struct NvccCall {
  std::size_t line = 0;
  std::string program;
  std::vector<std::string> includes = {}; ///< -I and -isystem folders
};

struct LogFacts {
  std::vector<Hit> hits = {}; ///< in the log's order, each message with equal captures once
  std::vector<NvccCall> calls = {};
  std::string cccl_namespace; ///< 3.3.2 of cub::_V_300302_SM_890
  bool is_pip_build = false;  ///< paths of pip's build environment
};

/// Linear in the log's size. Lines are cut at 4 kB, and no more than a few hundred hits are kept.
LogFacts read_log(std::string_view log, const std::vector<Message>& messages);
/// Targets that the messages name: sm_121a, compute_120.
std::vector<GpuTarget> targets_in(const LogFacts& log);

} // namespace cukit::doctor

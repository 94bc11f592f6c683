// Failures whose form is not words with slots: what errno says of a name, errors of the CUDA API,
// and the lines by which a build ends. Private.
#pragma once

#include "buildlog/buildlog.hpp"
#include "buildlog/head.hpp"

#include <optional>

namespace cukit::buildlog {

const std::vector<std::string>& errno_words();
/// `NAME: No such file or directory`, `[Errno 13] Permission denied: 'NAME'` and their like.
std::optional<Failure> errno_failure(const Head& head, std::string_view line);

const std::vector<std::string>& cuda_words();
std::optional<Failure> cuda_failure(std::string_view line);

const std::vector<std::string>& ending_words();
/// How a build says that it failed, when the line is one. level: 1 one step of it, 2 all of it.
struct Ending {
  Failure failure;
  int level = 1;
  std::string package = {}; ///< that could not be built
};
std::optional<Ending> ending_of(const Head& head, std::string_view line);

const std::vector<std::string>& success_words();
/// How a build, or a part of it, says that it went well.
struct Success {
  int level = 0;                          ///< what it makes undone, up to this level
  bool only_at_end = false;               ///< counts when nothing but blank lines follows
  std::vector<std::string> packages = {}; ///< that were installed
};
std::optional<Success> success_of(std::string_view line);

} // namespace cukit::buildlog

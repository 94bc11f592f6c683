// A build context that makes an image of a toolkit with any engine that has BuildKit's RUN --mount.
#pragma once

#include "exports/environment.hpp"

#include <map>
#include <string>

namespace cukit::exports {

struct DockerfileRequest {
  std::string manifest;  ///< text
  std::string lock;      ///< text
  std::string content;   ///< digest that the tree must have, or empty: it was never built here
  std::string variables; ///< ENV lines of the toolkit at `place`
  std::string title;
  fs::path place;
  bool is_locked = true; ///< else the manifest is not the one that the lock was made from
};

/// Dockerfile, .dockerignore, the manifest and its lock, by name. Two final stages: `jit` with the
/// tree, g++ and ninja, and `libs` with the shared libraries alone; neither runs as root.
Result<std::map<std::string, std::string>> docker_context(const DockerfileRequest& request);

} // namespace cukit::exports

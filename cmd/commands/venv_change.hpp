// `cukit venv plan`, `apply`, `restore` and `history`.
#pragma once

#include "cli.hpp"

namespace cukit::cmd {

struct VenvChange {
  std::string path;
  std::string manifest;
  int to = -1; ///< restore: the change that stays the last; below 0: all but the last
  SettingsOptions settings;
};
int run_venv_plan(Invocation& invocation, const VenvChange& options);
int run_venv_apply(Invocation& invocation, const VenvChange& options);
int run_venv_restore(Invocation& invocation, const VenvChange& options);
int run_venv_history(Invocation& invocation, const VenvChange& options);

} // namespace cukit::cmd

// Where artifacts come from: the addresses of Python indexes and find-links folders, found at run time in the order of the
// README ("Sources"). No address of a public Python index is written in this project.
#pragma once

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace cukit::source {

struct Address {
  std::string location; ///< URL, or an absolute folder
  std::string origin;   ///< who says so: "--index-url", "PIP_INDEX_URL", "/etc/pip.conf", "pip's default", ...
  bool named_by_user = false; ///< then plain http is accepted
};

struct Sources {
  std::vector<Address> indexes;    ///< in order: the first that has a project wins; extra indexes are never merged per project
  std::vector<Address> find_links; ///< folders, or pages with links, that give bytes by (file name, sha256)
};

/// How a program on this machine is asked; tests answer themselves. Arguments in, standard output back.
using Asker = std::function<Result<std::string>(const std::vector<std::string>& arguments)>;

struct Places {
  Environment environment;
  fs::path root = "/";       ///< configuration files are looked for below it
  std::string index_url = {};   ///< of the command line, empty: none
  Asker ask = {};            ///< empty: really run the program (10 s at most)
};

/// Never empty in `indexes`: the last resort is NVIDIA's own index.
Result<Sources> discover(const Places& places, const std::stop_token& stop = {});

/// NVIDIA's own Python index and base of the redistributables.
extern const char* const k_nvidia_index;

} // namespace cukit::source

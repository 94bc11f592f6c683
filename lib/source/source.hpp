// Where artifacts come from: the addresses of Python indexes, of find-links folders and of NVIDIA's
// redistributables, found at run time in the order of
// manifests/README.md ("Sources"). No address of a
// public Python index is written in this project.
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
  std::string location; ///< URL without a trailing slash, or an absolute folder
  std::string origin;   ///< who says so: "--index-url", "PIP_INDEX_URL", "/etc/pip.conf:3", ...
  bool named_by_user = false; ///< then plain http is accepted

  [[nodiscard]] bool is_folder() const { return location.starts_with('/'); }
  /// The location as it may be shown: without user name and password.
  [[nodiscard]] std::string shown() const;
  /// The same with its origin, for messages: "https://host/simple (PIP_INDEX_URL)".
  [[nodiscard]] std::string named() const;
};

struct Sources {
  /// Asked before everything else for the bytes of locked artifacts, never for what exists:
  /// --mirror, else CUKIT_MIRROR. Each may hold wheels (flat, or in folders of their projects as a
  /// simple index) and redistributables.
  std::vector<Address> mirrors;
  /// In order: the main one, then the extra ones; the first that has a project wins, they are
  /// never merged per project. Empty only when PIP_NO_INDEX or `no-index` says so.
  std::vector<Address> indexes;
  /// Folders, or pages with links, that give bytes by (file name, sha256).
  std::vector<Address> find_links;
  /// Bases of NVIDIA's redistributables, in order: --redist-url, else CUKIT_REDIST_URL (several,
  /// separated by spaces), else NVIDIA's own host. Never empty.
  std::vector<Address> redist;
  std::string no_index_by;        ///< who said `no-index`; empty: nobody
  std::vector<std::string> notes; ///< what was passed over and why
};

/// How a program on this machine is asked; tests answer themselves. Arguments in, standard output
/// back.
using Asker = std::function<Result<std::string>(const std::vector<std::string>& arguments)>;

struct Places {
  Environment environment;
  fs::path root = "/";         ///< configuration files are looked for below it
  std::string index_url = {};  ///< of the command line, empty: none
  std::string redist_url = {}; ///< of the command line, several separated by spaces; empty: none
  std::vector<std::string> mirrors = {}; ///< of the command line; empty: CUKIT_MIRROR counts
  Asker ask = {};                        ///< empty: really run the program (10 s at most)
};

/// The last resort is NVIDIA's own index. A configuration file that pip or uv would refuse is an
/// error with its line, but only a note when --index-url or CUKIT_INDEX_URL names the index.
Result<Sources> discover(const Places& places, const std::stop_token& stop = {});

/// NVIDIA's own Python index.
extern const char* const k_nvidia_index;
/// NVIDIA's own host of redistributables: <this>/cuda/redist/redistrib_13.0.2.json
extern const char* const k_nvidia_redist;

} // namespace cukit::source

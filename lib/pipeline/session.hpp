// What every use-case needs of the outside, and how it fails. Thread rules: a Session is used by
// one thread; the threads that a use-case starts have ended when it returns.
#pragma once

#include "assemble/assemble.hpp"
#include "base/environment.hpp"
#include "base/progress.hpp"
#include "catalog/python_index.hpp"
#include "http/client.hpp"
#include "knowledge/knowledge.hpp"
#include "resolve/resolve.hpp"
#include "source/source.hpp"
#include "store/store.hpp"

#include <memory>
#include <optional>
#include <stop_token>

namespace cukit::pipeline {

/// A failure is an error, or a conflict of demands (exit code 3) that brings its own explanation.
struct Failure {
  Error error;
  std::optional<resolve::Conflict> conflict = {};
  Failure(Error cause)
      : error(std::move(cause)) {} // NOLINT(google-explicit-constructor): an Error is a Failure
  Failure(Error cause, resolve::Conflict why) : error(std::move(cause)), conflict(std::move(why)) {}
};
template <typename T> using Outcome = tl::expected<T, Failure>;

enum class LockMode {
  normal,  ///< a stale lock is made again
  locked,  ///< a stale or missing lock, or a machine that does not meet it, is an error
  frozen,  ///< the lock is taken as it is
  upgrade, ///< choices of the earlier lock are dropped
};

struct Settings {
  LockMode lock_mode = LockMode::normal;
  std::string index_url = {};  ///< --index-url
  std::string redist_url = {}; ///< --redist-url: bases separated by spaces
  std::optional<Platform> platform =
      {}; ///< --platform: what is fetched, built and validated; empty: the host's
  std::vector<std::string> mirrors = {}; ///< --mirror; empty: CUKIT_MIRROR counts
  fs::path bundle = {};                  ///< --bundle: then nobody is asked for anything
  bool netrc = false;                    ///< --netrc; CUKIT_NETRC=1 says the same
  fs::path prefix = {}; ///< --prefix: a copy there instead of a tree in the home and a name
  store::Durability durability = store::Durability::full;
  bool validate = true;
  bool dry_run = false;
  bool explain = false; ///< resolve again, keeping what the lock chose, to have the reasons
  std::vector<std::string> upgrade = {};     ///< mode upgrade: only these components; empty: all
  std::string exclude_newer = {};            ///< --exclude-newer, as it was written
  std::string assume_driver = {};            ///< --assume-driver: stands for `driver: native`
  std::vector<std::string> assume_gpus = {}; ///< --assume-gpu: stand for `gpus: native`
};

class Session {
public:
  Session(Environment with_environment, store::Home in_home, knowledge::Knowledge with_knowledge,
          Settings with_settings, Progress& told, std::stop_token stopped_by)
      : environment(std::move(with_environment)), home(std::move(in_home)),
        knowledge(std::move(with_knowledge)), settings(std::move(with_settings)), progress(told),
        stop(std::move(stopped_by)) {}

  Environment environment;
  store::Home home;
  knowledge::Knowledge knowledge;
  Settings settings;
  Progress& progress;
  std::stop_token stop;
  std::uint64_t downloaded_bytes = 0; ///< by everything this session did

  [[nodiscard]] Platform platform() const { return settings.platform.value_or(Platform::host()); }

  /// Looked up at first use: a run that needs no network asks nobody for addresses.
  Result<const source::Sources*> sources();
  Result<http::Client*> client();
  Result<catalog::PythonIndex*> index();
  [[nodiscard]] http::Options http_options() const;
  Result<void> check_stop() const;

private:
  std::optional<source::Sources> sources_;
  std::unique_ptr<http::Client> client_;
  std::optional<catalog::PythonIndex> index_;
};

} // namespace cukit::pipeline

#include "base/log.hpp"
#include "base/strings.hpp"
#include "source/installed.hpp"
#include "source/pip_config.hpp"
#include "source/stated.hpp"
#include "source/uv_config.hpp"
#include "source/variables.hpp"

#include <algorithm>

namespace cukit::source {

const char* const k_nvidia_index = "https://pypi.nvidia.com";
const char* const k_nvidia_redist = "https://developer.download.nvidia.com/compute";

std::string Address::shown() const {
  return is_folder() ? printable(location) : redact_url(location);
}

std::string Address::named() const {
  return fmt::format("{} ({})", shown(), origin);
}

namespace {

/// Everything that is stated somewhere on this machine.
struct Statements {
  std::optional<Address> own; ///< --index-url or CUKIT_INDEX_URL
  Stated uv_variables;
  Stated pip_variables;
  Stated uv_config;
  Stated pip_config;
};

Result<std::optional<Address>> own_address(const Places& places) {
  std::optional<Address> result;
  if (!places.index_url.empty()) {
    CUKIT_TRY_ASSIGN(result, address(places.index_url, "--index-url", working_folder()));
  } else if (const auto value = places.environment.get("CUKIT_INDEX_URL")) {
    CUKIT_TRY_ASSIGN(result, address(*value, "CUKIT_INDEX_URL", working_folder()));
  }
  return result;
}

/// A broken place is an error, unless the user named the index himself and so does not depend on
/// it.
Result<Stated> settled(Result<Stated> stated, bool tolerant, Sources& sources) {
  if (stated) {
    std::move(stated->notes.begin(), stated->notes.end(), std::back_inserter(sources.notes));
    return stated;
  }
  if (!tolerant) {
    return stated;
  }
  sources.notes.push_back(
      fmt::format("{} is passed over: {}", stated.error().where, stated.error().message));
  return Stated{};
}

Result<Statements> gather(const Places& places, Sources& sources) {
  Statements all;
  CUKIT_TRY_ASSIGN(all.own, own_address(places));
  const bool tolerant = all.own.has_value();
  const auto& variables = places.environment;
  CUKIT_TRY_ASSIGN(all.uv_variables, settled(stated_by_uv_variables(variables), tolerant, sources));
  CUKIT_TRY_ASSIGN(all.pip_variables,
                   settled(stated_by_pip_variables(variables), tolerant, sources));
  CUKIT_TRY_ASSIGN(all.uv_config,
                   settled(read_uv_config(variables, places.root), tolerant, sources));
  CUKIT_TRY_ASSIGN(all.pip_config,
                   settled(read_pip_config(variables, places.root), tolerant, sources));
  return all;
}

/// Who says that no index may be used; a tool's variable overrides its own configuration.
std::string no_index_by(const Statements& all) {
  if (all.own) {
    return {};
  }
  for (const auto& [variables, config] : {std::pair(&all.pip_variables, &all.pip_config),
                                          std::pair(&all.uv_variables, &all.uv_config)}) {
    const auto& says = variables->no_index ? *variables : *config;
    if (says.no_index.value_or(false)) {
      return says.no_index_by;
    }
  }
  return {};
}

void append_new(std::vector<Address>& into, const std::vector<Address>& more) {
  for (const auto& one : more) {
    const bool known = std::any_of(into.begin(), into.end(), [&](const Address& other) {
      return other.location == one.location;
    });
    if (!known) {
      into.push_back(one);
    }
  }
}

std::optional<Address> main_address(const Statements& all) {
  for (const auto* stated : {&all.own, &all.uv_variables.index, &all.pip_variables.index,
                             &all.uv_config.index, &all.pip_config.index}) {
    if (*stated) {
      return *stated;
    }
  }
  return std::nullopt;
}

/// pip lets a variable replace the configuration's list; uv joins them.
const std::vector<Address>& first_stated(const std::vector<Address>& variable,
                                         const std::vector<Address>& config) {
  return variable.empty() ? config : variable;
}

/// Bases of redistributables: what is said nearest to the call alone, never joined.
Result<std::vector<Address>> redist_addresses(const Places& places) {
  std::vector<Address> result;
  const auto variable = places.environment.get("CUKIT_REDIST_URL").value_or("");
  const bool is_option = !split_words(places.redist_url).empty();
  const std::string origin = is_option ? "--redist-url" : "CUKIT_REDIST_URL";
  for (const auto word : split_words(is_option ? places.redist_url : variable)) {
    CUKIT_TRY_ASSIGN(auto one, address(word, origin, working_folder()));
    append_new(result, {std::move(one)});
  }
  if (result.empty()) {
    result.push_back({.location = k_nvidia_redist,
                      .origin = "NVIDIA's own host, since nothing here names another"});
  }
  return result;
}

/// The command line's mirrors, else those of the variable.
Result<std::vector<Address>> mirror_addresses(const Places& places) {
  std::vector<Address> result;
  for (const auto& one : places.mirrors) {
    CUKIT_TRY_ASSIGN(auto mirror, address(one, "--mirror", working_folder()));
    append_new(result, {std::move(mirror)});
  }
  const auto variable = places.environment.get("CUKIT_MIRROR").value_or("");
  for (const auto word :
       places.mirrors.empty() ? split_words(variable) : std::vector<std::string_view>()) {
    CUKIT_TRY_ASSIGN(auto mirror, address(word, "CUKIT_MIRROR", working_folder()));
    append_new(result, {std::move(mirror)});
  }
  return result;
}

} // namespace

namespace {

void log_sources(const Sources& sources) {
  for (const auto& [what, list] :
       {std::pair("index", &sources.indexes), std::pair("links", &sources.find_links),
        std::pair("redist", &sources.redist), std::pair("mirror", &sources.mirrors)}) {
    for (const auto& one : *list) {
      log_decision("source", "{}: {}", what, one.named());
    }
  }
  if (!sources.no_index_by.empty()) {
    log_decision("source", "no index: {}", sources.no_index_by);
  }
}

Result<Sources> gather_all(const Places& places, const std::stop_token& stop) {
  Sources sources;
  CUKIT_TRY_ASSIGN(sources.redist, redist_addresses(places));
  CUKIT_TRY_ASSIGN(sources.mirrors, mirror_addresses(places));
  CUKIT_TRY_ASSIGN(const auto all, gather(places, sources));
  append_new(sources.find_links,
             first_stated(all.pip_variables.find_links, all.pip_config.find_links));
  append_new(sources.find_links, all.uv_variables.find_links);
  append_new(sources.find_links, all.uv_config.find_links);
  sources.no_index_by = no_index_by(all);
  if (!sources.no_index_by.empty()) {
    return sources;
  }
  auto main = main_address(all);
  if (!main && (places.ask || places.root == "/")) {
    main = default_of_installed(places.ask ? places.ask : real_asker(places.environment, stop));
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted");
    }
  }
  sources.indexes.push_back(main.value_or(Address{
      .location = k_nvidia_index, .origin = "NVIDIA's own index, since nothing here names one"}));
  append_new(sources.indexes, all.uv_variables.extra);
  append_new(sources.indexes, first_stated(all.pip_variables.extra, all.pip_config.extra));
  append_new(sources.indexes, all.uv_config.extra);
  return sources;
}

} // namespace

Result<Sources> discover(const Places& places, const std::stop_token& stop) {
  auto sources = gather_all(places, stop);
  if (sources) {
    log_sources(*sources);
  }
  return sources;
}

} // namespace cukit::source

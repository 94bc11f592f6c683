#include "python/venv.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"
#include "model/project_name.hpp"

#include <algorithm>

namespace cukit::python {

std::vector<fs::path> module_folders(const fs::path& prefix) {
  std::vector<fs::path> found;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    const bool is_known = std::any_of(found.begin(), found.end(), [&](const fs::path& other) {
      return fs::equivalent(other, folder, error);
    });
    if (folder_exists(folder) && !is_known) {
      found.push_back(folder);
    }
  };
  for (const auto* lib : {"lib", "lib64"}) {
    const auto names = list_directory(prefix / lib).value_or(std::vector<std::string>());
    for (const auto& name : names) {
      if (name.starts_with("python3")) {
        add(prefix / lib / name / "site-packages");
        add(prefix / lib / name / "dist-packages");
      }
    }
  }
  return found;
}

namespace {

tl::unexpected<Error> mistake(std::string message, const std::string& where, std::string hint) {
  return tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                     .message = std::move(message),
                                     .where = where,
                                     .hint = std::move(hint)});
}

/// torch-2.11.0+cu130.dist-info
std::optional<std::pair<std::string, std::string>> parse_dist_info(const std::string& folder) {
  constexpr std::string_view suffix = ".dist-info";
  const auto dash = folder.find('-');
  if (!folder.ends_with(suffix) || dash == std::string::npos ||
      dash + 1 >= folder.size() - suffix.size()) {
    return std::nullopt;
  }
  return std::pair(normalised_project(folder.substr(0, dash)),
                   folder.substr(dash + 1, folder.size() - suffix.size() - dash - 1));
}

/// The text that a line of Python assigns to a name: `cuda: Optional[str] = '13.0'` is 13.0.
std::string assigned(std::string_view text, std::string_view name) {
  for (const auto line : split(text, '\n')) {
    if (!line.starts_with(name)) {
      continue;
    }
    auto rest = trim(line.substr(name.size()));
    if (rest.starts_with(':')) { // an annotation
      rest.remove_prefix(std::min(rest.find('='), rest.size()));
    }
    if (!rest.starts_with('=')) {
      continue;
    }
    rest = trim(rest.substr(1));
    const auto end = rest.find_first_of("'\"", 1);
    if ((rest.starts_with('\'') || rest.starts_with('"')) && end != std::string_view::npos &&
        end > 1) {
      return std::string(rest.substr(1, end - 1));
    }
  }
  return {};
}

} // namespace

Result<Venv> read_venv(const fs::path& venv, const std::string& where) {
  Venv result;
  result.site_packages = module_folders(venv);
  if (result.site_packages.empty()) {
    return mistake(fmt::format("{} is no Python environment", venv.string()), where,
                   "name the folder that holds lib/python3.*/site-packages");
  }
  for (const auto& site : result.site_packages) {
    CUKIT_TRY_ASSIGN(const auto names, list_directory(site));
    for (const auto& name : names) {
      if (auto entry = parse_dist_info(name)) {
        result.installed.insert(*std::move(entry));
      }
    }
    if (path_exists(site / "torch/version.py")) {
      result.torches.push_back(site / "torch/version.py");
    }
  }
  return result;
}

Result<VenvTorch> torch_of(const Venv& venv, const fs::path& folder, const std::string& where) {
  if (venv.torches.size() != 1) {
    return mistake(venv.torches.empty() ? fmt::format("{} holds no torch", folder.string())
                                        : fmt::format("{} holds {} copies of torch",
                                                      folder.string(), venv.torches.size()),
                   where,
                   "name the folder of a virtual environment with torch in it, or write the tag "
                   "(`pytorch: cu130`)");
  }
  CUKIT_TRY_ASSIGN(const auto text, read_file(venv.torches.front(), limits::k_manifest_bytes));
  VenvTorch result{.version = printable(assigned(text, "__version__")), .cuda = {}};
  const auto cuda = Version::parse(assigned(text, "cuda"));
  if (!cuda || cuda->release().size() < 2) {
    return mistake(fmt::format("the torch in {} was built without CUDA", folder.string()), where,
                   "install a CUDA build of torch there, or write the tag (`pytorch: cu130`)");
  }
  result.cuda = *cuda;
  return result;
}

std::vector<std::string> drift_of(const Venv& venv, const Version& torch_cuda) {
  std::vector<std::string> result;
  for (const auto* project : {"nvidia-cuda-cccl", "nvidia-cuda-crt", "nvidia-cuda-nvcc",
                              "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-nvvm"}) {
    const auto found = venv.installed.find(project);
    const auto version =
        found == venv.installed.end() ? Result<Version>(Version()) : Version::parse(found->second);
    // From 13.3 on packages of CCCL have numbers of their own behind the major.
    const bool is_counted = version && *version != Version() && version->release().size() < 5;
    if (is_counted && !version->same_minor(torch_cuda)) {
      result.push_back(fmt::format("the venv holds {} {} beside a torch of CUDA {}: they do not "
                                   "belong together",
                                   project, printable(found->second), torch_cuda.major_minor()));
    }
  }
  return result;
}

} // namespace cukit::python

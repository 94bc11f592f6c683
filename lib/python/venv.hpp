// What a Python virtual environment holds, read from its files; nothing of it is executed.
#pragma once

#include "base/files.hpp"
#include "model/version.hpp"

#include <map>

namespace cukit::python {

/// The folders of modules below lib and lib64 of an environment: site-packages, and Debian's own
/// dist-packages. Sorted within each; one that is a second name of another is left out.
std::vector<fs::path> module_folders(const fs::path& prefix);

struct Venv {
  std::vector<fs::path> site_packages; ///< no two are the same folder
  /// Normalised project -> version, from the names of the *.dist-info folders.
  std::map<std::string, std::string> installed;
  std::vector<fs::path> torches; ///< torch/version.py of each copy
};

/// An error (code usage) when the folder cannot be read or is no environment. `where` is for
/// messages.
Result<Venv> read_venv(const fs::path& venv, const std::string& where);

struct VenvTorch {
  std::string version; ///< 2.11.0+cu130
  Version cuda;        ///< 13.0
};

/// The one torch of the environment and the CUDA it was built for. None, several, or one without
/// CUDA is an error of code usage.
Result<VenvTorch> torch_of(const Venv& venv, const fs::path& folder, const std::string& where);

/// Packages of CUDA in the environment that are of another minor than its torch: they work on their
/// own, but not together. One sentence each.
std::vector<std::string> drift_of(const Venv& venv, const Version& torch_cuda);

} // namespace cukit::python

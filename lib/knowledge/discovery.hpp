// How a consumer finds its compiler, headers and libraries: the data behind the doctor's
// simulation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cukit::knowledge {

/// One place that is looked at. In a list of roots it names a toolkit's root, in a list of programs
/// the program itself.
struct DiscoveryStep {
  enum class Kind {
    variable, ///< `env NAME`: its value as it stands
    which,    ///< `which NAME`: first in PATH; as a root, the folder above its bin
    folder,   ///< `folder DIR`
    wheel,    ///< `wheel PATH`: below a site-packages folder
    include,  ///< `include NAME`: a variable that names the folder of the headers below a root
    conda,    ///< `conda`: CONDA_PREFIX
    flag      ///< `flag NAME OPTION=`: the value of a word of that variable
  };
  Kind kind = Kind::variable;
  std::string argument;
  std::string option; ///< of a flag: --xla_gpu_cuda_data_dir=
};

/// From this compute capability on consumers with a second ptxas run that one.
inline constexpr int k_second_ptxas_major = 10;

struct Discovery {
  std::vector<std::string> present; ///< distributions that bring the consumer, * at the end for any
                                    ///< rest; none: a compiler does
  bool only_asked = false;          ///< it cannot be seen whether the consumer is there
  /// What it runs itself: nvcc, nvrtc (with headers from a folder) or ptxas alone.
  std::string compiles = "nvcc";
  std::vector<DiscoveryStep> root;
  std::vector<DiscoveryStep> nvcc;            ///< before bin/nvcc of the root
  std::vector<DiscoveryStep> nvcc_last;       ///< after it
  std::vector<DiscoveryStep> ptxas;           ///< for consumers that run ptxas themselves
  std::vector<DiscoveryStep> ptxas_blackwell; ///< for compute capability 10 and newer
  std::vector<std::string> libraries;         ///< -L below the root, in order
  std::string libraries_else;                 ///< taken where the first does not exist
  std::vector<std::string> links;             ///< -l: cudart, cuda
  std::vector<std::string> tools;             ///< programs that must be in the root's bin
  std::string gate;                           ///< a program that must be in PATH
  std::string gate_variable;                  ///< set: then it need not be
  bool is_checked = false;       ///< a root that does not exist is passed over instead of taken
  bool is_runtime = false;       ///< compiles when it is used, not only when it is installed
  bool needs_activation = false; ///< of conda's environments it finds the activated one alone
  bool needs_libdevice = false;
  bool has_torch_major = false;        ///< nvcc's major must be torch's
  bool includes_cccl = false;          ///< its kernels include CCCL or cooperative groups
  std::string replaced_by;             ///< a distribution with which nothing is compiled
  std::vector<std::string> companions; ///< distributions that must have the same version
  std::string versions_of;             ///< the distribution the companions are compared with
};

/// Whether a distribution (its name normalised) is one of those that bring the consumer.
[[nodiscard]] bool brings(const Discovery& discovery, std::string_view distribution);

} // namespace cukit::knowledge

#include "buildlog/form_table.hpp"

#include <array>

namespace cukit::buildlog {

namespace {

using enum Thing;

// clang-format off
constexpr std::array k_package_forms = {
    // --- Python
    Form{"Python", "No module named '{n}'", module, State::missing, k_line},
    Form{"Python", "No module named {n}", module, State::missing, k_line},
    Form{"Python", "cannot import name '{n}' from {_}'{d}'", module, State::unknown},
    Form{"Python", "module '{d}' has no attribute '{n}'", module, State::unknown},
    Form{"Python", "No package metadata was found for {n}", module, State::missing, k_line},
    Form{"Python", "name '{n}' is not defined", symbol, State::unknown},
    Form{"Python", "Unknown CUDA arch ({n}) or GPU not supported", target, State::unknown, k_line},
    Form{"", "invalid command '{n}'", module, State::missing},
    Form{"Python", "The detected CUDA version ({h}) mismatches the version that was used to compile PyTorch ({d})", version, State::incompatible, k_line},
    Form{"", "Loaded runtime {n} library: {h} but source was compiled with: {d}. ", version, State::incompatible, k_line},
    Form{"Python", "{n} version incompatibility: PyTorch was compiled{_}against ({d}) but found runtime version ({h})", version, State::incompatible, k_line},
    Form{"Triton", "out of resource: {n}, Required: {h}, Hardware limit: {d}.", target, State::exhausted, k_line},
    Form{"NVRTC", "invalid value for --gpu-architecture", target, State::incompatible, k_line},
    Form{"torch", "Torch not compiled with {n} enabled", target, State::incompatible, k_line},
    Form{"nvcc", "Cannot find compiler '{n}' in PATH", tool, State::missing},
    Form{"cargo", "'{n}' failed. {_}kind: NotFound", tool, State::missing, k_line},
    Form{"Python", "{n} is required to load C++ extensions", tool, State::missing},
    Form{"", "Couldn't invoke {n} --version", tool, State::missing, k_line},
    // --- pip
    Form{"pip", "Could not find a version that satisfies the requirement {n} (from", package, State::missing},
    Form{"pip", "Could not find a version that satisfies the requirement {n}", package, State::missing},
    Form{"pip", "No matching distribution found for {n}", package, State::missing},
    Form{"pip", "Package '{n}' requires a different Python: {h} not in '{d}'", version, State::incompatible},
    Form{"pip", "Could not open requirements file: {_}: '{n}'", file, State::missing},
    Form{"pip", "{n} is not a valid wheel filename", file, State::incompatible},
    Form{"pip", "{n} is not a supported wheel on this platform", package, State::incompatible},
    Form{"pip", "Cannot install {n} because these package versions have conflicting dependencies", package, State::incompatible},
    Form{"pip", "ResolutionImpossible", package, State::incompatible, k_line},
    Form{"pip", "Invalid requirement: '{n}'", package, State::unknown},
    Form{"pip", "no such option: {n}", option, State::unknown, k_line},
    Form{"pip", "THESE PACKAGES DO NOT MATCH THE HASHES", digest, State::incompatible, k_line},
    Form{"pip", "externally-managed-environment", permission, State::refused},
    // --- uv
    Form{"uv", "Because {n} was not found in the", package, State::missing, k_line},
    Form{"uv", "Because there is no version of {n} and", package, State::missing, k_line},
    Form{"uv", "Because {n} has no wheels with a matching {d} (", package, State::incompatible, k_line},
    Form{"uv", "Because {n} has no wheels with a matching {d} and", package, State::incompatible, k_line},
    Form{"uv", "Because only {h} is available and you require {n},", version, State::incompatible, k_line},
    Form{"uv", "Because the current Python version ({h}) does not satisfy {d} and {n} depends", version, State::incompatible, k_line},
    Form{"uv", "Because you require {n} and {d}, we can conclude", package, State::incompatible, k_line},
    Form{"uv", "Because {n} depends on {d} and you require {h}, we can conclude", package, State::incompatible, k_line},
    Form{"uv", "your requirements are unsatisfiable", package, State::incompatible, k_line},
    Form{"uv", "No solution found when resolving", package, State::incompatible},
    Form{"uv", "unexpected argument '{n}' found", option, State::unknown},
    Form{"uv", "unrecognized subcommand '{n}'", option, State::unknown},
    Form{"uv", "File not found: {n}", file, State::missing},
    Form{"uv", "The wheel filename '{n}' is invalid", file, State::incompatible},
    Form{"uv", "Hash mismatch for '{n}'", digest, State::incompatible, k_line},
    Form{"uv", "No virtual environment or system Python installation found", tool, State::missing, k_line},
    Form{"uv", "No virtual environment found", tool, State::missing, k_line},
    Form{"uv", "Failed to fetch: {n}", network, State::failed, k_line},
    // --- conda
    Form{"conda", "nothing provides {_} {n} {d} needed by {f}", package, State::missing, k_line},
    Form{"conda", "nothing provides {n} {d} needed by {f}", package, State::missing, k_line},
    Form{"conda", "nothing provides requested {n}", package, State::missing, k_line},
    Form{"conda", "The following packages are not available from current channels", package, State::missing, k_line},
    Form{"conda", "The following specifications were found to be incompatible", package, State::incompatible, k_line},
    Form{"conda", " {n} {_}, which is missing on the system", package, State::missing, k_line},
    Form{"conda", "{n} is missing on the system", package, State::missing, k_line},
    Form{"conda", "ChecksumMismatchError", digest, State::incompatible, k_line},
    Form{"conda", "Could not solve for environment specs", package, State::incompatible, k_line},
    // --- apt, dnf
    Form{"apt", "Unable to locate package {n}", package, State::missing},
    Form{"apt", "Version '{d}' for '{n}' was not found", version, State::missing},
    Form{"apt", "Package '{n}' has no installation candidate", package, State::missing},
    Form{"apt", "Couldn't find any package by", package, State::missing},
    Form{"apt", "Unable to correct problems, you have held broken packages", package, State::incompatible},
    Form{"apt", "{n} : Depends: {d} but {h} is to be installed", package, State::incompatible, k_line},
    Form{"apt", "{n} : Depends: {d} but it is not", package, State::incompatible, k_line},
    Form{"apt", "Command line option {n} is not understood", option, State::unknown},
    Form{"apt", "NO_PUBKEY {n}", key, State::missing, k_line},
    Form{"apt", "EXPKEYSIG {n} ", key, State::incompatible, k_line},
    Form{"apt", "KEYEXPIRED {n}", key, State::incompatible, k_line},
    Form{"apt", "The repository '{n}' is not signed", key, State::missing},
    Form{"apt", "Hash Sum mismatch", digest, State::incompatible, k_line},
    Form{"apt", "Could not get lock {n}. It is held by process {d}", file, State::duplicate},
    Form{"apt", "Could not get lock {n} - open", file, State::duplicate},
    Form{"apt", "Could not get lock {n}", file, State::duplicate},
    Form{"apt", "Unable to acquire the dpkg frontend lock ({n}), is another process using it", file, State::duplicate},
    Form{"conda", "LOCKERROR: {n}", file, State::duplicate, k_line},
    Form{"apt", "dpkg was interrupted", package, State::incompatible},
    Form{"dnf", "No match for argument: {n}", package, State::missing, k_line},
    Form{"dnf", "Unable to find a match: {n}", package, State::missing, k_line},
    Form{"dnf", "GPG check FAILED", key, State::refused, k_line},
    Form{"zypper", "No provider of '{n}' found", package, State::missing, k_line},
    Form{"pacman", "target not found: {n}", package, State::missing, k_line},
    // --- network, certificates
    Form{"", "Could not resolve host: {n}", network, State::missing, k_line},
    Form{"", "Could not resolve '{n}'", network, State::missing, k_line},
    Form{"", "unable to resolve host address '{n}'", network, State::missing, k_line},
    Form{"", "Temporary failure in name resolution", network, State::missing, k_line},
    Form{"", "Temporary failure resolving '{n}'", network, State::missing, k_line},
    Form{"", "Name or service not known", network, State::missing, k_line},
    Form{"", "Failed to establish a new connection", network, State::refused, k_line},
    Form{"", "Failed to connect to {n} port", network, State::refused, k_line},
    Form{"", "Could not connect to {n}", network, State::refused, k_line},
    Form{"", "Connection timed out", network, State::refused, k_line},
    Form{"", "Read timed out", network, State::failed, k_line},
    Form{"", "operation timed out", network, State::failed, k_line},
    Form{"", "Proxy Authentication Required", network, State::refused, k_line},
    Form{"", "Cannot connect to proxy", network, State::refused, k_line},
    Form{"", "Unable to connect to proxy", network, State::refused, k_line},
    Form{"", "The requested URL returned error: {d}", network, State::refused, k_line},
    Form{"", "HTTP error {d} while getting {n}", network, State::refused, k_line},
    Form{"", "HTTP status client error ({d}) for url ({n})", network, State::refused, k_line},
    Form{"", "CERTIFICATE_VERIFY_FAILED", certificate, State::refused, k_line},
    Form{"", "SSL certificate problem: {d}", certificate, State::refused, k_line},
    Form{"", "certificate verification failed", certificate, State::refused, k_line},
    Form{"", "certificate verify failed", certificate, State::refused, k_line},
    Form{"", "invalid peer certificate", certificate, State::refused, k_line},
    // --- driver, containers
    Form{"NVML", "Failed to initialize NVML: {d}", driver, State::incompatible, k_line},
    Form{"nvidia-smi", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver", driver, State::missing, k_line},
    Form{"driver", "Found no NVIDIA driver on your system", driver, State::missing, k_line},
    Form{"driver", "The NVIDIA driver on your system is too old (found version {h})", driver, State::incompatible, k_line},
    Form{"container", "requirement error: unsatisfied condition: {d},", driver, State::incompatible, k_line},
    Form{"container", "could not select device driver {_} with capabilities: {n}", driver, State::missing, k_line},
    Form{"container", "unresolvable CDI devices {n}", driver, State::missing, k_line},
    Form{"container", "unknown or invalid runtime name: {n}", driver, State::missing, k_line},
    Form{"scheduler", "DUE TO TIME LIMIT", other, State::exhausted, k_line},
    Form{"scheduler", "oom_kill event", memory, State::killed, k_line},
    Form{"scheduler", "OOMKilled", memory, State::killed, k_line},
    Form{"kernel", "Out of memory: Killed process {_} ({n})", memory, State::killed, k_line},
    Form{"container", "nvidia-container-cli: initialization error: {d}", driver, State::missing, k_line},
    Form{"torch", "with CUDA capability {n} is not compatible with the current PyTorch installation", target, State::incompatible, k_line},
};
// clang-format on

} // namespace

std::span<const Form> package_forms() {
  return k_package_forms;
}

} // namespace cukit::buildlog

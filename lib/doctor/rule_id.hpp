// The rules that this code reports, each by the name that recipes/doctor/rules.yaml has it under:
// headers_differ is `headers-differ`. The catalogue is checked against this list when it is read;
// a rule that only messages of logs lead to needs no line here. Private to doctor.
#pragma once

#include <string>
#include <vector>

namespace cukit::doctor {

// clang-format off
#define CUKIT_DOCTOR_RULES(X) \
  X(scan_cut_short) X(variable_malformed) X(variable_wrong_folder) X(variables_disagree)                            \
  X(flags_reach_another_toolkit) X(ccbin_empty) X(architecture_list) X(architecture_removed)      \
  X(nvcc_in_pip_build_environment) X(older_toolkit_first) X(nvcc_too_old) X(torch_major_differs)  \
  X(two_toolkits) X(nvcc_not_in_path) X(toolkit_not_found) X(no_nvcc) X(conda_not_activated)      \
  X(nvcc_linked_alone) X(nvcc_pinned_away) X(headers_differ) X(cicc_differs) X(crt_differs)       \
  X(cccl_missing) X(cccl_mixed) X(cccl_older) X(part_missing) X(crt_missing) X(headers_missing)   \
  X(math_headers_missing) X(tool_missing) X(nvlink_differs) X(dlto_library_missing)               \
  X(library_folder_missing) X(library_name_missing) X(stub_missing) X(cccl_moved)                 \
  X(nvrtc_headers_differ) X(nvjitlink_older) X(nvrtc_builtins_missing) X(libdevice_missing)                          \
  X(host_compiler_missing) X(host_compiler_too_new) X(glibc_too_new) X(driver_library_missing)    \
  X(driver_too_old) X(driver_older_than_ptx) X(stub_distribution) X(wheel_files_overwritten)      \
  X(wheel_files_gone) X(extension_cuda_differs) X(library_not_found) X(library_path_shadows)      \
  X(two_cuda_families) X(companion_differs) X(pins_conflict) X(conda_versions_drift)              \
  X(triton_variable) X(ptxas_too_old) X(cache_stale) X(cache_of_another_toolkit)                  \
  X(torch_minor_differs) X(foreign_include_path) X(cccl_too_old_for_code)                         \
  X(library_lacks_symbols) X(driver_library_older) X(driver_stub_loaded) X(driver_half_updated)   \
  X(host_scan_of_cuda_source) X(incomplete_import)                                                \
  X(build_mixes_toolkits) X(target_list_not_served) X(native_without_gpu) X(target_unknown)       \
  X(target_lacks_feature) X(option_unknown) X(header_not_searched) X(header_missing)              \
  X(python_headers_missing) X(program_missing) X(library_missing) X(module_missing)               \
  X(build_isolated) X(package_not_found) X(version_not_met) X(cmake_target_missing)               \
  X(conda_sees_no_driver) X(repository_key) X(compiler_killed) X(disk_full)                       \
  X(permission_refused) X(network_refused) X(certificate_refused) X(digest_differs)               \
  X(driver_mismatch) X(cuda_call_failed) X(log_not_explained) X(ptxas_refused)                    \
  X(compiler_cache_mixes_trees) X(nvcc_of_another_toolkit) X(torch_has_no_code)                  \
  X(build_environment_differs) X(compiler_check_failed) X(compiler_crashed) X(file_missing)       \
  X(file_damaged) X(lock_held) X(limit_reached) X(container_without_gpus) X(python_managed)       \
  X(extension_of_another_torch) X(device_link_incomplete) X(symbol_defined_twice)                 \
  X(nvrtc_lacks_target) X(gpu_limit_exceeded) X(name_gone) X(name_not_yet)
// clang-format on

#define CUKIT_DOCTOR_ENUMERATOR(name) name,
enum class RuleId { CUKIT_DOCTOR_RULES(CUKIT_DOCTOR_ENUMERATOR) };
#undef CUKIT_DOCTOR_ENUMERATOR

/// `headers-differ`
std::string text_of(RuleId id);
const std::vector<std::string>& reported_rules();

} // namespace cukit::doctor

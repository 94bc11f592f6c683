// The errors of CUDA's runtime and driver: numbers and names of driver_types.h and cuda.h of CUDA
// 13.0, texts of cudaGetErrorString(). A test compares them with the toolkit that is here.
#include "buildlog/buildlog.hpp"

#include <algorithm>
#include <array>

namespace cukit::buildlog {

namespace {

// clang-format off
constexpr std::array k_errors = {
  CudaError{1, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
  CudaError{2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  CudaError{3, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
  CudaError{4, "cudaErrorCudartUnloading", "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
  CudaError{5, "cudaErrorProfilerDisabled", "CUDA_ERROR_PROFILER_DISABLED", "profiler disabled while using external profiling tool"},
  CudaError{6, "cudaErrorProfilerNotInitialized", "CUDA_ERROR_PROFILER_NOT_INITIALIZED", "profiler not initialized: call cudaProfilerInitialize()"},
  CudaError{7, "cudaErrorProfilerAlreadyStarted", "CUDA_ERROR_PROFILER_ALREADY_STARTED", "profiler already started"},
  CudaError{8, "cudaErrorProfilerAlreadyStopped", "CUDA_ERROR_PROFILER_ALREADY_STOPPED", "profiler already stopped"},
  CudaError{9, "cudaErrorInvalidConfiguration", nullptr, "invalid configuration argument"},
  CudaError{12, "cudaErrorInvalidPitchValue", nullptr, "invalid pitch argument"},
  CudaError{13, "cudaErrorInvalidSymbol", nullptr, "invalid device symbol"},
  CudaError{16, "cudaErrorInvalidHostPointer", nullptr, "invalid host pointer"},
  CudaError{17, "cudaErrorInvalidDevicePointer", nullptr, "invalid device pointer"},
  CudaError{18, "cudaErrorInvalidTexture", nullptr, "invalid texture reference"},
  CudaError{19, "cudaErrorInvalidTextureBinding", nullptr, "texture is not bound to a pointer"},
  CudaError{20, "cudaErrorInvalidChannelDescriptor", nullptr, "invalid channel descriptor"},
  CudaError{21, "cudaErrorInvalidMemcpyDirection", nullptr, "invalid copy direction for memcpy"},
  CudaError{22, "cudaErrorAddressOfConstant", nullptr, "invalid address of constant"},
  CudaError{23, "cudaErrorTextureFetchFailed", nullptr, "fetch from texture failed"},
  CudaError{24, "cudaErrorTextureNotBound", nullptr, "cannot fetch from a texture that is not bound"},
  CudaError{25, "cudaErrorSynchronizationError", nullptr, "incorrect use of __syncthreads()"},
  CudaError{26, "cudaErrorInvalidFilterSetting", nullptr, "linear filtering not supported for non-float type"},
  CudaError{27, "cudaErrorInvalidNormSetting", nullptr, "read as normalized float not supported for data type"},
  CudaError{28, "cudaErrorMixedDeviceExecution", nullptr, "device emulation mode and device execution mode cannot be mixed"},
  CudaError{31, "cudaErrorNotYetImplemented", nullptr, "feature not yet implemented"},
  CudaError{32, "cudaErrorMemoryValueTooLarge", nullptr, "memory size or pointer value too large to fit in 32 bit"},
  CudaError{34, "cudaErrorStubLibrary", "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
  CudaError{35, "cudaErrorInsufficientDriver", nullptr, "CUDA driver version is insufficient for CUDA runtime version"},
  CudaError{36, "cudaErrorCallRequiresNewerDriver", "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "API call is not supported in the installed CUDA driver"},
  CudaError{37, "cudaErrorInvalidSurface", nullptr, "invalid surface reference"},
  CudaError{43, "cudaErrorDuplicateVariableName", nullptr, "duplicate global variable looked up by string name"},
  CudaError{44, "cudaErrorDuplicateTextureName", nullptr, "duplicate texture looked up by string name"},
  CudaError{45, "cudaErrorDuplicateSurfaceName", nullptr, "duplicate surface looked up by string name"},
  CudaError{46, "cudaErrorDevicesUnavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
  CudaError{49, "cudaErrorIncompatibleDriverContext", nullptr, "incompatible driver context"},
  CudaError{52, "cudaErrorMissingConfiguration", nullptr, "__global__ function call is not configured"},
  CudaError{53, "cudaErrorPriorLaunchFailure", nullptr, "unspecified launch failure in prior launch"},
  CudaError{65, "cudaErrorLaunchMaxDepthExceeded", nullptr, "launch would exceed maximum depth of nested launches"},
  CudaError{66, "cudaErrorLaunchFileScopedTex", nullptr, "launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)"},
  CudaError{67, "cudaErrorLaunchFileScopedSurf", nullptr, "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)"},
  CudaError{68, "cudaErrorSyncDepthExceeded", nullptr, "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth"},
  CudaError{69, "cudaErrorLaunchPendingCountExceeded", nullptr, "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"},
  CudaError{98, "cudaErrorInvalidDeviceFunction", nullptr, "invalid device function"},
  CudaError{100, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
  CudaError{101, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
  CudaError{102, "cudaErrorDeviceNotLicensed", "CUDA_ERROR_DEVICE_NOT_LICENSED", "device doesn't have valid Grid license"},
  CudaError{103, "cudaErrorSoftwareValidityNotEstablished", nullptr, "integrity checks failed"},
  CudaError{127, "cudaErrorStartupFailure", nullptr, "startup failure in cuda runtime"},
  CudaError{200, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
  CudaError{201, "cudaErrorDeviceUninitialized", "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
  CudaError{202, nullptr, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", ""},
  CudaError{205, "cudaErrorMapBufferObjectFailed", "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
  CudaError{206, "cudaErrorUnmapBufferObjectFailed", "CUDA_ERROR_UNMAP_FAILED", "unmapping of buffer object failed"},
  CudaError{207, "cudaErrorArrayIsMapped", "CUDA_ERROR_ARRAY_IS_MAPPED", "array is mapped"},
  CudaError{208, "cudaErrorAlreadyMapped", "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"},
  CudaError{209, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
  CudaError{210, "cudaErrorAlreadyAcquired", "CUDA_ERROR_ALREADY_ACQUIRED", "resource already acquired"},
  CudaError{211, "cudaErrorNotMapped", "CUDA_ERROR_NOT_MAPPED", "resource not mapped"},
  CudaError{212, "cudaErrorNotMappedAsArray", "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", "resource not mapped as array"},
  CudaError{213, "cudaErrorNotMappedAsPointer", "CUDA_ERROR_NOT_MAPPED_AS_POINTER", "resource not mapped as pointer"},
  CudaError{214, "cudaErrorECCUncorrectable", "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
  CudaError{215, "cudaErrorUnsupportedLimit", "CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this architecture"},
  CudaError{216, "cudaErrorDeviceAlreadyInUse", "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", "exclusive-thread device already in use by a different thread"},
  CudaError{217, "cudaErrorPeerAccessUnsupported", "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"},
  CudaError{218, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
  CudaError{219, "cudaErrorInvalidGraphicsContext", "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", "invalid OpenGL or DirectX context"},
  CudaError{220, "cudaErrorNvlinkUncorrectable", "CUDA_ERROR_NVLINK_UNCORRECTABLE", "uncorrectable NVLink error detected during the execution"},
  CudaError{221, "cudaErrorJitCompilerNotFound", "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
  CudaError{222, "cudaErrorUnsupportedPtxVersion", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
  CudaError{223, "cudaErrorJitCompilationDisabled", "CUDA_ERROR_JIT_COMPILATION_DISABLED", "PTX JIT compilation was disabled"},
  CudaError{224, "cudaErrorUnsupportedExecAffinity", "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", "the provided execution affinity is not supported"},
  CudaError{225, "cudaErrorUnsupportedDevSideSync", "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", "the provided PTX contains unsupported call to cudaDeviceSynchronize"},
  CudaError{226, "cudaErrorContained", "CUDA_ERROR_CONTAINED", "Invalid access of peer GPU memory over nvlink or a hardware error"},
  CudaError{300, "cudaErrorInvalidSource", "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
  CudaError{301, "cudaErrorFileNotFound", "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
  CudaError{302, "cudaErrorSharedObjectSymbolNotFound", "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "shared object symbol not found"},
  CudaError{303, "cudaErrorSharedObjectInitFailed", "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "shared object initialization failed"},
  CudaError{304, "cudaErrorOperatingSystem", "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
  CudaError{400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
  CudaError{401, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
  CudaError{402, "cudaErrorLossyQuery", "CUDA_ERROR_LOSSY_QUERY", "attempted introspection would be semantically lossy"},
  CudaError{500, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
  CudaError{600, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY", "device not ready"},
  CudaError{700, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
  CudaError{701, "cudaErrorLaunchOutOfResources", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
  CudaError{702, "cudaErrorLaunchTimeout", "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
  CudaError{703, "cudaErrorLaunchIncompatibleTexturing", "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", "launch uses incompatible texturing mode"},
  CudaError{704, "cudaErrorPeerAccessAlreadyEnabled", "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
  CudaError{705, "cudaErrorPeerAccessNotEnabled", "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
  CudaError{708, "cudaErrorSetOnActiveProcess", "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "cannot set while device is active in this process"},
  CudaError{709, "cudaErrorContextIsDestroyed", "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
  CudaError{710, "cudaErrorAssert", "CUDA_ERROR_ASSERT", "device-side assert triggered"},
  CudaError{711, "cudaErrorTooManyPeers", "CUDA_ERROR_TOO_MANY_PEERS", "peer mapping resources exhausted"},
  CudaError{712, "cudaErrorHostMemoryAlreadyRegistered", "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped"},
  CudaError{713, "cudaErrorHostMemoryNotRegistered", "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region"},
  CudaError{714, "cudaErrorHardwareStackError", "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
  CudaError{715, "cudaErrorIllegalInstruction", "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
  CudaError{716, "cudaErrorMisalignedAddress", "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
  CudaError{717, "cudaErrorInvalidAddressSpace", "CUDA_ERROR_INVALID_ADDRESS_SPACE", "operation not supported on global/shared address space"},
  CudaError{718, "cudaErrorInvalidPc", "CUDA_ERROR_INVALID_PC", "invalid program counter"},
  CudaError{719, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
  CudaError{720, "cudaErrorCooperativeLaunchTooLarge", "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
  CudaError{721, "cudaErrorTensorMemoryLeak", "CUDA_ERROR_TENSOR_MEMORY_LEAK", "tensor memory not completely freed"},
  CudaError{800, "cudaErrorNotPermitted", "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
  CudaError{801, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
  CudaError{802, "cudaErrorSystemNotReady", "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
  CudaError{803, "cudaErrorSystemDriverMismatch", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
  CudaError{804, "cudaErrorCompatNotSupportedOnDevice", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
  CudaError{805, "cudaErrorMpsConnectionFailed", "CUDA_ERROR_MPS_CONNECTION_FAILED", "MPS client failed to connect to the MPS control daemon or the MPS server"},
  CudaError{806, "cudaErrorMpsRpcFailure", "CUDA_ERROR_MPS_RPC_FAILURE", "the remote procedural call between the MPS server and the MPS client failed"},
  CudaError{807, "cudaErrorMpsServerNotReady", "CUDA_ERROR_MPS_SERVER_NOT_READY", "MPS server is not ready to accept new MPS client requests"},
  CudaError{808, "cudaErrorMpsMaxClientsReached", "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "the hardware resources required to create MPS client have been exhausted"},
  CudaError{809, "cudaErrorMpsMaxConnectionsReached", "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", "the hardware resources required to support device connections have been exhausted"},
  CudaError{810, "cudaErrorMpsClientTerminated", "CUDA_ERROR_MPS_CLIENT_TERMINATED", "the MPS client has been terminated by the server"},
  CudaError{811, "cudaErrorCdpNotSupported", "CUDA_ERROR_CDP_NOT_SUPPORTED", "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it"},
  CudaError{812, "cudaErrorCdpVersionMismatch", "CUDA_ERROR_CDP_VERSION_MISMATCH", "unsupported interaction between different versions of CUDA Dynamic Parallelism"},
  CudaError{900, "cudaErrorStreamCaptureUnsupported", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
  CudaError{901, "cudaErrorStreamCaptureInvalidated", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
  CudaError{902, "cudaErrorStreamCaptureMerge", "CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would result in a merge of separate capture sequences"},
  CudaError{903, "cudaErrorStreamCaptureUnmatched", "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
  CudaError{904, "cudaErrorStreamCaptureUnjoined", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
  CudaError{905, "cudaErrorStreamCaptureIsolation", "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
  CudaError{906, "cudaErrorStreamCaptureImplicit", "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "operation would make the legacy stream depend on a capturing blocking stream"},
  CudaError{907, "cudaErrorCapturedEvent", "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
  CudaError{908, "cudaErrorStreamCaptureWrongThread", "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "attempt to terminate a thread-local capture sequence from another thread"},
  CudaError{909, "cudaErrorTimeout", "CUDA_ERROR_TIMEOUT", "wait operation timed out"},
  CudaError{910, "cudaErrorGraphExecUpdateFailure", "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"},
  CudaError{911, "cudaErrorExternalDevice", "CUDA_ERROR_EXTERNAL_DEVICE", "an async error has occured in external entity outside of CUDA"},
  CudaError{912, "cudaErrorInvalidClusterSize", "CUDA_ERROR_INVALID_CLUSTER_SIZE", "a kernel launch error has occurred due to cluster misconfiguration"},
  CudaError{913, "cudaErrorFunctionNotLoaded", "CUDA_ERROR_FUNCTION_NOT_LOADED", "the function handle is not loaded when calling an API that requires a loaded function"},
  CudaError{914, "cudaErrorInvalidResourceType", "CUDA_ERROR_INVALID_RESOURCE_TYPE", "one or more resources passed in are not valid resource types for the operation"},
  CudaError{915, "cudaErrorInvalidResourceConfiguration", "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "one or more resources are insufficient or non-applicable for the operation"},
  CudaError{916, nullptr, "CUDA_ERROR_KEY_ROTATION", ""},
  CudaError{999, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", "unknown error"},
};
// clang-format on

std::string_view view(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

template <class Match> const CudaError* find(const Match& match) {
  const auto* const found = std::find_if(k_errors.begin(), k_errors.end(), match);
  return found == k_errors.end() ? nullptr : found;
}

} // namespace

const CudaError* cuda_error(int number) {
  return find([&](const auto& error) { return error.number == number; });
}

const CudaError* cuda_error(std::string_view name) {
  return find(
      [&](const auto& error) { return view(error.runtime) == name || view(error.driver) == name; });
}

const CudaError* cuda_error_of_text(std::string_view text) {
  const auto plain = [](std::string_view of) {
    while (of.ends_with('.')) {
      of.remove_suffix(1);
    }
    return of;
  };
  return find([&](const auto& error) {
    return !view(error.text).empty() && plain(view(error.text)) == plain(text);
  });
}

} // namespace cukit::buildlog

#include "machine/nvml.hpp"

#include <array>
#include <cstring>
#include <dlfcn.h>

namespace cukit::machine {

namespace {

// nvml.h: nvmlReturn_t, and nvmlDevice_t is a pointer that only the library looks behind
constexpr int k_nvml_success = 0;
constexpr unsigned k_most_gpus = 1024;

struct Nvml {
  int (*init)() = nullptr;
  int (*shut_down)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, void**) = nullptr;
  int (*name)(void*, char*, unsigned) = nullptr;
  int (*uuid)(void*, char*, unsigned) = nullptr;
  int (*capability)(void*, int*, int*) = nullptr;
};

template <typename F> bool find_function(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  return function != nullptr;
}

bool find_functions(void* library, Nvml& nvml) {
  // the last has been there since CUDA 8, the rest for longer
  return find_function(library, "nvmlInit_v2", nvml.init) &&
         find_function(library, "nvmlShutdown", nvml.shut_down) &&
         find_function(library, "nvmlSystemGetDriverVersion", nvml.driver_version) &&
         find_function(library, "nvmlDeviceGetCount_v2", nvml.count) &&
         find_function(library, "nvmlDeviceGetHandleByIndex_v2", nvml.device) &&
         find_function(library, "nvmlDeviceGetName", nvml.name) &&
         find_function(library, "nvmlDeviceGetUUID", nvml.uuid) &&
         find_function(library, "nvmlDeviceGetCudaComputeCapability", nvml.capability);
}

std::string text_of(const std::array<char, 96>& bytes) {
  return {bytes.data(), ::strnlen(bytes.data(), bytes.size())};
}

void add_device(const Nvml& nvml, unsigned index, text::Json& list) {
  void* handle = nullptr;
  std::array<char, 96> name{};
  std::array<char, 96> uuid{};
  int major = 0;
  int minor = 0;
  if (nvml.device(index, &handle) == k_nvml_success &&
      nvml.name(handle, name.data(), name.size()) == k_nvml_success &&
      nvml.uuid(handle, uuid.data(), uuid.size()) == k_nvml_success &&
      nvml.capability(handle, &major, &minor) == k_nvml_success) {
    list.add(text::Json::object()
                 .set("index", static_cast<int>(index))
                 .set("name", text_of(name))
                 .set("uuid", text_of(uuid))
                 .set("major", major)
                 .set("minor", minor));
  }
}

} // namespace

std::vector<std::string> management_libraries() {
  return {"libnvidia-ml.so.1",
          "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
          "/usr/lib/wsl/lib/libnvidia-ml.so.1",
          "/usr/lib64-nvidia/libnvidia-ml.so.1",
          "/usr/lib64/libnvidia-ml.so.1",
          "/run/opengl-driver/lib/libnvidia-ml.so.1"};
}

void ask_nvml(const std::vector<std::string>& libraries, text::Json& answer) {
  for (const auto& path : libraries) {
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); // never closed, as libcuda
    Nvml nvml;
    if (library == nullptr || !find_functions(library, nvml) || nvml.init() != k_nvml_success) {
      continue;
    }
    std::array<char, 96> version{};
    if (nvml.driver_version(version.data(), version.size()) == k_nvml_success) {
      answer.set("driver_version", text_of(version));
    }
    unsigned count = 0;
    auto list = text::Json::list();
    if (nvml.count(&count) == k_nvml_success && count <= k_most_gpus) {
      for (unsigned index = 0; index < count; ++index) {
        add_device(nvml, index, list);
      }
    }
    static_cast<void>(nvml.shut_down());
    answer.set("seen", std::move(list));
    return;
  }
}

} // namespace cukit::machine

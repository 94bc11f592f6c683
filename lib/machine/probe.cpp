// The child's side of devices(): the only place that touches the driver, through a dozen functions
// found by dlsym.
#include "machine/probe.hpp"

#include "base/strings.hpp"
#include "machine/nvml.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <link.h>

namespace cukit::machine {

namespace {

// cuda.h, CUresult and CUdevice_attribute
constexpr int k_cuda_success = 0;
constexpr int k_stub_library = 34;
constexpr int k_no_device = 100;
constexpr int k_attribute_major = 75;
constexpr int k_attribute_minor = 76;

struct Uuid {
  std::array<unsigned char, 16> bytes;
};

struct Api {
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*device)(int*, int) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*uuid)(Uuid*, int) = nullptr;
  int (*error_text)(int, const char**) = nullptr;
};

template <typename F> void find(void* library, const char* name, F& function) {
  if (function == nullptr) {
    function = reinterpret_cast<F>(::dlsym(library, name));
  }
}

Api find_api(void* library) {
  Api api;
  find(library, "cuInit", api.init);
  find(library, "cuDriverGetVersion", api.driver_version);
  find(library, "cuDeviceGetCount", api.count);
  find(library, "cuDeviceGet", api.device);
  find(library, "cuDeviceGetName", api.name);
  find(library, "cuDeviceGetAttribute", api.attribute);
  find(library, "cuDeviceGetUuid_v2", api.uuid); // the one that tells MIG instances apart
  find(library, "cuDeviceGetUuid", api.uuid);
  find(library, "cuGetErrorString", api.error_text);
  return api;
}

bool is_complete(const Api& api) {
  return api.init != nullptr && api.driver_version != nullptr && api.count != nullptr &&
         api.device != nullptr && api.name != nullptr && api.attribute != nullptr &&
         api.uuid != nullptr;
}

std::string describe(const Api& api, int code) {
  if (code == k_stub_library) {
    return "it is a stub for linking (CUDA_ERROR_STUB_LIBRARY), not a driver";
  }
  if (code == k_no_device) {
    return "the driver sees no GPU (CUDA_ERROR_NO_DEVICE)";
  }
  const char* text = nullptr;
  if (api.error_text == nullptr || api.error_text(code, &text) != k_cuda_success ||
      text == nullptr) {
    text = "unknown error";
  }
  return fmt::format("the driver answers {} ({})", code, text);
}

std::string path_of(void* library) {
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) {
    return {};
  }
  return map->l_name;
}

std::string uuid_text(const Uuid& uuid, std::string_view device_name) {
  // CUDA_VISIBLE_DEVICES wants an instance of a partitioned GPU by this prefix
  std::string text = device_name.find(" MIG ") != std::string_view::npos ? "MIG-" : "GPU-";
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    text += i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

/// One device; the code of the call that failed, 0 when none did.
int describe_device(const Api& api, int index, text::Json& list) {
  int handle = 0;
  int major = 0;
  int minor = 0;
  std::array<char, 256> name{};
  Uuid uuid{};
  for (const int code :
       {api.device(&handle, index),
        api.name(name.data(), static_cast<int>(name.size()) - 1, handle),
        api.attribute(&major, k_attribute_major, handle),
        api.attribute(&minor, k_attribute_minor, handle), api.uuid(&uuid, handle)}) {
    if (code != k_cuda_success) {
      return code;
    }
  }
  list.add(text::Json::object()
               .set("index", index)
               .set("name", std::string(name.data()))
               .set("uuid", uuid_text(uuid, name.data()))
               .set("major", major)
               .set("minor", minor));
  return k_cuda_success;
}

text::Json nothing(const std::string& why) {
  return text::Json::object().set("why", why);
}

/// Asks a loaded library. `usable` is false when it is no driver and the next one may be tried.
text::Json ask(const Api& api, const std::string& path, bool& usable) {
  int version = 0;
  int code = api.driver_version(&version);
  usable = code != k_stub_library;
  if (code == k_cuda_success) {
    code = api.init(0);
    usable = code != k_stub_library;
  }
  text::Json answer = text::Json::object();
  if (usable && version > 0) {
    answer.set("library", path).set("cuda", version);
  }
  int count = 0;
  if (code == k_cuda_success) {
    code = api.count(&count);
  }
  text::Json list = text::Json::list();
  for (int index = 0; code == k_cuda_success && index < count; ++index) {
    code = describe_device(api, index, list);
  }
  if (code == k_cuda_success && count == 0) {
    code = k_no_device;
  }
  if (code != k_cuda_success) {
    return answer.set("why", fmt::format("{}: {}", path, describe(api, code)));
  }
  return answer.set("devices", std::move(list));
}

} // namespace

std::vector<std::string> driver_libraries() {
  return {"libcuda.so.1",
          "/usr/local/nvidia/lib64/libcuda.so.1",
          "/usr/lib/wsl/lib/libcuda.so.1",
          "/usr/lib64-nvidia/libcuda.so.1",
          "/usr/lib64/libcuda.so.1",
          "/run/opengl-driver/lib/libcuda.so.1"};
}

text::Json probe(const std::vector<std::string>& libraries) {
  std::vector<std::string> reasons;
  for (const auto& name : libraries) {
    void* library =
        ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL); // never closed: drivers have threads
    if (library == nullptr) {
      const char* text = ::dlerror();
      const std::string reason = text != nullptr ? text : "unknown error";
      const bool is_new = std::find(reasons.begin(), reasons.end(), reason) == reasons.end();
      if (is_new && reason.find("No such file") == std::string::npos) {
        reasons.push_back(reason); // the loader's path and ours may lead to the same file
      }
      continue;
    }
    const std::string path = path_of(library);
    const Api api = find_api(library);
    if (!is_complete(api)) {
      reasons.push_back(path + ": it has not the functions of a CUDA driver");
      continue;
    }
    bool usable = false;
    auto answer = ask(api, path, usable);
    if (usable) {
      return answer;
    }
    reasons.emplace_back(answer.text_of("why"));
  }
  if (reasons.empty()) {
    return nothing("no NVIDIA driver: libcuda.so.1 was not found (looked for as " +
                   join(libraries, ", ") + ")");
  }
  return nothing(join(reasons, "; "));
}

int probe_devices_main() {
  auto answer = probe(driver_libraries());
  if (answer.find("devices") == nullptr) {
    ask_nvml(management_libraries(), answer);
  }
  const std::string line = answer.dump(false) + "\n";
  const bool written = std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
  return written && std::fflush(stdout) == 0 ? 0 : 1;
}

} // namespace cukit::machine

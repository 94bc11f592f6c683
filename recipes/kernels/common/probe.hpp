// What every kernel program shares: checked calls, the lines that a validation reads, and the way out.
// A program prints `number NAME VALUE` for what it computed and, at its end, `loaded PATH` for every CUDA library in its address
// space. Exit code 0: all calls succeeded; 77: this device cannot run it, with the reason on a line `skip ...`; 1: something failed.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace probe {

[[noreturn]] inline void fail(const char* what, const char* error, int line) {
  std::fflush(stdout);
  std::fprintf(stderr, "line %d: %s: %s\n", line, what, error);
  std::exit(1);
}

inline void check(cudaError_t code, const char* what, int line) {
  if (code != cudaSuccess) {
    const std::string text =
        std::string(cudaGetErrorName(code)) + " (" + std::to_string(static_cast<int>(code)) + "), " + cudaGetErrorString(code);
    fail(what, text.c_str(), line);
  }
}

inline void number(const char* name, double value) { std::printf("number %s %.17g\n", name, value); }

[[noreturn]] inline void skip(const std::string& reason) {
  std::printf("skip %s\n", reason.c_str());
  std::fflush(stdout);
  std::exit(77);
}

inline int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute", __LINE__);
  return value;
}

/// Device memory of `count` elements, freed with the value.
template <typename T> class Buffer {
public:
  explicit Buffer(std::size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc", __LINE__); }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    check(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copy to the device", __LINE__);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }
  T* data() const { return data_; }
  void clear() { check(cudaMemset(data_, 0, count_ * sizeof(T)), "cudaMemset", __LINE__); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy to the host", __LINE__);
    return values;
  }

private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// After a launch: some errors (an image the driver cannot use) are seen by cudaGetLastError alone.
inline void launched(int line) {
  check(cudaGetLastError(), "launch", line);
  check(cudaDeviceSynchronize(), "kernel", line);
}

inline void print_loaded() {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) {
    fail("/proc/self/maps", "cannot be opened", __LINE__);
  }
  std::set<std::string> seen;
  char line[8192];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    const char* path = std::strchr(line, '/');
    if (path == nullptr) {
      continue;
    }
    std::string text(path);
    text.erase(text.find_last_not_of('\n') + 1);
    const std::string name = text.substr(text.rfind('/') + 1);
    for (const char* prefix : {"libcudart.", "libnvrtc", "libnvJitLink.", "libcuda."}) {
      if (name.rfind(prefix, 0) == 0 && seen.insert(text).second) {
        std::printf("loaded %s\n", text.c_str());
      }
    }
  }
  std::fclose(maps);
}

/// The last line of every main().
inline int done() {
  print_loaded();
  return std::fflush(stdout) == 0 ? 0 : 1;
}

} // namespace probe

#define PROBE_CHECK(call) ::probe::check((call), #call, __LINE__)
#define PROBE_LAUNCHED() ::probe::launched(__LINE__)
#define PROBE_REQUIRE(condition)                                                                                               \
  do {                                                                                                                         \
    if (!(condition)) {                                                                                                        \
      ::probe::fail(#condition, "does not hold", __LINE__);                                                                    \
    }                                                                                                                          \
  } while (false)

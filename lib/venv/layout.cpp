#include "venv/layout.hpp"

#include "assemble/assemble.hpp"
#include "assemble/driver_headers.hpp"

#include <algorithm>

namespace cukit::venv {

namespace {

constexpr std::uint64_t k_header_bytes = 16U << 20U; // cuda.h has 1.2 MB
constexpr const char* k_stub = "lib/stubs/libcuda.so";
constexpr const char* k_libnvvm = "lib/libnvvm.so.4";

class Layout {
public:
  Layout(const std::map<std::string, fs::path>& files, const std::string& root)
      : files_(files), root_(root + "/") {}

  Result<std::vector<LayoutFile>> make(Platform platform) {
    bool has_lib = false;
    for (const auto& [path, bytes] : files_) {
      if (path.starts_with(root_ + "lib/")) {
        has_lib = true;
        add_plain_name(path.substr(root_.size() + 4));
      }
    }
    if (has_lib) {
      add_link("lib64", "lib");
    }
    if (has(k_libnvvm)) {
      for (const char* name : {"nvvm/lib64/libnvvm.so", "nvvm/lib64/libnvvm.so.4"}) {
        add_link(name, std::string("../../") + k_libnvvm);
      }
    }
    CUKIT_TRY(add_stub(platform));
    return std::move(made_);
  }

private:
  [[nodiscard]] bool has(const std::string& path) const { return files_.contains(root_ + path); }

  void add_link(const std::string& path, const std::string& target) {
    if (!has(path)) {
      made_.push_back({root_ + path, target, {}});
    }
  }
  /// libcudart.so.13 -> libcudart.so
  void add_plain_name(const std::string& name) {
    const auto so = name.find(".so.");
    if (so != std::string::npos && name.find('/') == std::string::npos) {
      const auto plain = "lib/" + name.substr(0, so + 3);
      const auto path = root_ + plain;
      const bool is_made = std::any_of(made_.begin(), made_.end(),
                                       [&](const LayoutFile& one) { return one.path == path; });
      if (!is_made) {
        add_link(plain, name);
      }
    }
  }
  Result<void> add_stub(Platform platform) {
    if (has(k_stub) || !has("include/cuda.h")) {
      return {};
    }
    std::map<std::string, std::string> headers;
    for (const auto& name : assemble::driver_headers()) {
      if (const auto found = files_.find(root_ + "include/" + name); found != files_.end()) {
        CUKIT_TRY_ASSIGN(headers[name], read_file(found->second, k_header_bytes));
      }
    }
    made_.push_back(
        {root_ + k_stub, {}, assemble::stub_libcuda(assemble::driver_symbols(headers), platform)});
    return {};
  }

  const std::map<std::string, fs::path>& files_;
  std::string root_;
  std::vector<LayoutFile> made_;
};

} // namespace

Result<std::vector<LayoutFile>> layout_for(const std::map<std::string, fs::path>& files,
                                           const std::string& root, Platform platform) {
  return Layout(files, root).make(platform);
}

bool lacks_layout(const fs::path& folder) {
  const auto lacks = [&](const char* where, const char* what) {
    return path_exists(folder / where) && !path_exists(folder / what);
  };
  return lacks("lib", "lib64") || lacks("lib/libcudart.so.13", "lib/libcudart.so") ||
         lacks(k_libnvvm, "nvvm/lib64/libnvvm.so") || lacks("include/cuda.h", k_stub);
}

std::string layout_metadata(const std::string& version) {
  return fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\nSummary: What wheels of CUDA "
                     "lack: lib64, plain names of libraries, a libcuda to link with\n",
                     k_layout_project, version);
}

std::string layout_wheel() {
  return "Wheel-Version: 1.0\nGenerator: cukit\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
}

} // namespace cukit::venv

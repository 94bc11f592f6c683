#include "http/libcurl.hpp"

#include <dlfcn.h>

namespace cukit::http {

namespace {

constexpr const char* k_library = "libcurl.so.4";

class Loader {
public:
  Loader() {
    // Never closed: its threads and exit handlers may outlive every transfer.
    library_ = ::dlopen(k_library, RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      complain();
      return;
    }
    find(functions_.global_init, "curl_global_init");
    find(functions_.version_info, "curl_version_info");
    find(functions_.free, "curl_free");
    find(functions_.slist_append, "curl_slist_append");
    find(functions_.slist_free_all, "curl_slist_free_all");
    find(functions_.easy_init, "curl_easy_init");
    find(functions_.easy_cleanup, "curl_easy_cleanup");
    find(functions_.easy_getinfo, "curl_easy_getinfo");
    find(functions_.easy_setopt, "curl_easy_setopt");
    find(functions_.easy_strerror, "curl_easy_strerror");
    find(functions_.multi_init, "curl_multi_init");
    find(functions_.multi_cleanup, "curl_multi_cleanup");
    find(functions_.multi_setopt, "curl_multi_setopt");
    find(functions_.multi_add_handle, "curl_multi_add_handle");
    find(functions_.multi_remove_handle, "curl_multi_remove_handle");
    find(functions_.multi_perform, "curl_multi_perform");
    find(functions_.multi_poll, "curl_multi_poll");
    find(functions_.multi_wakeup, "curl_multi_wakeup");
    find(functions_.multi_info_read, "curl_multi_info_read");
    find(functions_.multi_strerror, "curl_multi_strerror");
    find(functions_.url, "curl_url");
    find(functions_.url_cleanup, "curl_url_cleanup");
    find(functions_.url_get, "curl_url_get");
    find(functions_.url_set, "curl_url_set");
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const Libcurl& functions() const { return functions_; }

private:
  void complain() {
    const char* why = ::dlerror();
    problem_ = why == nullptr ? "unknown" : why;
  }

  template <typename Function> void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr && problem_.empty()) {
      complain();
    }
  }

  void* library_ = nullptr;
  Libcurl functions_{};
  std::string problem_; ///< empty: all there
};

const Loader& loader() {
  static const Loader loaded;
  return loaded;
}

} // namespace

Result<const Libcurl*> load_libcurl() {
  if (loader().problem().empty()) {
    return &loader().functions();
  }
  Error error{.code = ErrorCode::host,
              .message = fmt::format(
                  "{} cannot be loaded, and nothing can be downloaded without it", k_library)};
  error.causes.push_back(loader().problem());
  error.hint = "install libcurl 7.85 or newer (Debian, Ubuntu: libcurl4; Fedora: libcurl)";
  return tl::unexpected<Error>(std::move(error));
}

const Libcurl& libcurl() {
  CUKIT_ENSURE(loader().problem().empty(), loader().problem().c_str());
  return loader().functions();
}

} // namespace cukit::http

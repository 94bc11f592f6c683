#include "model/platform.hpp"

#include "base/strings.hpp"

namespace cukit {

Result<Platform> Platform::parse(std::string_view text) {
  for (const auto kind : all()) {
    if (Platform(kind).text() == text) {
      return Platform(kind);
    }
  }
  auto error = Error{.code = ErrorCode::usage,
                     .message = fmt::format("`{}` is no platform", printable(text.substr(0, 100)))};
  error.hint = "use linux-x86_64, linux-sbsa or linux-aarch64";
  return tl::unexpected<Error>(std::move(error));
}

Platform Platform::host() {
#if defined(__aarch64__)
  return Kind::linux_sbsa;
#else
  return Kind::linux_x86_64;
#endif
}

std::string_view Platform::text() const {
  switch (kind_) {
  case Kind::linux_x86_64:
    return "linux-x86_64";
  case Kind::linux_sbsa:
    return "linux-sbsa";
  case Kind::linux_aarch64:
    return "linux-aarch64";
  }
  return {};
}

std::string_view Platform::triple() const {
  switch (kind_) {
  case Kind::linux_x86_64:
    return "x86_64-linux";
  case Kind::linux_sbsa:
    return "sbsa-linux";
  case Kind::linux_aarch64:
    return "aarch64-linux";
  }
  return {};
}

std::string_view Platform::machine() const {
  return kind_ == Kind::linux_x86_64 ? "x86_64" : "aarch64";
}

} // namespace cukit

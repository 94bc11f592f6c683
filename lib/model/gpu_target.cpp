#include "model/gpu_target.hpp"

#include "base/strings.hpp"

#include <charconv>

namespace cukit {

namespace {

bool parse_number(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && text.front() != '-';
}

} // namespace

Result<GpuTarget> GpuTarget::parse(std::string_view text) {
  const std::string_view whole = text;
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (text.starts_with(prefix)) {
      text.remove_prefix(prefix.size());
      break;
    }
  }
  GpuTarget target;
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    target.suffix = text.back();
    text.remove_suffix(1);
  }
  const auto dot = text.find('.');
  bool valid = false;
  if (dot != std::string_view::npos) {
    valid = dot > 0 && dot + 2 == text.size() && parse_number(text.substr(0, dot), target.major) &&
            parse_number(text.substr(dot + 1), target.minor);
  } else if (text.size() >= 2 && text.size() <= 3) {
    valid = parse_number(text.substr(0, text.size() - 1), target.major) &&
            parse_number(text.substr(text.size() - 1), target.minor);
  }
  if (!valid || target.major < 1 || target.major > 99) {
    auto error =
        Error{.code = ErrorCode::usage,
              .message = fmt::format("`{}` is no GPU target", printable(whole.substr(0, 100)))};
    error.hint = "write sm_90, sm_120a, sm_120f or a compute capability such as \"12.0\"; `cukit "
                 "gpus` lists them";
    return tl::unexpected<Error>(std::move(error));
  }
  return target;
}

std::string GpuTarget::sm() const {
  return fmt::format("sm_{}{}{}", major, minor, suffix != 0 ? std::string(1, suffix) : "");
}

std::string GpuTarget::compute() const {
  return fmt::format("compute_{}{}{}", major, minor, suffix != 0 ? std::string(1, suffix) : "");
}

std::string GpuTarget::dotted() const {
  return fmt::format("{}.{}{}", major, minor, suffix != 0 ? std::string(1, suffix) : "");
}

bool GpuTarget::runs_on(const GpuTarget& device) const {
  if (suffix == 'a') {
    return device.major == major && device.minor == minor;
  }
  return device.major == major && device.minor >= minor;
}

} // namespace cukit

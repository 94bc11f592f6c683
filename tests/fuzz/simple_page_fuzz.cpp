// A page of an index: the first byte chooses JSON, HTML or an unnamed type. Whatever is accepted
// must be fit for a lock: an https address, a plain file name, files in order.
#include "catalog/catalog.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  static constexpr const char* types[] = {"application/vnd.pypi.simple.v1+json", "text/html", ""};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto files = cukit::catalog::parse_simple_page(
      text, types[data[0] % 3], "https://index.example.com/simple/a/", data[0] & 0x80 ? "a" : "");
  if (!files) {
    CUKIT_ENSURE(files.error().code == cukit::ErrorCode::source,
                 "a bad page is the source's fault");
    return 0;
  }
  for (std::size_t i = 0; i < files->size(); ++i) {
    const auto& file = (*files)[i];
    CUKIT_ENSURE(file.url.starts_with("https://"), "a page read over https leads nowhere else");
    CUKIT_ENSURE(file.file.find('/') == std::string::npos, "a file name is no path");
    CUKIT_ENSURE(i == 0 || (*files)[i - 1].version <= file.version, "files are in order");
  }
  return 0;
}

// Whatever the bytes of a layer are, plain, gzip or zstd: no crash, bounded memory, and nothing
// written or removed outside of the root that it is laid over.
#include "base/files.hpp"
#include "image/layer.hpp"

#include <cstdlib>

namespace {

using namespace cukit;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // In memory where the system has it: a run is mostly file calls.
  const auto scratch =
      TempDirectory::create(fs::is_directory("/dev/shm") ? fs::path("/dev/shm")
                                                         : fs::temp_directory_path(),
                            "cukit-layer-fuzz-")
          .value();
  const auto layer = scratch.path() / "layer";
  const auto root = scratch.path() / "root";
  fs::create_directory(root);
  fs::create_directory(scratch.path() / "outside");
  require(create_file(scratch.path() / "outside/victim", "not theirs").has_value());
  fs::create_symlink("../outside", root / "way");
  require(write_file_atomic(layer, {reinterpret_cast<const char*>(data), size}).has_value());
  image::LayerBudget budget;
  const auto done = image::apply_layer(
      layer, root, [](std::string_view, std::uint64_t bytes) { return bytes < 65536; }, budget);
  require(done || !done.error().message.empty());
  require(list_directory(scratch.path())->size() == 3);
  require(list_directory(scratch.path() / "outside").value() == std::vector<std::string>{"victim"});
  require(read_file(scratch.path() / "outside/victim", 100).value_or("") == "not theirs");
  return 0;
}

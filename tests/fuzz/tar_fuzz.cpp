// Whatever the bytes are: no crash, bounded memory, nothing outside of the folder, and the budget
// kept. The input is the xz stream itself, or, where it does not begin as one, a tar file that is
// put into one first, so that the mutations reach the tar reader.
#include "archive/tar_xz.hpp"
#include "base/files.hpp"
#include "base/limits.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace cukit;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// Stored, not packed: fast, and a stream that is right whatever is in it.
std::string xz_of(std::string_view bytes) {
  std::string out(lzma_stream_buffer_bound(bytes.size()), '\0');
  lzma_options_lzma options{};
  require(!lzma_lzma_preset(&options, 0));
  options.dict_size = LZMA_DICT_SIZE_MIN;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::size_t size = 0;
  require(lzma_stream_buffer_encode(filters, LZMA_CHECK_NONE, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                    bytes.size(), reinterpret_cast<std::uint8_t*>(out.data()),
                                    &size, out.size()) == LZMA_OK);
  out.resize(size);
  return out;
}

/// Every name in the folder `inside` of `scratch` was told, every file told is there, and no link
/// leads out.
void check(const fs::path& folder, const std::vector<archive::WrittenFile>& written) {
  std::size_t found = 0;
  for (const auto& one : fs::recursive_directory_iterator(folder)) {
    found += one.symlink_status().type() == fs::file_type::directory ? 0 : 1;
  }
  require(found == written.size());
  const auto root = fs::canonical(folder).string() + "/";
  for (const auto& one : written) {
    struct stat info {};
    const auto path = folder / one.path.text();
    require(::lstat(path.c_str(), &info) == 0);
    if (one.link.empty()) {
      require(S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == one.size);
      require((info.st_mode & 07777U) == (one.executable ? 0555U : 0444U));
      continue;
    }
    require(S_ISLNK(info.st_mode) && resolve_link(one.path, one.link).has_value());
    const auto leads_to = fs::weakly_canonical(path).string() + "/";
    require(leads_to.starts_with(root));
  }
}

std::uint64_t size_of(const fs::path& folder) {
  std::uint64_t size = 0;
  for (const auto& one : fs::recursive_directory_iterator(folder)) {
    if (one.symlink_status().type() == fs::file_type::regular) {
      size += one.file_size();
    }
  }
  return size;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto bytes = input.starts_with("\xfd"
                                       "7zXZ")
                         ? std::string(input)
                         : xz_of(input);
  // In memory where the system has it: a run is mostly file calls.
  const auto scratch =
      TempDirectory::create(fs::is_directory("/dev/shm") ? fs::path("/dev/shm")
                                                         : fs::temp_directory_path(),
                            "cukit-tar-fuzz-")
          .value();
  const auto folder = scratch.path() / "inside";
  fs::create_directory(folder);
  auto sink = archive::TreeSink::open(folder).value();
  const auto file = in_memory(bytes, "fuzz.tar.xz");
  archive::FileStream stream(*file);
  archive::XzMemory memory;
  Silent silent;
  const auto written = archive::extract_tar_xz(stream, "", sink, memory, silent, 0, {});
  require(size_of(folder) <= limits::k_xz_free_bytes + limits::k_xz_ratio * bytes.size());
  if (written) {
    check(folder, *written);
  }
  require(list_directory(scratch.path())->size() == 1);
  return 0;
}

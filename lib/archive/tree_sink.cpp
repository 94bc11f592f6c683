#include "archive/tree_sink.hpp"

#include "archive/folder_cache.hpp"
#include "base/strings.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

namespace cukit::archive {

namespace {

constexpr std::array<timespec, 2> k_time_stamp{{{1, 0}, {1, 0}}};
constexpr std::size_t k_copy_bytes = 256U << 10U;
constexpr std::array<std::uint8_t, 4> k_elf{0x7f, 'E', 'L', 'F'};

/// The rule for modes looks at these bytes only.
class FirstBytes {
public:
  void see(std::span<const std::uint8_t> bytes) {
    const auto count = std::min(bytes.size(), bytes_.size() - count_);
    std::copy_n(bytes.begin(), count, bytes_.begin() + static_cast<std::ptrdiff_t>(count_));
    count_ += count;
  }
  [[nodiscard]] bool are_of_a_program() const {
    return (count_ == 4 && bytes_ == k_elf) ||
           (count_ >= 2 && bytes_[0] == '#' && bytes_[1] == '!');
  }

private:
  std::array<std::uint8_t, 4> bytes_{};
  std::size_t count_ = 0;
};

} // namespace

struct TreeSink::State {
  FolderCache folders;
};

struct TreeSink::File::State {
  Fd fd;
  std::string shown;
  std::uint64_t expected = 0;
  WrittenFile file;
  FirstBytes first;
  Sha256Stream hash;

  [[nodiscard]] tl::unexpected<Error> failed(int number, std::string_view what) const;
};

tl::unexpected<Error> TreeSink::File::State::failed(int number, std::string_view what) const {
  auto error = errno_error(number, fmt::format("cannot {} {}", what, shown));
  struct statvfs info {};
  if ((number == ENOSPC || number == EDQUOT) && ::fstatvfs(fd.get(), &info) == 0) {
    error.causes.push_back(
        fmt::format("the file needs {}, {} of it are written; {} are free", human_bytes(expected),
                    human_bytes(file.size),
                    human_bytes(static_cast<unsigned long long>(info.f_bavail) * info.f_frsize)));
  }
  return tl::unexpected<Error>(std::move(error));
}

TreeSink::File::File(std::unique_ptr<State> state) : state_(std::move(state)) {}
TreeSink::File::File(File&&) noexcept = default;
TreeSink::File& TreeSink::File::operator=(File&&) noexcept = default;
TreeSink::File::~File() = default;

Result<void> TreeSink::File::write(std::span<const std::uint8_t> bytes) {
  State& state = *state_;
  state.first.see(bytes);
  state.hash.update(bytes);
  while (!bytes.empty()) {
    const ssize_t count = ::write(state.fd.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return state.failed(errno, "write");
    }
    state.file.size += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<WrittenFile> TreeSink::File::finish() {
  State& state = *state_;
  state.file.sha256 = state.hash.finish();
  state.file.executable = state.first.are_of_a_program();
  if (::fchmod(state.fd.get(), state.file.executable ? 0555 : 0444) != 0) {
    return state.failed(errno, "set the mode of");
  }
  if (::futimens(state.fd.get(), k_time_stamp.data()) != 0) {
    return state.failed(errno, "set the time stamp of");
  }
  if (auto closed = state.fd.close(); !closed) {
    return tl::unexpected<Error>(
        std::move(closed.error()).under(fmt::format("cannot finish {}", state.shown)));
  }
  return std::move(state.file);
}

TreeSink::TreeSink(std::unique_ptr<State> state) : state_(std::move(state)) {}
TreeSink::TreeSink(TreeSink&&) noexcept = default;
TreeSink& TreeSink::operator=(TreeSink&&) noexcept = default;
TreeSink::~TreeSink() = default;

Result<TreeSink> TreeSink::open(const fs::path& folder) {
  CUKIT_TRY_ASSIGN(const auto names, list_directory(folder));
  if (!names.empty()) {
    return fail(ErrorCode::host, "{} is not empty: it holds {}", folder.string(),
                printable(names.front()));
  }
  CUKIT_TRY_ASSIGN(Fd fd, open_file(folder, O_RDONLY | O_DIRECTORY));
  return TreeSink(std::unique_ptr<State>(new State{FolderCache(std::move(fd), folder.string())}));
}

Result<TreeSink::File> TreeSink::create(const RelativePath& path, std::uint64_t size) {
  CUKIT_ENSURE(!path.empty(), "a file needs a name");
  CUKIT_TRY_ASSIGN(const auto folder, state_->folders.get(path.parent()));
  const std::string name(path.name());
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = -1;
  do {
    fd = ::openat(folder->get(), name.c_str(), flags, 0600);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0 && errno == EEXIST) {
    return fail(ErrorCode::integrity, "{} exists already", state_->folders.shown(path));
  }
  if (fd < 0) {
    return fail_errno(errno, "cannot create {}", state_->folders.shown(path));
  }
  auto state = std::make_unique<File::State>();
  state->fd = Fd(fd);
  state->shown = state_->folders.shown(path);
  state->expected = size;
  state->file.path = path;
  return File(std::move(state));
}

Result<WrittenFile> TreeSink::repeat(const RelativePath& source, const RelativePath& path) {
  CUKIT_TRY_ASSIGN(const auto folder, state_->folders.get(source.parent()));
  const std::string name(source.name());
  const Fd from(::openat(folder->get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!from.is_open() || ::fstat(from.get(), &info) != 0) {
    return fail_errno(errno, "cannot read {}", state_->folders.shown(source));
  }
  CUKIT_TRY_ASSIGN(auto file, create(path, static_cast<std::uint64_t>(info.st_size)));
  std::vector<std::uint8_t> buffer(k_copy_bytes);
  while (true) {
    const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return fail_errno(errno, "cannot read {}", state_->folders.shown(source));
    }
    if (count == 0) {
      return file.finish();
    }
    CUKIT_TRY(file.write(std::span(buffer).first(static_cast<std::size_t>(count))));
  }
}

Result<WrittenFile> TreeSink::link(const RelativePath& path, const std::string& target) {
  CUKIT_TRY_ASSIGN(const auto folder, state_->folders.get(path.parent()));
  const std::string name(path.name());
  if (::symlinkat(target.c_str(), folder->get(), name.c_str()) != 0) {
    return errno == EEXIST
               ? fail(ErrorCode::integrity, "{} exists already", state_->folders.shown(path))
               : fail_errno(errno, "cannot make the link {}", state_->folders.shown(path));
  }
  if (::utimensat(folder->get(), name.c_str(), k_time_stamp.data(), AT_SYMLINK_NOFOLLOW) != 0) {
    return fail_errno(errno, "cannot set the time stamp of {}", state_->folders.shown(path));
  }
  return WrittenFile{.path = path, .link = target};
}

Result<void> TreeSink::settle_folders() {
  return state_->folders.settle();
}

} // namespace cukit::archive

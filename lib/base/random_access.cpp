#include "base/random_access.hpp"

#include "base/kept_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit {

namespace {

tl::unexpected<Error> past_end(const std::string& name, std::uint64_t offset, std::size_t count,
                               std::uint64_t size) {
  return fail(ErrorCode::integrity, "{} ends at byte {}, but {} bytes from {} are needed", name,
              size, count, offset);
}

class LocalFile final : public RandomAccess {
public:
  LocalFile(Fd fd, std::uint64_t size, std::string name)
      : fd_(std::move(fd)), size_(size), name_(std::move(name)) {}
  std::uint64_t size() const override { return size_; }
  std::string name() const override { return name_; }

  Result<void> read_at(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    if (offset > size_ || out.size() > size_ - offset) {
      return past_end(name_, offset, out.size(), size_);
    }
    while (!out.empty()) {
      const ssize_t count = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count < 0) {
        return fail_errno(errno, "cannot read {}", name_);
      }
      if (count == 0) {
        return fail(ErrorCode::integrity, "{} became shorter while it was read", name_);
      }
      out = out.subspan(static_cast<std::size_t>(count));
      offset += static_cast<std::uint64_t>(count);
    }
    return {};
  }

private:
  Fd fd_;
  std::uint64_t size_;
  std::string name_;
};

class Memory final : public RandomAccess {
public:
  Memory(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  std::string name() const override { return name_; }
  Result<void> read_at(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
      return past_end(name_, offset, out.size(), bytes_.size());
    }
    const auto part = bytes_.substr(static_cast<std::size_t>(offset), out.size());
    std::copy(part.begin(), part.end(), out.begin());
    return {};
  }

private:
  std::string_view bytes_;
  std::string name_;
};

} // namespace

Result<std::unique_ptr<RandomAccess>> open_local_file(const std::filesystem::path& path) {
  CUKIT_TRY_ASSIGN(Fd fd, open_regular(path, O_RDONLY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return fail_errno(errno, "cannot look at {}", path.string());
  }
  return std::make_unique<LocalFile>(std::move(fd), static_cast<std::uint64_t>(info.st_size),
                                     path.string());
}

std::unique_ptr<RandomAccess> in_memory(std::string_view bytes, std::string name) {
  return std::make_unique<Memory>(bytes, std::move(name));
}

} // namespace cukit

#include "assemble/tree_writer.hpp"

#include <array>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::assemble {

namespace {

constexpr std::array<timespec, 2> k_time_stamp{{{1, 0}, {1, 0}}};

Result<Fd> make_folder(int parent, const std::string& name, std::string_view path) {
  if (::mkdirat(parent, name.c_str(), 0755) != 0) {
    return fail_errno(errno, "cannot create the folder {}", path);
  }
  const int fd = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    return fail_errno(errno, "cannot open the folder {}", path);
  }
  return Fd(fd);
}

Result<void> make_link(int folder_fd, const std::string& name, const TreeFile& file) {
  if (::symlinkat(file.link.c_str(), folder_fd, name.c_str()) != 0 ||
      ::utimensat(folder_fd, name.c_str(), k_time_stamp.data(), AT_SYMLINK_NOFOLLOW) != 0) {
    return fail_errno(errno, "cannot make the link {}", file.path.text());
  }
  return {};
}

} // namespace

Result<TreeWriter> TreeWriter::open(const fs::path& folder, Placement placement) {
  CUKIT_TRY_ASSIGN(Fd fd, open_file(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  TreeWriter writer(placement);
  writer.open_.push_back({"", std::move(fd)});
  return writer;
}

Result<void> TreeWriter::enter(const RelativePath& folder) {
  while (!open_.back().path.empty() && folder.text() != open_.back().path &&
         !folder.is_inside(open_.back().path)) {
    CUKIT_TRY(leave());
  }
  while (open_.back().path != folder.text()) {
    const auto& here = open_.back().path;
    const auto start = here.empty() ? 0 : here.size() + 1;
    const auto end = folder.text().find('/', start);
    std::string next = folder.text().substr(0, end);
    CUKIT_TRY_ASSIGN(Fd fd, make_folder(open_.back().fd.get(), next.substr(start), next));
    open_.push_back({std::move(next), std::move(fd)});
  }
  return {};
}

Result<void> TreeWriter::leave() {
  const int fd = open_.back().fd.get();
  // The mode again, because the umask may have taken bits away.
  const unsigned mode = open_.back().path.empty() ? 0755 : folder_mode_;
  if (::fchmod(fd, mode) != 0 || ::futimens(fd, k_time_stamp.data()) != 0) {
    return fail_errno(errno, "cannot set the mode and time of the folder {}", open_.back().path);
  }
  open_.pop_back();
  return {};
}

Result<void> TreeWriter::add(const TreeFile& file) {
  CUKIT_TRY(enter(file.path.parent()));
  const int folder = open_.back().fd.get();
  const std::string name(file.path.name());
  return file.link.empty() ? placer_.place(file, folder, name) : make_link(folder, name, file);
}

Result<void> TreeWriter::finish() {
  while (!open_.empty()) {
    CUKIT_TRY(leave());
  }
  return {};
}

} // namespace cukit::assemble

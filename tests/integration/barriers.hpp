// What may stand in the place of a file or folder that cukit keeps.
#pragma once

#include "base/fd.hpp"
#include "base/files.hpp"

#include <fstream>
#include <functional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace cukit::test {

/// What is put in the place of something.
struct Barrier {
  const char* name;
  std::function<bool(const fs::path& at, const fs::path& outside)> put; ///< false: not here
};

inline bool put_text(const fs::path& at, const std::string& text) {
  std::ofstream(at) << text;
  return true;
}

inline bool put_socket(const fs::path& at) {
  // A path of a socket is short: it is made beside and moved.
  const auto near = fs::temp_directory_path() / fmt::format("cukit-socket-{}", ::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  near.string().copy(address.sun_path, sizeof address.sun_path - 1);
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* plain = reinterpret_cast<const sockaddr*>(&address);
  std::error_code error;
  const bool bound = ::bind(listener.get(), plain, sizeof address) == 0;
  fs::rename(near, at, error);
  if (error) {
    fs::remove(near, error);
    return false;
  }
  return bound;
}

/// Deeper than a process has descriptors.
inline bool put_deep_folders(const fs::path& at) {
  const auto begin = fs::current_path();
  fs::create_directory(at);
  std::error_code error;
  fs::current_path(at, error);
  for (int level = 0; level < 1100 && !error; ++level) {
    ::mkdir("d", 0755);
    error = ::chdir("d") == 0 ? std::error_code() : std::error_code(errno, std::generic_category());
  }
  fs::current_path(begin);
  return !error;
}

inline const std::vector<Barrier>& barriers() {
  static const std::vector<Barrier> all{
      {"a link to a file outside",
       [](const fs::path& at, const fs::path& outside) {
         fs::create_symlink(outside / "file", at);
         return true;
       }},
      {"a link to a folder outside",
       [](const fs::path& at, const fs::path& outside) {
         fs::create_directory_symlink(outside / "folder", at);
         return true;
       }},
      {"a link to nothing",
       [](const fs::path& at, const fs::path& outside) {
         fs::create_symlink(outside / "nothing", at);
         return true;
       }},
      {"another name of a file outside",
       [](const fs::path& at, const fs::path& outside) {
         fs::create_hard_link(outside / "file", at);
         return true;
       }},
      {"a pipe",
       [](const fs::path& at, const fs::path&) { return ::mkfifo(at.c_str(), 0644) == 0; }},
      {"a socket", [](const fs::path& at, const fs::path&) { return put_socket(at); }},
      {"a device",
       [](const fs::path& at, const fs::path&) {
         return ::mknod(at.c_str(), S_IFCHR | 0644, makedev(1, 5)) == 0; // /dev/zero
       }},
      {"a folder",
       [](const fs::path& at, const fs::path&) {
         fs::create_directories(at / "inner");
         return put_text(at / "inner/file", "mine\n");
       }},
      {"deep folders", [](const fs::path& at, const fs::path&) { return put_deep_folders(at); }},
      {"an empty file", [](const fs::path& at, const fs::path&) { return put_text(at, ""); }},
      {"a huge file",
       [](const fs::path& at, const fs::path&) {
         put_text(at, "");
         std::error_code error;
         fs::resize_file(at, 8ULL << 30U, error);
         return !error;
       }},
      {"a path and escape sequences",
       [](const fs::path& at, const fs::path&) {
         return put_text(at, "../../../../etc\n\x1b]0;owned\x07\x1b[31mred\n/etc/passwd\n");
       }},
  };
  return all;
}

} // namespace cukit::test

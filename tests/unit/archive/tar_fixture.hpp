// Archives of the vendor's shape, made byte by byte, and a folder to unpack them into.
#pragma once

#include "archive/tar_xz.hpp"
#include "support/tar_forge.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <gmock/gmock.h>
#include <sys/stat.h>

namespace cukit::archive {

using test::forge_tar;
using test::ForgedTarEntry;
using test::pax_header;
using test::xz_of;
using testing::HasSubstr;

inline const std::string k_top = "cuda_x-linux-x86_64-1.0-archive";

inline std::string in_top(const std::string& name) {
  return k_top + "/" + name;
}

inline ForgedTarEntry file(const std::string& name, std::string content = "content") {
  return {.name = in_top(name), .content = std::move(content)};
}
inline ForgedTarEntry folder(const std::string& name) {
  return {.name = name.empty() ? k_top + "/" : in_top(name) + "/", .type = '5', .mode = 0755};
}
inline ForgedTarEntry symlink(const std::string& name, std::string target) {
  return {.name = in_top(name), .type = '2', .link = std::move(target)};
}
inline ForgedTarEntry hard_link(const std::string& name, const std::string& source) {
  return {.name = in_top(name), .type = '1', .link = in_top(source)};
}

inline std::string noise(std::size_t size, std::uint32_t state) {
  std::string text;
  text.reserve(size);
  while (text.size() < size) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>(state >> 24U);
  }
  return text;
}

/// Gives its bytes in small pieces, as a network does.
class Trickle final : public ByteStream {
public:
  Trickle(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  Result<std::size_t> read(std::span<std::uint8_t> out) override {
    if (on_read) {
      CUKIT_TRY(on_read(at_));
    }
    const auto count = std::min({piece_, out.size(), bytes_.size() - at_});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  [[nodiscard]] std::string name() const override { return "forged.tar.xz"; }
  std::function<Result<void>(std::size_t at)> on_read;

private:
  std::string bytes_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

class TarXzTest : public testing::Test {
protected:
  void SetUp() override {
    fs::create_directory(folder_);
    EXPECT_TRUE(create_file(scratch_.path() / "victim", "untouched"));
  }
  void TearDown() override {
    EXPECT_EQ(read_file(scratch_.path() / "victim", 100).value_or("gone"), "untouched");
    EXPECT_EQ(list_directory(scratch_.path())->size(), 2U) << "something was written outside";
  }

  Result<std::vector<WrittenFile>> unpack(ByteStream& stream, const std::string& top = k_top) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    auto sink = TreeSink::open(folder_).value();
    return extract_tar_xz(stream, top, sink, memory_, silent_, 0, stop_.get_token());
  }
  Result<std::vector<WrittenFile>> unpack_bytes(const std::string& bytes) {
    Trickle stream(bytes, 4096);
    return unpack(stream);
  }
  Result<std::vector<WrittenFile>> unpack_entries(const std::vector<ForgedTarEntry>& entries) {
    return unpack_bytes(xz_of(forge_tar(entries)));
  }
  /// The message, or what was accepted.
  std::string refusal(const std::vector<ForgedTarEntry>& entries) {
    return message_of(unpack_entries(entries));
  }
  static std::string message_of(const Result<std::vector<WrittenFile>>& result) {
    if (result) {
      std::string text = "accepted:";
      for (const auto& one : *result) {
        text += " " + one.path.text();
      }
      return text;
    }
    EXPECT_EQ(result.error().code, ErrorCode::integrity) << result.error().message;
    EXPECT_EQ(result.error().where, "forged.tar.xz");
    return result.error().message;
  }
  std::string content(const std::string& name) const {
    return read_file(folder_ / name, 1U << 26U).value_or("not there");
  }

  TempDirectory scratch_ = TempDirectory::create(fs::temp_directory_path(), "tarxz-").value();
  fs::path folder_ = scratch_.path() / "inside";
  XzMemory memory_;
  Silent silent_;
  std::stop_source stop_;
};

} // namespace cukit::archive

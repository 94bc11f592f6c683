#include "base/sha256.hpp"

#include "base/kept_file.hpp"
#include "base/stale.hpp"

#include <openssl/evp.h>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace cukit {

namespace {

// Fits the second-level cache of a processor; more than that gains nothing.
constexpr std::size_t k_buffer_bytes = 256U << 10U;

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return -1;
}

const EVP_MD* algorithm() {
  // Fetched once: every EVP_sha256() would look the provider up again.
  static EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  CUKIT_ENSURE(fetched != nullptr, "OpenSSL has no SHA-256");
  return fetched;
}

} // namespace

Result<Sha256> Sha256::parse(std::string_view text) {
  const std::string_view whole = text;
  if (text.starts_with("sha256:")) {
    text.remove_prefix(7);
  }
  std::array<std::uint8_t, 32> bytes{};
  bool valid = text.size() == 64;
  for (std::size_t i = 0; valid && i < 32; ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    valid = high >= 0 && low >= 0;
    bytes[i] = static_cast<std::uint8_t>(valid ? high * 16 + low : 0);
  }
  if (!valid) {
    return fail(ErrorCode::usage, "`{}` is no sha256 digest (64 lower-case hexadecimal digits)",
                whole.substr(0, 100));
  }
  return Sha256(bytes);
}

std::string Sha256::hex() const {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (const auto byte : bytes_) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

struct Sha256Stream::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() { begin(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
  void begin() const {
    CUKIT_ENSURE(context != nullptr && EVP_DigestInit_ex2(context, algorithm(), nullptr) == 1,
                 "SHA-256 cannot start");
  }
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {}
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;
Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::update(std::string_view bytes) {
  CUKIT_ENSURE(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1,
               "SHA-256 failed");
}

void Sha256Stream::update(std::span<const std::uint8_t> bytes) {
  CUKIT_ENSURE(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1,
               "SHA-256 failed");
}

Sha256 Sha256Stream::finish() {
  std::array<std::uint8_t, 32> bytes{};
  unsigned size = 0;
  CUKIT_ENSURE(EVP_DigestFinal_ex(state_->context, bytes.data(), &size) == 1 && size == 32,
               "SHA-256 failed");
  state_->begin();
  return Sha256(bytes);
}

Sha256 sha256_of(std::string_view bytes) {
  Sha256Stream stream;
  stream.update(bytes);
  return stream.finish();
}

namespace {

Result<Sha256> digest_once(const fs::path& path, int& number) {
  CUKIT_TRY_ASSIGN(const Fd fd, open_regular(path, O_RDONLY));
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL); // a hint; nothing hangs on it
  Sha256Stream stream;
  // Not filled with zeros first: most files are smaller than the buffer.
  const auto buffer = std::make_unique_for_overwrite<std::uint8_t[]>(k_buffer_bytes);
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer.get(), k_buffer_bytes);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      number = errno;
      return fail_errno(number, "cannot read {}", path.string());
    }
    if (count == 0) {
      return stream.finish();
    }
    stream.update(std::span<const std::uint8_t>(buffer.get(), static_cast<std::size_t>(count)));
  }
}

} // namespace

Result<Sha256> sha256_of_file(const fs::path& path) {
  return read_twice([&](int& number) { return digest_once(path, number); });
}

} // namespace cukit

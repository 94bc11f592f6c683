#include "support/tar_forge.hpp"

#include <array>
#include <lzma.h>
#include <stdexcept>

namespace cukit::test {

namespace {

constexpr std::size_t k_block = 512;

std::string padded(std::string text) {
  text.resize((text.size() + k_block - 1) / k_block * k_block, '\0');
  return text;
}

/// NUL-terminated octal digits.
std::string octal(std::uint64_t value, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = bytes - 1; i-- > 0; value /= 8) {
    text[i] = static_cast<char>('0' + value % 8);
  }
  return text;
}

void put(std::string& block, std::size_t at, std::string_view value, std::size_t room) {
  block.replace(at, std::min(value.size(), room), value.substr(0, room));
}

std::string header(const ForgedTarEntry& entry) {
  std::string block(k_block, '\0');
  put(block, 0, entry.name, 100);
  put(block, 100, octal(entry.mode, 8), 8);
  put(block, 108, octal(0, 8), 8);
  put(block, 116, octal(0, 8), 8);
  put(block, 124, entry.size.value_or(octal(entry.content.size(), 12)), 12);
  put(block, 136, octal(1, 12), 12);
  put(block, 148, "        ", 8);
  block[156] = entry.type;
  put(block, 157, entry.link, 100);
  put(block, 257, entry.magic, 8);
  put(block, 345, entry.prefix, 155);
  std::uint32_t sum = 0;
  for (const char c : block) {
    sum += static_cast<unsigned char>(c);
  }
  put(block, 148, octal(entry.checksum.value_or(sum), 7) + " ", 8);
  return block;
}

void check(lzma_ret code) {
  if (code != LZMA_OK && code != LZMA_STREAM_END) {
    throw std::runtime_error("liblzma does not compress");
  }
}

} // namespace

std::string forge_tar(const std::vector<ForgedTarEntry>& entries, const ForgedTarEnd& end) {
  std::string bytes;
  for (const auto& entry : entries) {
    bytes += header(entry) + padded(entry.content);
  }
  bytes.append(k_block * static_cast<std::size_t>(end.zero_blocks), '\0');
  bytes += end.behind;
  bytes.resize(bytes.size() - end.cut);
  return bytes;
}

std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3; // blank, equals sign, line end
  std::size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) {
    ++length;
  }
  return std::to_string(length) + " " + std::string(key) + "=" + std::string(value) + "\n";
}

ForgedTarEntry raw_pax_header(std::string payload, char type) {
  return {.name = "pax", .content = std::move(payload), .type = type};
}

ForgedTarEntry pax_header(const std::vector<std::pair<std::string, std::string>>& records,
                          char type) {
  std::string payload;
  for (const auto& [key, value] : records) {
    payload += pax_record(key, value);
  }
  return raw_pax_header(std::move(payload), type);
}

ForgedTarEntry gnu_long(std::string name, char type) {
  name += '\0';
  return {.name = "././@LongLink",
          .content = std::move(name),
          .type = type,
          .magic = std::string("ustar  \0", 8)};
}

std::string xz_of(std::string_view bytes) {
  return xz_of(bytes, {});
}

std::string xz_of(std::string_view bytes, const XzOptions& options) {
  lzma_options_lzma lzma{};
  if (lzma_lzma_preset(&lzma, options.preset)) {
    throw std::runtime_error("liblzma does not know the preset");
  }
  if (options.dictionary != 0) {
    lzma.dict_size = options.dictionary;
  }
  const std::array<lzma_filter, 2> filters{
      {{.id = LZMA_FILTER_LZMA2, .options = &lzma}, {.id = LZMA_VLI_UNKNOWN, .options = nullptr}}};
  lzma_stream stream = LZMA_STREAM_INIT;
  check(lzma_stream_encoder(&stream, filters.data(), static_cast<lzma_check>(options.check)));
  std::string out;
  std::array<std::uint8_t, 65536> piece{};
  const auto run = [&](std::string_view part, lzma_action action) {
    stream.next_in = reinterpret_cast<const std::uint8_t*>(part.data());
    stream.avail_in = part.size();
    lzma_ret code = LZMA_OK;
    do {
      stream.next_out = piece.data();
      stream.avail_out = piece.size();
      code = lzma_code(&stream, action);
      check(code);
      out.append(reinterpret_cast<const char*>(piece.data()), piece.size() - stream.avail_out);
    } while (code != LZMA_STREAM_END && (stream.avail_in != 0 || action != LZMA_RUN));
  };
  if (options.block != 0) {
    for (; bytes.size() > options.block; bytes.remove_prefix(options.block)) {
      run(bytes.substr(0, options.block), LZMA_FULL_FLUSH);
    }
  }
  run(bytes, LZMA_FINISH);
  lzma_end(&stream);
  return out;
}

} // namespace cukit::test

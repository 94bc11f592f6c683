// Walks the bytes of a tar file and decides what may come out of it. libarchive reads the same
// bytes afterwards, and both have to see the same entries: what libarchive passes over in silence
// (a missing end, data behind it, sparse files, kinds of entries it does not know, contradicting
// sizes) ends here. Private to archive/.
#pragma once

#include "archive/tar_header.hpp"
#include "model/relative_path.hpp"

#include <map>
#include <vector>

namespace cukit::archive {

struct TarEntry {
  enum class Kind { file, folder, link, hard_link };
  Kind kind = Kind::file;
  RelativePath path = {};   ///< below the archive's top folder; empty: that folder itself
  std::uint64_t size = 0;   ///< of a file
  std::string target = {};  ///< of a symbolic link, as it stands
  RelativePath source = {}; ///< of a hard link: an earlier file
  std::string name = {};    ///< as the archive states it, without a final slash
  std::string link = {};    ///< target of either kind of link, as the archive states it
};

class TarAudit {
public:
  /// Everything has to lie in the folder `top`, which is stripped; empty: names stay as they are.
  TarAudit(std::string where, std::string top) : where_(std::move(where)), top_(std::move(top)) {}

  /// Consecutive pieces of the file. Entries are appended to `found` once their headers are
  /// complete and accepted.
  Result<void> see(std::span<const std::uint8_t> bytes, std::vector<TarEntry>& found);
  /// No more bytes: the two blocks of the end must have been there, and every symbolic link lead to
  /// somewhere inside, also by way of others.
  [[nodiscard]] Result<void> end() const;
  /// Bytes of files that hard links repeat.
  [[nodiscard]] std::uint64_t repeated_bytes() const { return repeated_; }

private:
  struct Known {
    TarEntry::Kind kind;
    std::uint64_t size = 0;
    std::string target = {};
  };
  Result<void> take_block(std::vector<TarEntry>& found);
  Result<void> take_header(const tar::Header& header, std::vector<TarEntry>& found);
  Result<void> begin_extension(const tar::Header& header);
  Result<void> take_extension();
  Result<void> apply_pending(tar::Header& header);
  Result<TarEntry> accept(const tar::Header& header);
  Result<void> accept_link(TarEntry& entry);
  Result<void> accept_hard_link(TarEntry& entry);
  Result<RelativePath> strip(std::string_view name) const;
  Result<void> remember(const TarEntry& entry);
  Result<void> remember_folders(const RelativePath& path);
  Result<void> count_name(const std::string& path);

  std::string where_;
  std::string top_;

  std::vector<std::uint8_t> buffer_; ///< an incomplete block or extension
  std::size_t wanted_ = tar::k_block;
  std::uint64_t skip_ = 0; ///< bytes of content and its padding before the next block
  int zero_blocks_ = 0;
  std::optional<tar::Header> extension_; ///< its payload is being collected
  std::optional<tar::Records> pending_;  ///< of the next entry
  std::optional<std::string> long_name_;
  std::optional<std::string> long_link_;

  std::map<std::string, Known> known_;
  std::uint64_t entries_ = 0;
  std::uint64_t content_ = 0;
  std::uint64_t repeated_ = 0;
  std::size_t name_bytes_ = 0;
};

} // namespace cukit::archive

#include "archive/tar_audit.hpp"

#include "archive/link_walk.hpp"
#include "archive/refuse.hpp"
#include "base/limits.hpp"
#include "base/strings.hpp"

#include <algorithm>

namespace cukit::archive {

namespace {

using Kind = TarEntry::Kind;

bool all_zero(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::uint64_t padded(std::uint64_t size) {
  return (size + tar::k_block - 1) / tar::k_block * tar::k_block;
}

bool is_extension(char type) {
  return type == tar::k_pax || type == tar::k_global_pax || type == tar::k_gnu_name ||
         type == tar::k_gnu_link;
}

std::optional<Kind> kind_of(char type) {
  switch (type) {
  case tar::k_file:
  case tar::k_old_file:
    return Kind::file;
  case tar::k_folder:
    return Kind::folder;
  case tar::k_symbolic_link:
    return Kind::link;
  case tar::k_hard_link:
    return Kind::hard_link;
  default:
    return std::nullopt;
  }
}

std::string refused_kind(char type) {
  switch (type) {
  case '3':
  case '4':
    return "a device";
  case '6':
    return "a pipe";
  case 'S':
    return "a sparse file";
  default:
    return fmt::format("an entry of type `{}`", printable(std::string_view(&type, 1)));
  }
}

bool is_plain_text(std::string_view text) {
  return is_utf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\';
         });
}

} // namespace

Result<void> TarAudit::see(std::span<const std::uint8_t> bytes, std::vector<TarEntry>& found) {
  while (!bytes.empty()) {
    if (zero_blocks_ == 2) {
      return all_zero(bytes) ? Result<void>()
                             : refuse_archive(where_, "data lies behind the end of the tar file");
    }
    if (skip_ > 0) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, bytes.size()));
      skip_ -= count;
      bytes = bytes.subspan(count);
      continue;
    }
    const auto count = std::min(wanted_ - buffer_.size(), bytes.size());
    buffer_.insert(buffer_.end(), bytes.begin(),
                   bytes.begin() + static_cast<std::ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (buffer_.size() == wanted_) {
      CUKIT_TRY(extension_ ? take_extension() : take_block(found));
    }
  }
  return {};
}

Result<void> TarAudit::take_block(std::vector<TarEntry>& found) {
  const std::span<const std::uint8_t, tar::k_block> block(buffer_.data(), tar::k_block);
  if (all_zero(block)) {
    buffer_.clear();
    if (pending_ || long_name_ || long_link_) {
      return refuse_archive(where_, "the tar file ends after an extended header");
    }
    ++zero_blocks_;
    return {};
  }
  if (zero_blocks_ != 0) {
    return refuse_archive(where_, "the tar file has a block of zeros in its middle");
  }
  CUKIT_TRY_ASSIGN(const auto header, tar::parse_header(block, where_));
  buffer_.clear();
  return is_extension(header.type) ? begin_extension(header) : take_header(header, found);
}

Result<void> TarAudit::begin_extension(const tar::Header& header) {
  // One of each kind before an entry: readers differ on which of two wins.
  const bool is_name = header.type == tar::k_gnu_name || header.type == tar::k_gnu_link;
  const bool again = header.type == tar::k_gnu_name   ? long_name_.has_value()
                     : header.type == tar::k_gnu_link ? long_link_.has_value()
                                                      : long_name_ || long_link_;
  if (again || pending_) {
    return refuse_archive(where_, "two extended headers of the tar file are about one entry");
  }
  if (header.size > limits::k_tar_extension_bytes || (is_name && header.size == 0)) {
    return refuse_archive(where_, "an extended header of the tar file has {} bytes", header.size);
  }
  extension_ = header;
  wanted_ = static_cast<std::size_t>(padded(header.size));
  return wanted_ == 0 ? take_extension() : Result<void>();
}

Result<void> TarAudit::take_extension() {
  const auto header = *std::exchange(extension_, std::nullopt);
  const std::string_view payload(reinterpret_cast<const char*>(buffer_.data()),
                                 static_cast<std::size_t>(header.size));
  if (header.type == tar::k_gnu_name) {
    CUKIT_TRY_ASSIGN(long_name_, tar::parse_long_name(payload, where_));
  } else if (header.type == tar::k_gnu_link) {
    CUKIT_TRY_ASSIGN(long_link_, tar::parse_long_name(payload, where_));
  } else if (header.type == tar::k_pax) {
    CUKIT_TRY_ASSIGN(pending_, tar::parse_records(payload, false, where_));
  } else {
    CUKIT_TRY(tar::parse_records(payload, true, where_));
  }
  buffer_.clear();
  wanted_ = tar::k_block;
  return {};
}

Result<void> TarAudit::apply_pending(tar::Header& header) {
  if (long_name_) {
    header.name = *std::exchange(long_name_, std::nullopt);
  }
  if (long_link_) {
    header.link = *std::exchange(long_link_, std::nullopt);
  }
  const auto records = std::exchange(pending_, std::nullopt).value_or(tar::Records());
  header.name = records.path.value_or(header.name);
  header.link = records.link.value_or(header.link);
  if (records.size.value_or(header.size) != header.size) {
    return refuse_archive(where_, "`{}` has {} bytes by its header and {} by an extended one",
                          printable(header.name), header.size, *records.size);
  }
  return {};
}

Result<void> TarAudit::take_header(const tar::Header& stated, std::vector<TarEntry>& found) {
  tar::Header header = stated;
  CUKIT_TRY(apply_pending(header));
  if (++entries_ > limits::k_archive_members) {
    return refuse_archive(where_, "the tar file has more than {} entries",
                          limits::k_archive_members);
  }
  CUKIT_TRY_ASSIGN(auto entry, accept(header));
  content_ += entry.size;
  if (content_ + repeated_ > limits::k_archive_unpacked_bytes) {
    return refuse_archive(where_, "the files of the tar file have more than {}",
                          human_bytes(limits::k_archive_unpacked_bytes));
  }
  CUKIT_TRY(remember(entry));
  skip_ = padded(entry.size);
  found.push_back(std::move(entry));
  return {};
}

Result<TarEntry> TarAudit::accept(const tar::Header& header) {
  const auto kind = kind_of(header.type);
  if (!kind) {
    return refuse_archive(where_, "`{}` is {}; only files, folders and links are accepted",
                          printable(header.name), refused_kind(header.type));
  }
  if (header.size > limits::k_archive_unpacked_bytes || (*kind != Kind::file && header.size != 0)) {
    return refuse_archive(where_, "`{}` cannot have {} bytes", printable(header.name), header.size);
  }
  TarEntry entry{.kind = *kind, .size = header.size, .name = header.name, .link = header.link};
  if (*kind == Kind::folder && entry.name.ends_with('/')) {
    entry.name.pop_back();
  }
  CUKIT_TRY_ASSIGN(entry.path, strip(entry.name));
  if (entry.path.empty() && *kind != Kind::folder) {
    return refuse_archive(where_, "`{}` is no folder", top_);
  }
  if (*kind == Kind::link) {
    CUKIT_TRY(accept_link(entry));
  } else if (*kind == Kind::hard_link) {
    CUKIT_TRY(accept_hard_link(entry));
  }
  return entry;
}

Result<RelativePath> TarAudit::strip(std::string_view name) const {
  if (name.starts_with("./")) { // `tar -C folder .` writes it
    name.remove_prefix(2);
  }
  auto path = RelativePath::parse(name);
  if (!path) {
    return refuse_archive(where_, "{}", path.error().message);
  }
  if (top_.empty()) {
    return path;
  }
  if (path->text() == top_) {
    return RelativePath();
  }
  if (!path->is_inside(top_)) {
    return refuse_archive(where_,
                          "`{}` lies outside `{}/`, the one folder that the archive may hold",
                          path->text(), top_);
  }
  return RelativePath::parse(path->text().substr(top_.size() + 1));
}

Result<void> TarAudit::accept_link(TarEntry& entry) {
  entry.target = entry.link;
  const auto leads_to = resolve_link(entry.path, entry.target);
  if (!leads_to || !is_plain_text(entry.target) || entry.target.size() >= limits::k_path_bytes) {
    return refuse_archive(where_, "the link `{}` leads to `{}`, which is no place in the archive",
                          entry.path.text(), printable(entry.target.substr(0, 200)));
  }
  return {};
}

Result<void> TarAudit::accept_hard_link(TarEntry& entry) {
  CUKIT_TRY_ASSIGN(entry.source, strip(entry.link));
  const auto source = known_.find(entry.source.text());
  if (source == known_.end() || source->second.kind != Kind::file) {
    return refuse_archive(where_, "`{}` is a hard link to `{}`, which is no earlier file",
                          entry.path.text(), entry.source.text());
  }
  repeated_ += source->second.size;
  return {};
}

Result<void> TarAudit::count_name(const std::string& path) {
  name_bytes_ += path.size();
  return name_bytes_ <= limits::k_tar_names_bytes
             ? Result<void>()
             : refuse_archive(where_, "the names in the tar file have more than {}",
                              human_bytes(limits::k_tar_names_bytes));
}

Result<void> TarAudit::remember(const TarEntry& entry) {
  if (entry.path.empty()) {
    return {};
  }
  CUKIT_TRY(remember_folders(entry.path.parent()));
  Known known{entry.kind == Kind::hard_link ? Kind::file : entry.kind, entry.size, entry.target};
  if (entry.kind == Kind::hard_link) {
    known.size = known_.at(entry.source.text()).size;
  }
  CUKIT_TRY(count_name(entry.path.text() + entry.target));
  const auto [it, is_new] = known_.try_emplace(entry.path.text(), known);
  const bool same_folder = entry.kind == Kind::folder && it->second.kind == Kind::folder;
  return is_new || same_folder
             ? Result<void>()
             : refuse_archive(where_, "`{}` is in the tar file twice", entry.path.text());
}

Result<void> TarAudit::remember_folders(const RelativePath& path) {
  for (auto folder = path; !folder.empty(); folder = folder.parent()) {
    const auto [it, is_new] = known_.try_emplace(folder.text(), Known{Kind::folder});
    if (it->second.kind != Kind::folder) {
      return refuse_archive(where_, "`{}` is no folder, but `{}` lies in it", folder.text(),
                            path.text());
    }
    if (!is_new) {
      break; // and so are the folders above it
    }
    CUKIT_TRY(count_name(folder.text()));
  }
  return {};
}

Result<void> TarAudit::end() const {
  if (zero_blocks_ != 2) {
    return refuse_archive(where_, "the tar file ends without the two blocks that mark its end");
  }
  LinkWalk walk([this](const std::string& path) {
    const auto known = known_.find(path);
    return known != known_.end() && known->second.kind == Kind::link ? &known->second.target
                                                                     : nullptr;
  });
  for (const auto& [path, known] : known_) {
    if (known.kind != Kind::link) {
      continue;
    }
    if (const auto wrong = walk.follow(path, known.target); !wrong.empty()) {
      return refuse_archive(where_, "the link `{}` {}", path, wrong);
    }
  }
  return {};
}

} // namespace cukit::archive

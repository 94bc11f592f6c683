#include "pipeline/bundle.hpp"

#include "archive/plain_tar.hpp"
#include "base/limits.hpp"
#include "base/strings.hpp"
#include "model/relative_path.hpp"

#include <algorithm>

namespace cukit::pipeline {

namespace {

constexpr const char* k_index = "cukit-bundle.json";
constexpr const char* k_manifests = "manifests/";
constexpr std::size_t k_piece = 1U << 20U;

Result<Sha256> digest_of(const RandomAccess& file, const std::stop_token& stop) {
  Sha256Stream stream;
  std::vector<std::uint8_t> buffer(
      static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), k_piece)));
  for (std::uint64_t at = 0; at < file.size();) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted while {} was checked", file.name());
    }
    const auto piece = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), file.size() - at)));
    CUKIT_TRY(file.read_at(at, piece));
    stream.update(std::span<const std::uint8_t>(piece));
    at += piece.size();
  }
  return stream.finish();
}

bool is_manifest(const std::string& name) {
  return name.starts_with(k_manifests) && !name.ends_with(".lock.yaml");
}

std::optional<std::uint64_t> number(const text::Json& json) {
  if (!json.is(text::Json::Kind::integer) || json.integer() < 0) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(json.integer());
}

} // namespace

/// An artifact of which only some ranges are there.
class Bundle::Ranges final : public RandomAccess {
public:
  Ranges(const RandomAccess& file, std::uint64_t size, std::vector<Range> ranges, std::string name)
      : file_(file), size_(size), ranges_(std::move(ranges)), name_(std::move(name)) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Result<void> read_at(std::uint64_t offset,
                                     std::span<std::uint8_t> out) const override {
    if (out.empty()) {
      return {};
    }
    auto range = std::upper_bound(ranges_.begin(), ranges_.end(), offset,
                                  [](std::uint64_t at, const Range& r) { return at < r.offset; });
    if (range == ranges_.begin()) {
      return missing(offset);
    }
    --range; // ranges do not touch, so one holds all that is wanted or none does
    const auto within = offset - range->offset;
    if (within > range->size || out.size() > range->size - within) {
      return missing(offset);
    }
    return file_.read_at(range->at + within, out);
  }

private:
  [[nodiscard]] Result<void> missing(std::uint64_t offset) const {
    Error error{.code = ErrorCode::integrity, .message = {}, .where = name_};
    error.message = fmt::format("the bundle does not hold the bytes from {} on", offset);
    error.hint = "make the bundle again with this version of cukit";
    return tl::unexpected<Error>(std::move(error));
  }
  const RandomAccess& file_;
  std::uint64_t size_;
  std::vector<Range> ranges_; ///< by offset
  std::string name_;
};

Error Bundle::damaged(std::string why) const {
  Error error{.code = ErrorCode::integrity, .message = std::move(why), .where = where_};
  error.hint = "the bundle is damaged or was changed: copy it again, or make it again";
  return error;
}

Result<Bundle> Bundle::open(const fs::path& file) {
  Bundle bundle;
  bundle.where_ = printable(file.string());
  CUKIT_TRY_ASSIGN(const auto members, archive::list_plain_tar(file));
  for (const auto& member : members) {
    bundle.members_[member.name] = {member.offset, member.size};
  }
  CUKIT_TRY_ASSIGN(bundle.file_, open_local_file(file));
  CUKIT_TRY(bundle.read_index());
  return bundle;
}

Result<std::string> Bundle::text_of(const std::string& name) const {
  const auto found = members_.find(name);
  if (found == members_.end() || found->second.size > limits::k_lock_bytes) {
    return tl::unexpected<Error>(
        damaged(fmt::format("the bundle has no usable {}", printable(name))));
  }
  std::string text(static_cast<std::size_t>(found->second.size), '\0');
  CUKIT_TRY(file_->read_at(found->second.offset,
                           std::span(reinterpret_cast<std::uint8_t*>(text.data()), text.size())));
  return text;
}

Result<void> Bundle::read_index() {
  CUKIT_TRY_ASSIGN(const auto text, text_of(k_index));
  const auto json = text::Json::parse(text, where_);
  const auto* version = json ? json->find("cukit-bundle") : nullptr;
  const auto* files = json ? json->find("files") : nullptr;
  const auto* parts = json ? json->find("parts") : nullptr;
  if (version == nullptr || files == nullptr || parts == nullptr) {
    return tl::unexpected<Error>(damaged(fmt::format("{} cannot be understood", k_index)));
  }
  if (number(*version) != 1U) {
    return tl::unexpected<Error>(damaged("the bundle was made by a newer cukit"));
  }
  std::size_t known = 1;
  for (const auto& [name, digest] : files->members()) {
    const auto found = members_.find(name);
    if (found == members_.end()) {
      return tl::unexpected<Error>(damaged(fmt::format("{} is missing", printable(name))));
    }
    const Ranges bytes(*file_, found->second.size, {{0, found->second.size, found->second.offset}},
                       where_);
    CUKIT_TRY_ASSIGN(const auto got, digest_of(bytes, {}));
    if (digest.text() != got.text()) {
      return tl::unexpected<Error>(damaged(
          fmt::format("{} is not as it was: its sha256 is {}", printable(name), got.hex())));
    }
    ++known;
  }
  for (const auto& [name, member] : members_) {
    known += name.starts_with("artifacts/") ? 1 : 0;
  }
  if (known != members_.size()) {
    return tl::unexpected<Error>(damaged("the bundle holds files that nobody put there"));
  }
  return read_parts(parts->members());
}

Result<void> Bundle::read_parts(const std::vector<std::pair<std::string, text::Json>>& parts) {
  for (const auto& [key, json] : parts) {
    const auto member = members_.find("parts/" + key);
    const auto* size = json.find("size");
    const auto* ranges = json.find("ranges");
    const auto total = size == nullptr ? std::nullopt : number(*size);
    auto wrong = damaged(fmt::format("the part {} makes no sense", printable(key)));
    if (member == members_.end() || !total || ranges == nullptr) {
      return tl::unexpected<Error>(std::move(wrong));
    }
    Part part{.size = *total, .ranges = {}};
    std::uint64_t at = 0;
    std::uint64_t end = 0;
    for (const auto& item : ranges->items()) {
      const auto first = item.items().size() == 2 ? number(item.items()[0]) : std::nullopt;
      const auto count = first ? number(item.items()[1]) : std::nullopt;
      if (!count || *first < end || *first > *total || *count > *total - *first ||
          *count > member->second.size - at) {
        return tl::unexpected<Error>(std::move(wrong));
      }
      part.ranges.push_back({*first, *count, member->second.offset + at});
      at += *count;
      end = *first + *count;
    }
    parts_[key] = std::move(part);
  }
  return {};
}

std::vector<std::string> Bundle::manifests() const {
  std::vector<std::string> result;
  for (const auto& [name, member] : members_) {
    if (is_manifest(name)) {
      result.push_back(name.substr(std::string_view(k_manifests).size()));
    }
  }
  return result;
}

Result<fs::path> Bundle::extract(const std::string& manifest, const fs::path& folder) const {
  CUKIT_TRY_ASSIGN(const auto name, RelativePath::parse(manifest));
  const auto lock_name = lock::lock_path(manifest).string();
  CUKIT_TRY_ASSIGN(const auto text, text_of(k_manifests + name.text()));
  CUKIT_TRY_ASSIGN(const auto lock, text_of(k_manifests + lock_name));
  CUKIT_TRY(write_file_atomic(folder / name.name(), text));
  CUKIT_TRY(write_file_atomic(folder / lock_name, lock));
  return folder / name.name();
}

Result<std::unique_ptr<RandomAccess>> Bundle::find(const lock::Artifact& artifact,
                                                   const std::stop_token& stop) const {
  const auto name = fmt::format("{} in {}", artifact.file, where_);
  const auto part = parts_.find(lock::store_key(artifact));
  if (artifact.record && part != parts_.end() && part->second.size == artifact.size) {
    return std::make_unique<Ranges>(*file_, part->second.size, part->second.ranges, name);
  }
  const auto whole = members_.find("artifacts/" + artifact.sha256.hex());
  if (whole == members_.end()) {
    Error error{.code = ErrorCode::source, .message = {}, .where = where_};
    error.message = fmt::format("the bundle does not hold {}", artifact.file);
    error.hint = "make the bundle again from the lock that is used here";
    return tl::unexpected<Error>(std::move(error));
  }
  const auto& [offset, size] = whole->second;
  auto file = std::make_unique<Ranges>(*file_, size, std::vector<Range>{{0, size, offset}}, name);
  CUKIT_TRY_ASSIGN(const auto got, digest_of(*file, stop));
  if (got != artifact.sha256) {
    return tl::unexpected<Error>(
        damaged(fmt::format("{} is not the file that was locked: its sha256 is {}, expected {}",
                            artifact.file, got.hex(), artifact.sha256.hex())));
  }
  return file;
}

} // namespace cukit::pipeline

#include "archive/tar_reader.hpp"

#include "archive/refuse.hpp"
#include "base/strings.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <clocale>
#include <locale.h>
#include <new>
#include <sys/stat.h>

namespace cukit::archive {

namespace {

/// libarchive converts names by the locale, and this program runs in the one named C, where a name
/// beyond ASCII would be a warning. For this thread alone, while it is in libarchive.
class Utf8Locale {
public:
  Utf8Locale() : mine_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;
  ~Utf8Locale() {
    if (mine_ != nullptr) {
      ::freelocale(mine_);
    }
  }
  class Use {
  public:
    explicit Use(const Utf8Locale& wanted)
        : before_(::uselocale(wanted.mine_)) {} // null changes nothing
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { ::uselocale(before_); }

  private:
    locale_t before_;
  };

private:
  locale_t mine_;
};

struct Closer {
  void operator()(struct archive* reader) const { ::archive_read_free(reader); }
};

std::string text(const char* value) {
  return value == nullptr ? std::string() : std::string(value);
}

} // namespace

struct TarReader::State {
  std::string where;
  Next next;
  std::optional<Error> error = {}; ///< of `next`
  Utf8Locale locale = {};
  std::unique_ptr<struct archive, Closer> reader{::archive_read_new()};
  bool is_open = false;

  static la_ssize_t read(struct archive* reader, void* self, const void** out);
  Result<void> open();
  tl::unexpected<Error> failed();
};

la_ssize_t TarReader::State::read(struct archive* reader, void* self, const void** out) {
  auto& state = *static_cast<State*>(self);
  auto piece = state.next();
  if (!piece) {
    state.error = std::move(piece.error());
    ::archive_set_error(reader, EIO, "no input");
    return ARCHIVE_FATAL;
  }
  *out = piece->data();
  return static_cast<la_ssize_t>(piece->size());
}

tl::unexpected<Error> TarReader::State::failed() {
  if (error) {
    return tl::unexpected<Error>(*std::move(error));
  }
  return refuse_archive(where, "the tar file is damaged: {}",
                        printable(text(::archive_error_string(reader.get()))));
}

Result<void> TarReader::State::open() {
  is_open = true;
  if (::archive_read_support_format_tar(reader.get()) != ARCHIVE_OK ||
      ::archive_read_open(reader.get(), this, nullptr, &State::read, nullptr) != ARCHIVE_OK) {
    return failed();
  }
  return {};
}

TarReader::TarReader(std::string where, Next next)
    : state_(new State{.where = std::move(where), .next = std::move(next)}) {
  if (!state_->reader) {
    throw std::bad_alloc();
  }
}
TarReader::TarReader(TarReader&&) noexcept = default;
TarReader& TarReader::operator=(TarReader&&) noexcept = default;
TarReader::~TarReader() = default;

Result<std::optional<TarReader::Entry>> TarReader::next() {
  State& state = *state_;
  const Utf8Locale::Use use(state.locale);
  if (!state.is_open) {
    CUKIT_TRY(state.open());
  }
  struct archive_entry* entry = nullptr;
  const int code = ::archive_read_next_header(state.reader.get(), &entry);
  if (code == ARCHIVE_EOF) {
    return std::nullopt;
  }
  if (code != ARCHIVE_OK) {
    return state.failed();
  }
  const auto type = ::archive_entry_filetype(entry);
  const char* hard_link = ::archive_entry_hardlink(entry);
  Entry result{.name = text(::archive_entry_pathname(entry)),
               .link = text(hard_link != nullptr ? hard_link : ::archive_entry_symlink(entry)),
               .size = static_cast<std::uint64_t>(::archive_entry_size(entry)),
               .is_file = hard_link == nullptr && type == AE_IFREG,
               .is_folder = hard_link == nullptr && type == AE_IFDIR,
               .is_link = hard_link == nullptr && type == AE_IFLNK,
               .is_hard_link = hard_link != nullptr};
  if (result.name.ends_with('/')) {
    result.name.pop_back();
  }
  return result;
}

Result<void>
TarReader::read(const std::function<Result<void>(std::span<const std::uint8_t>)>& consume) {
  State& state = *state_;
  la_int64_t expected = 0;
  while (true) {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    int code = ARCHIVE_OK;
    {
      const Utf8Locale::Use use(state.locale);
      code = ::archive_read_data_block(state.reader.get(), &data, &size, &offset);
    }
    if (code == ARCHIVE_EOF) {
      return {};
    }
    if (code != ARCHIVE_OK) {
      return state.failed();
    }
    if (offset != expected) {
      return refuse_archive(state.where, "the tar file holds a sparse file");
    }
    expected += static_cast<la_int64_t>(size);
    CUKIT_TRY(consume(std::span(static_cast<const std::uint8_t*>(data), size)));
  }
}

} // namespace cukit::archive

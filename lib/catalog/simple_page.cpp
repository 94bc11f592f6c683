#include "base/strings.hpp"
#include "catalog/catalog.hpp"
#include "catalog/html_links.hpp"
#include "http/client.hpp"
#include "model/project_name.hpp"
#include "model/relative_path.hpp"
#include "text/json.hpp"

#include <algorithm>
#include <charconv>

namespace cukit::catalog {

namespace {

/// A page being read: where it is, for messages, and what was taken from it.
class PageReader {
public:
  PageReader(std::string page_url, std::string project)
      : url_(std::move(page_url)), project_(std::move(project)) {}

  Result<std::vector<WheelFile>> json(std::string_view body) {
    CUKIT_TRY_ASSIGN(const auto page, parsed(body));
    CUKIT_TRY(check_head(page));
    const auto* files = page.find("files");
    if (files == nullptr || !files->is(text::Json::Kind::list)) {
      return wrong("has no list `files`");
    }
    for (const auto& file : files->items()) {
      CUKIT_TRY(json_file(file));
    }
    return sorted();
  }

  Result<std::vector<WheelFile>> html(std::string_view body) {
    const auto page = read_html(body);
    std::string base = url_;
    if (!page.base.empty()) {
      CUKIT_TRY_ASSIGN(base, located(url_, page.base));
    }
    bool has_file = false;
    for (const auto& link : page.links) {
      const auto name = http::url_file_name(link.href);
      const bool is_file = is_distribution(name);
      has_file = has_file || is_file;
      if (is_file) {
        CUKIT_TRY(html_file(link, name, base));
      }
    }
    if (!has_file) {
      return wrong(fmt::format("is no page of an index: none of its {} links leads to a package",
                               page.links.size()),
                   "a login page or a proxy may have answered; open the address in a browser, or "
                   "name another index with --index-url");
    }
    return sorted();
  }

  tl::unexpected<Error> wrong(std::string_view why, std::string hint = {}) const {
    Error error{.code = ErrorCode::source, .message = {}};
    error.message = fmt::format("the page {} {}",
                                project_.empty() ? "of links" : "of the project " + project_, why);
    error.where = redact_url(url_);
    error.hint =
        hint.empty() ? "try again, or name another index with --index-url" : std::move(hint);
    return tl::unexpected<Error>(std::move(error));
  }

private:
  static bool is_distribution(std::string_view name) {
    constexpr std::string_view endings[] = {".whl", ".tar.gz", ".zip", ".tar.bz2", ".tgz", ".egg"};
    return std::any_of(std::begin(endings), std::end(endings),
                       [&](std::string_view ending) { return lower(name).ends_with(ending); });
  }

  Result<text::Json> parsed(std::string_view body) const {
    auto page = text::Json::parse(body, redact_url(url_));
    if (!page) {
      auto error = std::move(wrong("is damaged").value());
      error.causes.push_back(page.error().message);
      return tl::unexpected<Error>(std::move(error));
    }
    return page;
  }

  Result<void> check_head(const text::Json& page) const {
    if (!page.is(text::Json::Kind::object)) {
      return wrong("is no JSON object");
    }
    const auto* meta = page.find("meta");
    const auto version = meta == nullptr ? std::string_view() : meta->text_of("api-version");
    if (!version.starts_with("1.")) {
      return wrong(fmt::format("speaks version `{}` of the simple API, not 1.x",
                               printable(version.substr(0, 20))));
    }
    const auto name = page.text_of("name");
    if (!name.empty() && !project_.empty() && normalised_project(name) != project_) {
      return wrong(fmt::format("is that of another project, `{}`", printable(name.substr(0, 100))));
    }
    return {};
  }

  /// A file name goes into locks and on disks: no path, no control byte.
  Result<void> check_name(std::string_view name) const {
    const auto path = RelativePath::parse(name);
    if (!path || name.find('/') != std::string_view::npos || name.front() == '.') {
      return wrong(fmt::format("holds a hostile file name, `{}`", printable(name.substr(0, 100))));
    }
    return {};
  }

  Result<std::string> located(const std::string& base, const std::string& link) const {
    auto url = http::resolve_url(base, link);
    if (!url) {
      return wrong(fmt::format("holds a link that cannot be followed: {}", url.error().message));
    }
    return url;
  }

  Result<Sha256> digest(std::string_view text, std::string_view file) const {
    // some servers write upper case; one digest has one spelling here
    auto result = Sha256::parse(lower(text));
    if (!result || text.size() != 64) {
      return wrong(fmt::format("has no valid sha256 for {}", printable(file)));
    }
    return result;
  }

  Result<void> json_file(const text::Json& entry) {
    const auto name = entry.text_of("filename");
    const auto link = entry.text_of("url");
    if (name.empty() || link.empty()) {
      return wrong("lists a file without name or url");
    }
    CUKIT_TRY(check_name(name));
    auto wheel = parse_wheel_name(name);
    if (!wheel) {
      return {};
    }
    if (const auto* size = entry.find("size");
        size != nullptr && !size->is(text::Json::Kind::null)) {
      if (!size->is(text::Json::Kind::integer) || size->integer() < 0) {
        return wrong(fmt::format("has no valid size for {}", printable(name)));
      }
      wheel->size = static_cast<std::uint64_t>(size->integer());
    }
    const auto* hashes = entry.find("hashes");
    const auto* sha256 = hashes == nullptr ? nullptr : hashes->find("sha256");
    if (sha256 != nullptr) {
      CUKIT_TRY_ASSIGN(wheel->sha256, digest(sha256->text(), name));
    }
    if (const auto* yanked = entry.find("yanked")) {
      wheel->yanked = yanked->is(text::Json::Kind::string) || yanked->boolean();
      wheel->yanked_why = printable(yanked->text());
    }
    wheel->upload_time = printable(entry.text_of("upload-time"));
    CUKIT_TRY_ASSIGN(wheel->url, located(url_, std::string(link)));
    wheel->url.resize(std::min(wheel->url.find('#'), wheel->url.size()));
    return add(*std::move(wheel));
  }

  Result<void> html_file(const HtmlLink& link, const std::string& name, const std::string& base) {
    CUKIT_TRY(check_name(name));
    auto wheel = parse_wheel_name(name);
    if (!wheel) {
      return {};
    }
    CUKIT_TRY_ASSIGN(wheel->url, located(base, link.href));
    if (const auto hash = wheel->url.find('#'); hash != std::string::npos) {
      const auto fragment = wheel->url.substr(hash + 1);
      wheel->url.resize(hash);
      if (fragment.starts_with("sha256=")) {
        const auto value = std::string_view(fragment).substr(7);
        CUKIT_TRY_ASSIGN(wheel->sha256, digest(value.substr(0, value.find('&')), name));
      }
    }
    wheel->yanked = link.yanked.has_value();
    wheel->yanked_why = printable(link.yanked.value_or(""));
    const auto* end = link.size.data() + link.size.size();
    if (const auto [rest, error] = std::from_chars(link.size.data(), end, wheel->size);
        error != std::errc() || rest != end) {
      wheel->size = 0; // as if the page said nothing
    }
    return add(*std::move(wheel));
  }

  Result<void> add(WheelFile wheel) {
    if (project_.empty() || wheel.project == project_) {
      wheels_.push_back(std::move(wheel));
    }
    return {};
  }

  Result<std::vector<WheelFile>> sorted() {
    std::stable_sort(wheels_.begin(), wheels_.end(), [](const WheelFile& a, const WheelFile& b) {
      const auto order = a.version <=> b.version;
      return order != 0 ? order < 0 : a.file < b.file;
    });
    for (std::size_t i = 1; i < wheels_.size(); ++i) {
      if (wheels_[i].file == wheels_[i - 1].file && wheels_[i].sha256 != wheels_[i - 1].sha256) {
        return wrong(fmt::format("lists {} twice with different digests", wheels_[i].file));
      }
    }
    const auto same = [](const WheelFile& a, const WheelFile& b) { return a.file == b.file; };
    wheels_.erase(std::unique(wheels_.begin(), wheels_.end(), same), wheels_.end());
    return std::move(wheels_);
  }

  std::string url_;
  std::string project_;
  std::vector<WheelFile> wheels_;
};

} // namespace

Result<std::vector<WheelFile>> parse_simple_page(std::string_view body,
                                                 const std::string& content_type,
                                                 const std::string& page_url,
                                                 const std::string& project) {
  PageReader reader(page_url, project);
  const auto type = lower(trim(std::string_view(content_type).substr(0, content_type.find(';'))));
  if (type.ends_with("json")) {
    return reader.json(body);
  }
  if (type.ends_with("html") || type.ends_with("xml")) {
    return reader.html(body);
  }
  // Plain file servers do not always name a type.
  const auto start = trim(body).substr(0, 1);
  if (start == "{" || start == "<") {
    return start == "{" ? reader.json(body) : reader.html(body);
  }
  return reader.wrong(
      fmt::format("is neither JSON nor HTML but `{}`", printable(type.substr(0, 60))),
      "check that the address is that of an index (it usually ends in /simple)");
}

} // namespace cukit::catalog

#include "offline/mirror_pages.hpp"

#include "base/kept_file.hpp"
#include "base/limits.hpp"
#include "catalog/catalog.hpp"
#include "catalog/redist.hpp"
#include "model/project_name.hpp"

namespace cukit::offline {

namespace {

struct Link {
  std::string href;
  std::string text;
  std::string size = {}; ///< in bytes; empty: not said
};

constexpr std::string_view k_head = "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
                                    "<meta name=\"pypi:repository-version\" content=\"1.0\">\n";
constexpr const char* k_page = "index.html";

/// Names of wheels, projects and manifests hold no character that HTML or a URL would change.
std::string page(const std::string& title, const std::vector<Link>& links) {
  std::string html(k_head);
  html += fmt::format("<title>{}</title>\n</head>\n<body>\n", title);
  for (const auto& link : links) {
    // PEP 503 knows no sizes, but a lock needs them; other readers ignore the attribute.
    const auto size = link.size.empty() ? "" : fmt::format(" data-size=\"{}\"", link.size);
    html += fmt::format("<a href=\"{}\"{}>{}</a><br>\n", link.href, size, link.text);
  }
  return html + "</body>\n</html>\n";
}

/// A page that a person put there is not replaced.
Result<void> check_page(const fs::path& folder) {
  const auto path = folder / k_page;
  if (!path_exists(path)) {
    return {};
  }
  CUKIT_TRY_ASSIGN(const auto text, read_file(path, limits::k_index_page_bytes));
  return text.starts_with(k_head)
             ? Result<void>()
             : tl::unexpected<Error>(Error{.code = ErrorCode::usage,
                                           .message = "there is a page that is not the mirror's",
                                           .where = path.string(),
                                           .hint = "name a folder of the mirror's own"});
}

Result<void> write_page(const fs::path& folder, const std::string& title,
                        const std::vector<Link>& links) {
  CUKIT_TRY(check_page(folder));
  const auto path = folder / k_page;
  const auto text = page(title, links);
  const auto present = read_file(path, limits::k_index_page_bytes);
  return present && *present == text ? Result<void>() : write_file_atomic(path, text);
}

Result<std::vector<Link>> wheels_in(const fs::path& folder, const std::string& project,
                                    const std::map<fs::path, Sha256>& known) {
  std::vector<Link> links;
  CUKIT_TRY_ASSIGN(const auto names, list_directory(folder));
  for (const auto& name : names) {
    std::error_code unknown;
    const auto wheel = catalog::parse_wheel_name(name);
    if (!wheel || wheel->project != project || !fs::is_regular_file(folder / name, unknown)) {
      continue;
    }
    const auto found = known.find(folder / name);
    auto digest =
        found != known.end() ? Result<Sha256>(found->second) : sha256_of_file(folder / name);
    CUKIT_TRY(digest);
    std::error_code error;
    const auto size = fs::file_size(folder / name, error);
    links.push_back({fmt::format("{}#sha256={}", name, digest->hex()), name,
                     error ? "" : std::to_string(size)});
  }
  return links;
}

/// A list of the manifests of a product, as NVIDIA's host gives one.
Result<void> write_redist_page(const fs::path& folder) {
  if (!is_kept_folder(folder)) {
    return {};
  }
  std::vector<Link> links;
  CUKIT_TRY_ASSIGN(const auto names, list_directory(folder));
  for (const auto& name : names) {
    if (catalog::redist_label(name)) {
      links.push_back({name, name});
    }
  }
  return write_page(folder, "redist", links);
}

} // namespace

Result<void> check_mirror_folder(const fs::path& folder) {
  return check_page(folder);
}

Result<void> write_mirror_pages(const fs::path& folder, const std::map<fs::path, Sha256>& known) {
  CUKIT_TRY_ASSIGN(const auto names, list_directory(folder));
  std::vector<Link> projects;
  for (const auto& name : names) {
    if (name.starts_with('.') || !is_kept_folder(folder / name)) {
      continue;
    }
    CUKIT_TRY(write_redist_page(folder / name / "redist"));
    if (normalised_project(name) != name) {
      continue;
    }
    CUKIT_TRY_ASSIGN(const auto wheels, wheels_in(folder / name, name, known));
    if (!wheels.empty()) {
      CUKIT_TRY(write_page(folder / name, name, wheels));
      projects.push_back({name + "/", name});
    }
  }
  return projects.empty() ? Result<void>() : write_page(folder, "simple index", projects);
}

} // namespace cukit::offline

#include "base/files.hpp"
#include "catalog/catalog.hpp"
#include "catalog/html_links.hpp"
#include "support/corpus.hpp"

#include <gtest/gtest.h>

namespace cukit::catalog {
namespace {

constexpr const char* k_json = "application/vnd.pypi.simple.v1+json";
constexpr const char* k_page = "https://index.example.com/simple/nvidia-nvvm/";
const std::string k_sha(64, 'a');

std::string
entry(const std::string& rest,
      const std::string& file = "nvidia_nvvm-13.0.88-py3-none-manylinux_2_17_x86_64.whl") {
  return R"({"filename": ")" + file + R"(", "url": "../../files/)" + file + R"(", )" + rest + "}";
}
std::string page(const std::string& files, const std::string& name = "nvidia-nvvm") {
  return R"({"meta": {"api-version": "1.1"}, "name": ")" + name +
         R"(", "versions": ["13.0.88"], "files": [)" + files + "]}";
}
std::string hashed(const std::string& more = "") {
  return R"("hashes": {"sha256": ")" + k_sha + R"("})" + more;
}

Result<std::vector<WheelFile>> read(const std::string& body, const std::string& type = k_json) {
  return parse_simple_page(body, type, k_page, "nvidia-nvvm");
}

TEST(JsonPage, gives_everything_that_a_lock_needs) {
  const auto files = read(page(entry(
      hashed(R"(, "size": 47000000, "upload-time": "2025-08-01T00:00:00Z", "yanked": false)"))));
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 1U);
  const auto& file = files->front();
  EXPECT_EQ(
      file.url,
      "https://index.example.com/files/nvidia_nvvm-13.0.88-py3-none-manylinux_2_17_x86_64.whl");
  EXPECT_EQ(file.size, 47000000U);
  EXPECT_EQ(file.sha256->hex(), k_sha);
  EXPECT_EQ(file.upload_time, "2025-08-01T00:00:00Z");
  EXPECT_FALSE(file.yanked);
}

TEST(JsonPage, marks_yanked_files_with_and_without_a_reason) {
  const auto files =
      read(page(entry(hashed(R"(, "yanked": "broken\u001b[2J")")) + "," +
                entry(hashed(R"(, "yanked": true)"), "nvidia_nvvm-13.0.90-py3-none-any.whl")));
  ASSERT_TRUE(files);
  EXPECT_TRUE(files->at(0).yanked);
  EXPECT_EQ(files->at(0).yanked_why, "broken\\x1b[2J");
  EXPECT_TRUE(files->at(1).yanked);
}

TEST(JsonPage, sorts_by_version_as_numbers) {
  const auto files = read(page(entry(hashed(), "nvidia_nvvm-13.10.1-py3-none-any.whl") + "," +
                               entry(hashed(), "nvidia_nvvm-13.2.78-py3-none-any.whl") + "," +
                               entry(hashed(), "nvidia_nvvm-13.2.78rc1-py3-none-any.whl")));
  ASSERT_TRUE(files);
  EXPECT_EQ(files->at(0).version.text(), "13.2.78rc1");
  EXPECT_EQ(files->at(2).version.text(), "13.10.1");
}

TEST(JsonPage, leaves_out_other_platforms_source_archives_and_other_projects) {
  const auto files = read(page(entry(hashed(), "nvidia_nvvm-13.0.88-py3-none-win_amd64.whl") + "," +
                               entry(hashed(), "nvidia_nvvm-13.0.88.tar.gz") + "," +
                               entry(hashed(), "evil-1-py3-none-any.whl")));
  ASSERT_TRUE(files);
  EXPECT_TRUE(files->empty());
}

struct Hostile {
  const char* what;
  std::string body;
};

TEST(JsonPage, refuses_hostile_and_damaged_pages_naming_project_and_place) {
  const auto good = page(entry(hashed()));
  const std::vector<Hostile> pages = {
      {"truncated", good.substr(0, good.size() / 2)},
      {"empty", ""},
      {"not an object", "[]"},
      {"duplicate key", page(entry(hashed(R"(, "size": 1, "size": 2)")))},
      {"size of 2^64", page(entry(hashed(R"(, "size": 18446744073709551616)")))},
      {"negative size", page(entry(hashed(R"(, "size": -1)")))},
      {"size as text", page(entry(hashed(R"(, "size": "12")")))},
      {"fraction as size", page(entry(hashed(R"(, "size": 1.5)")))},
      {"short digest", page(entry(R"("hashes": {"sha256": "abcd"})"))},
      {"long digest", page(entry(R"("hashes": {"sha256": ")" + k_sha + "a\"}"))},
      {"no hex", page(entry(R"("hashes": {"sha256": ")" + std::string(64, 'g') + "\"}"))},
      {"digest with prefix", page(entry(R"("hashes": {"sha256": "sha256:)" + k_sha + "\"}"))},
      {"parent folder in a name", page(entry(hashed(), "../nvidia_nvvm-13.0.88-py3-none-any.whl"))},
      {"absolute name", page(entry(hashed(), "/etc/passwd"))},
      {"control byte in a name", page(entry(hashed(), "nvidia\\u0000_nvvm-1-py3-none-any.whl"))},
      {"no name", page(R"({"url": "x.whl", "hashes": {}})")},
      {"no url", page(R"({"filename": "nvidia_nvvm-1-py3-none-any.whl", "hashes": {}})")},
      {"plain http link",
       page(
           R"({"filename": "nvidia_nvvm-1-py3-none-any.whl", "url": "http://example.com/a.whl"})")},
      {"file link",
       page(R"({"filename": "nvidia_nvvm-1-py3-none-any.whl", "url": "file:///etc/passwd"})")},
      {"another project", page(entry(hashed()), "torch")},
      {"no files", R"({"meta": {"api-version": "1.0"}, "name": "nvidia-nvvm"})"},
      {"files of the wrong kind", R"({"meta": {"api-version": "1.0"}, "files": {"a": 1}})"},
      {"newer api", R"({"meta": {"api-version": "2.0"}, "name": "nvidia-nvvm", "files": []})"},
      {"no api", R"({"name": "nvidia-nvvm", "files": []})"},
      {"two digests for one name",
       page(entry(hashed()) + "," +
            entry(R"("hashes": {"sha256": ")" + std::string(64, 'b') + "\"}"))},
      {"entry that is no object", page("1")},
  };
  for (const auto& [what, body] : pages) {
    const auto files = read(body);
    ASSERT_FALSE(files) << what;
    EXPECT_EQ(files.error().code, ErrorCode::source) << what;
    EXPECT_NE(files.error().message.find("nvidia-nvvm"), std::string::npos) << what;
    EXPECT_EQ(files.error().where, k_page) << what;
    EXPECT_FALSE(files.error().hint.empty()) << what;
  }
}

TEST(JsonPage, no_prefix_of_a_page_is_taken_for_a_page) {
  const auto good = page(entry(hashed(R"(, "size": 3)")));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(read(good.substr(0, size))) << size;
  }
}

TEST(HtmlPage, reads_links_digests_yanks_entities_and_a_base) {
  const auto files =
      read("<!DOCTYPE html><html><head><base href='https://files.example.com/a/'><script>var x = "
           "'<a href=\"evil.whl\">'"
           "</script></head><body><!-- <a href=\"old-1-py3-none-any.whl\">x</a> -->\n"
           "<A HREF=\"nvidia_nvvm-13.0.88-py3-none-any.whl?a=1&amp;b=2#sha256=" +
               k_sha +
               "\" data-yanked='too &quot;old&quot;'>text</A><br/>"
               "<a class=x href = "
               "nvidia_nvvm-13.0.90%2Bcu1-py3-none-any.whl#md5=00>x</a><a>none</a><a href=..>up</a>"
               "<a href='nvidia_nvvm-13.0.91-py3-none-any.whl' data-yanked>x</a>",
           "text/html");
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 3U);
  EXPECT_EQ(files->at(0).url,
            "https://files.example.com/a/nvidia_nvvm-13.0.88-py3-none-any.whl?a=1&b=2");
  EXPECT_EQ(files->at(0).sha256->hex(), k_sha);
  EXPECT_TRUE(files->at(0).yanked);
  EXPECT_EQ(files->at(0).yanked_why, "too \"old\"");
  EXPECT_EQ(files->at(1).version.text(), "13.0.90+cu1");
  EXPECT_FALSE(files->at(1).sha256);
  EXPECT_FALSE(files->at(1).yanked);
  EXPECT_TRUE(files->at(2).yanked);
}

TEST(HtmlPage, a_login_page_is_no_index_page) {
  const auto files =
      read("<html><title>Sign in</title><form action='/login'><a href='/help'>Help</a></form>",
           "text/html");
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, ErrorCode::source);
  EXPECT_NE(files.error().message.find("nvidia-nvvm"), std::string::npos);
  EXPECT_NE(files.error().hint.find("login"), std::string::npos);
}

TEST(HtmlPage, a_page_of_source_archives_is_an_index_page_without_wheels) {
  const auto files = read("<a href='nvidia_nvvm-1.tar.gz'>x</a>", "text/html");
  ASSERT_TRUE(files);
  EXPECT_TRUE(files->empty());
}

TEST(HtmlPage, refuses_hostile_links) {
  for (const auto* link :
       {"http://example.com/nvidia_nvvm-1-py3-none-any.whl",
        "file:///nvidia_nvvm-1-py3-none-any.whl", "nvidia_nvvm-1-py3-none-any.whl#sha256=12",
        "nvidia%0a_nvvm-1-py3-none-any.whl"}) {
    EXPECT_FALSE(read(std::string("<a href='") + link + "'>x</a>", "text/html")) << link;
  }
}

TEST(SimplePage, an_unnamed_type_is_told_by_the_first_byte_and_a_foreign_one_refused) {
  EXPECT_TRUE(read(page(entry(hashed())), "application/octet-stream"));
  EXPECT_TRUE(read("\n<a href='nvidia_nvvm-1-py3-none-any.whl'>x</a>", ""));
  EXPECT_FALSE(read("PK\x03\x04", "application/zip"));
}

TEST(SimplePage, a_password_in_the_address_is_not_shown) {
  const auto files =
      parse_simple_page("", k_json, "https://user:secret@index.example.com/simple/x/?token=1", "x");
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().where, "https://index.example.com/simple/x/");
}

#ifdef CUKIT_COLLECTED
TEST(SimplePage, reads_the_pages_of_the_corpus) {
  const auto folder = test::corpus("pip-conf");
  int links = 0;
  const auto names = list_directory(folder / "pages");
  ASSERT_TRUE(names);
  for (const auto& name : *names) {
    const auto text = *read_file(folder / "pages" / name, 1U << 20U);
    links += static_cast<int>(read_html(text).links.size());
    const auto files =
        parse_simple_page(text, "text/html", "https://index.example.com/simple/a/b/c/", "");
    ASSERT_TRUE(files) << name;
    EXPECT_EQ(files->size(), name == "invalid-version.html" ? 1U : 0U)
        << name; // the rest are source archives
  }
  EXPECT_EQ(links, 2 + 2 + 3 + 5 + 1 + 3 + 3);
  const auto yanked = read_html(*read_file(folder / "pages/yanked.html", 1U << 20U));
  EXPECT_FALSE(yanked.links.at(0).yanked);
  EXPECT_EQ(yanked.links.at(2).yanked, "test reason message");
}

#endif

TEST(Html, entities_are_replaced_once_and_only_known_ones) {
  EXPECT_EQ(unescape_html("a&amp;lt;b&lt;&gt;&quot;&apos;&#39;&#x27;"), "a&lt;b<>\"'''");
  EXPECT_EQ(unescape_html("&#233;&#x20AC;&#x1F600;"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(unescape_html("&nbsp; & &; &#; &#x; &#xd800; &#0; &#99999999999;"),
            "&nbsp; & &; &#; &#x; &#xd800; &#0; &#99999999999;");
}

TEST(Html, odd_markup_ends) {
  for (const auto* text :
       {"<", "<a", "<a href", "<a href=", "<a href='", "<a href=\"x", "<!--", "<script>",
        "<a = = =>", "<a / / />", "<a href=x", "<<<<>>>>", "</a>", "<a\n\thref\n=\n'x'\n>"}) {
    static_cast<void>(read_html(text));
  }
  EXPECT_EQ(read_html("<a\n\thref\n=\n' x '\n>").links.at(0).href, "x");
  EXPECT_EQ(read_html("<a = href=x>").links.at(0).href, "x");
}

TEST(SimplePageSize, is_taken_from_a_mirror_of_cukit_and_only_when_it_is_a_number) {
  for (const auto& [said, size] : {std::pair("1234", 1234U), {"12x", 0U}, {"-1", 0U}, {"", 0U}}) {
    const auto files = parse_simple_page(
        fmt::format("<a href='nvidia_nvvm-13.0.88-py3-none-manylinux_2_17_x86_64.whl' "
                    "data-size='{}'>x</a>",
                    said),
        "text/html", "https://example.com/simple/nvidia-nvvm/", "nvidia-nvvm");
    ASSERT_TRUE(files);
    ASSERT_EQ(files->size(), 1U);
    EXPECT_EQ(files->front().size, size) << said;
  }
}

} // namespace
} // namespace cukit::catalog

// What an index offers: its pages, and the pins of its releases.
#include "index_fixture.hpp"

namespace cukit::catalog {
namespace {

using test::Fault;
using test::ForgedWheel;

const std::string k_tag = "py3-none-manylinux_2_17_x86_64";

TEST_F(Index, loads_pages_and_the_pins_of_wanted_releases) {
  add_release("13.2.1", "13.2.78");
  add_release("13.0.2", "13.0.88");
  add_release("12.9.1", "12.9.86");
  add("nvidia-cuda-nvcc", "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl", "nvcc");
  const auto catalog = load();
  ASSERT_TRUE(catalog) << catalog.error().message;
  ASSERT_EQ(catalog->releases.size(), 2U);
  EXPECT_EQ(catalog->releases[0].version.text(), "13.0.2");
  EXPECT_EQ(catalog->releases[0].requirements.at(0).range.text(), "==13.0.88.*");
  EXPECT_EQ(catalog->projects.at("nvidia-cuda-nvcc").size(), 1U);
  EXPECT_EQ(server_.requests("/files/cuda_toolkit-12.9.1-py2.py3-none-any.whl"), 0);
  EXPECT_EQ(server_.seen("/simple/nvidia-cuda-nvcc/").at(0).header("accept"),
            "application/vnd.pypi.simple.v1+json, text/html;q=0.2");
}

TEST_F(Index, leaves_out_pre_releases_and_yanked_releases_with_a_note) {
  add_release("13.4.0rc1", "13.4.46rc1");
  add_release("13.1.2", "13.1.80", R"(, "yanked": "wrong pins")");
  add_release("13.0.2", "13.0.88");
  const auto catalog = load({});
  ASSERT_TRUE(catalog);
  EXPECT_EQ(catalog->releases.size(), 1U);
  EXPECT_TRUE(has_text(catalog->notes, "13.4.0rc1"));
  EXPECT_TRUE(has_text(catalog->notes, "wrong pins"));
  EXPECT_EQ(catalog->projects.at("cuda-toolkit").size(), 3U);
}

TEST_F(Index, takes_13_1_2_and_13_1_2_0_for_one_release) {
  add_release("13.1.2", "13.1.80");
  add_release("13.1.2.0", "13.1.80");
  const auto catalog = load({});
  ASSERT_TRUE(catalog);
  EXPECT_EQ(catalog->releases.size(), 1U);
}

TEST_F(Index, a_project_that_no_index_has_is_a_note) {
  add_release("13.0.2", "13.0.88");
  const auto catalog = load({"nvidia-nowhere"});
  ASSERT_TRUE(catalog);
  EXPECT_TRUE(has_text(catalog->notes, "nvidia-nowhere"));
  EXPECT_FALSE(catalog->projects.contains("nvidia-nowhere"));
}

TEST_F(Index, an_index_that_has_nothing_is_a_wrong_address) {
  const auto catalog = load();
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::source);
  EXPECT_NE(catalog.error().message.find(server_.url("/simple")), std::string::npos);
  EXPECT_FALSE(catalog.error().hint.empty());
}

TEST_F(Index, the_first_index_that_has_a_project_wins_and_is_not_merged) {
  add_release("13.0.2", "13.0.88");
  add("nvidia-cuda-nvcc", "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl", "nvcc");
  add("nvidia-cuda-nvcc", "nvidia_cuda_nvcc-99.0-" + k_tag + ".whl", "evil", "", "/extra");
  add("nvidia-only-there", "nvidia_only_there-1-" + k_tag + ".whl", "only", "", "/extra");
  sources_.indexes.push_back({server_.url("/extra"), "PIP_EXTRA_INDEX_URL", true});
  const auto catalog = load({"nvidia-cuda-nvcc", "nvidia-only-there"});
  ASSERT_TRUE(catalog);
  EXPECT_EQ(catalog->projects.at("nvidia-cuda-nvcc").size(), 1U);
  EXPECT_EQ(catalog->projects.at("nvidia-only-there").size(), 1U);
  EXPECT_EQ(server_.requests("/extra/nvidia-cuda-nvcc/"), 0);
}

struct Broken {
  const char* what;
  Fault fault;
};

TEST_F(Index, a_broken_answer_is_an_error_that_names_index_and_project) {
  add_release("13.0.2", "13.0.88");
  add("nvidia-cuda-nvcc", "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl", "nvcc");
  for (const auto& [what, fault] :
       {Broken{"login page",
               Fault::status_of(200, "<html>Please sign in</html>", {"Content-Type: text/html"})},
        Broken{"server error", Fault::status_of(500)}, Broken{"forbidden", Fault::status_of(403)},
        Broken{"cut", Fault::close_after(40)}}) {
    server_.always("/simple/nvidia-cuda-nvcc/", fault);
    const auto catalog = load();
    ASSERT_FALSE(catalog) << what;
    EXPECT_EQ(catalog.error().code, ErrorCode::source) << what;
    EXPECT_NE(catalog.error().message.find("nvidia-cuda-nvcc"), std::string::npos) << what;
    EXPECT_NE(catalog.error().message.find(server_.url("/simple")), std::string::npos) << what;
    EXPECT_NE(catalog.error().message.find("--index-url"), std::string::npos) << what;
    EXPECT_FALSE(catalog.error().hint.empty()) << what;
  }
}

TEST_F(Index, a_metapackage_with_other_bytes_is_an_integrity_error) {
  add_release("13.0.2", "13.0.88");
  server_.serve("/files/cuda_toolkit-13.0.2-py2.py3-none-any.whl", meta_wheel("13.0.2", "13.0.99"));
  const auto catalog = load({});
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::integrity);
  EXPECT_NE(catalog.error().message.find(sha256_of(meta_wheel("13.0.2", "13.0.88")).text()),
            std::string::npos);
}

TEST_F(Index, a_metapackage_of_another_version_is_an_integrity_error) {
  add("cuda-toolkit", "cuda_toolkit-13.0.2-py2.py3-none-any.whl", meta_wheel("13.0.1", "13.0.88"));
  const auto catalog = load({});
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::integrity);
}

TEST_F(Index, a_metapackage_that_is_gone_is_a_source_error) {
  add_release("13.0.2", "13.0.88");
  server_.remove("/files/cuda_toolkit-13.0.2-py2.py3-none-any.whl");
  const auto catalog = load({});
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::source);
}

TEST_F(Index, a_release_with_unreadable_pins_is_left_out_and_said) {
  add_release("13.0.2", "13.0.88");
  add("cuda-toolkit", "cuda_toolkit-13.5.9-py2.py3-none-any.whl",
      test::forge_wheel(ForgedWheel{.name = "cuda_toolkit",
                                    .version = "13.5.9",
                                    .requires_dist = {"x; new_variable == '1'"}}));
  const auto catalog = load({});
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_EQ(catalog->releases.size(), 1U);
  EXPECT_TRUE(has_text(catalog->notes, "13.5.9"));
}

TEST_F(Index, html_pages_serve_as_well) {
  const auto bytes = meta_wheel("13.0.2", "13.0.88");
  server_.serve("/files/cuda_toolkit-13.0.2-py2.py3-none-any.whl", bytes);
  server_.serve("/simple/cuda-toolkit/",
                "<a href='../../files/cuda_toolkit-13.0.2-py2.py3-none-any.whl#sha256=" +
                    sha256_of(bytes).hex() + "'>x</a>",
                "text/html");
  const auto catalog = load({});
  ASSERT_TRUE(catalog) << catalog.error().message;
  ASSERT_EQ(catalog->releases.size(), 1U);
  EXPECT_EQ(catalog->releases[0].file.size, bytes.size());
}

TEST_F(Index, of_a_page_with_a_thousand_releases_the_newest_are_read_a_few_at_a_time) {
  const auto bytes = meta_wheel("13.0.999", "13.0.88");
  std::string entries;
  for (int i = 0; i < 1000; ++i) {
    entries += fmt::format(
        R"({}{{"filename": "cuda_toolkit-13.0.{}-py2.py3-none-any.whl", "url": "/files/x", "hashes": {{}}}})",
        i == 0 ? "" : ",", i);
  }
  server_.serve("/simple/cuda-toolkit/",
                R"({"meta": {"api-version": "1.1"}, "files": [)" + entries + "]}", k_json);
  server_.serve("/files/x", bytes);
  const auto catalog = load();
  ASSERT_FALSE(catalog); // the first that is read says that it is another version
  EXPECT_LE(server_.requests("/files/x"), 16);
}

} // namespace
} // namespace cukit::catalog

#include "catalog/python_index.hpp"
#include "support/archive_forge.hpp"
#include "support/fault_server.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cukit::catalog {
namespace {

using test::Fault;
using test::ForgedWheel;

constexpr const char* k_json = "application/vnd.pypi.simple.v1+json";
const std::string k_tag = "py3-none-manylinux_2_17_x86_64";

std::string meta_wheel(const std::string& version, const std::string& nvcc) {
  return test::forge_wheel(
      ForgedWheel{.name = "cuda_toolkit",
                  .version = version,
                  .requires_dist = {"nvidia-cuda-nvcc==" + nvcc + ".*; extra == 'nvcc'"}});
}

/// A simple index on loopback, made of whatever a test adds.
class Index : public testing::Test {
protected:
  void SetUp() override {
    client_ = make_client();
    sources_.indexes = {{server_.url("/simple"), "--index-url", true}};
  }

  static std::unique_ptr<http::Client> make_client() {
    auto client =
        http::Client::create({.attempts = 2, .first_delay = std::chrono::milliseconds(1)});
    EXPECT_TRUE(client);
    return client ? *std::move(client) : nullptr;
  }

  void add(const std::string& project, const std::string& file, const std::string& bytes,
           const std::string& more = "", const std::string& root = "/simple") {
    auto& entries = entries_[root + "/" + project + "/"];
    entries +=
        (entries.empty() ? "" : ",") +
        fmt::format(
            R"({{"filename": "{0}", "url": "/files/{0}", "size": {1}, "hashes": {{"sha256": "{2}"}}{3}}})",
            file, bytes.size(), sha256_of(bytes).hex(), more);
    server_.serve("/files/" + file, bytes);
    server_.serve(root + "/" + project + "/",
                  R"({"meta": {"api-version": "1.1"}, "files": [)" + entries + "]}", k_json);
  }

  void add_release(const std::string& version, const std::string& nvcc,
                   const std::string& more = "") {
    add("cuda-toolkit", "cuda_toolkit-" + version + "-py2.py3-none-any.whl",
        meta_wheel(version, nvcc), more);
  }

  Result<Catalog> load(const std::vector<std::string>& projects = {"nvidia-cuda-nvcc"}) {
    return PythonIndex(*client_, sources_)
        .load(projects, [](const Version& v) { return v.major() == 13; }, {});
  }

  static Result<std::vector<std::string>> locate(PythonIndex& index, const std::string& file,
                                                 const Sha256& sha256) {
    Search search{.file = file, .sha256 = sha256};
    CUKIT_TRY(index.search({&search}, {}));
    if (search.locations.empty()) {
      return tl::unexpected<Error>(PythonIndex::not_found(search));
    }
    return search.locations;
  }
  Result<std::vector<std::string>> locate(const std::string& file, const Sha256& sha256) {
    PythonIndex index(*client_, sources_);
    return locate(index, file, sha256);
  }

  test::FaultServer server_;
  std::unique_ptr<http::Client> client_;
  source::Sources sources_;
  std::map<std::string, std::string> entries_;
};

bool has_text(const std::vector<std::string>& lines, std::string_view text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(text) != std::string::npos; });
}

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

TEST_F(Index, locates_a_file_by_name_and_digest) {
  const std::string file = "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl";
  add("nvidia-cuda-nvcc", file, "nvcc");
  PythonIndex index(*client_, sources_);
  const auto found = locate(index, file, sha256_of("nvcc"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, std::vector<std::string>{server_.url("/files/" + file)});
}

TEST_F(Index, other_bytes_under_the_locked_name_are_an_integrity_error) {
  const std::string file = "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl";
  add("nvidia-cuda-nvcc", file, "replaced");
  const auto found = locate(file, sha256_of("nvcc"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::integrity);
  EXPECT_TRUE(has_text(found.error().causes, sha256_of("replaced").text()));
}

TEST_F(Index, a_file_that_is_gone_is_an_error_that_names_every_source) {
  sources_.find_links = {{"/no/such/folder", "PIP_FIND_LINKS", true}};
  const auto found = locate("nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl", sha256_of("nvcc"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::source);
  EXPECT_TRUE(has_text(found.error().causes, "/no/such/folder"));
  EXPECT_TRUE(has_text(found.error().causes, server_.url("/simple")));
}

TEST_F(Index, a_source_that_is_down_does_not_hide_another_that_has_the_file) {
  const std::string file = "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl";
  server_.always("/simple/nvidia-cuda-nvcc/", Fault::status_of(500));
  add("nvidia-cuda-nvcc", file, "nvcc", "", "/extra");
  sources_.indexes.push_back({server_.url("/extra"), "PIP_EXTRA_INDEX_URL", true});
  const auto found = locate(file, sha256_of("nvcc"));
  ASSERT_TRUE(found) << found.error().message;
}

TEST_F(Index, one_round_of_requests_locates_many_files) {
  std::vector<Search> searches;
  for (int i = 0; i < 5; ++i) {
    const auto file = fmt::format("nvidia_cuda_nvcc-13.0.{}-{}.whl", i, k_tag);
    add("nvidia-cuda-nvcc", file, file);
    searches.push_back({.file = file, .sha256 = sha256_of(file)});
  }
  std::vector<Search*> all;
  for (auto& search : searches) {
    all.push_back(&search);
  }
  ASSERT_TRUE(PythonIndex(*client_, sources_).search(all, {}));
  for (const auto& search : searches) {
    EXPECT_EQ(search.locations.size(), 1U);
  }
  EXPECT_EQ(server_.requests("/simple/nvidia-cuda-nvcc/"), 1);
}

TEST_F(Index, find_links_pages_give_bytes_and_no_candidates) {
  const std::string file = "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl";
  add_release("13.0.2", "13.0.88");
  server_.serve("/links.html",
                "<a href='files/" + file + "#sha256=" + sha256_of("nvcc").hex() + "'>x</a>",
                "text/html");
  sources_.find_links = {{server_.url("/links.html"), "PIP_FIND_LINKS", true}};
  const auto found = locate(file, sha256_of("nvcc"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, std::vector<std::string>{server_.url("/files/" + file)});
  EXPECT_EQ(server_.requests("/simple/nvidia-cuda-nvcc/"), 0);
  const auto catalog = load();
  ASSERT_TRUE(catalog);
  EXPECT_FALSE(catalog->projects.contains("nvidia-cuda-nvcc"));
}

TEST_F(Index, inspects_a_wheel_without_its_big_members) {
  std::mt19937 random(7);
  std::string noise;
  for (int i = 0; i < 2'000'000; ++i) {
    noise += static_cast<char>(random());
  }
  const ForgedWheel forged{.name = "nvidia_cublas",
                           .version = "13.1.0.3",
                           .files = {{"nvidia/cu13/lib/libcublas.so", noise}}};
  const auto bytes = test::forge_wheel(forged);
  server_.serve("/files/big.whl", bytes);
  WheelFile wheel;
  wheel.file = test::wheel_file_name(forged);
  wheel.url = server_.url("/files/big.whl");
  wheel.size = bytes.size();
  const auto read = PythonIndex(*client_, sources_).inspect(wheel, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_NE(read->metadata.find("Version: 13.1.0.3"), std::string::npos);
  EXPECT_LT(server_.body_bytes("/files/big.whl"), bytes.size() / 4);
  std::string record;
  for (const auto& entry : test::wheel_entries(forged)) {
    record = entry.name.ends_with("/RECORD") ? entry.content : record;
  }
  EXPECT_EQ(read->record, sha256_of(record));
}

/// The same bytes as files below a folder.
class Folder : public Index {
protected:
  void SetUp() override {
    Index::SetUp();
    auto folder = TempDirectory::create(fs::temp_directory_path(), "cukit-catalog");
    ASSERT_TRUE(folder);
    folder_.emplace(*std::move(folder));
  }
  void put(const std::string& path, std::string_view bytes) {
    const auto file = folder_->path() / path;
    ASSERT_TRUE(make_directories(file.parent_path()));
    ASSERT_TRUE(create_file(file, bytes));
  }
  std::optional<TempDirectory> folder_;
};

TEST_F(Folder, serves_as_an_index_flat_or_with_project_folders) {
  const std::string nvcc = "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl";
  put("cuda_toolkit-13.0.2-py2.py3-none-any.whl", meta_wheel("13.0.2", "13.0.88"));
  put("Nvidia_Cuda.Nvcc/" + nvcc, "nvcc");
  put("nvidia-cuda-nvcc.txt", "no wheel");
  sources_.indexes = {{folder_->path().string(), "CUKIT_INDEX_URL", true}};
  const auto catalog = load();
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_EQ(catalog->releases.size(), 1U);
  const auto& files = catalog->projects.at("nvidia-cuda-nvcc");
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].sha256, sha256_of("nvcc"));
  EXPECT_EQ(files[0].size, 4U);
  const auto found = locate(nvcc, sha256_of("nvcc"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->front(), (folder_->path() / "Nvidia_Cuda.Nvcc" / nvcc).string());
}

TEST_F(Folder, that_does_not_exist_is_a_source_error) {
  sources_.indexes = {{(folder_->path() / "none").string(), "CUKIT_INDEX_URL", true}};
  const auto catalog = load();
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::source);
}

TEST_F(Folder, find_links_give_candidates_only_where_there_is_no_index) {
  const std::string nvcc = "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl";
  put("cuda_toolkit-13.0.2-py2.py3-none-any.whl", meta_wheel("13.0.2", "13.0.88"));
  put(nvcc, "nvcc");
  sources_.find_links = {{folder_->path().string(), "PIP_FIND_LINKS", true}};
  EXPECT_FALSE(load()); // the index has nothing
  sources_.indexes.clear();
  sources_.no_index_by = "PIP_NO_INDEX";
  const auto catalog = load();
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_EQ(catalog->projects.at("nvidia-cuda-nvcc").size(), 1U);
  EXPECT_EQ(catalog->releases.size(), 1U);
}

TEST_F(Folder, no_index_and_no_find_links_says_who_forbade_it) {
  sources_.indexes.clear();
  sources_.no_index_by = "/etc/pip.conf:2";
  const auto catalog = load();
  ASSERT_FALSE(catalog);
  EXPECT_NE(catalog.error().message.find("/etc/pip.conf:2"), std::string::npos);
}

TEST_F(Folder, a_search_goes_on_behind_a_place_whose_bytes_were_wrong) {
  const std::string nvcc = "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl";
  put(nvcc, "damaged");
  add("nvidia-cuda-nvcc", nvcc, "nvcc");
  sources_.find_links = {{folder_->path().string(), "PIP_FIND_LINKS", true}};
  PythonIndex index(*client_, sources_);
  Search search{.file = nvcc, .sha256 = sha256_of("nvcc")};
  ASSERT_TRUE(index.search({&search}, {}));
  EXPECT_EQ(search.locations, std::vector<std::string>{(folder_->path() / nvcc).string()});
  EXPECT_EQ(server_.requests(), 0);
  ASSERT_TRUE(index.search({&search}, {}));
  EXPECT_EQ(search.locations, std::vector<std::string>{server_.url("/files/" + nvcc)});
  ASSERT_TRUE(index.search({&search}, {}));
  EXPECT_TRUE(search.locations.empty());
}

TEST_F(Folder, mirrors_come_first_and_may_be_flat_or_have_folders_of_projects) {
  const std::string nvcc = "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl";
  const std::string nvvm = "nvidia_nvvm-13.0.88-" + k_tag + ".whl";
  put("flat/" + nvcc, "nvcc");
  put("simple/nvidia-nvvm/" + nvvm, "nvvm");
  add("nvidia-cuda-nvcc", nvcc, "nvcc");
  sources_.mirrors = {{(folder_->path() / "flat").string(), "--mirror", true},
                      {(folder_->path() / "simple").string(), "--mirror", true}};
  EXPECT_EQ(locate(nvcc, sha256_of("nvcc"))->front(), (folder_->path() / "flat" / nvcc).string());
  EXPECT_EQ(locate(nvvm, sha256_of("nvvm"))->front(),
            (folder_->path() / "simple/nvidia-nvvm" / nvvm).string());
  EXPECT_EQ(server_.requests(), 0);
}

TEST_F(Index, a_mirror_on_a_server_may_be_a_simple_index_or_a_plain_folder) {
  const std::string nvcc = "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl";
  add("nvidia-cuda-nvcc", nvcc, "nvcc", "", "/mirror");
  sources_.mirrors = {{server_.url("/plain"), "CUKIT_MIRROR", true},
                      {server_.url("/mirror"), "CUKIT_MIRROR", true}};
  PythonIndex index(*client_, sources_);
  Search search{.file = nvcc, .sha256 = sha256_of("nvcc")};
  ASSERT_TRUE(index.search({&search}, {}));
  EXPECT_EQ(search.locations, std::vector<std::string>{server_.url("/plain/" + nvcc)});
  ASSERT_TRUE(index.search({&search}, {}));
  EXPECT_EQ(search.locations, std::vector<std::string>{server_.url("/files/" + nvcc)});
  EXPECT_EQ(server_.requests("/simple/nvidia-cuda-nvcc/"), 0);
}

TEST_F(Index, a_mirror_that_is_down_is_a_note) {
  const std::string nvcc = "nvidia_cuda_nvcc-13.0.88-" + k_tag + ".whl";
  add("nvidia-cuda-nvcc", nvcc, "nvcc");
  sources_.mirrors = {{"http://127.0.0.1:9/mirror", "CUKIT_MIRROR", true}};
  PythonIndex index(*client_, sources_);
  Search search{.file = nvcc, .sha256 = sha256_of("nvcc")};
  const auto notes = index.search({&search}, {});
  ASSERT_TRUE(notes);
  ASSERT_EQ(notes->size(), 1U);
  EXPECT_TRUE(has_text(*notes, "127.0.0.1:9"));
  EXPECT_EQ(search.locations, std::vector<std::string>{server_.url("/files/" + nvcc)});
}

TEST_F(Folder, a_local_wheel_is_inspected_in_place) {
  const ForgedWheel forged{
      .name = "nvidia_cublas", .version = "13.1.0.3", .files = {{"a.txt", "a"}}};
  const auto file = test::wheel_file_name(forged);
  put(file, test::forge_wheel(forged));
  WheelFile wheel;
  wheel.file = file;
  wheel.url = (folder_->path() / file).string();
  const auto read = PythonIndex(*client_, sources_).inspect(wheel, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->bytes_received, 0U);
}

} // namespace
} // namespace cukit::catalog

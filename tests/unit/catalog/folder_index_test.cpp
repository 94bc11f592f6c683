// Folders as indexes, find-links and mirrors.
#include "index_fixture.hpp"

namespace cukit::catalog {
namespace {

using test::ForgedWheel;

const std::string k_tag = "py3-none-manylinux_2_17_x86_64";

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

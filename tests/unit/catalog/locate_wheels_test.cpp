// Where the bytes of a locked wheel are, and what is read of one without taking it.
#include "index_fixture.hpp"

#include <random>

namespace cukit::catalog {
namespace {

using test::Fault;
using test::ForgedWheel;

const std::string k_tag = "py3-none-manylinux_2_17_x86_64";

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

} // namespace
} // namespace cukit::catalog

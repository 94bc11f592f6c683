// Images made by GNU tar and gzip, laid over each other as a container runtime would.
#include "base/child.hpp"
#include "cases.hpp"
#include "image/root.hpp"
#include "survey/wanted.hpp"

#include <sys/stat.h>

namespace cukit::doctor {
namespace {

class Images : public testing::Test {
protected:
  void SetUp() override {
    const auto done = run("tar --version && gzip --version && sha256sum --version");
    if (done.exit_code != 0) {
      GTEST_SKIP() << "tar, gzip and sha256sum are not here";
    }
    first.toolkit("/usr/local/cuda-13.0", "13.0.88");
    first.link("/etc/alternatives/cuda", "/usr/local/cuda-13.0");
    first.link("/usr/local/cuda", "/etc/alternatives/cuda");
    first.put("/gone/file", "of the lower layer");
    second.headers("/usr/local/cuda-13.0/include", "13.2");
    second.put("/.wh.gone", "");
  }
  [[nodiscard]] Finished run(const std::string& script) const {
    Command command{.arguments = {"/bin/sh", "-c", "set -e\n" + script}};
    command.environment.set("PATH", "/usr/bin:/bin");
    command.directory = work.path().string();
    return run_command(command).value();
  }
  /// An OCI layout with both layers, gzip.
  [[nodiscard]] Finished make_layout() const {
    return run("mkdir -p layout/blobs/sha256; cd layout; printf "
               "'{\"imageLayoutVersion\":\"1.0.0\"}' > oci-layout\n"
               "add() { d=$(sha256sum < \"$1\" | cut -d' ' -f1); mv \"$1\" blobs/sha256/$d; }\n"
               "tar -C " +
               first.path().string() +
               " -czf l . ; add l; a=$d\n"
               "tar -C " +
               second.path().string() +
               " -czf l . ; add l; b=$d\n"
               "printf "
               "'{\"config\":{\"Env\":[\"PATH=/usr/local/cuda/bin:/usr/bin\",\"CUDA_HOME=/usr/"
               "local/cuda\"]}}' > c; add c; c=$d\n"
               "printf "
               "'{\"config\":{\"digest\":\"sha256:%s\"},\"layers\":[{\"digest\":\"sha256:%s\"},{"
               "\"digest\":\"sha256:%s\"}]}' $c $a $b > m; add m\n"
               "printf '{\"manifests\":[{\"digest\":\"sha256:%s\"}]}' $d > index.json\n");
  }
  test::FakeRoot first;
  test::FakeRoot second;
  test::FakeRoot work;
};

TEST_F(Images, a_later_layer_goes_over_an_earlier_and_whiteouts_remove) {
  const auto made = make_layout();
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  ASSERT_TRUE(image::is_image(work.path() / "layout"));
  const auto image = image::open_image(work.path() / "layout", work.path(), survey::reads_bytes_of);
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->environment.get("CUDA_HOME"), "/usr/local/cuda");
  EXPECT_FALSE(path_exists(image->root() / "gone"));
  const auto snapshot =
      survey::take_snapshot({.root = image->root(),
                             .environment = image->environment,
                             .venvs = {},
                             .toolkits = {},
                             .clues = clues(knowledge::Knowledge::embedded()).value(),
                             .ask_devices = false});
  const auto diagnosis = diagnose(snapshot, {}, knowledge::Knowledge::embedded());
  ASSERT_TRUE(diagnosis);
  ASSERT_FALSE(diagnosis->findings.empty());
  EXPECT_EQ(diagnosis->findings[0].id, "headers-differ");
}

TEST_F(Images, a_saved_tar_file_is_read_too) {
  ASSERT_EQ(make_layout().exit_code, 0);
  ASSERT_EQ(run("tar -C layout -cf image.tar .").exit_code, 0);
  const auto image =
      image::open_image(work.path() / "image.tar", work.path(), survey::reads_bytes_of);
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_TRUE(path_exists(image->root() / "usr/local/cuda-13.0/bin/nvcc"));
}

TEST_F(Images, a_layer_cannot_write_through_a_link) {
  // first a link that leaves the image, then a file "behind" it
  const auto made = run(
      "mkdir -p out t; ln -s ../../out t/link; tar -C t -cf evil.tar link; rm t/link; mkdir "
      "t/link; "
      "echo x > t/link/file; tar -C t -rf evil.tar link/file\n"
      "mkdir -p layout/blobs/sha256; d=$(sha256sum < evil.tar | cut -d' ' -f1); mv evil.tar "
      "layout/blobs/sha256/$d\n"
      "printf '{\"config\":{\"digest\":\"sha256:%s\"},\"layers\":[{\"digest\":\"sha256:%s\"}]}' $d "
      "$d > layout/index.json; touch layout/oci-layout");
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const auto image = image::open_image(work.path() / "layout", work.path(), survey::reads_bytes_of);
  EXPECT_FALSE(path_exists(work.path() / "out/file"));
  EXPECT_EQ(list_directory(work.path() / "out")->size(), 0U);
}

TEST_F(Images, damaged_ones_are_errors) {
  ASSERT_EQ(make_layout().exit_code, 0);
  ASSERT_EQ(run("for f in layout/blobs/sha256/*; do head -c 300 $f > x; mv x $f; done").exit_code,
            0);
  EXPECT_FALSE(image::open_image(work.path() / "layout", work.path(), survey::reads_bytes_of));
  ASSERT_EQ(run("echo '{\"manifests\":[{\"digest\":\"sha256:../../../etc/passwd\"}]}' > "
                "layout/index.json")
                .exit_code,
            0);
  EXPECT_FALSE(image::open_image(work.path() / "layout", work.path(), survey::reads_bytes_of));
}

TEST(Image, pipes_in_the_place_of_its_files_make_it_a_folder_like_any_other) {
  const auto folder = TempDirectory::create(fs::temp_directory_path(), "cukit-image-").value();
  for (const char* name : {"oci-layout", "index.json", "manifest.json"}) {
    ASSERT_EQ(::mkfifo((folder.path() / name).c_str(), 0600), 0);
  }
  EXPECT_FALSE(image::is_image(folder.path()));
  EXPECT_FALSE(image::open_image(folder.path(), fs::temp_directory_path(), survey::reads_bytes_of));
}

} // namespace
} // namespace cukit::doctor

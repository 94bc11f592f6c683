// Toolkits from archives of NVIDIA's redistributables, from the outside.
#include "redist_fixture.hpp"

namespace cukit::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Redist, cuda_12_is_locked_fetched_unpacked_and_assembled) {
  const auto done = up();
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const auto lock = lock_text();
  EXPECT_THAT(lock, HasSubstr("cuda/redist/redistrib_12.4.9.json: sha256:"));
  EXPECT_THAT(lock, HasSubstr("path: cuda/redist/cuda_nvcc/linux-x86_64/"));
  EXPECT_THAT(lock, HasSubstr("trust: first-lock"));
  EXPECT_THAT(lock, Not(HasSubstr("127.0.0.1")));
  EXPECT_TRUE(fs::exists(tree() / "nvvm/bin/cicc"));
  EXPECT_TRUE(fs::exists(tree() / "lib64/libcudart.so"));
  EXPECT_TRUE(fs::exists(tree() / "LICENSES/nvcc/LICENSE"));
  EXPECT_EQ(fs::read_symlink(tree() / "lib/libcudart.so"), "libcudart.so.12");
}

TEST_F(Redist, a_second_run_asks_nobody) {
  ASSERT_EQ(up().exit_code, 0);
  server.forget();
  const auto again = up();
  EXPECT_THAT(again.output, HasSubstr("nothing to do")) << again.errors;
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(Redist, row08_a_known_release_with_another_manifest_is_an_integrity_error) {
  serve_manifest("12.4.1");
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 5);
  EXPECT_THAT(failed.errors, HasSubstr("sha256:9cd815f3b71c2e36")); // NVIDIA's own
  EXPECT_FALSE(path_exists(playground.path() / "demo.lock.yaml"));
}

TEST_F(Redist, an_archive_of_other_bytes_is_refused_and_the_next_base_serves) {
  ASSERT_EQ(playground.run({"lock", (playground.path() / "demo.yaml").string()}).exit_code, 0);
  server.always(archives.at("cuda_cccl"), Fault::wrong_bytes());
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 5) << failed.errors;
  EXPECT_TRUE(playground.names_in("trees").empty());
  server.always(archives.at("cuda_cccl"), Fault::none());
  EXPECT_EQ(up().exit_code, 0);
}

TEST_F(Redist, an_archive_without_what_it_must_bring_is_named) {
  add_nvcc("nvvm/bin/cicc");
  const auto failed = up();
  EXPECT_EQ(failed.exit_code, 5);
  EXPECT_THAT(failed.errors, HasSubstr("nvvm/bin/cicc"));
  EXPECT_TRUE(playground.names_in("trees").empty());
}

TEST_F(Redist, a_release_that_no_source_has_is_a_conflict_that_says_so) {
  playground.write("demo.yaml", "cukit: 1\nname: demo\ngpus: [sm_90]\ntoolkit: {nvcc: \"12.8\"}\n"
                                "sources: [redist]\nplatforms: [linux-x86_64]\n");
  const auto failed = up();
  EXPECT_THAT(failed.exit_code, testing::AnyOf(3, 4)) << failed.errors;
  EXPECT_THAT(failed.errors + failed.output, HasSubstr("12.8"));
}

} // namespace
} // namespace cukit::test

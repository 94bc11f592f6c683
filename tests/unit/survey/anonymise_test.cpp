// What a snapshot takes away from a machine, and what it leaves there.
#include "support/fake_root.hpp"
#include "survey/anonymise.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::survey {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Part {
  const char* value;
  const char* shown;
};

class KnownParts : public testing::TestWithParam<Part> {};

TEST_P(KnownParts, are_shown_and_no_others) {
  EXPECT_EQ(known_parts(GetParam().value), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    all, KnownParts,
    testing::Values(
        Part{"-DHF_TOKEN=hf_abc -DCMAKE_CUDA_ARCHITECTURES=90a", "(left out)=(left out) "
                                                                 "-DCMAKE_CUDA_ARCHITECTURES=90a"},
        Part{"-O2 -I/opt/cuda/include --password hunter2", "-O2 -I/opt/cuda/include (left out) "
                                                           "(left out)"},
        Part{"9.0a 12.0f", "9.0a 12.0f"}, Part{"8.0;9.0+PTX", "8.0;9.0+PTX"},
        Part{"-ccbin=", "-ccbin="}, Part{"-ccbin /usr/bin/g++-12", "-ccbin /usr/bin/g++-12"},
        Part{"\"/usr/local/cuda\"", "\"/usr/local/cuda\""}, Part{"/a/bin:/b/bin", "/a/bin:/b/bin"},
        Part{"--xla_gpu_cuda_data_dir=/opt/cuda", "--xla_gpu_cuda_data_dir=/opt/cuda"},
        Part{"x86_64-conda-linux-gnu-g++", "x86_64-conda-linux-gnu-g++"},
        Part{"https://bob:pw@host/x", "(an address)"}, Part{"GPU-5b1c-secret", "(left out)"},
        Part{"-phunter2", "(left out)"}, Part{"-lcuda -Wl,-rpath,/x", "-lcuda -Wl,-rpath,/x"},
        Part{"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "(left out)"}, Part{"1", "1"}));

TEST(Snapshot, a_path_of_a_toolkit_is_kept_whole_in_a_variable) {
  const test::FakeRoot root;
  root.toolkit("/opt/my cuda", "13.0.88");
  auto environment = root.environment;
  environment.set("CUDA_HOME", "/opt/my cuda");
  const auto snapshot = take_snapshot({.root = root.path(), .environment = environment});
  EXPECT_EQ(to_json(snapshot).find("environment")->text_of("CUDA_HOME"), "/opt/my cuda");
}

class Homes : public testing::TestWithParam<Part> {};

TEST_P(Homes, name_nobody) {
  Snapshot snapshot;
  snapshot.environment["HOME"] = "/export/home/alice";
  EXPECT_EQ(Anonymiser(snapshot)(GetParam().value), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    all, Homes,
    testing::Values(Part{"/export/home/alice/venv", "/home/user/venv"},
                    Part{"/export/home/bob/venv", "/export/home/user/venv"},
                    Part{"/nfs/homes/carol:/usr/bin", "/nfs/homes/user:/usr/bin"},
                    Part{"~dave/cuda", "~user/cuda"}, Part{"-I~dave/x", "-I~user/x"},
                    Part{"~/cuda", "~/cuda"}, Part{"/scratch/alice/x", "/scratch/user/x"},
                    Part{"/Users/erin/x", "/Users/user/x"},
                    Part{"/opt/home/bin/nvcc", "/opt/home/bin/nvcc"},
                    Part{"/opt/alice-tools/x", "/opt/alice-tools/x"},
                    Part{"-L/home/bob/lib", "-L/home/user/lib"}));

TEST(Snapshot, tokens_in_flags_stay_on_the_machine) {
  test::FakeRoot root;
  root.environment.set("CMAKE_ARGS", "-DTOKEN=tok_1 -DCMAKE_BUILD_TYPE=Release");
  root.environment.set("CFLAGS", "-O2 -DKEY=\"tok_2\" tok_3");
  root.environment.set("HOME", "/export/home/alice");
  root.environment.set("LD_LIBRARY_PATH", "/export/home/bob/lib:~carol/lib");
  const auto snapshot = take_snapshot({.root = root.path(), .environment = root.environment});
  const auto text = to_json(snapshot).dump();
  for (const char* secret : {"tok_", "alice", "bob", "carol"}) {
    EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(text, HasSubstr("CMAKE_BUILD_TYPE=Release"));
  EXPECT_THAT(text, HasSubstr("-O2"));
}

} // namespace
} // namespace cukit::survey

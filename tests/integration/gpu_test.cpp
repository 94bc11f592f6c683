// A validation on a real GPU: what ran nothing is not taken for one that ran. The toolkit's nvcc is
// a script that calls the nvcc of this machine.
#include "store_fixture.hpp"

namespace cukit::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* k_nvcc = "/usr/local/cuda/bin/nvcc";

class Gpu : public StoreRun {
protected:
  void SetUp() override {
    const auto draft = run({"init", "-o", "-"}); // looks at this machine
    const auto gpus = draft.find("\ngpus: [");
    if (gpus == std::string::npos || draft.find("no GPU is seen here") != std::string::npos) {
      GTEST_SKIP() << "there is no GPU here";
    }
    if (!path_exists(k_nvcc)) {
      GTEST_SKIP() << "there is no " << k_nvcc;
    }
    index.set_nvcc(std::string("exec ") + k_nvcc + " \"$@\"");
    index.add_release("13.0.100", "13.0.189");
    index.publish();
    // One kernel is enough.
    recipes_ = playground.path() / "recipes";
    fs::copy(fs::path(CUKIT_SOURCE_DIR) / "recipes", recipes_, fs::copy_options::recursive);
    const auto kernels = list_directory(recipes_ / "kernels").value_or(std::vector<std::string>());
    for (const auto& name : kernels) {
      if (name != "plain" && name != "common") {
        fs::remove_all(recipes_ / "kernels" / name);
      }
    }
    playground.write("gpu.yaml", "cukit: 1" + draft.substr(gpus, draft.find(']', gpus) + 1 - gpus) +
                                     "\ntoolkit: {nvcc: \"==13.0.189\"}\n");
  }
  std::string up_gpu(const std::vector<std::string>& more = {}, int expected = 0) {
    std::vector<std::string> arguments{"--recipes", recipes_.string(), "up", "gpu.yaml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, expected);
  }
  fs::path recipes_;
};

TEST_F(Gpu, that_was_hidden_from_a_validation_runs_it_as_soon_as_it_is_seen) {
  playground.environment.set("CUDA_VISIBLE_DEVICES", "");
  EXPECT_THAT(up_gpu(), HasSubstr("1 compiled, 0 ran"));
  EXPECT_THAT(up_gpu(), HasSubstr("nothing to do")) << "still hidden";
  up_gpu({"--require-run"}, 1);
  playground.environment.unset("CUDA_VISIBLE_DEVICES");
  EXPECT_THAT(up_gpu({"--require-run"}), HasSubstr("1 compiled, "));
  EXPECT_THAT(up_gpu({"--require-run"}), HasSubstr("nothing to do"));
  playground.environment.set("CUDA_VISIBLE_DEVICES", "");
  EXPECT_THAT(up_gpu({"--require-run"}), HasSubstr("nothing to do")) << "it was run here before";
}

} // namespace
} // namespace cukit::test

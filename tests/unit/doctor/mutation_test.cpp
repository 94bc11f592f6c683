// Damaged and odd snapshots: whatever a file says, there is an answer or an error, never a crash.
#include "cases.hpp"

#include <random>

namespace cukit::doctor {
namespace {

using text::Json;

class Mutator {
public:
  explicit Mutator(unsigned seed) : engine_(seed) {}

  Json mutate(const Json& json) {
    if (chance(60)) {
      return odd_value();
    }
    if (json.is(Json::Kind::object)) {
      auto result = Json::object();
      for (const auto& [key, value] : json.members()) {
        if (!chance(40)) {
          result.set(key, mutate(value));
        }
      }
      return result;
    }
    if (json.is(Json::Kind::list)) {
      auto result = Json::list();
      for (const auto& value : json.items()) {
        for (unsigned copies = chance(40) ? pick(3) : 1; copies > 0; --copies) {
          result.add(mutate(value));
        }
      }
      return result;
    }
    if (json.is(Json::Kind::string)) {
      return mutate_text(json.text());
    }
    return json;
  }

private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(engine_() % count); }
  bool chance(unsigned one_in) { return pick(one_in) == 0; }
  Json odd_value() {
    static const std::vector<std::string> odd = {
        "",  "/",   ":",  "99999999999999999999.1", "13.", ".",  "-1", "'",
        "a", "//x", "\n", std::string(5000, '/'),   "~",   "..", "[",  "13.0.88"};
    return odd[pick(static_cast<unsigned>(odd.size()))];
  }
  std::string mutate_text(std::string text) {
    if (chance(8) && !text.empty()) {
      switch (pick(3)) {
      case 0:
        text[pick(static_cast<unsigned>(text.size()))] = static_cast<char>(pick(256));
        break;
      case 1:
        text.resize(pick(static_cast<unsigned>(text.size())));
        break;
      default:
        text += text;
      }
    }
    return text;
  }
  std::mt19937 engine_;
};

TEST(Mutations, a_thousand_damaged_snapshots_crash_nothing) {
  Scene scene;
  const auto site = venv(scene, "flashinfer-python");
  scene.root.dist(site, "cupy-cuda13x", "14.0.0");
  scene.root.dist(site, "jax", "0.7.0");
  scene.root.dist(site, "triton", "3.6.0");
  scene.root.wheels(site, {"13.2.78", "13.2.78", "13.0.88", "13.0.96", "13.2.75"});
  scene.root.toolkit("/usr/local/cuda-12.8", "12.8.93");
  scene.root.prepend_path("/usr/local/cuda-12.8/bin");
  scene.root.environment.set("CUDA_HOME", site + "/nvidia/cu13");
  scene.root.environment.set("NVCC_PREPEND_FLAGS", "-I/usr/local/cuda-12.8/include -ccbin g++");
  scene.root.environment.set("FLASHINFER_CUDA_ARCH_LIST", "12.0f 9.0a");
  scene.root.gpu("NVIDIA GeForce RTX 5090", "580.95.05");
  const auto whole = survey::to_json(
      survey::take_snapshot({.root = scene.root.path(),
                             .environment = scene.root.environment,
                             .venvs = {},
                             .toolkits = {},
                             .clues = clues(knowledge::Knowledge::embedded()).value(),
                             .ask_devices = false}));
  const auto knowledge = knowledge::Knowledge::embedded();
  Question question;
  const std::string log =
      "fatal   : Unsupported .version 9.2; current version is '9.0'\nUnsupported gpu "
      "architecture 'compute_70'\n"
      "libcudart.so.12: cannot open shared object file\ncannot find -lnvrtc\n";
  question.log = read_log(log, knowledge).value();
  int read = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    auto json = Mutator(seed).mutate(whole);
    const auto snapshot = survey::snapshot_from_json(json, "mutant");
    if (snapshot) {
      ++read;
      const auto diagnosis = diagnose(*snapshot, question, knowledge);
      ASSERT_TRUE(diagnosis.has_value());
      static_cast<void>(to_json(*diagnosis).dump());
    }
  }
  EXPECT_GT(read, 100); // most mutants must get as far as the rules
}

} // namespace
} // namespace cukit::doctor

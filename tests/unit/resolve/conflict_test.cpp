#include "fixture.hpp"
#include "resolve/conflict.hpp"

#include <rapidcheck.h>

#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> demands_of(const Conflict& conflict) {
  std::vector<std::string> texts;
  for (const auto& demand : conflict.demands) {
    texts.push_back(demand.text);
  }
  return texts;
}

TEST(Conflict, cuda_12_has_no_nvcc_among_wheels) {
  const auto conflict =
      conflict_of("gpus: [sm_120]\ntoolkit:\n  nvcc: \"12.8\"\nplatforms: [linux-x86_64]\n");
  ASSERT_THAT(conflict.demands, SizeIs(1));
  const auto& demand = conflict.demands.front();
  EXPECT_EQ(demand.text, "toolkit.nvcc: 12.8");
  EXPECT_EQ(demand.file, "test.yaml");
  EXPECT_EQ(demand.line, 5);
  EXPECT_THAT(demand.reason, HasSubstr("wheels of CUDA 12 hold no nvcc"));
  EXPECT_THAT(demand.source, HasSubstr("nvidia-cuda-nvcc-cu12"));
  ASSERT_THAT(conflict.ways_out, Not(IsEmpty()));
  EXPECT_EQ(conflict.ways_out.front().change, "toolkit.nvcc: 13.0 instead of 12.8");
  EXPECT_EQ(conflict.ways_out.front().result, "CUDA 13.0.3 with nvcc 13.0.88");
}

std::vector<std::string> all_demands_of(const Conflict& conflict) {
  auto texts = demands_of(conflict);
  for (const auto& clash : conflict.further) {
    for (const auto& demand : clash.demands) {
      texts.push_back(demand.text);
      EXPECT_THAT(demand.reason, Not(IsEmpty())) << demand.text;
      EXPECT_GT(demand.line, 0) << demand.text;
    }
  }
  return texts;
}

TEST(Conflict, conflicts_that_have_nothing_to_do_with_each_other_are_all_told) {
  const auto conflict = conflict_of("gpus: [sm_90]\nplatforms: [linux-x86_64]\n"
                                    "driver: \">=450\"\n"
                                    "toolkit:\n  nvcc: \"13.0\"\n  headers: \"13.2\"\n"
                                    "  cccl: \"99.1\"\n");
  EXPECT_THAT(all_demands_of(conflict),
              testing::IsSupersetOf({"driver: >=450", "toolkit.headers: 13.2", "toolkit.nvcc: 13.0",
                                     "toolkit.cccl: 99.1"}));
  EXPECT_THAT(conflict.further, SizeIs(2));
  for (const auto& clash : conflict.further) {
    EXPECT_THAT(clash.ways_out, Not(IsEmpty()));
  }
  EXPECT_THAT(conflict.ways_out, Not(IsEmpty()));
}

TEST(Conflict, several_conflicts_of_one_demand_are_all_told) {
  const auto conflict = conflict_of("gpus: [sm_107, sm_90]\nplatforms: [linux-x86_64]\n"
                                    "toolkit:\n  nvcc: \"13.0\"\n  headers: \"13.2\"\n");
  EXPECT_THAT(all_demands_of(conflict),
              testing::IsSupersetOf({"gpus: sm_107", "toolkit.headers: 13.2"}));
}

TEST(Conflict, a_minor_of_ten_is_not_a_minor_of_one) {
  const auto conflict =
      conflict_of("gpus: [sm_90]\ntoolkit:\n  nvcc: \"13.10\"\nplatforms: [linux-x86_64]\n");
  ASSERT_THAT(conflict.demands, SizeIs(1));
  EXPECT_THAT(conflict.demands.front().reason,
              HasSubstr("no release of CUDA is in ==13.10.*; 13.0.0 to 13.5.0 are offered"));
  EXPECT_EQ(conflict.ways_out.front().change, "toolkit.nvcc: 13.5 instead of 13.10");
}

TEST(Conflict, an_empty_range_collides_with_itself) {
  const auto conflict =
      conflict_of("gpus: [sm_90]\ntoolkit: {nvcc: \">=13.2,<13.1\"}\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(demands_of(conflict), testing::ElementsAre("toolkit.nvcc: >=13.2,<13.1"));
  EXPECT_EQ(conflict.demands.front().reason, "no version is both >=13.2 and <13.1");
}

/// Kepler's last CUDA is 11.8, Blackwell's first 12.8.
TEST(Conflict, two_gpus_that_no_release_serves_together) {
  const auto conflict = conflict_of("gpus: [Tesla K80, RTX 5090]\nplatforms: [linux-x86_64]\n");
  ASSERT_THAT(conflict.demands, Not(testing::IsEmpty()));
  EXPECT_EQ(conflict.demands.front().text, "gpus: Tesla K80");
  EXPECT_EQ(conflict.demands.front().reason, "sm_37 (Kepler) ends with CUDA 11.8");
}

TEST(Conflict, a_gpu_that_cuda_13_dropped_is_named_and_the_others_are_not) {
  const auto conflict = conflict_of("gpus: [sm_90, sm_70, sm_120]\nplatforms: [linux-x86_64]\n");
  ASSERT_THAT(conflict.demands, SizeIs(1));
  EXPECT_EQ(conflict.demands.front().text, "gpus: sm_70");
  EXPECT_EQ(conflict.demands.front().reason, "sm_70 (Volta) ends with CUDA 12.9");
  ASSERT_THAT(conflict.ways_out, SizeIs(1));
  EXPECT_EQ(conflict.ways_out.front().change, "leave out sm_70 under gpus");
}

TEST(Conflict, the_only_gpu_is_not_offered_to_be_left_out) {
  EXPECT_THAT(conflict_of("gpus: [sm_70]\nplatforms: [linux-x86_64]\n").ways_out, IsEmpty());
}

TEST(Conflict, a_gpu_newer_than_the_nvcc_that_was_asked_for) {
  const auto conflict = conflict_of(
      "gpus:\n  - sm_90\n  - sm_107\ntoolkit:\n  nvcc: \"13.0\"\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(demands_of(conflict), testing::ElementsAre("gpus: sm_107", "toolkit.nvcc: 13.0"));
  EXPECT_EQ(conflict.demands[0].line, 5);
  EXPECT_EQ(conflict.demands[1].line, 7);
  EXPECT_THAT(conflict.demands[0].reason, HasSubstr("begins with CUDA 13.4"));
  EXPECT_EQ(conflict.ways_out.front().change, "toolkit.nvcc: 13.4 instead of 13.0");
  EXPECT_EQ(conflict.ways_out.back().change, "leave out sm_107 under gpus");
}

TEST(Conflict, headers_and_nvcc_share_a_minor) {
  const auto conflict = conflict_of("gpus: [sm_90]\ntoolkit:\n  nvcc: \"13.0\"\n  headers: "
                                    "\"13.2\"\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(demands_of(conflict),
              testing::ElementsAre("toolkit.nvcc: 13.0", "toolkit.headers: 13.2"));
  EXPECT_THAT(conflict.demands[1].reason, HasSubstr("the headers have nvcc's minor"));
  EXPECT_THAT(text_of(conflict), HasSubstr("toolkit.headers: 13.0 instead of 13.2"));
}

TEST(Conflict, an_older_ptxas_refuses_what_nvcc_writes) {
  const auto conflict = conflict_of(
      "gpus: [sm_90]\ntoolkit: {nvcc: \"13.5\", ptxas: \"13.0\"}\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(demands_of(conflict),
              testing::UnorderedElementsAre("toolkit.nvcc: 13.5", "toolkit.ptxas: 13.0"));
  EXPECT_THAT(text_of(conflict), HasSubstr("an older one refuses its PTX 9.5"));
}

TEST(Conflict, an_older_cccl_is_not_supported) {
  const auto conflict = conflict_of(
      "gpus: [sm_90]\ntoolkit: {nvcc: \"13.5\", cccl: \"3.0\"}\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(demands_of(conflict),
              testing::UnorderedElementsAre("toolkit.nvcc: 13.5", "toolkit.cccl: 3.0"));
  EXPECT_THAT(text_of(conflict), HasSubstr("toolkit.cccl: matched instead of 3.0"));
}

/// PyTorch's RELEASE.md: its wheels for x86_64 hold cubins of 8.0 and 8.6 and none of Orin's own.
TEST(Conflict, pytorch_without_code_for_the_gpu) {
  const auto conflict =
      conflict_of("gpus: [sm_87]\npytorch: 2.11.0+cu130\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(demands_of(conflict),
              testing::UnorderedElementsAre("gpus: sm_87", "pytorch: 2.11.0+cu130"));
  EXPECT_THAT(text_of(conflict), HasSubstr("PyTorch 2.11.0+cu130 has no code for sm_87: it was "
                                           "built for sm_75, sm_80, sm_86, sm_90, sm_100, sm_120"));
}

TEST(Conflict, a_build_of_pytorch_that_does_not_exist) {
  const auto conflict =
      conflict_of("gpus: [H100]\npytorch: 2.9.0+cu132\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(demands_of(conflict), testing::ElementsAre("pytorch: 2.9.0+cu132"));
  EXPECT_THAT(text_of(conflict), HasSubstr("2.9.0 is built for cu126, cu128, cu129, cu130"));
  ASSERT_THAT(conflict.ways_out, Not(IsEmpty()));
  EXPECT_EQ(conflict.ways_out.front().change, "pytorch: 2.9.0+cu130 instead of 2.9.0+cu132");
}

TEST(Conflict, pytorch_of_another_major) {
  const auto conflict = conflict_of("gpus: [sm_90]\npytorch: cu128\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(demands_of(conflict), testing::ElementsAre("pytorch: cu128"));
  EXPECT_THAT(text_of(conflict), HasSubstr("pytorch: cu130 instead of cu128"));
}

TEST(Conflict, a_driver_below_the_floor) {
  const auto conflict =
      conflict_of("gpus: [sm_90]\ndriver: \">=570\"\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(demands_of(conflict), testing::ElementsAre("driver: >=570"));
  EXPECT_THAT(conflict.demands.front().reason,
              HasSubstr("needs a driver of branch 580 or newer, not 570"));
  EXPECT_EQ(conflict.ways_out.front().change, "driver: >=580 instead of >=570");
}

TEST(Conflict, a_driver_wish_without_a_lower_end) {
  const auto conflict = conflict_of("gpus: [sm_90]\ndriver: \"<600\"\nplatforms: [linux-x86_64]\n");
  EXPECT_THAT(conflict.demands.front().reason, HasSubstr("every older one is asked for too"));
}

TEST(Conflict, jetson_ends_with_cuda_12) {
  const auto conflict = conflict_of("gpus: [sm_87]\nplatforms: [linux-aarch64]\n");
  EXPECT_THAT(demands_of(conflict), testing::ElementsAre("platforms: linux-aarch64"));
  EXPECT_THAT(conflict.demands.front().reason, HasSubstr("ends with CUDA 12.9"));
}

TEST(Conflict, a_named_source_that_offers_nothing_is_no_fault_of_the_manifest) {
  const auto manifest =
      manifest_of("gpus: [sm_90]\nsources: [redist]\nplatforms: [linux-x86_64]\n");
  auto catalog = real_catalog();
  catalog.redist_was_asked = true;
  const auto answer = resolve(manifest, recipes(), catalog, {}, nullptr);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::source);
  EXPECT_THAT(answer.error().hint, HasSubstr("CUKIT_REDIST_URL"));
}

TEST(Conflict, native_without_a_gpu) {
  EXPECT_THAT(text_of(conflict_of("gpus: native\nplatforms: [linux-x86_64]\n")),
              HasSubstr("this machine shows no NVIDIA GPU"));
}

TEST(Conflict, a_compiler_that_is_too_new_for_the_nvcc_that_was_asked_for) {
  MachineFacts machine;
  machine.compiler =
      machine::Compiler{.path = "/usr/bin/g++", .kind = "gcc", .version = *Version::parse("16.1")};
  const auto conflict = conflict_of("gpus: [sm_90]\ntoolkit: {nvcc: \"13.2\"}\nhost: {compiler: "
                                    "gcc}\nplatforms: [linux-x86_64]\n",
                                    machine);
  EXPECT_THAT(demands_of(conflict),
              testing::ElementsAre("toolkit.nvcc: 13.2", "host.compiler: gcc"));
  EXPECT_THAT(conflict.demands[1].reason,
              HasSubstr("takes gcc up to 15, and /usr/bin/g++ is gcc 16.1"));
}

TEST(Conflict, an_index_without_cuda_is_no_fault_of_the_manifest) {
  const auto answer =
      resolve(manifest_of("gpus: [sm_90]\n"), recipes(), catalog::Catalog{}, {}, nullptr);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::source);
}

TEST(Conflict, a_way_out_really_is_one) {
  // each change, made by hand in the manifest, resolves
  EXPECT_EQ(
      conflict_of("gpus: [sm_90, sm_107]\ntoolkit: {nvcc: \"13.0\"}\nplatforms: [linux-x86_64]\n")
          .ways_out.size(),
      2U);
  EXPECT_EQ(
      resolution_of("gpus: [sm_90, sm_107]\ntoolkit: {nvcc: \"13.4\"}\nplatforms: [linux-x86_64]\n")
          .lock.release.text(),
      "13.4.3");
  EXPECT_EQ(resolution_of("gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\"}\nplatforms: [linux-x86_64]\n")
                .lock.release.text(),
            "13.0.3");
}

/// Whether all rows in force leave a candidate, decided without Matrix::first.
bool can_hold(const Matrix& matrix, unsigned subset) {
  for (std::size_t candidate = 0; candidate < matrix.candidates; ++candidate) {
    bool allowed = true;
    for (const auto& row : matrix.rows) {
      unsigned needed = 0;
      for (const auto demand : row.demands) {
        needed |= 1U << demand;
      }
      allowed = allowed && ((needed & ~subset) != 0 || row.allows[candidate]);
    }
    if (allowed) {
      return true;
    }
  }
  return false;
}

rc::Gen<Matrix> random_matrix() {
  return rc::gen::exec([] {
    Matrix matrix;
    matrix.demands = *rc::gen::inRange<std::size_t>(1, 10);
    matrix.candidates = *rc::gen::inRange<std::size_t>(1, 12);
    const auto rows = *rc::gen::inRange(0, 16);
    for (int i = 0; i < rows; ++i) {
      Matrix::Row row;
      row.demands = *rc::gen::resize(3, rc::gen::container<std::vector<std::size_t>>(
                                            rc::gen::inRange<std::size_t>(0, matrix.demands)));
      // rules without a demand mostly hold
      const int chance = row.demands.empty() ? 9 : 5;
      for (std::size_t candidate = 0; candidate < matrix.candidates; ++candidate) {
        row.allows.push_back(*rc::gen::inRange(0, 10) < chance);
      }
      matrix.rows.push_back(std::move(row));
    }
    return matrix;
  });
}

/// No member can be dropped, and the whole cannot hold: decided without the code under test.
void check_minimal(const Matrix& matrix, const std::vector<std::size_t>& set) {
  unsigned subset = 0;
  for (const auto demand : set) {
    subset |= 1U << demand;
  }
  RC_ASSERT(!can_hold(matrix, subset));
  for (unsigned smaller = (subset - 1U) & subset; smaller != 0; smaller = (smaller - 1U) & subset) {
    RC_ASSERT(can_hold(matrix, smaller));
  }
}

TEST(MinimalConflict, agrees_with_brute_force_on_random_instances) {
  EXPECT_TRUE(rc::check("minimal", [] {
    const auto matrix = *random_matrix();
    const unsigned everything = (1U << matrix.demands) - 1U;
    const auto set = minimal_conflict(matrix);
    const bool is_conflict = !can_hold(matrix, everything) && can_hold(matrix, 0);
    RC_CLASSIFY(is_conflict);
    if (is_conflict) {
      check_minimal(matrix, set);
    } else {
      RC_ASSERT(set.empty());
    }
  }));
}

std::string some_of(const std::vector<std::string>& pool) {
  const auto chosen =
      *rc::gen::unique<std::vector<std::string>>(rc::gen::resize(4, rc::gen::elementOf(pool)));
  return "[" + join(chosen, ", ") + "]";
}

std::string random_manifest() {
  const auto line = [](const char* key, const std::string& value) {
    return fmt::format("{}: {}\n", key, value);
  };
  const auto maybe = [] { return *rc::gen::arbitrary<bool>(); };
  const auto one_of = [](const std::vector<std::string>& pool) {
    return *rc::gen::elementOf(pool);
  };
  std::string text = line("gpus", "[" + one_of({"sm_70", "sm_90", "sm_107", "sm_120f"}) + ", " +
                                      one_of({"sm_75", "sm_100a", "sm_121", "sm_87"}) + "]");
  text +=
      line("platforms", one_of({"[linux-x86_64]", "[linux-sbsa]", "[linux-x86_64, linux-sbsa]"}));
  text += maybe() ? line("pytorch", one_of({"cu126", "cu128", "cu130", "cu132"})) : "";
  text +=
      maybe() ? line("driver", one_of({"\">=535\"", "\">=580\"", "\">=610\"", "\"<600\""})) : "";
  text +=
      maybe() ? line("components", some_of({"core", "nvrtc", "math", "binutils", "tileiras"})) : "";
  text += maybe() ? line("consumers", some_of({"flashinfer", "deepgemm", "triton"})) : "";
  text += "toolkit:\n  nvcc: " +
          one_of({"\">=13\"", "\"13.0\"", "\"13.4\"", "\"12.8\"", "\"13.0.88\""}) + "\n";
  text += maybe() ? "  headers: " + one_of({"\"13.0\"", "\"13.2\""}) + "\n" : "";
  text += maybe() ? "  cccl: " + one_of({"\"3.0\"", "\">=3.4\"", "matched"}) + "\n" : "";
  text += maybe() ? "  ptxas: " + one_of({"\"13.0\"", "\">=13.2\""}) + "\n" : "";
  return text;
}

TEST(MinimalConflict, holds_for_random_manifests_on_the_real_index) {
  static const auto catalog = real_catalog();
  EXPECT_TRUE(rc::check("real", [] {
    const auto body = random_manifest();
    RC_LOG(body);
    const auto manifest = manifest_of(body);
    const auto facts = *Facts::load(recipes());
    const auto problem = *make_problem(manifest, facts, {}, true);
    const Offer offer(catalog, facts, nullptr, false,
                      {.order = {std::string(k_wheels)}, .redist_minors = {}});
    const auto list = candidates(manifest, facts, offer, problem.platforms, nullptr);
    const auto matrix = make_matrix(problem, list);
    RC_PRE(matrix.demands <= 16U);
    const auto set = minimal_conflict(matrix);
    RC_CLASSIFY(!set.empty());
    if (set.empty()) {
      RC_ASSERT(first_allowed(problem, list).has_value());
    } else {
      check_minimal(matrix, set);
    }
  }));
}

TEST(Conflict, an_old_driver_of_a_data_centre_gpu_may_stay_with_cuda_compat) {
  const auto conflict =
      conflict_of("gpus: [H100, \"NVIDIA L40S\"]\ndriver: \">=535\"\nplatforms: [linux-x86_64]\n");
  ASSERT_THAT(conflict.ways_out, SizeIs(2));
  EXPECT_EQ(conflict.ways_out[0].change, "driver: >=580 instead of >=535");
  const auto& way = conflict.ways_out[1];
  EXPECT_THAT(way.change, HasSubstr("cuda-compat-13-"));
  EXPECT_THAT(way.change, HasSubstr("branch 535"));
  ASSERT_THAT(way.steps, Not(IsEmpty()));
  EXPECT_THAT(way.steps[1], HasSubstr("LD_LIBRARY_PATH=/usr/local/cuda-13."));
}

TEST(Conflict, cuda_compat_is_not_offered_where_some_gpu_is_none_for_data_centres) {
  for (const auto* gpus : {"[H100, \"GeForce RTX 4090\"]", "[sm_89]", "[sm_90, sm_120]"}) {
    const auto conflict =
        conflict_of(fmt::format("gpus: {}\ndriver: \">=535\"\nplatforms: [linux-x86_64]\n", gpus));
    EXPECT_THAT(text_of(conflict), Not(HasSubstr("cuda-compat"))) << gpus;
  }
}

TEST(Conflict, tells_how_long_twenty_demands_take) {
  const auto manifest = manifest_of(
      "gpus: [sm_75, sm_80, sm_86, sm_89, sm_90a, sm_100f, sm_103, sm_107, sm_120f, sm_121]\n"
      "pytorch: cu130\ndriver: \">=580\"\n"
      "toolkit: {nvcc: \"13.0\", ptxas: \">=13.2\", headers: \"13.0\", cccl: \">=3.1\"}\n"
      "components: [jit, math, binutils]\nconsumers: [flashinfer, torch-extensions, triton]\n"
      "platforms: [linux-x86_64, linux-sbsa]\n");
  const auto catalog = real_catalog();
  const auto problem = *make_problem(manifest, *Facts::load(recipes()), {}, true);
  EXPECT_GE(problem.demands.size(), 20U);
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = answer_to(manifest, catalog);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(std::holds_alternative<Conflict>(answer));
  EXPECT_THAT(demands_of(std::get<Conflict>(answer)),
              testing::UnorderedElementsAre("gpus: sm_107", "toolkit.nvcc: 13.0"));
  RecordProperty("milliseconds", fmt::format("{:.2f}", taken.count()));
  fmt::print("conflict of {} demands: {:.2f} ms\n", problem.demands.size(), taken.count());
}

} // namespace
} // namespace cukit::resolve

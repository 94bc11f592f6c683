// `cukit venv` on environments with packages as pip leaves them.
#include "store_fixture.hpp"
#include "support/fake_venv.hpp"

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Venv : public StoreRun {
protected:
  Venv() {
    venv.cuda({"13.0.88", "13.0.88", "13.0.88", "13.0.96", "13.0.85"});
    venv.torch("13.0.2", {{"nvidia-cuda-runtime", "13.0.96"}});
  }
  [[nodiscard]] std::string path() const { return venv.path().string(); }
  FakeVenv venv;
};

TEST_F(Venv, show_says_whose_files_are_what_and_what_is_pinned) {
  const auto text = run({"venv", "show", path()});
  EXPECT_THAT(text, AllOf(HasSubstr("nvidia/cu13: "), HasSubstr("nvidia-cuda-nvcc"),
                          HasSubstr("torch by cuda-toolkit[runtime]"), HasSubstr("holds"),
                          HasSubstr("nothing is wrong with it")));
  const auto json = run({"venv", "show", path(), "--json"});
  EXPECT_EQ(value_of(json, "schema"), "cukit.venv-show/1");
  EXPECT_THAT(json, HasSubstr("\"requirement\": \"nvidia-cuda-runtime==13.0.96.*\""));
}

TEST_F(Venv, check_ends_with_one_and_the_cause_when_something_undid_it) {
  EXPECT_THAT(run({"venv", "check", path()}), HasSubstr("all fits"));
  venv.remove_dist("nvidia_nvvm-13.0.88.dist-info");
  ASSERT_TRUE(remove_tree(venv.site() / "nvidia/cu13/nvvm"));
  EXPECT_THAT(run({"venv", "check", path()}, 1),
              AllOf(HasSubstr("lacks nvidia-nvvm"), HasSubstr("next: ")));
  venv.cuda({"", "13.2.78", "", "", ""});
  const auto json = run({"venv", "check", path(), "--json"}, 1);
  EXPECT_THAT(json, AllOf(HasSubstr("\"fits\": false"), HasSubstr("cicc 13.2.78")));
  run({"venv", "check", path() + "/nowhere"}, 2);
}

TEST_F(Venv, wire_names_the_tree_and_a_toolkit_that_is_gone_is_what_check_says_first) {
  up("demo");
  const auto before = contents_of(venv.path());
  EXPECT_THAT(run({"venv", "wire", path(), "demo", "--always"}), HasSubstr("wired: "));
  EXPECT_THAT(venv.read("bin/activate"), HasSubstr("export CUDA_HOME='" + tree("demo").string()));
  EXPECT_THAT(run({"venv", "show", path()}),
              HasSubstr("wired to " + tree("demo").string() + ", also without activation"));
  EXPECT_THAT(run({"venv", "wire", path(), "demo", "--always"}), HasSubstr("as it was: "));
  const auto stands = tree("demo");
  ASSERT_EQ(::chmod(stands.c_str(), 0755), 0);
  ASSERT_TRUE(remove_tree(stands));
  EXPECT_THAT(run({"venv", "check", path()}, 1), ::testing::StartsWith("the toolkit that it is"));
  run({"venv", "unwire", path()});
  EXPECT_EQ(contents_of(venv.path()), before);
}

TEST_F(Venv, pin_prints_and_writes_what_fits_torch) {
  EXPECT_THAT(run({"venv", "pin", path()}), HasSubstr("nvidia-cuda-nvcc==13.0.88\n"));
  EXPECT_THAT(run({"venv", "pin", path(), "--write"}), HasSubstr("written: "));
  EXPECT_THAT(venv.read("pip.conf"), HasSubstr("constraint = "));
  run({"venv", "pin", path(), "--format", "poetry"}, 2);
}

TEST_F(Venv, up_with_a_prefix_in_site_packages_points_to_venv_and_removes_nothing) {
  const auto before = contents_of(venv.path());
  const auto manifest = playground.write("demo.yaml", manifest_of("demo", "13.0.188"));
  const auto text = run({"up", "--no-validate", manifest.string(), "--prefix",
                         (venv.site() / "nvidia/cu13").string()},
                        6);
  EXPECT_THAT(text, AllOf(HasSubstr("cukit venv"), ::testing::Not(HasSubstr("remove it first"))));
  EXPECT_EQ(contents_of(venv.path()), before);
}

} // namespace
} // namespace cukit::test

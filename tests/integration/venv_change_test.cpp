// `cukit venv plan`, `apply` and `restore`: the smallest change, all of it or none, and back byte
// for byte.
#include "store_fixture.hpp"
#include "support/fake_venv.hpp"
#include "support/faults.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_site = "lib/python3.11/site-packages/";

class VenvChange : public StoreRun {
protected:
  VenvChange() {
    venv.cuda({"13.0.88", "13.0.77", "13.0.88", "13.0.96", "13.0.85"});
    manifest = playground.write("demo.yaml", manifest_of("demo", "13.0.188")).string();
  }
  [[nodiscard]] std::string path() const { return venv.path().string(); }
  /// Everything but what cukit keeps for taking back.
  [[nodiscard]] std::map<std::string, std::string> contents() const {
    auto all = contents_of(venv.path());
    std::erase_if(all, [](const auto& one) { return one.first.starts_with(".cukit-venv"); });
    return all;
  }
  [[nodiscard]] Finished apply() const {
    return playground.run({"venv", "apply", path(), "--manifest", manifest});
  }
  [[nodiscard]] fs::path site(const std::string& file) const { return venv.site() / file; }

  FakeVenv venv;
  std::string manifest;
};

TEST_F(VenvChange, a_plan_changes_what_does_not_fit_and_touches_nothing) {
  const auto before = contents_of(venv.path());
  const auto text = run({"venv", "plan", path(), "--manifest", manifest});
  EXPECT_THAT(text,
              AllOf(HasSubstr("nvidia-cuda-nvcc"), HasSubstr("13.0.88"), HasSubstr("13.0.188"),
                    HasSubstr("nvidia-nvvm"), HasSubstr("to download")));
  const auto json = run({"venv", "plan", path(), "--manifest", manifest, "--json"});
  EXPECT_THAT(json, HasSubstr("\"project\": \"nvidia-cuda-runtime\",\n      \"version\": "
                              "\"13.0.96\""));
  EXPECT_EQ(contents_of(venv.path()), before);
  EXPECT_FALSE(path_exists(playground.path() / "demo.lock.yaml")) << "nor the lock";
}

TEST_F(VenvChange, apply_leaves_what_an_installer_leaves_and_restore_gives_every_byte_back) {
  const auto before = contents();
  const auto done = apply();
  ASSERT_EQ(done.exit_code, 0) << done.output << done.errors;
  EXPECT_THAT(done.output, HasSubstr("restore"));
  const auto show = run({"venv", "show", path()});
  EXPECT_THAT(show, AllOf(HasSubstr("nvidia-cuda-nvcc     13.0.188"), HasSubstr("by cukit"),
                          Not(HasSubstr("clobbered")), Not(HasSubstr("missing")),
                          Not(HasSubstr("stale"))));
  EXPECT_FALSE(path_exists(site("nvidia_cuda_nvcc-13.0.88.dist-info")));
  EXPECT_THAT(venv.read(std::string(k_site) + "nvidia_cuda_nvcc-13.0.188.dist-info/RECORD"),
              AllOf(HasSubstr("INSTALLER,sha256="),
                    HasSubstr("nvidia_cuda_nvcc-13.0.188.dist-info/RECORD,,\n")));
  EXPECT_THAT(run({"venv", "history", path()}), HasSubstr("nvidia-nvvm 13.0.77 -> 13.0.188"));
  const auto again = apply();
  EXPECT_THAT(again.output, HasSubstr("nothing to do"));
  EXPECT_THAT(run({"venv", "restore", path()}), HasSubstr("change 1 is taken back"));
  EXPECT_EQ(contents(), before);
  EXPECT_THAT(run({"venv", "restore", path()}), HasSubstr("nothing to take back"));
}

TEST_F(VenvChange, what_wheels_lack_is_a_package_of_its_own_and_a_persons_link_stays) {
  ASSERT_EQ(::symlink("libcudart.so.13", site("nvidia/cu13/lib/libcudart.so").c_str()), 0);
  ASSERT_EQ(apply().exit_code, 0);
  EXPECT_EQ(fs::read_symlink(site("nvidia/cu13/lib64")), "lib");
  EXPECT_TRUE(path_exists(site("nvidia/cu13/lib64/stubs/libcuda.so")));
  const auto record = venv.read(std::string(k_site) + "cukit_cuda_layout-13.0.99.dist-info/RECORD");
  EXPECT_THAT(record, AllOf(HasSubstr("nvidia/cu13/lib64,,\n"),
                            HasSubstr("nvidia/cu13/lib/stubs/libcuda.so,sha256="),
                            Not(HasSubstr("nvidia/cu13/lib/libcudart.so,"))));
  EXPECT_EQ(apply().exit_code, 0);
  ASSERT_EQ(::unlink(site("nvidia/cu13/lib64").c_str()), 0);
  EXPECT_THAT(run({"venv", "check", path()}, 1), HasSubstr("cukit-cuda-layout is gone"));
  EXPECT_THAT(apply().output, HasSubstr("done, as change 2"));
  EXPECT_EQ(fs::read_symlink(site("nvidia/cu13/lib64")), "lib");
}

TEST_F(VenvChange, a_file_that_is_hard_linked_to_a_cache_is_never_written_into) {
  const auto cached = playground.path() / "cached";
  const auto nvcc = site("nvidia/cu13/bin/nvcc");
  ASSERT_EQ(::link(nvcc.c_str(), cached.c_str()), 0);
  const auto bytes = read_file(cached, 1U << 20U).value_or("");
  ASSERT_EQ(apply().exit_code, 0);
  EXPECT_EQ(read_file(cached, 1U << 20U).value_or(""), bytes);
  EXPECT_FALSE(fs::equivalent(cached, nvcc));
  run({"venv", "restore", path()});
  EXPECT_TRUE(fs::equivalent(cached, nvcc)) << "it is the same file again";
}

TEST_F(VenvChange, what_stood_in_the_way_comes_back_and_what_others_own_stays) {
  ASSERT_TRUE(make_directories(site("nvidia/cu13/nvvm/lib64")));
  venv.put(std::string(k_site) + "nvidia/cu13/include/fatbinary_section.h", "of nobody");
  ASSERT_TRUE(remove_tree(site("nvidia/cu13/nvvm/bin/cicc")));
  const auto before = contents();
  ASSERT_EQ(apply().exit_code, 0);
  EXPECT_TRUE(path_exists(site("nvidia/cu13/nvvm/bin/cicc")));
  run({"venv", "restore", path(), "--to", "0"});
  EXPECT_EQ(contents(), before);
}

TEST_F(VenvChange, a_record_that_leads_out_is_refused_and_never_followed) {
  const auto victim = venv.root.path() / "victim";
  venv.root.put("/victim", "precious");
  const auto record = std::string(k_site) + "nvidia_nvvm-13.0.77.dist-info/RECORD";
  venv.put(record, venv.read(record) + "../../../../victim,,8\n");
  const auto before = contents();
  const auto refused = apply();
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_THAT(refused.errors, HasSubstr("names a file outside of site-packages"));
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(read_file(victim, 100).value_or(""), "precious");
}

TEST_F(VenvChange, a_pin_of_somebody_is_not_broken) {
  venv.wheel("picky", "1", {}, {"nvidia-nvvm==13.0.77"});
  const auto before = contents();
  const auto refused = apply();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors,
              AllOf(HasSubstr("picky wants nvidia-nvvm==13.0.77"), HasSubstr("venv wire")));
  EXPECT_EQ(contents(), before);
}

TEST_F(VenvChange, a_folder_that_is_a_link_is_not_changed_through) {
  const auto real = venv.root.path() / "elsewhere";
  ASSERT_TRUE(rename_path(site("nvidia"), real));
  ASSERT_EQ(::symlink(real.c_str(), site("nvidia").c_str()), 0);
  const auto before = contents_of(real);
  const auto refused = apply();
  EXPECT_EQ(refused.exit_code, 6) << refused.output;
  EXPECT_THAT(refused.errors, HasSubstr("is a link"));
  EXPECT_EQ(contents_of(real), before);
}

TEST_F(VenvChange, what_somebody_changed_since_is_left_and_named) {
  const auto before = contents();
  ASSERT_EQ(apply().exit_code, 0);
  venv.put(std::string(k_site) + "nvidia/cu13/bin/nvcc", "somebody's");
  const auto text = run({"venv", "restore", path()}, 1);
  EXPECT_THAT(text, AllOf(HasSubstr("nvidia/cu13/bin/nvcc was changed since by somebody else"),
                          HasSubstr(".cukit-venv/gen/1/old/nvidia/cu13/bin/nvcc")));
  EXPECT_EQ(venv.read(std::string(k_site) + "nvidia/cu13/bin/nvcc"), "somebody's");
  auto rest = contents();
  rest[std::string(k_site) + "nvidia/cu13/bin/nvcc"] =
      before.at(std::string(k_site) + "nvidia/cu13/bin/nvcc");
  EXPECT_EQ(rest, before);
}

TEST_F(VenvChange, two_at_once_are_one_after_the_other) {
  ASSERT_TRUE(make_directories(venv.path() / ".cukit-venv"));
  const auto fd = open_file(venv.path() / ".cukit-venv/lock", O_RDWR | O_CREAT);
  ASSERT_TRUE(fd);
  ASSERT_EQ(::flock(fd->get(), LOCK_EX), 0);
  const auto refused = apply();
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_THAT(refused.errors, HasSubstr("another cukit is changing"));
}

TEST_F(VenvChange, a_full_disk_or_a_failing_one_leaves_everything_as_it_was) {
  if (const auto why = no_faults_because(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const auto before = contents();
  Faults faults(playground);
  playground.environment.set("FAULTY_FS_PREFIX", venv.root.path().string());
  for (const char* rule :
       {"write:1+:ENOSPC:.cukit-venv", "write:9+:ENOSPC:.cukit-venv", "mkdir:2+:ENOSPC:.cukit-venv",
        "rename:1+:EIO:gen/1/journal", "rename:3:EIO:site-packages", "rename:9:EIO:site-packages",
        "unlink:1:EIO:site-packages"}) {
    faults.fail(rule);
    const auto failed = apply();
    const bool was_met = !faults.report().empty();
    faults.forget();
    EXPECT_TRUE(was_met) << rule;
    EXPECT_EQ(failed.exit_code, 6) << rule << failed.output << failed.errors;
    EXPECT_EQ(contents(), before) << rule << failed.errors;
  }
  EXPECT_EQ(apply().exit_code, 0);
}

/// 12 in every test run; `cmd/dev test crash` asks for a thousand, and then no step is left out.
int rounds() {
  const char* text = std::getenv("CUKIT_CRASH_ROUNDS");
  return text == nullptr ? 12 : std::atoi(text);
}

TEST_F(VenvChange, a_change_that_is_killed_anywhere_is_whole_or_absent_after_the_next_command) {
  if (const auto why = no_faults_because(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const auto before = contents();
  ASSERT_EQ(apply().exit_code, 0);
  const auto after = contents();
  run({"venv", "restore", path()});
  int steps = 1; // no less than there are
  for (bool was_killed = true; was_killed; steps *= 2) {
    {
      Faults faults(playground);
      playground.environment.set("FAULTY_FS_PREFIX", venv.root.path().string());
      faults.kill_at(steps);
      was_killed = apply().exit_code != 0;
    }
    ASSERT_EQ(apply().exit_code, 0);
    run({"venv", "restore", path()});
    ASSERT_EQ(contents(), before) << "killed at " << steps;
  }
  ASSERT_GT(steps, 32);
  const auto stride = std::max(1, steps / rounds());
  for (int step = 1; step <= steps; step += stride) {
    for (const char* command : {"apply", "restore"}) {
      const bool applies = std::string(command) == "apply";
      {
        Faults faults(playground);
        playground.environment.set("FAULTY_FS_PREFIX", venv.root.path().string());
        faults.kill_at(step);
        static_cast<void>(applies ? apply() : playground.run({"venv", "restore", path()}));
      }
      const auto next = applies ? apply() : playground.run({"venv", "restore", path()});
      ASSERT_EQ(next.exit_code, 0) << command << " killed at " << step << next.errors;
      ASSERT_EQ(contents(), applies ? after : before) << command << " killed at " << step;
    }
  }
}

} // namespace
} // namespace cukit::test

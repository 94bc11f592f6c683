// Whose the files of CUDA in a Python environment are, and what is wrong with them.
#include "support/fake_venv.hpp"
#include "venv/judge.hpp"
#include "venv/users.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <unistd.h>

namespace cukit::venv {
namespace {

using test::FakeVenv;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* k_matched = "13.0.88";

Inventory look(const FakeVenv& venv, Depth depth = Depth::bytes) {
  const auto place = find_place(venv.path());
  EXPECT_TRUE(place) << (place ? "" : place.error().message);
  auto inventory = take_inventory(*place, depth);
  EXPECT_TRUE(inventory) << (inventory ? "" : inventory.error().message);
  return *std::move(inventory);
}

std::vector<std::string> troubles(const FakeVenv& venv, Depth depth = Depth::bytes) {
  const auto judged = judge(look(venv, depth), knowledge::Knowledge::embedded());
  EXPECT_TRUE(judged);
  std::vector<std::string> result;
  for (const auto& trouble : *judged) {
    result.push_back(trouble.id + ": " + trouble.text);
  }
  return result;
}

const CudaFolder& folder(const Inventory& inventory, const std::string& name = "nvidia/cu13") {
  for (const auto& one : inventory.folders) {
    if (one.name == name) {
      return one;
    }
  }
  throw std::runtime_error("no folder " + name);
}

std::string state_of(const Inventory& inventory, const std::string& path) {
  for (const auto& one : inventory.folders) {
    for (const auto& file : one.odd) {
      if (file.path == path) {
        return std::string(name_of(file.state));
      }
    }
  }
  return "own";
}

FakeVenv matched() {
  FakeVenv venv;
  venv.cuda({k_matched, k_matched, k_matched, "13.0.96", "13.0.85"});
  return venv;
}

TEST(VenvInventory, a_matched_set_has_owners_and_no_trouble) {
  const auto venv = matched();
  const auto inventory = look(venv);
  const auto& cu13 = folder(inventory);
  EXPECT_THAT(cu13.odd, IsEmpty());
  EXPECT_GT(cu13.files_of.at("nvidia-cuda-nvcc"), 4U);
  EXPECT_THAT(troubles(venv), IsEmpty());
  EXPECT_THAT(troubles(venv, Depth::sizes), IsEmpty());
  std::map<std::string, std::string> versions;
  for (const auto& part : parts_of(inventory, cu13)) {
    versions[part.name] = part.version;
  }
  EXPECT_EQ(versions["nvcc"], k_matched);
  EXPECT_EQ(versions["cicc"], k_matched);
  EXPECT_EQ(versions["headers"], "13.0");
  EXPECT_EQ(versions["CCCL"], "3.0.1");
}

TEST(VenvInventory, each_file_is_told_by_what_its_owners_say) {
  const auto venv = matched();
  venv.wheel(
      "other", "1",
      {{"nvidia/cu13/include/cuda.h", "other bytes"}, {"nvidia/cu13/lib/libboth.so", "same"}});
  venv.wheel("another", "1", {{"nvidia/cu13/lib/libboth.so", "same"}});
  venv.put("lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13", "left over");
  venv.put("lib/python3.11/site-packages/nvidia/cu13/notes.txt", "mine");
  ASSERT_EQ(::symlink("lib", (venv.site() / "nvidia/cu13/lib64").c_str()), 0);
  ASSERT_EQ(::unlink((venv.site() / "nvidia/cu13/bin/nvlink").c_str()), 0);
  const auto inventory = look(venv);
  EXPECT_EQ(state_of(inventory, "nvidia/cu13/include/cuda.h"), "clobbered");
  EXPECT_EQ(state_of(inventory, "nvidia/cu13/lib/libboth.so"), "shared");
  EXPECT_EQ(state_of(inventory, "nvidia/cu13/lib/libnvrtc.so.13"), "stale");
  EXPECT_EQ(state_of(inventory, "nvidia/cu13/notes.txt"), "foreign");
  EXPECT_EQ(state_of(inventory, "nvidia/cu13/lib64"), "foreign");
  EXPECT_EQ(state_of(inventory, "nvidia/cu13/bin/nvlink"), "missing");
  EXPECT_EQ(state_of(inventory, "nvidia/cu13/bin/nvcc"), "own");
  for (const auto& file : folder(inventory).odd) {
    if (file.state == FileState::clobbered) {
      EXPECT_EQ(file.bytes_of, "other");
    }
  }
}

TEST(VenvInventory, bytes_of_the_same_size_are_told_apart_by_their_digest_alone) {
  const auto venv = matched();
  auto text = venv.read("lib/python3.11/site-packages/nvidia/cu13/include/cuda.h");
  text.back() = text.back() == ' ' ? '\n' : ' ';
  venv.put("lib/python3.11/site-packages/nvidia/cu13/include/cuda.h", text);
  EXPECT_EQ(state_of(look(venv, Depth::bytes), "nvidia/cu13/include/cuda.h"), "clobbered");
  EXPECT_THAT(troubles(venv),
              ElementsAre(AllOf(HasSubstr("changed-files"), HasSubstr("nvidia-cuda-runtime"))));
}

TEST(VenvInventory, headers_of_another_minor_than_nvcc_are_the_first_trouble) {
  const FakeVenv venv;
  venv.cuda({"13.5.37", "13.5.37", "13.5.37", "13.0.96", "13.5.37"});
  ASSERT_FALSE(troubles(venv).empty());
  EXPECT_THAT(troubles(venv, Depth::sizes).front(),
              AllOf(HasSubstr("compiler-and-headers"), HasSubstr("nvcc 13.5.37"),
                    HasSubstr("headers of CUDA 13.0")));
}

TEST(VenvInventory, a_cicc_that_is_newer_than_ptxas_is_named_as_the_cause) {
  const FakeVenv venv;
  venv.cuda({k_matched, "13.2.78", k_matched, "13.0.96", "13.0.85"});
  for (const auto depth : {Depth::sizes, Depth::bytes}) {
    EXPECT_THAT(troubles(venv, depth),
                ElementsAre(AllOf(HasSubstr("cicc 13.2.78"), HasSubstr("ptxas 13.0.88"))));
  }
}

TEST(VenvInventory, a_compiler_without_cccl_lacks_it_and_no_compiler_is_no_trouble) {
  const FakeVenv lacking;
  lacking.cuda({k_matched, k_matched, k_matched, "13.0.96", ""});
  EXPECT_THAT(troubles(lacking),
              ElementsAre(AllOf(HasSubstr("lacking"), HasSubstr("nvidia-cuda-cccl"))));
  const FakeVenv headers_alone;
  headers_alone.cuda({"", "", "", "13.0.96", ""});
  EXPECT_THAT(troubles(headers_alone), IsEmpty());
}

TEST(VenvInventory, pins_through_an_extra_of_the_metapackage_are_those_of_torch) {
  const auto venv = matched();
  venv.torch("13.0.2", {{"nvidia-cuda-runtime", "13.0.96"}, {"nvidia-cublas", "13.1.0.3"}});
  const auto inventory = look(venv);
  std::map<std::string, const Pin*> pins;
  for (const auto& pin : inventory.pins) {
    pins[pin.project] = &pin;
  }
  ASSERT_TRUE(pins.contains("nvidia-cuda-runtime"));
  EXPECT_EQ(pins["nvidia-cuda-runtime"]->because, "torch");
  EXPECT_TRUE(pins["nvidia-cuda-runtime"]->holds);
  EXPECT_FALSE(pins["nvidia-cublas"]->holds) << "it is not installed";
  EXPECT_THAT(troubles(venv),
              ElementsAre(AllOf(HasSubstr("pin: torch"), HasSubstr("it is not installed"))));
}

TEST(VenvInventory, a_record_that_leads_out_is_named_and_a_script_in_bin_is_not) {
  const auto venv = matched();
  venv.wheel("tool", "1", {{"nvidia/cu13/extra.txt", "x"}});
  const auto record = "lib/python3.11/site-packages/tool-1.dist-info/RECORD";
  venv.put(record, venv.read(record) + "../../../bin/tool,,\n../../../../../etc/passwd,,\n"
                                       "nvidia/../../../../../etc/shadow,,\n/etc/hosts,,\n");
  const auto inventory = look(venv);
  EXPECT_THAT(
      inventory.find("tool")->outside,
      ElementsAre("../../../../../etc/passwd", "nvidia/../../../../../etc/shadow", "/etc/hosts"));
  EXPECT_THAT(troubles(venv), ElementsAre(HasSubstr("record-leads-out")));
}

TEST(VenvInventory, damaged_records_and_twice_recorded_packages_are_named) {
  const auto venv = matched();
  venv.root.dist("/venv/lib/python3.11/site-packages", "nvidia-nvvm", "13.2.78");
  const auto named = troubles(venv);
  EXPECT_THAT(named, ::testing::Contains(AllOf(HasSubstr("twice"), HasSubstr("13.2.78"))));
  EXPECT_THAT(named, ::testing::Contains(HasSubstr("no-record")));
  venv.put("lib/python3.11/site-packages/nvidia_nvvm-13.2.78.dist-info/RECORD",
           "\"nvidia/cu13/unclosed,sha256=x\nno commas\n,,\n\"nvidia/cu13/a,b\",sha256=,7\n");
  EXPECT_EQ(state_of(look(venv), "nvidia/cu13/a,b"), "missing");
}

TEST(VenvUsers, programs_with_files_of_it_mapped_are_named) {
  const FakeVenv venv;
  venv.root.put("/proc/7/maps",
                "7f00-7f01 r-xp 0 00:1 1   /venv/nvidia/cu13/lib/libcudart.so.13\n");
  venv.root.put("/proc/7/comm", "python3\n");
  venv.root.put("/proc/8/maps", "7f00-7f01 r-xp 0 00:1 1   /other/venv/nvidia/cu13x/lib/a.so\n");
  venv.root.put("/proc/meminfo", "");
  EXPECT_THAT(users_of("/venv/nvidia/cu13", venv.root.path() / "proc"), ElementsAre("python3 (7)"));
}

TEST(VenvPlace, it_is_found_by_its_folder_its_modules_or_its_python) {
  const FakeVenv venv;
  venv.put("bin/python3", "");
  for (const auto& path : {venv.path(), venv.site(), venv.path() / "bin/python3"}) {
    const auto place = find_place(path);
    ASSERT_TRUE(place) << path;
    EXPECT_EQ(place->prefix, venv.path()) << path;
    EXPECT_EQ(place->kind, Kind::venv);
    EXPECT_THAT(place->sites, ElementsAre(fs::canonical(venv.site())));
  }
  EXPECT_EQ(find_place(venv.path() / "nowhere").error().code, ErrorCode::usage);
  EXPECT_EQ(find_place(venv.path() / "bin").error().code, ErrorCode::usage);
}

TEST(VenvPlace, layouts_of_others_are_told_apart) {
  const FakeVenv venv;
  venv.root.put("/conda/conda-meta/history", "");
  venv.root.put("/conda/lib/python3.12/site-packages/a.py", "");
  EXPECT_EQ(find_place(venv.root.path() / "conda")->kind, Kind::conda);
  venv.root.put("/usr/lib/python3/dist-packages/a.py", "");
  EXPECT_EQ(find_place(venv.root.path() / "usr")->kind, Kind::system);
  venv.root.put("/target/numpy-2.0.dist-info/METADATA", "");
  EXPECT_EQ(find_place(venv.root.path() / "target")->kind, Kind::target);
  venv.put("pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\n");
  EXPECT_TRUE(find_place(venv.path())->sees_base);
}

TEST(VenvPlace, modules_behind_a_link_are_no_place_to_change) {
  const FakeVenv venv;
  venv.root.put("/elsewhere/a.py", "");
  ASSERT_TRUE(remove_tree(venv.site()));
  ASSERT_EQ(::symlink((venv.root.path() / "elsewhere").c_str(), venv.site().c_str()), 0);
  const auto place = find_place(venv.path());
  ASSERT_TRUE(place);
  EXPECT_THAT(place->notes, ElementsAre(HasSubstr("outside of it")));
  const auto refused = check_changeable(*place, venv.site());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("elsewhere"));
  EXPECT_TRUE(check_changeable(*place, venv.path() / "bin"));
}

} // namespace
} // namespace cukit::venv

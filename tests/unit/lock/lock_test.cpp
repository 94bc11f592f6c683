#include "lock/lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <gmock/gmock.h>
#include <random>

namespace cukit::lock {
namespace {

using testing::HasSubstr;

std::string golden() {
  const auto text = read_file(fs::path(CUKIT_TEST_DATA) / "lock/quickstart.lock.yaml", 1 << 20);
  EXPECT_TRUE(text.has_value());
  return text.value_or("");
}

Sha256 digest(char c) {
  return *Sha256::parse(std::string(64, c));
}

Artifact artifact(std::string component, std::string version) {
  Artifact result;
  result.file = component + "-" + version + ".whl";
  result.component = std::move(component);
  result.version = *Version::parse(version);
  result.why = "group core";
  result.source = "wheels";
  result.size = 1;
  result.sha256 = digest('1');
  result.licence = "LicenseRef-NVIDIA-Proprietary";
  result.root = "nvidia/cu13";
  return result;
}

Lock small_lock() {
  Lock lock;
  lock.manifest = digest('a');
  lock.release = *Version::parse("13.0.2");
  lock.platforms.push_back({.platform = Platform::Kind::linux_x86_64,
                            .glibc = "2.17",
                            .artifacts = {artifact("nvcc", "13.0.88")}});
  return lock;
}

/// The golden lock with one piece of text replaced.
std::string golden_with(const std::string& from, const std::string& to) {
  auto text = golden();
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string all_of(const Error& error) {
  std::string text = error.where + "|" + error.message;
  for (const auto& cause : error.causes) {
    text += "|" + cause;
  }
  return text + "|" + error.hint;
}

TEST(LockFormat, writes_what_it_read_byte_for_byte) {
  const auto lock = read(golden(), "golden");
  ASSERT_TRUE(lock.has_value()) << all_of(lock.error());
  EXPECT_EQ(write(*lock), golden());
}

TEST(LockFormat, reads_every_field) {
  const auto lock = read(golden(), "golden");
  ASSERT_TRUE(lock.has_value());
  EXPECT_EQ(lock->release.text(), "13.0.2");
  EXPECT_EQ(lock->driver, "580");
  ASSERT_EQ(lock->gpus.size(), 2U);
  EXPECT_EQ(lock->gpus[1].sm(), "sm_120");
  EXPECT_FALSE(lock->observed_gpus);
  EXPECT_EQ(lock->pins.at("cuda_toolkit-13.0.2-py2.py3-none-any.whl").hex().substr(0, 8),
            "b198824c");
  const auto* platform = lock->find(Platform::Kind::linux_x86_64);
  ASSERT_NE(platform, nullptr);
  EXPECT_EQ(lock->find(Platform::Kind::linux_sbsa), nullptr);
  ASSERT_EQ(platform->artifacts.size(), 5U);
  EXPECT_TRUE(platform->artifacts[0].trust_first_lock);
  EXPECT_EQ(platform->artifacts[0].move.front().second, "lib/cmake/");
  EXPECT_EQ(platform->artifacts[1].size, 59544258U);
  EXPECT_TRUE(platform->artifacts[1].record.has_value());
  EXPECT_EQ(platform->artifacts[2].leave, (std::vector<std::string>{"bin/nvlink", "bin/ptxas"}));
  EXPECT_EQ(platform->artifacts[4].link.front().first, "nvvm/lib64/libnvvm.so");
}

TEST(LockFormat, reads_back_what_it_wrote) {
  auto lock = small_lock();
  lock.driver = "580";
  lock.gpus = {*GpuTarget::parse("sm_120f"), *GpuTarget::parse("sm_90a")};
  lock.observed_gpus = true;
  lock.pins["a b.whl"] = digest('b');
  lock.platforms.front().artifacts.push_back(artifact("nvcc", "13.10.1"));
  lock.platforms.front().artifacts.back().take = {"bin/ptxas", "a, b/"};
  lock.platforms.front().artifacts.back().record = digest('c');
  lock.platforms.front().artifacts.back().why = "needed-by \"x\" \\ : #";
  sort(lock);
  const auto again = read(write(lock), "again");
  ASSERT_TRUE(again.has_value()) << all_of(again.error()) << write(lock);
  EXPECT_EQ(*again, lock);
  EXPECT_EQ(write(*again), write(lock));
}

TEST(LockFormat, sorts_versions_as_integers) {
  auto lock = small_lock();
  lock.platforms.front().artifacts = {artifact("nvcc", "13.10.1"), artifact("nvcc", "13.9.1"),
                                      artifact("crt", "13.9.1")};
  const auto text = write(lock);
  EXPECT_LT(text.find("crt-13.9.1.whl"), text.find("nvcc-13.9.1.whl"));
  EXPECT_LT(text.find("nvcc-13.9.1.whl"), text.find("nvcc-13.10.1.whl"));
}

TEST(LockFormat, leaves_out_what_is_default) {
  const auto text = write(small_lock());
  for (const auto* key :
       {"requires", "pins", "trust", "record", "take", "leave", "move", "link", "observed"}) {
    EXPECT_EQ(text.find(key), std::string::npos) << key;
  }
}

TEST(LockFormat, does_not_mind_the_order_of_keys_and_artifacts) {
  auto lock = small_lock();
  auto text = write(lock);
  const std::string release = "release: \"13.0.2\"\n";
  text.erase(text.find(release), release.size());
  const auto again = read(text + release, "moved");
  ASSERT_TRUE(again.has_value()) << all_of(again.error());
  EXPECT_EQ(*again, lock);
}

TEST(LockFormat, row07_refuses_a_newer_format_by_name) {
  const auto lock = read("cukit-lock: 2\nwhatever: {new: [thing]}\n", "x.lock.yaml");
  ASSERT_FALSE(lock.has_value());
  EXPECT_EQ(lock.error().code, ErrorCode::usage);
  EXPECT_THAT(lock.error().message, HasSubstr("written by a newer cukit"));
  EXPECT_THAT(lock.error().where, HasSubstr("x.lock.yaml:1"));
}

TEST(LockFormat, row07_refuses_newer_assembly_rules_by_name) {
  const auto lock = read(golden_with("assembly: 1", "assembly: 2"), "x");
  ASSERT_FALSE(lock.has_value());
  EXPECT_THAT(all_of(lock.error()), HasSubstr("written by a newer cukit"));
}

struct Broken {
  const char* from;
  const char* to;
  const char* complaint;
};

TEST(LockFormat, row07_names_file_and_line_of_every_broken_rule) {
  const std::vector<Broken> cases = {
      {"cukit-lock: 1", "cukit-lock: one", "must be 1"},
      {"cukit-lock: 1", "cukit-lok: 1", "no lock of cukit"},
      {"assembly: 1", "assembly: 0", "above 0"},
      {"assembly: 1", "assemblies: 1", "did you mean `assembly`"},
      {"manifest: sha256:f", "manifest: sha256:F", "lower-case"},
      {"manifest: sha256:f", "manifest: f", "sha256:"},
      {"release: \"13.0.2\"", "release: 13.0.2", "must be quoted"},
      {"release: \"13.0.2\"", "release: \"13.00.2\"", "spelled \"13.0.2\""},
      {"release: \"13.0.2\"", "release: \"newest\"", "is no version"},
      {"gpus: [sm_90, sm_120]", "gpus: [sm_90, sm_90]", "twice"},
      {"gpus: [sm_90, sm_120]", "gpus: [\"9.0\"]", "no target"},
      {"gpus: [sm_90, sm_120]", "gpus: []", "at least one"},
      {"gpus: [sm_90, sm_120]", "gpus: [sm_90]\n  observed: [driver]", "only `gpus`"},
      {"linux-x86_64:", "linux-mips:", "no platform"},
      {"component: cccl", "component: CCCL", "lower-case"},
      {"source: wheels", "source: tape", "not one this cukit knows"},
      {"file: nvidia_curand", "file: ../nvidia_curand", "without folders"},
      {"file: nvidia_curand", "file: /nvidia_curand", "without folders"},
      {"size: 3120526", "size: 0", "above 0"},
      {"size: 3120526", "size: -1", "above 0"},
      {"size: 3120526", "size: 1e6", "above 0"},
      {"size: 3120526", "size: 99999999999999999999999", "above 0"},
      {"        size: 3120526\n", "", "has no `size`"},
      {"sha256: sha256:1aee", "sha256: sha256:1ae", "64 lower-case"},
      {"trust: first-lock", "trust: yes", "first-lock"},
      {"root: nvidia/cu13", "root: ../nvidia", "folder inside"},
      {"take: [include/]", "take: [../include/]", "no path inside the tree"},
      {"take: [include/]", "take: [/include]", "no path inside the tree"},
      {"take: [include/]", "take: [.cukit/x]", "no path inside the tree"},
      {"        take: [include/]\n", "", "must say in `take`"},
      {"leave: [bin/nvlink, bin/ptxas]", "leave: [bin/ptxas, bin/ptxas]", "twice"},
      {"leave: [bin/nvlink, bin/ptxas]", "leave: bin/ptxas", "must be a list"},
      {"leave: [bin/nvlink, bin/ptxas]", "leaves: [bin/ptxas]", "did you mean `leave`"},
      {"-> lib/cmake/", "-> lib/cmake", "stay inside the tree"},
      {"-> lib/cmake/", "-> ../lib/cmake/", "stay inside the tree"},
      {"-> ../lib/libnvvm.so.4", "-> ../../../lib/libnvvm.so.4", "stay inside the tree"},
      {"-> ../lib/libnvvm.so.4", "-> /lib/libnvvm.so.4", "stay inside the tree"},
      {" -> ../lib/libnvvm.so.4", "", "stay inside the tree"},
      {"glibc: \"2.17\"", "glibc: 2.17", "must be quoted"},
      {"why: group core", "why: \"group\\ncore\"", "one line"},
      {"component: nvvm\n        version: \"13.0.88\"",
       "component: nvcc\n        version: \"13.0.88\"", "listed twice"},
      {"nvidia_cuda_nvcc-13.2.78-py3", "nvidia_cuda_nvcc-13.0.88-py3", "listed twice"},
      {"  cuda_toolkit-13.0.2-py2.py3-none-any.whl: sha256:b1", "  a/b: sha256:b1",
       "without folders"},
  };
  for (const auto& [from, to, complaint] : cases) {
    const auto lock = read(golden_with(from, to), "x.lock.yaml");
    ASSERT_FALSE(lock.has_value()) << to;
    EXPECT_THAT(all_of(lock.error()), HasSubstr(complaint));
    EXPECT_THAT(all_of(lock.error()), testing::ContainsRegex("x\\.lock\\.yaml:[0-9]+:[0-9]+"))
        << to;
    EXPECT_FALSE(lock.error().hint.empty());
  }
}

TEST(LockFormat, reports_all_mistakes_at_once) {
  auto text = golden_with("size: 3120526", "size: 0");
  text.replace(text.find("release: \""), 10, "release: \"x");
  const auto lock = read(text, "x");
  ASSERT_FALSE(lock.has_value());
  EXPECT_EQ(lock.error().causes.size(), 2U);
}

TEST(LockFormat, row07_survives_every_single_byte_change) {
  const auto text = golden();
  std::mt19937 random(7);
  for (std::size_t i = 0; i < text.size(); i += 3) {
    auto changed = text;
    changed[i] = static_cast<char>(random() % 256);
    const auto lock = read(changed, "x");
    if (lock) {
      const auto once = write(*lock);
      const auto again = read(once, "y");
      ASSERT_TRUE(again.has_value()) << all_of(again.error());
      EXPECT_EQ(write(*again), once);
    }
  }
}

TEST(LockFormat, refuses_what_is_no_lock) {
  for (const auto* text : {"", "[]", "x", "cukit-lock: [1]", "cukit-lock:", "cukit-lock: 01"}) {
    EXPECT_FALSE(read(text, "x").has_value()) << text;
  }
}

TEST(LockPath, stands_beside_the_manifest) {
  EXPECT_EQ(lock_path("manifests/quickstart.yaml"), "manifests/quickstart.lock.yaml");
  EXPECT_EQ(lock_path("a.yml"), "a.lock.yaml");
  EXPECT_EQ(lock_path("a.b"), "a.b.lock.yaml");
}

TEST(StoreKey, is_the_digest_of_a_whole_artifact) {
  auto whole = artifact("nvcc", "13.0.88");
  const auto key = store_key(whole);
  EXPECT_EQ(key, whole.sha256.hex());
  whole.take = {"bin/ptxas"}; // still downloaded and unpacked as a whole
  EXPECT_EQ(store_key(whole), key);
}

TEST(StoreKey, tells_ranged_parts_apart) {
  auto part = artifact("curand", "10.4.0.35");
  part.record = digest('d');
  part.take = {"include/"};
  const auto key = store_key(part);
  EXPECT_EQ(key.size(), 64U);
  EXPECT_NE(key, part.sha256.hex());
  auto same = part;
  same.sha256 = digest('e'); // the RECORD pins the members, whatever the compression was
  EXPECT_EQ(store_key(same), key);
  auto other = part;
  other.take = {"include/", "lib/"};
  EXPECT_NE(store_key(other), key);
  other = part;
  other.root = "nvidia";
  EXPECT_NE(store_key(other), key);
  other = part;
  other.record = digest('f');
  EXPECT_NE(store_key(other), key);
  other = part;
  other.move = {{"cuda_cccl/include/", "include/"}}; // other members lie below include/ then
  EXPECT_NE(store_key(other), key);
  const auto moved = store_key(other);
  other.move.emplace_back("cccl/lib/", "lib/");
  EXPECT_NE(store_key(other), moved);
}

TEST(TreeId, depends_on_every_input_of_the_assembly_and_on_nothing_else) {
  const auto base = small_lock();
  const auto id = [](const Lock& lock) { return tree_id(lock, lock.platforms.front()); };
  const auto changed = [&](auto change) {
    auto lock = base;
    change(lock, lock.platforms.front(), lock.platforms.front().artifacts.front());
    return id(lock) != id(base);
  };
  EXPECT_TRUE(changed([](auto& lock, auto&, auto&) { lock.assembly = 2; }));
  EXPECT_TRUE(changed([](auto&, auto& p, auto&) { p.platform = Platform::Kind::linux_sbsa; }));
  // Equal artifacts of another release: version.txt differs, and so do the names below LICENSES/.
  EXPECT_TRUE(changed([](auto& lock, auto&, auto&) { lock.release = *Version::parse("13.0.9"); }));
  EXPECT_TRUE(changed([](auto&, auto&, auto& a) { a.component = "other"; }));
  EXPECT_TRUE(changed([](auto&, auto&, auto& a) { a.version = *Version::parse("9.9"); }));
  EXPECT_TRUE(changed([](auto&, auto&, auto& a) { a.sha256 = digest('9'); }));
  EXPECT_TRUE(changed([](auto&, auto&, auto& a) { a.record = digest('9'); }));
  EXPECT_TRUE(changed([](auto&, auto&, auto& a) { a.root = "x"; }));
  EXPECT_TRUE(changed([](auto&, auto&, auto& a) { a.take = {"x"}; }));
  EXPECT_TRUE(changed([](auto&, auto&, auto& a) { a.leave = {"x"}; }));
  EXPECT_TRUE(changed([](auto&, auto&, auto& a) { a.move = {{"a/", "b/"}}; }));
  EXPECT_TRUE(changed([](auto&, auto&, auto& a) { a.link = {{"a", "b"}}; }));
  EXPECT_FALSE(changed([](auto&, auto&, auto& a) { a.why = "x"; }));
  EXPECT_FALSE(changed([](auto& lock, auto&, auto&) { lock.manifest = digest('9'); }));
  EXPECT_FALSE(changed([](auto&, auto& p, auto&) { p.glibc = "2.28"; }));
}

TEST(TreeId, keeps_fields_apart) {
  auto first = small_lock();
  auto second = small_lock();
  first.platforms.front().artifacts.front().take = {"a", "b"};
  second.platforms.front().artifacts.front().take = {"a"};
  second.platforms.front().artifacts.front().leave = {"b"};
  EXPECT_NE(tree_id(first, first.platforms.front()), tree_id(second, second.platforms.front()));
}

} // namespace
} // namespace cukit::lock

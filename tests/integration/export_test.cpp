// `cukit export` and `cukit sbom`: what is handed on is read back by programs that know nothing of
// cukit, is the same every time, and is never a tree that was altered.
#include "base/sha256.hpp"
#include "base/strings.hpp"
#include "store_fixture.hpp"

#include <fcntl.h>

namespace cukit::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Reads a layout as its specification has it: every digest and size, each layer's diff_id, and
/// what a runtime would see; prints "PATH MODE SHA256-or-link" of it, then variables and labels.
constexpr const char* k_reader = R"py(
import gzip, hashlib, io, json, os, sys, tarfile
root = sys.argv[1]
def blob(d):
    data = open(os.path.join(root, "blobs", *d["digest"].split(":")), "rb").read()
    assert len(data) == d["size"] and "sha256:" + hashlib.sha256(data).hexdigest() == d["digest"], d
    return data
assert json.load(open(root + "/oci-layout"))["imageLayoutVersion"] == "1.0.0"
(entry,) = json.load(open(root + "/index.json"))["manifests"]
manifest = json.loads(blob(entry))
config = json.loads(blob(manifest["config"]))
assert config["os"] == "linux" and config["rootfs"]["type"] == "layers"
assert len(config["history"]) == len(manifest["layers"]) == len(config["rootfs"]["diff_ids"])
seen, used = {}, {entry["digest"], manifest["config"]["digest"]}
for layer, diff in zip(manifest["layers"], config["rootfs"]["diff_ids"]):
    used.add(layer["digest"])
    data = blob(layer)
    plain = gzip.decompress(data) if layer["mediaType"].endswith("+gzip") else data
    assert "sha256:" + hashlib.sha256(plain).hexdigest() == diff
    print("layer", layer.get("annotations", {}).get("org.opencontainers.image.title", "-"), layer["digest"])
    for item in tarfile.open(fileobj=io.BytesIO(plain)):
        assert (item.uid, item.gid, item.mtime) == (0, 0, 1), item
        if item.isdir(): continue
        what = item.linkname if item.issym() else hashlib.sha256(
            tarfile.open(fileobj=io.BytesIO(plain)).extractfile(item.name).read()).hexdigest()
        assert item.name not in seen, item.name
        seen[item.name] = "%o %s" % (item.mode, what)
assert sorted("sha256:" + n for n in os.listdir(root + "/blobs/sha256")) == sorted(used)
for name in sorted(seen): print("file", name, seen[name])
for line in config["config"]["Env"]: print("env", line)
for name, label in sorted(config["config"]["Labels"].items()): print("label", name, label)
print("created", config["created"])
)py";

class Export : public StoreRun {
protected:
  Export() {
    up("demo");
    playground.environment.set("PATH", "/usr/bin:/bin");
  }
  [[nodiscard]] fs::path at(const std::string& name) const { return playground.path() / name; }
  [[nodiscard]] Finished program(std::vector<std::string> command) const {
    const auto done = run_command({.arguments = std::move(command),
                                   .environment = Environment::of_this_process(),
                                   .directory = playground.path().string(),
                                   .time_limit = std::chrono::minutes(1)},
                                  {});
    EXPECT_TRUE(done);
    return done ? *done : Finished{};
  }
  static bool is_here(const std::string& name) {
    return !Environment::of_this_process().find_program(name).empty();
  }
  void oci(const std::string& folder, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"export", "oci", at(folder).string(), "demo"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    run(arguments);
  }
  [[nodiscard]] std::string read(const std::string& layout) const {
    const auto done = program({"/usr/bin/env", "python3", "-c", k_reader, at(layout).string()});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return done.output;
  }
  /// The reader's lines that begin so, without that.
  static std::vector<std::string> lines(const std::string& text, const std::string& kind) {
    std::vector<std::string> result;
    for (const auto line : split(text, '\n')) {
      if (line.starts_with(kind + " ")) {
        result.emplace_back(line.substr(kind.size() + 1));
      }
    }
    return result;
  }
  static std::string trimmed(const fs::path& file) {
    return std::string(trim(read_file(file, 1U << 10U).value_or("")));
  }
  [[nodiscard]] Finished same(const std::string& a, const std::string& b) const {
    return program({"/usr/bin/env", "diff", "-r", at(a).string(), at(b).string()});
  }
  void SetUp() override {
    if (program({"/usr/bin/env", "python3", "-c", "pass"}).exit_code != 0) {
      GTEST_SKIP() << "python3 is not installed";
    }
  }
};

TEST_F(Export, an_image_is_the_tree_in_layers_and_the_same_each_time) {
  oci("one");
  playground.environment.set("TZ", "Asia/Tokyo");
  playground.environment.set("LC_ALL", "C");
  oci("two");
  EXPECT_EQ(same("one", "two").output, "");
  const auto image = read("one");
  std::vector<std::string> wanted;
  for (const auto& entry : fs::recursive_directory_iterator(tree("demo"))) {
    const auto name = "opt/cuda/" + entry.path().lexically_relative(tree("demo")).string();
    if (entry.is_symlink()) {
      wanted.push_back(name + " 777 " + fs::read_symlink(entry.path()).string());
    } else if (entry.is_regular_file()) {
      const bool is_program =
          (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
      wanted.push_back(name + (is_program ? " 555 " : " 444 ") +
                       sha256_of_file(entry.path()).value().hex());
    }
  }
  wanted.push_back("opt/cuda.lock.yaml 444 " + sha256_of_file(at("demo.lock.yaml")).value().hex());
  EXPECT_THAT(lines(image, "file"), ::testing::UnorderedElementsAreArray(wanted));
  EXPECT_THAT(lines(image, "env"),
              AllOf(::testing::Contains("CUDA_HOME=/opt/cuda"),
                    ::testing::Contains("PATH=/opt/cuda/bin:/usr/local/sbin:/usr/local/bin:"
                                        "/usr/sbin:/usr/bin:/sbin:/bin"),
                    ::testing::Each(Not(HasSubstr(playground.path().string())))));
  EXPECT_THAT(lines(image, "label"),
              ::testing::Contains("cukit.lock sha256:" +
                                  sha256_of_file(at("demo.lock.yaml")).value().hex()));
  EXPECT_THAT(lines(image, "layer").back(), HasSubstr("cukit sha256:"));
  EXPECT_THAT(lines(image, "created"), ::testing::ElementsAre("1970-01-01T00:00:00Z"));
}

TEST_F(Export, a_change_moves_the_layers_of_what_changed_alone) {
  oci("one");
  const auto before = lines(read("one"), "layer");
  ASSERT_GT(before.size(), 2U);
  // another lock of the same components
  const auto manifest =
      playground.write("demo.yaml", manifest_of("demo", "13.0.188") + "driver: \">=580\"\n");
  run({"up", "--no-validate", manifest.string()});
  oci("same");
  auto same = lines(read("same"), "layer");
  EXPECT_NE(same.back(), before.back()) << "the lock is in there";
  same.back() = before.back();
  EXPECT_EQ(same, before);
  // other versions of all of them, in the same order
  up("demo", "13.0.187");
  oci("two");
  const auto after = lines(read("two"), "layer");
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_NE(before[i], after[i]);
    EXPECT_EQ(before[i].substr(0, before[i].find(' ')), after[i].substr(0, after[i].find(' ')));
  }
}

TEST_F(Export, the_time_that_is_stated_is_in_the_configuration_alone) {
  oci("one");
  playground.environment.set("SOURCE_DATE_EPOCH", "1700000000");
  oci("two");
  EXPECT_EQ(lines(read("one"), "layer"), lines(read("two"), "layer"));
  EXPECT_THAT(lines(read("two"), "created"), ::testing::ElementsAre("2023-11-14T22:13:20Z"));
  for (const auto* bad : {"soon", "-1", "1e9", "99999999999999"}) {
    playground.environment.set("SOURCE_DATE_EPOCH", bad);
    EXPECT_THAT(run({"export", "oci", at("three").string(), "demo"}, 2),
                HasSubstr("SOURCE_DATE_EPOCH"));
  }
  EXPECT_FALSE(path_exists(at("three")));
}

TEST_F(Export, a_tree_that_was_altered_is_not_exported_and_nothing_is_left) {
  const auto file = tree("demo") / "bin/nvcc";
  ASSERT_EQ(::chmod(file.c_str(), 0755), 0);
  ASSERT_TRUE(write_file_atomic(at("x"), "x"));
  {
    const auto fd = open_file(file, O_WRONLY | O_APPEND);
    ASSERT_TRUE(fd && write_all(fd->get(), "x"));
  }
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"export", "oci", at("image").string(), "demo"},
           {"export", "tar", at("image").string() + ".tar", "demo"}}) {
    EXPECT_THAT(run(arguments, 5), AllOf(HasSubstr("bin/nvcc"), HasSubstr("verify --repair")));
  }
  const auto left = list_directory(playground.path()).value();
  EXPECT_THAT(left, ::testing::Each(AllOf(Not(HasSubstr("image")), Not(HasSubstr(".cukit-")))));
}

TEST_F(Export, a_base_lies_below_and_one_that_was_altered_is_refused) {
  oci("base", {"--at", "/opt/first"});
  oci("image", {"--base", at("base").string()});
  const auto image = read("image");
  EXPECT_EQ(lines(image, "layer").size(), 2 * lines(read("base"), "layer").size());
  EXPECT_THAT(lines(image, "env"),
              ::testing::Contains(HasSubstr("PATH=/opt/cuda/bin:/opt/first/bin:")));
  const auto blobs = list_directory(at("base/blobs/sha256")).value();
  for (const auto& name : blobs) {
    const auto file = at("base/blobs/sha256") / name;
    const auto bytes = read_file(file, 64U << 20U).value();
    auto altered = bytes;
    altered[altered.size() / 2] ^= 1;
    ASSERT_TRUE(write_file_atomic(file, altered));
    EXPECT_THAT(
        run({"export", "oci", at("other").string(), "demo", "--base", at("base").string()}, 5),
        HasSubstr("the base image is damaged"));
    EXPECT_FALSE(path_exists(at("other")));
    ASSERT_TRUE(write_file_atomic(file, bytes));
  }
  EXPECT_THAT(
      run({"export", "oci", at("other").string(), "demo", "--base", at("nowhere").string()}, 2),
      HasSubstr("no OCI image layout"));
}

TEST_F(Export, a_folder_with_something_in_it_is_left_alone) {
  ASSERT_TRUE(make_directories(at("image")));
  oci("image"); // an empty one is taken
  EXPECT_THAT(run({"export", "oci", at("image").string(), "demo"}, 2), HasSubstr("not empty"));
  EXPECT_THAT(run({"export", "oci", at("demo.yaml").string(), "demo"}, 2), HasSubstr("no folder"));
  EXPECT_THAT(run({"export", "oci", at("b").string(), "demo", "--at", "cuda"}, 2),
              HasSubstr("from / on"));
  EXPECT_THAT(run({"export", "oci", at("b").string(), "demo", "--platform", "linux-sbsa"}, 1),
              HasSubstr("not for linux-sbsa"));
}

TEST_F(Export, an_option_that_a_kind_would_not_look_at_is_a_mistake) {
  for (const auto& more :
       std::vector<std::vector<std::string>>{{"tar", "--base", at("b").string()},
                                             {"tar", "--compression", "zstd"},
                                             {"cmake", "--at", "/opt/x"},
                                             {"cmake", "--redistributable-only"},
                                             {"dockerfile", "--platform", "linux-sbsa"}}) {
    std::vector<std::string> arguments{"export", more.front(), at("made.tar").string(), "demo"};
    arguments.insert(arguments.end(), more.begin() + 1, more.end());
    EXPECT_THAT(run(arguments, 2),
                HasSubstr(more[1] + " says nothing to `export " + more.front() + "`"));
  }
  EXPECT_FALSE(path_exists(at("made.tar")));
}

TEST_F(Export, programs_that_copy_images_take_it) {
  if (!is_here("skopeo")) {
    GTEST_SKIP() << "skopeo is not installed";
  }
  for (const auto* how : {"gzip", "zstd", "none"}) {
    const std::string name = how;
    oci(name, {"--compression", name});
    const auto copied =
        program({"skopeo", "--insecure-policy", "copy", "oci:" + name, "dir:" + name + "-copy"});
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
  }
  if (!is_here("umoci")) {
    GTEST_SKIP() << "umoci is not installed; skopeo has taken it";
  }
  // umoci asks for a tag, which skopeo gives
  ASSERT_EQ(program({"skopeo", "--insecure-policy", "copy", "oci:gzip", "oci:tagged:v1"}).exit_code,
            0);
  const auto unpacked =
      program({"umoci", "unpack", "--rootless", "--image", "tagged:v1", "bundle"});
  ASSERT_EQ(unpacked.exit_code, 0) << unpacked.errors;
  EXPECT_THAT(run({"verify", at("bundle/rootfs/opt/cuda").string()}), Not(HasSubstr("differ")));
}

TEST_F(Export, an_archive_unpacks_to_a_tree_that_verifies) {
  for (const auto* end : {".tar", ".tar.gz", ".tgz"}) {
    const auto file = at(std::string("a") + end).string();
    run({"export", "tar", file, "demo", "--at", "/srv/toolkits/cuda"});
    const auto to = at(std::string("to") + end);
    ASSERT_TRUE(make_directories(to));
    ASSERT_EQ(program({"tar", "-C", to.string(), "-xf", file}).exit_code, 0);
    run({"verify", (to / "srv/toolkits/cuda").string()});
  }
  EXPECT_THAT(run({"export", "tar", at("a.zip").string(), "demo"}, 2), HasSubstr(".tar.zst"));
}

TEST_F(Export, what_may_be_passed_on_is_what_a_licence_lists) {
  // the licences of this index list nothing
  EXPECT_THAT(run({"export", "oci", at("image").string(), "demo", "--redistributable-only"}, 1),
              HasSubstr("lists what may be passed on"));
  EXPECT_FALSE(path_exists(at("image")));
}

TEST_F(Export, build_systems_get_files_and_a_persons_own_are_left_alone) {
  for (const auto& [kind, file] :
       {std::pair("cmake", "cukit-toolchain.cmake"), std::pair("meson", "cukit-native.ini"),
        std::pair("bazel", "cukit.bazelrc"), std::pair("pkg-config", "cuda.pc")}) {
    const auto folder = at(kind).string();
    EXPECT_THAT(run({"export", kind, folder, "demo"}), HasSubstr("use it"));
    EXPECT_THAT(read_file(fs::path(folder) / file, 1U << 20U).value_or(""),
                HasSubstr(tree("demo").string()));
    run({"export", kind, folder, "demo"}); // once more replaces its own
    ASSERT_TRUE(write_file_atomic(fs::path(folder) / file, "mine"));
    EXPECT_THAT(run({"export", kind, folder, "demo"}, 2), HasSubstr("cukit did not write it"));
    EXPECT_EQ(read_file(fs::path(folder) / file, 100).value_or(""), "mine");
  }
}

TEST_F(Export, a_build_context_has_the_lock_and_the_digest_of_the_tree_that_is_here) {
  const auto folder = at("context");
  run({"export", "dockerfile", folder.string(), at("demo.yaml").string()});
  const auto text = read_file(folder / "Dockerfile", 1U << 20U).value_or("");
  EXPECT_THAT(text, AllOf(HasSubstr("--locked --no-validate --prefix /opt/cuda"),
                          HasSubstr("= " + trimmed(tree("demo") / ".cukit/content")),
                          HasSubstr("ENV CUDA_HOME=\"/opt/cuda\"")));
  EXPECT_THAT(text, Not(HasSubstr(playground.path().string())));
  // what stands in the context is what the lock needs, and no more is asked of anybody
  const auto prefix = at("prefix").string();
  run({"up", "--locked", "--no-validate", "--prefix", prefix, (folder / "cuda.yaml").string()});
  EXPECT_EQ(trimmed(fs::path(prefix) / ".cukit/content"), trimmed(tree("demo") / ".cukit/content"));
  up("demo", "13.0.187"); // another lock replaces what an export wrote
  run({"export", "dockerfile", folder.string(), at("demo.yaml").string()});
  EXPECT_THAT(run({"export", "dockerfile", at("other").string(), "demo"}, 2),
              HasSubstr("no manifest is named"));
}

TEST_F(Export, a_bill_of_materials_names_every_artifact_and_is_the_same_each_time) {
  const auto lock = read_file(at("demo.lock.yaml"), 1U << 20U).value();
  for (const auto* format : {"spdx", "cyclonedx"}) {
    const auto text = run({"sbom", "demo", "--format", format});
    EXPECT_EQ(text, run({"sbom", at("demo.lock.yaml").string(), "--format", format}));
    for (const auto line : split(lock, '\n')) {
      const auto at = line.find(" sha256: sha256:");
      if (at != std::string_view::npos) {
        EXPECT_THAT(text, HasSubstr(std::string(line.substr(at + 16))));
      }
    }
    EXPECT_THAT(text, AllOf(HasSubstr("pkg:pypi/nvidia-cuda-nvcc@13.0.188?file_name="),
                            HasSubstr("LicenseRef-NVIDIA-Proprietary"),
                            HasSubstr("1970-01-01T00:00:00Z")));
    EXPECT_EQ(
        program({"/usr/bin/env", "python3", "-c", "import json,sys; json.loads(sys.argv[1])", text})
            .exit_code,
        0);
  }
  EXPECT_THAT(run({"sbom", "demo", "--format", "list"}, 2), HasSubstr("spdx or cyclonedx"));
  EXPECT_THAT(run({"sbom", "demo", "--platform", "linux-sbsa"}, 1),
              HasSubstr("not for linux-sbsa"));
  EXPECT_THAT(run({"licences", "demo"}),
              AllOf(HasSubstr("nvcc"), HasSubstr("13.0.188"), HasSubstr("LICENSES/")));
  EXPECT_THAT(run({"licences", "--json", "demo"}), HasSubstr("cukit.licences/1"));
}

} // namespace
} // namespace cukit::test

// Store entries made by hand, and a lock over them.
#pragma once

#include "assemble/assemble.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <gmock/gmock.h>

namespace cukit::assemble {

using Contents = std::map<std::string, std::string>;

/// A shared library that says it is `soname` (12 characters, as libcuda.so.1 has, which it is a
/// copy of).
inline std::string library(const std::string& soname,
                           Platform platform = Platform::Kind::linux_x86_64) {
  auto bytes = stub_libcuda({"f"}, platform);
  const auto at = bytes.find("libcuda.so.1");
  EXPECT_EQ(soname.size(), 12U);
  return bytes.replace(at, 12, soname);
}

class AssembleTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = TempDirectory::create(fs::temp_directory_path(), "cukit-assemble-");
    ASSERT_TRUE(made);
    scratch_ = std::make_unique<TempDirectory>(std::move(*made));
    const store::Home home{scratch_->path() / "home", scratch_->path() / "home/cache"};
    ASSERT_TRUE(store::prepare(home));
    store_ = std::make_unique<store::Store>(home);
    lock_.release = *Version::parse("13.0.2");
    platform_.platform = Platform::Kind::linux_x86_64;
  }

  /// An artifact that is in the store and in the lock; the reference lives until the next one is
  /// added.
  lock::Artifact& add(const std::string& component, const std::string& version,
                      const Contents& contents) {
    lock::Artifact artifact;
    artifact.component = component;
    artifact.version = *Version::parse(version);
    artifact.file = component + "-" + version + ".whl";
    artifact.sha256 = sha256_of(artifact.file);
    artifact.root = "nvidia/cu13";
    const auto staged = *store::Staging::create(store_->home());
    std::vector<store::EntryFile> list;
    for (const auto& [name, bytes] : contents) {
      const bool executable = bytes.starts_with("\x7f"
                                                "ELF") ||
                              bytes.starts_with("#!");
      const auto path = staged.path() / "files" / name;
      EXPECT_TRUE(make_directories(path.parent_path()));
      EXPECT_TRUE(create_file(path, bytes, executable ? 0555 : 0444));
      fs::last_write_time(path, fs::file_time_type::clock::from_sys(
                                    std::chrono::sys_seconds(std::chrono::seconds(1))));
      list.push_back({*RelativePath::parse(name), bytes.size(), sha256_of(bytes), executable});
    }
    const auto key = lock::store_key(artifact);
    if (!store_->has(key)) {
      EXPECT_TRUE(store_->commit(staged, key, list, store::Durability::normal));
    }
    entries_[key] = *store_->read(key);
    platform_.artifacts.push_back(artifact);
    return platform_.artifacts.back();
  }

  /// The least that makes a tree with all its links.
  void add_small_toolkit() {
    add("cudart", "13.0.96",
        {{"nvidia/cu13/include/cuda.h", "CUresult CUDAAPI cuInit(unsigned int Flags);\n"},
         {"nvidia/cu13/lib/libaaaa.so.4", library("libaaaa.so.4")},
         {"nvidia/__init__.py", ""},
         {"cudart-13.0.96.dist-info/RECORD", "x"},
         {"cudart-13.0.96.dist-info/licenses/License.txt", "licence\n"}});
    add("nvcc", "13.0.88",
        {{"nvidia/cu13/bin/nvcc", library("libnvcc.so.1")},
         {"nvidia/cu13/bin/nvcc.profile", "TOP = $(_HERE_)/..\n"},
         {"nvidia/cu13/bin/tool", "#!/bin/sh\n"}});
  }

  Result<std::vector<TreeFile>> plan_result() { return plan(lock_, platform_, entries_); }
  std::vector<TreeFile> planned() {
    auto files = plan_result();
    EXPECT_TRUE(files) << (files ? "" : files.error().message);
    return files ? *files : std::vector<TreeFile>();
  }
  /// Path -> what it is: "link to X", or the owner.
  std::map<std::string, std::string> overview() {
    std::map<std::string, std::string> paths;
    for (const auto& file : planned()) {
      paths[file.path.text()] = file.link.empty() ? file.owner : "link to " + file.link;
    }
    return paths;
  }
  std::string text_of(const std::string& path) {
    for (const auto& file : planned()) {
      if (file.path.text() == path) {
        return file.from.empty() ? file.content : *read_file(file.from, 1U << 20U);
      }
    }
    ADD_FAILURE() << path << " is not planned";
    return {};
  }
  Result<Tree> build_at(const fs::path& folder, Placement placement = Placement::link) {
    EXPECT_TRUE(make_directories(folder));
    Silent silent;
    return build(lock_, platform_, planned(), folder, placement, silent, {});
  }

  std::unique_ptr<TempDirectory> scratch_;
  std::unique_ptr<store::Store> store_;
  lock::Lock lock_;
  lock::PlatformLock platform_;
  std::map<std::string, store::Entry> entries_;
};

} // namespace cukit::assemble

// A bundle of shell scripts in place of kernel programs.
#pragma once

#include "validate/bundle.hpp"

#include <gtest/gtest.h>

namespace cukit::validate {

class BundleFixture : public testing::Test {
protected:
  void SetUp() override {
    auto created = TempDirectory::create(fs::temp_directory_path(), "cukit-bundle-");
    ASSERT_TRUE(created);
    folder_.emplace(std::move(*created));
    ASSERT_TRUE(make_directories(folder() / "bin"));
    ASSERT_TRUE(make_directories(folder() / "lib"));
    bundle_.report.tree_content = sha256_of("tree").text();
    bundle_.report.release = "13.0.2";
    bundle_.report.host_compiler = "gcc 12.2.0 (/usr/bin/g++)";
  }

  /// A program for `target` that is the script `body`; it is expected to print the number
  /// `sum`, 12.
  void add(const std::string& kernel, const std::string& target, const std::string& body) {
    Program program;
    program.kernel = kernel;
    program.target = GpuTarget::parse(target).value();
    program.file.path = RelativePath::parse("bin/" + kernel + "." + target).value();
    const std::string script = "#!/bin/sh\n" + body + "\n";
    ASSERT_TRUE(write_file_atomic(folder() / program.file.path.text(), script, 0755));
    program.file.sha256 = sha256_of(script);
    program.numbers["sum"] = Expected{.value = 12};
    bundle_.programs.push_back(program);
    bundle_.report.builds.push_back(BuildResult{
        .kernel = kernel, .target = target, .state = State::passed, .reason = "", .seconds = 1.5});
  }
  void add_library(const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(write_file_atomic(folder() / "lib" / name, bytes));
    bundle_.libraries.push_back({RelativePath::parse("lib/" + name).value(), sha256_of(bytes)});
  }
  void save() const {
    ASSERT_TRUE(write_file_atomic(folder() / k_bundle_file, bundle_.json().dump()));
  }
  [[nodiscard]] const fs::path& folder() const { return folder_->path(); }

  static machine::Gpu gpu(int index, const std::string& name, const std::string& target) {
    return {.index = index,
            .name = name,
            .uuid = "GPU-" + std::to_string(index),
            .target = GpuTarget::parse(target).value()};
  }

  Bundle bundle_;

private:
  std::optional<TempDirectory> folder_;
};

} // namespace cukit::validate

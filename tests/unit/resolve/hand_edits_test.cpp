#include "fixture.hpp"
#include "resolve/hand_edits.hpp"

#include <gmock/gmock.h>

namespace cukit::resolve {
namespace {

using testing::HasSubstr;

constexpr const char* k_body =
    "gpus: [sm_90]\ntoolkit: {nvcc: \"13.0\"}\nplatforms: [linux-x86_64]\n";

std::string noticed(const lock::Lock& lock, const std::string& text) {
  const auto result = changed_by_hand(lock, text, manifest_of(k_body), recipes(), {});
  EXPECT_TRUE(result.has_value());
  return result.value_or("error");
}

/// What a person would do with an editor, then read as cukit reads it.
std::string edited(const std::string& from, const std::string& to) {
  auto text = lock::write(resolution_of(k_body).lock);
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto lock = lock::read(text, "test.lock.yaml");
  EXPECT_TRUE(lock.has_value()) << (lock ? "" : lock.error().message);
  return lock ? noticed(*lock, text) : "error";
}

TEST(HandEdits, a_lock_as_it_was_written_is_not_suspected) {
  const auto lock = resolution_of(k_body).lock;
  EXPECT_EQ(noticed(lock, lock::write(lock)), "");
}

TEST(HandEdits, a_version_that_is_not_the_files) {
  EXPECT_THAT(edited("version: \"13.0.88\"", "version: \"13.0.48\""), HasSubstr("is said to be"));
}

TEST(HandEdits, a_file_of_another_platform) {
  EXPECT_THAT(
      edited("nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64",
             "nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64"),
      HasSubstr("stands under linux-x86_64"));
}

TEST(HandEdits, a_file_of_another_project) {
  EXPECT_THAT(edited("nvidia_cuda_nvcc-13.0.88", "nvidia_cuda_nvrtc-13.0.88"),
              HasSubstr("whose wheels are called nvidia-cuda-nvcc"));
}

TEST(HandEdits, a_comment_or_another_order_is_named_with_its_line) {
  EXPECT_THAT(edited("assembly:", "# mine\nassembly:"), HasSubstr("line 3 "));
  EXPECT_THAT(edited("release: \"13.0.3\"\n", "release: '13.0.3'\n"), HasSubstr("line 4 "));
}

/// What a source alone knows: a change of it shows when the file is fetched.
bool only_a_source_knows(const std::string& line) {
  return trim(line).starts_with("size:") || trim(line).starts_with("- size:");
}

/// The line as a person might change it, by what its value is: a digit of a digest or a number, a
/// letter of a word, one element less of a list.
std::vector<std::string> changes_of(const std::string& line) {
  std::vector<std::string> changes;
  const auto colon = line.rfind(": ");
  if (colon == std::string::npos) {
    return changes;
  }
  const auto key = line.substr(0, colon + 2);
  const auto value = line.substr(colon + 2);
  const auto with = [&](std::size_t at, char letter) {
    auto changed = value;
    changed[at] = changed[at] == letter ? static_cast<char>(letter + 1) : letter;
    changes.push_back(key + changed);
  };
  if (value.starts_with("[") && value.find(", ") != std::string::npos) {
    changes.push_back(key + "[" + value.substr(value.find(", ") + 2));
    changes.push_back(key + value.substr(0, value.rfind(", ")) + "]");
  } else {
    for (std::size_t at = value.size(); at-- > 0;) { // the last letter or digit, and the first
      if (std::isalnum(static_cast<unsigned char>(value[at])) != 0) {
        with(at, std::isdigit(static_cast<unsigned char>(value[at])) != 0 ? '7' : 'b');
        break;
      }
    }
  }
  if (line.find("- ") == std::string::npos) {
    changes.emplace_back(); // the line goes
  }
  return changes;
}

/// Every way in which a lock that was changed is told from one that was not.
std::string refused_or_noticed(const std::string& text, const manifest::Manifest& manifest) {
  const auto lock = lock::read(text, "test.lock.yaml");
  if (!lock) {
    return lock.error().message;
  }
  if (const auto pins = check_pins(*lock, recipes()); !pins) {
    return pins.error().message;
  }
  const auto why = stale(*lock, manifest, recipes(), {});
  EXPECT_TRUE(why) << why.error().message;
  if (why && !why->empty()) {
    return *why;
  }
  return changed_by_hand(*lock, text, manifest, recipes(), {}).value_or("an error");
}

class EveryField : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryField, of_an_example_that_is_changed_or_left_out_is_noticed) {
  const auto folder = fs::path(CUKIT_SOURCE_DIR) / "manifests";
  const auto manifest = manifest::load(folder / (std::string(GetParam()) + ".yaml"), recipes());
  ASSERT_TRUE(manifest) << manifest.error().message;
  const auto text =
      read_file(folder / (std::string(GetParam()) + ".lock.yaml"), 1U << 20U).value_or("");
  ASSERT_EQ(refused_or_noticed(text, *manifest), "");
  std::vector<std::string> lines;
  for (const auto line : split(text, '\n')) {
    lines.emplace_back(line);
  }
  int tried = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const auto& change : changes_of(lines[i])) {
      auto changed = lines;
      changed[i] = change;
      if (change.empty()) {
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
      }
      const bool is_exempt = only_a_source_knows(lines[i]) && !change.empty();
      EXPECT_EQ(refused_or_noticed(join(changed, "\n"), *manifest).empty(), is_exempt)
          << "line " << i + 1 << ": " << lines[i] << "\n became: " << change;
      ++tried;
    }
  }
  EXPECT_GT(tried, 100);
}

TEST_P(EveryField, a_component_that_is_left_out_is_noticed) {
  const auto folder = fs::path(CUKIT_SOURCE_DIR) / "manifests";
  const auto manifest = manifest::load(folder / (std::string(GetParam()) + ".yaml"), recipes());
  const auto lock = lock::load(folder / (std::string(GetParam()) + ".lock.yaml"));
  ASSERT_TRUE(manifest && lock);
  for (std::size_t i = 0; i < lock->platforms.front().artifacts.size(); ++i) {
    auto changed = *lock;
    auto& artifacts = changed.platforms.front().artifacts;
    const auto component = artifacts[i].component;
    artifacts.erase(artifacts.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(refused_or_noticed(lock::write(changed), *manifest), "") << component;
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, EveryField,
                         ::testing::Values("quickstart", "newest", "newer-ptxas"));

} // namespace
} // namespace cukit::resolve

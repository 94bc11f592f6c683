// The same manifest gives the same bytes: whatever the order of what was read, on another day, with
// the earlier lock.
#include "fixture.hpp"

#include <rapidcheck.h>

#include <cstdlib>
#include <gmock/gmock.h>
#include <locale>

namespace cukit::resolve {
namespace {

using testing::HasSubstr;

const std::vector<std::string>& bodies() {
  static const std::vector<std::string> list{
      "gpus: [sm_90, sm_120]\npytorch: cu130\nconsumers: [flashinfer, torch-extensions, "
      "triton]\nplatforms: [linux-x86_64, linux-sbsa]\n",
      "gpus: [sm_90, sm_120]\nplatforms: [linux-x86_64]\ncomponents: [core, nvrtc, nvjitlink, "
      "binutils]\n",
      "gpus: [sm_90]\nplatforms: [linux-x86_64]\ntoolkit: {nvcc: \"13.0\", ptxas: \">=13.2\", "
      "cccl: \">=3.1\"}\ncomponents: [jit, binutils]\n"};
  return list;
}

lock::Lock lock_of(const manifest::Manifest& manifest, const catalog::Catalog& catalog,
                   const lock::Lock* earlier = nullptr) {
  auto answer = answer_to(manifest, catalog, {}, earlier);
  const auto* resolution = std::get_if<Resolution>(&answer);
  EXPECT_NE(resolution, nullptr);
  return resolution == nullptr ? lock::Lock() : resolution->lock;
}

/// A patch release 13.N.P+1 of every minor, with newer files of everything.
catalog::Catalog grown(const catalog::Catalog& catalog) {
  auto result = catalog;
  const auto next = [](catalog::WheelFile wheel) {
    const auto before = wheel.version.text();
    wheel.version = *Version::parse(before + ".1");
    wheel.file.replace(wheel.file.find("-" + before + "-"), before.size() + 2,
                       fmt::format("-{}-", wheel.version.text()));
    wheel.sha256 = sha256_of(wheel.file);
    return wheel;
  };
  for (auto& [project, wheels] : result.projects) {
    const auto old = wheels;
    for (const auto& wheel : old) {
      if (!wheel.version.is_prerelease()) {
        wheels.push_back(next(wheel));
      }
    }
  }
  for (const auto& release : catalog.releases) {
    auto copy = release;
    copy.version = *Version::parse(fmt::format("{}.9", release.version.major_minor()));
    copy.file.version = copy.version;
    copy.file.file = fmt::format("cuda_toolkit-{}-py2.py3-none-any.whl", copy.version.text());
    copy.file.sha256 = sha256_of(copy.file.file);
    result.releases.push_back(copy);
  }
  return result;
}

TEST(Stability, order_of_the_catalog_changes_nothing) {
  std::mt19937 random(3);
  for (const auto& body : bodies()) {
    const auto manifest = manifest_of(body);
    const auto expected = lock::write(lock_of(manifest, real_catalog()));
    for (int round = 0; round < 8; ++round) {
      auto catalog = real_catalog();
      std::shuffle(catalog.releases.begin(), catalog.releases.end(), random);
      for (auto& release : catalog.releases) {
        std::shuffle(release.requirements.begin(), release.requirements.end(), random);
      }
      for (auto& [project, wheels] : catalog.projects) {
        std::shuffle(wheels.begin(), wheels.end(), random);
      }
      ASSERT_EQ(lock::write(lock_of(manifest, catalog)), expected);
    }
  }
}

TEST(Stability, order_of_the_manifest_changes_nothing) {
  std::mt19937 random(4);
  for (const auto& body : bodies()) {
    auto manifest = manifest_of(body);
    const auto expected = lock::write(lock_of(manifest, real_catalog()));
    for (int round = 0; round < 8; ++round) {
      std::shuffle(manifest.gpus.begin(), manifest.gpus.end(), random);
      std::shuffle(manifest.consumers.begin(), manifest.consumers.end(), random);
      std::shuffle(manifest.components.begin(), manifest.components.end(), random);
      std::shuffle(manifest.platforms.begin(), manifest.platforms.end(), random);
      ASSERT_EQ(lock::write(lock_of(manifest, real_catalog())), expected);
    }
  }
}

TEST(Stability, order_of_keys_changes_nothing) {
  const auto one = manifest_of("gpus: [sm_90, sm_120]\npytorch: cu130\nplatforms: "
                               "[linux-x86_64]\nconsumers: [triton, flashinfer]\n");
  const auto two = manifest_of("consumers: [flashinfer, triton]\nplatforms: "
                               "[linux-x86_64]\npytorch: cu130\ngpus: [sm_120, sm_90] # x\n");
  EXPECT_EQ(lock::write(lock_of(one, real_catalog())), lock::write(lock_of(two, real_catalog())));
}

TEST(Stability, a_grown_catalog_changes_nothing_that_the_earlier_lock_holds) {
  const auto later = grown(real_catalog());
  for (const auto& body : bodies()) {
    const auto manifest = manifest_of(body);
    const auto lock = lock_of(manifest, real_catalog());
    EXPECT_EQ(lock::write(lock_of(manifest, later, &lock)), lock::write(lock)) << body;
    EXPECT_NE(lock::write(lock_of(manifest, later)), lock::write(lock))
        << body; // and without the lock it would have
  }
}

TEST(Stability, the_earlier_lock_gives_way_to_a_rule) {
  const auto before = lock_of(
      manifest_of("gpus: [sm_90]\npytorch: cu130\nplatforms: [linux-x86_64]\n"), real_catalog());
  EXPECT_EQ(before.release.text(), "13.0.3");
  const auto after =
      lock_of(manifest_of("gpus: [sm_90, sm_107]\npytorch: cu130\nplatforms: [linux-x86_64]\n"),
              real_catalog(), &before);
  EXPECT_EQ(after.release.text(), "13.4.3");
}

TEST(Stability, the_earlier_lock_goes_before_pytorchs_minor) {
  const auto before =
      lock_of(manifest_of("gpus: [sm_90]\nplatforms: [linux-x86_64]\ntoolkit: {nvcc: \"13.2\"}\n"),
              real_catalog());
  const auto after =
      lock_of(manifest_of("gpus: [sm_90]\npytorch: cu130\nplatforms: [linux-x86_64]\n"),
              real_catalog(), &before);
  EXPECT_EQ(after.release.text(), "13.2.2");
}

TEST(Stability, ranged_records_of_the_earlier_lock_are_kept) {
  const auto manifest = manifest_of(bodies()[0]);
  auto before = lock_of(manifest, real_catalog());
  for (auto& platform : before.platforms) {
    for (auto& artifact : platform.artifacts) {
      if (!artifact.take.empty() && !artifact.record) {
        artifact.record = sha256_of(artifact.file);
      }
    }
  }
  auto answer = answer_to(manifest, real_catalog(), {}, &before);
  EXPECT_TRUE(std::get<Resolution>(answer).needs_record.empty());
  EXPECT_EQ(std::get<Resolution>(answer).lock, before);
}

TEST(Stability, a_file_whose_bytes_changed_since_the_lock_is_an_integrity_error) {
  const auto manifest = manifest_of(bodies()[1]);
  const auto before = lock_of(manifest, real_catalog());
  auto catalog = real_catalog();
  for (auto& wheel : catalog.projects["nvidia-nvvm"]) {
    wheel.sha256 = sha256_of("other");
  }
  const auto answer = resolve(manifest, recipes(), catalog, {}, &before);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::integrity);
  EXPECT_THAT(answer.error().message, HasSubstr(sha256_of("other").text()));
}

/// Numbers as some languages write them: 59.544.258.
class Grouping : public std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Stability, the_locale_changes_nothing) {
  const auto manifest = manifest_of(bodies()[0]);
  const auto expected = lock::write(lock_of(manifest, real_catalog()));
  const auto before = std::locale::global(std::locale(std::locale(), new Grouping));
  const auto again = lock::write(lock_of(manifest, real_catalog()));
  std::locale::global(before);
  EXPECT_EQ(again, expected);
}

/// The entries of a manifest, each with the lines that belong to it, in another order.
std::string shuffled_entries(const std::string& body) {
  std::vector<std::string> entries;
  for (const auto line : split(body, '\n')) {
    if (!line.empty()) {
      entries.emplace_back(line);
    }
  }
  std::string text;
  while (!entries.empty()) {
    const auto at = *rc::gen::inRange<std::size_t>(0, entries.size());
    text += entries[at] + "\n";
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return text;
}

TEST(Stability, shuffled_entries_in_any_time_zone_and_on_any_machine_give_the_same_bytes) {
  static const auto catalog = real_catalog();
  static std::map<std::string, std::string> expected;
  for (const auto& body : bodies()) {
    expected[body] = lock::write(lock_of(manifest_of(body), catalog));
  }
  const char* before = std::getenv("TZ");
  const std::string zone = before == nullptr ? "" : before;
  EXPECT_TRUE(rc::check("same bytes", [] {
    const auto body = *rc::gen::elementOf(bodies());
    const auto* tz = *rc::gen::element("UTC", "Asia/Kolkata", "America/St_Johns", ":nowhere");
    ::setenv("TZ", tz, 1);
    MachineFacts machine; // what this machine is decides nothing that the manifest does not name
    machine.glibc = *Version::parse(*rc::gen::element("2.17", "2.36", "2.42"));
    machine.driver = machine::Driver{.version = *Version::parse("580.95.05"), .cuda = {}};
    const auto answer = answer_to(manifest_of(shuffled_entries(body)), catalog, machine);
    RC_ASSERT(std::holds_alternative<Resolution>(answer));
    RC_ASSERT(lock::write(std::get<Resolution>(answer).lock) == expected[body]);
  }));
  if (before == nullptr) {
    ::unsetenv("TZ");
  } else {
    ::setenv("TZ", zone.c_str(), 1);
  }
}

} // namespace
} // namespace cukit::resolve

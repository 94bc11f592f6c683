// The pip-conf corpus: what pip and uv themselves make of each file.
#include "base/files.hpp"
#include "base/strings.hpp"
#include "source/ini.hpp"
#include "source/pip_config.hpp"
#include "source/toml.hpp"
#include "source/uv_config.hpp"
#include "source/variables.hpp"
#include "support/corpus.hpp"

#include <gtest/gtest.h>

#include <map>

namespace cukit::source {
namespace {

struct Fact {
  std::string index;
  std::string extra;
};

class ConfigCorpus : public testing::Test {
protected:
  void SetUp() override {
    folder_ = test::corpus("pip-conf");
    for (const auto& row : test::read_table(folder_ / "facts.tsv")) {
      facts_[row[0]] = Fact{row[1], row[2]};
    }
    for (const auto& row : test::read_table(folder_ / "expected.tsv")) {
      verdicts_[row[0]] = row[1];
    }
  }

  std::string text(const std::string& file) const { return *read_file(folder_ / file, 1U << 20U); }

  fs::path folder_;
  std::map<std::string, Fact> facts_;
  std::map<std::string, std::string> verdicts_;
};

std::string locations(const std::vector<Address>& addresses) {
  std::vector<std::string> all;
  for (const auto& one : addresses) {
    all.push_back(one.location);
  }
  return join(all, " ");
}

// Files that pip reads but whose address cannot be used: refused with their line, and never quietly
// replaced by a default.
const std::map<std::string, std::string> k_unusable = {{"pip/quotes.conf", "quotes"},
                                                       {"pip/inline-comment.conf", "no address"}};

TEST_F(ConfigCorpus, agrees_with_pip_on_every_file) {
  int seen = 0;
  for (const auto& [file, verdict] : verdicts_) {
    if (!file.starts_with("pip/")) {
      continue;
    }
    ++seen;
    const auto stated = stated_by_pip_config(text(file), file);
    if (const auto unusable = k_unusable.find(file); unusable != k_unusable.end()) {
      ASSERT_FALSE(stated) << file;
      EXPECT_NE(stated.error().message.find(unusable->second), std::string::npos) << file;
      continue;
    }
    EXPECT_EQ(stated.has_value(), verdict == "accept") << file;
    if (!stated) {
      EXPECT_TRUE(stated.error().where.starts_with(file)) << stated.error().where;
      continue;
    }
    auto expected = facts_.at(file).index;
    if (expected.starts_with("file://")) {
      expected = expected.substr(7);
    }
    while (expected.ends_with('/')) {
      expected.pop_back();
    }
    EXPECT_EQ(stated->index ? stated->index->location : "", expected) << file;
    EXPECT_EQ(locations(stated->extra), facts_.at(file).extra) << file;
  }
  EXPECT_EQ(seen, 32);
}

TEST_F(ConfigCorpus, agrees_with_uv_on_every_file) {
  int seen = 0;
  for (const auto& [file, verdict] : verdicts_) {
    if (!file.starts_with("uv/")) {
      continue;
    }
    ++seen;
    const auto stated = stated_by_uv_config(text(file), "/etc/uv/" + file);
    if (verdict != "either") {
      EXPECT_EQ(stated.has_value(), verdict == "accept")
          << file << " " << (stated ? "" : stated.error().message);
    }
    if (!stated) {
      EXPECT_TRUE(stated.error().where.starts_with("/etc/uv/" + file)) << stated.error().where;
      continue;
    }
    auto expected = facts_.at(file).index;
    if (!expected.empty() && expected.find("://") == std::string::npos) {
      expected = (fs::path("/etc/uv/uv") / expected).lexically_normal().string();
    }
    EXPECT_EQ(stated->index ? stated->index->location : "", expected) << file;
    // The table calls a flat index extra; here it is a find-links folder, as uv treats it.
    const bool flat = file == "uv/flat-format.toml" || file == "uv/no-index.toml";
    EXPECT_EQ(locations(flat ? stated->find_links : stated->extra), facts_.at(file).extra) << file;
  }
  EXPECT_EQ(seen, 28);
}

TEST_F(ConfigCorpus, agrees_on_the_environment) {
  for (const auto& row : test::read_table(folder_ / "environment.tsv")) {
    Environment environment;
    std::string name;
    for (const auto word : split_words(row[0])) {
      const auto equals = word.find('=');
      const auto key = word.substr(0, equals);
      if (key.starts_with("PIP_") || key.starts_with("UV_")) {
        name = std::string(key);
        environment.set(name, std::string(word.substr(equals + 1)));
      } else { // the second word of a list
        environment.set(name, *environment.get(name) + " " + std::string(word));
      }
    }
    const auto uv = stated_by_uv_variables(environment);
    const auto pip = stated_by_pip_variables(environment);
    ASSERT_TRUE(uv && pip) << row[0];
    const auto& index = uv->index ? uv->index : pip->index;
    EXPECT_EQ(index ? index->location : "", row[1]) << row[0];
  }
}

TEST_F(ConfigCorpus, no_prefix_of_any_file_breaks_a_reader) {
  for (const auto& [file, verdict] : verdicts_) {
    if (file.ends_with(".conf") || file.ends_with(".toml")) {
      const auto whole = text(file);
      for (std::size_t size = 0; size <= whole.size(); ++size) {
        static_cast<void>(parse_toml(std::string_view(whole).substr(0, size), file));
        static_cast<void>(parse_ini(std::string_view(whole).substr(0, size), file));
      }
    }
  }
}

} // namespace
} // namespace cukit::source

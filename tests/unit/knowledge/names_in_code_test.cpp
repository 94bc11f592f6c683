// A consumer is data: no text in the code has the name, a package, a variable, a cache or the
// folder of one. PyTorch and CMake are what others build on and are spoken of (recipes/README.md).
#include "knowledge/knowledge.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cukit::knowledge {
namespace {

using Names = std::set<std::string>;

void add(Names& names, std::string name) {
  name = name.substr(0, name.find('*'));
  if (name.size() > 2) {
    names.insert(std::move(name));
  }
}

void add_reach(Names& names, const Reach& reach) {
  for (const auto* list : {&reach.roots, &reach.programs, &reach.folders, &reach.flags}) {
    for (const auto& name : *list) {
      add(names, name);
    }
  }
}

Names names_of(const Consumer& consumer) {
  Names names;
  for (const auto& name : {consumer.name, consumer.bundle, consumer.discovery.replaced_by,
                           consumer.discovery.versions_of, consumer.discovery.gate_variable}) {
    add(names, name);
  }
  for (const auto* list : {&consumer.variables, &consumer.prebuilt, &consumer.discovery.present,
                           &consumer.discovery.companions}) {
    for (const auto& name : *list) {
      add(names, name);
    }
  }
  for (const auto& variable : consumer.environment) {
    add(names, variable.name);
  }
  for (const auto& list : consumer.arch_variables) {
    add(names, list.name);
  }
  for (const auto& cache : consumer.caches) {
    add(names, cache.variable);
    add(names, cache.usual);
  }
  for (const auto& step : consumer.discovery.root) {
    add(names, step.option);
  }
  add_reach(names, consumer.reach);
  for (const auto& older : consumer.versions) {
    names.merge(names_of(older));
  }
  return names;
}

/// Names that are of no consumer's own, or of one that others build on.
Names everybodys(const Knowledge& recipes) {
  Names names;
  for (const auto& consumer : **recipes.consumers()) {
    if (consumer.name == "cmake" || consumer.name == "torch-extensions") {
      names.merge(names_of(consumer));
    }
  }
  const auto& common = **recipes.variables();
  for (const auto& variable : common.set) {
    add(names, variable.name);
  }
  add_reach(names, common.reach);
  return names;
}

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The texts in quotes of a source file, comments left out.
std::vector<std::string> texts_of(const std::string& source) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '/' && i + 1 < source.size() && source[i + 1] == '/') {
      i = std::min(source.find('\n', i), source.size());
    } else if (source[i] == '\'' && i + 2 < source.size() && source[i + 2] == '\'') {
      i += 2;
    } else if (source[i] == '"') {
      std::string text;
      for (++i; i < source.size() && source[i] != '"'; ++i) {
        i += source[i] == '\\' ? 1 : 0;
        text += source[i];
      }
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

bool speaks_of(const std::string& text, const std::string& name) {
  const auto at = text.find(name);
  return at != std::string::npos && (at == 0 || !is_letter(text[at - 1]));
}

/// The keys of snapshots that earlier versions wrote stay readable, and what reads logs knows the
/// words of their messages.
bool is_spared(const fs::path& file) {
  return file.filename() == "snapshot_json.cpp" || file.parent_path().filename() == "buildlog";
}

TEST(Code, speaks_of_no_consumer) {
  const auto recipes = Knowledge::embedded();
  const auto spared = everybodys(recipes);
  Names names;
  for (const auto& consumer : **recipes.consumers()) {
    names.merge(names_of(consumer));
  }
  std::erase_if(names, [&](const auto& name) { return spared.contains(name); });
  EXPECT_GT(names.size(), 80U);
  std::size_t read = 0;
  for (const char* folder : {"lib", "cmd"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(CUKIT_SOURCE_DIR) / folder)) {
      const auto extension = entry.path().extension();
      if ((extension != ".cpp" && extension != ".hpp") || is_spared(entry.path())) {
        continue;
      }
      const auto source = read_file(entry.path(), 1U << 20U);
      ASSERT_TRUE(source.has_value());
      ++read;
      for (const auto& text : texts_of(*source)) {
        for (const auto& name : names) {
          EXPECT_FALSE(speaks_of(text, name))
              << entry.path() << " says \"" << text << "\": " << name << " is of a consumer";
        }
      }
    }
  }
  EXPECT_GT(read, 300U);
}

} // namespace
} // namespace cukit::knowledge

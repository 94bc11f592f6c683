// Archives that were made or collected against readers, with a verdict for each.
#include "archive/wheel.hpp"
#include "base/child.hpp"
#include "support/archive_forge.hpp"
#include "support/corpus.hpp"

#include <gtest/gtest.h>

#include <map>

namespace cukit::archive {
namespace {

struct Case {
  fs::path path;
  std::string file;
  std::string expected;
  std::string reason;
};

std::vector<Case> cases() {
  std::vector<Case> result;
  const auto folder = test::corpus("zip");
  for (const auto& row : test::read_table(folder / "expected.tsv")) {
    result.push_back({folder / row.at(0), row.at(0), row.at(1), row.at(2)});
  }
  return result;
}

Result<void> read_everything(const RandomAccess& file, Audit audit) {
  CUKIT_TRY_ASSIGN(const auto members, audit_zip(file, audit));
  for (const auto& member : members) {
    CUKIT_TRY(read_member(file, member, [](auto) { return Result<void>(); }));
  }
  return {};
}

Result<void> unpack_wheel(const RandomAccess& file) {
  CUKIT_TRY_ASSIGN(const auto wheel, open_wheel(file, Audit::whole));
  CUKIT_TRY_ASSIGN(const auto folder, TempDirectory::create(fs::temp_directory_path(), "corpus-"));
  CUKIT_TRY_ASSIGN(auto sink, TreeSink::open(folder.path()));
  ThreadPool pool(2);
  Silent silent;
  CUKIT_TRY(extract(file, wheel, [](const auto&) { return true; }, sink, pool, silent, 0, {}));
  return {};
}

/// A raw stream as the only member of an archive that declares what zlib makes of it, or something
/// that a damaged stream cannot yield.
std::string wrap(const std::string& stream) {
  const auto content = test::raw_inflate(stream).value_or(std::string(2000, '?'));
  return test::forge_zip({{.name = "stream", .content = content, .raw = stream}});
}

Result<void> verdict(const Case& one) {
  if (one.file.starts_with("deflate/")) {
    CUKIT_TRY_ASSIGN(const auto stream, read_file(one.path, 1U << 24U));
    const auto bytes = wrap(stream);
    const auto file = in_memory(bytes, one.file);
    return read_everything(*file, Audit::ranged);
  }
  CUKIT_TRY_ASSIGN(const auto file, open_local_file(one.path));
  return one.file.starts_with("wheels") ? unpack_wheel(*file)
                                        : read_everything(*file, Audit::whole);
}

TEST(ZipCorpus, row32_has_the_verdict_of_each_archive) {
  const auto all = cases();
  EXPECT_FALSE(all.empty());
  for (const auto& one : all) {
    const auto result = verdict(one);
    if (one.expected == "accept") {
      EXPECT_TRUE(result) << one.file << ": " << one.reason
                          << "\n  refused: " << (result ? "" : result.error().message);
    } else if (one.expected == "reject") {
      EXPECT_FALSE(result) << one.file << " is accepted: " << one.reason;
    }
    if (!result) {
      EXPECT_EQ(result.error().code, ErrorCode::integrity) << one.file;
      if (one.file.starts_with("deflate/")) { // not for the declared size or CRC
        EXPECT_NE(result.error().message.find("the deflate stream"), std::string::npos)
            << one.file << ": " << result.error().message;
      }
    }
  }
}

#ifdef CUKIT_COLLECTED
/// Fuzz inputs of other readers: whatever the verdict, there is one, and memory stays small.
TEST(ZipCorpus, survives_the_fuzz_inputs_of_other_readers) {
  const auto folder = test::corpus("zip");
  std::size_t seen = 0;
  for (const auto* bundle : {"seeds/go-fuzzreader-raw.zip", "seeds/rust-zip-read.zip"}) {
    const auto file = open_local_file(folder / bundle).value();
    const auto members = audit_zip(*file, Audit::whole).value();
    for (const auto& member : members) {
      const auto bytes = read_member(*file, member, 16U << 20U).value();
      const auto inner = in_memory(bytes, member.path.text());
      const bool whole = read_everything(*inner, Audit::whole).has_value();
      const bool ranged = read_everything(*inner, Audit::ranged).has_value();
      EXPECT_TRUE(!whole || ranged) << member.path.text();
      ++seen;
    }
  }
  EXPECT_EQ(seen, 364U + 951U); // as the corpus says
}

#endif

/// One line per file: name, size and sha256, sorted.
std::string listing(const RandomAccess& file) {
  std::map<std::string, std::string> lines;
  const auto members = audit_zip(file, Audit::whole).value();
  for (const auto& member : members) {
    Sha256Stream hash;
    EXPECT_TRUE(read_member(file, member, [&hash](std::span<const std::uint8_t> bytes) {
      hash.update(bytes);
      return Result<void>();
    }));
    lines[member.path.text()] =
        fmt::format("{} {} {}\n", member.path.text(), member.size, hash.finish().hex());
  }
  std::string text;
  for (const auto& [path, line] : lines) {
    text += line;
  }
  return text;
}

constexpr std::string_view k_python_listing = R"(
import hashlib, sys, zipfile
for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as archive:
        for info in sorted(archive.infolist(), key=lambda i: i.filename.encode()):
            if not info.is_dir():
                data = archive.read(info)
                print(info.filename, len(data), hashlib.sha256(data).hexdigest())
)";

TEST(ZipCorpus, reads_accepted_archives_like_python) {
  auto environment = Environment::of_this_process();
  environment.set("PYTHONIOENCODING", "utf-8");
  const auto all = cases();
  if (environment.find_program("python3").empty()) {
    GTEST_SKIP() << "python3 is not installed";
  }
  Command command{.arguments = {"python3", "-c", std::string(k_python_listing)},
                  .environment = environment,
                  .output_limit = 64U << 20U};
  std::string ours;
  for (const auto& one : all) {
    if (one.expected == "accept" && !one.file.starts_with("deflate/")) {
      command.arguments.push_back(one.path.string());
      const auto file = open_local_file(one.path).value();
      ours += listing(*file);
    }
  }
  const auto python = run_command(command);
  ASSERT_TRUE(python);
  EXPECT_EQ(python->errors, "");
  EXPECT_EQ(ours, python->output);
}

} // namespace
} // namespace cukit::archive

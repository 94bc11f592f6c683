// Tar and xz files that were made or collected against readers, with a verdict for each.
#include "archive/tar_xz.hpp"
#include "archive/xz_decoder.hpp"
#include "base/child.hpp"
#include "support/corpus.hpp"
#include "support/tar_forge.hpp"

#include <gtest/gtest.h>

namespace cukit::archive {
namespace {

struct Case {
  std::string file;
  std::string expected;
  std::string reason;
  std::string bytes; ///< of a .tar.xz
};

std::vector<Case> cases(const std::string& name) {
  std::vector<Case> result;
  const auto folder = test::corpus(name);
  for (const auto& row : test::read_table(folder / "expected.tsv")) {
    auto bytes = read_file(folder / row.at(0), 1U << 26U).value();
    result.push_back({row.at(0), row.at(1), row.at(2),
                      row.at(0).ends_with(".tar") ? test::xz_of(bytes) : std::move(bytes)});
  }
  return result;
}

struct Outcome {
  TempDirectory folder;
  Result<std::vector<WrittenFile>> written;
};

Outcome unpack(const std::string& bytes, const std::string& name) {
  Outcome outcome{TempDirectory::create(fs::temp_directory_path(), "tar-").value(), {}};
  fs::create_directory(outcome.folder.path() / "inside");
  auto sink = TreeSink::open(outcome.folder.path() / "inside").value();
  const auto file = in_memory(bytes, name);
  FileStream stream(*file);
  XzMemory memory;
  Silent silent;
  outcome.written = extract_tar_xz(stream, "", sink, memory, silent, 0, {});
  return outcome;
}

TEST(TarCorpus, has_the_verdict_of_each_archive) {
  const auto all = cases("tar");
  EXPECT_FALSE(all.empty());
  for (const auto& one : all) {
    const auto outcome = unpack(one.bytes, one.file);
    const auto& written = outcome.written;
    EXPECT_EQ(list_directory(outcome.folder.path()).value(), std::vector<std::string>{"inside"});
    if (one.expected == "accept") {
      EXPECT_TRUE(written) << one.file << ": " << one.reason
                           << "\n  refused: " << (written ? "" : written.error().message);
    } else if (one.expected == "reject") {
      EXPECT_FALSE(written) << one.file << " is accepted: " << one.reason;
    }
    if (!written) {
      EXPECT_EQ(written.error().code, ErrorCode::integrity)
          << one.file << ": " << written.error().message;
    }
  }
}

std::string listing(const std::vector<WrittenFile>& files) {
  std::string text;
  for (const auto& file : files) {
    text += file.link.empty()
                ? fmt::format("{} {} {}\n", file.path.text(), file.size, file.sha256.hex())
                : fmt::format("{} -> {}\n", file.path.text(), file.link);
  }
  return text;
}

constexpr std::string_view k_python_listing = R"(
import hashlib, os, sys, tarfile
for path in sys.argv[1:]:
    lines = {}
    with tarfile.open(path) as archive:
        for info in archive:
            name = os.path.normpath(info.name)
            if info.issym():
                lines[name] = f"{name} -> {info.linkname}"
            elif not info.isdir():
                data = archive.extractfile(info).read()
                lines[name] = f"{name} {len(data)} {hashlib.sha256(data).hexdigest()}"
    for name in sorted(lines, key=str.encode):
        print(lines[name])
)";

/// Whatever we take, also where the corpus leaves the verdict open, is what Python takes.
TEST(TarCorpus, row28_reads_what_it_accepts_like_python) {
  auto environment = Environment::of_this_process();
  environment.set("PYTHONIOENCODING", "utf-8");
  const auto folder = test::corpus("tar");
  if (environment.find_program("python3").empty()) {
    GTEST_SKIP() << "python3 is not installed";
  }
  Command command{.arguments = {"python3", "-c", std::string(k_python_listing)},
                  .environment = environment,
                  .output_limit = 64U << 20U};
  std::string ours;
  for (const auto& one : cases("tar")) {
    const auto outcome = unpack(one.bytes, one.file);
    if (outcome.written) {
      ours += listing(*outcome.written);
      command.arguments.push_back((folder / one.file).string());
    }
  }
  const auto python = run_command(command);
  ASSERT_TRUE(python);
  EXPECT_EQ(python->errors, "");
  EXPECT_EQ(ours, python->output);
}

#ifdef CUKIT_COLLECTED
/// The stream's content, by the decoder alone.
Result<std::string> decode(std::string_view bytes) {
  XzDecoder decoder("corpus");
  decoder.feed({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  std::string content;
  std::vector<std::uint8_t> piece(1000);
  while (true) {
    CUKIT_TRY_ASSIGN(const auto step, decoder.step(piece));
    content.append(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(step.produced));
    if (step.status == XzDecoder::Status::needs_memory) {
      decoder.allow(decoder.memory_needed());
    } else if (step.status == XzDecoder::Status::finished) {
      return decoder.left_over() == 0 ? Result<std::string>(content)
                                      : fail(ErrorCode::integrity, "more behind");
    } else if (step.status == XzDecoder::Status::needs_input) {
      CUKIT_TRY(decoder.end());
    }
  }
}

TEST(XzCorpus, has_the_verdict_of_each_stream) {
  const auto all = cases("xz");
  EXPECT_FALSE(all.empty());
  for (const auto& one : all) {
    const auto content = decode(one.bytes);
    if (one.expected == "accept") {
      EXPECT_TRUE(content) << one.file << ": " << one.reason
                           << "\n  refused: " << (content ? "" : content.error().message);
    } else if (one.expected == "reject") {
      EXPECT_FALSE(content) << one.file << " is accepted: " << one.reason;
    }
    if (!content) {
      EXPECT_EQ(content.error().code, ErrorCode::integrity) << one.file;
    }
  }
}
#endif

} // namespace
} // namespace cukit::archive

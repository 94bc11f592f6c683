#include "archive/wheel.hpp"
#include "base/child.hpp"
#include "support/archive_forge.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace cukit::archive {
namespace {

using test::forge_wheel;
using test::forge_zip;
using test::ForgedWheel;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const ForgedWheel k_good{
    .files = {{"demo_tool/__init__.py", "print('hello')\n"}, {"demo_tool/data.txt", "data"}},
    .requires_dist = {"other-tool>=1", "third; extra == 'x'"}};

Result<Wheel> open_bytes(const std::string& bytes, Audit audit = Audit::whole) {
  const auto file = in_memory(bytes, "demo.whl");
  return open_wheel(*file, audit);
}

template <typename Change> std::string changed(Change change) {
  auto wheel = k_good;
  change(wheel);
  return forge_wheel(wheel);
}

template <typename Change> std::string message_of(Change change) {
  const auto bytes = changed(change);
  const auto whole = open_bytes(bytes);
  const auto ranged = open_bytes(bytes, Audit::ranged);
  EXPECT_EQ(whole.has_value(), ranged.has_value());
  if (whole) {
    return "accepted";
  }
  EXPECT_EQ(whole.error().code, ErrorCode::integrity);
  EXPECT_EQ(whole.error().where, "demo.whl");
  return whole.error().message;
}

TEST(MetadataValues, finds_repeated_headers_in_any_case_and_folded) {
  const std::string_view text = "Metadata-Version: 2.1\r\nName: Demo\r\nrequires-dist: a>=1\r\n"
                                "License: first\r\n  second\r\nRequires-Dist:   b\r\n\r\n"
                                "Requires-Dist: in the description\r\n";
  EXPECT_THAT(metadata_values(text, "Requires-Dist"), ElementsAre("a>=1", "b"));
  EXPECT_THAT(metadata_values(text, "license"), ElementsAre("first second"));
  EXPECT_THAT(metadata_values(text, "Summary"), IsEmpty());
  EXPECT_THAT(metadata_values("", "Name"), IsEmpty());
}

TEST(OpenWheel, tells_members_metadata_and_the_digest_of_record) {
  for (const auto audit : {Audit::whole, Audit::ranged}) {
    const auto bytes = forge_wheel(k_good);
    const auto wheel = open_bytes(bytes, audit);
    ASSERT_TRUE(wheel) << wheel.error().message;
    EXPECT_EQ(wheel->dist_info, "demo_tool-1.2.3.dist-info");
    EXPECT_THAT(metadata_values(wheel->metadata, "Requires-Dist"),
                ElementsAre("other-tool>=1", "third; extra == 'x'"));
    std::vector<std::string> paths;
    for (const auto& member : wheel->members) {
      paths.push_back(member.zip.path.text());
      EXPECT_EQ(member.sha256.has_value(), !member.zip.path.text().ends_with("RECORD"));
    }
    EXPECT_THAT(paths,
                ElementsAre("demo_tool-1.2.3.dist-info/METADATA",
                            "demo_tool-1.2.3.dist-info/RECORD", "demo_tool-1.2.3.dist-info/WHEEL",
                            "demo_tool/__init__.py", "demo_tool/data.txt"));
    const auto entries = test::wheel_entries(k_good);
    const auto& entry = entries.back();
    EXPECT_EQ(entry.name, "demo_tool-1.2.3.dist-info/RECORD");
    EXPECT_EQ(wheel->record, sha256_of(entry.content));
  }
}

TEST(OpenWheel, takes_signatures_of_record_that_it_does_not_list) {
  EXPECT_EQ(message_of([](auto& wheel) {
              wheel.unlisted = {{.name = "demo_tool-1.2.3.dist-info/RECORD.jws", .content = "{}"},
                                {.name = "demo_tool-1.2.3.dist-info/RECORD.p7s", .content = "x"}};
            }),
            "accepted");
}

TEST(OpenWheel, takes_a_newer_minor_version_of_the_format_and_other_spellings_of_the_name) {
  EXPECT_EQ(message_of([](auto& wheel) {
              wheel.wheel = "Wheel-Version: 1.9\n";
              wheel.metadata = "Name: Demo.Tool\nVersion: 1.2.3\n";
            }),
            "accepted");
}

TEST(OpenWheel, row33_refuses_a_record_that_is_not_complete_and_true) {
  const std::string path = "demo_tool/data.txt";
  const auto row = [&path](const std::string& text) {
    return message_of([&](auto& wheel) { wheel.rows[path] = text; });
  };
  const auto digest = test::record_digest("data");
  EXPECT_EQ(row(path + "," + digest + ",\n"), "accepted");
  EXPECT_THAT(row(""), HasSubstr("`demo_tool/data.txt` is not listed in RECORD"));
  EXPECT_THAT(row(path + ",,4\n"), HasSubstr("RECORD states no digest for"));
  EXPECT_THAT(row(path + "," + digest + ",5\n"), HasSubstr("has 4 bytes, RECORD says 5"));
  EXPECT_THAT(row(path + "," + digest + ",4\n" + path + "," + digest + ",4\n"),
              HasSubstr("RECORD lists `demo_tool/data.txt` twice"));
  EXPECT_THAT(row(path + ",md5=abc,4\n"), HasSubstr("no sha256"));
  EXPECT_THAT(message_of([](auto& wheel) { wheel.has_record = false; }),
              HasSubstr("the wheel has no `demo_tool-1.2.3.dist-info/RECORD`"));
  EXPECT_THAT(message_of([&](auto& wheel) { wheel.extra_rows = "gone.txt," + digest + ",4\n"; }),
              HasSubstr("RECORD lists `gone.txt`, which the wheel does not hold"));
  EXPECT_THAT(message_of([](auto& wheel) { wheel.unlisted = {{.name = "evil.pth"}}; }),
              HasSubstr("`evil.pth` is not listed in RECORD"));
  EXPECT_THAT(message_of([&](auto& wheel) {
                wheel.extra_rows = "demo_tool-1.2.3.dist-info/RECORD," + digest + ",4\n";
              }),
              HasSubstr("RECORD states a digest for itself"));
}

TEST(OpenWheel, refuses_metadata_that_does_not_match_record) {
  const std::string path = "demo_tool-1.2.3.dist-info/METADATA";
  EXPECT_THAT(message_of([&path](auto& wheel) {
                wheel.rows[path] = path + "," + test::record_digest("other") + ",\n";
              }),
              HasSubstr("METADATA` does not have the sha256 that RECORD states"));
}

TEST(OpenWheel, refuses_an_identity_that_contradicts_itself) {
  const auto metadata = [](const std::string& text) {
    return message_of([&text](auto& wheel) { wheel.metadata = text; });
  };
  EXPECT_THAT(metadata("Name: other\nVersion: 1.2.3\n"), HasSubstr("METADATA is of other 1.2.3"));
  EXPECT_THAT(metadata("Name: demo-tool\nVersion: 1.2.4\n"), HasSubstr("1.2.4, but lies in"));
  EXPECT_THAT(metadata("Name: demo-tool\nVersion: yes\n"), HasSubstr("the version `yes`"));
  EXPECT_THAT(metadata("Name: demo-tool\n"), HasSubstr("states `Version` 0 times"));
  EXPECT_THAT(metadata("Name: a\nName: b\nVersion: 1\n"), HasSubstr("states `Name` 2 times"));
  EXPECT_THAT(message_of([](auto& wheel) { wheel.wheel = "Wheel-Version: 2.0\n"; }),
              HasSubstr("format version `2.0`"));
  EXPECT_THAT(message_of([](auto& wheel) {
                wheel.files.emplace_back("second-1.0.dist-info/METADATA", "Name: second\n");
              }),
              HasSubstr("two dist-info folders"));
}

TEST(OpenWheel, refuses_an_archive_that_is_no_wheel) {
  const auto result = open_bytes(forge_zip({{.name = "a/b", .content = "c"}}));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("it has no dist-info folder"));
}

TEST(OpenWheel, reads_what_pythons_zipfile_writes) {
  const auto environment = Environment::of_this_process();
  if (environment.find_program("python3").empty()) {
    GTEST_SKIP() << "needs python3";
  }
  const auto folder = TempDirectory::create(fs::temp_directory_path(), "wheel-").value();
  const auto path = folder.path() / "written.whl";
  const std::string script = R"(
import base64, hashlib, sys, zipfile
files = {'pkg/__init__.py': b'x = 1\n' * 1000, 'pkg/sub dir/empty': b'',
         'pkg/\u00fcmlaut.txt': b'utf-8 name', 'pkg-1.0.dist-info/METADATA': b'Name: pkg\nVersion: 1.0\n',
         'pkg-1.0.dist-info/WHEEL': b'Wheel-Version: 1.0\n'}
record = ''
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as out:
    out.writestr('pkg/', b'')
    for name, data in files.items():
        # Before 3.11.4 a forced zip64 field said what no header field called for (gh-103861).
        forced = name.endswith('.py') and sys.version_info >= (3, 11, 4)
        with out.open(name, 'w', force_zip64=forced) as member:
            member.write(data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        record += f'{name},sha256={digest},{len(data)}\r\n'
    out.writestr('pkg-1.0.dist-info/RECORD', record + 'pkg-1.0.dist-info/RECORD,,\r\n')
)";
  const auto done = run_command(
      {.arguments = {"python3", "-c", script, path.string()}, .environment = environment});
  ASSERT_TRUE(done);
  ASSERT_EQ(done->errors, "");
  const auto file = open_local_file(path).value();
  const auto wheel = open_wheel(*file, Audit::whole);
  ASSERT_TRUE(wheel) << wheel.error().message;
  EXPECT_EQ(wheel->members.size(), 6U);
}

} // namespace
} // namespace cukit::archive

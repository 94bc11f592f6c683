#include "pipeline/unpack.hpp"

#include "archive/tar_xz.hpp"
#include "archive/wheel.hpp"
#include "base/strings.hpp"
#include "lock/placement.hpp"

namespace cukit::pipeline {

namespace {

Error other_record(const lock::Artifact& artifact, const Sha256& got, const std::string& where) {
  Error error{.code = ErrorCode::integrity, .message = {}, .where = where};
  error.message = fmt::format("RECORD of {} differs from the lock: expected {}, got {}",
                              artifact.file, artifact.record->text(), got.text());
  error.hint = "the source serves other bytes than were locked; use another source, or make the "
               "lock again";
  return error;
}

Result<Unpacked> fresh_folder(const store::Home& home) {
  CUKIT_TRY_ASSIGN(auto staging, store::Staging::create(home));
  CUKIT_TRY(make_directories(staging.path() / "files"));
  return Unpacked{std::move(staging), {}};
}

std::vector<store::EntryFile> entry_files(std::vector<archive::WrittenFile> written) {
  std::vector<store::EntryFile> files;
  files.reserve(written.size());
  for (auto& one : written) {
    files.push_back(store::EntryFile{.path = std::move(one.path),
                                     .size = one.size,
                                     .sha256 = one.sha256,
                                     .executable = one.executable,
                                     .link = std::move(one.link)});
  }
  return files;
}

} // namespace

Result<Unpacked> Unpacker::unpack(const lock::Artifact& artifact, const RandomAccess& file) {
  const bool is_part = artifact.record.has_value();
  const int work = session_.progress.begin(is_part ? fmt::format("{} (a part)", artifact.component)
                                                   : fmt::format("unpack {}", artifact.component),
                                           is_part ? 0 : artifact.size);
  auto result = artifact.source == "redist" ? unpack_archive(artifact, file, work)
                                            : unpack_wheel(artifact, file, work);
  session_.progress.end(work);
  if (!result) {
    return tl::unexpected<Error>(std::move(result).error().under(
        is_part ? fmt::format("cannot read a part of {}", artifact.file)
                : fmt::format("cannot unpack {}", artifact.file)));
  }
  return result;
}

Result<Unpacked> Unpacker::unpack_wheel(const lock::Artifact& artifact, const RandomAccess& file,
                                        int work) {
  const bool is_part = artifact.record.has_value();
  const auto audit = is_part ? archive::Audit::ranged : archive::Audit::whole;
  CUKIT_TRY_ASSIGN(const auto wheel, archive::open_wheel(file, audit));
  if (is_part && wheel.record != *artifact.record) {
    return tl::unexpected<Error>(other_record(artifact, wheel.record, redact_url(file.name())));
  }
  CUKIT_TRY_ASSIGN(auto result, fresh_folder(session_.home));
  CUKIT_TRY_ASSIGN(auto sink, archive::TreeSink::open(result.staging.path() / "files"));
  const auto wanted = [&](const RelativePath& path) {
    return !is_part || lock::belongs_to_part(artifact, path);
  };
  // A ranged read is one request after another: a pool of one thread keeps the members in the
  // file's order.
  std::optional<ThreadPool> alone;
  if (is_part) {
    alone.emplace(1U);
  }
  CUKIT_TRY_ASSIGN(auto written,
                   archive::extract(file, wheel, wanted, sink, is_part ? *alone : pool_,
                                    session_.progress, work, stop_));
  result.files = entry_files(std::move(written));
  return result;
}

Result<Unpacked> Unpacker::unpack_archive(const lock::Artifact& artifact, const RandomAccess& file,
                                          int work) {
  const auto top = archive::top_folder(artifact.file);
  if (top.empty()) {
    return fail(ErrorCode::integrity, "{} is no .tar.xz file", artifact.file);
  }
  CUKIT_TRY_ASSIGN(auto result, fresh_folder(session_.home));
  CUKIT_TRY_ASSIGN(auto sink, archive::TreeSink::open(result.staging.path() / "files"));
  archive::FileStream stream(file);
  CUKIT_TRY_ASSIGN(auto written, archive::extract_tar_xz(stream, top, sink, xz_memory_,
                                                         session_.progress, work, stop_));
  result.files = entry_files(std::move(written));
  return result;
}

} // namespace cukit::pipeline

#include "assemble/normalise.hpp"
#include "assemble/record.hpp"
#include "assemble/tree_writer.hpp"

#include <algorithm>

namespace cukit::assemble {

namespace {

Result<TreeFile> record_file(const char* name, std::string content) {
  TreeFile file;
  CUKIT_TRY_ASSIGN(file.path, RelativePath::parse(std::string(".cukit/") + name));
  file.size = content.size();
  file.content = std::move(content);
  return file;
}

class ProgressEnd {
public:
  ProgressEnd(Progress& progress, int work) : progress_(progress), work_(work) {}
  ProgressEnd(const ProgressEnd&) = delete;
  ProgressEnd& operator=(const ProgressEnd&) = delete;
  ~ProgressEnd() { progress_.end(work_); }

private:
  Progress& progress_;
  int work_;
};

} // namespace

Result<Tree> build(const lock::Lock& lock, const lock::PlatformLock& platform,
                   const std::vector<TreeFile>& files, const fs::path& folder, Placement placement,
                   Progress& progress, const std::stop_token& stop) {
  CUKIT_ENSURE(std::is_sorted(files.begin(), files.end(),
                              [](const auto& a, const auto& b) { return a.path < b.path; }),
               "a plan is sorted by path");
  const std::string list = write_files(files);
  Tree tree{folder,
            lock::tree_id(lock, platform),
            sha256_of(list),
            lock.release,
            platform.platform,
            component_versions(platform),
            {}};
  CUKIT_TRY_ASSIGN(auto content, record_file("content", tree.content.text() + "\n"));
  CUKIT_TRY_ASSIGN(auto listed, record_file("files", list));
  CUKIT_TRY_ASSIGN(auto input, record_file("input", write_input(lock, platform)));

  const int work = progress.begin("assembling", files.size(), "files");
  const ProgressEnd end(progress, work);
  CUKIT_TRY_ASSIGN(auto writer, TreeWriter::open(folder, placement));
  for (const auto* file : {&content, &listed, &input}) {
    CUKIT_TRY(writer.add(*file));
  }
  for (const auto& file : files) {
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted while assembling the tree");
    }
    CUKIT_TRY(writer.add(file));
    progress.advance(work, 1);
  }
  CUKIT_TRY(writer.finish());
  if (const auto complaint = writer.placer().complaint(); !complaint.empty()) {
    progress.say(complaint);
  }
  return tree;
}

} // namespace cukit::assemble

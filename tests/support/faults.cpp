#include "support/faults.hpp"

#include <stdexcept>

namespace cukit::test {

namespace {

TempDirectory notes_folder() {
  auto folder = TempDirectory::create(fs::temp_directory_path(), "cukit-notes-");
  if (!folder) {
    throw std::runtime_error(folder.error().message);
  }
  return std::move(*folder);
}

} // namespace

std::string no_faults_because() {
#ifdef CUKIT_FAULTY_FS
  return {};
#else
  return "the library that injects faults is not part of a build with sanitizers";
#endif
}

Faults::Faults(Playground& playground) : playground_(playground), notes_(notes_folder()) {
#ifdef CUKIT_FAULTY_FS
  playground_.environment.set("LD_PRELOAD", CUKIT_FAULTY_FS);
#endif
  playground_.environment.set("FAULTY_FS_PREFIX", playground_.path().string());
  playground_.environment.set("FAULTY_FS_REPORT", (notes_.path() / "report").string());
}

Faults::~Faults() {
  forget();
  for (const auto* name : {"LD_PRELOAD", "FAULTY_FS_PREFIX", "FAULTY_FS_REPORT"}) {
    playground_.environment.unset(name);
  }
}

Faults& Faults::fail(const std::string& rules) {
  playground_.environment.set("FAULTY_FS_FAIL", rules);
  return *this;
}

Faults& Faults::kill_at(int n) {
  playground_.environment.set("FAULTY_FS_KILL", std::to_string(n));
  return *this;
}

Faults& Faults::shuffle(unsigned seed) {
  playground_.environment.set("FAULTY_FS_SHUFFLE", std::to_string(seed));
  return *this;
}

Faults& Faults::keep_journal() {
  playground_.environment.set("FAULTY_FS_JOURNAL", journal_file().string());
  return *this;
}

fs::path Faults::journal_file() const {
  return notes_.path() / "journal";
}

std::string Faults::report() const {
  return read_file(notes_.path() / "report", 16U << 20U).value_or("");
}

void Faults::forget() {
  for (const auto* name :
       {"FAULTY_FS_FAIL", "FAULTY_FS_KILL", "FAULTY_FS_SHUFFLE", "FAULTY_FS_JOURNAL"}) {
    playground_.environment.unset(name);
  }
  std::error_code none;
  fs::remove(notes_.path() / "report", none);
  fs::remove(journal_file(), none);
}

} // namespace cukit::test

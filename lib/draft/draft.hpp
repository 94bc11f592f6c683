// A manifest to begin with (`cukit init`): each value with a comment that says where it comes from.
#pragma once

#include "knowledge/knowledge.hpp"
#include "lock/lock.hpp"
#include "machine/machine.hpp"
#include "python/venv.hpp"

namespace cukit::draft {

struct DraftField {
  std::string key;   ///< gpus, toolkit.nvcc ...
  std::string value; ///< as YAML spells it
  std::string comment;
  bool is_suggestion = false; ///< written, but commented out
};

struct Draft {
  std::string name;
  std::string origin;               ///< "this machine", "the venv DIR"
  std::vector<std::string> remarks; ///< what a person should know before the fields
  std::vector<DraftField> fields;
  [[nodiscard]] bool has(std::string_view key) const; ///< a suggestion does not count
  void add(DraftField field); ///< unless a field of that key is there: what was said first counts
};

/// A one-line YAML list.
std::string list_text(const std::vector<std::string>& items);

/// YAML that manifest::parse takes, fields in the order of manifests/README.md.
std::string write(const Draft& draft);

/// GPUs, driver and host compiler as they were seen here; fields that the draft has are left alone.
void add_machine(Draft& draft, const machine::Devices& devices,
                 const std::optional<machine::Compiler>& compiler);

/// Torch, and the consumers among the installed projects. `written` is the path as the manifest
/// will have it.
Result<void> add_venv(Draft& draft, const python::Venv& venv, const fs::path& folder,
                      const std::string& written, const knowledge::Knowledge& knowledge);

/// The wishes that lead to this lock again.
Result<void> add_lock(Draft& draft, const lock::Lock& lock, const std::string& file,
                      const knowledge::Knowledge& knowledge);

/// Release, compiler and components of a toolkit folder, from version.json or version.txt and the
/// macro in cuda_runtime_api.h; nothing of it is executed. An error (code usage) when it is none.
Result<void> add_tree(Draft& draft, const fs::path& folder, const knowledge::Knowledge& knowledge);

/// GPUs, torch, compilers and consumers that the log of a failed build names. An error (code usage)
/// when it names none of them.
Result<void> add_log(Draft& draft, std::string_view log, const std::string& file,
                     const knowledge::Knowledge& knowledge);

} // namespace cukit::draft

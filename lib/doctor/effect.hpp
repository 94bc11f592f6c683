// What carrying out a fix changes on a machine, as far as that can be told beforehand: a typed list
// beside the command, and the snapshot that would be taken afterwards. Pure.
#pragma once

#include "knowledge/knowledge.hpp"
#include "survey/snapshot.hpp"

#include <string>
#include <variant>
#include <vector>

namespace cukit::doctor {

struct SetsVariable {
  std::string name;
  std::string value;
  bool is_prepended = false; ///< VALUE goes before what the variable holds, with a colon between
};
struct UnsetsVariable {
  std::string name;
};
/// pip's or uv's install, as requirements: cuda-toolkit[nvcc,crt]==13.0.2
struct InstallsWheels {
  std::string prefix;
  std::vector<std::string> requirements;
};
struct RemovesWheel {
  std::string prefix;
  std::string name;
};
struct RemovesFolder {
  std::string path;
};
struct AddsCompiler {
  std::string path;
  std::string version; ///< may be empty
};
/// A package of the system or of conda that brings parts of a toolkit by the component's name.
struct AddsComponents {
  std::string root; ///< of the toolkit
  std::vector<std::string> components;
};
/// ln -s: a name in a library folder, or a library folder below a toolkit's root.
struct AddsLink {
  std::string path;
  std::string target; ///< as `ln -s` gets it
};

using Effect = std::variant<SetsVariable, UnsetsVariable, InstallsWheels, RemovesWheel,
                            RemovesFolder, AddsCompiler, AddsComponents, AddsLink>;

/// What is needed to know what a package brings.
struct Parts {
  const std::vector<knowledge::Component>& components;
  const std::vector<knowledge::Release>& releases;
};

/// The snapshot after these effects, in this order. What an effect does not tell stays as it was.
[[nodiscard]] survey::Snapshot after(survey::Snapshot snapshot, const std::vector<Effect>& effects,
                                     const Parts& parts);

} // namespace cukit::doctor

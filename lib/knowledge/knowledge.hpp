// What the recipes say: releases, GPUs, host compilers, PyTorch, components, consumers, kernels.
// Facts carry an evidence mark (documented, tested, derived, uncertain). Files are parsed when
// first asked for, so a command pays for what it uses.
#pragma once

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "knowledge/discovery.hpp"
#include "knowledge/variables.hpp"
#include "model/gpu_target.hpp"
#include "model/platform.hpp"
#include "model/version.hpp"
#include "text/node.hpp"

#include <map>
#include <memory>
#include <optional>

namespace cukit::knowledge {

struct Limits; // knowledge/limits.hpp

/// A CUDA minor release (13.0): what all its patch releases share.
struct Release {
  Version minor;         ///< 13.0
  Version ptx;           ///< the PTX ISA its cicc writes and its ptxas reads at most
  int driver_branch = 0; ///< the branch that came with it: its own CUDA version, PTX newer than
                         ///< this is not JIT-compiled
  int driver_floor = 0;  ///< oldest branch that runs it (minor version compatibility)
  Version cccl;          ///< the CCCL line it ships
  int gcc_max = 0;       ///< newest gcc major its headers accept
  int clang_min = 0;
  int clang_max = 0;
  std::string evidence;
  std::string doubt; ///< the key whose fact is less sure than the evidence says, or empty
};

struct Architecture {
  GpuTarget target; ///< plain
  std::string name; ///< Hopper
  Version first_cuda;
  std::optional<Version> last_cuda; ///< empty: still current
  std::optional<Version> a_since;   ///< sm_90a
  std::optional<Version> f_since;   ///< sm_120f
  bool tegra = false;               ///< runs no binary made for another chip of its major
  std::string evidence;
};

struct Product {
  std::string name;        ///< as NVIDIA writes it
  GpuTarget target;        ///< plain
  bool documented = false; ///< false: from a weak source
};

struct PyTorch {
  std::string tag; ///< cu130
  Version cuda;    ///< 13.0
  std::vector<Version>
      default_of; ///< minors of torch (2.11) whose wheels on the default index are these
};

/// How a component lies in NVIDIA's redistributables. Archives were read about, not opened:
/// assembly looks for what a component must bring wherever its archive has it.
struct RedistRecipe {
  std::string product = "cuda";     ///< whose manifest
  std::vector<std::string> names;   ///< keys of the manifest; the first that it has counts. Empty:
                                    ///< the component is in no manifest
  std::vector<std::string> headers; ///< what is taken where only headers are wanted
  std::vector<std::string> leave;
  std::vector<std::pair<std::string, std::string>> move;
  std::vector<std::string> provides; ///< files that it must bring, by their names in the tree
  std::string evidence;
  /// Releases before `before` differ: other files, or no archive of its own (`within` another
  /// component's, of which `files` are this one's).
  struct Older {
    Version before;
    std::string within;
    std::vector<std::string> files;
    std::vector<std::string> provides;
  };
  std::optional<Older> older;

  [[nodiscard]] bool is_older(const Version& cuda) const { return older && cuda < older->before; }
};

/// What a component is called in each source and what it is made of.
struct Component {
  std::string name; ///< nvcc
  std::string summary;
  std::string project; ///< of the Python index: nvidia-cuda-nvcc; {major} stands for CUDA's major;
                       ///< empty: it is in no wheel
  std::string extra;   ///< of the cuda-toolkit metapackage: nvcc
  std::string licence = "LicenseRef-NVIDIA-Proprietary";
  std::vector<std::string> needs; ///< other components that must come along
  /// How its version follows from the release: "core" (equal to nvcc's), "release" (pinned by the
  /// metapackage), "binutils" (same major, nvcc's minor or newer, from the first release that has
  /// it), "own" (numbers of its own, made for a CUDA major: the newest).
  std::string follows;
  bool has_minor_of_nvcc = false;   ///< of another minor than nvcc's it does not serve
  std::vector<Platform> platforms;  ///< empty: all
  std::string root = "nvidia/cu13"; ///< folder inside the artifact that becomes the tree's root
  std::vector<std::string>
      headers; ///< non-empty: when only headers are wanted these entries are taken ("include/")
  std::vector<std::string> leave;                        ///< entries never taken
  std::vector<std::pair<std::string, std::string>> move; ///< "a/ -> b/"
  std::vector<std::pair<std::string, std::string>> link; ///< link name -> target, both in the tree
  std::vector<std::string> provides;                     ///< files it must bring
  /// Parts that can come from another version of the same artifact: ptxas = bin/ptxas + bin/nvlink.
  std::map<std::string, std::vector<std::string>> parts;
  RedistRecipe redist;

  [[nodiscard]] std::string project_of(const Version& cuda) const; ///< {major} filled in
};

/// What a program or library holds code for: cubins, and PTX that a driver can compile for newer
/// GPUs.
struct CodeFor {
  std::vector<GpuTarget> cubins;
  std::optional<GpuTarget> ptx;
};

/// What one build of PyTorch was made with, as far as it is known.
struct TorchBuild {
  std::optional<Version> cuda; ///< always there; 12.8.1, or only 13.4
  std::optional<Version> cudnn;
  std::optional<Version> nccl;
  std::optional<CodeFor> code;     ///< of the wheel for x86_64; empty: not known
  std::optional<CodeFor> code_arm; ///< of the wheel for 64-bit Arm; empty: not known
};

struct TorchRelease {
  Version version;                          ///< 2.11.0
  std::string date;                         ///< 2026-03-18, or only 2026-03
  std::map<std::string, Version> needs;     ///< distributions that it pins: triton
  std::string default_tag;                  ///< of the build on the default index: cu130
  std::map<std::string, TorchBuild> builds; ///< by tag
  std::vector<Version> patches;             ///< later patch releases with the same builds
  std::string evidence;
  std::string doubt; ///< the keys that are less sure, or empty
};

/// What one release holds in one source, by the source's own names.
struct ReleaseTable {
  std::string source; ///< redist, wheels
  Version release;    ///< 13.0.2
  std::string date;   ///< 2025-10-09, or empty
  std::string evidence;
  std::map<std::string, Version> components;
};

/// The C library that the archives of a release need, from `from` on until the next fact of the
/// platform.
struct LeastGlibc {
  Platform platform;
  Version from;       ///< 12.5
  Version least;      ///< 2.28
  std::string system; ///< that has it: RHEL 8
  std::string evidence;
};

/// The variable that names a consumer's targets, and how they are written.
struct ArchVariable {
  std::string name;  ///< FLASHINFER_CUDA_ARCH_LIST
  std::string style; ///< "family" (12.0f, 9.0a), "plain" (12.0, 9.0), "number" (120, 90) or "major"
                     ///< (120, 90, 80 of 8.6: the first of each major)
  std::string separator; ///< between two targets
};

/// A folder where a consumer keeps what it compiled.
struct CachePlace {
  std::string variable;             ///< names the folder; empty: none does
  std::string usual;                ///< below the home folder, where the variable is not set
  std::string below;                ///< below either
  std::vector<std::string> entries; ///< folders below that which hold one thing each; * is any name
  bool holds_kernels = false;       ///< PTX and cubins alone; else build.ninja and libraries
};

/// What must be able to use the toolkit. The recipe itself tells the newest version.
struct Consumer {
  std::string name;
  std::string title; ///< as people write it; the name where the recipe says nothing
  std::string summary;
  std::vector<std::string> needs;   ///< components in whole; groups of the recipe are resolved
  std::vector<std::string> headers; ///< components of which the headers are needed
  std::map<std::string, std::string>
      minimum;     ///< "12.0", "12.x" or "any" -> least nvcc; the closest counts
  std::string why; ///< where the fact stands
  std::vector<SetVariable> environment;
  Reach reach;                        ///< further variables of a caller that lead it elsewhere
  std::vector<std::string> variables; ///< all that it reads; * at the end for any rest
  std::vector<CachePlace> caches;
  std::optional<VersionRange> takes_ptxas;  ///< versions of ptxas that it can work with
  std::vector<ArchVariable> arch_variables; ///< more than one where it uses another consumer
  std::vector<std::string> prebuilt;        ///< distributions with its kernels, compiled
  std::string bundle; ///< below a site-packages folder: a toolkit's parts that its wheel brings
  Discovery discovery;
  VersionRange when; ///< of an item of `versions`: the versions of the consumer that it tells of
  std::vector<Consumer> versions; ///< whole recipes for older ones, in the file's order
};
/// The recipe for a version of the consumer: the first of `versions` that holds it, else, and for
/// an unknown one, the consumer itself.
const Consumer& at_version(const Consumer& consumer, const std::optional<Version>& version);

/// Pointers that it gives out live as long as it or a copy of it. Safe from several threads.
class Knowledge {
public:
  /// The recipes inside the binary, or those of a folder (`--recipes DIR`).
  static Knowledge embedded();
  static Knowledge from(fs::path folder);

  Result<const std::vector<Release>*> releases() const;           ///< by minor, ascending
  Result<const std::vector<Architecture>*> architectures() const; ///< ascending
  Result<const std::vector<Product>*> products() const;
  Result<const std::vector<Component>*> components() const; ///< by name
  Result<const std::map<std::string, std::vector<std::string>>*>
  groups() const; ///< group -> components
  Result<const std::vector<Consumer>*> consumers() const;
  Result<const CommonVariables*> variables() const;
  Result<const Limits*> limits() const;
  Result<const std::vector<PyTorch>*> pytorch() const;
  Result<const std::vector<TorchRelease>*> torch_releases() const; ///< ascending
  Result<const std::vector<LeastGlibc>*> least_glibc() const;      ///< by platform, then release
  /// By release, then source.
  Result<const std::vector<ReleaseTable>*> tables() const;
  /// sha256 that an artifact of a known release must have, by file name; of its RECORD by "RECORD
  /// of FILE"; of a redistrib manifest by its path (cuda/redist/redistrib_13.0.2.json).
  Result<const std::map<std::string, Sha256>*> pins() const;

  /// Names alone, for which no recipe has to be parsed.
  Result<std::vector<std::string>> component_names() const;
  Result<std::vector<std::string>> consumer_names() const;

  /// How a file below recipes/ is called in messages: with its folder, where one was named.
  std::string display(const std::string& path) const;
  /// Text of one file below recipes/, e.g. kernels/plain/kernel.cu.
  Result<std::string> read(const std::string& path) const;
  Result<std::vector<std::string>>
  list(const std::string& folder) const; ///< paths below it, sorted

private:
  struct State;
  explicit Knowledge(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// A GPU as a person or its driver names it: sm_120, sm_120f, "12.0", a product ("RTX PRO 6000
/// Blackwell", "NVIDIA H100 80GB HBM3", whatever case and spacing; the beginning, or a part with
/// a number such as 5090, is enough when all products that have it have one target). Unknown ones,
/// and forms that an architecture does not have (sm_90f), are an error (code usage) with the
/// nearest known name.
Result<GpuTarget> find_gpu(const Knowledge& knowledge, std::string_view text);
const Release* find_release(const std::vector<Release>& releases,
                            const Version& version); ///< by major.minor
/// What the archives of `cuda` need; nullptr: it is not known.
const LeastGlibc* find_least_glibc(const std::vector<LeastGlibc>& list, Platform platform,
                                   const Version& cuda);
const Component* find_component(const std::vector<Component>& components, std::string_view name);
const Architecture* find_architecture(const std::vector<Architecture>& architectures,
                                      const GpuTarget& target);

} // namespace cukit::knowledge

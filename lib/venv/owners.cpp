#include "venv/owners.hpp"

#include "base/strings.hpp"
#include "base/thread_pool.hpp"
#include "survey/root_view.hpp"
#include "survey/scan.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace cukit::venv {

namespace {

struct Claim {
  const Dist* dist;
  const RecordRow* row;
};

/// A path below site-packages: who claims it and what stands there.
struct File {
  std::vector<Claim> claims = {};
  bool is_there = false;
  bool is_link = false;
  std::uint64_t size = 0;
  std::optional<Sha256> digest = {};
};
using Files = std::map<std::string, File>;

/// `nvidia/cu13/bin/nvcc` -> `nvidia/cu13`; files of `nvidia` itself stay there.
std::string folder_of(const std::string& path) {
  const auto first = path.find('/');
  const auto second = path.find('/', first + 1);
  return path.substr(0, second == std::string::npos ? first : second);
}

bool is_compiled_python(std::string_view path) {
  return path.ends_with(".pyc");
}

/// What wheels of CUDA bring, by where it lies and what it is called.
bool looks_like_cuda(std::string_view path) {
  const auto name = survey::name_of(path);
  return path.find("/include/") != std::string_view::npos || survey::is_cuda_library(name) ||
         path.find("/nvvm/") != std::string_view::npos ||
         path.find("/bin/") != std::string_view::npos || name.starts_with("libnv") ||
         name.starts_with("libcu");
}

Result<void> walk(const fs::path& site, const std::string& folder, Files& files,
                  CudaFolder* found) {
  CUKIT_TRY_ASSIGN(const auto names, list_directory(site / folder));
  for (const auto& name : names) {
    auto path = fmt::format("{}/{}", folder, name);
    struct stat info {};
    if (::lstat((site / path).c_str(), &info) != 0) {
      continue; // gone meanwhile
    }
    if (S_ISDIR(info.st_mode)) {
      CUKIT_TRY(walk(site, path, files, found));
      continue;
    }
    auto& file = files[std::move(path)];
    file.is_there = true;
    file.is_link = S_ISLNK(info.st_mode);
    if (file.is_link && ::stat((site / folder / name).c_str(), &info) != 0) {
      continue; // it leads nowhere
    }
    file.size = static_cast<std::uint64_t>(info.st_size);
    if (found != nullptr && !file.is_link) {
      found->bytes += file.size;
      found->hard_linked += info.st_nlink > 1 ? 1 : 0;
    }
  }
  return {};
}

bool has_right_size(const File& file, const Claim& claim) {
  return !claim.row->size || *claim.row->size == file.size;
}

/// Hashes what its owners know a digest of and what has the right size, on all processors.
void hash_files(const fs::path& site, Files& files, const std::stop_token& stop) {
  ThreadPool pool;
  for (auto& [path, file] : files) {
    const bool is_wanted =
        file.is_there && std::any_of(file.claims.begin(), file.claims.end(), [&](const Claim& one) {
          return one.row->sha256 && has_right_size(file, one);
        });
    if (is_wanted) {
      pool.submit(
          [&file = file, whole = site / path, &stop] {
            if (stop.stop_requested()) {
              return;
            }
            if (const auto digest = sha256_of_file(whole)) {
              file.digest = *digest;
            }
          },
          file.size);
    }
  }
}

bool matches(const File& file, const Claim& claim, Depth depth) {
  return has_right_size(file, claim) && (depth == Depth::sizes || !claim.row->sha256 ||
                                         (file.digest && *file.digest == *claim.row->sha256));
}

FileFact judge(const std::string& path, const File& file, Depth depth) {
  FileFact fact{.path = path};
  for (const auto& claim : file.claims) {
    fact.owners.push_back(claim.dist->name);
  }
  if (!file.is_there) {
    fact.state = FileState::missing;
  } else if (file.claims.empty()) {
    fact.state = !file.is_link && looks_like_cuda(path) ? FileState::stale : FileState::foreign;
  } else {
    std::size_t fitting = 0;
    for (const auto& claim : file.claims) {
      if (matches(file, claim, depth)) {
        ++fitting;
        fact.bytes_of = claim.dist->name;
      }
    }
    fact.state = fitting < file.claims.size() ? FileState::clobbered
                 : fitting > 1                ? FileState::shared
                                              : FileState::own;
    if (fact.state != FileState::clobbered) {
      fact.bytes_of.clear();
    }
  }
  return fact;
}

std::vector<std::string> folders_below(const fs::path& site) {
  std::vector<std::string> result;
  const auto names = list_directory(site / "nvidia");
  for (const auto& name : names.value_or(std::vector<std::string>())) {
    if (folder_exists(site / "nvidia" / name) && name != "__pycache__") {
      result.push_back("nvidia/" + name);
    }
  }
  return result;
}

void add_claims(const fs::path& site, const Inventory& inventory, Files& files) {
  for (const auto& dist : inventory.dists) {
    for (const auto& row : dist.files) {
      if (dist.site == site && !is_compiled_python(row.path)) {
        files[row.path].claims.push_back({&dist, &row});
      }
    }
  }
}

void sort_into(const Files& files, Depth depth, std::map<std::string, CudaFolder>& folders) {
  for (const auto& [path, file] : files) {
    if (is_compiled_python(path)) {
      continue;
    }
    const auto found = folders.find(folder_of(path));
    if (found == folders.end()) {
      continue;
    }
    auto fact = judge(path, file, depth);
    auto& folder = found->second;
    ++folder.count[fact.state];
    for (const auto& owner : fact.owners) {
      ++folder.files_of[owner];
    }
    if (fact.state != FileState::own) {
      folder.odd.push_back(std::move(fact));
    }
  }
}

} // namespace

Result<void> look_at_folders(const fs::path& site, Depth depth, Inventory& inventory,
                             const std::stop_token& stop) {
  Files files;
  add_claims(site, inventory, files);
  std::map<std::string, CudaFolder> folders;
  for (const auto& [path, file] : files) { // also those of which nothing is left
    const auto name = folder_of(path);
    folders.emplace(name, CudaFolder{.name = name, .path = site / name});
  }
  for (const auto& name : folders_below(site)) {
    auto& folder =
        folders.emplace(name, CudaFolder{.name = name, .path = site / name}).first->second;
    CUKIT_TRY(walk(site, name, files, &folder));
  }
  for (auto& [path, file] : files) { // files of nvidia/ itself are not walked
    struct stat info {};
    if (!file.is_there && folder_of(path) == "nvidia" &&
        ::stat((site / path).c_str(), &info) == 0) {
      file.is_there = true;
      file.size = static_cast<std::uint64_t>(info.st_size);
    }
  }
  if (depth == Depth::bytes) {
    hash_files(site, files, stop);
    if (stop.stop_requested()) {
      return fail(ErrorCode::interrupted, "interrupted");
    }
  }
  sort_into(files, depth, folders);
  const survey::RootView view("/");
  for (auto& [name, folder] : folders) {
    if (name != "nvidia") {
      folder.toolkit = survey::scan_toolkit(view, {.root = folder.path.string(),
                                                   .found_by = "venv",
                                                   .environment = {},
                                                   .reads_programs = depth == Depth::bytes});
    }
    inventory.folders.push_back(std::move(folder));
  }
  return {};
}

} // namespace cukit::venv

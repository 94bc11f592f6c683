#include "venv/stage.hpp"

#include "base/limits.hpp"
#include "base/strings.hpp"
#include "venv/layout.hpp"

#include <algorithm>
#include <fcntl.h>
#include <linux/fs.h>
#include <set>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cukit::venv {

namespace {

constexpr const char* k_installer = "cukit\n";

/// A file of its own with the bytes of another: shared until somebody writes, where the file system
/// can do that.
Result<void> clone(const fs::path& from, const fs::path& to, bool executable) {
  CUKIT_TRY(make_directories(to.parent_path()));
  CUKIT_TRY_ASSIGN(const Fd source, open_file(from, O_RDONLY | O_NOFOLLOW));
  CUKIT_TRY_ASSIGN(Fd target, open_file(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  if (::ioctl(target.get(), FICLONE, source.get()) != 0) {
    if (auto copied = copy_bytes(source.get(), target.get(), "cannot read a file of the store");
        !copied) {
      return tl::unexpected<Error>(
          std::move(copied.error()).under(fmt::format("cannot write {}", to.string())));
    }
  }
  if (::fchmod(target.get(), executable ? 0755 : 0644) != 0) {
    return fail_errno(errno, "cannot set the mode of {}", to.string());
  }
  return target.close();
}

class Stager {
public:
  Stager(const Inventory& inventory, const Plan& plan, Journal& journal)
      : inventory_(inventory), plan_(plan), journal_(journal) {
    for (const auto& change : plan.changes) {
      leaving_.insert(change.project);
    }
    if (plan.makes_layout) {
      leaving_.insert(k_layout_project);
    }
  }

  Result<void> run(const std::map<std::string, store::Entry>& entries) {
    for (const auto& dist : inventory_.dists) {
      if (leaving_.contains(dist.name)) {
        CUKIT_TRY(take_old(dist));
      }
    }
    std::vector<std::string> what;
    for (const auto& change : plan_.changes) {
      const auto entry = entries.find(lock::store_key(change.artifact));
      CUKIT_ENSURE(entry != entries.end(), "every artifact of the plan was obtained");
      CUKIT_TRY(add_new(change, entry->second));
      what.push_back(change.from.empty() ? fmt::format("{} {}", change.project, change.to.text())
                                         : fmt::format("{} {} -> {}", change.project, change.from,
                                                       change.to.text()));
    }
    if (plan_.makes_layout) {
      CUKIT_TRY(add_layout());
      what.push_back(fmt::format("{} {}", k_layout_project, plan_.release.text()));
    }
    journal_.what = join(what, ", ");
    return add_rows();
  }

private:
  /// Every file that an installed distribution says is its own, and what lies in its dist-info.
  Result<void> take_old(const Dist& dist) {
    if (dist.site != plan_.site) {
      return refuse(fmt::format("{} lies in {}, and the rest of CUDA in {}", dist.name,
                                dist.site.string(), plan_.site.string()),
                    "uninstall it there, then run the command again");
    }
    const auto record = read_file(dist.info / "RECORD", limits::k_metadata_bytes);
    std::string outside;
    for_each_row(
        record.value_or(""), [](std::string_view) { return true; },
        [&](RecordRow row) {
          const auto path = RelativePath::parse(fs::path(row.path).lexically_normal().string());
          if (path) {
            old_.insert(path->text());
          } else {
            outside = row.path;
          }
        });
    if (!outside.empty()) {
      return refuse(fmt::format("RECORD of {} names a file outside of site-packages: {}", dist.name,
                                printable(outside)),
                    fmt::format("nothing was changed; find out where {} came from, and uninstall "
                                "it by hand",
                                dist.name));
    }
    CUKIT_TRY_ASSIGN(const auto names, list_directory(dist.info));
    const auto info = dist.info.filename().string();
    was_requested_[dist.name] = std::find(names.begin(), names.end(), "REQUESTED") != names.end();
    for (const auto& name : names) {
      if (!folder_exists(dist.info / name)) {
        old_.insert(info + "/" + name);
      }
    }
    return {};
  }

  Result<void> add_new(const Change& change, const store::Entry& entry) {
    std::string info;
    std::string rows;
    for (const auto& file : entry.list) {
      const auto& path = file.path.text();
      const auto top = path.substr(0, path.find('/'));
      if (top.ends_with(".data")) {
        return refuse(
            fmt::format("{} has files for other places than site-packages", change.artifact.file),
            "install it with pip");
      }
      if (top.ends_with(".dist-info")) {
        info = top;
        const auto name = path.substr(top.size() + 1);
        if (name == "RECORD" || name == "INSTALLER" || name == "REQUESTED") {
          continue; // an installer's own
        }
      }
      CUKIT_TRY(clone(entry.files / path, journal_.folder / "new" / path, file.executable));
      CUKIT_TRY(claim(change.project, path, file.sha256.text()));
      rows += record_line(path, file.sha256, file.size);
    }
    CUKIT_TRY(add_made(change.project, info + "/INSTALLER", k_installer, &rows));
    if (was_requested_[change.project]) {
      CUKIT_TRY(add_made(change.project, info + "/REQUESTED", "", &rows));
    }
    rows += record_line(info + "/RECORD");
    return add_made(change.project, info + "/RECORD", rows, nullptr);
  }

  /// The toolkit's files as they will be, with where the bytes of each are now.
  Result<void> list_files(const std::string& folder, std::map<std::string, fs::path>& files) const {
    if (!folder_exists(journal_.site / folder)) {
      return {};
    }
    CUKIT_TRY_ASSIGN(const auto names, list_directory(journal_.site / folder));
    for (const auto& name : names) {
      const auto path = folder + "/" + name;
      if (!old_.contains(path)) {
        files.emplace(path, journal_.site / path);
      }
    }
    return {};
  }

  Result<void> add_layout() {
    std::map<std::string, fs::path> files;
    for (const char* folder : {"", "/lib", "/lib/stubs", "/include", "/nvvm/lib64"}) {
      CUKIT_TRY(list_files(plan_.root + folder, files));
    }
    for (const auto& [path, bytes] : new_) {
      files[path] = journal_.folder / "new" / path;
    }
    CUKIT_TRY_ASSIGN(const auto made, layout_for(files, plan_.root, Platform::host()));
    const auto version = plan_.release.text();
    const auto info = fmt::format("cukit_cuda_layout-{}.dist-info", version);
    std::string rows;
    for (const auto& file : made) {
      if (file.link.empty()) {
        CUKIT_TRY(add_made(k_layout_project, file.path, file.bytes, &rows));
        continue;
      }
      const auto link = journal_.folder / "new" / file.path;
      CUKIT_TRY(make_directories(link.parent_path()));
      if (::symlink(file.link.c_str(), link.c_str()) != 0) {
        return fail_errno(errno, "cannot make the link {}", link.string());
      }
      CUKIT_TRY(claim(k_layout_project, file.path, "link:" + file.link));
      rows += record_line(file.path);
    }
    CUKIT_TRY(add_made(k_layout_project, info + "/INSTALLER", k_installer, &rows));
    CUKIT_TRY(add_made(k_layout_project, info + "/METADATA", layout_metadata(version), &rows));
    CUKIT_TRY(add_made(k_layout_project, info + "/WHEEL", layout_wheel(), &rows));
    rows += record_line(info + "/RECORD");
    return add_made(k_layout_project, info + "/RECORD", rows, nullptr);
  }

  Result<void> add_made(const std::string& project, const std::string& path,
                        const std::string& bytes, std::string* rows) {
    const auto file = journal_.folder / "new" / path;
    CUKIT_TRY(make_directories(file.parent_path()));
    CUKIT_TRY(create_file(file, bytes));
    const auto digest = sha256_of(bytes);
    if (rows != nullptr) {
      *rows += record_line(path, digest, bytes.size());
    }
    return claim(project, path, digest.text());
  }

  Result<void> claim(const std::string& project, const std::string& path, const Identity& bytes) {
    if (const auto [at, is_new] = new_.emplace(path, bytes); !is_new && at->second != bytes) {
      return refuse(fmt::format("two wheels of the plan have other bytes for {}", path),
                    "this is a mistake in the wheels; please report it");
    }
    for (const auto& dist : inventory_.dists) {
      if (leaving_.contains(dist.name)) {
        continue;
      }
      for (const auto& row : dist.files) {
        if (row.path == path && row.sha256 && row.sha256->text() != bytes) {
          return refuse(fmt::format("{} of {} is a file of {} too, with other bytes", path, project,
                                    dist.name),
                        fmt::format("uninstall {}, or use a toolkit beside the environment (`cukit "
                                    "venv wire`)",
                                    dist.name));
        }
      }
    }
    return {};
  }

  /// Files that stay with another distribution stay; what stands where a new file comes is kept for
  /// taking back, whoever brought it.
  Result<void> add_rows() {
    for (const auto& dist : inventory_.dists) {
      if (!leaving_.contains(dist.name)) {
        for (const auto& row : dist.files) {
          old_.erase(row.path);
        }
      }
    }
    std::set<std::string> paths = old_;
    for (const auto& [path, bytes] : new_) {
      paths.insert(path);
    }
    std::set<fs::path> checked;
    for (const auto& path : paths) {
      CUKIT_TRY(check_folder((journal_.site / path).parent_path(), checked));
      CUKIT_TRY_ASSIGN(auto before, identity_of(journal_.site / path));
      const auto found = new_.find(path);
      auto after = found == new_.end() ? Identity() : found->second;
      if (before == after) { // what is right already keeps its place
        std::error_code none;
        fs::remove(journal_.folder / "new" / path, none);
        continue;
      }
      journal_.rows.push_back({path, std::move(before), std::move(after)});
    }
    return {};
  }

  Result<void> check_folder(fs::path folder, std::set<fs::path>& checked) {
    while (folder != journal_.site && checked.insert(folder).second) {
      std::error_code none;
      if (fs::is_symlink(folder, none)) {
        return refuse(fmt::format("{} is a link: a change there would reach what it leads to",
                                  folder.string()),
                      "put a folder in its place, or use a toolkit beside the environment (`cukit "
                      "venv wire`)");
      }
      if (folder_exists(folder)) {
        CUKIT_TRY(check_changeable(inventory_.place, folder));
      }
      folder = folder.parent_path();
    }
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> refuse(std::string message, std::string hint) const {
    return tl::unexpected<Error>(Error{.code = ErrorCode::host,
                                       .message = std::move(message),
                                       .where = inventory_.place.prefix.string(),
                                       .hint = std::move(hint)});
  }

  const Inventory& inventory_;
  const Plan& plan_;
  Journal& journal_;
  std::set<std::string> leaving_;
  std::map<std::string, bool> was_requested_;
  std::set<std::string> old_;
  std::map<std::string, Identity> new_;
};

} // namespace

Result<void> stage(const Inventory& inventory, const Plan& plan,
                   const std::map<std::string, store::Entry>& entries, Journal& journal) {
  return Stager(inventory, plan, journal).run(entries);
}

} // namespace cukit::venv

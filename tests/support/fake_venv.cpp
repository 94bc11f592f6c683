#include "support/fake_venv.hpp"

#include "base/sha256.hpp"
#include "support/archive_forge.hpp"

#include <set>
#include <sys/stat.h>

namespace cukit::test {

namespace {

constexpr const char* k_activate = R"sh(deactivate () {
    if [ -n "${_OLD_VIRTUAL_PATH:-}" ] ; then
        PATH="${_OLD_VIRTUAL_PATH:-}"
        export PATH
        unset _OLD_VIRTUAL_PATH
    fi
    unset VIRTUAL_ENV
    if [ ! "${1:-}" = "nondestructive" ] ; then
        unset -f deactivate
    fi
}
deactivate nondestructive
VIRTUAL_ENV="@VENV@"
export VIRTUAL_ENV
_OLD_VIRTUAL_PATH="$PATH"
PATH="$VIRTUAL_ENV/bin:$PATH"
export PATH
)sh";

constexpr const char* k_fish = R"fish(function deactivate -d "Exit virtual environment"
    if test -n "$_OLD_VIRTUAL_PATH"
        set -gx PATH $_OLD_VIRTUAL_PATH
        set -e _OLD_VIRTUAL_PATH
    end
    set -e VIRTUAL_ENV
    if test "$argv[1]" != "nondestructive"
        functions -e deactivate
    end
end
deactivate nondestructive
set -gx VIRTUAL_ENV "@VENV@"
set -gx _OLD_VIRTUAL_PATH $PATH
set -gx PATH "$VIRTUAL_ENV/bin" $PATH
)fish";

constexpr const char* k_csh =
    R"csh(alias deactivate 'test $?_OLD_VIRTUAL_PATH != 0 && setenv PATH "$_OLD_VIRTUAL_PATH" && unset _OLD_VIRTUAL_PATH; rehash; unsetenv VIRTUAL_ENV; test "\!:*" != "nondestructive" && unalias deactivate'
deactivate nondestructive
setenv VIRTUAL_ENV "@VENV@"
set _OLD_VIRTUAL_PATH="$PATH"
setenv PATH "$VIRTUAL_ENV/bin:$PATH"
)csh";

std::string filled(std::string text, const std::string& venv) {
  const auto at = text.find("@VENV@");
  return text.replace(at, 6, venv);
}

std::string folder_name(std::string project, const std::string& version) {
  for (auto& c : project) {
    c = c == '-' ? '_' : c;
  }
  return fmt::format("{}-{}.dist-info", project, version);
}

std::set<std::string> files_below(const fs::path& folder) {
  std::set<std::string> result;
  std::error_code none;
  for (fs::recursive_directory_iterator it(folder / "nvidia", none), end; !none && it != end;
       ++it) {
    if (!it->is_directory()) {
      result.insert(it->path().lexically_relative(folder).string());
    }
  }
  return result;
}

} // namespace

FakeVenv::FakeVenv() {
  root.venv("/venv");
  put("bin/activate", filled(k_activate, path().string()));
  put("bin/activate.fish", filled(k_fish, path().string()));
  put("bin/activate.csh", filled(k_csh, path().string()));
}

void FakeVenv::put(const std::string& path, const std::string& text) const {
  root.put("/venv/" + path, text);
}

std::string FakeVenv::read(const std::string& path) const {
  return read_file(this->path() / path, 1U << 24U).value_or("");
}

void FakeVenv::record(const std::string& info, const std::vector<std::string>& paths) const {
  std::string rows;
  for (const auto& one : paths) {
    const auto bytes = read_file(site() / one, 1U << 24U).value_or("");
    rows += fmt::format("{},{},{}\n", one, record_digest(bytes), bytes.size());
  }
  const auto in_venv = "lib/python3.11/site-packages/" + info;
  put(in_venv + "/INSTALLER", "pip\n");
  put(in_venv + "/RECORD", rows + info + "/RECORD,,\n");
}

void FakeVenv::wheel(const std::string& project, const std::string& version,
                     const std::map<std::string, std::string>& files,
                     const std::vector<std::string>& requirements) const {
  root.dist("/venv/lib/python3.11/site-packages", project, version, requirements);
  std::vector<std::string> paths;
  for (const auto& [file, text] : files) {
    put("lib/python3.11/site-packages/" + file, text);
    paths.push_back(file);
  }
  record(folder_name(project, version), paths);
}

void FakeVenv::cuda(const FakeRoot::Wheels& wheels) const {
  using Wheels = FakeRoot::Wheels;
  for (const auto& [project, field] : {std::pair{"nvidia-cuda-nvcc", &Wheels::nvcc},
                                       {"nvidia-nvvm", &Wheels::nvvm},
                                       {"nvidia-cuda-crt", &Wheels::crt},
                                       {"nvidia-cuda-runtime", &Wheels::runtime},
                                       {"nvidia-cuda-cccl", &Wheels::cccl}}) {
    if ((wheels.*field).empty()) {
      continue;
    }
    const auto before = files_below(site());
    Wheels one;
    one.*field = wheels.*field;
    root.wheels("/venv/lib/python3.11/site-packages", one);
    std::vector<std::string> added;
    for (const auto& file : files_below(site())) {
      if (!before.contains(file)) {
        added.push_back(file);
      }
    }
    record(folder_name(project, wheels.*field), added);
  }
}

void FakeVenv::torch(const std::string& toolkit,
                     const std::map<std::string, std::string>& pins) const {
  std::vector<std::string> of_toolkit;
  std::string extras;
  for (const auto& [project, version] : pins) {
    const auto extra = project.substr(project.rfind('-') + 1);
    of_toolkit.push_back(fmt::format("{}=={}.*; extra == \"{}\"", project, version, extra));
    extras += (extras.empty() ? "" : ",") + extra;
  }
  wheel("cuda-toolkit", toolkit, {}, of_toolkit);
  wheel("torch", "2.11.0+cu130", {{"torch/version.py", "cuda = '13.0'\n"}},
        {fmt::format("cuda-toolkit[{}]=={}; platform_system == \"Linux\"", extras, toolkit)});
}

void FakeVenv::remove_dist(const std::string& folder) const {
  static_cast<void>(remove_tree(site() / folder));
}

std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> result;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto name = entry.path().lexically_relative(folder).string();
    struct stat info {};
    ::lstat(entry.path().c_str(), &info);
    if (entry.is_symlink()) {
      result[name] = "-> " + fs::read_symlink(entry.path()).string();
    } else if (entry.is_directory()) {
      result[name] = "folder";
    } else {
      result[name] = fmt::format("{:o} ", info.st_mode) +
                     read_file(entry.path(), 1U << 26U).value_or("unreadable");
    }
  }
  return result;
}

} // namespace cukit::test

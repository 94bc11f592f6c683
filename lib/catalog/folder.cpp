#include "catalog/folder.hpp"

#include "base/strings.hpp"
#include "base/thread_pool.hpp"
#include "model/project_name.hpp"

#include <algorithm>

namespace cukit::catalog {

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error); // a mirror may be made of links
}

namespace {

void add_wheel(const fs::path& folder, const std::string& name, const std::string& project,
               std::vector<WheelFile>& wheels) {
  auto wheel = parse_wheel_name(name);
  if (!wheel || wheel->project != project || !is_file(folder / name)) {
    return;
  }
  std::error_code error;
  const auto size = fs::file_size(folder / name, error);
  wheel->size = error ? 0 : size;
  wheel->url = (folder / name).string();
  const bool known = std::any_of(wheels.begin(), wheels.end(),
                                 [&](const WheelFile& other) { return other.file == wheel->file; });
  if (!known) {
    wheels.push_back(*std::move(wheel));
  }
}

bool is_project_folder(const fs::path& folder, const std::string& name,
                       const std::string& project) {
  std::error_code error;
  return normalised_project(name) == project && fs::is_directory(folder / name, error);
}

} // namespace

Result<std::vector<WheelFile>> wheels_in_folder(const fs::path& folder,
                                                const std::string& project) {
  auto names = list_directory(folder);
  if (!names) {
    auto error = std::move(names).error().under(
        fmt::format("cannot read the folder {} as an index", folder.string()));
    error.code = ErrorCode::source;
    error.hint = "give the folder that holds the wheels, or a folder for each project";
    return tl::unexpected<Error>(std::move(error));
  }
  std::vector<WheelFile> wheels;
  for (const auto& name : *names) {
    add_wheel(folder, name, project, wheels);
    if (is_project_folder(folder, name, project)) {
      CUKIT_TRY_ASSIGN(const auto inner, list_directory(folder / name));
      for (const auto& file : inner) {
        add_wheel(folder / name, file, project, wheels);
      }
    }
  }
  std::sort(wheels.begin(), wheels.end(), [](const WheelFile& a, const WheelFile& b) {
    const auto order = a.version <=> b.version;
    return order != 0 ? order < 0 : a.file < b.file;
  });
  return wheels;
}

std::vector<fs::path> find_in_folder(const fs::path& folder, const std::string& file) {
  std::vector<fs::path> found;
  if (is_file(folder / file)) {
    found.push_back(folder / file);
  }
  const auto wheel = parse_wheel_name(file);
  const auto names = list_directory(folder);
  if (!wheel || !names) {
    return found;
  }
  for (const auto& name : *names) {
    if (is_project_folder(folder, name, wheel->project) && is_file(folder / name / file)) {
      found.push_back(folder / name / file);
    }
  }
  return found;
}

Result<void> hash_wheels(std::vector<WheelFile>& wheels, const std::stop_token& stop) {
  std::vector<Result<Sha256>> digests(wheels.size(), Sha256());
  {
    ThreadPool pool;
    for (std::size_t i = 0; i < wheels.size(); ++i) {
      pool.submit(
          [&, i] {
            if (!stop.stop_requested()) {
              digests[i] = sha256_of_file(wheels[i].url);
            }
          },
          wheels[i].size);
    }
  } // the pool ends when all is done
  if (stop.stop_requested()) {
    return fail(ErrorCode::interrupted, "interrupted");
  }
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    CUKIT_TRY_ASSIGN(wheels[i].sha256, std::move(digests[i]));
  }
  return {};
}

} // namespace cukit::catalog

// What the dynamic loader would do with the libraries of a Python environment: torch's own first,
// since everything that needs torch is imported after it, then each extension by itself.
#include "base/strings.hpp"
#include "survey/loader.hpp"
#include "survey/scan.hpp"

#include <algorithm>
#include <deque>

namespace cukit::survey {

namespace {

constexpr std::size_t k_most_problems = 50;
constexpr std::size_t k_most_missing = 8;
constexpr std::size_t k_most_objects = 200;

/// libnvJitLink.so.12 -> nvJitLink: what its exports begin with. libcudart's begin with cuda.
std::string export_prefix(std::string_view library) {
  if (!library.starts_with("lib")) {
    return {};
  }
  library.remove_prefix(3);
  const auto stem = library.substr(0, library.find(".so"));
  return stem == "cudart" ? "cuda" : std::string(stem.substr(0, stem.find('_')));
}

bool begins_like(std::string_view symbol, std::string_view prefix) {
  if (symbol.starts_with("__")) { // __nvJitLinkCreate_12_8
    symbol.remove_prefix(2);
  }
  return !prefix.empty() && symbol.starts_with(prefix);
}

/// Of several libraries the one whose prefix says most: cublasLt before cublas.
std::string owner_of(std::string_view symbol, const std::vector<std::string>& libraries) {
  std::string best;
  std::size_t length = 0;
  for (const auto& library : libraries) {
    const auto prefix = export_prefix(library);
    if (prefix.size() > length && begins_like(symbol, prefix)) {
      best = library;
      length = prefix.size();
    }
  }
  return best;
}

class Simulation {
public:
  Simulation(const RootView& view, const Loader& loader, PythonEnvironment& python)
      : view_(view), loader_(loader), python_(python) {
    for (const auto& site : python.site_packages) {
      add_own(site);
    }
    for (const auto& name : {"bin/python3", "bin/python"}) {
      if (const auto* program = object(join_path(python.prefix, name))) {
        program_ = program;
        break;
      }
    }
  }

  void run() {
    for (const auto& path : torch_) {
      load(path, "torch", after_torch_);
    }
    for (const auto& extension : python_.extensions) {
      // what does not import torch has nothing loaded before it
      Loaded loaded = needs_torch(extension) ? after_torch_ : Loaded();
      load(extension.path, extension.distribution, loaded);
    }
  }

private:
  using Loaded = std::map<std::string, TakenLibrary>; ///< by SONAME

  void add_own(const std::string& site) {
    const auto nvidia = join_path(site, "nvidia");
    for (const auto& project : view_.list(nvidia)) {
      const auto folder = join_path(join_path(nvidia, project), "lib");
      for (const auto& name : view_.list(folder)) {
        if (name.find(".so") != std::string::npos) {
          own_.emplace(name, join_path(folder, name));
        }
      }
    }
    const auto torch = join_path(site, "torch/lib");
    for (const auto& name : view_.list(torch)) {
      if (name.ends_with(".so")) {
        own_.emplace(name, join_path(torch, name));
        torch_.push_back(join_path(torch, name));
      }
    }
    for (const auto& clobber : python_.clobbers) {
      clobbered_.insert(clobber.path);
    }
  }

  /// Remembered: the same libraries are met again and again. Nothing for what is no ELF file.
  const Loading* object(const std::string& path) {
    const auto entry = view_.find(path);
    if (!entry || !entry->is_regular) {
      return nullptr;
    }
    const auto [place, is_new] = objects_.try_emplace(entry->real);
    if (is_new) {
      if (auto link = read_elf_link(view_, entry->real)) {
        place->second = Loading{.path = entry->real, .link = *std::move(link)};
      }
    }
    return place->second ? &*place->second : nullptr;
  }

  bool needs_torch(const Extension& extension) {
    const auto* dist = find_distribution(python_, extension.distribution);
    const bool requires_it =
        dist != nullptr &&
        std::any_of(dist->requirements.begin(), dist->requirements.end(), [](const auto& text) {
          return text.starts_with("torch") &&
                 (text.size() == 5 ||
                  std::string_view(" <>=!~;([").find(text[5]) != std::string_view::npos);
        });
    const auto* loading = object(extension.path);
    return requires_it || (loading != nullptr &&
                           std::any_of(loading->link.needed.begin(), loading->link.needed.end(),
                                       [](const std::string& name) {
                                         return name.starts_with("libtorch") ||
                                                name.starts_with("libc10");
                                       }));
  }

  /// Breadth first, as ld.so does; a library that is loaded already serves whoever names it.
  void load(const std::string& path, const std::string& distribution, Loaded& loaded) {
    const auto* first = object(path);
    if (first == nullptr) {
      return;
    }
    std::deque<std::vector<const Loading*>> queue;
    std::vector<std::pair<const Loading*, std::string>> links; // who needs what
    queue.push_back(program_ == nullptr ? std::vector{first} : std::vector{program_, first});
    for (std::size_t seen = 0; !queue.empty() && seen < k_most_objects; ++seen) {
      const auto chain = std::move(queue.front());
      queue.pop_front();
      for (const auto& name : chain.back()->link.needed) {
        auto known = loaded.find(name);
        if (known == loaded.end()) {
          known = loaded.emplace(name, loader_.find(name, chain)).first;
          if (const auto* next =
                  known->second.real.empty() ? nullptr : object(known->second.real)) {
            queue.push_back(chain);
            queue.back().push_back(next);
          }
        }
        links.emplace_back(chain.back(), name);
      }
    }
    for (const auto& [by, name] : links) { // when all that can serve is known
      check(*by, distribution, name, loaded);
    }
  }

  [[nodiscard]] bool is_own(const std::string& real) const {
    return std::any_of(python_.site_packages.begin(), python_.site_packages.end(),
                       [&](const std::string& site) {
                         const auto entry = view_.find(site);
                         return entry && real.starts_with(entry->real + "/");
                       });
  }

  void check(const Loading& by, const std::string& distribution, const std::string& library,
             const Loaded& loaded) {
    const auto& taken = loaded.at(library);
    const auto own = own_.find(library);
    const bool is_ours = own != own_.end();
    if ((!is_ours && !is_cuda_library(library)) || library.starts_with("libcuda.so") ||
        !checked_.emplace(by.path, library).second ||
        python_.load_problems.size() >= k_most_problems) {
      return;
    }
    LoadProblem problem{.object = by.path,
                        .distribution = distribution,
                        .library = library,
                        .taken = taken.real,
                        .led_by = taken.led_by,
                        .own = is_ours ? own->second : std::string()};
    if (taken.real.empty()) {
      python_.load_problems.push_back(std::move(problem));
      return;
    }
    // What a wheel brought as it is is trusted; libtorch's tables are too large to read for
    // nothing.
    const bool is_trusted =
        is_own(taken.real) && !clobbered_.contains(taken.path) &&
        (distribution == "torch" || by.path.find("/torch/lib/") != std::string::npos);
    if (is_trusted) {
      return;
    }
    if (compare(by, library, loaded, problem)) {
      python_.load_problems.push_back(std::move(problem));
    }
  }

  /// Whether the object wants of that library what it does not have. A symbol without a version is
  /// the first library's that exports it: libtorch.so is a shell, its functions are of others.
  bool compare(const Loading& by, const std::string& library, const Loaded& loaded,
               LoadProblem& problem) {
    using Names = std::set<std::string, std::less<>>;
    Names bound;
    Names anybodys;
    for (auto& wanted :
         wanted_symbols(view_, by.path, [&](std::string_view symbol, std::string_view from) {
           return from.empty() ? owner_of(symbol, by.link.needed) == library : from == library;
         })) {
      (wanted.library.empty() ? anybodys : bound).insert(std::move(wanted.symbol));
    }
    const bool has_names = !bound.empty() || !anybodys.empty();
    if (!has_names || !take_exported(view_, problem.taken, bound) ||
        !take_exported(view_, problem.taken, anybodys)) {
      return false;
    }
    for (const auto& [name, other] : loaded) {
      if (anybodys.empty()) {
        break;
      }
      if (!other.real.empty() && other.real != problem.taken) {
        take_exported(view_, other.real, anybodys);
      }
    }
    auto names = std::move(bound);
    names.merge(anybodys);
    if (names.empty()) {
      return false;
    }
    problem.missing.assign(names.begin(),
                           std::next(names.begin(), static_cast<std::ptrdiff_t>(
                                                        std::min(names.size(), k_most_missing))));
    const auto own = problem.own.empty() ? std::nullopt : view_.find(problem.own);
    if (own && own->real != problem.taken) {
      problem.own_has_them = take_exported(view_, own->real, names) && names.empty();
    }
    return true;
  }

  const RootView& view_;
  const Loader& loader_;
  PythonEnvironment& python_;
  const Loading* program_ = nullptr;
  std::map<std::string, std::string> own_; ///< file name -> path in the environment
  std::vector<std::string> torch_;         ///< torch's own libraries
  std::set<std::string> clobbered_;
  std::map<std::string, std::optional<Loading>> objects_; ///< by path without links
  std::set<std::pair<std::string, std::string>> checked_;
  Loaded after_torch_;
};

/// 575.57.08 of libcuda.so.575.57.08; empty of libcuda.so.1
std::string version_of_driver(std::string_view real) {
  constexpr std::string_view k_name = "libcuda.so.";
  const auto name = name_of(real);
  const auto number = name.starts_with(k_name) ? name.substr(k_name.size()) : std::string_view();
  return number.find('.') == std::string_view::npos ? std::string() : std::string(number);
}

} // namespace

void simulate_loading(const RootView& view, const Loader& loader, PythonEnvironment& python) {
  Simulation(view, loader, python).run();
}

void scan_driver(const RootView& view, const Environment& environment, const Loader& loader,
                 Snapshot& snapshot) {
  snapshot.kernel_module = trim(view.head("/sys/module/nvidia/version", 64));
  const auto add = [&](const std::string& folder, const std::string& led_by) {
    const auto path = join_path(folder, "libcuda.so.1");
    const auto entry = view.find(path);
    auto& list = snapshot.driver_libraries;
    if (entry && entry->is_regular &&
        std::none_of(list.begin(), list.end(),
                     [&](const DriverLibrary& known) { return known.real == entry->real; })) {
      list.push_back({.path = path,
                      .real = entry->real,
                      .version = version_of_driver(entry->real),
                      .led_by = led_by});
    }
  };
  for (const auto& folder : path_folders(environment, "LD_LIBRARY_PATH")) {
    add(folder, "LD_LIBRARY_PATH");
  }
  for (const auto& [folder, led_by] : loader.folders()) {
    add(folder, led_by);
  }
}

} // namespace cukit::survey

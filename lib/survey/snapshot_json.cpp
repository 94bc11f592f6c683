// Snapshot to JSON and back. Every struct lists its fields once, for both directions.
#include "base/strings.hpp"
#include "survey/anonymise.hpp"
#include "survey/root_view.hpp"

#include <type_traits>

namespace cukit::survey {

namespace {

class Reader;

template <typename V> void fields(V& v, Tool& x) {
  v("path", x.path);
  v("real", x.real);
  v("version", x.version);
  v("wraps", x.wraps);
  v("is_link", x.is_link);
}

template <typename V> void fields(V& v, Toolkit& x) {
  v("root", x.root);
  v("real", x.real);
  v("aliases", x.aliases);
  v("found_by", x.found_by);
  v("environment", x.environment);
  v("tools", x.tools);
  v("profile", x.profile);
  v("has_profile_beside_nvcc", x.has_profile_beside_nvcc);
  v("include", x.include);
  v("cudart", x.cudart);
  v("cuda_h", x.cuda_h);
  v("headers", x.headers);
  v("cccl", x.cccl);
  v("cccl_include", x.cccl_include);
  v("cccl_outer", x.cccl_outer);
  v("nv_target_cccl", x.nv_target_cccl);
  v("cmake_packages", x.cmake_packages);
  v("launch_arguments", x.launch_arguments);
  v("gcc_max", x.gcc_max);
  v("clang_below", x.clang_below);
  v("cospi_is_ready", x.cospi_is_ready);
  v("rsqrt_is_ready", x.rsqrt_is_ready);
  v("library_folders", x.library_folders);
  v("libraries", x.libraries);
  v("nvjitlink", x.nvjitlink);
  v("libdevice", x.libdevice);
  v("release", x.release);
  v("tree_id", x.tree_id);
  v("owners", x.owners);
}

template <typename V> void fields(V& v, Distribution& x) {
  v("name", x.name);
  v("version", x.version);
  v("path", x.path);
  v("requirements", x.requirements);
}

template <typename V> void fields(V& v, Extension& x) {
  v("path", x.path);
  v("distribution", x.distribution);
  v("needed", x.needed);
}

template <typename V> void fields(V& v, Clobber& x) {
  v("path", x.path);
  v("owners", x.owners);
  v("state", x.state);
}

template <typename V> void fields(V& v, LoadProblem& x) {
  v("object", x.object);
  v("distribution", x.distribution);
  v("library", x.library);
  v("taken", x.taken);
  v("led_by", x.led_by);
  v("own", x.own);
  v("missing", x.missing);
  v("own_has_them", x.own_has_them);
}

template <typename V> void fields(V& v, DriverLibrary& x) {
  v("path", x.path);
  v("real", x.real);
  v("version", x.version);
  v("led_by", x.led_by);
}

template <typename V> void fields(V& v, BundledParts& x) {
  v("root", x.root);
  v("tools", x.tools);
  v("include", x.include);
  v("launch_arguments", x.launch_arguments);
}

/// As snapshots of earlier versions have them: of one package, under names of its own.
template <typename V> void earlier_bundle(V& v, PythonEnvironment& x) {
  if constexpr (std::is_same_v<V, Reader>) {
    BundledParts parts;
    v("triton", parts.tools);
    v("triton_include", parts.include);
    v("triton_launch_arguments", parts.launch_arguments);
    if (!parts.tools.empty()) {
      parts.root = parent_of(parent_of(parts.tools.begin()->second.path));
    } else if (!parts.include.empty()) {
      parts.root = parent_of(parts.include);
    }
    if (!parts.root.empty()) {
      x.bundles.push_back(std::move(parts));
    }
  }
}

template <typename V> void fields(V& v, PythonEnvironment& x) {
  v("prefix", x.prefix);
  v("found_by", x.found_by);
  v("site_packages", x.site_packages);
  v("is_conda", x.is_conda);
  v("distributions", x.distributions);
  v("torch", x.torch);
  v("torch_cuda", x.torch_cuda);
  v("bundles", x.bundles);
  earlier_bundle(v, x);
  v("extensions", x.extensions);
  v("clobbers", x.clobbers);
  v("load_problems", x.load_problems);
  v("conda_packages", x.conda_packages);
}

template <typename V> void fields(V& v, HostCompiler& x) {
  v("path", x.path);
  v("real", x.real);
  v("kind", x.kind);
  v("version", x.version);
}

template <typename V> void fields(V& v, CacheEntry& x) {
  v("consumer", x.consumer);
  v("path", x.path);
  v("cuda_home", x.cuda_home);
  v("nvcc", x.nvcc);
  v("needed", x.needed);
  v("built_by", x.built_by);
  v("is_generated", x.is_generated);
}

template <typename V> void fields(V& v, LibraryFolder& x) {
  v("path", x.path);
  v("libraries", x.libraries);
  v("nvjitlink", x.nvjitlink);
}

template <typename V> void fields(V& v, FoundHeader& x) {
  v("name", x.name);
  v("paths", x.paths);
  v("named_by", x.named_by);
}

template <typename V> void fields(V& v, SnapshotGpu& x) {
  v("name", x.name);
  v("target", x.target);
}

template <typename V> void fields(V& v, std::pair<std::string, std::string>& x) {
  v("name", x.first);
  v("version", x.second);
}

template <typename V> void fields(V& v, Snapshot& x) {
  v("root", x.root);
  v("platform", x.platform);
  v("os", x.os);
  v("os_ids", x.os_ids);
  v("glibc", x.glibc);
  v("libm_has_cospi", x.libm_has_cospi);
  v("libm_has_rsqrt", x.libm_has_rsqrt);
  v("driver", x.driver);
  v("driver_cuda", x.driver_cuda);
  v("kernel_module", x.kernel_module);
  v("driver_libraries", x.driver_libraries);
  v("gpus", x.gpus);
  v("gpus_found_by", x.gpus_found_by);
  v("gpus_why", x.gpus_why);
  v("environment", x.environment);
  v("toolkits", x.toolkits);
  v("pythons", x.pythons);
  v("compilers", x.compilers);
  v("path_nvcc", x.path_nvcc);
  v("path_ptxas", x.path_ptxas);
  v("compiler_caches", x.compiler_caches);
  v("library_path", x.library_path);
  v("system_libraries", x.system_libraries);
  v("caches", x.caches);
  v("found_headers", x.found_headers);
  v("memory_mb", x.memory_mb);
  v("notes", x.notes);
}

class Writer {
public:
  explicit Writer(const Anonymiser& anonymise) : anonymise_(anonymise) {}
  template <typename T> void operator()(const char* name, T& value) {
    auto json = write(value);
    const bool is_nothing = (json.is(text::Json::Kind::string) && json.text().empty()) ||
                            (json.is(text::Json::Kind::list) && json.items().empty()) ||
                            (json.is(text::Json::Kind::object) && json.members().empty());
    if (!is_nothing) {
      json_.set(name, std::move(json));
    }
  }
  text::Json take() { return std::move(json_); }

private:
  text::Json write(std::string& value) { return anonymise_(value); }
  static text::Json write(bool& value) { return value; }
  static text::Json write(int& value) { return value; }
  text::Json write(std::set<std::string>& values) {
    auto list = text::Json::list();
    for (const auto& value : values) {
      list.add(anonymise_(value));
    }
    return list;
  }
  template <typename T> text::Json write(std::vector<T>& values) {
    auto list = text::Json::list();
    for (auto& value : values) {
      list.add(write(value));
    }
    return list;
  }
  template <typename T> text::Json write(std::map<std::string, T>& values) {
    auto object = text::Json::object();
    for (auto& [key, value] : values) {
      object.set(anonymise_(key), write(value));
    }
    return object;
  }
  template <typename T> text::Json write(T& value) {
    Writer inner(anonymise_);
    fields(inner, value);
    return inner.take();
  }

  const Anonymiser& anonymise_;
  text::Json json_ = text::Json::object();
};

/// Absent keys keep their default.
class Reader {
public:
  Reader(const text::Json& json, std::string& mistake) : json_(json), mistake_(mistake) {
    if (!json.is(text::Json::Kind::object)) {
      mistake_ = "an object is expected";
    }
  }
  template <typename T> void operator()(const char* name, T& value) {
    const auto* found = json_.find(name);
    if (found != nullptr && mistake_.empty()) {
      read(*found, value);
      if (!mistake_.empty()) {
        mistake_ = fmt::format("{}: {}", name, mistake_);
      }
    }
  }

private:
  using Kind = text::Json::Kind;
  bool expect(const text::Json& json, Kind kind, const char* what) {
    if (!json.is(kind)) {
      mistake_ = fmt::format("{} is expected", what);
    }
    return mistake_.empty();
  }
  void read(const text::Json& json, std::string& value) {
    if (expect(json, Kind::string, "text")) {
      value = json.text();
    }
  }
  void read(const text::Json& json, bool& value) {
    if (expect(json, Kind::boolean, "true or false")) {
      value = json.boolean();
    }
  }
  void read(const text::Json& json, int& value) {
    if (expect(json, Kind::integer, "a number")) {
      const auto number = json.integer();
      value = number < 0 || number > 1'000'000 ? 0 : static_cast<int>(number);
    }
  }
  void read(const text::Json& json, std::set<std::string>& values) {
    if (expect(json, Kind::list, "a list")) {
      for (const auto& item : json.items()) {
        std::string value;
        read(item, value);
        values.insert(std::move(value));
      }
    }
  }
  template <typename T> void read(const text::Json& json, std::vector<T>& values) {
    if (expect(json, Kind::list, "a list")) {
      for (const auto& item : json.items()) {
        read(item, values.emplace_back());
      }
    }
  }
  template <typename T> void read(const text::Json& json, std::map<std::string, T>& values) {
    if (expect(json, Kind::object, "an object")) {
      for (const auto& [key, item] : json.members()) {
        read(item, values[key]);
      }
    }
  }
  template <typename T> void read(const text::Json& json, T& value) {
    Reader inner(json, mistake_);
    if (mistake_.empty()) {
      fields(inner, value);
    }
  }

  const text::Json& json_;
  std::string& mistake_;
};

} // namespace

text::Json to_json(const Snapshot& snapshot) {
  const Anonymiser anonymise(snapshot);
  Writer writer(anonymise);
  std::string schema = "cukit.snapshot/1";
  writer("schema", schema);
  Snapshot copy = snapshot; // fields() serves reading too, so it wants something to write to
  const auto paths = paths_of(snapshot);
  for (auto& [name, value] : copy.environment) {
    value = known_parts(value, paths);
  }
  fields(writer, copy);
  return writer.take();
}

Result<Snapshot> snapshot_from_json(const text::Json& json, const std::string& name) {
  if (json.text_of("schema") != "cukit.snapshot/1") {
    return fail(ErrorCode::usage, "{} is no snapshot of this version: its schema is `{}`", name,
                printable(json.text_of("schema")));
  }
  Snapshot snapshot;
  std::string mistake;
  Reader reader(json, mistake);
  fields(reader, snapshot);
  if (!mistake.empty()) {
    return fail(ErrorCode::usage, "{} is a damaged snapshot: {}", name, printable(mistake));
  }
  return snapshot;
}

} // namespace cukit::survey

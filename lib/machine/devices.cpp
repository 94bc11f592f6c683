// The parent's side of devices().
#include "base/child.hpp"
#include "base/strings.hpp"
#include "machine/probe.hpp"

namespace cukit::machine {

namespace {

constexpr auto k_ask_limit =
    std::chrono::seconds(60); // cuInit on eight GPUs without persistence takes up to twenty

constexpr auto k_smi_time_limit = std::chrono::seconds(20);
constexpr const char* k_smi_query = "--query-gpu=name,uuid,driver_version,compute_cap";

/// Drivers may print on their own: the answer is the last line that is an object.
std::string_view answer_line(std::string_view output) {
  std::string_view found;
  for (const auto line : split(output, '\n')) {
    if (line.starts_with("{")) {
      found = line;
    }
  }
  return found;
}

int number_of(const text::Json& object, std::string_view key) {
  const auto* member = object.find(key);
  return member != nullptr && member->is(text::Json::Kind::integer)
             ? static_cast<int>(member->integer())
             : 0;
}

Gpu read_gpu(const text::Json& object) {
  return Gpu{.index = number_of(object, "index"),
             .name = printable(object.text_of("name")),
             .uuid = std::string(object.text_of("uuid")),
             .target = GpuTarget{number_of(object, "major"), number_of(object, "minor"), 0}};
}

/// libcuda.so.1 is a link to libcuda.so.580.159.04 wherever a package or a container runtime put
/// it.
std::optional<Version> version_in_name(const std::string& library) {
  std::error_code error;
  const std::string name = fs::canonical(library, error).filename().string();
  constexpr std::string_view prefix = "libcuda.so.";
  if (error || !name.starts_with(prefix)) {
    return std::nullopt;
  }
  auto version = Version::parse(name.substr(prefix.size()));
  if (!version || version->release().size() < 2) {
    return std::nullopt;
  }
  return *std::move(version);
}

Driver read_driver(const text::Json& answer, const QuickLook& quick) {
  Driver driver;
  driver.library = answer.text_of("library");
  const int cuda = number_of(answer, "cuda"); // 13000
  if (auto version = Version::parse(fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10));
      version && cuda > 0) {
    driver.cuda = *std::move(version);
  }
  driver.version =
      quick.driver ? *quick.driver : version_in_name(driver.library).value_or(Version());
  return driver;
}

std::vector<Gpu> read_gpus(const text::Json& answer, std::string_view key) {
  std::vector<Gpu> gpus;
  if (const auto* list = answer.find(key); list != nullptr) {
    for (const auto& item : list->items()) {
      gpus.push_back(read_gpu(item));
    }
  }
  return gpus;
}

Devices read_answer(const text::Json& answer, const QuickLook& quick) {
  Devices devices;
  const auto told = Version::parse(answer.text_of("driver_version"));
  if (answer.find("library") != nullptr) {
    devices.driver = read_driver(answer, quick);
    if (told && devices.driver->version.major() == 0) {
      devices.driver->version = *told;
    }
  } else if (quick.driver) {
    devices.driver = Driver{.version = *quick.driver, .cuda = std::nullopt};
  } else if (told) {
    devices.driver = Driver{.version = *told, .cuda = std::nullopt};
  }
  devices.gpus = read_gpus(answer, "devices");
  devices.seen = read_gpus(answer, "seen");
  if (devices.gpus.empty()) {
    const auto why = answer.text_of("why");
    devices.why_none = why.empty() ? "the driver named no GPU" : printable(why);
    if (quick.driver && answer.find("library") == nullptr) {
      devices.why_none += fmt::format(
          "; the kernel module {} is loaded, so the driver's libraries are missing here",
          driver_text(*quick.driver));
    }
  }
  return devices;
}

Devices none(const QuickLook& quick, std::string why) {
  return read_answer(text::Json::object().set("why", std::move(why)), quick);
}

std::string first_line(std::string_view text) {
  return printable(split(trim(text), '\n').front().substr(0, 300));
}

/// `NVIDIA H200, GPU-5c1f..., 580.159.04, 9.0`; older ones do not know the last column.
std::optional<Gpu> gpu_of_line(std::string_view line, int index, std::optional<Version>& driver) {
  const auto columns = split(line, ',');
  if (columns.size() != 4) {
    return std::nullopt;
  }
  if (auto version = Version::parse(trim(columns[2])); version && !driver) {
    driver = *std::move(version);
  }
  Gpu gpu{.index = index,
          .name = printable(trim(columns[0])),
          .uuid = printable(trim(columns[1])),
          .target = {}};
  const auto capability = Version::parse(trim(columns[3]));
  if (capability && capability->release().size() == 2 && capability->part(0) < 100) {
    gpu.target =
        GpuTarget{static_cast<int>(capability->part(0)), static_cast<int>(capability->part(1)), 0};
  }
  return gpu;
}

} // namespace

Devices ask_nvidia_smi(const Environment& environment, const std::stop_token& stop) {
  Devices devices;
  const auto program = environment.find_program("nvidia-smi");
  if (program.empty()) {
    devices.why_none = "no nvidia-smi in PATH";
    return devices;
  }
  const auto done = run_command({.arguments = {program, k_smi_query, "--format=csv,noheader"},
                                 .environment = environment,
                                 .time_limit = k_smi_time_limit},
                                stop);
  if (!done || done->exit_code != 0) {
    devices.why_none = program + " gave no answer";
    return devices;
  }
  std::optional<Version> driver;
  for (const auto line : split(done->output, '\n')) {
    if (auto gpu = gpu_of_line(line, static_cast<int>(devices.seen.size()), driver)) {
      devices.seen.push_back(*std::move(gpu));
    }
  }
  if (driver) {
    devices.driver = Driver{.version = *std::move(driver), .cuda = std::nullopt};
  }
  devices.why_none = program + " alone knows of GPUs";
  return devices;
}

Devices ask_child(const std::string& program, Environment environment, const QuickLook& quick,
                  std::chrono::milliseconds time_limit, const std::stop_token& stop) {
  environment.set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  environment.set(k_probe_variable, "1");
  const auto finished = run_command({.arguments = {program, k_probe_argument},
                                     .environment = std::move(environment),
                                     .time_limit = time_limit},
                                    stop);
  if (!finished) {
    return none(quick, "the driver could not be asked: " + finished.error().message);
  }
  if (finished->timed_out) {
    return none(quick,
                fmt::format("the driver did not answer within {} s",
                            std::chrono::duration_cast<std::chrono::seconds>(time_limit).count()));
  }
  const auto line = answer_line(finished->output);
  const auto answer = text::Json::parse(line, "the driver's answer");
  if (finished->exit_code == 0 && !line.empty() && answer) {
    return read_answer(*answer, quick);
  }
  if (finished->signal != 0) {
    return none(quick,
                fmt::format("the driver crashed while it was asked (signal {})", finished->signal));
  }
  return none(quick, fmt::format("the question to the driver ended with code {}: {}",
                                 finished->exit_code, first_line(finished->errors)));
}

Devices devices(const std::stop_token& stop) {
  const QuickLook quick = quick_look();
  auto environment = Environment::of_this_process();
  if (environment.get(k_probe_variable)) {
    return none(quick, "the driver was not asked: this process is itself asking it");
  }
  return ask_child("/proc/self/exe", std::move(environment), quick, k_ask_limit, stop);
}

} // namespace cukit::machine

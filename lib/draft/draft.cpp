#include "draft/draft.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <set>

namespace cukit::draft {

namespace {

constexpr std::string_view k_order[] = {
    "gpus",         "pytorch",    "driver",    "toolkit.nvcc", "toolkit.ptxas", "toolkit.headers",
    "toolkit.cccl", "components", "consumers", "host",         "platforms"};
constexpr std::string_view k_toolkit = "toolkit.";

void write_field(std::string& out, const DraftField& field, std::string_view indent) {
  for (const auto line : split(field.comment, '\n')) {
    out += fmt::format("{}# {}\n", indent, printable(line));
  }
  const auto dot = field.key.find('.');
  const auto key = dot == std::string::npos ? field.key : field.key.substr(dot + 1);
  out += fmt::format("{}{}{}: {}\n", indent, field.is_suggestion ? "# " : "", key, field.value);
}

/// Fields of `toolkit` share one map, which must not be there without an entry.
void write_toolkit(std::string& out, const std::vector<const DraftField*>& fields) {
  if (fields.empty()) {
    return;
  }
  const bool is_real = std::any_of(fields.begin(), fields.end(),
                                   [](const DraftField* field) { return !field->is_suggestion; });
  out += is_real ? "toolkit:\n" : "# toolkit:\n";
  for (const auto* field : fields) {
    write_field(out, *field, is_real ? "  " : "#   ");
  }
}

} // namespace

std::string list_text(const std::vector<std::string>& items) {
  return "[" + join(items, ", ") + "]";
}

bool Draft::has(std::string_view key) const {
  return std::any_of(fields.begin(), fields.end(), [&](const DraftField& field) {
    return field.key == key && !field.is_suggestion;
  });
}

void Draft::add(DraftField field) {
  if (!has(field.key)) {
    fields.push_back(std::move(field));
  }
}

std::string write(const Draft& draft) {
  std::string out = fmt::format("# Made by `cukit init` from {}.\n", printable(draft.origin));
  for (const auto& remark : draft.remarks) {
    out += fmt::format("# {}\n", printable(remark));
  }
  out += fmt::format("cukit: 1\nname: \"{}\"\n", draft.name);
  std::vector<const DraftField*> toolkit;
  bool is_toolkit_written = false;
  for (const auto key : k_order) {
    for (const auto& field : draft.fields) {
      if (field.key == key && key.starts_with(k_toolkit)) {
        toolkit.push_back(&field);
      }
    }
  }
  for (const auto key : k_order) {
    if (key.starts_with(k_toolkit)) {
      if (!std::exchange(is_toolkit_written, true)) {
        write_toolkit(out, toolkit);
      }
      continue;
    }
    for (const auto& field : draft.fields) {
      if (field.key == key) {
        write_field(out, field, "");
      }
    }
  }
  return out;
}

void add_machine(Draft& draft, const machine::Devices& devices,
                 const std::optional<machine::Compiler>& compiler) {
  std::set<std::string> targets;
  std::vector<std::string> seen;
  for (const auto& gpu : devices.gpus) {
    targets.insert(gpu.target.sm());
    seen.push_back(fmt::format("{} ({})", gpu.name, gpu.target.sm()));
  }
  if (!draft.has("gpus") && targets.empty()) {
    draft.add({.key = "gpus",
               .value = "native",
               .comment = "no GPU is seen here: name those it is for, as in "
                          "[sm_90, sm_120], or lock with --assume-gpu"});
  } else if (!draft.has("gpus")) {
    draft.add({.key = "gpus",
               .value = list_text({targets.begin(), targets.end()}),
               .comment = "seen here: " + join(seen, ", ")});
  }
  if (!draft.has("driver") && devices.driver) {
    const auto& version = devices.driver->version;
    draft.add({.key = "driver",
               .value = fmt::format("\">={}\"", version.major()),
               .comment = fmt::format("the driver here is {}; this is the oldest it must run on",
                                      machine::driver_text(version))});
  } else if (!draft.has("driver")) {
    draft.add({.key = "driver",
               .value = "\">=580\"",
               .comment = "no driver is seen here: the oldest one it must run on",
               .is_suggestion = true});
  }
  if (!draft.has("host")) {
    draft.add(
        {.key = "host",
         .value = fmt::format("{{compiler: {}}}", compiler ? compiler->kind : "gcc"),
         .comment = compiler ? fmt::format("{} is {} {}; with this line its version is checked "
                                           "against CUDA's limits",
                                           compiler->path, compiler->kind, compiler->version.text())
                             : "no host compiler is seen here",
         .is_suggestion = true});
  }
  if (!draft.has("platforms")) {
    draft.add({.key = "platforms",
               .value = list_text({std::string(Platform::host().text())}),
               .comment = "linux-x86_64, linux-sbsa; several may stand in one lock"});
  }
}

} // namespace cukit::draft

// `cukit releases` and `cukit gpus`: what the recipes know, as tables.
#include "base/strings.hpp"
#include "cli.hpp"

#include <algorithm>
#include <cstdio>

namespace cukit::cmd {

namespace {

Result<int> print_releases(Invocation& invocation) {
  const auto knowledge = invocation.knowledge();
  CUKIT_TRY_ASSIGN(const auto* releases, knowledge.releases());
  if (invocation.options.json) {
    auto list = text::Json::list();
    for (const auto& release : *releases) {
      list.add(text::Json::object()
                   .set("cuda", release.minor.major_minor())
                   .set("ptx", release.ptx.text())
                   .set("driver_floor", release.driver_floor)
                   .set("driver_branch", release.driver_branch)
                   .set("cccl", release.cccl.text())
                   .set("gcc_max", release.gcc_max)
                   .set("clang_min", release.clang_min)
                   .set("clang_max", release.clang_max)
                   .set("evidence", release.evidence));
    }
    print_json(text::Json::object().set("schema", "cukit.releases/1").set("releases", list));
    return 0;
  }
  ui::Table table;
  table.row(
      {"CUDA", "PTX", "driver at least", "own driver", "CCCL", "gcc up to", "clang", "evidence"},
      std::vector<ui::Style>(8, ui::Style::bold));
  for (const auto& release : *releases) {
    table.row({release.minor.major_minor(), release.ptx.text(),
               fmt::format("{}", release.driver_floor), fmt::format("{}", release.driver_branch),
               release.cccl.text(), fmt::format("{}", release.gcc_max),
               fmt::format("{}..{}", release.clang_min, release.clang_max), release.evidence},
              {ui::Style::accent});
  }
  std::fputs(table.print(*invocation.terminal, "").c_str(), stdout);
  return 0;
}

std::string variants(const knowledge::Architecture& architecture) {
  std::string text;
  if (architecture.a_since) {
    text +=
        fmt::format("{}a from {}", architecture.target.sm(), architecture.a_since->major_minor());
  }
  if (architecture.f_since) {
    text += fmt::format("{}{}f from {}", text.empty() ? "" : ", ", architecture.target.sm(),
                        architecture.f_since->major_minor());
  }
  return text;
}

Result<int> print_gpus(Invocation& invocation, const std::vector<std::string>& wanted) {
  const auto knowledge = invocation.knowledge();
  CUKIT_TRY_ASSIGN(const auto* architectures, knowledge.architectures());
  CUKIT_TRY_ASSIGN(const auto* all_products, knowledge.products());
  std::vector<GpuTarget> only;
  for (const auto& text : wanted) {
    CUKIT_TRY_ASSIGN(const auto gpu, knowledge::find_gpu(knowledge, text));
    only.push_back(gpu.plain());
  }
  auto list = text::Json::list();
  ui::Table table;
  table.row({"target", "cc", "architecture", "CUDA", "variants", "products"},
            std::vector<ui::Style>(6, ui::Style::bold));
  for (const auto& architecture : *architectures) {
    if (!only.empty() && std::find(only.begin(), only.end(), architecture.target) == only.end()) {
      continue;
    }
    std::vector<std::string> names;
    for (const auto& product : *all_products) {
      if (product.target == architecture.target) {
        names.push_back(product.name);
      }
    }
    const auto last =
        architecture.last_cuda ? architecture.last_cuda->major_minor() : std::string();
    auto products = text::Json::list();
    for (const auto& name : names) {
      products.add(name);
    }
    list.add(text::Json::object()
                 .set("target", architecture.target.sm())
                 .set("compute_capability", architecture.target.dotted())
                 .set("architecture", architecture.name)
                 .set("first_cuda", architecture.first_cuda.major_minor())
                 .set("last_cuda", last)
                 .set("a_since", architecture.a_since ? architecture.a_since->major_minor() : "")
                 .set("f_since", architecture.f_since ? architecture.f_since->major_minor() : "")
                 .set("products", products)
                 .set("evidence", architecture.evidence));
    std::vector<std::string> few(
        names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                           names.size(), only.empty() ? 3 : names.size())));
    table.row({architecture.target.sm(), architecture.target.dotted(), architecture.name,
               architecture.first_cuda.major_minor() + (last.empty() ? " .." : " .. " + last),
               variants(architecture),
               join(few, ", ") + (few.size() < names.size() ? ", ..." : "")},
              {ui::Style::accent});
  }
  if (invocation.options.json) {
    print_json(text::Json::object().set("schema", "cukit.gpus/1").set("gpus", list));
  } else {
    std::fputs(table.print(*invocation.terminal, "").c_str(), stdout);
  }
  return 0;
}

} // namespace

void register_releases(Commands& commands) {
  commands.add("releases", "CUDA releases: PTX, drivers, CCCL, host compilers",
               [](Invocation& invocation) {
                 const auto code = print_releases(invocation);
                 return code ? *code : report(invocation, code.error());
               });
}

void register_gpus(Commands& commands) {
  auto wanted = std::make_shared<std::vector<std::string>>();
  auto* app = commands.add("gpus", "GPUs: targets, CUDA releases that serve them, products",
                           [wanted](Invocation& invocation) {
                             const auto code = print_gpus(invocation, *wanted);
                             return code ? *code : report(invocation, code.error());
                           });
  app->add_option("GPU", *wanted, "Only these: sm_120, \"12.0\" or a product's name");
}

} // namespace cukit::cmd

// `cukit gpus`: the GPUs that the recipes know, as a table.
#include "base/strings.hpp"
#include "cli.hpp"

#include <algorithm>

namespace cukit::cmd {

namespace {

using knowledge::Architecture;
using knowledge::Product;

struct Row {
  const Architecture* architecture = nullptr;
  std::vector<const Product*> products;
};

Result<std::vector<Row>> rows_of(const knowledge::Knowledge& knowledge,
                                 const std::vector<std::string>& wanted) {
  CUKIT_TRY_ASSIGN(const auto* architectures, knowledge.architectures());
  CUKIT_TRY_ASSIGN(const auto* products, knowledge.products());
  std::vector<GpuTarget> only;
  for (const auto& text : wanted) {
    CUKIT_TRY_ASSIGN(const auto gpu, knowledge::find_gpu(knowledge, text));
    only.push_back(gpu.plain());
  }
  std::vector<Row> rows;
  for (const auto& architecture : *architectures) {
    if (!only.empty() && std::find(only.begin(), only.end(), architecture.target) == only.end()) {
      continue;
    }
    Row row{.architecture = &architecture, .products = {}};
    for (const auto& product : *products) {
      if (product.target == architecture.target) {
        row.products.push_back(&product);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string since(const std::optional<Version>& version) {
  return version ? version->major_minor() : std::string();
}

text::Json json_of(const Row& row) {
  const auto& architecture = *row.architecture;
  auto products = text::Json::list();
  auto uncertain = text::Json::list();
  for (const auto* product : row.products) {
    products.add(product->name);
    if (!product->documented) {
      uncertain.add(product->name);
    }
  }
  return text::Json::object()
      .set("target", architecture.target.sm())
      .set("compute_capability", architecture.target.dotted())
      .set("architecture", architecture.name)
      .set("first_cuda", architecture.first_cuda.major_minor())
      .set("last_cuda", since(architecture.last_cuda))
      .set("a_since", since(architecture.a_since))
      .set("f_since", since(architecture.f_since))
      .set("products", products)
      .set("uncertain_products", uncertain)
      .set("evidence", architecture.evidence);
}

/// "a 12.8, f 12.9": the letters that a target may have and since when.
std::string forms(const Architecture& architecture) {
  std::string text = architecture.a_since ? "a " + since(architecture.a_since) : "";
  if (architecture.f_since) {
    text += (text.empty() ? "f " : ", f ") + since(architecture.f_since);
  }
  return text;
}

std::string release_range(const Architecture& architecture) {
  return architecture.first_cuda.major_minor() +
         (architecture.last_cuda ? "-" + since(architecture.last_cuda) : " on");
}

constexpr std::size_t k_least_products = 16;

std::string table_text(const ui::Terminal& terminal, const std::vector<Row>& rows, bool is_full) {
  // What stands left of the products: the widest cell of each column and two spaces.
  std::size_t left = 0;
  const std::string head[] = {"target", "cc", "architecture", "CUDA", "forms"};
  std::size_t widths[std::size(head)] = {};
  std::vector<std::vector<std::string>> cells(1);
  cells.front().assign(std::begin(head), std::end(head));
  for (const auto& row : rows) {
    const auto& architecture = *row.architecture;
    cells.push_back({architecture.target.sm(), architecture.target.dotted(), architecture.name,
                     release_range(architecture), forms(architecture)});
  }
  for (const auto& line : cells) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  for (const auto width : widths) {
    left += width + 2;
  }
  const auto room = std::max(static_cast<std::size_t>(terminal.width()), left + k_least_products);
  ui::Table table;
  if (!is_full) {
    cells.front().emplace_back("products");
  }
  table.row(cells.front(), std::vector<ui::Style>(6, ui::Style::bold));
  std::string below; // all products are too much for a column
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> names;
    for (const auto* product : rows[i].products) {
      names.push_back(product->name + (is_full && !product->documented ? "?" : ""));
    }
    if (is_full) {
      const auto target = cells[i + 1].front() + ":";
      below += "\n" + ui::flow(terminal, {{target, ui::Style::accent}, {join(names, ", ")}}, 0, 2) +
               "\n";
    } else {
      cells[i + 1].push_back(ui::some_of(names, room - left));
    }
    table.row(cells[i + 1], {ui::Style::accent});
  }
  return table.print(terminal, "") + below;
}

std::string foot(bool is_full) {
  return std::string("\nforms: sm_XXXa and sm_XXXf from that release of CUDA on\n") +
         (is_full ? "?: from a single weak source\n"
                  : "next: `cukit gpus sm_120` lists a target's products, `cukit matrix` its "
                    "releases\n");
}

Result<int> print_gpus(Invocation& invocation, const std::vector<std::string>& wanted) {
  const auto knowledge = invocation.knowledge();
  CUKIT_TRY_ASSIGN(const auto rows, rows_of(knowledge, wanted));
  if (!invocation.options.json) {
    const bool is_full = !wanted.empty();
    const auto text = table_text(invocation.output(), rows, is_full) + foot(is_full);
    ui::print(text);
    return 0;
  }
  auto list = text::Json::list();
  for (const auto& row : rows) {
    list.add(json_of(row));
  }
  print_json(text::Json::object().set("schema", "cukit.gpus/1").set("gpus", list));
  return 0;
}

} // namespace

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

// `cukit matrix`: GPUs x releases of CUDA, on a driver, as a table that one looks at.
#include "explain/matrix.hpp"

#include "cli.hpp"

namespace cukit::cmd {

namespace {

struct MatrixOptions {
  std::vector<std::string> gpus;
  std::string driver;
  int major = 0;
};

using explain::ServiceMatrix;
using ui::Style;

constexpr std::size_t k_label = 14;
constexpr std::size_t k_column = 4;  ///< 16 releases beside the label fit into 80 columns
constexpr std::size_t k_tall_at = 8; ///< more columns than this write a release in two lines
constexpr std::size_t k_least_products = 24; ///< room for examples of products, or none

std::string padded(std::string_view text, std::size_t width, bool right) {
  return right ? fmt::format("{:>{}}", text, width) : fmt::format("{:<{}}", text, width);
}

struct Mark {
  std::string text;
  Style style = Style::plain;
};

/// What one looks for: can it be compiled, in which forms, and does the driver run it.
Mark mark_of(const ServiceMatrix::Cell& cell, const ServiceMatrix::Release& release,
             bool has_driver) {
  if (!cell.compiles) {
    return {".", Style::dim};
  }
  if (has_driver && !release.starts) {
    return {"old", Style::bad};
  }
  std::string text = fmt::format("+{}{}", cell.has_a ? "a" : "", cell.has_f ? "f" : "");
  if (has_driver && !release.takes_ptx) {
    return {std::move(text), Style::warn};
  }
  return {std::move(text), Style::good};
}

std::string head(const ui::Terminal& terminal, const ServiceMatrix& matrix) {
  const bool is_tall = matrix.releases.size() > k_tall_at;
  std::string first = padded("CUDA", k_label, false);
  std::string second = padded("", k_label, false);
  for (const auto& release : matrix.releases) {
    if (is_tall) {
      first += padded(std::to_string(release.minor.major()), k_column, true);
      second += padded(fmt::format(".{}", release.minor.minor()), k_column, true);
    } else {
      first += padded(release.minor.major_minor(), k_column + 2, true);
    }
  }
  return terminal.paint(Style::bold, first) + "\n" +
         (is_tall ? terminal.paint(Style::bold, second) + "\n" : "");
}

std::string foot(const ui::Terminal& terminal, const ServiceMatrix& matrix, std::size_t column,
                 bool has_driver) {
  std::string rows[3] = {padded("PTX ISA", k_label, false), padded("least driver", k_label, false),
                         padded("PTX from", k_label, false)};
  for (const auto& release : matrix.releases) {
    rows[0] += padded(release.ptx.text(), column, true);
    rows[1] += padded(std::to_string(release.driver_floor), column, true);
    rows[2] += padded(std::to_string(release.driver_branch), column, true);
  }
  std::string out;
  for (const auto& row : rows) {
    out += terminal.paint(Style::dim, row) + "\n";
  }
  out += "\n+ compiles, a and f also as sm_XXXa and sm_XXXf, . not compiled\n";
  out += "least driver: the branch that starts its programs\n";
  out += "PTX from: the branch that takes its PTX where there is no machine code\n";
  if (has_driver) {
    out += "old, no: this driver does not start its programs\n";
    out += "!: it starts them, but takes machine code only: their PTX is too new\n";
  }
  return out;
}

std::string table_text(const ui::Terminal& terminal, const ServiceMatrix& matrix, bool has_driver) {
  const auto column = matrix.releases.size() > k_tall_at ? k_column : k_column + 2;
  std::string out = head(terminal, matrix);
  for (const auto& row : matrix.rows) {
    out += terminal.paint(Style::accent, padded(fmt::format("{}", row.target.sm()), 8, false)) +
           padded(row.target.dotted(), k_label - 8, false);
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const auto mark = mark_of(row.cells[i], matrix.releases[i], has_driver);
      out += terminal.paint(mark.style, padded(mark.text, column, true));
    }
    const auto begin = "  " + row.architecture + (row.products.empty() ? "" : ": ");
    const auto used = k_label + row.cells.size() * column + begin.size();
    const auto width = static_cast<std::size_t>(terminal.width());
    if (width >= used + k_least_products) {
      out += begin + ui::some_of(row.products, width - used);
    }
    out += "\n";
  }
  if (has_driver) {
    out += padded("this driver", k_label, false);
    for (const auto& release : matrix.releases) {
      const auto* text = !release.starts ? "no" : release.takes_ptx ? "yes" : "!";
      out += padded(text, column, true);
    }
    out += "\n";
  }
  return out + foot(terminal, matrix, column, has_driver);
}

text::Json matrix_json(const ServiceMatrix& matrix, const std::string& driver) {
  auto releases = text::Json::list();
  for (const auto& release : matrix.releases) {
    auto json = text::Json::object()
                    .set("cuda", release.minor.major_minor())
                    .set("ptx", release.ptx.text())
                    .set("driver_floor", release.driver_floor)
                    .set("driver_branch", release.driver_branch);
    if (!driver.empty()) {
      json.set("starts", release.starts).set("takes_ptx", release.takes_ptx);
    }
    releases.add(std::move(json));
  }
  auto gpus = text::Json::list();
  for (const auto& row : matrix.rows) {
    auto cells = text::Json::object();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const auto& cell = row.cells[i];
      auto forms = text::Json::list();
      for (const auto& [has, suffix] :
           {std::pair(cell.compiles, char(0)), {cell.has_a, 'a'}, {cell.has_f, 'f'}}) {
        if (has) {
          auto target = row.target;
          target.suffix = suffix;
          forms.add(target.sm());
        }
      }
      cells.set(matrix.releases[i].minor.major_minor(), std::move(forms));
    }
    gpus.add(text::Json::object()
                 .set("target", row.target.sm())
                 .set("architecture", row.architecture)
                 .set("products", text::Json::list(row.products))
                 .set("compiles", cells));
  }
  return text::Json::object()
      .set("schema", "cukit.matrix/1")
      .set("driver", driver)
      .set("releases", releases)
      .set("gpus", gpus);
}

Result<int> run_matrix(Invocation& invocation, const MatrixOptions& options) {
  const auto knowledge = invocation.knowledge();
  std::vector<GpuTarget> gpus;
  for (const auto& text : options.gpus) {
    CUKIT_TRY_ASSIGN(const auto gpu, knowledge::find_gpu(knowledge, text));
    gpus.push_back(gpu.plain());
  }
  std::optional<Version> driver;
  if (!options.driver.empty()) {
    CUKIT_TRY_ASSIGN(driver, Version::parse(options.driver));
  }
  CUKIT_TRY_ASSIGN(const auto matrix,
                   explain::service_matrix(knowledge, gpus, driver, options.major));
  if (matrix.releases.empty()) {
    return fail(ErrorCode::usage, "the recipes know no release of CUDA {}", options.major);
  }
  if (invocation.options.json) {
    print_json(matrix_json(matrix, options.driver));
  } else {
    ui::print(table_text(invocation.output(), matrix, driver.has_value()));
  }
  return 0;
}

} // namespace

void register_matrix(Commands& commands) {
  auto options = std::make_shared<MatrixOptions>();
  auto* app = commands.add("matrix", "GPUs x releases of CUDA x driver, as a table",
                           [options](Invocation& invocation) {
                             const auto code = run_matrix(invocation, *options);
                             return code ? *code : report(invocation, code.error());
                           });
  app->add_option("GPU", options->gpus, "Only these: sm_120, \"12.0\" or a product's name");
  app->add_option("--driver", options->driver, "What this driver runs: 570 or 580.95.05")
      ->type_name("VERSION");
  app->add_option("--cuda", options->major, "Only releases of this major")->type_name("MAJOR");
}

} // namespace cukit::cmd

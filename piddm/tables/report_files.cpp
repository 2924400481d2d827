#include "piddm/tables/report_files.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "piddm/files/atomic_file.h"
#include "piddm/tables/best.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

struct Column {
  std::string metric;
  bool paper;
};

enum class Form { file, page };

std::string interval_text(const Row& row, const std::string& metric) {
  const auto found = row.result.scores.intervals.find(metric);
  if (found == row.result.scores.intervals.end() || !std::isfinite(found->second.first)) return "";
  return fmt::format(" [{}, {}]", format_number(found->second.first), format_number(found->second.second));
}

std::string cell(const Row& row, const Column& column, Form form = Form::file) {
  if (column.paper) {
    const auto value = row.paper ? row.paper->metrics.find(column.metric) : std::nullopt;
    return value ? format_number(*value) + (row.paper->doubtful.empty() ? "" : "?") : "";
  }
  const auto text = score_text(row.result.scores, column.metric, !row.result.diverged.empty());
  if (text.empty() || text == kDiverged) return text;
  if (const auto deviation = row.deviation.find(column.metric)) return text + " ± " + format_number(*deviation);
  return text + (form == Form::page ? interval_text(row, column.metric) : "");
}

std::vector<Column> columns_of(const Report& report) {
  std::vector<Column> out;
  for (const auto& metric : report.columns)
    for (const Column& column : {Column{metric, false}, {metric, true}})
      if (std::any_of(report.rows.begin(), report.rows.end(), [&](const Row& r) { return !cell(r, column).empty(); }))
        out.push_back(column);
  return out;
}

struct Label {
  std::string name;
  std::string Labels::*value;
};
const std::vector<Label> kLabels = {
    {"pde", &Labels::pde}, {"task", &Labels::task}, {"method", &Labels::method}, {"setting", &Labels::setting}};

/// Those that tell rows apart; methods always.
std::vector<Label> labels_in(const Report& report) {
  std::vector<Label> out;
  for (const auto& label : kLabels) {
    std::set<std::string> values;
    for (const auto& row : report.rows) values.insert(row.labels.*label.value);
    if (values.size() > 1 || label.value == &Labels::method) out.push_back(label);
  }
  return out;
}

/// Marks the best values of each metric (best.h).
void emphasise_best(Table& table, const Report& report, const std::vector<Column>& columns, size_t first_column) {
  for (size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].paper) continue;
    for (const size_t row : best_rows(report, columns[c].metric)) table.emphasise(row, first_column + c);
  }
}

std::string remarks_of(const Report& report) {
  std::string text;
  for (const auto& row : report.rows) {
    const auto name = row.labels.text();
    if (row.seeds) text += fmt::format("- {}: {} seeds so far\n", name, *row.seeds);
    if (!row.result.refused.empty()) text += fmt::format("- {}: refused: {}\n", name, row.result.refused);
    if (!row.result.failed.empty()) text += fmt::format("- {}: failed: {}\n", name, row.result.failed);
    if (!row.result.diverged.empty()) text += fmt::format("- {}: diverged: {}\n", name, row.result.diverged);
    if (row.paper && !row.paper->doubtful.empty())
      text += fmt::format("- {}: the paper's row is doubtful: {}\n", name, row.paper->doubtful);
  }
  return text;
}

std::string floors_text(const Report& report) {
  std::string text;
  for (const auto& [pde, floor] : report.floors) {
    text += fmt::format("- floor of {}:", pde);
    for (const char* metric : {"mmse", "smse", "swd", "apdd", "frechet_teacher", "pde_error"})
      if (const auto value = floor.find(metric)) text += fmt::format(" {} {}", metric, format_number(*value));
    text += "\n";
  }
  return text;
}

/// "fp32", or of several "fp32 (darcy generate teacher, ...), bf16 (...)"; empty where no row says it.
std::string precisions_of(const Report& report) {
  std::map<std::string, std::vector<std::string>> rows;
  for (const auto& row : report.rows)
    if (!row.result.precision.empty()) rows[row.result.precision].push_back(row.labels.text());
  if (rows.size() == 1) return rows.begin()->first;
  std::vector<std::string> parts;
  for (const auto& [precision, names] : rows)
    parts.push_back(fmt::format("{} ({})", precision, fmt::join(names, ", ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string notes_of(const Report& report) {
  auto text = fmt::format("{}\n\n- {}\n", report.reading, report.sizes);
  if (const auto precisions = precisions_of(report); !precisions.empty())
    text += fmt::format("- arithmetic of the networks: {}\n", precisions);
  if (!report.caveat.empty()) text += "- paper: " + report.caveat + "\n";
  text += floors_text(report) + remarks_of(report);
  return report.conclusion.empty() ? text : text + "\n" + report.conclusion;
}

/// A row per PDE: "floor" in the place of the method.
void add_floors(Table& table, const Report& report, const std::vector<Label>& labels,
                const std::vector<Column>& columns) {
  for (const auto& [pde, floor] : report.floors) {
    std::vector<std::string> cells;
    for (const auto& label : labels)
      cells.push_back(label.value == &Labels::method ? "floor" : label.value == &Labels::pde ? pde : "");
    for (const auto& [metric, paper] : columns) {
      const auto value = paper ? std::nullopt : floor.find(metric);
      cells.push_back(value ? format_number(*value) : "");
    }
    table.add_row(cells);
  }
}

Table table_in(const Report& report, Form form) {
  const auto labels = labels_in(report);
  const auto columns = columns_of(report);
  std::vector<std::string> header;
  for (const auto& label : labels) header.push_back(label.name);
  for (const auto& [metric, paper] : columns)
    header.push_back(!paper ? metric : header.back() == metric ? "paper" : "paper's " + metric);
  std::vector<Align> align(header.size(), Align::right);
  std::fill_n(align.begin(), labels.size(), Align::left);
  Table table(header, align);
  for (const auto& row : report.rows) {
    std::vector<std::string> cells;
    cells.reserve(header.size());
    for (const auto& label : labels) cells.push_back(row.labels.*label.value);
    for (const auto& column : columns) cells.push_back(cell(row, column, form));
    table.add_row(cells);
  }
  if (form == Form::page) add_floors(table, report, labels, columns);
  emphasise_best(table, report, columns, labels.size());
  return table;
}

std::string title_of(const Report& report) { return fmt::format("{} ({})", report.experiment, report.summary); }

}  // namespace

Table table_of(const Report& report) { return table_in(report, Form::file); }

Table page_table_of(const Report& report) { return table_in(report, Form::page); }

std::string format_report(const Report& report) { return table_of(report).text() + "\n" + notes_of(report); }

void write_report(const Report& report, const fs::path& out) {
  fs::create_directories(out);
  const auto table = table_of(report);
  write_report_file(out / "report.json", report);
  write_file_atomically(out / "table.csv", table.csv());
  write_file_atomically(out / "table.tex", table.latex());
  write_file_atomically(out / "table.md",
                        fmt::format("# {}\n\n{}\n{}", title_of(report), table.markdown(), notes_of(report)));
}

std::optional<Report> read_report(const fs::path& out) {
  const auto file = out / "report.json";
  if (!fs::exists(file)) return {};
  return read_report_file(file);
}

std::vector<ReportPicture> pictures_in(const fs::path& folder) {
  std::set<fs::path> files;
  for (const auto& file : fs::directory_iterator(folder))
    if (file.path().extension() == ".svg" ||
        (file.path().extension() == ".png" && !fs::exists(fs::path(file.path()).replace_extension(".svg"))))
      files.insert(file.path());
  std::vector<ReportPicture> pictures;
  for (const auto& file : files) pictures.push_back({file, file.stem().string()});
  return pictures;
}

ReportSection report_section(const Report& report, const fs::path& folder) {
  ReportSection section{.id = report.experiment,
                        .title = title_of(report),
                        .text = notes_of(report),
                        .tables = {{page_table_of(report)}},
                        .details = {{"options", report.options}, {"machine", report.machine}}};
  section.pictures = pictures_in(folder);
  return section;
}

}  // namespace piddm

#include "piddm/tables/table_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "piddm/files/atomic_file.h"
#include "piddm/tables/table_rows.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

/// Of these larger is not worse, so none is best.
const std::set<std::string> kCounts = {"nfe", "backward", "training_seconds"};

std::string cell(const json& row, const std::string& metric) {
  if (!row.contains("metrics") || !has_number(row.at("metrics"), metric)) return "";
  auto text = format_number(row.at("metrics").at(metric).get<double>());
  if (has_number(row.value("deviation", json()), metric))
    text += " ± " + format_number(row.at("deviation").at(metric).get<double>());
  return text;
}

std::string paper_cell(const json& row, const std::string& metric) {
  if (!has_number(row.at("paper"), metric)) return "";
  return format_number(row.at("paper").at(metric).get<double>()) + (row.at("paper").contains("doubtful") ? "?" : "");
}

struct Column {
  std::string metric;
  bool paper;
};

std::vector<Column> columns_of(const json& report) {
  const auto& rows = report.at("rows");
  std::vector<Column> out;
  for (const auto& name : report.at("columns")) {
    const auto metric = name.get<std::string>();
    for (const bool paper : {false, true})
      if (std::any_of(rows.begin(), rows.end(),
                      [&](const json& row) { return !(paper ? paper_cell(row, metric) : cell(row, metric)).empty(); }))
        out.push_back({metric, paper});
  }
  return out;
}

std::vector<std::string> labels_in(const json& report) {
  std::vector<std::string> out;
  for (const auto& label : kRowLabels) {
    std::set<json> values;
    for (const auto& row : report.at("rows")) values.insert(labels_of(row).value(label, json("")));
    if (values.size() > 1 || label == "method") out.push_back(label);
  }
  return out;
}

/// Marks the smallest value of each metric among rows of the same PDE and task.
void emphasise_best(Table& table, const json& report, const std::vector<Column>& columns, size_t first_column) {
  const auto& rows = report.at("rows");
  const auto group = [&](size_t i) {
    return labels_of(rows[i]).value("pde", "") + " " + labels_of(rows[i]).value("task", "");
  };
  for (size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].paper || kCounts.contains(columns[c].metric)) continue;
    std::map<std::string, std::pair<double, size_t>> best;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (cell(rows[i], columns[c].metric).empty()) continue;
      const double value = rows[i].at("metrics").at(columns[c].metric).get<double>();
      const auto found = best.find(group(i));
      if (found == best.end() || value < found->second.first) best[group(i)] = {value, i};
    }
    for (const auto& [name, winner] : best) table.emphasise(winner.second, first_column + c);
  }
}

std::string remarks_of(const json& report) {
  std::string text;
  for (const auto& row : report.at("rows")) {
    std::string name;
    for (const auto& [key, value] : labels_of(row).items())
      name += (name.empty() ? "" : " ") + value.get<std::string>();
    if (row.contains("seeds")) text += fmt::format("- {}: {} seeds so far\n", name, row.at("seeds").dump());
    for (const char* kind : {"refused", "failed"})
      if (row.contains(kind)) text += fmt::format("- {}: {}: {}\n", name, kind, row.at(kind).get<std::string>());
    if (row.at("paper").is_object() && row.at("paper").contains("doubtful"))
      text += fmt::format("- {}: the paper's row is doubtful: {}\n", name,
                          row.at("paper").at("doubtful").get<std::string>());
  }
  return text;
}

std::string floors_text(const json& report) {
  std::string text;
  for (const auto& [pde, floor] : report.at("floors").items()) {
    text += fmt::format("- floor of {}:", pde);
    for (const char* metric : {"mmse", "smse", "swd", "apdd", "frechet_teacher", "pde_error"})
      if (has_number(floor, metric))
        text += fmt::format(" {} {}", metric, format_number(floor.at(metric).get<double>()));
    text += "\n";
  }
  return text;
}

std::string notes_of(const json& report) {
  const auto& o = report.at("options");
  std::string text = fmt::format("{}\n\n", report.at("reading").get<std::string>());
  text += fmt::format(
      "- {} samples a method ({} of D-Flow), {} cases a task ({} of D-Flow), seeds {}, judged against {} held-out true "
      "samples\n",
      o.at("samples").dump(), o.at("dflow_samples").dump(), o.at("cases").dump(), o.at("dflow_cases").dump(),
      o.at("seeds").dump(), o.at("judge").at("held_out").dump());
  if (const auto caveat = report.value("caveat", std::string()); !caveat.empty()) text += "- paper: " + caveat + "\n";
  return text + floors_text(report) + remarks_of(report);
}

std::string title_of(const json& report) {
  return fmt::format("{} ({})", report.at("experiment").get<std::string>(), report.at("summary").get<std::string>());
}

}  // namespace

Table table_of(const json& report) {
  const auto labels = labels_in(report);
  const auto columns = columns_of(report);
  std::vector<std::string> header = labels;
  for (const auto& column : columns)
    header.push_back(!column.paper                    ? column.metric
                     : header.back() == column.metric ? "paper"
                                                      : "paper's " + column.metric);
  std::vector<Align> align(header.size(), Align::right);
  std::fill_n(align.begin(), labels.size(), Align::left);
  Table table(header, align);
  for (const auto& row : report.at("rows")) {
    std::vector<std::string> cells;
    cells.reserve(header.size());
    for (const auto& label : labels) cells.push_back(labels_of(row).value(label, ""));
    for (const auto& column : columns)
      cells.push_back(column.paper ? paper_cell(row, column.metric) : cell(row, column.metric));
    table.add_row(cells);
  }
  emphasise_best(table, report, columns, labels.size());
  return table;
}

std::string format_table(const json& report) { return table_of(report).text() + "\n" + notes_of(report); }

void write_table(const json& report, const fs::path& out) {
  fs::create_directories(out);
  const auto table = table_of(report);
  write_file_atomically(out / "report.json", report.dump(2) + "\n");
  write_file_atomically(out / "table.csv", table.csv());
  write_file_atomically(out / "table.tex", table.latex());
  write_file_atomically(out / "table.md",
                        fmt::format("# {}\n\n{}\n{}", title_of(report), table.markdown(), notes_of(report)));
}

ReportSection table_section(const json& report, const fs::path& folder) {
  ReportSection section{.id = report.at("experiment").get<std::string>(),
                        .title = title_of(report),
                        .text = notes_of(report),
                        .tables = {{table_of(report)}},
                        .details = {{"options", report.at("options")}, {"machine", report.at("machine")}}};
  std::set<fs::path> pictures;  // the SVG of a picture, else its PNG
  for (const auto& file : fs::directory_iterator(folder))
    if (file.path().extension() == ".svg" ||
        (file.path().extension() == ".png" && !fs::exists(fs::path(file.path()).replace_extension(".svg"))))
      pictures.insert(file.path());
  for (const auto& picture : pictures) section.pictures.push_back({picture, picture.stem().string()});
  return section;
}

}  // namespace piddm

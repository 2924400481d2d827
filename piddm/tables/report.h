#pragma once
// The report of a table: every number of every row, the paper's beside it, floors, options and machine. What
// report.json holds.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "piddm/recipe/entry.h"
#include "piddm/recipe/result.h"

namespace piddm {

/// What the paper says in the place of a row of ours.
struct PaperRow {
  Scores metrics;
  std::string doubtful = {};  ///< why the row cannot be right; empty: no doubt
};

struct Row {
  Labels labels = {};
  int64_t count = 0;                        ///< samples or cases
  Result result = {};                       ///< means over seeds; intervals of a single seed only
  Scores deviation = {};                    ///< over seeds, where there are several
  std::map<uint64_t, Result> by_seed = {};  ///< what each of them gave; empty: not known
  std::optional<PaperRow> paper = {};
  std::optional<int64_t> seeds = {};  ///< how many are finished, while some are not
  std::optional<size_t> part = {};    ///< in merged reports: which of `merged` it comes from

  std::optional<double> metric(const std::string& name) const { return result.scores.find(name); }
};

struct Report {
  std::string experiment;  ///< name of the table
  std::string summary, reading, caveat = {}, scale = {};
  std::vector<std::string> columns;  ///< metrics shown
  std::vector<Row> rows = {};
  std::map<std::string, Scores> floors = {};  ///< by PDE
  std::string conclusion = {};                ///< Markdown below the table
  std::string sizes = {};                     ///< how many samples, cases and seeds, as a sentence
  json options = json::object(), machine = json::object();
  double seconds = 0;
  std::optional<size_t> entries = {};  ///< of the whole table, where only what is finished was looked at
  json merged = json::array();         ///< {"options", "machine", "seconds"} of the reports it was merged from

  bool whole() const { return !entries || rows.size() >= *entries; }
};

json to_json(const Report& report);

/// Reports of earlier versions are read too; a DataError names `origin` where it is no report.
Report report_from(const json& object, const std::string& origin);

/// report.json as a document of files/json_file.h.
void write_report_file(const std::filesystem::path& file, const Report& report);
Report read_report_file(const std::filesystem::path& file);

/// Whether a report.json is of a table, and not of the demo or the laboratory.
bool is_table_report(const std::filesystem::path& file);

/// pde_error_ratio: pde_error above the floor of true data (0 where that is not known, as in the paper) over that of
/// the reference method with the same other labels, in the metrics of each row and in the paper's. Where a table has a
/// setting of the reference method's name, that is the row for all settings.
void add_ratios(Report& report, const std::string& reference);

/// apdd_teacher: |apd - teacher's apd| / teacher's apd, of each row beside which there is a teacher with the same other
/// labels; not of the teacher itself.
void add_teacher_distances(Report& report);

}  // namespace piddm

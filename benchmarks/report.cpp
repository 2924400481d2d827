#include "benchmarks/report.h"

#include "piddm/core/table.h"

namespace piddm::cli {

namespace {

std::string number(const json& row, const std::string& key, double scale = 1) {
  return row.contains(key) ? format_number(scale * row.at(key).get<double>()) : "-";
}

std::string rows_text(const json& rows) {
  Table table({"what", "batch", "grid", "precision", "ms", "FFT form", "times", "PyTorch", "times", "floor ms",
               "of floor %", "GB/s", "TFLOP/s", "peak MiB"},
              {Align::left, Align::right, Align::right, Align::left, Align::right, Align::right, Align::right,
               Align::right, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right});
  for (const auto& row : rows)
    table.add_row({row.at("what"), std::to_string(row.at("batch").get<int64_t>()),
                   std::to_string(row.at("grid").get<int64_t>()), row.at("precision"), number(row, "ms"),
                   number(row.at("peer_ms"), "fft"), number(row.at("ratio"), "fft"), number(row.at("peer_ms"), "torch"),
                   number(row.at("ratio"), "torch"), number(row, "floor_ms"), number(row, "floor_fraction", 100),
                   number(row, "gbps"), number(row, "tflops"), number(row, "peak_bytes", 1.0 / (1 << 20))});
  return table.text();
}

}  // namespace

std::string network_report(const json& result) {
  const json& torch = result.at("peers").at("torch");
  std::string text = rows_text(result.at("rows"));
  for (const auto& skipped : result.at("skipped"))
    text += fmt::format("skipped: {} batch {} grid {} {}: {}\n", skipped.at("what").get<std::string>(),
                        skipped.at("batch").get<int64_t>(), skipped.at("grid").get<int64_t>(),
                        skipped.at("precision").get<std::string>(), skipped.at("skipped").get<std::string>());
  text += fmt::format("medians of {} turn(s) on {} thread(s); PyTorch: {}\n", result.at("repeats").get<int64_t>(),
                      result.at("machine").at("threads").get<int>(),
                      torch.contains("absent") ? "absent (" + torch.at("absent").get<std::string>() + ")"
                                               : torch.at("version").get<std::string>());
  for (const auto& [precision, c] : result.at("ceilings").at("by_precision").items())
    text += fmt::format("ceilings measured here, {}: copy {} GB/s, matrix product {} TFLOP/s\n", precision,
                        number(c, "copy_gbps"), number(c, "gemm_tflops"));
  return text;
}

}  // namespace piddm::cli

// The result of piddm bench spectral, fno, train or sample as JSON and as a table for people.

#include "benchmarks/network.h"
#include "piddm/core/device.h"
#include "piddm/core/table.h"

namespace piddm::bench {

namespace {

json measured_json(const NetworkRow& row) {
  const auto& c = row.work;
  const double ms = row.ours.best();
  json peers = json::object(), ratios = json::object();
  for (const auto& [name, peer] : {std::pair{"fft", row.fft_ms}, {"torch", row.torch_ms}})
    if (peer) peers[name] = *peer, ratios[name] = *peer / ms;
  json out = {{"bench", c.bench},
              {"what", c.what},
              {"device", c.device.is_cuda() ? "cuda" : "cpu"},
              {"batch", c.batch},
              {"grid", c.grid.to_json()},
              {"precision", precision_name(c.precision)},
              {"ms", ms},
              {"peer_ms", peers},
              {"ratio", ratios},
              {"ms_per_sample", ms / static_cast<double>(c.batch)}};
  if (row.ours.graph_ms)
    out.update({{"eager_ms", row.ours.eager_ms},
                {"graph_ms", *row.ours.graph_ms},
                {"graph", *row.ours.graph_ms <= row.ours.eager_ms}});
  if (row.peak_bytes) out.update({{"peak_bytes", *row.peak_bytes}});
  out.update({{"floor_ms", row.floor_ms},
              {"floor_fraction", row.floor_ms / ms},
              {"gbps", row.gbps()},
              {"tflops", row.tflops()}});
  return out;
}

json skipped_json(const NetworkRow& row) {
  return {{"what", row.work.what},
          {"batch", row.work.batch},
          {"grid", row.work.grid.to_json()},
          {"precision", precision_name(row.work.precision)},
          {"skipped", row.skipped}};
}

/// {"copy_gbps", "gemm_tflops"} of the first precision, and all under "by_precision".
json ceilings_json(const NetworkResult& result) {
  const auto one = [](const Ceilings& c) { return json{{"copy_gbps", c.copy_gbps}, {"gemm_tflops", c.gemm_tflops}}; };
  json all = json::object();
  for (const auto& [precision, c] : result.ceilings) all[precision_name(precision)] = one(c);
  json out = one(result.ceilings.at(result.rows.front().work.precision));
  out.update({{"by_precision", all}});
  return out;
}

/// What the peer says about itself, without its rows.
json peer_json(const PeerAnswer& peer) {
  if (!peer.absent.empty()) return {{"absent", peer.absent}};
  json out = peer.answer;
  out.erase("rows");
  return out;
}

json settings_json(const NetworkOptions& o) {
  json network = write_fields(o.fno);
  network.erase("spectral");
  return {{"network", network}, {"steps", o.steps}, {"scaling", o.scaling}};
}

std::string cell(const std::optional<double>& value) { return value ? format_number(*value) : "-"; }

std::optional<double> over(const std::optional<double>& value, double by) {
  return value ? std::optional(*value / by) : std::nullopt;
}

std::string rows_text(const std::vector<NetworkRow>& rows) {
  Table table({"what", "batch", "grid", "precision", "ms", "FFT form", "times", "PyTorch", "times", "floor ms",
               "of floor %", "GB/s", "TFLOP/s", "peak MiB"},
              {Align::left, Align::right, Align::right, Align::left, Align::right, Align::right, Align::right,
               Align::right, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right});
  for (const auto& row : rows) {
    if (!row.skipped.empty()) continue;
    const double ms = row.ours.best();
    const auto peak = row.peak_bytes ? std::optional(static_cast<double>(*row.peak_bytes)) : std::nullopt;
    table.add_row({row.work.what, std::to_string(row.work.batch), row.work.grid.text(),
                   precision_name(row.work.precision), format_number(ms), cell(row.fft_ms), cell(over(row.fft_ms, ms)),
                   cell(row.torch_ms), cell(over(row.torch_ms, ms)), format_number(row.floor_ms),
                   format_number(100 * (row.floor_ms / ms)), format_number(row.gbps()), format_number(row.tflops()),
                   cell(over(peak, 1 << 20))});
  }
  return table.text();
}

}  // namespace

json network_json(const NetworkResult& result) {
  json rows = json::array(), skipped = json::array();
  for (const auto& row : result.rows)
    if (row.skipped.empty())
      rows.push_back(measured_json(row));
    else
      skipped.push_back(skipped_json(row));
  return {{"machine", describe_machine()},
          {"seed", result.options.seed},
          {"repeats", result.options.repeats},
          {"settings", settings_json(result.options)},
          {"rows", rows},
          {"skipped", skipped},
          {"ceilings", ceilings_json(result)},
          {"peers", json{{"torch", peer_json(result.torch)}}}};
}

std::string network_report(const NetworkResult& result) {
  std::string text = rows_text(result.rows);
  for (const auto& row : result.rows)
    if (!row.skipped.empty())
      text += fmt::format("skipped: {} batch {} grid {} {}: {}\n", row.work.what, row.work.batch, row.work.grid.text(),
                          precision_name(row.work.precision), row.skipped);
  const auto& peer = result.torch;
  text += fmt::format(
      "medians of {} turn(s) on {} thread(s); PyTorch: {}\n", result.options.repeats, torch::get_num_threads(),
      peer.absent.empty() ? peer.answer.at("version").get<std::string>() : "absent (" + peer.absent + ")");
  for (const auto& [precision, c] : result.ceilings)
    text += fmt::format("ceilings measured here, {}: copy {} GB/s, matrix product {} TFLOP/s\n",
                        precision_name(precision), format_number(c.copy_gbps), format_number(c.gemm_tflops));
  return text;
}

}  // namespace piddm::bench

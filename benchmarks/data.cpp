#include "benchmarks/data.h"

#include <algorithm>
#include <functional>
#include <map>

#include "benchmarks/timing.h"
#include "piddm/core/device.h"
#include "piddm/core/table.h"
#include "piddm/pde/pde_file.h"

namespace piddm::bench {

namespace {

constexpr int64_t kTargetGrid = 128, kResidualBatch = 16;

DataSeconds target_of(const std::string& pde) {
  static const std::map<std::string, DataSeconds> solved = {
      {"darcy", {8e-3, 2e-3}},           // name: its target
      {"poisson", {1e-3, 2e-3}},         // name: its target
      {"helmholtz", {1e-3, 2e-3}},       // name: its target
      {"burgers", {30e-3, 2e-3}},        // name: its target
      {"navier-stokes", {200e-3, 4e-3}}  // name: its target
  };
  const auto found = solved.find(pde);
  return found == solved.end() ? DataSeconds{0.3e-3, 2e-3} : found->second;  // others have closed forms
}

/// Median time of `work`, after one run that warms caches.
double median_seconds(int64_t repeats, const std::function<void()>& work) {
  work();
  std::vector<double> seconds;
  for (int64_t i = 0; i < repeats; ++i) {
    const double begin = processor_seconds();
    work();
    seconds.push_back(processor_seconds() - begin);
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[repeats / 2];
}

double data_seconds(const Pde& pde, const DataOptions& o) {
  int64_t first = 0;
  const auto work = [&] {
    pde.sample(o.seed, first, o.n);
    first += o.n;
  };
  return median_seconds(o.repeats, work) / static_cast<double>(o.n);
}

double residual_seconds(const Pde& pde, const DataOptions& o) {
  const Tensor x = pde.sample(o.seed, 0, kResidualBatch).to(torch::kFloat32);
  const auto work = [&] {
    const Tensor leaf = x.detach().requires_grad_(true);
    torch::autograd::grad({pde.pde_error(leaf).sum()}, {leaf});
  };
  return median_seconds(o.repeats, work) / static_cast<double>(kResidualBatch);
}

PeerAnswer measure_scipy(const DataOptions& o) {
  std::vector<std::string> arguments = {"--grid",    std::to_string(o.grid),   "--n", std::to_string(o.n),
                                        "--repeats", std::to_string(o.repeats)};
  for (const auto& pde : o.pdes) arguments.insert(arguments.end(), {"--pde", pde});  // of a file it has nothing
  return call_peer({"data_scipy.py", "scipy", o.python, arguments, "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"});
}

PdePtr pde_on(const std::string& name, int64_t grid) {
  auto options = pde_named(name);
  options.grid = grid;
  return make_pde(options);
}

DataRow measure(const std::string& name, const DataOptions& o, const json& peers) {
  const auto pde = pde_on(name, o.grid);
  DataRow row{pde->name(), {data_seconds(*pde, o), residual_seconds(*pde, o)}, {}, json::object(), {}};
  if (o.grid == kTargetGrid && !names_file(name)) row.target = target_of(name);
  if (const auto found = peers.find(name); found != peers.end()) {
    row.peer = *found;
    row.peer_seconds = found->at("seconds_per_sample").get<double>();
  }
  return row;
}

json row_json(const DataRow& row) {
  json out = {{"seconds_per_sample", row.seconds.data}, {"residual_gradient_seconds", row.seconds.residual}};
  if (row.target)
    out.update({{"target_seconds", row.target->data},
                {"residual_target_seconds", row.target->residual},
                {"pass", row.pass()}});
  if (row.peer_seconds) out.update({{"peer", row.peer}, {"times_faster", *row.peer_seconds / row.seconds.data}});
  return out;
}

std::string milliseconds(double seconds) { return format_number(seconds * 1e3); }

}  // namespace

DataResult bench_data(DataOptions o) {
  if (o.pdes.empty()) o.pdes = pde_registry().names();
  for (const auto& name : o.pdes) pde_on(name, o.grid);  // refused before anything is measured
  set_threads(1);
  DataResult result{o, {}, measure_scipy(o)};
  const auto peers = result.scipy.answer.value("pdes", json::object());
  for (const auto& name : o.pdes) result.rows.push_back(measure(name, o, peers));
  return result;
}

json data_json(const DataResult& result) {
  const auto& [o, rows, scipy] = result;
  json pdes = json::object();
  for (const auto& row : rows) pdes[row.pde] = row_json(row);
  const auto& version = scipy.answer;
  const json peers = scipy.absent.empty() ? json{{"scipy", version.at("scipy")}, {"numpy", version.at("numpy")}}
                                          : json{{"absent", scipy.absent}};
  return {{"machine", describe_machine()}, {"grid", o.grid}, {"n", o.n},
          {"repeats", o.repeats},          {"peers", peers}, {"pdes", pdes}};
}

std::string data_report(const DataResult& result) {
  const auto& [o, rows, scipy] = result;
  Table table({"PDE", "data ms", "target", "scipy ms", "times faster", "scipy's method", "residual+gradient ms",
               "target", "met"},
              {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left, Align::right,
               Align::right, Align::left});
  for (const auto& row : rows)
    table.add_row({row.pde, milliseconds(row.seconds.data), row.target ? milliseconds(row.target->data) : "-",
                   row.peer_seconds ? milliseconds(*row.peer_seconds) : "-",
                   row.peer_seconds ? format_number(*row.peer_seconds / row.seconds.data) : "-",
                   row.peer.value("method", std::string("-")), milliseconds(row.seconds.residual),
                   row.target ? milliseconds(row.target->residual) : "-",
                   !row.target  ? "-"
                   : row.pass() ? "yes"
                                : "NO"});
  const auto version = [&](const char* module) { return scipy.answer.at(module).get<std::string>(); };
  const std::string others = scipy.absent.empty()
                                 ? fmt::format("scipy {}, numpy {}", version("scipy"), version("numpy"))
                                 : fmt::format("scipy: absent ({})", scipy.absent);
  return fmt::format(
      "{}\nmilliseconds of processor time per sample on one core, {}x{}: coefficients and solution in float64; "
      "residual with gradient in float32, batches of {}\nmedian of {} runs of {} samples; {}; {}\n",
      table.text(), o.grid, o.grid, kResidualBatch, o.repeats, o.n, describe_machine().at("cpu").get<std::string>(),
      others);
}

}  // namespace piddm::bench

// piddm bench data: seconds a sample on one core for every PDE, beside the same work done by scipy in the same run.

#include <algorithm>
#include <ctime>
#include <memory>

#include "benchmarks/peer.h"
#include "cli/bench.h"
#include "piddm/core/table.h"
#include "piddm/pde/pde.h"

namespace piddm::cli {

namespace {

constexpr int64_t kTargetGrid = 128, kResidualBatch = 16;

struct BenchOptions {
  std::vector<std::string> pdes;
  int64_t grid = kTargetGrid, n = 8, repeats = 5;
  std::string python;
};

struct Target {
  double data, residual;  // seconds a sample at kTargetGrid, one core
};

Target target_of(const std::string& pde) {
  if (pde == "darcy") return {8e-3, 2e-3};
  if (pde == "poisson" || pde == "helmholtz") return {1e-3, 2e-3};
  if (pde == "burgers") return {30e-3, 2e-3};
  if (pde == "navier-stokes") return {200e-3, 4e-3};
  return {0.3e-3, 2e-3};  // closed forms
}

/// Processor time of this process so far: with one thread what a clock shows on an idle machine, whatever else runs.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
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

double data_seconds(const Pde& pde, uint64_t seed, const BenchOptions& o) {
  int64_t first = 0;
  const auto work = [&] {
    pde.sample(seed, first, o.n);
    first += o.n;
  };
  return median_seconds(o.repeats, work) / static_cast<double>(o.n);
}

double residual_seconds(const Pde& pde, uint64_t seed, const BenchOptions& o) {
  const Tensor x = pde.sample(seed, 0, kResidualBatch).to(torch::kFloat32);
  const auto work = [&] {
    const Tensor leaf = x.detach().requires_grad_(true);
    torch::autograd::grad({pde.pde_error(leaf).sum()}, {leaf});
  };
  return median_seconds(o.repeats, work) / static_cast<double>(kResidualBatch);
}

/// The peers' results, or an object whose key "absent" says why there are none.
json measure_peers(const BenchOptions& o) {
  std::vector<std::string> arguments = {"--grid",    std::to_string(o.grid),   "--n", std::to_string(o.n),
                                        "--repeats", std::to_string(o.repeats)};
  for (const auto& pde : o.pdes) arguments.insert(arguments.end(), {"--pde", pde});
  return call_peer({"data_scipy.py", "scipy", o.python, arguments, "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"});
}

json measure_data(const std::string& name, uint64_t seed, const BenchOptions& o, const json& peers) {
  const auto pde = make_pde({.name = name, .grid = o.grid});
  const double data = data_seconds(*pde, seed, o), residual = residual_seconds(*pde, seed, o);
  json entry = {{"seconds_per_sample", data}, {"residual_gradient_seconds", residual}};
  if (o.grid == kTargetGrid) {
    const auto target = target_of(name);
    entry["target_seconds"] = target.data;
    entry["residual_target_seconds"] = target.residual;
    entry["pass"] = data <= target.data && residual <= target.residual;
  }
  if (const auto found = peers.find("pdes"); found != peers.end() && found->contains(name)) {
    entry["peer"] = found->at(name);
    entry["times_faster"] = found->at(name).at("seconds_per_sample").get<double>() / data;
  }
  return entry;
}

std::string milliseconds(const json& entry, const std::string& key) {
  return entry.contains(key) ? format_number(entry.at(key).get<double>() * 1e3) : "-";
}

std::string report(const json& result) {
  Table table({"PDE", "data ms", "target", "scipy ms", "times faster", "scipy's method", "residual+gradient ms",
               "target", "met"},
              {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left, Align::right,
               Align::right, Align::left});
  for (const auto& [name, entry] : result.at("pdes").items()) {
    const json peer = entry.value("peer", json::object());
    table.add_row({name, milliseconds(entry, "seconds_per_sample"), milliseconds(entry, "target_seconds"),
                   milliseconds(peer, "seconds_per_sample"),
                   entry.contains("times_faster") ? format_number(entry.at("times_faster").get<double>()) : "-",
                   peer.value("method", std::string("-")), milliseconds(entry, "residual_gradient_seconds"),
                   milliseconds(entry, "residual_target_seconds"),
                   entry.contains("pass") ? (entry.at("pass").get<bool>() ? "yes" : "NO") : "-"});
  }
  const json& peers = result.at("peers");
  const std::string others = peers.contains("absent")
                                 ? fmt::format("scipy: absent ({})", peers.at("absent").get<std::string>())
                                 : fmt::format("scipy {}, numpy {}", peers.at("scipy").get<std::string>(),
                                               peers.at("numpy").get<std::string>());
  return fmt::format(
      "{}\nmilliseconds of processor time a sample on one core, {}x{}: coefficients and solution in float64; residual "
      "with gradient in "
      "float32, batches of {}\nmedian of {} runs of {} samples; {}; {}\n",
      table.text(), result.at("grid").get<int64_t>(), result.at("grid").get<int64_t>(), kResidualBatch,
      result.at("repeats").get<int64_t>(), result.at("n").get<int64_t>(),
      result.at("machine").at("cpu").get<std::string>(), others);
}

void bench_data(const Context& context, BenchOptions o) {
  require<UsageError>(o.n >= 1, "--n {}: must be at least 1", o.n);
  require<UsageError>(o.repeats >= 1, "--repeats {}: must be at least 1", o.repeats);
  if (o.pdes.empty()) o.pdes = pde_registry().names();
  for (const auto& name : o.pdes) make_pde({.name = name, .grid = o.grid});
  set_threads(1);
  const json peers = measure_peers(o);
  json result = {{"machine", describe_machine()}, {"grid", o.grid}, {"n", o.n}, {"repeats", o.repeats}};
  result["peers"] = peers.contains("absent") ? peers : json{{"scipy", peers.at("scipy")}, {"numpy", peers.at("numpy")}};
  for (const auto& name : o.pdes) result["pdes"][name] = measure_data(name, context.seed, o, peers);
  context.print(result, report(result));
}

}  // namespace

void add_bench_data(CLI::App& bench, Context& context) {
  auto* data = add_command(bench, context, "data", "Data generation and residuals of each PDE on one core, with scipy");
  auto options = std::make_shared<BenchOptions>();
  data->add_option("--pde", options->pdes, "which PDEs; all if not given");
  data->add_option("--grid", options->grid, "points a side; targets are for 128")->capture_default_str();
  data->add_option("--n", options->n, "samples in a run")->capture_default_str();
  data->add_option("--repeats", options->repeats, "runs, of which the median counts")->capture_default_str();
  data->add_option("--python", options->python,
                   "interpreter with scipy; otherwise python3 or /usr/bin/python3; none: no scipy");
  data->callback([&context, options] { context.run = [&context, options] { bench_data(context, *options); }; });
}

}  // namespace piddm::cli

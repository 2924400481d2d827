// piddm bench spectral | fno | train | sample: the network and what is done with it, beside the textbook form on the
// same LibTorch and beside plain PyTorch, in one run.

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "benchmarks/peer.h"
#include "benchmarks/report.h"
#include "benchmarks/timing.h"
#include "benchmarks/work.h"
#include "cli/bench.h"
#include "piddm/core/log.h"
#include "piddm/core/progress.h"
#include "piddm/core/table.h"
#include "piddm/files/atomic_file.h"

namespace piddm::cli {

namespace {

struct NetworkOptions {
  std::string bench;
  FnoOptions fno;
  int64_t modes = 32, euler_steps = 100, repeats = 5;
  std::vector<int64_t> batches, grids = {128};
  std::vector<std::string> precisions;
  std::string python, file;
  bool scaling = false;
};

std::string precision_name(Precision precision) { return enum_names(precision).at(static_cast<size_t>(precision)); }

std::vector<Precision> precisions_of(const NetworkOptions& o, torch::Device device) {
  const auto known = enum_names(Precision{});
  const auto wanted = !o.precisions.empty() ? o.precisions
                      : device.is_cuda()    ? std::vector<std::string>{"bf16", "tf32", "fp32"}
                                            : std::vector<std::string>{"fp32"};
  std::vector<Precision> out;
  for (const auto& name : wanted) {
    const auto found = std::find(known.begin(), known.end(), name);
    require<UsageError>(found != known.end(), "--precision: {}", unknown_name_message("value", name, known));
    out.push_back(static_cast<Precision>(found - known.begin()));
    require<UsageError>(device.is_cuda() || out.back() == Precision::fp32,
                        "--precision {}: only on a GPU; the CPU computes in fp32", name);
  }
  return out;
}

struct Size {
  int64_t batch, grid;
};

std::vector<Size> sizes_of(const NetworkOptions& o, torch::Device device) {
  std::vector<Size> sizes;
  const auto add = [&](int64_t batch, int64_t grid) {
    const auto same = [&](const Size& s) { return s.batch == batch && s.grid == grid; };
    if (std::none_of(sizes.begin(), sizes.end(), same)) sizes.push_back({batch, grid});
  };
  for (const int64_t grid : o.grids)
    for (const int64_t batch : o.batches) add(batch, grid);
  if (!o.scaling) return sizes;
  const bool gpu = device.is_cuda();
  for (int64_t batch = 1; batch <= (gpu ? 256 : 4); batch *= 2) add(batch, o.grids.front());
  for (const int64_t grid : {32, 64, 128, 256}) add(gpu ? 16 : 1, grid);
  return sizes;
}

std::vector<BenchCase> cases_of(const NetworkOptions& o, torch::Device device, uint64_t seed) {
  std::vector<BenchCase> cases;
  for (const auto precision : precisions_of(o, device))
    for (const auto& size : sizes_of(o, device))
      for (const auto& what : works_of(o.bench))
        cases.push_back({o.bench, what, o.fno, size.batch, size.grid, o.euler_steps, precision, device, seed});
  if (o.bench == "spectral" && device.is_cuda())
    for (auto& c : cases) c.fno.layers = 1;
  return cases;
}

/// Times of plain PyTorch for all cases, from one child process; {"absent": why} where there are none.
json torch_peer(const NetworkOptions& o, const std::vector<BenchCase>& cases) {
  const auto& first = cases.front();
  json request = {{"device", first.device.is_cuda() ? "cuda" : "cpu"},
                  {"threads", torch::get_num_threads()},
                  {"repeats", o.repeats},
                  {"steps", o.euler_steps},
                  {"sizes", write_fields(first.fno)},
                  {"cases", json::array()}};
  for (const auto& c : cases)
    request["cases"].push_back({{"bench", c.single_layer() ? "spectral" : "fno"},
                                {"what", c.what},
                                {"batch", c.batch},
                                {"grid", c.grid},
                                {"tf32", c.precision != Precision::fp32}});
  return call_peer({"fno_torch.py", "torch", o.python, {request.dump()}, ""});
}

std::string first_line(const c10::Error& error) {
  const std::string message = error.what_without_backtrace();
  return message.substr(0, message.find('\n'));
}

bool out_of_memory(const c10::Error& error) {
  const std::string message = error.what_without_backtrace();
  return message.find("out of memory") != std::string::npos || message.find("allocate") != std::string::npos;
}

/// Milliseconds of one form: as it is called, and on a GPU, where the work allows it, played back as a CUDA graph.
struct Form {
  std::vector<Contestant> contestants;
  std::vector<double> ms;
  double best() const { return *std::min_element(ms.begin(), ms.end()); }
};

Form form_of(WorkShop& shop, const BenchCase& c, SpectralForm form) {
  const auto work = shop.make(c, form);
  Form out{{work.run}, {}};
  if (!c.device.is_cuda() || !work.capturable) return out;
  try {
    out.contestants.push_back(captured(work.run));
  } catch (const c10::Error& error) {
    spdlog::warn("{} {}, {}: no CUDA graph ({})", c.bench, c.what, enum_names(form).at(static_cast<size_t>(form)),
                 first_line(error));
  }
  return out;
}

/// The textbook form; nothing where it does not fit into memory.
std::optional<Form> peer_form(WorkShop& shop, const BenchCase& c) {
  try {
    auto form = form_of(shop, c, SpectralForm::fft);
    form.contestants.front()();
    return form;
  } catch (const ResourceError& error) {
    spdlog::warn("{} {}: no FFT form ({})", c.bench, c.what, error.what());
  } catch (const c10::Error& error) {
    if (!out_of_memory(error)) throw;
    spdlog::warn("{} {}: no FFT form ({})", c.bench, c.what, first_line(error));
  }
  return std::nullopt;
}

void time_forms(std::vector<Form>& forms, int64_t repeats, torch::Device device) {
  std::vector<Contestant> all;
  for (const auto& form : forms) all.insert(all.end(), form.contestants.begin(), form.contestants.end());
  const auto ms = take_turns(all, repeats, device);
  auto next = ms.begin();
  for (auto& form : forms) {
    form.ms.assign(next, next + static_cast<std::ptrdiff_t>(form.contestants.size()));
    next += static_cast<std::ptrdiff_t>(form.contestants.size());
  }
}

void add_peer(json& row, const std::string& name, double ms) {
  row["peer_ms"][name] = ms;
  row["ratio"][name] = ms / row.at("ms").get<double>();
}

void add_floor(json& row, const Cost& cost, const Ceilings& ceilings) {
  const double ms = row.at("ms").get<double>();
  const double floor = std::max(cost.bytes / (1e6 * ceilings.copy_gbps), cost.flop / (1e9 * ceilings.gemm_tflops));
  row["floor_ms"] = floor;
  row["floor_fraction"] = floor / ms;
  row["gbps"] = cost.bytes / (1e6 * ms);
  row["tflops"] = cost.flop / (1e9 * ms);
}

json row_of(const BenchCase& c, const Form& ours) {
  json row = {{"bench", c.bench},
              {"what", c.what},
              {"device", c.device.is_cuda() ? "cuda" : "cpu"},
              {"batch", c.batch},
              {"grid", c.grid},
              {"precision", precision_name(c.precision)},
              {"ms", ours.best()},
              {"peer_ms", json::object()},
              {"ratio", json::object()}};
  row["ms_per_sample"] = ours.best() / static_cast<double>(c.batch);
  if (ours.ms.size() < 2) return row;
  row["eager_ms"] = ours.ms[0];
  row["graph_ms"] = ours.ms[1];
  row["graph"] = ours.ms[1] <= ours.ms[0];
  return row;
}

json measure(WorkShop& shop, const BenchCase& c, const NetworkOptions& o) {
  require<ResourceError>(composed_bytes(c) < available_bytes(c.device), "needs about {:.1f} GiB",
                         composed_bytes(c) / (1 << 30));
  const AllowTf32 allow(c.precision != Precision::fp32);
  const PeakMemory memory(c.device);
  std::vector<Form> forms = {form_of(shop, c, SpectralForm::fused)};
  forms[0].contestants[0]();
  const auto peak = memory.bytes();
  if (auto textbook = peer_form(shop, c)) forms.push_back(std::move(*textbook));
  time_forms(forms, o.repeats, c.device);
  json row = row_of(c, forms[0]);
  if (forms.size() > 1) add_peer(row, "fft", forms[1].best());
  if (peak) row["peak_bytes"] = *peak;
  return row;
}

/// The row, or why this case was skipped.
json measure_or_skip(WorkShop& shop, const BenchCase& c, const NetworkOptions& o) {
  std::string why;
  try {
    return measure(shop, c, o);
  } catch (const ResourceError& error) {
    why = error.what();
  } catch (const c10::Error& error) {
    if (!out_of_memory(error)) throw;
    why = first_line(error);
  }
  return {{"what", c.what},
          {"batch", c.batch},
          {"grid", c.grid},
          {"precision", precision_name(c.precision)},
          {"skipped", why}};
}

json settings_of(const NetworkOptions& o) {
  json network = write_fields(o.fno);
  network.erase("spectral");
  return {{"network", network}, {"euler_steps", o.euler_steps}, {"scaling", o.scaling}};
}

/// {"copy_gbps", "gemm_tflops"} of the first precision, and all under "by_precision".
json ceilings_json(const std::map<Precision, Ceilings>& ceilings, Precision first) {
  const auto one = [](const Ceilings& c) { return json{{"copy_gbps", c.copy_gbps}, {"gemm_tflops", c.gemm_tflops}}; };
  json out = one(ceilings.at(first));
  for (const auto& [precision, c] : ceilings) out["by_precision"][precision_name(precision)] = one(c);
  return out;
}

/// Measured before and after the rows: on a machine that others use too the better one is nearer to the truth.
void update_ceilings(std::map<Precision, Ceilings>& ceilings, const std::vector<BenchCase>& cases) {
  std::map<Precision, Ceilings> now;
  for (const auto& c : cases)
    if (!now.count(c.precision)) now[c.precision] = measure_ceilings(c.precision, c.device);
  for (const auto& [precision, c] : now) {
    auto& best = ceilings[precision];
    best = {std::max(best.copy_gbps, c.copy_gbps), std::max(best.gemm_tflops, c.gemm_tflops)};
  }
}

/// Rows and skipped cases, in the order of the cases.
std::vector<json> measure_cases(const NetworkOptions& o, const std::vector<BenchCase>& cases, const json& torch) {
  std::vector<json> rows;
  WorkShop shop;
  for (size_t i = 0; i < cases.size(); ++i) {
    json row = measure_or_skip(shop, cases[i], o);
    spdlog::info("{} {}, batch {}, grid {}, {}: {}", o.bench, cases[i].what, cases[i].batch, cases[i].grid,
                 precision_name(cases[i].precision),
                 row.contains("ms") ? format_number(row.at("ms").get<double>()) + " ms" : "skipped");
    if (row.contains("ms") && torch.contains("rows") && torch.at("rows").at(i).contains("ms"))
      add_peer(row, "torch", torch.at("rows").at(i).at("ms").get<double>());
    rows.push_back(std::move(row));
  }
  return rows;
}

json measure_all(const NetworkOptions& o, const std::vector<BenchCase>& cases, uint64_t seed) {
  json torch = torch_peer(o, cases);
  std::map<Precision, Ceilings> ceilings;
  update_ceilings(ceilings, cases);
  auto rows = measure_cases(o, cases, torch);
  update_ceilings(ceilings, cases);
  json result = {{"machine", describe_machine()},
                 {"seed", seed},
                 {"repeats", o.repeats},
                 {"settings", settings_of(o)},
                 {"rows", json::array()},
                 {"skipped", json::array()},
                 {"ceilings", ceilings_json(ceilings, cases.front().precision)}};
  for (size_t i = 0; i < cases.size(); ++i) {
    if (rows[i].contains("ms")) add_floor(rows[i], least_cost(cases[i]), ceilings.at(cases[i].precision));
    result[rows[i].contains("ms") ? "rows" : "skipped"].push_back(rows[i]);
  }
  torch.erase("rows");
  result["peers"]["torch"] = torch;
  return result;
}

void check(const NetworkOptions& o) {
  require<UsageError>(o.repeats >= 1, "--repeats {}: must be at least 1", o.repeats);
  require<UsageError>(o.euler_steps >= 1, "--steps {}: must be at least 1", o.euler_steps);
  require<UsageError>(o.modes >= 2 && o.modes % 2 == 0, "--modes {}: must be even and at least 2", o.modes);
  for (const int64_t n : o.batches) require<UsageError>(n >= 1, "--batch {}: must be at least 1", n);
  for (const int64_t n : o.grids) require<UsageError>(n >= 8, "--grid {}: must be at least 8", n);
  const std::vector<std::pair<std::string, int64_t>> sizes = {{"channels", o.fno.channels},
                                                              {"width", o.fno.width},
                                                              {"layers", o.fno.layers},
                                                              {"lifting", o.fno.lifting},
                                                              {"projection", o.fno.projection}};
  for (const auto& [name, n] : sizes) require<UsageError>(n >= 1, "--{} {}: must be at least 1", name, n);
  if (o.file.empty()) return;
  const auto folder = std::filesystem::absolute(o.file).parent_path();
  require<ResourceError>(std::filesystem::is_directory(folder), "--json {}: there is no such folder", o.file);
}

/// The paper's; on the CPU what ends soon.
std::vector<int64_t> default_batches(const std::string& bench, torch::Device device) {
  if (device.is_cuda()) return {1, 64, 128};
  return bench == "sample" ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 8};
}

void bench_network(const Context& context, NetworkOptions o) {
  const auto device = context.device();
  if (o.batches.empty()) o.batches = default_batches(o.bench, device);
  check(o);
  o.fno.modes = {o.modes, o.modes};
  const auto cases = cases_of(o, device, context.seed);
  set_progress_mode(ProgressMode::silent);  // of the samplers inside
  const json result = measure_all(o, cases, context.seed);
  if (!o.file.empty()) write_file_atomically(o.file, result.dump(1) + "\n");
  context.print(result, network_report(result));
}

void add_sizes(CLI::App& command, NetworkOptions& o) {
  command.add_option("--grid", o.grids, "points a side; several: one after the other")->capture_default_str();
  command.add_option("--batch", o.batches,
                     "samples; several: one after the other (default: 1 8, sample: 1, on a GPU: 1 64 128)");
  command.add_option("--width", o.fno.width, "hidden channels")->capture_default_str();
  command.add_option("--modes", o.modes, "Fourier modes along each axis")->capture_default_str();
  if (o.bench != "spectral") {
    command.add_option("--layers", o.fno.layers, "spectral layers")->capture_default_str();
    command.add_option("--lifting", o.fno.lifting, "hidden channels of the lifting MLP")->capture_default_str();
    command.add_option("--projection", o.fno.projection, "hidden channels of the projection")->capture_default_str();
  }
  if (o.bench == "sample")
    command.add_option("--steps", o.euler_steps, "Euler steps of the teacher")->capture_default_str();
  else
    command.add_option("--channels", o.fno.channels, "field channels in and out")->capture_default_str();
}

void add_one(CLI::App& bench, Context& context, const std::string& name, const std::string& description) {
  auto* command = add_command(bench, context, name, description);
  auto o = std::make_shared<NetworkOptions>();
  o->bench = name;
  add_sizes(*command, *o);
  command->add_option("--precision", o->precisions, "fp32, on a GPU also tf32 and bf16 (default: all there are)");
  command->add_option("--repeats", o->repeats, "turns, of which the median counts")->capture_default_str();
  command->add_option("--python", o->python,
                      "interpreter with torch; otherwise python3 or /usr/bin/python3; none: no PyTorch");
  command->add_flag("--scaling", o->scaling, "also over batches at this grid and over grids 32 to 256");
  command->remove_option(command->get_option("--json"));
  auto* json_option =
      command->add_option("--json", o->file, "write JSON into FILE; without FILE, print it instead of the table")
          ->expected(0, 1)
          ->type_name("[FILE]")
          ->group("Common");
  command->callback([&context, o, json_option] {
    context.json_output = json_option->count() > 0 && o->file.empty();
    context.run = [&context, o] { bench_network(context, *o); };
  });
}

}  // namespace

void add_bench_network(CLI::App& bench, Context& context) {
  add_one(bench, context, "spectral", "One spectral layer, forward and with backward");
  add_one(bench, context, "fno", "The network: forward, with backward, gradient of the input");
  add_one(bench, context, "train", "A whole training step: batch, forward, backward, Adam, moving average");
  add_one(bench, context, "sample",
          "The teacher's sampler, the one-step student, an evaluation of latent optimisation");
}

}  // namespace piddm::cli

#include "benchmarks/network.h"

#include <algorithm>

#include "benchmarks/work.h"
#include "piddm/core/log.h"
#include "piddm/core/progress.h"
#include "piddm/core/table.h"

namespace piddm::bench {

namespace {

struct Size {
  int64_t batch;
  GridSize grid;
};

std::vector<Size> sizes_of(const NetworkOptions& o) {
  std::vector<Size> sizes;
  const auto add = [&](int64_t batch, const GridSize& grid) {
    const auto same = [&](const Size& s) { return s.batch == batch && s.grid == grid; };
    if (std::none_of(sizes.begin(), sizes.end(), same)) sizes.push_back({batch, grid});
  };
  for (const auto& grid : o.grids)
    for (const int64_t batch : o.batches) add(batch, grid);
  if (!o.scaling) return sizes;
  const bool gpu = o.device.is_cuda();
  for (int64_t batch = 1; batch <= (gpu ? 256 : 4); batch *= 2) add(batch, o.grids.front());
  for (const int64_t grid : {32, 64, 128, 256}) add(gpu ? 16 : 1, grid);
  return sizes;
}

std::vector<BenchCase> cases_of(const NetworkOptions& o) {
  std::vector<BenchCase> cases;
  for (const auto precision : o.precisions)
    for (const auto& size : sizes_of(o))
      for (const auto& what : works_of(o.bench))
        cases.push_back({o.bench, what, o.fno, size.batch, size.grid, o.steps, precision, o.device, o.seed});
  if (o.bench == "spectral" && o.device.is_cuda())
    for (auto& c : cases) c.fno.layers = 1;
  return cases;
}

/// Times of plain PyTorch for all cases, from one child process.
PeerAnswer torch_peer(const NetworkOptions& o, const std::vector<BenchCase>& cases) {
  json list = json::array();
  for (const auto& c : cases)
    list.push_back({{"bench", c.single_layer() ? "spectral" : "fno"},
                    {"what", c.what},
                    {"batch", c.batch},
                    {"grid", {c.grid.height(), c.grid.width()}},
                    {"tf32", c.precision != Precision::fp32}});
  const json request = {{"device", o.device.is_cuda() ? "cuda" : "cpu"},
                        {"threads", torch::get_num_threads()},
                        {"repeats", o.repeats},
                        {"steps", o.steps},
                        {"sizes", write_fields(cases.front().fno)},
                        {"cases", list}};
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

/// The work as it is called, and on a GPU, where it allows that, as a CUDA graph.
using Form = std::vector<Contestant>;

Form form_of(WorkShop& shop, const BenchCase& c, SpectralForm form) {
  const auto work = shop.make(c, form);
  Form out{work.run};
  if (!c.device.is_cuda() || !work.capturable) return out;
  try {
    out.push_back(captured(work.run));
  } catch (const c10::Error& error) {
    spdlog::warn("{} {}, {}: no CUDA graph ({})", c.bench, c.what, enum_names(form).at(static_cast<size_t>(form)),
                 first_line(error));
  }
  return out;
}

/// The textbook form; nothing where it does not fit into memory.
std::optional<Form> textbook_form(WorkShop& shop, const BenchCase& c) {
  try {
    auto form = form_of(shop, c, SpectralForm::fft);
    form.front()();
    return form;
  } catch (const ResourceError& error) {
    spdlog::warn("{} {}: no FFT form ({})", c.bench, c.what, error.what());
  } catch (const c10::Error& error) {
    if (!out_of_memory(error)) throw;
    spdlog::warn("{} {}: no FFT form ({})", c.bench, c.what, first_line(error));
  }
  return std::nullopt;
}

/// All contestants of all forms take turns.
std::vector<FormTime> time_forms(const std::vector<Form>& forms, int64_t repeats, torch::Device device) {
  std::vector<Contestant> all;
  for (const auto& form : forms) all.insert(all.end(), form.begin(), form.end());
  const auto ms = take_turns(all, repeats, device);
  std::vector<FormTime> out;
  auto next = ms.begin();
  for (const auto& form : forms) {
    out.push_back({*next++, {}});
    if (form.size() > 1) out.back().graph_ms = *next++;
  }
  return out;
}

NetworkRow measure(WorkShop& shop, const BenchCase& c, const NetworkOptions& o) {
  require<ResourceError>(composed_bytes(c) < available_bytes(c.device), "needs about {:.1f} GiB",
                         composed_bytes(c) / (1 << 30));
  const AllowTf32 allow(c.precision != Precision::fp32);
  const PeakBytes memory(c.device);
  std::vector<Form> forms = {form_of(shop, c, SpectralForm::fused)};
  forms[0][0]();
  const auto peak = memory.bytes();
  if (auto textbook = textbook_form(shop, c)) forms.push_back(std::move(*textbook));
  const auto times = time_forms(forms, o.repeats, c.device);
  NetworkRow row{.work = c, .skipped = "", .ours = times[0], .peak_bytes = peak, .least = least_cost(c)};
  if (times.size() > 1) row.fft_ms = times[1].best();
  return row;
}

NetworkRow measure_or_skip(WorkShop& shop, const BenchCase& c, const NetworkOptions& o) {
  try {
    return measure(shop, c, o);
  } catch (const ResourceError& error) {
    return {.work = c, .skipped = error.what()};
  } catch (const c10::Error& error) {
    if (!out_of_memory(error)) throw;
    return {.work = c, .skipped = first_line(error)};
  }
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

std::vector<NetworkRow> measure_cases(const NetworkOptions& o, const std::vector<BenchCase>& cases,
                                      const PeerAnswer& torch) {
  std::vector<NetworkRow> rows;
  WorkShop shop;
  const auto peers = torch.answer.value("rows", json::array());
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& c = cases[i];
    auto row = measure_or_skip(shop, c, o);
    const bool measured = row.skipped.empty();
    spdlog::info("{} {}, batch {}, grid {}, {}: {}", o.bench, c.what, c.batch, c.grid.text(),
                 precision_name(c.precision), measured ? format_number(row.ours.best()) + " ms" : "skipped");
    if (measured && i < peers.size() && peers[i].contains("ms")) row.torch_ms = peers[i].at("ms").get<double>();
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::vector<int64_t> default_batches(const std::string& bench, torch::Device device) {
  if (device.is_cuda()) return {1, 64, 128};
  return bench == "sample" ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 8};
}

NetworkResult bench_network(const NetworkOptions& o) {
  set_progress_mode(ProgressMode::silent);  // of the samplers inside
  const auto cases = cases_of(o);
  NetworkResult result{o, {}, {}, torch_peer(o, cases)};
  update_ceilings(result.ceilings, cases);
  result.rows = measure_cases(o, cases, result.torch);
  update_ceilings(result.ceilings, cases);
  for (auto& row : result.rows) {
    const auto& ceilings = result.ceilings.at(row.work.precision);
    row.floor_ms =
        std::max(row.least.bytes / (1e6 * ceilings.copy_gbps), row.least.flop / (1e9 * ceilings.gemm_tflops));
  }
  return result;
}

}  // namespace piddm::bench

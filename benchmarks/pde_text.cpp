#include "benchmarks/pde_text.h"

#include <algorithm>

#include "benchmarks/builtin_texts.h"
#include "benchmarks/timing.h"
#include "piddm/core/device.h"
#include "piddm/core/table.h"
#include "piddm/core/toml_text.h"
#include "piddm/pde/text/text_pde.h"

namespace piddm::bench {

namespace {

const BuiltInText& text_named(const std::string& name) {
  const auto& texts = builtin_texts();
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const auto& text) { return text.name == name; });
  if (found != texts.end()) return *found;
  std::vector<std::string> known;
  for (const auto& text : texts) known.emplace_back(text.name);
  throw UsageError("--pde: {}", unknown_name_message("PDE with a text", name, known));
}

PdeTextTime time_of(const Pde& text, const Pde& library, const Tensor& x, bool gradient, const PdeTextOptions& o) {
  const auto work = [&](const Pde& pde) -> Contestant {
    return [&x, &pde, gradient] {
      const torch::AutoGradMode mode(gradient);
      const Tensor leaf = x.detach().requires_grad_(gradient);
      const Tensor r = pde.residual(leaf).fields[0].interior;
      if (gradient) torch::autograd::grad({r.square().sum()}, {leaf});
    };
  };
  const auto clock = o.device.is_cpu() ? Clock::processor : Clock::wall;
  const auto ms = take_turns({work(text), work(library)}, o.repeats, o.device, clock);
  return {ms[0], ms[1]};
}

PdeTextRow measure(const std::string& name, const GridSize& grid, const PdeTextOptions& o) {
  auto options = options_of_text(parse_toml(text_named(name).toml, name), name);
  options.grid = grid;
  const auto text = make_pde(options), library = make_pde({.name = name, .grid = grid});
  const Tensor x = library->sample(o.seed, 0, o.n).to(torch::kFloat32).to(o.device);
  return {.pde = name,
          .grid = grid,
          .forward = time_of(*text, *library, x, false, o),
          .gradient = time_of(*text, *library, x, true, o)};
}

json time_json(const PdeTextTime& time) {
  return {{"text_ms", time.text_ms}, {"library_ms", time.library_ms}, {"ratio", time.ratio()}};
}

}  // namespace

PdeTextResult bench_pde_text(PdeTextOptions o) {
  if (o.pdes.empty())
    for (const auto& text : builtin_texts()) o.pdes.emplace_back(text.name);
  for (const auto& name : o.pdes) text_named(name);  // refused before anything is measured
  if (o.device.is_cpu()) set_threads(1);
  PdeTextResult result{o, {}};
  for (const auto& grid : o.grids)
    for (const auto& name : o.pdes) result.rows.push_back(measure(name, grid, o));
  return result;
}

json pde_text_json(const PdeTextResult& result) {
  const auto& [o, rows] = result;
  json list = json::array();
  for (const auto& row : rows)
    list.push_back({{"pde", row.pde},
                    {"grid", row.grid.to_json()},
                    {"forward", time_json(row.forward)},
                    {"gradient", time_json(row.gradient)}});
  return {
      {"machine", describe_machine()}, {"n", o.n}, {"repeats", o.repeats}, {"most_times", kMostTimes}, {"rows", list}};
}

std::string pde_text_report(const PdeTextResult& result) {
  Table table({"PDE", "grid", "text ms", "library ms", "times", "with gradient ms", "library ms", "times", "met"},
              {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right,
               Align::right, Align::left});
  for (const auto& row : result.rows)
    table.add_row({row.pde, row.grid.text(), format_number(row.forward.text_ms), format_number(row.forward.library_ms),
                   format_number(row.forward.ratio()), format_number(row.gradient.text_ms),
                   format_number(row.gradient.library_ms), format_number(row.gradient.ratio()),
                   std::max(row.forward.ratio(), row.gradient.ratio()) <= kMostTimes ? "yes" : "NO"});
  return fmt::format(
      "{}\nmilliseconds per batch of {}, median of {} turns, float32{}; with gradient: the residual and the gradient "
      "of "
      "its square; met: at most {} times the library's own; {}\n",
      table.text(), result.options.n, result.options.repeats,
      result.options.device.is_cpu() ? ", processor time on one core" : "", kMostTimes,
      describe_machine().at("cpu").get<std::string>());
}

}  // namespace piddm::bench

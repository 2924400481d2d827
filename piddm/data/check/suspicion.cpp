#include "piddm/data/check/suspicion.h"

#include <cmath>

namespace piddm {

namespace {

enum class Part { all, solution, coefficients };

/// First channel and number of channels.
std::pair<int64_t, int64_t> channels_of(const Pde& pde, Part part) {
  const int64_t all = pde.num_channels(), u = pde.num_solution_channels();
  return part == Part::all        ? std::pair{int64_t{0}, all}
         : part == Part::solution ? std::pair{int64_t{0}, u}
                                  : std::pair{u, all - u};
}

std::vector<std::string> names_of(const Pde& pde, Part part) {
  const auto [first, count] = channels_of(pde, part);
  const auto names = pde.channel_names();
  return {names.begin() + first, names.begin() + first + count};
}

/// "the fields", "u": what a clause is about.
std::string subject_of(const Pde& pde, Part part) {
  return part == Part::all ? "all fields" : listed(names_of(pde, part));
}

Reading with_part(const Reading& reading, Part part, const std::function<Tensor(const Tensor&)>& f) {
  const auto [first, count] = channels_of(*reading.pde, part);
  auto next = reading;
  next.x = reading.x.clone();
  next.x.narrow(1, first, count).copy_(f(reading.x.narrow(1, first, count)));
  return next;
}

bool has_fields(const Pde& pde, Part part) {
  const auto [first, count] = channels_of(pde, part);
  for (int64_t c = first; c < first + count; ++c)
    if (!pde.channels()[static_cast<size_t>(c)].scalar) return true;
  return false;
}

Reading transposed(const Reading& reading) {
  auto next = reading;
  const auto& grid = reading.pde->grid();
  if (!grid.square()) next.pde = with_grid(*reading.pde, {grid.width(), grid.height()});
  next.form.reset();
  next.x = reading.x.transpose(2, 3).contiguous();
  return next;
}

void add_transposed(const Reading& reading, const std::string& file, std::vector<Suspicion>& out) {
  const auto& pde = *reading.pde;
  out.push_back(
      {.subject = "transposed",
       .correct = transposed,
       .cause = mended_by_import("the axes of all fields are transposed", json::object(), file, "--transpose")});
  if (!pde.grid().square()) return;
  for (const auto part : {Part::solution, Part::coefficients}) {
    if (!has_fields(pde, part) || (part == Part::coefficients && !has_time_axis(pde))) continue;
    out.push_back(
        {.subject = "transposed",
         .correct =
             [part](const Reading& r) { return with_part(r, part, [](const Tensor& x) { return x.transpose(2, 3); }); },
         .cause =
             mended_by_import(fmt::format("the axes of {} alone are transposed", subject_of(pde, part)), json::object(),
                              file, fmt::format("--transpose={}", fmt::join(names_of(pde, part), ",")))});
  }
}

void add_reversed(const Reading& reading, const std::string& file, std::vector<Suspicion>& out) {
  const auto& pde = *reading.pde;
  for (size_t d = 0; d < 2; ++d)
    for (const auto part : {Part::all, Part::solution, Part::coefficients}) {
      if (!has_fields(pde, part)) continue;
      const auto axis = pde.axes()[d].name;
      const auto dim = static_cast<int64_t>(d) + 2;
      std::string option;
      for (const auto& name : part == Part::all ? std::vector<std::string>{""} : names_of(pde, part))
        option += (option.empty() ? "" : ",") + (name.empty() ? "" : name + "=") + axis;
      out.push_back({.subject = "reversed " + axis,
                     .correct =
                         [part, dim](const Reading& r) {
                           return with_part(r, part, [dim](const Tensor& x) { return x.flip({dim}); });
                         },
                     .cause = mended_by_import(fmt::format("{} run backwards along {}", subject_of(pde, part), axis),
                                               json::object(), file, "--reverse " + option)});
    }
}

double rms_of(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

/// RMS of the first solution channel on the outer entries along axes of space, over its RMS.
double ring_share(const Reading& reading) {
  const auto u = reading.x.select(1, 0);
  std::vector<Tensor> sides;
  for (size_t d = 0; d < 2; ++d)
    for (const int64_t end : {0, -1})
      if (reading.pde->axes()[d].kind != AxisKind::time) sides.push_back(u.select(static_cast<int64_t>(d) + 1, end));
  for (auto& side : sides) side = side.flatten();
  return rms_of(torch::cat(sides)) / rms_of(u);
}

std::string ring_words(const Reading& reading) {
  return fmt::format("{} is {:.2g} of its RMS on the outer ring", reading.pde->channels()[0].name, ring_share(reading));
}

/// RMS difference of the solution's last and first entries along an axis, over that of neighbours.
double jump(const Reading& reading, int64_t dim) {
  const auto u = reading.pde->solution(reading.x);
  return rms_of(u.select(dim, -1) - u.select(dim, 0)) / std::max(rms_of(u.diff(1, dim)), 1e-300);
}

/// The data taken as given at these points, on a grid of the same spacing.
Reading resampled(const Reading& reading, const GridPoints& points) {
  const auto own = points_of(*reading.pde);
  auto next = reading;
  next.form.reset();
  const GridSize grid(points_at_same_spacing(points[0], own[0].kind), points_at_same_spacing(points[1], own[1].kind));
  if (grid != reading.pde->grid()) next.pde = with_grid(*reading.pde, grid);
  next.x = spline_resample(*next.pde, reading.x, points);
  return next;
}

/// "nodes", or by axis where only one of them has these points: "x=nodes".
std::string points_option(const Pde& pde, const GridPoints& points) {
  const auto own = points_of(pde);
  std::string by_axis;
  bool all = true;
  for (size_t d = 0; d < 2; ++d) {
    const auto kind = points[d].kind;
    const auto name = kind == AxisKind::nodes ? "nodes" : kind == AxisKind::cells ? "cells" : "periodic";
    if (kind == own[d].kind) all &= kind == AxisKind::time;
    if (kind != own[d].kind) by_axis += (by_axis.empty() ? "" : ",") + pde.axes()[d].name + "=" + name;
  }
  if (!all) return by_axis;
  const auto first = by_axis.substr(0, by_axis.find(','));
  return first.substr(first.find('=') + 1);
}

Suspicion points_suspicion(const Pde& pde, const GridPoints& points, const std::string& file) {
  return {.subject = "points",
          .correct = [points](const Reading& r) { return resampled(r, points); },
          .cause = mended_by_import({}, json::object(), file, "--from " + points_option(pde, points)),
          .points = points};
}

void add_points(const Reading& reading, const std::string& file, std::vector<Suspicion>& out) {
  const auto& pde = *reading.pde;
  const auto own = points_of(pde);
  const auto has = [&](AxisKind kind) { return own[0].kind == kind || own[1].kind == kind; };
  const auto read_as = [&](AxisKind from, AxisKind to) {
    auto points = own;
    for (auto& axis : points)
      if (axis.kind == from) axis.kind = to;
    return points;
  };
  if (has(AxisKind::cells)) {
    auto s = points_suspicion(pde, read_as(AxisKind::cells, AxisKind::nodes), file);
    s.cause.what = fmt::format("the data lie on nodes, from wall to wall, where {} has the centres of cells ({})",
                               pde.name(), ring_words(reading));
    s.cause.evidence = {{"ring_over_rms", ring_share(reading)}};
    out.push_back(s);
  }
  if (has(AxisKind::nodes)) {
    auto s = points_suspicion(pde, read_as(AxisKind::nodes, AxisKind::cells), file);
    s.cause.what = fmt::format("the data lie on the centres of cells where {} has nodes, from wall to wall ({})",
                               pde.name(), ring_words(reading));
    s.cause.evidence = {{"ring_over_rms", ring_share(reading)}};
    out.push_back(s);
    auto open = points_suspicion(pde, read_as(AxisKind::nodes, AxisKind::periodic), file);
    open.cause.what =
        fmt::format("the data leave out the last point, as on a ring, where {} has both walls", pde.name());
    out.push_back(open);
  }
  if (!has(AxisKind::periodic)) return;
  auto twice = points_suspicion(pde, read_as(AxisKind::periodic, AxisKind::nodes), file);
  twice.cause.what = "the data are periodic and store the first point again as the last one";
  auto shifted = points_suspicion(pde, read_as(AxisKind::periodic, AxisKind::cells), file);
  shifted.cause.what = fmt::format("the data lie half a spacing further along than the points of {}", pde.name());
  for (size_t d = 0; d < 2; ++d)
    if (own[d].kind == AxisKind::periodic)
      twice.cause.evidence["last_minus_first_" + pde.axes()[d].name] = jump(reading, static_cast<int64_t>(d) + 2);
  out.insert(out.end(), {twice, shifted});
}

void add_forms(const Reading& reading, std::vector<Suspicion>& out) {
  const auto& pde = *reading.pde;
  for (const auto& form : other_forms(pde))
    out.push_back({.subject = "form",
                   .correct =
                       [form](const Reading& r) {
                         auto next = r;
                         next.form = form;
                         return next;
                       },
                   .cause = {.what = fmt::format("the data satisfy the equation with {}", form.meaning),
                             .evidence = {{"form", form.name}},
                             .advice = form.advice.empty() ? "make data of your own with `piddm data make`, or accept "
                                                             "the difference with `--tolerance`"
                                                           : form.advice}});
  for (const auto& parameter : pde.parameters())
    for (const auto& choice : parameter.choices) {
      if (parameter.value == choice) continue;
      out.push_back(
          {.subject = "form",
           .correct =
               [name = parameter.name, choice](const Reading& r) {
                 auto next = r;
                 next.pde = with_parameter(*r.pde, name, choice);
                 return next;
               },
           .cause = {.what = fmt::format("the data satisfy the equation with {} = {}", parameter.name, choice),
                     .evidence = {{parameter.name, choice}},
                     .advice = fmt::format("say so with --param {}={}", parameter.name, choice)}});
    }
}

}  // namespace

PdePtr with_grid(const Pde& pde, const GridSize& grid) {
  auto options = pde.options();
  options.grid = grid;
  require<UsageError>(grid.smaller() >= kSmallestGrid && std::max(grid.height(), grid.width()) <= kLargestGrid,
                      "[{}] no grid of {}", pde.name(), grid.text());
  return make_pde(options);
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::vector<Suspicion> suspicions(const Reading& reading, const std::string& file) {
  std::vector<Suspicion> out;
  add_transposed(reading, file, out);
  add_reversed(reading, file, out);
  add_forms(reading, out);
  add_points(reading, file, out);
  return out;
}

std::vector<Suspicion> edge_suspicions(const Reading& reading) {
  std::vector<Suspicion> out;
  const auto axes = reading.pde->axes();
  for (size_t d = 0; d < 2; ++d) {
    if (axes[d].kind != AxisKind::periodic) continue;
    const auto open = [d](const Reading& r) {
      auto next = r;
      next.open[d] = true;
      return next;
    };
    out.push_back(
        {.subject = "periodic " + axes[d].name,
         .correct = open,
         .cause = {.what = fmt::format("the data are not periodic in {}", axes[d].name),
                   .evidence = {{"last_minus_first_" + axes[d].name, jump(reading, static_cast<int64_t>(d) + 2)}},
                   .advice = fmt::format("take periodic data, or an equation with walls along {}", axes[d].name)}});
  }
  const bool time = has_time_axis(*reading.pde);
  out.push_back(
      {.subject = "walls",
       .correct =
           [](const Reading& r) {
             auto next = r;
             next.inside = true;
             return next;
           },
       .cause = {.what = fmt::format("inside the domain the equation holds; the values at the walls{} are others",
                                     time ? " or at the start" : ""),
                 .advice = "compare boundary and initial conditions with those of the PDE"}});
  return out;
}

}  // namespace piddm

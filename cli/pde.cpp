// `piddm pde show|test|new`: a PDE of one's own, a file of a dozen lines (docs/pde-language.md).

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "cli/command.h"
#include "cli/numbers.h"
#include "piddm/core/config.h"
#include "piddm/core/stopwatch.h"
#include "piddm/core/table.h"
#include "piddm/data/check/self_test.h"
#include "piddm/data/dataset.h"
#include "piddm/files/atomic_file.h"
#include "piddm/pde/pde_file.h"
#include "piddm/pde/text/template.h"
#include "piddm/pde/text/text_summary.h"
#include "piddm/plot/field_plots.h"
#include "piddm/plot/picture_file.h"

namespace piddm::cli {

namespace {

namespace fs = std::filesystem;

struct PdeRequest {
  std::string pde, data, plot;
  GridSize grid = 0;
  std::vector<std::string> parameters;
  bool latex = false;
};

struct NewRequest {
  std::string name, like;
};

constexpr int64_t kShown = 4;  // samples that cost and floor are measured on
constexpr int64_t kTested = 3;

PdePtr requested_pde(const PdeRequest& o) {
  auto options = pde_named(o.pde);
  if (o.grid != GridSize(0)) options.grid = o.grid;
  for (const auto& setting : o.parameters) apply_setting(options.parameters, setting);
  return make_pde(options);
}

// --- show ---

std::string role_of(const Channel& channel) { return channel.role == Role::solution ? "solution" : "coefficient"; }

std::string with_unit(double value, const std::string& unit) {
  return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", unit);
}

/// What is known of every PDE.
struct Shown {
  json object;
  std::string text;

  void section(const std::string& title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text += fmt::format("\n{}\n  {}\n", title, fmt::join(lines, "\n  "));
  }
};

std::vector<std::string> split(const std::string& text, const std::string& at) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + at.size();
  }
  return parts;
}

using Row = std::vector<std::string>;

/// A table without its rule and without columns that are empty.
std::vector<std::string> lines_of(const std::vector<Row>& rows) {
  std::vector<size_t> used;
  for (size_t c = 0; c < rows[0].size(); ++c)
    if (std::any_of(rows.begin() + 1, rows.end(), [&](const Row& row) { return !row[c].empty(); })) used.push_back(c);
  const auto chosen = [&](const Row& row) {
    Row cells;
    for (const size_t c : used) cells.push_back(row[c]);
    return cells;
  };
  Table table(chosen(rows[0]), std::vector<Align>(used.size(), Align::left));
  for (size_t r = 1; r < rows.size(); ++r) table.add_row(chosen(rows[r]));
  auto lines = split(table.text(), "\n");
  lines.erase(lines.begin() + 1);
  return lines;
}

const char* kind_of(AxisKind kind) {
  static constexpr std::array kKinds = {"cells", "nodes", "periodic", "time"};
  return kKinds.at(static_cast<size_t>(kind));
}

void add_axis(std::vector<Row>& table, json& rows, const GridAxis& axis, int64_t points) {
  const std::string kind = kind_of(axis.kind);
  const double h = axis.spacing(points);
  table.push_back({axis.name, "0 to " + with_unit(axis.length, axis.unit), std::to_string(points),
                   axis.kind == AxisKind::time ? "times" : kind, with_unit(h, axis.unit), axis.title});
  rows.push_back({{"name", axis.name},
                  {"kind", kind},
                  {"points", points},
                  {"length", axis.length},
                  {"spacing", h},
                  {"unit", axis.unit},
                  {"title", axis.title}});
}

void show_grid(const Pde& pde, Shown& shown) {
  std::vector<Row> table = {{"axis", "range", "points", "", "step", ""}};
  json rows = json::array();
  const auto axes = pde.axes();
  add_axis(table, rows, axes[0], pde.grid().height());
  add_axis(table, rows, axes[1], pde.grid().width());
  if (const auto* text = dynamic_cast<const TextPde*>(&pde))
    if (const auto* time = text->system().text().axis(Coordinate::t); time && text->text().axis(Coordinate::y))
      add_axis(table, rows,
               {.name = "t", .kind = AxisKind::time, .length = time->length, .unit = time->unit, .title = time->title},
               time->points);
  shown.object["axes"] = rows;
  shown.section("Grid", lines_of(table));
}

std::string range_text(const Channel& channel) {
  if (!channel.valid) return "";
  const auto [low, high] = *channel.valid;
  return std::isfinite(high) ? fmt::format("{:.4g} to {:.4g}", low, high) : fmt::format("from {:.4g}", low);
}

void show_channels(const Pde& pde, Shown& shown) {
  const auto* text = dynamic_cast<const TextPde*>(&pde);
  std::vector<Row> table = {{"channel", "", "", "unit", "valid", "law"}};
  json rows = json::array();
  for (const auto& channel : pde.channels()) {
    const auto* coefficient = text ? text->text().coefficient(channel.name) : nullptr;
    const auto law = coefficient && channel.role == Role::coefficient ? law_in_words(*coefficient) : "";
    table.push_back({channel.label(), role_of(channel), channel.scalar ? "one number" : "field", channel.unit,
                     range_text(channel), law});
    rows.push_back({{"name", channel.name},
                    {"role", role_of(channel)},
                    {"scalar", channel.scalar},
                    {"unit", channel.unit},
                    {"title", channel.title},
                    {"law", law}});
    if (channel.valid && std::isfinite(channel.valid->second))
      rows.back()["valid"] = {channel.valid->first, channel.valid->second};
    else if (channel.valid)
      rows.back()["valid"] = {channel.valid->first, nullptr};
  }
  shown.object["channels"] = rows;
  shown.section("Channels", lines_of(table));
}

void show_parameters(const Pde& pde, Shown& shown) {
  std::vector<std::string> lines;
  json values = json::object();
  for (const auto& p : pde.parameters()) {
    values[p.name] = p.value;
    if (!p.length) lines.push_back(fmt::format("{} = {}   {}", p.name, p.value.dump(), p.meaning));
  }
  shown.object["parameters"] = values;
  shown.section("Parameters (--param)", lines);
}

void show_scales(const Pde& pde, Shown& shown) {
  Row scales;
  json rows = json::array();
  for (const auto& equation : pde.equations()) {
    scales.push_back(fmt::format("c = {:.3g}{}{}", equation.scale, equation.name.empty() ? "" : " of ", equation.name));
    rows.push_back({{"equation", equation.name}, {"scale", equation.scale}});
  }
  shown.object["scales"] = rows;
  if (pde.options().definition.absent())
    shown.section("Residual", {fmt::format("R = c r_phys, {}", fmt::join(scales, ", "))});
}

void show_summary(const TextPde& pde, bool latex, Shown& shown) {
  const auto summary = summary_of(pde);
  shown.object.update({{"equations", summary.equations},
                       {"latex", summary.latex},
                       {"kind", summary.kind},
                       {"walls", summary.walls},
                       {"initial", summary.initial},
                       {"stencil", summary.stencil},
                       {"solver", summary.solver},
                       {"residual", summary.residual}});
  for (const auto& equation : latex ? summary.latex : summary.equations)
    shown.text += fmt::format("\n  {}\n", equation);
  shown.text += "\n" + summary.kind + "\n";
}

void show_method(const TextPde& pde, Shown& shown) {
  const auto summary = summary_of(pde);
  shown.section("Walls", summary.walls);
  shown.section("Initial state", summary.initial);
  shown.section("Differences", split(summary.stencil, "; "));
  shown.section("Solver", split(summary.solver, "; "));
  shown.section("Residual", split(summary.residual, "; "));
}

/// One solve and how well its samples satisfy the equation as files hold them.
void show_cost(const Context& context, const Pde& pde, Shown& shown) {
  if (!pde.has_law()) {
    shown.section("Cost and floor", {"not measured: coefficients come from data (piddm pde test --data FILE)"});
    return;
  }
  const torch::NoGradGuard no_grad;
  const Tensor a = pde.sample_coefficients(context.seed, 0, kShown + 1);
  pde.solve(a.narrow(0, kShown, 1));  // what the first one alone makes
  SolveReport report;
  const Stopwatch watch;
  const Tensor u = pde.solve(a.narrow(0, 0, kShown), {}, &report);
  const double seconds = watch.seconds() / static_cast<double>(kShown);
  const Tensor samples = torch::cat({u, a.narrow(0, 0, kShown)}, 1).to(torch::kFloat32);
  const auto statistics = residual_statistics(pde, samples);
  const double error = statistics.mean_pde_error(), relative = statistics.rel_residual();
  const auto iterations =
      report.iterations > 0 ? fmt::format(", iterations of the slowest: {}", report.iterations) : std::string();
  shown.object.update({{"seconds_per_solve", seconds},
                       {"iterations", report.iterations},
                       {"floor", {{"pde_error", error}, {"rel_residual", relative}}}});
  shown.section("Cost and floor", {fmt::format("{} s for one solve{} (mean of {} at once, {} threads)",
                                               format_number(seconds), iterations, kShown, torch::get_num_threads()),
                                   fmt::format("in float32 files: pde_error {}, rel_residual {}", format_number(error),
                                               format_number(relative))});
}

void show(const Context& context, const PdeRequest& o) {
  const auto pde = requested_pde(o);
  const auto* text = dynamic_cast<const TextPde*>(pde.get());
  Shown shown;
  shown.object = {{"name", pde->name()}, {"summary", pde->summary()}, {"grid", pde->grid().text()}};
  if (text) {
    const auto& title = text->text().title;
    shown.object["title"] = title;
    shown.text = fmt::format("{}{}{}\n", pde->name(), title.empty() ? "" : ": ", title);
    show_summary(*text, o.latex, shown);
  } else {
    require<UsageError>(!o.latex, "--latex: {} is built in; this is for the equations of a file", o.pde);
    shown.text = fmt::format("{}: {}\n", pde->name(), pde->summary());
  }
  show_grid(*pde, shown);
  show_channels(*pde, shown);
  show_parameters(*pde, shown);
  show_scales(*pde, shown);
  if (text) show_method(*text, shown);
  show_cost(context, *pde, shown);
  context.print(shown.object, shown.text);
}

// --- test ---

Tensor tested_coefficients(const Context& context, const Pde& pde, const PdeRequest& o) {
  if (o.data.empty()) return pde.sample_coefficients(context.seed, 0, kTested);
  const auto data = load_dataset(o.data);
  check_fields(data, pde);
  return pde.coefficients(data.fields.narrow(0, 0, std::min(kTested, data.size())));
}

void draw_tested(const PdePtr& pde, const Tensor& samples, const std::string& out) {
  Dataset data;
  data.description = declared_pde(*pde);
  data.channels = pde->channel_names();
  data.fields = samples;
  std::vector<int64_t> all;
  for (int64_t i = 0; i < samples.size(0); ++i) all.push_back(i);
  write_picture(draw_samples(data, pde, all, pde->summary()), out, picture_style().dpi);
}

void test(const Context& context, PdeRequest o) {
  const auto pde = requested_pde(o);
  const auto* text = dynamic_cast<const TextPde*>(pde.get());
  require<UsageError>(text, "{}: is built in and has tests of its own; this tests the text in a FILE.toml", o.pde);
  if (o.plot.empty()) o.plot = picture_name(pde->name());
  check_picture(context, o.plot, {o.pde, o.data});
  if (!pde->has_law() && o.data.empty()) {
    context.print({{"name", pde->name()}, {"skipped", true}, {"checks", json::array()}},
                  fmt::format("{}: not tested, its coefficients come from data: add --data FILE", pde->name()));
    return;
  }
  const auto result = test_text_pde(*text, tested_coefficients(context, *pde, o));
  draw_tested(pde, result.samples, o.plot);
  context.print({{"name", pde->name()}, {"pass", result.pass()}, {"checks", result.to_json()}, {"plot", o.plot}},
                fmt::format("{}\n{}\n\n{}\n{} samples drawn in {}: {}\n", pde->name(), pde->summary(), result.text(),
                            result.samples.size(0), o.plot, result.pass() ? "ok" : "FAILED"));
  require<NumericsError>(result.pass(), "{}: failed: {}", o.pde, result.failures());
}

// --- new ---

void make_new(const Context& context, NewRequest o) {
  fs::path file = o.name;
  if (file.extension() != ".toml") file += ".toml";
  const auto text = new_pde_text(file.stem().string(), o.like);
  std::error_code none;
  require<UsageError>(!fs::exists(fs::symlink_status(file, none)), "{}: is there already; choose another name",
                      file.string());
  write_file_atomically(file, text);
  context.print({{"out", file.string()}},
                fmt::format("{0}\n\nLook at it, test it, use it:\n  piddm pde show {0}\n  piddm pde test {0}\n"
                            "  piddm data make {0} --n 1000 --out {1}.npz\n",
                            file.string(), file.stem().string()));
}

void add_request(CLI::App& command, PdeRequest& o, const std::string& what) {
  command.add_option("pde", o.pde, what)->required();
  add_grid_option(command, o.grid, "points per side: 64, or 64x32 along x and y (or t); default: the file's");
  command.add_option("--param", o.parameters, "constant of the equation, e.g. k=2; may be repeated")
      ->allow_extra_args(false);
}

void add_show(CLI::App& pde, Context& context) {
  auto* command = add_command(pde, context, "show",
                              "Show what becomes of a PDE: equation, walls, stencil, solver, laws, cost, floor");
  auto o = std::make_shared<PdeRequest>();
  add_request(*command, *o, "FILE.toml with a PDE, or a name of `piddm list pdes`");
  command->add_flag("--latex", o->latex, "the equations in LaTeX");
  command->callback([&context, o] { context.run = [&context, o] { show(context, *o); }; });
}

void add_test(CLI::App& pde, Context& context) {
  auto* command =
      add_command(pde, context, "test", "Test a PDE's file: order of accuracy, gradients, floors; draws three samples");
  auto o = std::make_shared<PdeRequest>();
  add_request(*command, *o, "FILE.toml with a PDE");
  command->add_option("--data", o->data, "data file whose coefficients are taken instead of draws of the law");
  command->add_option("--plot", o->plot, "picture of three samples, .png, .svg or .pdf; default: the PDE's name");
  add_picture_options(*command, context);
  command->callback([&context, o] { context.run = [&context, o] { test(context, *o); }; });
}

void add_new(CLI::App& pde, Context& context) {
  auto* command = add_command(pde, context, "new", "Write NAME.toml, a commented PDE to begin with");
  auto o = std::make_shared<NewRequest>();
  command->add_option("name", o->name, "of the PDE and its file")->required();
  std::vector<std::string> names;
  for (const auto& [name, text] : example_pdes()) names.push_back(name);
  command->add_option("--like", o->like, fmt::format("an example to begin with: {}", fmt::join(names, ", ")));
  command->callback([&context, o] { context.run = [&context, o] { make_new(context, *o); }; });
}

}  // namespace

void add_pde(CLI::App& app, Context& context) {
  auto* pde = app.add_subcommand("pde", "Show, test or begin a PDE of your own, a file of a dozen lines");
  pde->require_subcommand(1);
  add_show(*pde, context);
  add_test(*pde, context);
  add_new(*pde, context);
}

}  // namespace piddm::cli

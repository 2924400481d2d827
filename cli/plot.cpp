#include "piddm/eval/plot.h"
#include "cli/command.h"
#include "piddm/data/dataset.h"
#include "piddm/pde/pde.h"
#include "piddm/recipe/experiment.h"

namespace piddm::cli {

namespace {

struct Options {
  std::string input, out;
  int64_t n = 4;
};

std::vector<Panel> sample_panels(const Dataset& data, int64_t i, const PdePtr& pde) {
  std::vector<Panel> row;
  for (size_t c = 0; c < data.channels.size(); ++c)
    row.push_back({data.channels[c], data.fields[i][static_cast<int64_t>(c)]});
  if (pde) {
    const auto r = pde->residual(data.fields.narrow(0, i, 1).to(torch::kFloat64)).interior[0][0];
    row.push_back({"residual R", r * pde->residual_scale(), {}, Colors::diverging});
  }
  return row;
}

void plot_samples(const Options& o) {
  const auto data = load_dataset(o.input);
  PdePtr pde;
  if (data.description.contains("pde"))
    pde = make_pde({data.description.at("pde").get<std::string>(), data.fields.size(-1)});
  std::vector<std::vector<Panel>> rows;
  std::vector<std::string> labels;
  for (int64_t i = 0; i < std::min(o.n, data.size()); ++i) {
    rows.push_back(sample_panels(data, i, pde));
    labels.push_back(std::to_string(i));
  }
  contact_sheet(rows, std::filesystem::path(o.input).filename().string(), labels).write_png(o.out);
}

void plot(const Context& context, Options o) {
  const bool run = std::filesystem::is_directory(o.input);
  if (o.out.empty())
    o.out = run ? o.input + "/curves.png" : std::filesystem::path(o.input).replace_extension(".png").string();
  require<UsageError>(o.n >= 1, "--n {}: must be at least 1", o.n);
  check_output(o.out, {".png"});
  if (run)
    plot_training(o.input, o.out);
  else
    plot_samples(o);
  context.print({{"out", o.out}}, o.out);
}

}  // namespace

void add_plot(CLI::App& app, Context& context) {
  auto* command = add_command(app, context, "plot", "Draw samples with their residual maps, or the curves of a run");
  auto o = std::make_shared<Options>();
  command->add_option("input", o->input, "data or sample file, or run folder")->required();
  command->add_option("--n", o->n, "samples to draw")->capture_default_str();
  command->add_option("--out", o->out, "PNG to write; default: beside the input");
  command->callback([&context, o] { context.run = [&context, o] { plot(context, *o); }; });
}

}  // namespace piddm::cli

#include "piddm/eval/metric_registry.h"

#include <algorithm>

#include "piddm/core/fields.h"
#include "piddm/data/spectrum.h"

namespace piddm {

namespace {

constexpr unsigned kS = kSamplesJudged, kT = kTasksJudged, kE = kEnsemblesJudged;

bool has_key(const MetricCard& card, const std::string& key) {
  const bool whole = card.keys != MetricKeys::per_channel && card.keys != MetricKeys::per_band;
  const bool channels = card.keys != MetricKeys::whole;
  return (whole && key == card.name) ||
         (channels && key.size() > card.name.size() + 1 && key.rfind(card.name + "_", 0) == 0);
}

std::vector<MetricCard> make_cards() {
  using enum MetricKeys;
  using enum Better;
  using enum MetricNeeds;
  return {
      {"mmse", "mean square difference of the pixelwise means", "z^2", both, kS, kS},
      {"smse", "mean square difference of the pixelwise standard deviations", "z^2", both, kS, kS},
      {"swd", "sliced Wasserstein distance over 128 fixed directions", "z", whole, kS, kS},
      {"apd", "average pairwise distance of the samples", "z", whole, kS, 0, neither},
      {"apdd", "relative difference of the average pairwise distance", "1", whole, kS, kS},
      {"apdd_teacher", "apdd against the samples of the table's teacher, as in the paper", "1", whole, kS},
      {"spectrum_error", "RMS difference of the power spectra", "decades", both, kS},
      {"power_ratio", "power in a band of wave numbers over that of true data", "1", per_band, kS, 0, nominal},
      {"worst_band", "power ratio or its inverse in the worst band above 1e-6 of a channel's power", "1", both, kS, kS},
      {"between", "share of cells between the two values of a coefficient", "1", per_two_valued, kS, kS, lower,
       two_valued},
      {"interface", "share of neighbouring cells in different phases", "1", per_two_valued, kS, 0, neither, two_valued},
      {"interface_ratio", "interface over that of true data", "1", per_two_valued, kS, kS, nominal, two_valued},
      {"islands", "connected regions per sample, of both phases", "1", per_two_valued, kS, 0, neither, two_valued},
      {"islands_ratio", "islands over those of true data", "1", per_two_valued, kS, kS, nominal, two_valued},
      {"classifier", "share of samples a trained classifier tells from true ones, the worse of the two below", "1",
       whole, kS, kS, lower, classifier},
      {"classifier_cut", "the same of two-valued coefficients cut to their values", "1", whole, kS, 0, lower,
       classifier},
      {"classifier_decoded", "the same of decoded samples, waves up to 32", "1", whole, kS, 0, lower, classifier},
      {"fpd", "Frechet Poseidon distance of u; of other channels under their names", "feature^2", both, kS, kS, lower,
       poseidon},
      {"frechet_teacher", "stand-in for fpd in the features of a teacher", "feature^2", whole, kS, kS, lower, teacher},
      {"mse", "mean square error of what was not given", "z^2", per_channel, kT, kT},
      {"mse_variance", "variance of the mean square error over starts, mean over cases", "z^4", whole, kT, 0, lower,
       starts},
      {"rel_l2", "relative error in the L2 norm, whole channel in physical units", "1", per_channel, kT, kT},
      {"misclassified", "share of wrong cells of a two-valued coefficient", "1", whole, kT, 0, lower, two_valued},
      {"mean_field_mse", "mean square error of the mean of the training data", "z^2", per_channel, kT, 0, neither},
      {"crps", "continuous ranked probability score of the members", "z", per_channel, kE, kE},
      {"coverage", "share of the truth inside the members' interval", "1", per_channel, kE, kE, nominal},
      {"coverage_nominal", "the coverage of a calibrated ensemble", "1", whole, kE, 0, neither},
      {"spread", "variance of the members", "z^2", per_channel, kE, 0, neither},
      {"mean_mse", "mean square error of the members' mean", "z^2", per_channel, kE},
      {"pde_error", "mean square residual", "the PDE's", per_equation, kS | kT, kS | kT},
      {"pde_error_ratio", "pde_error above the floor over that of the table's reference method", "1", whole, kS | kT},
      {"rel_residual", "RMS residual over the RMS of a term of the equation", "1", per_equation, kS | kT, kS | kT},
      {"boundary_error", "mean square violation of boundary and initial conditions", "physical^2", whole, kS | kT, 0,
       lower, boundary},
      {"solution_error", "mean square distance of u from the solution for the sample's own coefficients", "z^2",
       per_solution, kS | kT, kS | kT},
      {"constraint_error", "mean square violation of the hard constraint, or of what a task gives", "z^2", whole,
       kS | kT, kT, lower, constraint},
      {"decode_iterations", "iterations of the exact decode, mean over samples", "1", whole, kS | kT, 0, neither,
       decode},
      {"decode_moved", "RMS change of u by the exact decode over the RMS of u, mean over samples", "1", whole, kS | kT,
       0, neither, decode},
      {"nfe", "network evaluations per sample", "1", whole, kS | kT, kS | kT, neither},
      {"backward", "backward passes per sample", "1", whole, kS | kT, 0, neither},
      {"recomputed", "evaluations per sample repeated in backward passes to save memory", "1", whole, kS | kT, 0,
       neither},
      {"seconds_per_sample", "wall time over the number of samples", "s", whole, kS | kT, kS | kT},
      {"peak_memory_mib", "most memory while generating", "MiB", whole, kS, 0, lower, model},
      {"training_seconds", "wall time of training on one device, the teacher's included", "s", whole, kS | kT, 0,
       neither, model},
  };
}

const std::vector<std::string>& parts_of(const MetricCard& card, const MetricParts& parts) {
  static const std::vector<std::string> none;
  switch (card.keys) {
    case MetricKeys::per_channel:
    case MetricKeys::both:
      return parts.channels;
    case MetricKeys::per_solution:
      return parts.solutions;
    case MetricKeys::per_equation:
      return parts.equations;
    case MetricKeys::per_two_valued:
      return parts.two_valued;
    case MetricKeys::per_band:
      return parts.bands;
    case MetricKeys::whole:
      break;
  }
  return none;
}

void add_columns(const MetricCard& card, const MetricParts& parts, std::vector<std::string>& out) {
  if (card.keys != MetricKeys::per_channel && card.keys != MetricKeys::per_band) out.push_back(card.name);
  for (const auto& part : parts_of(card, parts)) out.push_back(card.name + "_" + part);
}

}  // namespace

MetricParts metric_parts(const Pde& pde) {
  MetricParts parts{
      .channels = pde.channel_names(), .solutions = pde.several_solutions(), .equations = pde.several_equations()};
  const int64_t largest = largest_wave_number(pde.grid().height(), pde.grid().width(), has_time_axis(pde));
  for (const auto& channel : pde.channels()) {
    if (channel.two_valued) parts.two_valued.push_back(channel.name);
    for (const auto& band : power_bands(largest))
      if (!channel.scalar) parts.bands.push_back(fmt::format("{}_{}", channel.name, band.name(largest)));
  }
  parts.has_two_valued = !parts.two_valued.empty();
  if (parts.two_valued.size() == 1) parts.two_valued.clear();
  return parts;
}

const std::vector<MetricCard>& metric_cards() {
  static const auto cards = make_cards();
  return cards;
}

const MetricCard* find_metric(const std::string& key) {
  const MetricCard* found = nullptr;  // the longest name: mse_variance is no mse of a channel called variance
  for (const auto& card : metric_cards())
    if (has_key(card, key) && (!found || card.name.size() > found->name.size())) found = &card;
  return found;
}

bool lower_is_better(const std::string& key) {
  const auto* card = find_metric(key);
  return card && card->better == Better::lower;
}

std::vector<std::string> metric_columns(const std::vector<std::string>& names, const MetricParts& parts) {
  std::vector<std::string> out, known;
  for (const auto& card : metric_cards()) known.push_back(card.name);
  for (const auto& name : names) {
    const auto at = std::find(known.begin(), known.end(), name);
    require<UsageError>(at != known.end(), "{}", unknown_name_message("metric", name, known));
    add_columns(metric_cards()[static_cast<size_t>(at - known.begin())], parts, out);
  }
  return out;
}

std::vector<std::string> default_columns(unsigned judged, const MetricParts& parts) {
  auto without_channels = parts;
  without_channels.channels.clear();
  std::vector<std::string> out;
  for (const auto& card : metric_cards())
    if ((card.shown & judged) && (card.needs != MetricNeeds::two_valued || parts.has_two_valued))
      add_columns(card, card.keys == MetricKeys::both ? without_channels : parts, out);
  return out;
}

}  // namespace piddm

#pragma once
// Panels of samples and solved tasks for the sheets of reports (plot/plot.h): what demo and tables draw alike.

#include <utility>
#include <vector>

#include "piddm/plot/plot.h"
#include "piddm/solve/task/task.h"

namespace piddm {

using ColorRange = std::pair<double, double>;

/// R = c r_phys of a sample [C,H,W] at the scored points, [h,w] float64.
Tensor residual_map(const Tensor& x, const Pde& pde);

/// From the smallest to the largest value; of a two-valued channel its two values.
ColorRange channel_range(const Tensor& field, const Channel& channel);

/// Symmetric about zero: twice the median of the maps' RMS. One wild map among several does not set the colours of all.
ColorRange shared_range(const std::vector<Tensor>& maps);

/// Colours shared by the rows of a sheet of samples.
struct SampleColors {
  std::vector<ColorRange> channels;
  ColorRange residual;
};

/// The channels as in the true samples [N,C,H,W], R as in the samples judged, each [C,H,W].
SampleColors sample_colors(const Tensor& truth, const std::vector<Tensor>& judged, const Pde& pde);

/// R of a sample [C,H,W].
Panel residual_panel(const Tensor& x, const Pde& pde, const ColorRange& range);

/// Every channel of a sample [C,H,W], and R.
std::vector<Panel> sample_panels(const Tensor& x, const Pde& pde, const SampleColors& colors);

/// A solved case: tensors [C,H,W] in physical units.
struct SolvedCase {
  Tensor x, truth, mask;
};

/// What is asked for: channels that are not given in full.
bool asked(const SolvedCase& solved, int64_t channel);

/// What is given of a channel, the rest grey.
Panel given_panel(const SolvedCase& solved, const Pde& pde, int64_t channel);
Panel true_panel(const SolvedCase& solved, const Pde& pde, int64_t channel);

/// Answer and error of a channel. Without `errors` the error has colours of its own.
std::vector<Panel> answer_panels(const SolvedCase& solved, const Pde& pde, int64_t channel,
                                 const std::optional<ColorRange>& errors = {});

}  // namespace piddm

#pragma once
// Panels of samples and solved tasks for the sheets of reports: what demo and tables draw alike. A scalar channel is a
// number on an axis.

#include <vector>

#include "piddm/plot/figure.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// From the smallest to the largest value; of a two-valued channel its two values.
ColorRange channel_range(const Tensor& field, const Channel& channel);

/// Symmetric about zero: twice the median of the maps' RMS. One wild map among several does not set the colours of all.
ColorRange shared_range(const std::vector<Tensor>& maps);

/// Colours shared by the rows of a sheet of samples.
struct SampleColors {
  std::vector<ColorRange> channels;
  std::vector<ColorRange> residuals;  ///< one per residual field
};

/// The channels as in the true samples [N,C,H,W], R as in the samples judged, each [C,H,W].
SampleColors sample_colors(const Tensor& truth, const std::vector<Tensor>& judged, const Pde& pde);

/// The residual fields of a sample [C,H,W].
std::vector<Panel> residual_panels(const Tensor& x, const Pde& pde, const std::vector<ColorRange>& ranges);

/// The field channels of sample `index` of `samples` [N,C,H,W], and R; without scalar channels.
std::vector<Panel> sample_panels(const Tensor& samples, int64_t index, const Pde& pde, const SampleColors& colors);

/// The scalar channels of all samples as strips of points, on the axis of the truth.
std::vector<Panel> scalar_panels(const Tensor& samples, const Pde& pde, const SampleColors& colors);

/// A solved case: tensors [C,H,W] in physical units.
struct SolvedCase {
  Tensor x, truth, mask;
};

/// What is asked for: channels that are not given in full.
bool asked(const SolvedCase& solved, int64_t channel);

/// What is given of a channel, the rest grey.
Panel given_panel(const SolvedCase& solved, const Pde& pde, int64_t channel);
Panel true_panel(const SolvedCase& solved, const Pde& pde, int64_t channel);

/// Answer and error of a channel; of a scalar channel one panel with both. Without `errors` the error has colours of
/// its own.
std::vector<Panel> answer_panels(const SolvedCase& solved, const Pde& pde, int64_t channel,
                                 const std::optional<ColorRange>& errors = {});

}  // namespace piddm

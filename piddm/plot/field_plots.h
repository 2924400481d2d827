#pragma once
// Figures of a PDE's samples: fields with their residual, against the truth, many at once. Scalar channels are numbers
// on an axis, among those of all samples.

#include "piddm/data/dataset.h"
#include "piddm/plot/figure.h"

namespace piddm {

/// One row per sample: every channel, and with a PDE its residual fields R = c r_phys. `pde` may be null. With
/// `references` also u*(a) and u - u*(a), u*(a) the solution for the sample's own coefficients. More than 8 samples are
/// a contact sheet.
Figure draw_samples(const Dataset& data, const PdePtr& pde, const std::vector<int64_t>& samples,
                    const std::string& title, bool references = false);

/// What samples are compared with, case by case.
struct Truth {
  Tensor fields = {};  ///< [N,C,H,W]
  Tensor mask = {};    ///< [N,C,H,W], 1 where a sensor stands; undefined: none are drawn
};

/// For each case a row per channel: truth with the sensors, sample, error. The mean of several samples of one case is
/// not taken: sample i stands against true sample i.
Figure draw_against_truth(const Dataset& data, const PdePtr& pde, const Truth& truth,
                          const std::vector<int64_t>& samples, const std::string& title);

/// Small panels in a grid, one sheet per field channel and residual field; numbers of the first sample of each line at
/// the left. All panels of a sheet have one scale.
Figure draw_contact_sheet(const Dataset& data, const PdePtr& pde, const std::vector<int64_t>& samples,
                          const std::string& title);

/// A panel of the data: axes of the PDE where there is one.
FieldPanel panel_of(const PdePtr& pde, const std::string& title, const Tensor& field);

/// The same of one channel or a statistic of it: with its unit at the colour bar.
FieldPanel channel_panel_of(const PdePtr& pde, int64_t channel, const std::string& title, const Tensor& field);

/// Whether a channel of the data is one number per sample.
bool is_scalar(const PdePtr& pde, size_t channel);

}  // namespace piddm
